"""The refined model: by hand, at its limits, and against chains of kernels that were measured."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import cost
from model.chains import CHAINS
from model.gpus import FORMATS, GPUS, Format

US = 1e-6
GH200, H100_SXM = GPUS["gh200"], GPUS["h100-sxm"]

chains = st.sampled_from(list(CHAINS))
gpus = st.sampled_from(list(GPUS.values()))
formats = st.sampled_from(list(FORMATS.values()))
launches = st.sampled_from(list(cost.LAUNCHES))
sizes = st.integers(1, 2**34)
overheads = st.floats(0, 50e-6)
switches = st.builds(cost.Terms, *[st.booleans()] * len(fields(cost.Terms)))


def priced(
    chain="sketch", n=2**20, dtype=FORMATS["bf16"], gpu=H100_SXM, launched="stream",
    overhead=4 * US, terms=cost.REFINED, k=1, fused=False, warm=False,
):  # fmt: skip
    steps = CHAINS[chain].fused if fused else CHAINS[chain].unfused
    run = cost.Run(gpu, dtype, cost.LAUNCHES[launched], overhead, terms, k, warm)
    return cost.chain_cost(steps, n, run)


def test_a_kernel_inside_l2_costs_its_start_and_its_bytes_at_the_pace_of_l2():
    # 4 Mi BF16 values, read and written: 16.8 MB at 6.1 TB/s, and 2.43 µs.
    found = priced(n=2**22, gpu=GH200, overhead=0, warm=True).chain.time_s
    assert found == pytest.approx(2.43e-6 + 16777216 / 6.1e12, rel=1e-12)


def test_a_kernel_beyond_l2_costs_more_to_start_and_its_bytes_at_what_memory_achieves():
    # 2^27 values: 537 MB at 3.03 TB/s, 1.4 µs to start and 1.9 µs to fill and drain.
    found = priced(n=2**27, overhead=0).chain
    assert found.time_s == pytest.approx(3.3e-6 + 2**29 / 3.03e12, rel=1e-12)
    assert found.hbm_s == pytest.approx(2**29 / 3.03e12, rel=1e-12)
    assert found.l2_s == 0


def test_half_way_between_its_limits_l2_keeps_half():
    # 50 MB of L2: all to 35 MB, none from 65 MB.
    assert cost.l2_share(50e6, 50e6, 0.7, 1.3) == pytest.approx(0.5)
    assert cost.l2_share([0, 35e6, 65e6, 1e9], 50e6, 0.7, 1.3).tolist() == [1, 1, 0, 0]


def test_broadcast_operands_halve_the_pace_wherever_the_data_live():
    # Adding a bias to 2^22 BF16 values: 16.8 MB at half of 3.03 TB/s.
    found = priced("bias-add", n=2**22, overhead=0, warm=True).kernel.time_s
    assert found[0] == pytest.approx(1.4e-6 + 2**24 / (0.5 * 3.03e12), rel=1e-12)


def test_no_kernel_is_faster_than_its_arithmetic():
    # 16 operations on each of 2^27 values at 1 TFLOP/s.
    slow = replace(H100_SXM, fp32_rate=1e12)
    found = priced("jsd", n=2**27, dtype=FORMATS["fp32"], gpu=slow, overhead=0, fused=True)
    assert found.chain.time_s == pytest.approx(3.3e-6 + 15 * 2**27 / 1e12, rel=1e-12)
    assert found.chain.arithmetic_s > 0


def test_what_no_kernel_has_touched_comes_from_memory_and_what_one_has_left_from_l2():
    # Two kernels on 2^22 BF16 values: the first from memory, the second inside L2.
    found = priced("relu-squared", n=2**22, overhead=0).kernel
    assert found.hbm_s.tolist() == [pytest.approx(2**24 / 3.03e12, rel=1e-12), 0]
    assert found.l2_s.tolist() == [0, pytest.approx(2**24 / 4.1e12, rel=1e-12)]


@given(chain=chains, gpu=gpus, dtype=formats, n=sizes, launched=launches, overhead=overheads)
def test_fusing_is_never_slower_where_no_step_is_slow(chain, gpu, dtype, n, launched, overhead):
    before, after = (
        priced(chain, n, dtype, gpu, launched, overhead, fused=fused).chain.time_s
        for fused in (False, True)
    )
    assert after <= before * (1 + 1e-12)


def test_where_the_host_is_slower_the_gpu_waits():
    # Five kernels at 4 µs each; eager PyTorch takes 2 µs more for each.
    assert priced(k=5, n=4096).chain.time_s == pytest.approx(20e-6, rel=1e-12)
    assert priced(k=5, n=4096, launched="eager").chain.time_s == pytest.approx(30e-6, rel=1e-12)
    assert priced(k=5, n=2**30).wait_s == 0


@given(chain=chains, gpu=gpus, dtype=formats, n=sizes, overhead=overheads, k=st.integers(1, 16))
def test_with_all_terms_off_it_is_the_sketch(chain, gpu, dtype, n, overhead, k):
    for launched in cost.LAUNCHES:
        found = priced(chain, n, dtype, gpu, launched, overhead, cost.SKETCH, k)
        launch_s = found.kernels * overhead
        if launched == "graph":
            launch_s = overhead + (found.kernels - 1) * min(overhead, 1.3 * US)
        sketch = launch_s + found.traffic_bytes / gpu.bandwidth
        assert found.chain.time_s == pytest.approx(sketch, rel=1e-12)
        assert found.chain.launch_s == found.wait_s == pytest.approx(launch_s, rel=1e-12)


@given(n=sizes, overhead=overheads, k=st.integers(1, 1000))
def test_in_the_sketch_the_speed_up_of_equal_steps_is_their_number(n, overhead, k):
    before, after = (
        priced(n=n, overhead=overhead, terms=cost.SKETCH, k=k, fused=it).chain.time_s
        for it in (False, True)
    )
    assert before / after == pytest.approx(k, rel=1e-12)


def test_the_largest_part_of_a_time_is_what_bounds_it():
    def bound(*parts):
        return cost.REGIMES[int(cost.largest(cost.Parts(*parts)))]

    assert bound(3, 0, 2, 0, 0) == "launch-bound"
    assert bound(1, 3, 2, 0, 0) == "L2-bound"
    assert bound(1, 0, 2, 2, 0) == "access-bound"
    assert bound(2, 0, 2, 0, 0) == "launch-bound"
    assert bound(1, 0, 0, 0, 2) == "arithmetic-bound"


@given(chain=chains, gpu=gpus, dtype=formats, n=sizes, overhead=overheads, terms=switches)
def test_a_graph_is_never_slower_than_the_stream_nor_that_than_eager(
    chain, gpu, dtype, n, overhead, terms
):
    graph, stream, eager = (
        priced(chain, n, dtype, gpu, launched, overhead, terms).chain.time_s
        for launched in ("graph", "stream", "eager")
    )
    assert graph <= stream * (1 + 1e-12)
    assert stream <= eager


@given(chain=chains, gpu=gpus, dtype=formats, n=sizes, launched=launches, terms=switches)
def test_no_part_of_a_time_is_negative_and_the_chain_s_are_the_kernels_and_the_wait(
    chain, gpu, dtype, n, launched, terms
):
    found = priced(chain, n, dtype, gpu, launched, terms=terms)
    assert min(found.chain) >= 0
    kernels_s = np.sum(found.count * found.kernel.time_s)
    assert found.chain.time_s == pytest.approx(kernels_s + found.wait_s, rel=1e-9)


@given(chain=chains, gpu=gpus, n=sizes, factor=st.floats(1, 100), terms=switches)
def test_more_bandwidth_is_never_slower(chain, gpu, n, factor, terms):
    faster = replace(gpu, bandwidth=gpu.bandwidth * factor)
    slow, fast = (priced(chain, n, gpu=it, terms=terms).chain.time_s for it in (gpu, faster))
    assert fast <= slow * (1 + 1e-12)


@given(chain=chains, gpu=gpus, dtype=formats, terms=switches, n=sizes)
def test_a_larger_tensor_is_never_faster(chain, gpu, dtype, terms, n):
    less, more = (priced(chain, it, dtype, gpu, terms=terms).chain.time_s for it in (n, 2 * n))
    assert less <= more * (1 + 1e-12)


@given(gpu=gpus, at=st.sampled_from(["l2_full_share", "l2_spilt_share"]))
def test_at_the_limits_of_l2_nothing_jumps(gpu, at):
    n = getattr(gpu, at) * gpu.l2_bytes / 4
    below, above = (priced(n=n * (1 + it), gpu=gpu, warm=True).chain.time_s for it in (-1e-9, 1e-9))
    assert above == pytest.approx(below, rel=1e-7)


def test_every_argument_broadcasts():
    n, overhead = np.array([[256], [2**20], [2**30]]), np.array([0, 4e-6])
    assert priced("rms-norm", n=n, overhead=overhead).chain.time_s.shape == (3, 2)


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^overhead_s = -1"):
        priced(overhead=-1)
    with pytest.raises(ValueError, match=r"^moved_bytes = -"):
        priced(n=-5)
    with pytest.raises(ValueError, match=r"^bandwidth = 0"):
        priced(gpu=replace(H100_SXM, bandwidth=0))


# Chains A to B to A of kernels that scale FP64 values, µs a kernel by MB moved; source:
# RRZE-HPC/gpu-benches, gpu-small-kernels at 1c36d509, the best block size.
MEASURED = {
    ("gh200", "stream"): {
        0.065: 2.43, 0.25: 2.55, 1: 2.61, 4: 2.87, 15.6: 5.04, 31: 7.53, 47: 12.5, 63: 21.2,
        127: 40.8, 256: 78.6,
    },
    ("gh200", "graph"): {
        0.065: 1.26, 0.25: 1.30, 1: 1.40, 4: 1.67, 15.6: 3.86, 31: 6.28, 47: 11.0, 63: 19.8,
        127: 39.1, 256: 76.8, 980: 288.6,
    },
    ("a100-80", "stream"): {
        0.065: 2.62, 0.25: 2.67, 1: 2.96, 4: 3.67, 15.6: 6.58, 31: 12.76, 48: 32.7, 63: 40.3,
        127: 75.4, 256: 145.9,
    },
    ("a100-80", "graph"): {
        0.065: 1.34, 0.25: 1.41, 1: 1.56, 4: 2.45, 15.6: 5.31, 31: 11.52, 48: 31.1, 63: 38.5,
        127: 73.7, 256: 144.1, 980: 566,
    },
    ("l40", "stream"): {
        0.25: 1.63, 1: 1.78, 4: 2.45, 15.6: 4.68, 31: 7.76, 63: 15.0, 127: 98, 256: 336, 980: 1287,
    },
    ("l40", "graph"): {
        0.25: 1.02, 1: 1.20, 4: 1.85, 15.6: 4.08, 31: 7.13, 63: 14.3, 127: 96, 256: 337, 980: 1276,
    },
}  # fmt: skip


@pytest.mark.parametrize(("gpu", "launched"), MEASURED)
def test_measured_chains_of_small_kernels_are_met_within_five_percent(gpu, launched):
    moved, measured = (np.array(it) for it in zip(*MEASURED[gpu, launched].items(), strict=True))
    found = priced(
        n=moved * 1e6 / 16,
        dtype=Format("FP64", 8),
        gpu=GPUS[gpu],
        launched=launched,
        overhead=0,
        warm=True,
    )
    errors = found.chain.time_s / (measured * US) - 1
    assert np.sqrt(np.mean(errors**2)) <= 0.05
