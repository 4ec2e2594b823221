"""Formulas as JavaScript: numpy's own functions, called with symbols that record what is done.

Each operation becomes one line. Helpers, constants and loops over plain Python need no rule, since
only what reaches a symbol is recorded. A branch on a symbol cannot be recorded and raises.
"""

import json
import re
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

ARITHMETIC: dict[Any, str] = {
    np.add: "{} + {}", np.subtract: "{} - {}", np.multiply: "{} * {}", np.true_divide: "{} / {}",
    np.negative: "-{}", np.square: "{0} * {0}", np.absolute: "Math.abs({})",
    np.maximum: "Math.max({}, {})", np.minimum: "Math.min({}, {})", np.power: "Math.pow({}, {})",
}  # fmt: skip
ARITHMETIC |= {
    getattr(np, name): f"Math.{name}({{}})"
    for name in ("sqrt", "exp", "log", "log2", "log10", "tanh", "floor", "ceil")
}
COMPARISON: dict[Any, str] = {
    np.less: "{} < {}", np.less_equal: "{} <= {}", np.greater: "{} > {}",
    np.greater_equal: "{} >= {}", np.equal: "{} === {}", np.not_equal: "{} !== {}",
}  # fmt: skip
LOGIC: dict[Any, str] = {
    np.logical_and: "{} && {}", np.logical_or: "{} || {}", np.logical_not: "!{}",
    np.bitwise_and: "{} && {}", np.bitwise_or: "{} || {}", np.invert: "!{}",
}  # fmt: skip


class TraceError(TypeError):
    """An operation that has no JavaScript, with the line that asked for it."""


@dataclass(frozen=True)
class Line:
    """One operation: its name, what it says of its operands, and the pass that it is part of.

    A pass goes `over` a list; a line outside all passes has none. With a `start` the name stands
    before the pass and each entry changes it. A pass needs what is known at its `stage`.
    """

    name: str
    form: str
    operands: tuple[str, ...]
    over: str
    stage: int
    start: str = ""


@dataclass
class Recording:
    """The lines of a trace by what they say.

    Beside them, the values of a pass that a later one needs, and, of the lists that repeat the
    entries of one by one count, the first.
    """

    lines: dict[tuple[str, tuple[str, ...], str], Line] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    repeated: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(eq=False)
class Symbol(NDArrayOperatorsMixin):
    """A number, or the truth of a comparison, known only by its JavaScript name.

    One that has an entry for each of a list, along its last axis, is `over` that list. Where it is
    more than a value within one pass, `entry` is how any entry of it is reached.
    """

    name: str
    recording: Recording
    truth: bool = False
    over: str = ""
    stage: int = 0
    entry: str = ""

    @property
    def array(self) -> str:
        """The name of the array that it is by itself, if it is one."""
        return self.entry.removesuffix("[{}]") if self.entry.endswith("[{}]") else ""

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **settings: Any) -> Any:
        if "out" in settings:
            _refuse("an operation in place", "y = y + x for y += x")
        if method != "__call__" or settings:
            _refuse(f"np.{ufunc.__name__} with options or as a {method}")
        if ufunc is np.positive:
            return self
        if ufunc in ARITHMETIC:
            return _line(ARITHMETIC[ufunc], operands)
        if ufunc in COMPARISON:
            return _line(COMPARISON[ufunc], operands, truth=True)
        if ufunc in LOGIC:
            return _line(LOGIC[ufunc], operands, [True] * len(operands), truth=True)
        return _refuse(f"np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        try:
            signature(FUNCTIONS[function]).bind(*args, **kwargs)
        except (KeyError, TypeError):
            return _refuse(f"np.{function.__name__} so called")
        return FUNCTIONS[function](*args, **kwargs)

    def __getitem__(self, key: Any) -> "Symbol":
        if key == (Ellipsis, -1) and self.over:
            return _each("NaN", "{0} = {1};")(self, -1)
        if key != (Ellipsis, None) or self.over:
            _refuse("a part of an input")
        return self

    def astype(self, kind: type) -> "Symbol":
        """Return it as a number, without its fraction if it is to be whole."""
        number = _where(self, 1, 0) if self.truth else self
        return _line("Math.trunc({})", [number]) if kind is int else number

    def __bool__(self) -> NoReturn:
        _refuse("a branch on an input", "np.where")

    def __float__(self) -> NoReturn:
        _refuse("an input as a plain number", "numpy's own functions")

    __int__ = __index__ = __iter__ = __round__ = __float__


def _line(
    form: str,
    operands: Sequence[Any],
    truths: Sequence[bool | None] = (),
    *,
    truth: bool = False,
    start: str = "",
) -> Symbol:
    """Return the symbol of one operation on symbols and constants."""
    symbols = [it for it in operands if isinstance(it, Symbol)]
    recording, stage = symbols[0].recording, max(it.stage for it in symbols)
    lists = {it.over for it in symbols if it.over}
    if len(lists) > 1:
        _refuse("an operation on the entries of two lists")
    wanted = truths or [False] * len(operands)
    written = tuple(_written(it, one, stage) for it, one in zip(operands, wanted, strict=True))
    over = "".join(lists)
    new = Line(f"t{len(recording.lines) + 1}", form, written, over, stage, start)
    line = recording.lines.setdefault((form, written, over), new)
    return Symbol(line.name, recording, truth, over, stage)


def _each(start: str, form: str, *, running: bool = False) -> Callable[..., Symbol]:
    """Return the rule of what each entry changes; unless running, it is known after the pass."""

    def rule(value: Symbol, axis: int) -> Symbol:
        if axis != -1 or not value.over:
            _refuse("a total of anything but a list, along its last axis,")
        it = _line(form, [value], start=start)
        return it if running else Symbol(it.name, it.recording, stage=it.stage + 1)

    return rule


def _where(condition: Any, value: Any, other: Any) -> Symbol:
    return _line("{} ? {} : {}", [condition, value, other], [True, False, False])


def _clip(value: Any, low: Any, high: Any) -> Any:
    raised = value if low is None else np.maximum(value, low)
    return raised if high is None else np.minimum(raised, high)


def _repeat(value: Any, count: Any) -> Symbol:
    """Return a list with each entry as often as the count says, a truth being once or never."""
    it = _line(
        "for (let n = 0; n < {2}; n++) {0}.push({1});", [value, count], [None] * 2, start="[]"
    )
    if not it.over:
        _refuse("a repetition of what is no list")
    first = it.recording.repeated.setdefault((it.over, count.name), it.name)
    truth = getattr(value, "truth", False)
    return Symbol(f"{it.name}[i]", it.recording, truth, first, it.stage + 1, f"{it.name}[{{}}]")


def _diff(value: Symbol, prepend: Any = None, append: Any = None) -> Symbol:
    """Return each entry less the one before it, or, with what is appended, the next less it."""
    if not value.entry or (prepend is None) == (append is None):
        _refuse("a difference of what is no list, or is not closed at one end,")
    if append is None:
        before = replace(value, name=value.entry.format("i - 1"))
        return _line("{} - (i > 0 ? {} : {})", [value, before, prepend])
    after = replace(value, name=value.entry.format("i + 1"))
    length = Symbol(f"{value.over}.length", value.recording)
    return _line("(i + 1 < {3} ? {1} : {2}) - {0}", [value, after, append, length])


FUNCTIONS: dict[Any, Any] = {
    np.where: _where,
    np.clip: _clip,
    np.sum: _each("0", "{0} += {1};"),
    np.max: _each("-Infinity", "{0} = Math.max({0}, {1});"),
    np.cumsum: _each("0", "{0} += {1};", running=True),
    np.repeat: _repeat,
    np.diff: _diff,
}


def trace(
    function: Callable[..., Mapping[str, Any]], arguments: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the function as lines of JavaScript, recorded by calling it with symbols.

    Each argument is given by a sample: a number, a truth, or a record of these (a dataclass or a
    mapping), of records, and of arrays with one entry a step; other fields are passed as they are.
    What is returned is assigned to `readings`, an array for what has an entry a step.

    Raises
    ------
    TraceError
        If it does what no line of JavaScript stands for, naming the file and line.
    """
    recording = Recording()
    symbols = {name: _symbolic(it, f"inputs.{name}", recording) for name, it in arguments.items()}
    columns: dict[str, Symbol] = {}
    whole: dict[str, str] = {}
    for key, result in function(**symbols).items():
        if isinstance(result, Symbol) and result.over and not result.array:
            columns[_place(key)] = result
        else:
            whole[_place(key)] = getattr(result, "array", "") or _written(result)
    returned = [*whole.values(), *(it.name for it in columns.values())]
    lines = _needed(recording.lines.values(), returned)
    # A line whose value is returned is written straight to where it is returned.
    made = {line.name for line in lines if not line.over or line.start}
    names = {name: place for place, name in whole.items() if name in made}
    written = [*_passes(lines, columns, recording.kept)]
    written += [f"{place} = {it};" for place, it in whole.items() if names.get(it) != place]
    return tuple(_renamed(text, names) for text in written)


def _passes(
    lines: Sequence[Line], columns: Mapping[str, Symbol], kept: Collection[str]
) -> Iterator[str]:
    """Yield the lines stage by stage: those outside all passes, and then each pass over a list."""
    for stage in sorted({line.stage for line in lines} | {it.stage for it in columns.values()}):
        here = [line for line in lines if line.stage == stage]
        yield from (_assigned(line) for line in here if not line.over)
        taken = {place: it for place, it in columns.items() if it.stage == stage}
        lists = [*(line.over for line in here if line.over), *(it.over for it in taken.values())]
        for over in dict.fromkeys(lists):
            inside = [line for line in here if line.over == over]
            later = {f"{it.name}s": it.name for it in inside if it.name in kept}
            returned = {place: it.name for place, it in taken.items() if it.over == over}
            yield from _pass(over, inside, later | returned)


def _needed(lines: Iterable[Line], wanted: Iterable[str]) -> list[Line]:
    """Return the lines that what is wanted is made of."""
    used, found = set(wanted), []
    for line in reversed([*lines]):
        if line.name in used:
            found.append(line)
            used.update(re.findall(r"t\d+", f"{line.over} {line.operands}"))
    return found[::-1]


def _place(key: str) -> str:
    return f"readings.{key}" if key.isidentifier() else f"readings[{json.dumps(key)}]"


def _assigned(line: Line) -> str:
    if line.start:
        return line.form.format(line.name, *line.operands)
    return f"const {line.name} = {line.form.format(*line.operands)};"


def _pass(over: str, lines: Sequence[Line], kept: Mapping[str, str]) -> list[str]:
    """Return one pass over a list; `kept` are arrays that take a value of each entry."""
    inside = [*map(_assigned, lines), *(f"{array}.push({name});" for array, name in kept.items())]
    each = [f"const each = {over}[i];"] if any("each." in it for it in inside) else []
    return [
        *(f"let {line.name} = {line.start};" for line in lines if line.start),
        *(f"const {array} = [];" for array in kept),
        f"for (let i = 0; i < {over}.length; i++) {{",
        *(f"  {it}" for it in [*each, *inside]),
        "}",
    ]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    # What stands in quotes is a key, whatever it is called.
    name = r'"[^"]*"|(?<![\w.])t\d+\b'
    plain = re.sub(name, lambda found: names.get(found[0], found[0]), text)
    # What is returned is declared already.
    return re.sub(r"^(const|let) (?=readings\W)", "", plain)


def record(value: Any) -> Any:
    """Return what the page holds of an argument: numbers, truths and steps, by name."""
    if not is_dataclass(value):
        return value if isinstance(value, bool) else float(value)
    content = {it.name: getattr(value, it.name) for it in fields(value)}
    steps = {name: it for name, it in content.items() if isinstance(it, np.ndarray)}
    if steps:
        return rows(steps)
    return {name: record(it) for name, it in content.items() if _is_part(it)}


def rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return arrays of one length as what the page holds: a record for each entry."""
    entries = zip(*(it.tolist() for it in columns.values()), strict=True)
    return [dict(zip(columns, entry, strict=True)) for entry in entries]


def _is_part(value: Any) -> bool:
    return isinstance(value, bool | int | float) or is_dataclass(value)


def _symbolic(sample: Any, name: str, recording: Recording) -> Any:
    if isinstance(sample, Mapping):
        return _columns(sample, name, recording)
    if not is_dataclass(sample) or isinstance(sample, type):
        return Symbol(name, recording, truth=isinstance(sample, bool))
    content = {it.name: getattr(sample, it.name) for it in fields(sample)}
    steps = _columns(
        {part: it for part, it in content.items() if isinstance(it, np.ndarray)}, name, recording
    )
    parts = {
        part: _symbolic(it, f"{name}.{part}", recording)
        for part, it in content.items()
        if _is_part(it) and not steps
    }
    return replace(sample, **steps, **parts)


def _columns(arrays: Mapping[str, Any], name: str, recording: Recording) -> dict[str, Symbol]:
    """Return a symbol over the list `name` for each array."""
    return {
        part: Symbol(
            f"each.{part}", recording, it.dtype == bool, name, entry=f"{name}[{{}}].{part}"
        )
        for part, it in arrays.items()
    }


def _written(value: Any, truth: bool | None = None, stage: int = 0) -> str:
    if isinstance(value, Symbol):
        if truth not in (value.truth, None):
            _refuse("a comparison as a number, or a number as one,", "np.where")
        if value.over and not value.entry and value.stage < stage:
            # A pass before this one has made it.
            value.recording.kept.add(value.name)
            return f"{value.name}s[i]"
        return value.name
    constant = np.asarray(value)
    kinds = {True: "b", False: "iuf", None: "biuf"}[truth]
    if constant.shape or constant.dtype.kind not in kinds:
        _refuse(f"the constant {value!r}")
    return json.dumps(constant.item())


def _refuse(what: str, instead: str = "") -> NoReturn:
    outside = [f for f in traceback.extract_stack() if Path(f.filename) != Path(__file__)]
    caller = next(f for f in reversed(outside) if "numpy" not in Path(f.filename).parts)
    hint = f"; use {instead}" if instead else ""
    raise TraceError(
        f"{caller.filename}:{caller.lineno}: {what} cannot run in the browser{hint}: {caller.line}"
    )
