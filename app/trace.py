"""The readings as JavaScript: numpy's own functions, called with symbols that record what is done.

Each operation becomes one line. Helpers, constants and loops over plain Python need no rule, since
only what reaches a symbol is recorded. A branch on a symbol cannot be recorded and raises.
"""

import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
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
class Line:
    """One operation: its name, and the pass over the steps of a list that it is part of, if any.

    A sum over a list is known only after a pass, so what is made of it belongs to the next `stage`.
    """

    name: str
    expression: str
    over: str
    stage: int
    total: bool = False


class Symbol(NDArrayOperatorsMixin):
    """A number, or the truth of a comparison, known only by its JavaScript name.

    One that has an entry for each step of a list, along its last axis, is `over` that list.
    """

    def __init__(
        self,
        name: str,
        lines: dict[tuple[str, str], Line],
        truth: bool = False,
        over: str = "",
        stage: int = 0,
    ) -> None:
        self.name = name
        self.lines = lines
        self.truth = truth
        self.over = over
        self.stage = stage

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **settings: Any) -> Any:
        if "out" in settings:
            _refuse("an operation in place", "y = y + x for y += x")
        if method != "__call__" or settings:
            _refuse(f"np.{ufunc.__name__} with options or as a {method}")
        if ufunc is np.positive:
            return self
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
        if function is np.sum and len(args) == 1 and kwargs == {"axis": -1} and self.over:
            return self._line("{}", args, [False], total=True)
        return _refuse(f"np.{function.__name__} so called")

    def __getitem__(self, key: Any) -> "Symbol":
        if key != (Ellipsis, None) or self.over:
            _refuse("a part of an input")
        return self

    def _line(
        self,
        form: str,
        operands: Sequence[Any],
        truths: Sequence[bool],
        truth: bool = False,
        total: bool = False,
    ) -> "Symbol":
        written = [_written(it, wanted) for it, wanted in zip(operands, truths, strict=True)]
        symbols = [it for it in operands if isinstance(it, Symbol)]
        lists = {it.over for it in symbols if it.over}
        stage = max(it.stage for it in symbols)
        # Until its list is gone through again, a step's value is known in one pass only.
        if len(lists) > 1 or any(
            it.over and it.name[0] == "t" and it.stage < stage for it in symbols
        ):
            _refuse("an operation on the steps of two lists, or of one list in two passes,")
        over = "".join(lists)
        line = self.lines.setdefault(
            (form.format(*written), "sum" if total else over),
            Line(f"t{len(self.lines) + 1}", form.format(*written), over, stage, total),
        )
        return Symbol(line.name, self.lines, truth, "" if total else over, stage + total)

    def __bool__(self) -> NoReturn:
        _refuse("a branch on an input", "np.where")

    def __float__(self) -> NoReturn:
        _refuse("an input as a plain number", "numpy's own functions")

    __int__ = __index__ = __iter__ = __round__ = __float__


def trace(
    function: Callable[..., Mapping[str, Any]], arguments: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the function as lines of JavaScript, recorded by calling it with symbols.

    Each argument is given by a sample: a number, or a dataclass of numbers, truths, dataclasses and
    arrays with one entry a step; other fields are passed as they are. What is returned is assigned
    to `readings`, an array for what has an entry a step.

    Raises
    ------
    TraceError
        If it does what no line of JavaScript stands for, naming the file and line.
    """
    lines: dict[tuple[str, str], Line] = {}
    results = function(
        **{name: _symbolic(it, f"inputs.{name}", lines) for name, it in arguments.items()}
    )
    scalars = {key: it for key, it in results.items() if not getattr(it, "over", "")}
    returned = {key: _written(value, truth=False) for key, value in scalars.items()}
    made = {line.name for line in lines.values() if line.total or not line.over}
    # A line whose value is returned is written straight to where it is returned.
    names = {name: f"readings.{key}" for key, name in returned.items() if name in made}
    columns = {key: it for key, it in results.items() if key not in scalars}

    def renamed(text: str) -> str:
        return re.sub(r"(?<![\w.])t\d+\b", lambda found: names.get(found[0], found[0]), text)

    def assigned(line: Line) -> str:
        place = renamed(line.name)
        return f"{'' if '.' in place else 'const '}{place} = {renamed(line.expression)};"

    written: list[str] = []
    for stage in range(1 + max((line.stage for line in lines.values()), default=0)):
        here = [line for line in lines.values() if line.stage == stage]
        written += [assigned(line) for line in here if not line.over]
        for over in dict.fromkeys(line.over for line in here if line.over):
            inside = [line for line in here if line.over == over]
            # An entry a step is kept in the pass that makes it.
            kept = {k: it for k, it in columns.items() if (it.over, it.stage) == (over, stage)}
            totals = [renamed(line.name) for line in inside if line.total]
            written += [f"{'' if '.' in it else 'let '}{it} = 0;" for it in totals]
            written += [f"readings.{key} = [];" for key in kept]
            written += [f"for (const each of {over}) {{"]
            written += [
                f"  {renamed(line.name)} += {renamed(line.expression)};"
                if line.total
                else f"  {assigned(line)}"
                for line in inside
            ]
            written += [f"  readings.{key}.push({it.name});" for key, it in kept.items()]
            written += ["}"]
    rest = {key: name for key, name in returned.items() if names.get(name) != f"readings.{key}"}
    return (*written, *(f"readings.{key} = {renamed(name)};" for key, name in rest.items()))


def record(value: Any) -> Any:
    """Return what the page holds of an argument: numbers, truths and steps, by name."""
    if not is_dataclass(value):
        return value if isinstance(value, bool) else float(value)
    content = {it.name: getattr(value, it.name) for it in fields(value)}
    steps = {name: it for name, it in content.items() if isinstance(it, np.ndarray)}
    if steps:
        rows = zip(*(it.tolist() for it in steps.values()), strict=True)
        return [dict(zip(steps, row, strict=True)) for row in rows]
    return {name: record(it) for name, it in content.items() if _is_part(it)}


def _is_part(value: Any) -> bool:
    return isinstance(value, bool | int | float) or is_dataclass(value)


def _symbolic(sample: Any, name: str, lines: dict[tuple[str, str], Line]) -> Any:
    if not is_dataclass(sample) or isinstance(sample, type):
        return Symbol(name, lines, truth=isinstance(sample, bool))
    content = {it.name: getattr(sample, it.name) for it in fields(sample)}
    steps = {
        part: Symbol(f"each.{part}", lines, truth=it.dtype == bool, over=name)
        for part, it in content.items()
        if isinstance(it, np.ndarray)
    }
    parts = {
        part: _symbolic(it, f"{name}.{part}", lines)
        for part, it in content.items()
        if _is_part(it) and not steps
    }
    return replace(sample, **steps, **parts)


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
