"""Chains of operations as PyTorch, and what each of their kernels reads, writes and computes.

`chains.toml` holds them. Their code is counted as PyTorch runs it, op by op: each operation that it
dispatches is one kernel; views are free, and so is arithmetic on plain numbers.
"""

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain as joined
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from model.gpus import FORMATS

BYTES = {"bool": 1, "": 0, "fp32": FORMATS["fp32"].bytes, "complex": FORMATS["fp32"].bytes}
"""Bytes of a value in a format that is not the chain's; a complex number is two values.

Where two formats meet, the result is in the later one. Source: the formats, and type promotion.
"""

OPERATORS: dict[Any, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
    ast.USub: "neg",
}  # fmt: skip
REDUCTIONS = ("mean", "sum", "max", "min")
FLOP = dict.fromkeys((*OPERATORS.values(), *REDUCTIONS), 1) | {
    "square": 1, "sqrt": 1, "rsqrt": 1, "exp": 1, "log": 1, "tanh": 1, "sigmoid": 1, "abs": 1,
    "relu": 1, "neg": 0, "cat": 0, "dropout": 2, "xlogy": 2, "lerp": 3, "addcmul": 3, "addcdiv": 3,
    "silu": 5, "softmax": 5, "gelu": 9, "complex mul": 3,
}  # fmt: skip
"""Operations that are a kernel, and what they compute for a value.

Source: their formulas, a function such as exp counted as one.
"""
VIEWS = {
    "transpose": {"layout": "transposed"}, "flatten": {}, "unflatten": {},
    "view_as_complex": {"format": "complex"}, "view_as_real": {"format": "fp32"},
}  # fmt: skip
DECLARED = re.compile(
    r"(tensor|table|row|number)(?: ([1-9]\d*(?:/[1-9]\d*)?))?(?: (fp32|complex))?"
)
VIEWED = re.compile(r"(\.(chunk|max|min)\(.*\)|\.shape)\[\d\]$|\[(:|None)(, (:|None))*\]$")
"""Subscripts that take no part of a tensor, save for one of those that `chunk` or `max` gives."""


@dataclass(frozen=True)
class Tensor:
    """A tensor: how many values per value of the main tensor, in which format and layout.

    `layout` is "dense", "transposed" or "sliced". `origin` names the argument whose memory it is,
    if that is as large as the main tensor, and `cast` says that it was converted from that.
    """

    values: float
    format: str = ""
    layout: str = "dense"
    origin: str = ""
    cast: bool = False


class Kernel(NamedTuple):
    """A kernel: which tensors it reads and writes, what else `Steps` says of it, its name and code.

    The first tensor that it writes is its result.
    """

    read: Sequence[Tensor]
    written: Sequence[Tensor]
    flop: float = 0
    indexed: bool = False
    cast: bool = False
    repeated: bool = False
    name: str = ""
    code: str = ""


@dataclass(frozen=True)
class Steps:
    """Kernels as columns, one entry each, in the units of the formulas.

    Tensors in the chain's format are in values and others in bytes, both per value of the main
    tensor, and so is FLOP. `indexed` and `mixed` are the two reasons for slow access: an operand
    that is not dense or is repeated over a larger one, and operands of two formats. A `cast` from
    the chain's format to FP32 or back is no kernel where that format is FP32; one that is
    `repeated` stands for all but the first of k. A `fresh` kernel reads an argument that none
    before it has touched; where casts are no kernels, that is a `fresh_wide` one.
    """

    read_values: Any
    read_bytes: Any
    write_values: Any
    write_bytes: Any
    flop: Any
    indexed: Any
    mixed: Any
    cast: Any
    repeated: Any
    fresh: Any
    fresh_wide: Any


@dataclass(frozen=True)
class Chain:
    """An operation as its steps, `unfused`, and as the one kernel that is `fused` from them.

    That does the same arithmetic, without what is repeated, on less traffic in a dense layout. The
    code of the steps, in order, is the body of a function that takes `arguments`, each with what it
    is declared to be, and `returns` names. `chains.toml` says the rest.
    """

    name: str
    source: str
    arguments: Mapping[str, str]
    returns: str
    steps: Sequence[Kernel]
    unfused: Steps
    fused: Steps
    repeats: bool = False
    group: str = "common"
    timed_as: Sequence[str] = ()
    shapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def fp32(self) -> bool:
        """Whether it works in FP32 whatever the format is: what it reads is in no other."""
        return not self.fused.read_values.any()


OWN_AMOUNTS = {
    "r": "read_values", "R": "read_bytes", "w": "write_values", "W": "write_bytes", "f": "flop",
}  # fmt: skip
OWN_TRUTHS = {"i": "indexed", "m": "mixed", "c": "cast", "a": "fresh", "A": "fresh_wide"}
OWN_SAYS = [*OWN_AMOUNTS.items(), *OWN_TRUTHS.items()]
OWN_EMPTY: dict[str, float | bool] = {
    **dict.fromkeys(OWN_AMOUNTS.values(), 0.0),
    **dict.fromkeys([*OWN_TRUTHS.values(), "repeated"], False),
}
AMOUNT = r"(?:[1-9]\d{0,3}(?:\.\d{1,6})?|0\.\d{0,5}[1-9])"
OWN_KERNEL = "(?:(?P<name>[A-Za-z0-9 .]{1,32})-)?" + "".join(
    [f"(?:{it}(?P<{of}>{AMOUNT}))?" for it, of in OWN_AMOUNTS.items()]
    + [f"(?P<{of}>{it})?" for it, of in OWN_TRUTHS.items()]
)
"""A kernel in the short form: a name, if any, and behind letters what `Steps` says of it."""

PLAIN = re.sub(r"\?P<\w+>", "?:", OWN_KERNEL)
MOVES = f"(?=(?:[^_-]*-)?[rRwW]){PLAIN}"
OWN = f"{MOVES}_{MOVES}(?:_{PLAIN}){{0,98}}"
"""A chain in the short form, joined by _: first the fused kernel, then those unfused, up to 99.

These two and the first of those read or write something.
"""


def chains(file: Path) -> dict[str, Chain]:
    """Return the chains of a file by id, in its order; the file says what it may hold.

    Raises
    ------
    ValueError
        Naming the file, the chain and, of code, the line and the operation that is not known.
    """
    found = {}
    for name, told in tomllib.loads(file.read_text(encoding="utf-8")).items():
        try:
            found[name] = _chain(**told)
        except (AttributeError, TypeError, ValueError) as fault:
            raise ValueError(f"{file}: {name}: {fault}") from None
    return found


def own(text: str) -> Chain:
    """Return the chain of a text in the short form `OWN`.

    Raises
    ------
    ValueError
        If the text is not of that form.
    """
    if not re.fullmatch(OWN, text):
        raise ValueError(f"{text!r} is no chain in the short form")
    told = [found.groupdict() for it in text.split("_") if (found := re.fullmatch(OWN_KERNEL, it))]
    rows = [
        {name: type(empty)(it.get(name) or 0) for name, empty in OWN_EMPTY.items()} for it in told
    ]
    fused, unfused = (
        Steps(**{name: np.array([row[name] for row in some]) for name in OWN_EMPTY})
        for some in (rows[:1], rows[1:])
    )
    kernels = [Kernel((), (), name=it["name"] or str(n)) for n, it in enumerate(told[1:], start=1)]
    return Chain("own", "the reader's", {}, "", kernels, unfused, fused, group="")


def own_text(chain: Chain) -> str:
    """Return the text of which `own` makes the same steps."""
    names = ["", *(re.sub("[^A-Za-z0-9 .]+", " ", it.name).strip()[:32] for it in chain.steps)]
    rows = [
        dict(zip(OWN_EMPTY, row, strict=True))
        for steps in (chain.fused, chain.unfused)
        for row in zip(*(getattr(steps, name).tolist() for name in OWN_EMPTY), strict=True)
    ]
    return "_".join(
        (name and f"{name}-") + "".join(f"{it}{_amount(row[of])}" for it, of in OWN_SAYS if row[of])
        for name, row in zip(names, rows, strict=True)
    )


def _amount(value: float | bool) -> str:
    return "" if isinstance(value, bool) else f"{value:.6f}".rstrip("0").rstrip(".")


def _chain(
    arguments: Mapping[str, str], returns: str, code: str, also_writes: float = 0, **told: Any
) -> Chain:
    given = {name: _declared(name, said) for name, said in arguments.items()}
    known: dict[str, Any] = dict(given)
    kernels = []
    for n, line in enumerate(code.strip().splitlines(), start=1):
        try:
            kernels.append(_kernel(line, known))
        except (ArithmeticError, LookupError, SyntaxError, ValueError) as fault:
            raise ValueError(f"line {n}, {line!r}: {fault}") from None
    if told.get("repeats"):
        kernels[-1] = kernels[-1]._replace(repeated=True)
    if unmade := [it for it in returns.split(", ") if not known.get(it)]:
        raise ValueError(f"it returns {unmade[0]}, which is not made")
    read = [it for it in given.values() if it and it.values]
    form = read[0].format if read else ""
    written = [replace(known[it], format=form) for it in returns.split(", ")]
    flop = sum(it.flop for it in kernels if not it.repeated)
    one = Kernel(read, [*written, Tensor(also_writes, form)], flop)
    return Chain(
        arguments=arguments, returns=returns, steps=kernels,
        unfused=_columns(kernels), fused=_columns([one]), **told,
    )  # fmt: skip


def _columns(kernels: Sequence[Kernel]) -> Steps:
    entries = []
    touched, touched_wide = {""}, {""}
    for it in kernels:
        narrow = {tensor.origin for tensor in it.read if not tensor.cast}
        wide = set() if it.cast else {tensor.origin for tensor in it.read}
        fresh, fresh_wide = not narrow <= touched, not wide <= touched_wide
        touched, touched_wide = touched | narrow, touched_wide | wide
        mixed = len({tensor.format for tensor in it.read}) > 1
        amounts = *_amounts(it.read), *_amounts(it.written), float(it.flop)
        entries.append((*amounts, it.indexed, mixed, it.cast, it.repeated, fresh, fresh_wide))
    return Steps(*map(np.array, zip(*entries, strict=True)))


def _amounts(tensors: Sequence[Tensor]) -> tuple[float, float]:
    """Return how many values there are in the chain's format, and how many bytes in others."""
    others = sum(it.values * BYTES[it.format] for it in tensors)
    return float(sum(it.values for it in tensors if not it.format)), float(others)


def _declared(name: str, said: str) -> Tensor | None:
    """Return what an argument is, declared as "tensor 4/5 fp32" or the like; a number is none."""
    if not (told := DECLARED.fullmatch(said)):
        raise ValueError(f"argument {name} is {said!r}, which is no tensor, table, row or number")
    kind, size, form = told.groups(default="")
    values = 0.0 if kind == "row" else float(Fraction(size or 1))
    origin = name if kind == "tensor" else ""
    return None if kind == "number" else Tensor(values, form, origin=origin)


def _kernel(line: str, known: dict[str, Any]) -> Kernel:
    """Return the one kernel of a line, and add what it assigns to what is `known`."""
    code, _, name = line.rpartition("  # ")
    kernels: list[Kernel] = []
    match ast.parse(code).body:
        case [ast.Assign(targets=[ast.Name(id=target)], value=value)]:
            known[target] = _value(value, known, kernels)
        case _:
            raise ValueError("it is not one assignment and, behind #, what the kernel is called")
    if len(kernels) != 1:
        raise ValueError(f"it is {len(kernels)} kernels, not one")
    return kernels[0]._replace(name=name, code=code)


def _value(node: ast.expr, known: Mapping[str, Any], kernels: list[Kernel]) -> Any:
    """Return the tensor that an expression is, or None for a number; add the kernels it takes."""
    match node:
        case ast.Constant() | ast.Attribute(attr="pi" | "shape" | "dtype"):
            return None
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Subscript(value=of) if VIEWED.search(ast.unparse(node)):
            return _value(of, known, kernels)
    name, operands, alpha = _operation(node)
    # By its text, so that what is read twice is read once.
    values = {ast.unparse(it): _value(it, known, kernels) for it in operands}
    read = [it for it in values.values() if it]
    if not read:
        return None
    first = read[0]
    if name in VIEWS:
        return replace(first, **VIEWS[name])
    if name == "chunk":
        layout = "sliced" if first.layout == "dense" else first.layout
        return replace(first, values=first.values / ast.literal_eval(operands[1]), layout=layout)
    if name in ("float", "to"):
        form = "fp32" if name == "float" else _value(operands[1].value, known, kernels).format
        kernel = Kernel(read, [replace(first, format=form, cast=True)], cast=True)
    else:
        kernel = _computed(name, read, alpha)
    kernels.append(kernel)
    return kernel.written[0]


def _operation(node: ast.expr) -> tuple[str, list[Any], bool]:
    """Return an operation by its name in `torch`, its operands, and whether it has an alpha."""
    match node:
        case ast.UnaryOp(op=op, operand=of) if type(op) in OPERATORS:
            return OPERATORS[type(op)], [of], False
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)], [left, right], False
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=args, keywords=keywords):
            nodes = args if ast.unparse(of) in ("F", "torch") else [of, *args]
            parts = (it.elts if isinstance(it, ast.Tuple) else [it] for it in nodes)
            return name, [*joined(*parts)], "alpha" in [it.arg for it in keywords]
    raise ValueError(f"{ast.unparse(node)} is not known")


def _computed(name: str, read: list[Tensor], alpha: bool) -> Kernel:
    """Return a kernel that computes."""
    most = max(it.values for it in read)
    form = max((it.format for it in read), key=list(BYTES).index)
    operation = f"complex {name}" if form == "complex" else name
    if operation not in FLOP:
        raise ValueError(f"the operation {operation} is not known")
    values = 0 if name in REDUCTIONS else most
    turned = any(it.layout == "transposed" and it.values == most for it in read)
    written = [Tensor(values, form, "transposed" if turned else "dense")]
    if name == "cat":
        written = [Tensor(sum(it.values for it in read), form)]
    if name == "dropout":
        written.append(Tensor(values, "bool"))
    indexed = name == "cat" or any(it.layout != "dense" or it.values < most for it in read)
    return Kernel(read, written, most * (FLOP[operation] + alpha), indexed)


CHAINS = chains(Path(__file__).with_name("chains.toml"))
"""The chains by id. Source: each names its own."""
