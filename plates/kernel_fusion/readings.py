"""The plate's numbers as a function of its inputs: the sketch on an H100, in BF16."""

from typing import Any

from model import cost, hardware, launch, traffic
from plates.plate import Reading

MICRO = 1e-6

OUTPUTS = {
    "time_unfused": Reading("Time unfused", "time"),
    "time_fused": Reading("Time fused", "time"),
    "time_graph": Reading("Time unfused, as a CUDA graph", "time"),
    "speedup": Reading("Speed-up of fusing", "ratio"),
    "bytes_unfused": Reading("Bytes moved unfused", "bytes"),
    "bytes_fused": Reading("Bytes moved fused", "bytes"),
    "launch_share_unfused": Reading("Launches' share of the time unfused", "share"),
    "launch_share_fused": Reading("Launches' share of the time fused", "share"),
}


def readings(k: Any, S: Any, overhead: Any) -> dict[str, Any]:
    """Return the readings of `OUTPUTS` in SI units, for k kernels on S values, overhead in µs."""
    bandwidth = hardware.H100_SXM.bandwidth
    stream_s = launch.launch_stream_s(k, overhead * MICRO)
    graph_s = launch.launch_graph_s(k, overhead * MICRO)
    single_s = launch.launch_stream_s(1, overhead * MICRO)
    bytes_unfused = traffic.traffic_unfused_bytes(k, S, traffic.BF16_BYTES)
    bytes_fused = traffic.traffic_fused_bytes(S, traffic.BF16_BYTES)
    time_unfused = cost.time_s(stream_s, bytes_unfused, bandwidth)
    time_fused = cost.time_s(single_s, bytes_fused, bandwidth)
    return {
        "time_unfused": time_unfused,
        "time_fused": time_fused,
        "time_graph": cost.time_s(graph_s, bytes_unfused, bandwidth),
        "speedup": cost.speedup(time_unfused, time_fused),
        "bytes_unfused": bytes_unfused,
        "bytes_fused": bytes_fused,
        "launch_share_unfused": cost.launch_share(stream_s, time_unfused),
        "launch_share_fused": cost.launch_share(single_s, time_fused),
    }
