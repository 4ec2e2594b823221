"""The plate's two figures and the sentence under them."""

from plates.figure import Axis, Bars, Curves, Series
from plates.kernel_fusion.inputs import KernelFusion

UNFUSED = Series("time_unfused", "unfused", "before")
GRAPH = Series("time_graph", "graph", "other")
FUSED = Series("time_fused", "fused", "after")

LONGEST_CHAIN = KernelFusion.param["k"].bounds[1]

FIGURES = (
    Curves(
        id="time-vs-size",
        title="Time of the chain against tensor size",
        text="Time of the chain against tensor size. At {k} on {S}: {time_unfused} unfused,"
        " {time_graph} unfused as a CUDA graph, {time_fused} fused.",
        input="S",
        along=tuple(KernelFusion.param["S"].stops),
        x=Axis(
            label="values in the tensor, S",
            format="count",
            low=KernelFusion.param["S"].bounds[0],
            high=KernelFusion.param["S"].bounds[1],
            ticks=tuple(2.0**n for n in range(8, 30, 4)),
        ),
        y=Axis(
            label="time",
            format="time",
            low=1e-6,
            high=30e-3,
            ticks=(1e-6, 10e-6, 100e-6, 1e-3, 10e-3),
        ),
        series=(UNFUSED, GRAPH, FUSED),
        marked=("time_unfused", "time_fused"),
    ),
    Bars(
        id="bytes-moved",
        title="Bytes moved, pass by pass",
        text="Bytes moved for {k} on {S}: {bytes_unfused} unfused, {bytes_fused} fused.",
        axis_label="bytes read and written",
        format="bytes",
        end_reading="bytes_unfused",
        end_at={"k": LONGEST_CHAIN},
        ticks=(0, 0.25, 0.5, 0.75, 1),
        divisions=LONGEST_CHAIN,
        series=(
            Series("bytes_unfused", "unfused", "before"),
            Series("bytes_fused", "fused", "after"),
        ),
    ),
)

READOUT = (
    "A chain of {k} on {S} takes {time_unfused} unfused and {time_fused} fused, {speedup} as fast:"
    " it moves {bytes_unfused} instead of {bytes_fused}, and launches are {launch_share_unfused}"
    " of the unfused time."
)
