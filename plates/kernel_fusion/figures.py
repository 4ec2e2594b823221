"""The plate's figures and the sentence under them."""

from model.chains import CHAINS, Chain
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
from plates.kernel_fusion.inputs import WORDS, KernelFusion
from plates.kernel_fusion.readings import PASSES, ROOF_FROM

SAID, ROLES = WORDS["figures"], WORDS["roles"]


def drawn(reading: str, role: str) -> Series:
    """Return a reading as drawn in a role, and called by it."""
    return Series(reading, ROLES[role], role)


SHARES = ("launch_share", "l2_share", "hbm_share", "access_share", "arithmetic_share")
ROOF_TO = 2.0**13
"""Where the roofline figure ends, in FLOP/byte."""

COLUMNS = {
    "kernel_read": "bytes",
    "kernel_written": "bytes",
    "kernel_moved": "bytes",
    "kernel_time": "time",
    "kernel_bound": "",
}
"""What the table says of each step, with its format; what bounds a step is said in words."""


def steps_of(chain: Chain) -> tuple[str, ...]:
    """Return what the steps of the chain are called."""
    return tuple(WORDS.get("steps", {}).get(step.name, step.name) for step in chain.steps)


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
        title=SAID["time-vs-size"]["title"],
        text=SAID["time-vs-size"]["text"],
        input="S",
        along=tuple(KernelFusion.param["S"].stops),
        x=Axis(
            label=SAID["time-vs-size"]["x"],
            format="count",
            low=KernelFusion.param["S"].bounds[0],
            high=KernelFusion.param["S"].bounds[1],
            ticks=tuple(2.0**n for n in range(8, 30, 4)),
        ),
        y=Axis(
            label=SAID["time-vs-size"]["y"],
            format="time",
            low=1e-6,
            high=30e-3,
            ticks=(1e-6, 10e-6, 100e-6, 1e-3, 10e-3),
        ),
        series=(
            drawn("time_unfused", "before"),
            drawn("time_graph", "other"),
            drawn("time_fused", "after"),
        ),
        marked=("time_unfused", "time_fused"),
        regimes=tuple(
            Regime(f"{share}_unfused", label)
            for share, label in zip(SHARES, SAID["regimes"], strict=True)
        ),
        regime_words=tuple(SAID["time-vs-size"]["regimes"]),
    ),
    Bars(
        id="bytes-moved",
        title=SAID["bytes-moved"]["title"],
        text=SAID["bytes-moved"]["text"],
        axis_label=SAID["bytes-moved"]["x"],
        format="bytes",
        end_reading="bytes_axis",
        end_at={},
        ticks=(0, 0.25, 0.5, 0.75, 1),
        divisions=PASSES,
        series=(drawn("bytes_unfused", "before"), drawn("bytes_fused", "after")),
    ),
    Timeline(
        id="timeline",
        title=SAID["timeline"]["title"],
        text=SAID["timeline"]["text"],
        host_label=SAID["timeline"]["host"],
        host=("host_launches", "host_launch", "host_ahead"),
        lanes=(
            Lane(ROLES["before"], "before", "unfused", "kernel_count_unfused", "time_unfused"),
            Lane(ROLES["other"], "other", "graph", "kernel_count_unfused", "time_graph"),
            Lane(ROLES["after"], "after", "fused", "kernel_count_fused", "time_fused"),
        ),
        keys=tuple(SAID["timeline"]["keys"]),
        note=SAID["timeline"]["note"],
    ),
    Paths(
        id="roofline",
        title=SAID["roofline"]["title"],
        text=SAID["roofline"]["text"],
        x=Axis(
            label=SAID["roofline"]["x"],
            format="number",
            low=ROOF_FROM,
            high=ROOF_TO,
            ticks=(0.1, 1, 10, 100, 1000),
        ),
        y=Axis(
            label=SAID["roofline"]["y"],
            format="flop_rate",
            low=1e9,
            high=1e16,
            ticks=(1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15),
        ),
        paths=(
            Path(
                SAID["roofline"]["tensor"],
                "other",
                (
                    Spot("ridge_plain", "fp32_rate"),
                    Spot("ridge_tensor", "tensor_rate"),
                    Spot(ROOF_TO, "tensor_rate"),
                ),
            ),
            Path(
                SAID["roofline"]["l2"],
                "other",
                (Spot(ROOF_FROM, "roof_l2_rate"), Spot("ridge_l2", "fp32_rate")),
            ),
            Path(
                SAID["roofline"]["plain"],
                "ink",
                (
                    Spot(ROOF_FROM, "roof_from_rate"),
                    Spot("ridge_plain", "fp32_rate"),
                    Spot(ROOF_TO, "fp32_rate"),
                ),
            ),
        ),
        marks=(
            Mark(SAID["roofline"]["matmul"], "other", Spot("matmul_intensity", "matmul_rate")),
            Mark(ROLES["before"], "before", Spot("intensity_unfused", "flop_rate_unfused")),
            Mark(ROLES["after"], "after", Spot("intensity_fused", "flop_rate_fused")),
        ),
    ),
    Table(
        id="steps",
        title=SAID["steps"]["title"],
        text=SAID["steps"]["text"],
        input="chain",
        columns_=tuple(
            Column(name, label, form, () if form else tuple(SAID["regimes"]))
            for (name, form), label in zip(COLUMNS.items(), SAID["steps"]["columns"], strict=True)
        ),
        wait_label=SAID["steps"]["wait"],
        total_label=SAID["steps"]["total"],
        code={name: code_of(name, chain) for name, chain in CHAINS.items()},
        places=tuple(SAID["steps"]["places"]),
        parts=(
            Part(
                "unfused",
                ROLES["before"],
                "before",
                "kernel_count_unfused",
                {name: steps_of(chain) for name, chain in CHAINS.items()},
                {"kernel_moved": "bytes_unfused", "kernel_time": "time_unfused"},
                "wait_unfused",
            ),
            Part(
                "fused",
                ROLES["after"],
                "after",
                "kernel_count_fused",
                dict.fromkeys(CHAINS, (SAID["steps"]["fused"],)),
                {"kernel_moved": "bytes_fused", "kernel_time": "time_fused"},
                "wait_fused",
            ),
        ),
    ),
)

READOUT = SAID["readout"]
