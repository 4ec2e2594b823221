"""What timed copies say of a GPU: the bandwidth it achieves, and the fixed cost of a kernel."""

from typing import Any, NamedTuple

import numpy as np

from model.cost import transfer_s

ROUNDS = 50
SIZES, SPREAD = 3, 2.0
"""How many sizes a fit needs, and how much larger than the smallest the largest of them is.

Chosen: two sizes are met by any line, and sizes alike tell its slope but not where it begins.
"""


class Fit(NamedTuple):
    """A line through the times of kernels: what each costs whatever it moves, and its bandwidth."""

    fixed_s: float
    bandwidth: float

    def time_s(self, moved_bytes: Any) -> Any:
        """Return the time in seconds of a kernel that moves so many bytes; they may be an array."""
        return self.fixed_s + transfer_s(moved_bytes, self.bandwidth)


def fitted(moved_bytes: Any, time_s: Any) -> Fit:
    """Return the line from which the times of kernels are the least off, as shares of each.

    It is the sum of the shares that is least, not of their squares, so that a few times that were
    disturbed do not move it. No fixed cost is below 0. Both are arrays of one length, in SI units;
    where the kernels copy, each byte copied is moved twice.

    Raises
    ------
    ValueError
        If there are fewer than three sizes, or the largest is not twice the smallest, or larger
        ones take no longer.

    Source: the line is bytes over bandwidth with a latency (Hockney 1994); least absolute
    deviations by weights that are set anew from the last residuals (Schlossmacher 1973).
    """
    moved, times = np.asarray(moved_bytes, float), np.asarray(time_s, float)
    sizes = np.unique(moved)
    if len(sizes) < SIZES or sizes[-1] < SPREAD * sizes[0]:
        raise ValueError(
            f"{len(sizes)} sizes are no line: there must be {SIZES}, and the largest at least"
            f" {SPREAD:g} times the smallest"
        )
    fixed_s, per_byte_s = _least_deviations(np.stack([1 / times, moved / times], axis=-1))
    if fixed_s < 0:
        fixed_s, (per_byte_s,) = 0.0, _least_deviations((moved / times)[:, None])
    if per_byte_s <= 0:
        raise ValueError("the copies of more bytes take no longer, so that no bandwidth follows")
    return Fit(float(fixed_s), float(1 / per_byte_s))


def _least_deviations(columns: Any) -> Any:
    """Return the factors with which the columns add up most nearly to 1 in every row."""
    scale = columns.max(axis=0)
    weights = np.ones(len(columns))
    found = np.zeros(len(scale))
    for _ in range(ROUNDS):
        found = np.linalg.lstsq((columns / scale) * weights[:, None], weights, rcond=None)[0]
        off = np.abs((columns / scale) @ found - 1)
        weights = 1 / np.sqrt(np.maximum(off, 1e-9))
    return found / scale
