"""Chains of operations as PyTorch, and what each of their kernels reads, writes and computes.

`chains.toml` holds them, and `model.pytorch` counts their code.
"""

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from model.pytorch import BYTES, NUMBER, Kernel, Number, Reader, Tensor, fused

DECLARED = re.compile(
    r"(tensor|table|row|number)(?: ([1-9]\d*(?:/[1-9]\d*)?))?(?: (fp32|complex|bool|int64))?"
)


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
OWN = f"{MOVES}(?=(?:_{PLAIN})*_{MOVES})(?:_{PLAIN}){{1,99}}"
"""A chain in the short form, joined by _: first the fused kernel, then those unfused, up to 99.

That and one of those at least read or write something.
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
    given = {name: declared(name, said) for name, said in arguments.items()}
    if unknown := told.get("shapes", {}).keys() - given:
        raise ValueError(f"shapes has {', '.join(sorted(unknown))}, which is no argument")
    reader = Reader(dict(given))
    for n, line in enumerate(code.strip().splitlines(), start=1):
        try:
            _run(reader, line)
        except (ArithmeticError, LookupError, SyntaxError, TypeError, ValueError) as fault:
            raise ValueError(f"line {n}, {line!r}: {fault}") from None
    kernels = reader.kernels
    if told.get("repeats"):
        kernels[-1] = kernels[-1]._replace(repeated=True)
    if unmade := [it for it in returns.split(", ") if it not in reader.known]:
        raise ValueError(f"it returns {unmade[0]}, which is not made")
    one = fused(kernels, [reader.known[it].memory for it in returns.split(", ")])
    # Whatever its steps work in, it writes in the format of what it reads.
    form = next((it.format for it in given.values() if isinstance(it, Tensor) and it.values), "")
    written = [replace(it, format=form) for it in [*one.written, Tensor(also_writes)]]
    return chain(
        kernels, one._replace(written=written), arguments=arguments, returns=returns, **told
    )


def chain(kernels: Sequence[Kernel], one: Kernel, **told: Any) -> Chain:
    """Return the chain of some kernels and the one that fuses them; `told` is the rest of it."""
    return Chain(steps=kernels, unfused=_columns(kernels), fused=_columns([one]), **told)


def _run(reader: Reader, line: str) -> None:
    """Run a line that is one kernel, and name that as the comment says."""
    code, _, name = line.rpartition("  # ")
    before = len(reader.kernels)
    match body := ast.parse(code).body:
        case [ast.Assign(targets=[ast.Name()])]:
            reader.run(body)
        case _:
            raise ValueError("it is not one assignment and, behind #, what the kernel is called")
    made = reader.kernels[before:]
    if len(made) != 1 or made[0].barrier:
        raise ValueError(f"it is {len(made)} kernels, not one of a chain")
    reader.kernels[-1] = made[0]._replace(name=name, code=code)


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


def declared(name: str, said: str) -> Tensor | Number:
    """Return what an argument is, declared as "tensor 4/5 fp32" or the like.

    Raises
    ------
    ValueError
        If it is declared to be nothing of that kind.
    """
    if not (told := DECLARED.fullmatch(said)):
        raise ValueError(f"argument {name} is {said!r}, which is no tensor, table, row or number")
    kind, size, form = told.groups(default="")
    if kind == "number":
        return NUMBER
    values = 0.0 if kind == "row" else float(Fraction(size or 1))
    return Tensor(values, form, origin=name if kind == "tensor" else "", memory=name)


CHAINS = chains(Path(__file__).with_name("chains.toml"))
"""The chains by id. Source: each names its own."""
