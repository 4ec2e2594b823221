"""The readings as JavaScript: numpy's own functions, called with symbols that record what is done.

Each operation becomes one line. Helpers, constants and loops over plain Python need no rule, since
only what reaches a symbol is recorded. A branch on a symbol cannot be recorded and raises.
"""

import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

ARITHMETIC: dict[Any, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.true_divide: "{} / {}",
    np.negative: "-{}",
    np.positive: "+{}",
    np.maximum: "Math.max({}, {})",
    np.minimum: "Math.min({}, {})",
    np.power: "Math.pow({}, {})",
    np.square: "{0} * {0}",
    np.absolute: "Math.abs({})",
    np.sqrt: "Math.sqrt({})",
    np.exp: "Math.exp({})",
    np.log: "Math.log({})",
    np.log2: "Math.log2({})",
    np.log10: "Math.log10({})",
    np.tanh: "Math.tanh({})",
    np.floor: "Math.floor({})",
    np.ceil: "Math.ceil({})",
}
COMPARISON: dict[Any, str] = {
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.equal: "{} === {}",
    np.not_equal: "{} !== {}",
}
LOGIC: dict[Any, str] = {
    np.logical_and: "{} && {}",
    np.logical_or: "{} || {}",
    np.logical_not: "!{}",
    np.bitwise_and: "{} && {}",
    np.bitwise_or: "{} || {}",
    np.invert: "!{}",
}


class TraceError(TypeError):
    """An operation that has no JavaScript, with the line that asked for it."""


@dataclass(frozen=True)
class Script:
    """A traced function as lines (place, expression); what goes to `readings` is returned."""

    lines: tuple[tuple[str, str], ...]


class Symbol(NDArrayOperatorsMixin):
    """A number, or the truth of a comparison, known only by its JavaScript name."""

    def __init__(self, name: str, lines: dict[str, str], truth: bool = False) -> None:
        self.name = name
        self.lines = lines
        self.truth = truth

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **settings: Any) -> Any:
        if "out" in settings:
            _refuse("an operation in place", "y = y + x for y += x")
        if method != "__call__" or settings:
            _refuse(f"np.{ufunc.__name__} with options or as a {method}")
        if ufunc in ARITHMETIC:
            return self._line(ARITHMETIC[ufunc], operands, [False] * len(operands))
        if ufunc in COMPARISON:
            return self._line(COMPARISON[ufunc], operands, [False, False], truth=True)
        if ufunc in LOGIC:
            return self._line(LOGIC[ufunc], operands, [True] * len(operands), truth=True)
        return _refuse(f"np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return self._line("{} ? {} : {}", args, [True, False, False])
        if function is np.clip and len(args) == 3 and not kwargs:
            value, low, high = args
            raised = value if low is None else np.maximum(value, low)
            return raised if high is None else np.minimum(raised, high)
        return _refuse(f"np.{function.__name__} so called")

    def _line(
        self, form: str, operands: Sequence[Any], truths: Sequence[bool], truth: bool = False
    ) -> "Symbol":
        written = [_written(it, wanted) for it, wanted in zip(operands, truths, strict=True)]
        name = self.lines.setdefault(form.format(*written), f"t{len(self.lines) + 1}")
        return Symbol(name, self.lines, truth)

    def __bool__(self) -> NoReturn:
        _refuse("a branch on an input", "np.where")

    def __float__(self) -> NoReturn:
        _refuse("an input as a plain number", "numpy's own functions")

    __int__ = __index__ = __iter__ = __round__ = __float__


def trace(function: Callable[..., Mapping[str, Any]], arguments: Sequence[str]) -> Script:
    """Return the function as a script, recorded by calling it with one symbol per argument.

    Raises
    ------
    TraceError
        If it does what no line of JavaScript stands for, naming the file and line.
    """
    lines: dict[str, str] = {}
    results = function(**{name: Symbol(f"inputs.{name}", lines) for name in arguments})
    returned = {key: _written(value, truth=False) for key, value in results.items()}
    # A line whose value is returned is written straight to where it is returned.
    names = {name: f"readings.{key}" for key, name in returned.items() if name in lines.values()}

    def renamed(text: str) -> str:
        return re.sub(r"(?<![\w.])t\d+\b", lambda found: names.get(found[0], found[0]), text)

    rest = {key: name for key, name in returned.items() if names.get(name) != f"readings.{key}"}
    return Script(
        tuple((renamed(name), renamed(expression)) for expression, name in lines.items())
        + tuple((f"readings.{key}", renamed(name)) for key, name in rest.items())
    )


def _written(value: Any, truth: bool) -> str:
    if isinstance(value, Symbol):
        if value.truth != truth:
            _refuse("a comparison as a number, or a number as one,", "np.where")
        return value.name
    constant = np.asarray(value)
    if constant.shape or constant.dtype.kind not in ("b" if truth else "iuf"):
        _refuse(f"the constant {value!r}")
    return json.dumps(constant.item())


def _refuse(what: str, instead: str = "") -> NoReturn:
    outside = [f for f in traceback.extract_stack() if Path(f.filename) != Path(__file__)]
    caller = next(f for f in reversed(outside) if "numpy" not in Path(f.filename).parts)
    hint = f"; use {instead}" if instead else ""
    raise TraceError(
        f"{caller.filename}:{caller.lineno}: {what} cannot run in the browser{hint}: {caller.line}"
    )
