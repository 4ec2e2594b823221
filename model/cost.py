"""What a chain costs: time, the speed-up of fusing it, the share of launches, the roofline."""

from typing import Any

import numpy as np

from model.arguments import checked
from model.traffic import traffic_fused_bytes


@checked
def time_s(launch_s: Any, traffic_bytes: Any, bandwidth: Any) -> Any:
    """Return the time in seconds of a memory-bound chain: launches, then bytes over bandwidth.

    Source: the linear cost of a transfer, latency plus size over bandwidth (Hockney 1994).
    """
    return launch_s + traffic_bytes / bandwidth


@checked
def speedup(time_unfused_s: Any, time_fused_s: Any) -> Any:
    """Return how many times faster the fused chain is."""
    return time_unfused_s / time_fused_s


@checked
def launch_share(launch_s: Any, time_s: Any) -> Any:
    """Return the share of the time, 0 to 1, that goes to launches."""
    return launch_s / time_s


@checked
def arithmetic_intensity(flop: Any, traffic_bytes: Any) -> Any:
    """Return the arithmetic done per byte moved, in FLOP/byte.

    Source: Williams, Waterman, Patterson, "Roofline" (CACM 2009).
    """
    return flop / traffic_bytes


@checked
def ridge_point(flop_rate: Any, bandwidth: Any) -> Any:
    """Return the intensity in FLOP/byte below which a kernel is memory-bound.

    Source: Williams, Waterman, Patterson, "Roofline" (CACM 2009).
    """
    return flop_rate / bandwidth


@checked
def matmul_flop(side: Any) -> Any:
    """Return the arithmetic of a product of two square matrices with `side` rows, in FLOP.

    Source: a multiplication and an addition for each of side³ pairs.
    """
    return 2 * side**3


@checked
def matmul_traffic_bytes(side: Any, value_bytes: Any) -> Any:
    """Return the traffic of that product: both factors are read once, the result is written once.

    Source: the roofline count of compulsory traffic (Williams, Waterman, Patterson 2009).
    """
    return 3 * side**2 * value_bytes


@checked
def matmul_s(side: Any, value_bytes: Any, tensor_rate: Any, bandwidth: Any) -> Any:
    """Return the least time in seconds of that product: its arithmetic or its bytes, the longer.

    Source: Williams, Waterman, Patterson, "Roofline" (CACM 2009).
    """
    computing_s = matmul_flop(side) / tensor_rate
    return np.maximum(computing_s, matmul_traffic_bytes(side, value_bytes) / bandwidth)


@checked
def attainable_rate(intensity: Any, flop_rate: Any, bandwidth: Any) -> Any:
    """Return the arithmetic rate in FLOP/s under the roofline at an intensity in FLOP/byte.

    Source: Williams, Waterman, Patterson, "Roofline" (CACM 2009).
    """
    return np.minimum(flop_rate, intensity * bandwidth)


@checked
def epilogue_saving(
    side: Any, value_bytes: Any, tensor_rate: Any, bandwidth: Any, overhead_s: Any
) -> Any:
    """Return the share of its time that a product saves when it takes in the activation after it.

    The product writes the activated result instead of its own; a launch and the activation's pass
    over the result are gone.

    Source: the sketch, and the roofline for the product.
    """
    product_s = overhead_s + matmul_s(side, value_bytes, tensor_rate, bandwidth)
    activation_s = time_s(overhead_s, traffic_fused_bytes(side**2, value_bytes), bandwidth)
    return activation_s / (product_s + activation_s)
