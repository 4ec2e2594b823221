"""What a chain of kernels costs: a term for each thing that is known of a GPU.

The refined model has its terms on; with none of them it is the sketch, in which each launch costs
its overhead, and then the bytes move at the peak bandwidth.
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from model.arguments import checked
from model.chains import Steps
from model.gpus import Format, Gpu

INDEXED_SHARE = 0.5
"""Share of memory's achieved bandwidth that a kernel reaches whose operands are not all dense and
of one format: it computes an address, or converts, for each value, and loads no 16 bytes at once.

Fitted to unfused forward rows of named A100 and H100 cards in the published timings that ship with
the plate (RMSNorm and RoPE of transformers). By width the same rows give 0.50 for values of 2 bytes
and 0.52 for those of 4, so that there is one; a rate in values per second fits them worse.
"""

EAGER_DISPATCH_S = 2e-6
"""What PyTorch adds on the host to each operation that it launches one by one.

Source: a maintainer in pytorch/pytorch issue 41383: `x * x` on the host alone takes about 2 µs.
"""

GRAPH_GAP_S = 1.3e-6
"""Time from one kernel to the next inside a CUDA graph on Hopper.

Source: RRZE-HPC/gpu-benches, gpu-small-kernels (GH200, graph): 1.26 to 1.32 µs a kernel at 64 kB to
0.5 MB; Hazy Research, "Look Ma, No Bubbles" (H100): about 1.3 µs.
"""

REGIMES = ("launch-bound", "L2-bound", "HBM-bound", "access-bound", "arithmetic-bound")
"""What a time may mostly consist of, in the order of `Parts`."""


@dataclass(frozen=True)
class Terms:
    """Which terms of the refined model are on."""

    fixed: Any = True
    achieved: Any = True
    l2: Any = True
    access: Any = True
    arithmetic: Any = True
    overlap: Any = True


REFINED, SKETCH = Terms(), Terms(*[False] * len(fields(Terms)))
"""The refined model, and the sketch: no term is on."""


@dataclass(frozen=True)
class Launch:
    """How kernels are launched: each by the host, `eager` through a framework, or as a `graph`."""

    eager: Any = False
    graph: Any = False


LAUNCHES = {"stream": Launch(), "eager": Launch(eager=True), "graph": Launch(graph=True)}


@dataclass(frozen=True)
class Run:
    """How a chain is run: on what, in which format, how it is launched, and which terms count.

    A launch costs the host `overhead_s`. Of a repeated step there are k - 1. A `warm` chain is run
    over and over on the same tensors.
    """

    gpu: Gpu
    dtype: Format
    launch: Launch = LAUNCHES["stream"]
    overhead_s: Any = 0
    terms: Terms = REFINED
    k: Any = 1
    warm: bool = False

    @property
    def issue_s(self) -> Any:
        """What the host takes for each launch, more in a framework if its work is counted apart."""
        eager = np.logical_and(self.launch.eager, self.terms.overlap)
        return self.overhead_s + np.where(eager, EAGER_DISPATCH_S, 0)


class Parts(NamedTuple):
    """Seconds of a time by what they go to.

    `launch_s` is fixed cost and, for a chain, waiting for the host; `l2_s` and `hbm_s` are traffic
    by where it goes, `access_s` is by how much slow access is longer than that. Where arithmetic is
    longer still, `arithmetic_s` stands for all of these.
    """

    launch_s: Any
    l2_s: Any
    hbm_s: Any
    access_s: Any
    arithmetic_s: Any

    @property
    def worked_s(self) -> Any:
        """All but the launch."""
        return self.l2_s + self.hbm_s + self.access_s + self.arithmetic_s

    @property
    def time_s(self) -> Any:
        """The whole time."""
        return self.launch_s + self.worked_s


@dataclass(frozen=True)
class Cost:
    """The cost of a chain: its parts, its `kernels`, what they move and compute, and the wait.

    `wait_s` is for how long the GPU has nothing to do. Along the last axis there is, for one launch
    of each step, its parts as `kernel`, how often it is there as `count`, what it reads and writes,
    and how much of that stays inside L2.
    """

    chain: Parts
    kernels: Any
    traffic_bytes: Any
    flop: Any
    wait_s: Any
    kernel: Parts
    count: Any
    read_bytes: Any
    written_bytes: Any
    l2_share: Any


@checked
def traffic_bytes(k: Any, n_values: Any, value_bytes: Any) -> Any:
    """Return the bytes that k kernels move, each of which reads a tensor and writes it.

    Source: the roofline count of compulsory traffic (Williams, Waterman, Patterson 2009); nothing
    is kept between two kernels.
    """
    return 2 * k * n_values * value_bytes


@checked
def transfer_s(moved_bytes: Any, bandwidth: Any) -> Any:
    """Return the time in seconds of traffic. Source: bytes over bandwidth (Hockney 1994)."""
    return moved_bytes / bandwidth


@checked
def launch_s(k: Any, overhead_s: Any, gap_s: Any) -> Any:
    """Return the time in seconds of launching k kernels: the overhead once, and then the gaps.

    In a CUDA graph a gap is `GRAPH_GAP_S`, at most the overhead: a graph is never slower than a
    stream, where each gap is the overhead.

    Source: that the host launches a stream in order (CUDA C++ Programming Guide, streams).
    """
    # What is saved is taken off the stream, so that rounding cannot make a graph the slower one.
    return k * overhead_s - (k - 1) * np.maximum(0, overhead_s - gap_s)


@checked
def intensity(flop: Any, traffic_bytes: Any) -> Any:
    """Return the arithmetic done per byte moved, in FLOP/byte.

    Source: Williams, Waterman, Patterson, "Roofline" (CACM 2009).
    """
    return flop / traffic_bytes


@checked
def ridge_point(flop_rate: Any, bandwidth: Any) -> Any:
    """Return the intensity in FLOP/byte below which a kernel is memory-bound.

    Source: as `intensity`.
    """
    return flop_rate / bandwidth


@checked
def attainable_rate(intensity: Any, flop_rate: Any, bandwidth: Any) -> Any:
    """Return the arithmetic rate in FLOP/s under the roofline at an intensity in FLOP/byte.

    Source: as `intensity`.
    """
    return np.minimum(flop_rate, intensity * bandwidth)


@checked
def matmul_flop(side: Any) -> Any:
    """Return the FLOP of a product of two square matrices with `side` rows.

    Source: a multiplication and an addition for each of side³ pairs.
    """
    return 2 * side**3


@checked
def matmul_intensity(side: Any, value_bytes: Any) -> Any:
    """Return that product's intensity in FLOP/byte: factors are read and the result written once.

    Source: as `traffic_bytes`.
    """
    return intensity(matmul_flop(side), 3 * side**2 * value_bytes)


@checked
def epilogue_saving(
    side: Any, value_bytes: Any, tensor_rate: Any, bandwidth: Any, overhead_s: Any
) -> Any:
    """Return the share of its time that a product saves when it takes in the activation after it.

    The product writes the activated result instead of its own; a launch and the activation's pass
    over the result are gone.

    Source: the sketch, and the roofline for the product.
    """
    rate = attainable_rate(matmul_intensity(side, value_bytes), tensor_rate, bandwidth)
    product_s = overhead_s + matmul_flop(side) / rate
    activation_s = overhead_s + transfer_s(traffic_bytes(1, side**2, value_bytes), bandwidth)
    return activation_s / (product_s + activation_s)


@checked
def l2_share(moved_bytes: Any, l2_bytes: Any, l2_full_share: Any, l2_spilt_share: Any) -> Any:
    """Return the share, 0 to 1, of a kernel's traffic that stays inside L2.

    All of it while the kernel moves no more than `l2_full_share` of the cache, none from
    `l2_spilt_share` on, and a straight line between the two.

    Source: RRZE-HPC/gpu-benches, gpu-small-kernels: chains of small kernels show the two ends.
    """
    full, spilt = l2_full_share * l2_bytes, l2_spilt_share * l2_bytes
    return np.clip((spilt - moved_bytes) / (spilt - full), 0, 1)


@checked
def l2_pace(bandwidth: Any, l2_bandwidth: Any) -> Any:
    """Return the bandwidth inside L2 in bytes/s, which no memory outruns.

    Source: a cache that were slower than its memory would not be used.
    """
    return np.maximum(l2_bandwidth, bandwidth)


def per_step(value: Any) -> Any:
    """Return the value with a last axis more, to be met there by an entry for each step."""
    # A symbol that records the formula takes part in np.positive, and not in np.asarray.
    return np.positive(value)[..., None]


def largest(parts: Parts) -> Any:
    """Return which part of a time is the largest, as its place in `REGIMES`.

    Of equals it is the first, and slow access before memory.
    """
    place: Any = 0
    most_s = parts.launch_s
    # Slow access at half the pace of memory costs as much again as memory does, and is the reason.
    for n in (1, 3, 2, 4):
        place = np.where(parts[n] > most_s, n, place)
        most_s = np.maximum(most_s, parts[n])
    return place


def chain_cost(steps: Steps, n_values: Any, run: Run) -> Cost:
    """Return the cost of a chain on tensors of `n_values`.

    Numbers may be arrays that broadcast; one outside its range in `model.arguments` raises
    ValueError.

    Source: the sum over kernels is how a stream runs them, in order; the host's issue runs beside
    it, so that the longer of the two counts (CUDA C++ Programming Guide, asynchronous execution).
    """
    values, value_bytes = per_step(n_values), run.dtype.bytes
    read = values * (steps.read_values * value_bytes + steps.read_bytes)
    written = values * (steps.write_values * value_bytes + steps.write_bytes)
    resident = _resident(steps, read + written, run)
    kernel = _kernel(steps, read + written, values * steps.flop, resident, run)
    times = np.where(steps.repeated, per_step(run.k) - 1, 1)
    count = np.where(np.logical_and(steps.cast, np.logical_not(run.dtype.narrow)), 0, times)

    def total(entries: Any) -> Any:
        return np.sum(count * entries, axis=-1)

    on_gpu, kernels = Parts(*map(total, kernel)), np.sum(count, axis=-1)
    wait_s = _wait_s(kernels, on_gpu.time_s, run)
    chain = on_gpu._replace(launch_s=on_gpu.launch_s + wait_s)
    moved, flop = total(read + written), total(values * steps.flop)
    return Cost(chain, kernels, moved, flop, wait_s, kernel, count, read, written, resident)


def _wait_s(kernels: Any, on_gpu_s: Any, run: Run) -> Any:
    """Return how long the GPU waits for the host, which works beside it if the two overlap."""
    # The gap between a graph's nodes is part of the fixed cost, where that is counted.
    gap_s = np.where(run.terms.fixed, 0, GRAPH_GAP_S)
    issued_s = launch_s(kernels, run.issue_s, np.where(run.launch.graph, gap_s, run.issue_s))
    return np.where(run.terms.overlap, np.maximum(0, issued_s - on_gpu_s), issued_s)


def _resident(steps: Steps, moved: Any, run: Run) -> Any:
    """Return the share of each kernel's traffic that stays inside L2.

    Nothing of it is there where the step reads a tensor that none before it has touched, unless the
    chain is warm.
    """
    gpu, narrow = run.gpu, run.dtype.narrow
    fresh = np.logical_or(
        np.logical_and(narrow, steps.fresh),
        np.logical_and(np.logical_not(narrow), steps.fresh_wide),
    )
    found = np.logical_and(run.terms.l2, np.logical_or(run.warm, np.logical_not(fresh)))
    share = l2_share(
        moved, per_step(gpu.l2_bytes), per_step(gpu.l2_full_share), per_step(gpu.l2_spilt_share)
    )
    return np.where(found, share, 0)


def _kernel(steps: Steps, moved: Any, flop: Any, resident: Any, run: Run) -> Parts:
    """Return what the time of one launch of each step goes to.

    Slow access is the same wherever the data live, since it is not memory that it waits for.

    Source: `INDEXED_SHARE`; the roofline's flat part for arithmetic; RRZE-HPC/gpu-benches for the
    fixed cost: a line through the times of kernels inside L2 meets zero bytes earlier than one
    through those of large kernels.
    """
    gpu, terms = run.gpu, run.terms
    bandwidth = per_step(gpu.bandwidth * np.where(terms.achieved, gpu.achieved_share, 1))
    in_l2_s = transfer_s(moved * resident, l2_pace(bandwidth, per_step(gpu.l2_bandwidth)))
    in_hbm_s = transfer_s(moved * (1 - resident), bandwidth)
    mixed = np.logical_and(steps.mixed, run.dtype.narrow)
    slow = np.logical_and(terms.access, np.logical_or(steps.indexed, mixed))
    indexed_s = np.where(slow, transfer_s(moved, INDEXED_SHARE * bandwidth), 0)
    accessed_s = np.maximum(in_l2_s + in_hbm_s, indexed_s)
    computed_s = np.where(terms.arithmetic, flop / per_step(gpu.fp32_rate), 0)
    computes = computed_s > accessed_s
    launched_s = per_step(np.where(run.launch.graph, gpu.graph_s, gpu.stream_s))
    return Parts(
        launch_s=np.where(terms.fixed, launched_s + per_step(gpu.ramp_s) * (1 - resident), 0),
        l2_s=np.where(computes, 0, in_l2_s),
        hbm_s=np.where(computes, 0, in_hbm_s),
        access_s=np.where(computes, 0, accessed_s - (in_l2_s + in_hbm_s)),
        arithmetic_s=np.where(computes, computed_s, 0),
    )
