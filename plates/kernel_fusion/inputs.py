"""What the reader may set, and the named states of it."""

from dataclasses import dataclass
from typing import Any

import param

from model import hardware, operations, refined
from plates.choice import Choice, Flags, Option
from plates.plate import State
from plates.quantity import Quantity

TOKENS = 8192
WIDTH = 4096
"""Tokens of the example, chosen, and values of a token, as in Llama 3 8B (its hidden size)."""


@dataclass(frozen=True)
class Card:
    """A GPU as the readings get it; of a `typed` one the reader gives the rates."""

    gpu: hardware.Gpu
    typed: Any = False


@dataclass(frozen=True)
class Work:
    """A chain as the readings get it: its steps, and the kernel that fuses them.

    Of a `k_fold` chain the fused kernel does its arithmetic k times.
    """

    steps: operations.Steps
    fused: operations.Steps
    k_fold: Any = False


@dataclass(frozen=True)
class Model:
    """Which cost model is used."""

    refined: Any = False


OWN_RATES = (3.35e12, 50e6, 66.9e12)
"""Bandwidth, L2 and FP32 rate that a typed GPU begins with: the H100's."""

PUBLISHED = (
    "relu-squared", "rms-norm-wide-weight", "add-rms-norm-upcast", "rope-complex", "dyt",
    "dyt-beta", "group-norm", "tvd", "kl-div", "jsd",
)  # fmt: skip
"""Chains that are here because timings of them were published."""


def _works() -> dict[str, Option]:
    return {
        name: Option(
            chain.name,
            Work(operations.unfused(chain), operations.fused(chain), k_fold=name == "sketch"),
            group=""
            if name == "sketch"
            else "Published timings"
            if name in PUBLISHED
            else "Common",
            doc=chain.source,
        )
        for name, chain in operations.CHAINS.items()
    }


def _gpus() -> dict[str, Option]:
    cards = {
        name: Option(gpu.name, Card(gpu), doc=_measured_on(gpu))
        for name, gpu in hardware.GPUS.items()
    }
    typed = "What is not typed is taken from the H100 SXM; no tensor cores."
    return {
        **cards,
        "custom": Option(
            "a GPU of your own", Card(hardware.typed(*OWN_RATES), typed=True), doc=typed
        ),
    }


def _measured_on(gpu: hardware.Gpu) -> str:
    """Return which of the GPU's numbers were measured on another."""
    if not gpu.borrowed:
        return "Each number measured on it, or from its data sheet."
    names = [BORROWED.get(it, "fixed cost of a kernel") for it in gpu.borrowed]
    kin = ", ".join(dict.fromkeys(gpu.borrowed.values()))
    assumed = gpu.sources["achieved_share"] == hardware.ASSUMED
    more = f" Achieved share assumed, {hardware.WORKING_SHARE:.0%}." if assumed else ""
    return f"Taken from the {kin}: {', '.join(dict.fromkeys(names))}.{more}"


BORROWED = {
    "achieved_share": "achieved share of the bandwidth",
    "l2_bandwidth": "bandwidth of L2",
    "l2_full_share": "how much L2 holds",
    "l2_spilt_share": "how much L2 holds",
    "l2_bytes": "size of L2",
}


TERMS = {
    "fixed": Option("fixed cost", doc="What each kernel costs the GPU, whatever it does."),
    "achieved": Option("achieved bandwidth", doc="The share of its peak that memory reaches."),
    "l2": Option("L2", doc="Small tensors stay in the cache between two kernels."),
    "access": Option("access", doc="Strided, broadcast or mixed operands go at half the pace."),
    "arithmetic": Option("arithmetic", doc="No kernel is faster than its arithmetic."),
    "overlap": Option("overlap", doc="The host launches ahead, while the GPU works."),
}


class KernelFusion(param.Parameterized):
    """The state of the plate: the chain, the tensor, the cost of a launch, and the model of it."""

    k = Quantity(
        5,
        bounds=(1, 16),
        step=1,
        whole=True,
        label="Chain length k",
        unit=("kernel", "kernels"),
        when={"chain": "sketch"},
        doc="How many element-wise operations follow each other, each its own kernel unfused.",
    )
    S = Quantity(
        TOKENS * WIDTH,
        bounds=(2**8, 2**30),
        stops_per_octave=4,
        whole=True,
        label="Tensor size S",
        unit=("value", "values"),
        doc="How many values the tensor holds. Also as a product, 8192x4096, or as 32Mi.",
    )
    overhead = Quantity(
        4.0,
        bounds=(0, 20),
        step=0.1,
        label="Launch overhead",
        unit=("µs per kernel", "µs per kernel"),
        # About what one operation of eager PyTorch costs the host; source: a user's measurement
        # on an A100, pytorch/pytorch issue 82793.
        doc="What each launch adds to the time of the chain: the host's cost of starting a kernel.",
    )
    chain = Choice(
        "sketch",
        options=_works(),
        label="Chain",
        doc="What is computed: k like steps, or an operation as it is written out in practice.",
    )
    gpu = Choice("h100-sxm", options=_gpus(), label="GPU", doc="The GPU that runs the chain.")
    dtype = Choice(
        "bf16",
        options={name: Option(it.name, it) for name, it in hardware.FORMATS.items()},
        label="Data type",
        doc="The format that the chain works in, save for what it keeps in FP32 anyway.",
    )
    model = Choice(
        "sketch",
        options={
            "sketch": Option("sketch", Model()),
            "refined": Option("refined", Model(refined=True)),
        },
        label="Cost model",
        doc="The sketch: launches, then bytes at full bandwidth. Refined: with the terms below.",
    )
    launch = Choice(
        "stream",
        options={
            "stream": Option("stream", refined.LAUNCHES["stream"]),
            "eager": Option("eager PyTorch", refined.LAUNCHES["eager"]),
            "graph": Option("CUDA graph", refined.LAUNCHES["graph"]),
        },
        label="Launch mode",
        when={"model": "refined"},
        doc="Who starts the kernels: a program one by one, PyTorch one by one, or a graph at once.",
    )
    terms = Flags(
        options=TERMS,
        record=refined.Terms,
        label="Terms",
        when={"model": "refined"},
        doc="What the refined model adds to the sketch. With none of it, it is the sketch.",
    )
    bandwidth = Quantity(
        OWN_RATES[0],
        bounds=(1e9, 1e14),
        label="Bandwidth of the GPU",
        unit=("TB/s", "TB/s"),
        prefix="T",
        more=True,
        when={"gpu": "custom"},
        doc="Peak bandwidth of the GPU's memory, such as 3.35 TB/s.",
    )
    l2 = Quantity(
        OWN_RATES[1],
        bounds=(1e5, 1e10),
        label="L2 of the GPU",
        unit=("MB", "MB"),
        prefix="M",
        more=True,
        when={"gpu": "custom"},
        doc="Size of the GPU's L2 cache, such as 50 MB.",
    )
    fp32 = Quantity(
        OWN_RATES[2],
        bounds=(1e9, 1e17),
        label="FP32 rate of the GPU",
        unit=("TFLOP/s", "TFLOP/s"),
        prefix="T",
        more=True,
        when={"gpu": "custom"},
        doc="Peak FP32 rate outside the tensor cores, such as 66.9 TFLOP/s.",
    )


STATES = {
    "prefill": State({"S": TOKENS * WIDTH}, label=f"{TOKENS}-token sequence"),
    "decode": State({"S": WIDTH}, label="one decoded token"),
    "single": State({"k": 1}),
    "pair": State({"k": 2}),
    "tour_norm": State({"chain": "rms-norm", "model": "refined"}),
    "tour_decode": State({"chain": "rms-norm", "model": "refined", "S": WIDTH}),
    "tour_long": State({"k": 16}),
    "tour_single": State({"k": 1}),
    "tour_swiglu": State({"chain": "swiglu", "model": "refined"}),
}
