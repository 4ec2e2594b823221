"""What each argument of the formulas may be, and the check that holds it to that."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Formula = TypeVar("Formula", bound=Callable[..., Any])


class Range(NamedTuple):
    """The values that one argument may take.

    The far ends lie beyond any machine. They are there so that no result can overflow, underflow
    or divide by zero.
    """

    low: float
    high: float
    unit: str
    whole: bool = False

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a finite number"
        return f"{kind} from {self.low:g} to {self.high:g} {self.unit}"


RANGES = {
    "k": Range(1, 1e6, "kernels", whole=True),
    "n_values": Range(1, 1e18, "values"),
    "value_bytes": Range(0.125, 1024, "bytes per value"),
    "bandwidth": Range(1, 1e18, "bytes/s"),
    "tensor_rate": Range(1, 1e24, "FLOP/s"),
    "flop_rate": Range(1, 1e24, "FLOP/s"),
    "side": Range(1, 1e6, "rows", whole=True),
    "intensity": Range(0, 1e24, "FLOP/byte"),
    "flop": Range(0, 1e24, "FLOP"),
    "overhead_s": Range(0, 1e3, "s"),
    "gap_s": Range(0, 1e3, "s"),
    "moved_bytes": Range(0, 1e30, "bytes"),
    "l2_bytes": Range(1, 1e18, "bytes"),
    "l2_bandwidth": Range(1, 1e18, "bytes/s"),
    "l2_full_share": Range(0.01, 1, "of L2"),
    "l2_spilt_share": Range(1.01, 10, "of L2"),
    "traffic_bytes": Range(1e-3, 1e30, "bytes"),
}


def checked(formula: Formula) -> Formula:
    """Return the formula with each argument held to its range in `RANGES` and made float64.

    An operand that is no number but answers numpy's protocols, as a symbol does that records the
    formula, has no value to judge and passes as it is.

    Raises
    ------
    ValueError
        From the returned formula, naming the argument, the value and the range.
    """
    names = inspect.signature(formula).parameters

    @functools.wraps(formula)
    def within_ranges(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        return formula(**{name: _held(name, value) for name, value in given.items()})

    return within_ranges  # type: ignore[return-value]


def _held(name: str, value: Any) -> Any:
    allowed, numbers = RANGES[name], np.asarray(value)
    if numbers.dtype == object and hasattr(value, "__array_ufunc__"):
        return value
    if numbers.dtype.kind not in "iuf" or np.ma.is_masked(value):
        raise ValueError(f"{name} = {value!r} is not {allowed}")
    numbers = numbers.astype(float)
    good = (numbers >= allowed.low) & (numbers <= allowed.high)
    if allowed.whole:
        good &= numbers == np.floor(numbers)
    if not good.all():
        raise ValueError(f"{name} = {numbers[~good].flat[0]:g} is not {allowed}")
    return numbers[()]
