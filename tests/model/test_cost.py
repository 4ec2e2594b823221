"""The sketch: numbers worked by hand, limits, identities, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import cost, hardware, launch, traffic

CHAINS = st.integers(1, 1000)
SIZES = st.integers(1, 2**40)
OVERHEADS = st.floats(0, 1e-3)


def test_five_kernels_on_a_bf16_tensor_move_twenty_bytes_a_value():
    # 2 bytes in and 2 out, five times; fused once.
    assert traffic.traffic_unfused_bytes(5, 1_000_000, 2) == 20_000_000
    assert traffic.traffic_fused_bytes(1_000_000, 2) == 4_000_000


def test_the_time_is_launches_plus_bytes_over_bandwidth():
    # 10 µs of launches; 3.35 MB at 3.35 TB/s take 1 µs.
    assert cost.time_s(10e-6, 3.35e6, 3.35e12) == pytest.approx(11e-6, rel=1e-15)


def test_a_graph_pays_one_launch_and_then_a_gap_a_kernel():
    # 4 µs, then four gaps of 1.3 µs.
    assert launch.launch_graph_s(5, 4e-6) == pytest.approx(9.2e-6, rel=1e-12)


def test_the_h100_ridge_lies_at_twenty_flop_a_byte():
    gpu = hardware.H100_SXM
    assert cost.ridge_point(gpu.fp32_rate, gpu.bandwidth) == pytest.approx(19.97, abs=0.01)
    assert cost.arithmetic_intensity(4, 4) == 1


@given(k=CHAINS, n=SIZES, overhead=OVERHEADS)
def test_in_the_sketch_the_speed_up_is_the_length_of_the_chain(k, n, overhead):
    unfused = cost.time_s(
        launch.launch_stream_s(k, overhead), traffic.traffic_unfused_bytes(k, n, 2), 3.35e12
    )
    fused = cost.time_s(
        launch.launch_stream_s(1, overhead), traffic.traffic_fused_bytes(n, 2), 3.35e12
    )
    assert cost.speedup(unfused, fused) == pytest.approx(k, rel=1e-12)


@given(k=CHAINS, overhead=OVERHEADS)
def test_a_graph_is_never_slower_than_the_stream_nor_faster_than_one_launch(k, overhead):
    graph = launch.launch_graph_s(k, overhead)
    stream = launch.launch_stream_s(k, overhead)
    assert graph <= stream
    assert graph >= launch.launch_stream_s(1, overhead) * (1 - 1e-12)


@given(k=CHAINS, n=SIZES, overhead=OVERHEADS)
def test_shares_lie_between_none_and_all(k, n, overhead):
    launched = launch.launch_stream_s(k, overhead)
    share = cost.launch_share(
        launched, cost.time_s(launched, traffic.traffic_unfused_bytes(k, n, 2), 3.35e12)
    )
    assert 0 <= share <= 1


@given(n=SIZES, slow=st.floats(1e9, 1e13), factor=st.floats(1, 100))
def test_more_bandwidth_is_never_slower(n, slow, factor):
    moved = traffic.traffic_fused_bytes(n, 2)
    assert cost.time_s(4e-6, moved, slow * factor) <= cost.time_s(4e-6, moved, slow)


def test_every_argument_broadcasts():
    k = np.array([[1], [2], [16]])
    n = np.array([256, 2**30])
    assert traffic.traffic_unfused_bytes(k, n, 2).shape == (3, 2)
    assert launch.launch_graph_s(k, np.array([0, 4e-6])).shape == (3, 2)
    assert cost.time_s(np.zeros((3, 1)), 1.0, np.array([1e12, 2e12])).shape == (3, 2)


def test_small_integers_do_not_overflow():
    assert traffic.traffic_unfused_bytes(np.int8(16), np.int32(2**30), np.int8(2)) == 2**36


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: traffic.traffic_unfused_bytes(0, 10, 2), "k = 0 is not a whole number from 1"),
        (lambda: traffic.traffic_unfused_bytes(2.5, 10, 2), "k = 2.5 is not a whole number"),
        (lambda: traffic.traffic_unfused_bytes([1, -3], 10, 2), "k = -3 is not"),
        (lambda: traffic.traffic_fused_bytes(-1, 2), "n_values = -1 is not"),
        (lambda: traffic.traffic_fused_bytes(np.inf, 2), "n_values = inf is not"),
        (lambda: traffic.traffic_fused_bytes([1, np.nan], 2), "n_values = nan is not"),
        (lambda: traffic.traffic_fused_bytes("10", 2), "n_values = '10' is not"),
        (
            lambda: traffic.traffic_fused_bytes(np.ma.masked_less([1, 5], 3), 2),
            "n_values = masked_array",
        ),
        (lambda: traffic.traffic_fused_bytes(True, 2), "n_values = True is not"),
        (lambda: cost.time_s(1e-6, 10, 0), "bandwidth = 0 is not a finite number from 1 to 1e"),
        (lambda: launch.launch_stream_s(1, -1e-6), "overhead_s = -1e-06 is not"),
        (lambda: launch.launch_graph_s(1, 1e300), r"overhead_s = 1e\+300 is not"),
        (lambda: cost.speedup(1, 0), "time_fused_s = 0 is not"),
    ],
)
def test_what_cannot_be_is_refused_by_name_value_and_range(call, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        call()
