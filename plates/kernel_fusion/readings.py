"""The plate's numbers as a function of its inputs."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from model import cost
from model.chains import Chain
from model.gpus import FORMATS, Format, Gpu
from plates.hardware_inputs import MICRO, Card, card_of
from plates.kernel_fusion.inputs import WORDS, said
from plates.plate import Reading

PASSES = 16
"""Passes over the tensor that the axis of bytes holds: the longest chain of the sketch."""

ROOF_FROM = 2.0**-4
"""Where the roofline figure begins, in FLOP/byte."""

MATMUL_SIDE = 8192
"""Rows and columns of the square BF16 matrices in the example of a large product; chosen."""

OUTPUTS = {name: Reading(**said("outputs", name)) for name in WORDS["outputs"]}


def readings(
    k: Any, S: Any, overhead: Any, chain: Chain, dtype: Format, model: Any, launch: cost.Launch,
    terms: cost.Terms, gpu: Card, **own: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return the readings of `OUTPUTS` in SI units, and each kernel's along the last axis.

    `k` counts the steps of the sketch's chain, `overhead` is in µs; a custom GPU has its `own`
    numbers. The sketch is the refined model with no term on, and no launch but the plain one;
    `model` says whether it is the refined one.
    """
    card = card_of(gpu, **own)
    run = cost.Run(card, dtype, _if(model, launch), overhead * MICRO, _if(model, terms), k)
    k_fold = cost.per_step(np.where(chain.repeats, k, 1))
    unfused = cost.chain_cost(chain.unfused, S, run)
    graph = cost.chain_cost(chain.unfused, S, replace(run, launch=cost.LAUNCHES["graph"]))
    fused = cost.chain_cost(replace(chain.fused, flop=chain.fused.flop * k_fold), S, run)
    return {
        **_compared(unfused.chain, fused.chain),
        **_host(run, unfused.kernels),
        **_of_chain("unfused", unfused),
        **_of_chain("fused", fused),
        **_in_time("unfused", unfused),
        **_in_time("graph", graph),
        **_in_time("fused", fused),
        **_roofline(card),
        **_product(card, run.overhead_s),
        "bytes_axis": _bytes_axis(unfused.traffic_bytes, S, dtype),
    }


def _if(on: Any, record: Any) -> Any:
    """Return a record of truths, each of which holds only if this is on."""
    truths = {it.name: np.logical_and(on, getattr(record, it.name)) for it in fields(record)}
    return replace(record, **truths)


def _bytes_axis(moved: Any, S: Any, dtype: Any) -> Any:
    """Return where the axis of bytes ends: longer chains double it as often as they need it."""
    sixteen_bytes = cost.traffic_bytes(PASSES, S, dtype.bytes)
    return sixteen_bytes * np.power(2, np.ceil(np.maximum(0, np.log2(moved / sixteen_bytes))))


def _compared(unfused: cost.Parts, fused: cost.Parts) -> dict[str, Any]:
    """Return what fusing is worth, and what the unfused time consists of."""
    parts = ("launch", "l2", "hbm", "access", "arithmetic")
    return {
        "speedup": unfused.time_s / fused.time_s,
        "left_share": fused.time_s / unfused.time_s,
        "bound_unfused": cost.largest(unfused),
        **{f"{it}_share_unfused": getattr(unfused, f"{it}_s") / unfused.time_s for it in parts},
        "launch_share_fused": fused.launch_s / fused.time_s,
    }


def _host(run: cost.Run, kernels: Any) -> dict[str, Any]:
    """Return how many kernels the host starts, in how many launches, and how long one takes."""
    return {
        "kernels_unfused": kernels,
        "host_launches": np.where(run.launch.graph, 1, kernels),
        "host_launch": run.issue_s,
        "host_ahead": np.where(run.terms.overlap, 1, 0),
    }


def _of_chain(variant: str, found: cost.Cost) -> dict[str, Any]:
    """Return what the chain moves, where it stands under the roofline, and the same by kernel.

    Of each step it is how often it is there, and what one launch moves, takes and is bound by.
    """
    return {
        f"bytes_{variant}": found.traffic_bytes,
        f"intensity_{variant}": cost.intensity(found.flop, found.traffic_bytes),
        f"flop_rate_{variant}": found.flop / found.chain.time_s,
        f"wait_{variant}": found.wait_s,
        f"kernel_resident_{variant}": found.l2_share,
        f"kernel_read_{variant}": found.read_bytes,
        f"kernel_written_{variant}": found.written_bytes,
        f"kernel_moved_{variant}": found.read_bytes + found.written_bytes,
        f"kernel_time_{variant}": found.kernel.time_s,
        f"kernel_bound_{variant}": cost.largest(found.kernel),
    }


def _in_time(variant: str, found: cost.Cost) -> dict[str, Any]:
    """Return the time, how many kernels each step is, and how long each is idle, starts, works.

    The wait for the host is spread evenly, as launches are.
    """
    return {
        f"time_{variant}": found.chain.time_s,
        f"kernel_count_{variant}": found.count,
        f"idle_{variant}": found.wait_s / found.kernels,
        f"kernel_started_{variant}": found.kernel.launch_s,
        f"kernel_worked_{variant}": found.kernel.worked_s,
    }


def _roofline(card: Gpu) -> dict[str, Any]:
    """Return the roofs of the GPU, and where the slopes of its memory and its L2 begin."""
    l2_pace = cost.l2_pace(card.bandwidth, card.l2_bandwidth)
    return {
        "ridge_plain": cost.ridge_point(card.fp32_rate, card.bandwidth),
        "ridge_tensor": cost.ridge_point(card.tensor_rate, card.bandwidth),
        "ridge_l2": cost.ridge_point(card.fp32_rate, l2_pace),
        "fp32_rate": card.fp32_rate,
        "tensor_rate": card.tensor_rate,
        "peak_bandwidth": card.bandwidth,
        "roof_from_rate": ROOF_FROM * card.bandwidth,
        "roof_l2_rate": ROOF_FROM * l2_pace,
    }


def _product(card: Gpu, overhead_s: Any) -> dict[str, Any]:
    """Return where a large product stands, and what it saves by taking in an activation."""
    value_bytes = FORMATS["bf16"].bytes
    intensity = cost.matmul_intensity(MATMUL_SIDE, value_bytes)
    return {
        "matmul_rows": MATMUL_SIDE,
        "matmul_intensity": intensity,
        "matmul_rate": cost.attainable_rate(intensity, card.tensor_rate, card.bandwidth),
        "matmul_saved_share": cost.epilogue_saving(
            MATMUL_SIDE, value_bytes, card.tensor_rate, card.bandwidth, overhead_s
        ),
    }
