"""The inputs of a plate: a number, one of several options, or any number of them."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import param

from plates.formats import FORMATS, formatted
from plates.words import COMMON, words

PREFIXES = {
    "": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+\.?[0-9]*|\.[0-9]+)"
FACTOR = rf"^\s*([+-]?{DIGITS}(?:[eE][+-]?[0-9]+)?)(?:\^([0-9]+))?\s*(Ki|Mi|Gi|k|M|G|T)?\s*$"
"""One factor of a number as written: 8192, 33,554,432, 2^25, 32Mi or 1e6, joined by x or ×."""


class Input(param.Parameter):
    """What all inputs share: when they can be set, and how a wrong value is refused.

    `when` says at which value of which other input it can be set. A `more` input stands behind a
    fold, any other is a main one.
    """

    __slots__ = ["more", "when"]

    kind: str
    _may_be: Callable[[Any], bool]
    _range: Callable[[], tuple[str, dict[str, str]]]

    def __init__(
        self, default: Any, *, when: Mapping[str, str] | None = None, more: bool, **settings: Any
    ) -> None:
        self.when = when or {}
        self.more = more
        super().__init__(default=default, **settings)
        self.check(default)

    def check(self, value: Any, text: str | None = None) -> None:
        """Raise ValueError, naming the input, the value or text and the range, if it may not be."""
        if not self._may_be(value):
            given = value if text is None else text
            raise ValueError(f"{self.name or self.label} = {given!r} is not {self.range_text}")

    # What param asks before it sets a value.
    _validate = check

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        sentence, parts = self._range()
        return words(COMMON)[sentence].format(**parts)

    def plain(self, value: Any) -> Any:
        """Return the value as a text or a number of plain Python."""
        return str(value)

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for: 5, 4.1, 32Mi, 8192x4096, or ids of options.

        Raises
        ------
        ValueError
            Naming the input, the text and the range, if it stands for no value that may be set.
        """
        value = self._meant(text)
        self.check(value, text)
        return self.plain(value)

    def _meant(self, text: str) -> Any:
        return text


class Quantity(Input):
    """A number that the reader may set.

    It holds its `bounds`, its `unit` (one, and many), whether it is `whole`, and the `step` of its
    slider or, for one of equal ratios, the `stops_per_octave`; with neither it has no slider.
    `prefix` is the one of `PREFIXES` in which it is shown, which the unit names too.
    """

    __slots__ = ["bounds", "prefix", "step", "stops_per_octave", "unit", "whole"]

    kind = "quantity"

    def __init__(
        self,
        default: float,
        *,
        bounds: tuple[Any, Any],
        unit: tuple[str, str],
        step: float | None = None,
        stops_per_octave: int | None = None,
        whole: bool = False,
        prefix: str = "",
        more: bool = False,
        **settings: Any,
    ) -> None:
        self.bounds, self.unit, self.whole, self.prefix = bounds, unit, whole, prefix
        self.step, self.stops_per_octave = step, stops_per_octave
        super().__init__(default, more=more, **settings)

    def _may_be(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        low, high = self.bounds
        return bool(low <= value <= high) and (not self.whole or value % 1 == 0)

    def _range(self) -> tuple[str, dict[str, str]]:
        low, high = (self.text(it) if self.prefix else f"{it:,}" for it in self.bounds)
        return "range_whole" if self.whole else "range_number", {"low": low, "high": high}

    def plain(self, value: Any) -> float:
        """Return the value as a number of plain Python, whole where the input is."""
        return int(value) if self.whole else float(value)

    def for_readings(self, value: Any) -> Any:
        """Return what the readings get: the value, or each of an array, as in the browser."""
        return np.asarray(value, dtype=float)[()]

    @property
    def slider(self) -> dict[str, float] | None:
        """The ends and step of the slider, in octaves (log2) where its stops are equal ratios."""
        low, high = self.bounds
        if self.stops_per_octave is None:
            return {"min": low, "max": high, "step": self.step} if self.step else None
        low, high = (round(math.log2(it) * self.stops_per_octave) for it in (low, high))
        step = 1 / self.stops_per_octave
        return {"min": low * step, "max": high * step, "step": step}

    @property
    def stops(self) -> list[float]:
        """The value at each stop of the slider, from its lowest to its highest."""
        ends = self.slider
        if ends is None:
            return []
        count = round((ends["max"] - ends["min"]) / ends["step"])
        positions = [ends["min"] + n * ends["step"] for n in range(count + 1)]
        if self.stops_per_octave is not None:
            positions = [2**position for position in positions]
        return [round(value) if self.whole else round(value, 9) for value in positions]

    @property
    def page_stops(self) -> int:
        """How many stops a Page key moves: an octave, or a tenth of the slider."""
        return self.stops_per_octave or max(2, round(len(self.stops) / 10))

    @property
    def format(self) -> str:
        """The format that shows a value exactly."""
        return "count" if self.whole else "plain"

    def position(self, value: float) -> float | None:
        """Return where on its slider a value stands: at the stop nearest to it."""
        ends, stops = self.slider, self.stops
        if ends is None:
            return None
        nearest = min(stops, key=lambda stop: abs(stop - value))
        return ends["min"] + stops.index(nearest) * ends["step"]

    def stop(self, position: float) -> float:
        """Return the value at a position of the slider."""
        ends = self.slider or {"min": 0, "step": 1}
        return self.stops[round((position - ends["min"]) / ends["step"])]

    def box_text(self, value: float) -> str:
        """Return the value as it stands in its text box, such as 3.35T."""
        return f"{value / PREFIXES[self.prefix]:.15g}{self.prefix}"

    def text(self, value: float) -> str:
        """Return the value as shown and spoken, exact and with its unit, such as 32 Mi values."""
        shown = value / PREFIXES[self.prefix] if self.prefix else value
        unit = self.unit[0] if value == 1 else self.unit[1]
        return f"{formatted(shown, FORMATS[self.format])} {unit}"

    def _meant(self, text: str) -> float:
        if self.prefix:
            # What is shown with a prefix may be written as it is shown, with its unit.
            text = text.strip().removesuffix(self.unit[1].removeprefix(self.prefix))
        factors = [_factor(part) for part in re.split("[x×]", text)]
        # 0x10 is no product: somebody meant another number.
        value = math.nan if len(factors) > 1 and 0 in factors else math.prod(factors)
        unit = PREFIXES[self.prefix]
        if len(factors) == 1 and 0 < value < max(self.bounds[0], unit / 1000):
            # A bare number is in the unit that is shown, if nobody would mean it in the plain one.
            value *= unit
        return value


def _factor(text: str) -> float:
    """Return the number that a factor stands for; NaN if it is none."""
    found = re.match(FACTOR, text)
    if not found:
        return math.nan
    try:
        number = float(found[1].replace(",", "")) ** int(found[2] or 1)
    except OverflowError:
        number = math.inf
    return number * PREFIXES[found[3] or ""]


@dataclass(frozen=True)
class Option:
    """One thing to pick: its label and heading, what the readings get for it, and what it is.

    Where it is `given_by` another input, that input's record is what they get.
    """

    label: str
    record: Any = None
    group: str = ""
    doc: str = ""
    given_by: str = ""


class Choice(Input):
    """One of several options, by its id."""

    __slots__ = ["options"]

    kind = "choice"
    said_of_range = "range_one"

    def __init__(
        self, default: str, *, options: Mapping[str, Option], more: bool = True, **settings: Any
    ) -> None:
        self.options = options
        super().__init__(default, more=more, **settings)

    def _may_be(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def _range(self) -> tuple[str, dict[str, str]]:
        return self.said_of_range, {"options": ", ".join(self.options)}

    def for_readings(self, value: str) -> Any:
        """Return what the readings get: the option's record."""
        return self.options[value].record

    def text(self, value: str) -> str:
        """Return the value as shown and spoken: the labels of what is chosen."""
        chosen = [it.label for name, it in self.options.items() if name in _parts(value)]
        return ", ".join(chosen) or "none"


class Flags(Choice):
    """Any number of options, as their ids joined by commas, or "none"; all of them by default.

    `record` is the dataclass that the readings get, with a truth for each option.
    """

    __slots__ = ["record"]

    kind = "flags"
    said_of_range = "range_some"

    def __init__(self, *, options: Mapping[str, Option], record: type, **settings: Any) -> None:
        self.record = record
        super().__init__(",".join(options), options=options, **settings)

    def _may_be(self, value: Any) -> bool:
        return isinstance(value, str) and value == self._joined(_parts(value))

    def _joined(self, named: Sequence[str]) -> str:
        """Return the options that are named, each once and in their own order."""
        return ",".join(it for it in self.options if it in named) or "none"

    def _meant(self, text: str) -> str:
        named = _parts(text)
        return self._joined(named) if set(named) <= set(self.options) else ",".join(named)

    def for_readings(self, value: str) -> Any:
        """Return what the readings get: the record, with what is on."""
        return self.record(**{name: name in _parts(value) for name in self.options})


class Rows(Input):
    """Records written in a short text, for an option of another input that is `given_by` it.

    The text as a whole is of the form `whole`; of its parts, joined by _, each is an `entry` whose
    named groups say what it has, and what it does not say is as in `empty`. `record` makes of the
    text what the readings get: of the first entry its field `first`, of all others `rest`, and in
    `steps` their names.
    """

    __slots__ = ["empty", "entry", "first", "record", "rest", "whole"]

    kind = "rows"

    def __init__(
        self, default: str, *, whole: str, entry: str, empty: Mapping[str, Any],
        record: Callable[[str], Any], first: str, rest: str, more: bool = True, **settings: Any,
    ) -> None:  # fmt: skip
        self.whole, self.entry, self.empty, self.record = whole, entry, empty, record
        self.first, self.rest = first, rest
        super().__init__(default, more=more, **settings)

    def _may_be(self, value: Any) -> bool:
        return isinstance(value, str) and bool(re.fullmatch(self.whole, value))

    def _range(self) -> tuple[str, dict[str, str]]:
        return "range_rows", {"default": self.default}

    def _meant(self, text: str) -> str:
        return text.strip()

    def for_readings(self, value: str) -> Any:
        """Return the record of the text."""
        return self.record(value)

    def text(self, value: str) -> str:
        """Return the value as shown and spoken: the text."""
        return value

    box_text = text

    def names(self, value: str) -> list[str]:
        """Return what the entries but the first are called: the `steps` of the record."""
        return [it.name for it in self.record(value).steps]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
