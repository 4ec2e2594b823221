"""How a number is shown: its digits and its units, as data that page and command line share."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

NARROW_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Format:
    """Significant digits, and units from the largest to the smallest with what each stands for.

    With `digits` None the number is shown exactly: in the largest unit that divides it, else in
    full. With `words` it is the place of one of them.
    """

    units: tuple[tuple[str, float], ...]
    digits: int | None = 4
    space: str = NARROW_SPACE
    words: tuple[str, ...] = ()


FORMATS = {
    "time": Format((("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))),
    "bytes": Format((("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1))),
    "ratio": Format((("×", 1),), digits=3, space=""),
    "share": Format((("%", 0.01),), digits=3),
    "bandwidth": Format((("TB/s", 1e12), ("GB/s", 1e9)), digits=3),
    "intensity": Format((("FLOP/byte", 1),), digits=2),
    "flop_rate": Format(
        (("PFLOP/s", 1e15), ("TFLOP/s", 1e12), ("GFLOP/s", 1e9), ("MFLOP/s", 1e6)), digits=3
    ),
    "number": Format((("", 1),), digits=3, space=""),
    "count": Format((("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)), digits=None),
    "size": Format((("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10), ("", 1)), digits=2),
    "plain": Format((), digits=None),
}


def formatted(value: float, form: Format) -> str:
    """Return the value as text, in the largest unit that leaves it above 1.

    Rounds half up, as the page does: `app/static/numbers.js` reads the same `Format`.
    """
    if form.words:
        return form.words[int(value)]
    if form.digits is None:
        for name, scale in form.units:
            if value >= scale and value % scale == 0:
                return f"{value / scale:,.0f}{form.space}{name}"
        return f"{Decimal(repr(value)).normalize():,f}"
    if value == 0:
        return f"0{form.space}{form.units[-1][0]}"
    name, scale = scaled(value, form)
    number = format(_rounded(value / scale, form.digits), "f")
    return f"{number}{form.space}{name}" if name else number


def _rounded(value: float, digits: int) -> Decimal:
    exact = Decimal(float(value))
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).plus(exact)
    return rounded.quantize(Decimal(1).scaleb(rounded.adjusted() + 1 - digits))


def scaled(value: float, form: Format) -> tuple[str, float]:
    """Return the unit in which the value is shown: its name, and what it stands for."""
    rounded = _rounded(value, form.digits or 1)
    return next((pair for pair in form.units if rounded >= Decimal(repr(pair[1]))), form.units[-1])
