"""What the reader may set, and the named states of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import param

from model import chains, cost
from plates.hardware_inputs import custom_rate, format_choice, gpu_choice
from plates.inputs import Choice, Flags, Option, Quantity
from plates.plate import State
from plates.words import words

TOKENS = 8192
WIDTH = 4096
"""Tokens of the example, chosen, and values of a token, as in Llama 3 8B (its hidden size)."""


@dataclass(frozen=True)
class Work:
    """A chain as the readings get it: its steps, and the kernel that fuses them.

    Where the chain `repeats`, the fused kernel does its arithmetic k times.
    """

    unfused: chains.Steps
    fused: chains.Steps
    repeats: Any


@dataclass(frozen=True)
class Model:
    """Which cost model is used."""

    refined: Any = False


WORDS = words(Path(__file__).with_name("words.toml"))
"""What stands round the text: labels, titles, sentences."""


def _said(name: str) -> dict[str, Any]:
    """Return what an input is called: its label, what it is, and its unit."""
    said = dict(WORDS["inputs"][name])
    return {**said, "unit": tuple(said["unit"])} if "unit" in said else said


def _works() -> dict[str, Option]:
    """Return the chains; one that is in no group stands before them."""
    return {
        name: Option(
            WORDS.get("chains", {}).get(name, chain.name),
            Work(chains.unfused(chain), chains.fused(chain), chain.repeats),
            group=WORDS["groups"].get(chain.group, ""),
            doc=WORDS.get("sources", {}).get(name, chain.source),
        )
        for name, chain in chains.CHAINS.items()
    }


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
    gpu = gpu_choice(**_said("gpu"))
    dtype = format_choice(**_said("dtype"))
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
            name: Option(label, cost.LAUNCHES[name])
            for name, label in WORDS["options"]["launch"].items()
        },
        when={"model": "refined"},
        **_said("launch"),
    )
    terms = Flags(
        options={name: Option(**said) for name, said in WORDS["options"]["terms"].items()},
        record=cost.Terms,
        when={"model": "refined"},
        **_said("terms"),
    )
    bandwidth = custom_rate("bandwidth", (1e9, 1e14), "T", **_said("bandwidth"))
    l2 = custom_rate("l2_bytes", (1e5, 1e10), "M", **_said("l2"))
    fp32 = custom_rate("fp32_rate", (1e9, 1e17), "T", **_said("fp32"))


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
