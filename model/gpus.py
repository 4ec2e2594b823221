"""GPUs and number formats: every number with its source."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

WORKING_SHARE = 0.9
"""Share of the data sheet's bandwidth that a good kernel reaches, where nobody measured it.

Source: about the middle of what gpu-stream's TRIAD or SCALE reach: 0.88 on A100, 0.90 on V100 and
H100 PCIe, 0.94 on GH200, 0.96 on L40. (`gpus.toml` has what whole chains of kernels reach.)
"""


@dataclass(frozen=True)
class Format:
    """A number format: its name and the bytes of one value."""

    name: str
    bytes: float

    @property
    def narrow(self) -> Any:
        """Whether it is narrower than FP32, in which mixed operands meet."""
        return self.bytes < FORMATS["fp32"].bytes


FORMATS = {"fp32": Format("FP32", 4), "bf16": Format("BF16", 2), "fp8": Format("FP8", 1)}
"""The formats that a chain may work in. Source: their definitions, 32, 16 and 8 bits."""


@dataclass(frozen=True)
class Gpu:
    """What the cost model knows of one GPU: numbers that are explained in `gpus.toml`.

    `sources` has a source for each; `borrowed` names the GPU that one was measured on where it was
    not measured on this one. `achieved_assumed` says that nobody measured the achieved share.
    """

    name: str
    bandwidth: float
    fp32_rate: float
    tensor_rate: float
    l2_bytes: float
    achieved_share: float
    l2_bandwidth: float
    l2_full_share: float
    l2_spilt_share: float
    stream_s: float
    graph_s: float
    ramp_s: float
    sources: Mapping[str, str]
    borrowed: Mapping[str, str]
    achieved_assumed: bool = False
    drivers: Sequence[str] = ()


NUMBERS = [it.name for it in fields(Gpu) if it.type is float]
"""What `gpus.toml` says of a GPU, itself or by what it is `like`."""


def gpus(file: Path) -> dict[str, Gpu]:
    """Return the GPUs of a file by id, in its order; the file says what it may hold.

    Raises
    ------
    ValueError
        Naming the file, the GPU, and what it lacks or has too much.
    """
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    sources = told.pop("sources")
    found = {}
    for name in told:
        try:
            found[name] = _gpu(name, told, sources)
        except (ArithmeticError, RecursionError, TypeError, ValueError) as fault:
            raise ValueError(f"{file}: {name}: {fault}") from None
    return found


def _gpu(name: str, told: Mapping[str, Any], sources: Mapping[str, str]) -> Gpu:
    """Return a GPU, with what it does not give itself taken from the one that it is like."""
    own = dict(told[name])
    like = own.pop("like", None)
    if like is not None and like not in told:
        raise ValueError(f"it is like {like!r}, which is no GPU of the file")
    kin = _gpu(like, told, sources) if like else None
    if own.get("achieved_assumed"):
        own["achieved_share"] = [WORKING_SHARE, "assumed, see WORKING_SHARE"]
    numbers: dict[str, Any] = {}
    named, borrowed = {}, {}
    for it in NUMBERS:
        if it in own:
            numbers[it], named[it] = _sourced(it, own.pop(it), sources)
        elif kin:
            numbers[it], named[it] = getattr(kin, it), kin.sources[it]
            borrowed[it] = kin.borrowed.get(it, kin.name)
        else:
            raise ValueError(f"there is no {it}, and no other GPU that it is like")
    if unknown := own.keys() - {field.name for field in fields(Gpu)}:
        raise ValueError(f"{', '.join(sorted(unknown))} is nothing that a GPU has")
    return Gpu(**numbers, **own, sources=named, borrowed=borrowed)


def _sourced(name: str, told: Any, sources: Mapping[str, str]) -> tuple[float, str]:
    """Return a number and its source, which is a name in [sources] or, in words, says it itself."""
    match told:
        case [value, str(source)] if source in sources or " " in source:
            return _number(name, value), sources.get(source, source)
    raise ValueError(f"{name} = {told} is not a value and its source, a name in [sources] or words")


def _number(name: str, told: float | str) -> float:
    """Return a number, which may be told as "a / b"."""
    over, _, under = str(told).partition("/")
    number = float(over) / float(under or 1)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} = {told} is not a finite number from 0")
    return number


def custom(
    bandwidth: Any, l2_bytes: Any, fp32_rate: Any, tensor_rate: Any = 0, l2_bandwidth: Any = 0,
    achieved_share: Any = WORKING_SHARE, **others: Any,
) -> Gpu:  # fmt: skip
    """Return a GPU of the reader's own `NUMBERS`, in SI units; those left out are the H100's.

    A tensor rate below 1 is the FP32 rate, and with an L2 bandwidth below 1 its L2 is as much
    faster than its memory as the H100's. The arguments may be arrays.

    Source: the reader.
    """
    gpu = GPUS["h100-sxm"]
    l2_like_h100 = gpu.l2_bandwidth * (bandwidth / gpu.bandwidth)
    return replace(
        gpu,
        bandwidth=bandwidth,
        l2_bytes=l2_bytes,
        fp32_rate=fp32_rate,
        tensor_rate=np.where(np.greater_equal(tensor_rate, 1), tensor_rate, fp32_rate),
        l2_bandwidth=np.where(np.greater_equal(l2_bandwidth, 1), l2_bandwidth, l2_like_h100),
        achieved_share=achieved_share,
        **others,
        name="custom",
        sources={},
        borrowed={},
    )


GPUS = gpus(Path(__file__).with_name("gpus.toml"))
"""The GPUs by id. Source: each number has its own."""
