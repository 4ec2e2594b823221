"""Bytes that a chain of k element-wise kernels reads from memory and writes back to it."""

from typing import Any

from model.arguments import checked


@checked
def traffic_fused_bytes(n_values: Any, value_bytes: Any) -> Any:
    """Return the traffic of the chain as one kernel: the tensor is read once and written once.

    Source: the roofline count of compulsory traffic (Williams, Waterman, Patterson 2009).
    """
    return 2 * n_values * value_bytes


@checked
def traffic_unfused_bytes(k: Any, n_values: Any, value_bytes: Any) -> Any:
    """Return the traffic of the chain as k kernels, each of which reads and writes the tensor.

    Source: as `traffic_fused_bytes`, once a kernel; nothing is kept between two kernels.
    """
    return k * traffic_fused_bytes(n_values, value_bytes)
