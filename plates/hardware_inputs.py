"""The GPU and the number format as inputs that any plate may declare, with a GPU of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model import gpus
from plates.inputs import Choice, Option, Quantity
from plates.words import COMMON, words

REFERENCE = "h100-sxm"
"""The GPU that is chosen at first, and whose rates a custom one begins with."""


@dataclass(frozen=True)
class Card:
    """A GPU as the readings get it; of a `custom` one the reader gives the rates."""

    gpu: gpus.Gpu
    custom: Any = False


def gpu_choice(**said: Any) -> Choice:
    """Return the input that chooses a GPU; its options say what of each was measured elsewhere."""
    told, own = words(COMMON)["gpus"], gpus.GPUS[REFERENCE]
    options = {
        name: Option(gpu.name, Card(gpu), doc=_measured_on(gpu, told))
        for name, gpu in gpus.GPUS.items()
    }
    custom = Card(gpus.custom(own.bandwidth, own.l2_bytes, own.fp32_rate), custom=True)
    options["custom"] = Option(told["custom"], custom, doc=told["custom_doc"])
    return Choice(REFERENCE, options=options, **said)


def format_choice(**said: Any) -> Choice:
    """Return the input that chooses a number format."""
    options = {name: Option(it.name, it) for name, it in gpus.FORMATS.items()}
    return Choice("bf16", options=options, **said)


def custom_rate(field: str, bounds: tuple[float, float], prefix: str, **said: Any) -> Quantity:
    """Return an input for a rate of the reader's own GPU, which begins with the reference's."""
    default, when = getattr(gpus.GPUS[REFERENCE], field), {"gpu": "custom"}
    return Quantity(default, bounds=bounds, prefix=prefix, more=True, when=when, **said)


def card_of(card: Card, bandwidth: Any, l2: Any, fp32: Any) -> gpus.Gpu:
    """Return the GPU, which has the reader's own rates where it is a custom one."""
    own = gpus.custom(bandwidth, l2, fp32)
    rates = ("bandwidth", "l2_bytes", "fp32_rate", "tensor_rate", "l2_bandwidth")
    either = {it: np.where(card.custom, getattr(own, it), getattr(card.gpu, it)) for it in rates}
    return replace(card.gpu, **either)


def _measured_on(gpu: gpus.Gpu, told: Mapping[str, str]) -> str:
    """Return which of the GPU's numbers were measured on another, and which on none."""
    kin = ", ".join(dict.fromkeys(gpu.borrowed.values()))
    what = ", ".join(dict.fromkeys(told[it] for it in gpu.borrowed))
    said = told["borrowed"].format(kin=kin, what=what) if kin else told["own"]
    assumed = told["assumed"].format(share=f"{gpu.achieved_share:.0%}")
    return f"{said} {assumed}" if gpu.achieved_assumed else said
