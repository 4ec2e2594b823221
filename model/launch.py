"""Time that a chain of k kernels spends on being launched, in seconds."""

from typing import Any

import numpy as np

from model.arguments import checked

GRAPH_GAP_S = 1.3e-6
"""Time from one kernel to the next inside a CUDA graph on Hopper.

Source: RRZE-HPC/gpu-benches, gpu-small-kernels (GH200, graph): 1.26 to 1.32 µs a kernel at 64 kB to
0.5 MB; Hazy Research, "Look Ma, No Bubbles" (H100): about 1.3 µs.
"""


@checked
def launch_stream_s(k: Any, overhead_s: Any) -> Any:
    """Return the launch time of k kernels sent one by one: each pays the whole overhead.

    Source: the sketch's assumption, that launching does not overlap execution.
    """
    return k * overhead_s


@checked
def launch_graph_s(k: Any, overhead_s: Any, gap_s: Any = GRAPH_GAP_S) -> Any:
    """Return the launch time of k kernels in a CUDA graph: one launch, then a gap for each.

    A graph is never slower than the stream, so the gap is at most the overhead.

    Source: `GRAPH_GAP_S`.
    """
    # What is saved is taken off the stream, so that rounding cannot make a graph the slower one.
    return launch_stream_s(k, overhead_s) - (k - 1) * np.maximum(0, overhead_s - gap_s)
