"""The plate's two figures and the sentence under them."""

from model.operations import CHAINS, Chain
from model.refined import REGIMES
from plates.figure import (
    Axis,
    Bars,
    Code,
    Column,
    Curves,
    Lane,
    Mark,
    Part,
    Path,
    Paths,
    Regime,
    Series,
    Spot,
    Table,
    Timeline,
)  # fmt: skip
from plates.kernel_fusion.inputs import KernelFusion
from plates.kernel_fusion.readings import PASSES, ROOF_FROM

UNFUSED = Series("time_unfused", "unfused", "before")
GRAPH = Series("time_graph", "graph", "other")
FUSED = Series("time_fused", "fused", "after")

SHARES = ("launch_share", "l2_share", "hbm_share", "access_share", "arithmetic_share")
ROOF_TO = 2.0**13
"""Where the roofline figure ends, in FLOP/byte."""

COLUMNS = (
    Column("read", "reads", "bytes"),
    Column("written", "writes", "bytes"),
    Column("moved", "moves", "bytes"),
    Column("time", "time", "time"),
    Column("bound", "bound by", words=REGIMES),
)


def code_of(name: str, chain: Chain) -> Code:
    """Return the chain as PyTorch: a function with a line a step, and the same compiled."""
    function = name.replace("-", "_")
    return Code(
        f"def {function}({chain.arguments}):",
        tuple(step.code for step in chain.steps),
        f"return {chain.returns}",
        f"{function} = torch.compile({function})",
    )


FIGURES = (
    Curves(
        id="time-vs-size",
        title="Time of the chain against tensor size",
        text="Time of the chain against tensor size. At {kernels_unfused} on {S}:"
        " {time_unfused} unfused,"
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
        regimes=tuple(
            Regime(f"{share}_unfused", label) for share, label in zip(SHARES, REGIMES, strict=True)
        ),
        regime_words=("Unfused: ", "{label} up to {to} values", ", then "),
    ),
    Bars(
        id="bytes-moved",
        title="Bytes moved, pass by pass",
        text="Bytes moved for {kernels_unfused} on {S}: {bytes_unfused} unfused,"
        " {bytes_fused} fused.",
        axis_label="bytes read and written",
        format="bytes",
        end_reading="bytes_axis",
        end_at={},
        ticks=(0, 0.25, 0.5, 0.75, 1),
        divisions=PASSES,
        series=(
            Series("bytes_unfused", "unfused", "before"),
            Series("bytes_fused", "fused", "after"),
        ),
    ),
    Timeline(
        id="timeline",
        title="What the GPU and the host do",
        text="The time of the chain, to scale: {time_unfused} unfused, {time_graph} as a CUDA"
        " graph, {time_fused} fused. Launches are {launch_share_unfused} of the unfused time.",
        host_label="host",
        host=("host_launches", "host_launch", "host_ahead"),
        lanes=(
            Lane("unfused", "before", "unfused_", "unfused_count", "time_unfused"),
            Lane("graph", "other", "graph_", "unfused_count", "time_graph"),
            Lane("fused", "after", "fused_", "fused_count", "time_fused"),
        ),
        keys=("the host launches", "a kernel starts", "its bytes move", "the GPU is idle"),
    ),
    Paths(
        id="roofline",
        title="Under the roofline",
        text="Arithmetic rate against arithmetic intensity on {gpu}. The chain reaches"
        " {flop_rate_unfused} at {intensity_unfused} unfused, and {flop_rate_fused} at"
        " {intensity_fused} fused. Outside the tensor cores the roof is flat from {ridge_plain} on,"
        " at {fp32_rate}; with tensor cores, from {ridge_tensor} on. A large matrix multiply"
        " stands at {matmul_intensity}.",
        x=Axis(
            label="FLOP per byte moved",
            format="number",
            low=ROOF_FROM,
            high=ROOF_TO,
            ticks=(0.1, 1, 10, 100, 1000),
        ),
        y=Axis(
            label="FLOP per second",
            format="flop_rate",
            low=1e9,
            high=1e16,
            ticks=(1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15),
        ),
        paths=(
            Path(
                "tensor cores",
                "other",
                (
                    Spot("ridge_plain", "fp32_rate"),
                    Spot("ridge_tensor", "tensor_rate"),
                    Spot(ROOF_TO, "tensor_rate"),
                ),
            ),
            Path("L2", "other", (Spot(ROOF_FROM, "roof_l2_rate"), Spot("ridge_l2", "fp32_rate"))),
            Path(
                "plain FP32",
                "ink",
                (
                    Spot(ROOF_FROM, "roof_from_rate"),
                    Spot("ridge_plain", "fp32_rate"),
                    Spot(ROOF_TO, "fp32_rate"),
                ),
            ),
        ),
        marks=(
            Mark("matrix multiply", "other", Spot("matmul_intensity", "matmul_rate")),
            Mark("unfused", "before", Spot("intensity_unfused", "flop_rate_unfused")),
            Mark("fused", "after", Spot("intensity_fused", "flop_rate_fused")),
        ),
    ),
    Table(
        id="steps",
        title="Kernel by kernel",
        text="{chain} on {S} in {dtype}: {bytes_unfused} in {time_unfused} unfused,"
        " {bytes_fused} in {time_fused} fused.",
        input="chain",
        columns_=COLUMNS,
        wait_label="wait for the host",
        total_label="in all",
        code={name: code_of(name, chain) for name, chain in CHAINS.items()},
        places=("HBM", "L2", "registers"),
        parts=(
            Part(
                "unfused_",
                "unfused",
                "before",
                "unfused_count",
                {name: tuple(it.name for it in chain.steps) for name, chain in CHAINS.items()},
                {"moved": "bytes_unfused", "time": "time_unfused"},
                "wait_unfused",
            ),
            Part(
                "fused_",
                "fused",
                "after",
                "fused_count",
                dict.fromkeys(CHAINS, ("one kernel",)),
                {"moved": "bytes_fused", "time": "time_fused"},
                "wait_fused",
            ),
        ),
    ),
)

READOUT = (
    "A chain of {kernels_unfused} on {S} takes {time_unfused} unfused and {time_fused} fused,"
    " {speedup} as fast:"
    " it moves {bytes_unfused} instead of {bytes_fused}, and {launch_share_unfused}"
    " of the unfused time goes to launching."
)
