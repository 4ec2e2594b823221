"""The GPU and the number format as inputs that any plate may declare, with a GPU of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model import gpus
from model.arguments import RANGES
from plates.inputs import Choice, Option, Quantity
from plates.words import COMMON, words

MICRO = 1e-6
"""A microsecond in seconds: what is typed of a kernel's time is in these."""

REFERENCE = "h100-sxm"
"""The GPU that is chosen at first, and whose rates a custom one begins with."""


@dataclass(frozen=True)
class Card:
    """A GPU as the readings get it; of a `custom` one the reader gives the numbers."""

    gpu: gpus.Gpu
    custom: Any = False


def gpu_choice(own: bool = False, **said: Any) -> Choice:
    """Return the input that chooses a GPU; its options say what of each was measured elsewhere.

    A GPU of the reader's `own` is among them if the plate has the inputs that `own_gpu` returns.
    """
    told = words(COMMON)["gpus"]
    options = {
        name: Option(gpu.name, Card(gpu), doc=_measured_on(gpu, told))
        for name, gpu in gpus.GPUS.items()
    }
    if own:
        custom = Card(gpus.GPUS[REFERENCE], custom=True)
        options["custom"] = Option(told["custom"], custom, doc=told["custom_doc"])
    return Choice(REFERENCE, options=options, **said)


def format_choice(**said: Any) -> Choice:
    """Return the input that chooses a number format."""
    options = {name: Option(it.name, it) for name, it in gpus.FORMATS.items()}
    return Choice("bf16", options=options, **said)


OWN: dict[str, tuple[str, float, tuple[float, float], str]] = {
    "bandwidth": ("bandwidth", 1, (1e9, 1e14), "T"),
    "l2": ("l2_bytes", 1, (1e5, 1e10), "M"),
    "fp32": ("fp32_rate", 1, (1e9, 1e17), "T"),
    "tensor": ("tensor_rate", 1, (0, 1e18), "T"),
    "achieved": ("achieved_share", 1, (0.01, 1), ""),
    "l2_bandwidth": ("l2_bandwidth", 1, (0, 1e15), "T"),
    "l2_full": ("l2_full_share", 1, RANGES["l2_full_share"][:2], ""),
    "l2_spilt": ("l2_spilt_share", 1, RANGES["l2_spilt_share"][:2], ""),
    "stream": ("stream_s", MICRO, (0, 1000), ""),
    "graph": ("graph_s", MICRO, (0, 1000), ""),
    "ramp": ("ramp_s", MICRO, (0, 1000), ""),
}
"""The inputs of a GPU of the reader's own: what of `Gpu` each is, its unit in SI units, its bounds
and its prefix."""

BEGINS = {"tensor": 0, "achieved": gpus.WORKING_SHARE, "l2_bandwidth": 0}
"""Where these inputs begin, as `gpus.custom` explains; the others begin with the reference's."""


def own_gpu(name: str, when: Mapping[str, str] | None = None, **said: Any) -> Quantity:
    """Return an input of `OWN`, a number of the reader's own GPU, to be set `when` it counts."""
    _, _, bounds, prefix = OWN[name]
    begins = (own_numbers() | BEGINS)[name]
    asked = {"gpu": "custom", **(when or {})}
    return Quantity(begins, bounds=bounds, prefix=prefix, more=True, when=asked, **said)


def own_numbers(gpu: gpus.Gpu = gpus.GPUS[REFERENCE]) -> dict[str, float]:
    """Return the numbers of a GPU as they are typed of one's own, named as in `OWN`."""
    return {name: round(float(getattr(gpu, it)) / unit, 9) for name, (it, unit, *_) in OWN.items()}


def card_of(card: Card, **own: Any) -> gpus.Gpu:
    """Return the GPU, which has the reader's `own` numbers, named as in `OWN`, if it is custom."""
    told = gpus.custom(**{OWN[name][0]: it * OWN[name][1] for name, it in own.items()})
    either = {
        it: np.where(card.custom, getattr(told, it), getattr(card.gpu, it)) for it in gpus.NUMBERS
    }
    return replace(card.gpu, **either)


def _measured_on(gpu: gpus.Gpu, told: Mapping[str, str]) -> str:
    """Return which of the GPU's numbers were measured on another, and which on none."""
    kin = ", ".join(dict.fromkeys(gpu.borrowed.values()))
    what = ", ".join(dict.fromkeys(told[it] for it in gpu.borrowed))
    said = told["borrowed"].format(kin=kin, what=what) if kin else told["own"]
    assumed = told["assumed"].format(share=f"{gpu.achieved_share:.0%}")
    return f"{said} {assumed}" if gpu.achieved_assumed else said
