"""The refined model: what one kernel costs, term by term, and the chain of them.

Each term is a function of numbers, element by element. `chain_cost` puts them together; a term that
is switched off takes the value it has in the sketch.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from model import launch
from model.arguments import checked
from model.hardware import FORMATS, Format, Gpu
from model.operations import Steps

INDEXED_SHARE = 0.5
"""Share of memory's achieved bandwidth that a kernel reaches whose operands are not all dense and
of one format: it computes an address, or converts, for each value, and loads no 16 bytes at once.

Fitted to unfused forward rows of named A100 and H100 cards in the published timings that ship with
the plate (RMSNorm and RoPE of transformers).
"""

EAGER_DISPATCH_S = 2e-6
"""What PyTorch adds on the host to each operation that it launches one by one.

Source: a maintainer in pytorch/pytorch issue 41383: `x * x` on the host alone takes about 2 µs.
"""


REGIMES = ("launch-bound", "L2-bound", "HBM-bound", "access-bound", "arithmetic-bound")
"""What a time may mostly consist of, in the order of `Cost`."""

FP32_BYTES = FORMATS["fp32"].bytes
"""Bytes of one FP32 value, in which mixed operands meet. Source: `FORMATS`."""


@dataclass(frozen=True)
class Terms:
    """Which terms of the refined model are on."""

    fixed: Any = True
    achieved: Any = True
    l2: Any = True
    access: Any = True
    arithmetic: Any = True
    overlap: Any = True


@dataclass(frozen=True)
class Launch:
    """How kernels are launched: each by the host, `eager` through a framework, or as a `graph`."""

    eager: Any = False
    graph: Any = False


def terms(names: str) -> Terms:
    """Return the terms that are named, joined by commas, as on; the others are off."""
    words = [word.strip() for word in names.split(",")]
    return Terms(**{it.name: it.name in words for it in fields(Terms)})


LAUNCHES = {"stream": Launch(), "eager": Launch(eager=True), "graph": Launch(graph=True)}


@dataclass(frozen=True)
class Parts:
    """Seconds of a time: `time_s` is the sum of the others.

    `launch_s` is fixed cost and, for a chain, waiting for the host; `l2_s` and `hbm_s` are traffic
    by where it goes, `access_s` is by how much slow access is longer than that. Where arithmetic is
    longer still, `arithmetic_s` stands for all of these.
    """

    time_s: Any
    launch_s: Any
    l2_s: Any
    hbm_s: Any
    access_s: Any
    arithmetic_s: Any


@dataclass(frozen=True)
class Cost:
    """The cost of a chain: its parts, how many kernels, and what they move and compute.

    `wait_s` is for how long the GPU has nothing to do. `kernel` has the parts of one launch of each
    step along its last axis, `read_bytes` and `written_bytes` what that moves, and `l2_share` how
    much of it stays inside L2.
    """

    chain: Parts
    kernels: Any
    traffic_bytes: Any
    flop: Any
    wait_s: Any
    kernel: Parts
    read_bytes: Any
    written_bytes: Any
    l2_share: Any


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


@checked
def l2_transfer_s(moved_bytes: Any, bandwidth: Any, l2_bandwidth: Any) -> Any:
    """Return the time in seconds of traffic that stays inside L2.

    Source: time is bytes over bandwidth (Hockney 1994).
    """
    return moved_bytes / l2_pace(bandwidth, l2_bandwidth)


@checked
def hbm_transfer_s(moved_bytes: Any, bandwidth: Any) -> Any:
    """Return the time in seconds of traffic that goes to memory.

    Source: time is bytes over bandwidth (Hockney 1994).
    """
    return moved_bytes / bandwidth


@checked
def indexed_s(moved_bytes: Any, bandwidth: Any) -> Any:
    """Return the least time in seconds of a kernel that computes an address for each value.

    It is the same wherever the data live, since it is not memory that it waits for.

    Source: `INDEXED_SHARE`.
    """
    return moved_bytes / (INDEXED_SHARE * bandwidth)


@checked
def arithmetic_s(flop: Any, flop_rate: Any) -> Any:
    """Return the least time in seconds that a kernel's arithmetic takes outside the tensor cores.

    Source: the roofline's flat part (Williams, Waterman, Patterson 2009).
    """
    return flop / flop_rate


@checked
def fixed_s(launched_s: Any, ramp_s: Any, l2_share: Any) -> Any:
    """Return what a kernel costs the GPU whatever it does: to start, and to fill and drain memory.

    Source: RRZE-HPC/gpu-benches, gpu-small-kernels: a line through the times of kernels inside L2
    meets zero bytes earlier than one through the times of large kernels.
    """
    return launched_s + ramp_s * (1 - l2_share)


def per_step(value: Any) -> Any:
    """Return the value with a last axis more, to be met there by an entry for each step."""
    # A symbol that records the formula takes part in np.positive, and not in np.asarray.
    return np.positive(value)[..., None]


def step_count(steps: Steps, dtype: Format, k: Any = 1) -> Any:
    """Return how many kernels each step is, along a last axis.

    None for a cast where the format is FP32 already; for a repeated step, all of k but one.
    """
    times = np.where(steps.repeated, per_step(k) - 1, 1)
    return np.where(np.logical_and(steps.cast, dtype.bytes >= FP32_BYTES), 0, times)


def dispatch_s(launched: Launch, terms: Terms) -> Any:
    """Return what a framework adds to each launch, where the host's work is counted by itself.

    Source: `EAGER_DISPATCH_S`.
    """
    return np.where(np.logical_and(launched.eager, terms.overlap), EAGER_DISPATCH_S, 0)


def largest(launch_s: Any, l2_s: Any, hbm_s: Any, access_s: Any, arithmetic_s: Any) -> Any:
    """Return which part of a time is the largest, as its place in `REGIMES`.

    Of equals it is the first, and slow access before memory.
    """
    place: Any = 0
    most_s = launch_s
    # Slow access at half the pace of memory costs as much again as memory does, and is the reason.
    for n, part_s in ((1, l2_s), (3, access_s), (2, hbm_s), (4, arithmetic_s)):
        place = np.where(part_s > most_s, n, place)
        most_s = np.maximum(most_s, part_s)
    return place


def chain_cost(
    steps: Steps,
    count: Any,
    n_values: Any,
    dtype: Format,
    gpu: Gpu,
    launched: Launch,
    overhead_s: Any,
    terms: Terms,
    warm: bool = False,
) -> Cost:
    """Return the cost of a chain on tensors of `n_values` in the format, `count` kernels a step.

    `n_values`, `overhead_s` and the rates of the GPU may be arrays that broadcast; `count` has a
    last axis more, with one entry a step. A step that reads a tensor which none before it has
    touched finds nothing in L2, unless the chain is `warm`: run over and over on the same tensors.

    Raises ValueError for a number outside its range in `model.arguments`.

    Source: the sum over kernels is how a stream runs them, in order; the host's issue runs beside
    it, so that the longer of the two counts (CUDA C++ Programming Guide, asynchronous execution).
    """
    values = per_step(n_values)
    read = values * (steps.read_values * dtype.bytes + steps.read_bytes)
    written = values * (steps.write_values * dtype.bytes + steps.write_bytes)
    traffic = read + written
    resident = _resident(steps, traffic, dtype, gpu, terms, warm)
    kernel = _kernel(steps, traffic, values * steps.flop, resident, dtype, gpu, launched, terms)

    def total(entries: Any) -> Any:
        return np.sum(count * entries, axis=-1)

    kernels = np.sum(count, axis=-1)
    on_gpu_s = total(kernel.time_s)
    each_s = overhead_s + dispatch_s(launched, terms)
    # The gap between a graph's nodes is part of the fixed cost, where that is counted.
    gap_s = np.where(terms.fixed, 0, launch.GRAPH_GAP_S)
    issued_s = np.where(
        launched.graph,
        launch.launch_graph_s(kernels, overhead_s, gap_s),
        launch.launch_stream_s(kernels, each_s),
    )
    wait_s = np.where(terms.overlap, np.maximum(0, issued_s - on_gpu_s), issued_s)
    return Cost(
        chain=Parts(
            time_s=on_gpu_s + wait_s,
            launch_s=total(kernel.launch_s) + wait_s,
            l2_s=total(kernel.l2_s),
            hbm_s=total(kernel.hbm_s),
            access_s=total(kernel.access_s),
            arithmetic_s=total(kernel.arithmetic_s),
        ),
        kernels=kernels,
        traffic_bytes=total(traffic),
        flop=total(values * steps.flop),
        wait_s=wait_s,
        kernel=kernel,
        read_bytes=read,
        written_bytes=written,
        l2_share=resident,
    )


def _resident(steps: Steps, traffic: Any, dtype: Format, gpu: Gpu, terms: Terms, warm: bool) -> Any:
    """Return the share of each kernel's traffic that stays inside L2."""
    narrow = dtype.bytes < FP32_BYTES
    fresh = np.logical_or(
        np.logical_and(narrow, steps.fresh),
        np.logical_and(np.logical_not(narrow), steps.fresh_wide),
    )
    return np.where(
        np.logical_and(terms.l2, np.logical_or(warm, np.logical_not(fresh))),
        l2_share(traffic, per_step(gpu.l2_bytes), gpu.l2_full_share, gpu.l2_spilt_share),
        0,
    )


def _kernel(
    steps: Steps,
    traffic: Any,
    flop: Any,
    resident: Any,
    dtype: Format,
    gpu: Gpu,
    launched: Launch,
    terms: Terms,
) -> Parts:
    """Return the time of one launch of each step, with what it goes to."""
    bandwidth = per_step(gpu.bandwidth * np.where(terms.achieved, gpu.achieved_share, 1))
    in_l2_s = l2_transfer_s(traffic * resident, bandwidth, per_step(gpu.l2_bandwidth))
    in_hbm_s = hbm_transfer_s(traffic * (1 - resident), bandwidth)
    moved_s = in_l2_s + in_hbm_s
    mixed = np.logical_and(steps.mixed, dtype.bytes < FP32_BYTES)
    slow = np.logical_and(terms.access, np.logical_or(steps.indexed, mixed))
    accessed_s = np.maximum(moved_s, np.where(slow, indexed_s(traffic, bandwidth), 0))
    computed_s = np.where(terms.arithmetic, arithmetic_s(flop, per_step(gpu.fp32_rate)), 0)
    computes = computed_s > accessed_s
    launched_s = np.where(launched.graph, gpu.graph_s, gpu.stream_s)
    started_s = np.where(terms.fixed, fixed_s(launched_s, gpu.ramp_s, resident), 0)
    return Parts(
        time_s=started_s + np.maximum(accessed_s, computed_s),
        launch_s=started_s,
        l2_s=np.where(computes, 0, in_l2_s),
        hbm_s=np.where(computes, 0, in_hbm_s),
        access_s=np.where(computes, 0, accessed_s - moved_s),
        arithmetic_s=np.where(computes, computed_s, 0),
    )
