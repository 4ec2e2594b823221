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

EXPRESSIONS: dict[Any, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.true_divide: "{} / {}",
    np.negative: "-{}",
    np.positive: "+{}",
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.equal: "{} === {}",
    np.not_equal: "{} !== {}",
    np.logical_and: "{} && {}",
    np.logical_or: "{} || {}",
    np.logical_not: "!{}",
    np.bitwise_and: "{} && {}",
    np.bitwise_or: "{} || {}",
    np.invert: "!{}",
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
    np.where: "{} ? {} : {}",
}


class TraceError(TypeError):
    """An operation that has no JavaScript, with the line that asked for it."""


@dataclass(frozen=True)
class Script:
    """A traced function: its arguments, its lines (name, expression), and what it returns."""

    arguments: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    results: Mapping[str, str]


class Symbol(NDArrayOperatorsMixin):
    """A value known only by its JavaScript name."""

    def __init__(self, name: str, lines: dict[str, str]) -> None:
        self.name = name
        self.lines = lines

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **settings: Any) -> Any:
        if method != "__call__" or settings:
            _refuse(f"np.{ufunc.__name__} with options or as a {method}")
        return self._record(ufunc, operands)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.clip and len(args) == 3 and not kwargs:
            value, low, high = args
            return np.minimum(np.maximum(value, low), high)
        if kwargs:
            _refuse(f"np.{function.__name__} with options")
        return self._record(function, args)

    def _record(self, function: Any, operands: Sequence[Any]) -> "Symbol":
        if function not in EXPRESSIONS:
            _refuse(f"np.{function.__name__}")
        expression = EXPRESSIONS[function].format(*(_written(operand) for operand in operands))
        name = self.lines.setdefault(expression, f"t{len(self.lines) + 1}")
        return Symbol(name, self.lines)

    def __bool__(self) -> NoReturn:
        _refuse("a branch on an input", "np.where")

    def __float__(self) -> NoReturn:
        _refuse("an input as a plain number", "numpy's own functions")

    __int__ = __index__ = __iter__ = __len__ = __float__


def trace(function: Callable[..., Mapping[str, Any]], arguments: Sequence[str]) -> Script:
    """Return the function as a script, recorded by calling it with one symbol per argument.

    Raises
    ------
    TraceError
        If it does what no line of JavaScript stands for, naming the file and line.
    """
    lines: dict[str, str] = {}
    results = function(**{name: Symbol(name, lines) for name in arguments})
    returned = {key: _written(value) for key, value in results.items()}
    # A line whose value is returned takes the name it is returned under.
    names = {name: key for key, name in returned.items() if name in lines.values()}

    def renamed(text: str) -> str:
        return re.sub(r"\bt\d+\b", lambda found: names.get(found[0], found[0]), text)

    return Script(
        tuple(arguments),
        tuple((renamed(name), renamed(expression)) for expression, name in lines.items()),
        {key: names.get(name, name) for key, name in returned.items()},
    )


def _written(value: Any) -> str:
    return value.name if isinstance(value, Symbol) else json.dumps(np.asarray(value).item())


def _refuse(what: str, instead: str = "") -> NoReturn:
    outside = [f for f in traceback.extract_stack() if Path(f.filename) != Path(__file__)]
    caller = next(f for f in reversed(outside) if "numpy" not in Path(f.filename).parts)
    hint = f"; use {instead}" if instead else ""
    raise TraceError(
        f"{caller.filename}:{caller.lineno}: {what} cannot run in the browser{hint}: {caller.line}"
    )
