"""Timed copies that a reader brought: the bandwidth and fixed cost that they show, as a GPU."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.copies import fitted
from plates.formats import FORMATS, formatted
from plates.hardware_inputs import MICRO, own_numbers
from plates.kernel_fusion.inputs import KernelFusion, chosen_gpu
from plates.kernel_fusion.timing_files import first, read
from plates.plate import Found, inputs_of

SAID = {"gpu": "", "operation": "copy", "variant": "unfused", "dtype": "", "values": "bytes"}
"""What a file of copies need not say, and which column has the bytes that are copied."""


def copied(content: bytes, name: str, inputs: Mapping[str, Any]) -> Found:
    """Return the chosen GPU with what copies on it achieve and cost, and each copy's residual.

    A line is fitted to those that move more than its L2 may hold; see `model.copies.fitted`. What
    they cost at zero bytes is the fixed cost of a kernel in a stream, and beyond it the ramp.

    Raises
    ------
    ValueError
        If the file cannot be read, see `timing_files.read`, or no line follows from it.
    """
    gpu = chosen_gpu(inputs)
    table, faults, _ = read(content, name or "the file", SAID, None)
    table = table[table["n_values"].notna() & table["measured_s"].notna()]
    moved, times = (2 * table["n_values"]).to_numpy(), table["measured_s"].to_numpy()
    l2_bytes = float(gpu.l2_spilt_share * gpu.l2_bytes)
    beyond = moved > l2_bytes
    least = f"more than {_shown(l2_bytes, 'bytes')}, which is beyond the L2 of {gpu.name}"
    try:
        fit = fitted(moved[beyond], times[beyond])
    except ValueError as fault:
        told = "\n".join([*first(faults), f"{name or 'the file'}: {fault}."])
        raise ValueError(f"{told} Of copies that move {least}, it has {beyond.sum()}.") from None
    predicted = fit.time_s(moved)
    ratio = predicted / times
    peak = max(float(gpu.bandwidth), fit.bandwidth)
    stream_s = min(float(gpu.stream_s), fit.fixed_s)
    own = own_numbers(gpu) | {
        "bandwidth": peak,
        "achieved": round(fit.bandwidth / peak, 5),
        "stream": round(stream_s / MICRO, 4),
        "ramp": round((fit.fixed_s - stream_s) / MICRO, 4),
    }
    for it, value in own.items():
        inputs_of(KernelFusion)[it].check(value)
    return Found(
        {"gpu": "custom", "model": "refined", **own},
        [*first(faults), *_told(fit, gpu, least, beyond, ratio)],
        table[["line"]].assign(
            copied=table["n_values"],
            measured_s=times,
            predicted_s=predicted,
            ratio=ratio,
            note=np.where(beyond, "", "not fitted: L2 may hold it"),
        ),
        {"copied": "bytes", "measured_s": "time", "predicted_s": "time", "ratio": "number"},
        ("measured_s", "predicted_s"),
    )


def _told(fit: Any, gpu: Any, least: str, beyond: Any, ratio: Any) -> list[str]:
    """Return in sentences what was fitted, and how well."""
    off = np.abs(ratio[beyond] - 1)
    said = [
        f"The {beyond.sum()} copies that move {least}, reach {_shown(fit.bandwidth, 'bandwidth')}"
        f" after a fixed {_shown(fit.fixed_s, 'time')} each. From this line they are off by"
        f" {_shown(np.median(off), 'share')} at the median, {_shown(off.max(), 'share')} at most.",
        "The fixed cost includes what the timer measures of itself.",
    ]
    if fit.bandwidth > gpu.bandwidth:
        said.append(
            f"{gpu.name} moves {_shown(gpu.bandwidth, 'bandwidth')} at its peak: if another GPU was"
            " timed, choose that first. What is fitted now stands as the peak too."
        )
    return said


def _shown(value: Any, form: str) -> str:
    return formatted(float(value), FORMATS[form])
