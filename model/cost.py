"""What a chain costs: time, the speed-up of fusing it, the share of launches, the roofline."""

from typing import Any

from model.arguments import checked


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
