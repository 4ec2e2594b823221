"""The plate's numbers as a function of its inputs."""

from dataclasses import replace
from typing import Any

import numpy as np

from model import cost, launch, refined, traffic
from model.hardware import FORMATS
from plates.kernel_fusion.inputs import Card, Model, Work
from plates.plate import Reading

MICRO = 1e-6

PASSES = 16
"""Passes over the tensor that the axis of bytes holds: the longest chain of the sketch."""

ROOF_FROM = 2.0**-4
"""Where the roofline figure begins, in FLOP/byte."""

MATMUL_SIDE = 8192
"""Rows and columns of the square BF16 matrices in the example of a large product; chosen."""

KERNELS = ("kernel", "kernels")

OUTPUTS = {
    "time_unfused": Reading("Time unfused", "time"),
    "time_fused": Reading("Time fused", "time"),
    "time_graph": Reading("Time unfused, as a CUDA graph", "time"),
    "speedup": Reading("Speed-up of fusing", "ratio"),
    "bytes_unfused": Reading("Bytes moved unfused", "bytes"),
    "bytes_fused": Reading("Bytes moved fused", "bytes"),
    "launch_share_unfused": Reading("Launches' share of the time unfused", "share"),
    "launch_share_fused": Reading("Launches' share of the time fused", "share"),
    "kernels_unfused": Reading("Kernels unfused", "plain", KERNELS),
    "wait_unfused": Reading("Wait for the host, unfused", "time"),
    "wait_fused": Reading("Wait for the host, fused", "time"),
    "l2_share_unfused": Reading("L2's share of the time unfused", "share"),
    "hbm_share_unfused": Reading("HBM's share of the time unfused", "share"),
    "arithmetic_share_unfused": Reading("Arithmetic's share of the time unfused", "share"),
    "intensity_unfused": Reading("Arithmetic intensity unfused", "intensity"),
    "intensity_fused": Reading("Arithmetic intensity fused", "intensity"),
    "flop_rate_unfused": Reading("Arithmetic rate unfused", "flop_rate"),
    "flop_rate_fused": Reading("Arithmetic rate fused", "flop_rate"),
    "ridge_plain": Reading("Ridge point of plain FP32", "intensity"),
    "ridge_tensor": Reading("Ridge point of the tensor cores", "intensity"),
    "fp32_rate": Reading("Plain FP32 rate of the GPU", "flop_rate"),
    "tensor_rate": Reading("Tensor rate of the GPU", "flop_rate"),
    "peak_bandwidth": Reading("Bandwidth of the GPU", "bandwidth"),
    "matmul_intensity": Reading("Arithmetic intensity of a large product", "intensity"),
    "matmul_rate": Reading("Arithmetic rate of a large product at most", "flop_rate"),
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
    before, after = _counts(chain, dtype, k)
    fused_steps = replace(
        chain.fused, flop=chain.fused.flop * refined.per_step(np.where(chain.repeated, k, 1))
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
            "arithmetic_unfused": unfused.chain.arithmetic_s,
            "wait_unfused": unfused.wait_s,
            "wait_fused": fused.wait_s,
        }.items()
    }
    time_unfused, time_fused = shown["time_unfused"], shown["time_fused"]
    pass_bytes = traffic.traffic_fused_bytes(S, dtype.bytes)
    passes = unfused.traffic_bytes / (PASSES * pass_bytes)
    matmul = cost.arithmetic_intensity(
        cost.matmul_flop(MATMUL_SIDE), cost.matmul_traffic_bytes(MATMUL_SIDE, FORMATS["bf16"].bytes)
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
        "kernels_unfused": unfused.kernels,
        "wait_unfused": shown["wait_unfused"],
        "wait_fused": shown["wait_fused"],
        "l2_share_unfused": shown["l2_unfused"] / time_unfused,
        "hbm_share_unfused": shown["hbm_unfused"] / time_unfused,
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
        "roof_from_rate": ROOF_FROM * card.bandwidth,
        "matmul_intensity": matmul,
        "matmul_rate": np.minimum(card.tensor_rate, matmul * card.bandwidth),
        "bytes_axis": PASSES * pass_bytes * np.power(2, np.ceil(np.maximum(0, np.log2(passes)))),
        **_steps("unfused_", unfused, before, model, card.bandwidth, overhead * MICRO),
        **_steps("fused_", fused, after, model, card.bandwidth, overhead * MICRO),
    }


def _card(gpu: Card, bandwidth: Any, l2: Any, fp32: Any) -> Any:
    """Return the GPU, with the reader's rates where it is a typed one.

    A typed GPU has no tensor cores that we know of; its L2 is as much faster than its memory as the
    H100's, and the rest is the H100's.
    """
    card: Any = gpu.gpu
    return replace(
        card,
        bandwidth=np.where(gpu.typed, bandwidth, card.bandwidth),
        l2_bytes=np.where(gpu.typed, l2, card.l2_bytes),
        fp32_rate=np.where(gpu.typed, fp32, card.fp32_rate),
        tensor_rate=np.where(gpu.typed, fp32, card.tensor_rate),
        l2_bandwidth=card.l2_bandwidth * np.where(gpu.typed, bandwidth / card.bandwidth, 1),
    )


def _counts(chain: Work, dtype: Any, k: Any) -> tuple[Any, Any]:
    """Return how often each step is launched, unfused and fused."""
    repeated = refined.per_step(np.where(chain.repeated, k, 1))
    before = repeated * refined.step_count(chain.steps, dtype)
    return before, refined.step_count(chain.fused, dtype)


def _sketch(
    unfused: refined.Cost, fused: refined.Cost, bandwidth: Any, overhead_s: Any
) -> dict[str, Any]:
    """Return the parts of the sketch's times: launches, then bytes at the peak bandwidth."""
    stream_s = launch.launch_stream_s(unfused.kernels, overhead_s)
    graph_s = launch.launch_graph_s(unfused.kernels, overhead_s)
    single_s = launch.launch_stream_s(fused.kernels, overhead_s)
    return {
        "time_unfused": cost.time_s(stream_s, unfused.traffic_bytes, bandwidth),
        "time_fused": cost.time_s(single_s, fused.traffic_bytes, bandwidth),
        "time_graph": cost.time_s(graph_s, unfused.traffic_bytes, bandwidth),
        "launch_unfused": stream_s,
        "launch_fused": single_s,
        "hbm_unfused": cost.time_s(0, unfused.traffic_bytes, bandwidth),
        "l2_unfused": 0,
        "arithmetic_unfused": 0,
        "wait_unfused": 0,
        "wait_fused": 0,
    }


def _steps(
    prefix: str, priced: refined.Cost, count: Any, model: Model, bandwidth: Any, overhead_s: Any
) -> dict[str, Any]:
    """Return what each step moves, how long one launch of it takes, and what bounds it."""
    moved = priced.read_bytes + priced.written_bytes
    moving_s = moved / refined.per_step(bandwidth)
    launch_s = refined.per_step(overhead_s)
    kernel = priced.kernel
    bound = refined.largest(kernel.launch_s, kernel.l2_s, kernel.hbm_s, kernel.arithmetic_s)
    return {
        f"{prefix}count": count,
        f"{prefix}read": priced.read_bytes,
        f"{prefix}written": priced.written_bytes,
        f"{prefix}moved": moved,
        f"{prefix}time": np.where(model.refined, kernel.time_s, launch_s + moving_s),
        f"{prefix}bound": np.where(model.refined, bound, refined.largest(launch_s, 0, moving_s, 0)),
    }
