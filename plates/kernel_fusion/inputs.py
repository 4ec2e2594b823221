"""What the reader may set, and the named states of it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import param

from model import cost
from model.chains import CHAINS, OWN, OWN_EMPTY, OWN_KERNEL, own
from model.gpus import Gpu
from plates.hardware_inputs import card_of, format_choice, gpu_choice, own_gpu, own_numbers
from plates.inputs import Choice, Flags, Option, Quantity, Rows
from plates.plate import State, inputs_of
from plates.words import words

TOKENS = 8192
WIDTH = 4096
"""Tokens of the example, chosen, and values of a token, as in Llama 3 8B (its hidden size)."""


WORDS = words(Path(__file__).with_name("words.toml"))
"""What stands round the text: labels, titles, sentences."""


def said(section: str, name: str) -> dict[str, Any]:
    """Return what an input or output is called: its label, its unit, and what else is said."""
    told = dict(WORDS[section][name])
    return {**told, "unit": tuple(told["unit"])} if "unit" in told else told


def _input(name: str) -> dict[str, Any]:
    return said("inputs", name)


def _chains() -> dict[str, Option]:
    """Return the chains; those that are in no group stand before the others."""
    listed = {
        name: Option(
            WORDS.get("chains", {}).get(name, chain.name),
            chain,
            group=WORDS["groups"].get(chain.group, ""),
            doc=WORDS.get("sources", {}).get(name, chain.source),
        )
        for name, chain in CHAINS.items()
    }
    return listed | {"own": Option(**WORDS["options"]["chain"]["own"], given_by="steps")}


def _records(name: str, records: Mapping[str, Any]) -> dict[str, Option]:
    """Return options by their labels, each with what the readings get for it."""
    return {it: Option(label, records[it]) for it, label in WORDS["options"][name].items()}


REFINED = {"model": "refined"}
"""When an input counts that the sketch leaves out."""


class KernelFusion(param.Parameterized):
    """The state of the plate: the chain, the tensor, the cost of a launch, and the model of it."""

    k = Quantity(5, bounds=(1, 16), step=1, whole=True, when={"chain": "sketch"}, **_input("k"))
    S = Quantity(
        TOKENS * WIDTH, bounds=(2**8, 2**30), stops_per_octave=4, whole=True, **_input("S")
    )
    overhead = Quantity(
        4.0,
        bounds=(0, 20),
        step=0.1,
        # About what one operation of eager PyTorch costs the host; source: a user's measurement
        # on an A100, pytorch/pytorch issue 82793.
        **_input("overhead"),
    )
    chain = Choice("sketch", options=_chains(), **_input("chain"))
    steps = Rows(
        "r1w1f3aA_scale-r1w1f1aA_shift-r1w1f1_clip-r1w1f1",
        whole=OWN,
        entry=OWN_KERNEL,
        empty=OWN_EMPTY,
        record=own,
        first="fused",
        rest="unfused",
        when={"chain": "own"},
        **_input("steps"),
    )
    gpu = gpu_choice(own=True, **_input("gpu"))
    dtype = format_choice(**_input("dtype"))
    model = Choice(
        "sketch", options=_records("model", {"sketch": False, "refined": True}), **_input("model")
    )
    launch = Choice(
        "stream", options=_records("launch", cost.LAUNCHES), when=REFINED, **_input("launch")
    )
    terms = Flags(
        options={name: Option(**said) for name, said in WORDS["options"]["terms"].items()},
        record=cost.Terms,
        when=REFINED,
        **_input("terms"),
    )
    bandwidth = own_gpu("bandwidth", **_input("bandwidth"))
    l2 = own_gpu("l2", **_input("l2"))
    fp32 = own_gpu("fp32", **_input("fp32"))
    tensor = own_gpu("tensor", **_input("tensor"))
    achieved = own_gpu("achieved", REFINED, **_input("achieved"))
    l2_bandwidth = own_gpu("l2_bandwidth", **_input("l2_bandwidth"))
    l2_full = own_gpu("l2_full", REFINED, **_input("l2_full"))
    l2_spilt = own_gpu("l2_spilt", REFINED, **_input("l2_spilt"))
    stream = own_gpu("stream", REFINED, **_input("stream"))
    graph = own_gpu("graph", REFINED, **_input("graph"))
    ramp = own_gpu("ramp", REFINED, **_input("ramp"))


def chosen_gpu(inputs: Mapping[str, Any]) -> Gpu:
    """Return the GPU that is chosen, with the reader's own numbers if it is one of their own."""
    known = inputs_of(KernelFusion)
    given = {name: known[name].for_readings(inputs[name]) for name in own_numbers()}
    card = card_of(known["gpu"].for_readings(inputs["gpu"]), **given)
    return replace(card, name=known["gpu"].text(inputs["gpu"]))


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
