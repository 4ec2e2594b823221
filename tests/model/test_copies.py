"""The line through timed copies: known lines come back, and what is no line is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.copies import fitted

MOVED = np.array([1e8, 2e8, 4e8, 8e8, 16e8])


@given(fixed_s=st.floats(0, 1e-4), bandwidth=st.floats(1e10, 1e14))
def test_a_line_comes_back(fixed_s, bandwidth):
    fit = fitted(MOVED, fixed_s + MOVED / bandwidth)
    assert fit.bandwidth == pytest.approx(bandwidth, rel=1e-6)
    assert fit.fixed_s == pytest.approx(fixed_s, abs=1e-6 * MOVED[0] / bandwidth)
    assert fit.time_s(MOVED) == pytest.approx(fixed_s + MOVED / bandwidth, rel=1e-6)


def test_a_time_that_was_disturbed_does_not_move_it():
    # 5 µs and 2 TB/s; the third copy took thrice as long.
    fit = fitted(MOVED, [55e-6, 105e-6, 615e-6, 405e-6, 805e-6])
    assert fit.fixed_s == pytest.approx(5e-6, rel=1e-6)
    assert fit.bandwidth == pytest.approx(2e12, rel=1e-6)


def test_no_fixed_cost_is_below_zero():
    # Half of these copies reach 2 TB/s or more, whatever a line would say of none.
    fit = fitted([1e8, 2e8, 4e8], [50e-6, 105e-6, 220e-6])
    assert fit.fixed_s == 0
    assert fit.bandwidth == pytest.approx(2e8 / 105e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("moved", "times", "wrong"),
    [
        ([1e8, 1e8, 8e8], [5e-5, 5e-5, 4e-4], "2 sizes are no line: there must be 3"),
        ([4e8, 5e8, 6e8], [2e-4, 2.5e-4, 3e-4], "the largest at least 2 times"),
        ([], [], "0 sizes"),
        ([1e8, 2e8, 4e8], [4e-4, 2e-4, 1e-4], "take no longer"),
    ],
)
def test_what_is_no_line_is_refused(moved, times, wrong):
    with pytest.raises(ValueError, match=wrong):
        fitted(moved, times)
