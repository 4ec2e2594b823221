"""The formulas: numbers worked by hand, limits, identities, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import cost
from model.gpus import GPUS

CHAINS = st.integers(1, 1000)
OVERHEADS = st.floats(0, 1e-3)


def test_five_kernels_on_a_bf16_tensor_move_twenty_bytes_a_value():
    # 2 bytes in and 2 out, five times; fused once.
    assert cost.traffic_bytes(5, 1_000_000, 2) == 20_000_000
    assert cost.traffic_bytes(1, 1_000_000, 2) == 4_000_000


def test_a_transfer_takes_bytes_over_bandwidth():
    # 3.35 MB at 3.35 TB/s take 1 µs.
    assert cost.transfer_s(3.35e6, 3.35e12) == pytest.approx(1e-6, rel=1e-15)


def test_a_large_product_does_two_operations_a_pair_and_moves_each_matrix_once():
    # 3 rows: 2 · 27 FLOP over 3 matrices of 9 values of 2 bytes.
    assert cost.matmul_flop(3) == 54
    assert cost.matmul_intensity(3, 2) == 1


def test_an_epilogue_saves_the_activation_s_launch_and_pass():
    # 1000 rows of 2 bytes, at 1 GB/s: the product moves 6 MB in 6 ms (its 2 GFLOP take 2), the
    # activation 4 MB in 4 ms. With launches of 1 ms: 5 of 12 ms.
    saved = cost.epilogue_saving(1000, 2, 1e12, 1e9, 1e-3)
    assert saved == pytest.approx(5 / 12, rel=1e-12)


def test_a_graph_pays_one_launch_and_then_a_gap_a_kernel():
    # 4 µs, then four gaps of 1.3 µs.
    assert cost.launch_s(5, 4e-6, 1.3e-6) == pytest.approx(9.2e-6, rel=1e-12)


def test_the_h100_ridge_lies_at_twenty_flop_a_byte():
    gpu = GPUS["h100-sxm"]
    assert cost.ridge_point(gpu.fp32_rate, gpu.bandwidth) == pytest.approx(19.97, abs=0.01)
    assert cost.intensity(4, 4) == 1


@given(k=CHAINS, overhead=OVERHEADS)
def test_a_graph_is_never_slower_than_the_stream_nor_faster_than_one_launch(k, overhead):
    graph = cost.launch_s(k, overhead, cost.GRAPH_GAP_S)
    stream = cost.launch_s(k, overhead, overhead)
    assert graph <= stream
    assert graph >= cost.launch_s(1, overhead, overhead) * (1 - 1e-12)


def test_every_argument_broadcasts():
    k = np.array([[1], [2], [16]])
    n = np.array([256, 2**30])
    assert cost.traffic_bytes(k, n, 2).shape == (3, 2)
    assert cost.launch_s(k, np.array([0, 4e-6]), 1e-6).shape == (3, 2)
    assert cost.transfer_s(np.zeros((3, 1)), np.array([1e12, 2e12])).shape == (3, 2)


def test_small_integers_do_not_overflow():
    assert cost.traffic_bytes(np.int8(16), np.int32(2**30), np.int8(2)) == 2**36


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cost.traffic_bytes(0, 10, 2), "k = 0 is not a whole number from 1"),
        (lambda: cost.traffic_bytes(2.5, 10, 2), "k = 2.5 is not a whole number"),
        (lambda: cost.traffic_bytes([1, -3], 10, 2), "k = -3 is not"),
        (lambda: cost.traffic_bytes(1, -1, 2), "n_values = -1 is not"),
        (lambda: cost.traffic_bytes(1, np.inf, 2), "n_values = inf is not"),
        (lambda: cost.traffic_bytes(1, [1, np.nan], 2), "n_values = nan is not"),
        (lambda: cost.traffic_bytes(1, "10", 2), "n_values = '10' is not"),
        (lambda: cost.traffic_bytes(1, np.ma.masked_less([1, 5], 3), 2), "n_values = masked_array"),
        (lambda: cost.traffic_bytes(1, True, 2), "n_values = True is not"),
        (lambda: cost.transfer_s(10, 0), "bandwidth = 0 is not a finite number from 1 to 1e"),
        (lambda: cost.launch_s(1, -1e-6, 0), "overhead_s = -1e-06 is not"),
        (lambda: cost.launch_s(1, 1e300, 0), r"overhead_s = 1e\+300 is not"),
    ],
)
def test_what_cannot_be_is_refused_by_name_value_and_range(call, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        call()
