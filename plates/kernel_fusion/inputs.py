"""What the reader may set, and the named states of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import param

from model import hardware, operations, refined
from plates.inputs import Choice, Flags, Option, Quantity
from plates.plate import State
from plates.words import words

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


OWN_RATES = (
    hardware.H100_SXM.bandwidth, hardware.H100_SXM.l2_bytes, hardware.H100_SXM.fp32_rate,
)  # fmt: skip
"""Bandwidth, L2 and FP32 rate that a typed GPU begins with: the H100's."""

PUBLISHED = (
    "relu-squared", "rms-norm-wide-weight", "add-rms-norm-upcast", "rope-complex", "dyt",
    "dyt-beta", "group-norm", "tvd", "kl-div", "jsd",
)  # fmt: skip
"""Chains that are here because timings of them were published."""


WORDS = words(Path(__file__).with_name("words.toml"))
"""What stands round the text: labels, titles, sentences."""


def _said(name: str) -> dict[str, Any]:
    """Return what an input is called: its label, what it is, and its unit."""
    said = dict(WORDS["inputs"][name])
    return {**said, "unit": tuple(said["unit"])} if "unit" in said else said


def _works() -> dict[str, Option]:
    groups = WORDS["groups"]
    return {
        name: Option(
            WORDS["chains"].get(name, chain.name),
            Work(operations.unfused(chain), operations.fused(chain), k_fold=name == "sketch"),
            # The sketch stands before all groups.
            group=groups["published" if name in PUBLISHED else "common"]
            if name != "sketch"
            else "",
            doc=WORDS["sources"].get(name, chain.source),
        )
        for name, chain in operations.CHAINS.items()
    }


def _gpus() -> dict[str, Option]:
    cards = {
        name: Option(gpu.name, Card(gpu), doc=_measured_on(gpu))
        for name, gpu in hardware.GPUS.items()
    }
    own = Card(hardware.typed(*OWN_RATES), typed=True)
    return {
        **cards,
        "custom": Option(WORDS["gpus"]["custom"], own, doc=WORDS["gpus"]["custom_doc"]),
    }


def _measured_on(gpu: hardware.Gpu) -> str:
    """Return which of the GPU's numbers were measured on another."""
    said = WORDS["gpus"]
    kin = ", ".join(dict.fromkeys(gpu.borrowed.values()))
    what = ", ".join(dict.fromkeys(said[it] for it in gpu.borrowed))
    sentences = [said["borrowed"].format(kin=kin, what=what) if kin else said["own"]]
    if gpu.sources["achieved_share"] == hardware.ASSUMED:
        sentences.append(said["assumed"].format(share=f"{hardware.WORKING_SHARE:.0%}"))
    return " ".join(sentences)


class KernelFusion(param.Parameterized):
    """The state of the plate: the chain, the tensor, the cost of a launch, and the model of it."""

    k = Quantity(5, bounds=(1, 16), step=1, whole=True, when={"chain": "sketch"}, **_said("k"))
    S = Quantity(TOKENS * WIDTH, bounds=(2**8, 2**30), stops_per_octave=4, whole=True, **_said("S"))
    overhead = Quantity(
        4.0,
        bounds=(0, 20),
        step=0.1,
        # About what one operation of eager PyTorch costs the host; source: a user's measurement
        # on an A100, pytorch/pytorch issue 82793.
        **_said("overhead"),
    )
    chain = Choice("sketch", options=_works(), **_said("chain"))
    gpu = Choice("h100-sxm", options=_gpus(), **_said("gpu"))
    dtype = Choice(
        "bf16",
        options={name: Option(it.name, it) for name, it in hardware.FORMATS.items()},
        **_said("dtype"),
    )
    model = Choice(
        "sketch",
        options={
            name: Option(label, Model(refined=name == "refined"))
            for name, label in WORDS["options"]["model"].items()
        },
        **_said("model"),
    )
    launch = Choice(
        "stream",
        options={
            name: Option(label, refined.LAUNCHES[name])
            for name, label in WORDS["options"]["launch"].items()
        },
        when={"model": "refined"},
        **_said("launch"),
    )
    terms = Flags(
        options={name: Option(**said) for name, said in WORDS["options"]["terms"].items()},
        record=refined.Terms,
        when={"model": "refined"},
        **_said("terms"),
    )
    bandwidth = Quantity(
        OWN_RATES[0],
        bounds=(1e9, 1e14),
        prefix="T",
        more=True,
        when={"gpu": "custom"},
        **_said("bandwidth"),
    )
    l2 = Quantity(
        OWN_RATES[1],
        bounds=(1e5, 1e10),
        prefix="M",
        more=True,
        when={"gpu": "custom"},
        **_said("l2"),
    )
    fp32 = Quantity(
        OWN_RATES[2],
        bounds=(1e9, 1e17),
        prefix="T",
        more=True,
        when={"gpu": "custom"},
        **_said("fp32"),
    )


STATES = {
    "prefill": State({"S": TOKENS * WIDTH}, label=WORDS["states"]["prefill"].format(tokens=TOKENS)),
    "decode": State({"S": WIDTH}, label=WORDS["states"]["decode"]),
    "single": State({"k": 1}),
    "pair": State({"k": 2}),
    "tour_norm": State({"chain": "rms-norm", "model": "refined"}),
    "tour_decode": State({"chain": "rms-norm", "model": "refined", "S": WIDTH}),
    "tour_long": State({"k": 16}),
    "tour_single": State({"k": 1}),
    "tour_swiglu": State({"chain": "swiglu", "model": "refined"}),
}
