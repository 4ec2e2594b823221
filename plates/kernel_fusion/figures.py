"""The plate's figures and the sentence under them."""

from dataclasses import replace
from typing import Any

from model.chains import CHAINS, Chain
from plates.figure import (
    Axis,
    Bars,
    Column,
    Curves,
    Path,
    Paths,
    Series,
    Table,
    Timeline,
    Variant,
)  # fmt: skip
from plates.formats import FORMATS, Format
from plates.kernel_fusion.inputs import WORDS, KernelFusion
from plates.kernel_fusion.readings import PASSES, ROOF_FROM

SAID, ROLES = WORDS["figures"], WORDS["roles"]

FORMATS["regime"] = Format((), words=tuple(SAID["regimes"]))

ROOF_TO = 2.0**13
"""Where the roofline figure ends, in FLOP/byte."""


def drawn(reading: str, role: str) -> Series:
    """Return a reading as drawn in a role, and called by it."""
    return Series(reading, ROLES[role], role)


def said(figure: str) -> dict[str, Any]:
    """Return the id of the figure, its title and its text alternative."""
    return {"id": figure, "title": SAID[figure]["title"], "text": SAID[figure]["text"]}


OWN_STEPS = {
    "unfused_names": None,
    "fused_names": [SAID["kernels"]["fused"]],
    "head": f"# {WORDS['options']['chain']['own']['label']}",
    "lines": None,
    "tail": "",
    "compiled": "",
}
"""What the table says of a chain of the reader's own: there is no code, only names."""


def steps_of(name: str, chain: Chain) -> dict[str, object]:
    """Return the chain's names of kernels, and as PyTorch: a line a kernel, and all compiled."""
    function = name.replace("-", "_")
    called = WORDS.get("steps", {})
    return {
        "unfused_names": [called.get(step.name, step.name) for step in chain.steps],
        "fused_names": [SAID["kernels"]["fused"]],
        "head": f"def {function}({', '.join(chain.arguments)}):",
        "lines": [step.code for step in chain.steps],
        "tail": f"return {chain.returns}",
        "compiled": f"{function} = torch.compile({function})",
    }


TIME = Curves(
    **said("time-vs-size"),
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
    measured=True,
    regime="bound_unfused",
    regimes="regime",
    regime_words=tuple(SAID["time-vs-size"]["regimes"]),
)

BYTES = Bars(
    **said("bytes-moved"),
    axis_label=SAID["bytes-moved"]["x"],
    format="bytes",
    end="bytes_axis",
    divisions=PASSES,
    series=(drawn("bytes_unfused", "before"), drawn("bytes_fused", "after")),
)

UNFUSED = Variant("unfused", ROLES["before"], "before", lit=True)
GRAPH = Variant("graph", ROLES["other"], "other", lit=True)
FUSED = Variant("fused", ROLES["after"], "after")

TIMELINE = Timeline(
    **said("timeline"),
    place="wide",
    host_label=SAID["timeline"]["host"],
    host=("host_launches", "host_launch", "host_ahead"),
    lanes=(UNFUSED, GRAPH, FUSED),
    keys=tuple(SAID["timeline"]["keys"]),
    note=SAID["timeline"]["note"],
)

RIDGE, TENSOR_RIDGE = ("ridge_plain", "fp32_rate"), ("ridge_tensor", "tensor_rate")
ROOFLINE = Paths(
    **said("roofline"),
    place="fold",
    x=Axis(SAID["roofline"]["x"], "number", ROOF_FROM, ROOF_TO, (0.1, 1, 10, 100, 1000)),
    y=Axis(SAID["roofline"]["y"], "flop_rate", 1e9, 1e16, tuple(10.0**n for n in range(9, 16))),
    paths=tuple(
        Path(label, role, spots)
        for label, role, spots in (
            (ROLES["before"], "before", (("intensity_unfused", "flop_rate_unfused"),)),
            (ROLES["after"], "after", (("intensity_fused", "flop_rate_fused"),)),
            (SAID["roofline"]["matmul"], "other", (("matmul_intensity", "matmul_rate"),)),
            (SAID["roofline"]["tensor"], "other", (RIDGE, TENSOR_RIDGE, (ROOF_TO, "tensor_rate"))),
            (
                SAID["roofline"]["l2"],
                "other",
                ((ROOF_FROM, "roof_l2_rate"), ("ridge_l2", "fp32_rate")),
            ),
            (
                SAID["roofline"]["plain"],
                "ink",
                ((ROOF_FROM, "roof_from_rate"), RIDGE, (ROOF_TO, "fp32_rate")),
            ),
        )
    ),
)

COLUMNS = (
    Column("kernel_read", "", "bytes"),
    Column("kernel_written", "", "bytes"),
    Column("kernel_moved", "", "bytes", total="bytes"),
    Column("kernel_time", "", "time", total="time", wait="wait"),
    Column("kernel_bound", "", "regime"),
)
"""What the table says of each kernel; what each is called stands in the words."""

STEPS = Table(
    **said("kernels"),
    place="fold",
    input="chain",
    texts={name: steps_of(name, chain) for name, chain in CHAINS.items()} | {"own": OWN_STEPS},
    columns=tuple(
        replace(column, label=label)
        for column, label in zip(COLUMNS, SAID["kernels"]["columns"], strict=True)
    ),
    variants=(UNFUSED, FUSED),
    wait_label=SAID["kernels"]["wait"],
    total_label=SAID["kernels"]["total"],
    memories=tuple(SAID["kernels"]["places"]),
)

FIGURES = (TIME, BYTES, TIMELINE, ROOFLINE, STEPS)

READOUT = SAID["readout"]
