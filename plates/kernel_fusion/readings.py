"""The plate's numbers as a function of its inputs."""

from dataclasses import replace
from typing import Any

import numpy as np

from model import cost, hardware, refined, traffic
from model.hardware import FORMATS
from model.launch import launch_graph_s, launch_stream_s
from plates.kernel_fusion.inputs import WORDS, Card, Model, Work
from plates.plate import Reading

MICRO = 1e-6

PASSES = 16
"""Passes over the tensor that the axis of bytes holds: the longest chain of the sketch."""

ROOF_FROM = 2.0**-4
"""Where the roofline figure begins, in FLOP/byte."""

MATMUL_SIDE = 8192
"""Rows and columns of the square BF16 matrices in the example of a large product; chosen."""

UNITS = {"kernels_unfused": tuple(WORDS["inputs"]["k"]["unit"])}

FORMAT_OF = {
    "time_unfused": "time",
    "time_fused": "time",
    "time_graph": "time",
    "speedup": "ratio",
    "bytes_unfused": "bytes",
    "bytes_fused": "bytes",
    "launch_share_unfused": "share",
    "launch_share_fused": "share",
    "left_share": "share",
    "matmul_saved_share": "share",
    "kernels_unfused": "plain",
    "l2_share_unfused": "share",
    "hbm_share_unfused": "share",
    "access_share_unfused": "share",
    "arithmetic_share_unfused": "share",
    "intensity_unfused": "intensity",
    "intensity_fused": "intensity",
    "flop_rate_unfused": "flop_rate",
    "flop_rate_fused": "flop_rate",
    "ridge_plain": "intensity",
    "ridge_tensor": "intensity",
    "fp32_rate": "flop_rate",
    "tensor_rate": "flop_rate",
    "peak_bandwidth": "bandwidth",
    "matmul_rows": "plain",
    "matmul_intensity": "intensity",
    "matmul_rate": "flop_rate",
}

OUTPUTS = {
    name: Reading(WORDS["outputs"][name], form, UNITS.get(name)) for name, form in FORMAT_OF.items()
}


def readings(
    k: Any,
    S: Any,
    overhead: Any,
    chain: Work,
    gpu: Card,
    dtype: Any,
    model: Model,
    launch: refined.Launch,
    terms: refined.Terms,
    bandwidth: Any,
    l2: Any,
    fp32: Any,
) -> dict[str, Any]:
    """Return the readings of `OUTPUTS` in SI units, and each kernel's along the last axis.

    `k` counts the steps of the sketch's chain, `overhead` is in µs; `bandwidth`, `l2` and `fp32`
    are those of a typed GPU.
    """
    card = _card(gpu, bandwidth, l2, fp32)
    before, after = (refined.step_count(it, dtype, k) for it in (chain.steps, chain.fused))
    fused_steps = replace(
        chain.fused, flop=chain.fused.flop * refined.per_step(np.where(chain.k_fold, k, 1))
    )

    def priced(steps: Any, count: Any, launched: refined.Launch) -> refined.Cost:
        return refined.chain_cost(steps, count, S, dtype, card, launched, overhead * MICRO, terms)

    unfused = priced(chain.steps, before, launch)
    fused = priced(fused_steps, after, launch)
    graph = priced(chain.steps, before, refined.LAUNCHES["graph"])
    sketch = _sketch(unfused, fused, card.bandwidth, overhead * MICRO)
    shown = {
        name: np.where(model.refined, of_refined, sketch[name])
        for name, of_refined in {
            "time_unfused": unfused.chain.time_s,
            "time_fused": fused.chain.time_s,
            "time_graph": graph.chain.time_s,
            "launch_unfused": unfused.chain.launch_s,
            "launch_fused": fused.chain.launch_s,
            "hbm_unfused": unfused.chain.hbm_s,
            "l2_unfused": unfused.chain.l2_s,
            "access_unfused": unfused.chain.access_s,
            "arithmetic_unfused": unfused.chain.arithmetic_s,
            "wait_unfused": unfused.wait_s,
            "wait_fused": fused.wait_s,
        }.items()
    }
    time_unfused, time_fused = shown["time_unfused"], shown["time_fused"]
    sixteen_bytes = traffic.traffic_unfused_bytes(PASSES, S, dtype.bytes)
    passes = unfused.traffic_bytes / sixteen_bytes
    value_bytes = FORMATS["bf16"].bytes
    l2_pace = refined.l2_pace(card.bandwidth, card.l2_bandwidth)
    matmul = cost.arithmetic_intensity(
        cost.matmul_flop(MATMUL_SIDE), cost.matmul_traffic_bytes(MATMUL_SIDE, value_bytes)
    )
    return {
        "time_unfused": time_unfused,
        "time_fused": time_fused,
        "time_graph": shown["time_graph"],
        "speedup": cost.speedup(time_unfused, time_fused),
        "bytes_unfused": unfused.traffic_bytes,
        "bytes_fused": fused.traffic_bytes,
        "launch_share_unfused": cost.launch_share(shown["launch_unfused"], time_unfused),
        "launch_share_fused": cost.launch_share(shown["launch_fused"], time_fused),
        "left_share": time_fused / time_unfused,
        "matmul_saved_share": cost.epilogue_saving(
            MATMUL_SIDE, value_bytes, card.tensor_rate, card.bandwidth, overhead * MICRO
        ),
        "kernels_unfused": unfused.kernels,
        "bound_unfused": refined.largest(
            shown["launch_unfused"],
            shown["l2_unfused"],
            shown["hbm_unfused"],
            shown["access_unfused"],
            shown["arithmetic_unfused"],
        ),
        "wait_unfused": shown["wait_unfused"],
        "wait_fused": shown["wait_fused"],
        "l2_share_unfused": shown["l2_unfused"] / time_unfused,
        "hbm_share_unfused": shown["hbm_unfused"] / time_unfused,
        "access_share_unfused": shown["access_unfused"] / time_unfused,
        "arithmetic_share_unfused": shown["arithmetic_unfused"] / time_unfused,
        "intensity_unfused": cost.arithmetic_intensity(unfused.flop, unfused.traffic_bytes),
        "intensity_fused": cost.arithmetic_intensity(fused.flop, fused.traffic_bytes),
        "flop_rate_unfused": unfused.flop / time_unfused,
        "flop_rate_fused": fused.flop / time_fused,
        "ridge_plain": cost.ridge_point(card.fp32_rate, card.bandwidth),
        "ridge_tensor": cost.ridge_point(card.tensor_rate, card.bandwidth),
        "fp32_rate": card.fp32_rate,
        "tensor_rate": card.tensor_rate,
        "peak_bandwidth": card.bandwidth,
        "roof_l2_rate": ROOF_FROM * l2_pace,
        "ridge_l2": cost.ridge_point(card.fp32_rate, l2_pace),
        "roof_from_rate": ROOF_FROM * card.bandwidth,
        "matmul_rows": MATMUL_SIDE,
        "matmul_intensity": matmul,
        "matmul_rate": cost.attainable_rate(matmul, card.tensor_rate, card.bandwidth),
        # Longer chains double the axis as often as they need it.
        "bytes_axis": sixteen_bytes * np.power(2, np.ceil(np.maximum(0, np.log2(passes)))),
        **_steps("unfused", unfused, before, model, card.bandwidth, overhead * MICRO),
        **_steps("fused", fused, after, model, card.bandwidth, overhead * MICRO),
        "kernel_count_graph": before,
        **_lane("unfused", unfused, model, card.bandwidth, sketch["launch_unfused"]),
        **_lane("graph", graph, model, card.bandwidth, sketch["launch_graph"]),
        **_lane("fused", fused, model, card.bandwidth, sketch["launch_fused"]),
        "host_launches": np.where(np.logical_and(model.refined, launch.graph), 1, unfused.kernels),
        "host_launch": overhead * MICRO
        + np.where(model.refined, refined.dispatch_s(launch, terms), 0),
        "host_ahead": np.where(np.logical_and(model.refined, terms.overlap), 1, 0),
    }


def _card(gpu: Card, bandwidth: Any, l2: Any, fp32: Any) -> Any:
    """Return the GPU, which is of the reader's own rates where it is a typed one."""
    own: Any = hardware.typed(bandwidth, l2, fp32)
    numbers = ("bandwidth", "l2_bytes", "fp32_rate", "tensor_rate", "l2_bandwidth")
    either = {
        name: np.where(gpu.typed, getattr(own, name), getattr(gpu.gpu, name)) for name in numbers
    }
    return replace(gpu.gpu, **either)


def _sketch(
    unfused: refined.Cost, fused: refined.Cost, bandwidth: Any, overhead_s: Any
) -> dict[str, Any]:
    """Return the parts of the sketch's times: launches, then bytes at the peak bandwidth."""
    stream_s = launch_stream_s(unfused.kernels, overhead_s)
    graph_s = launch_graph_s(unfused.kernels, overhead_s)
    single_s = launch_stream_s(fused.kernels, overhead_s)
    return {
        "time_unfused": cost.time_s(stream_s, unfused.traffic_bytes, bandwidth),
        "time_fused": cost.time_s(single_s, fused.traffic_bytes, bandwidth),
        "time_graph": cost.time_s(graph_s, unfused.traffic_bytes, bandwidth),
        "launch_unfused": stream_s,
        "launch_fused": single_s,
        "launch_graph": graph_s,
        "hbm_unfused": cost.time_s(0, unfused.traffic_bytes, bandwidth),
        "l2_unfused": 0,
        "access_unfused": 0,
        "arithmetic_unfused": 0,
        "wait_unfused": 0,
        "wait_fused": 0,
    }


def _steps(
    variant: str, priced: refined.Cost, count: Any, model: Model, bandwidth: Any, overhead_s: Any
) -> dict[str, Any]:
    """Return what each step moves, how long one launch of it takes, and what bounds it."""
    moved = priced.read_bytes + priced.written_bytes
    moving_s = refined.hbm_transfer_s(moved, refined.per_step(bandwidth))
    launch_s = refined.per_step(overhead_s)
    kernel = priced.kernel
    bound = refined.largest(
        kernel.launch_s, kernel.l2_s, kernel.hbm_s, kernel.access_s, kernel.arithmetic_s
    )
    return {
        f"kernel_count_{variant}": count,
        f"kernel_resident_{variant}": np.where(model.refined, priced.l2_share, 0),
        f"kernel_read_{variant}": priced.read_bytes,
        f"kernel_written_{variant}": priced.written_bytes,
        f"kernel_moved_{variant}": moved,
        f"kernel_time_{variant}": np.where(model.refined, kernel.time_s, launch_s + moving_s),
        f"kernel_bound_{variant}": np.where(
            model.refined, bound, refined.largest(launch_s, 0, moving_s, 0, 0)
        ),
    }


def _lane(
    variant: str, priced: refined.Cost, model: Model, bandwidth: Any, sketch_s: Any
) -> dict[str, Any]:
    """Return what the GPU does in time: idle before each kernel, its fixed cost, its work.

    The wait for the host is spread evenly, as launches are.
    """
    kernel = priced.kernel
    working_s = kernel.time_s - kernel.launch_s
    moving_s = refined.hbm_transfer_s(
        priced.read_bytes + priced.written_bytes, refined.per_step(bandwidth)
    )
    return {
        f"idle_{variant}": np.where(model.refined, priced.wait_s, sketch_s) / priced.kernels,
        f"kernel_started_{variant}": np.where(model.refined, kernel.launch_s, 0 * moving_s),
        f"kernel_worked_{variant}": np.where(model.refined, working_s, moving_s),
    }
