"""The inputs of a plate: a number, one of several options, or any number of them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import param

from plates.formats import FORMATS, formatted
from plates.words import COMMON, words

PREFIXES = {
    "": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+\.?[0-9]*|\.[0-9]+)"
FACTOR = rf"^\s*([+-]?{DIGITS}(?:[eE][+-]?[0-9]+)?)\s*(Ki|Mi|Gi|k|M|G|T)?\s*$"
"""One factor of a number as written: 8192, 33,554,432, 32Mi or 1e6. They are joined by x or ×."""


class Input:
    """What all inputs share: when they can be set, and how a wrong value is refused.

    `when` says at which value of which other input it can be set. A `more` input stands behind a
    fold, any other is a main one.
    """

    # The slots `more` and `when` are those of each class below: of two bases only one may have any.
    __slots__ = ()

    name: str
    kind: str

    def __init__(
        self, default: Any, *, when: Mapping[str, str] | None = None, more: bool, **settings: Any
    ) -> None:
        self.when = when or {}  # type: ignore[misc]
        self.more = more  # type: ignore[misc]
        super().__init__(default=default, **settings)  # type: ignore[call-arg]

    def _validate(self, val: Any) -> None:
        self.check(val)

    def check(self, value: Any) -> None:
        """Raise ValueError, naming the input, the value and the range, if it may not be this."""
        if not self._may_be(value):
            self._refuse(value)

    def _may_be(self, value: Any) -> bool:
        raise NotImplementedError

    def _refuse(self, value: Any) -> NoReturn:
        raise ValueError(f"{self.name} = {value!r} is not {self.range_text}")

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        raise NotImplementedError


class Quantity(Input, param.Number):
    """A number that the reader may set.

    Beside param's own `default`, `bounds`, `step`, `label` and `doc` it holds the `unit` (one, and
    many), whether it is `whole`, and, for a slider of equal ratios, its `stops_per_octave`; with no
    `step` either, it has no slider. `prefix` is the one of `PREFIXES` in which it is shown, which
    the unit names too.
    """

    __slots__ = ["more", "prefix", "stops_per_octave", "unit", "when", "whole"]

    kind = "quantity"

    def __init__(
        self,
        default: float,
        *,
        unit: tuple[str, str],
        whole: bool = False,
        stops_per_octave: int | None = None,
        prefix: str = "",
        more: bool = False,
        **settings: Any,
    ) -> None:
        self.unit = unit
        self.whole = whole
        self.stops_per_octave = stops_per_octave
        self.prefix = prefix
        super().__init__(default, more=more, **settings)

    def _may_be(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        low, high = self.bounds
        return bool(low <= value <= high) and (not self.whole or value % 1 == 0)

    def plain(self, value: Any) -> float:
        """Return the value as a number of plain Python, whole where the input is."""
        return int(value) if self.whole else float(value)

    def for_readings(self, value: Any) -> Any:
        """Return what the readings get: the value, or each of an array, as in the browser."""
        return np.asarray(value, dtype=float)[()]

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        low, high = (self.text(it) if self.prefix else f"{it:,}" for it in self.bounds)
        said = words(COMMON)["range_whole" if self.whole else "range_number"]
        return said.format(low=low, high=high)

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
        if self.slider is None:
            return None
        stop = min(range(len(self.stops)), key=lambda n: abs(self.stops[n] - value))
        return self.slider["min"] + stop * self.slider["step"]

    def box_text(self, value: float) -> str:
        """Return the value as it stands in its text box, such as 3.35T."""
        return f"{value / PREFIXES[self.prefix]:.15g}{self.prefix}"

    def text(self, value: float) -> str:
        """Return the value as shown and spoken, exact and with its unit, such as 32 Mi values."""
        shown = value / PREFIXES[self.prefix] if self.prefix else value
        unit = self.unit[0] if value == 1 else self.unit[1]
        return f"{formatted(shown, FORMATS[self.format])} {unit}"

    def parse(self, text: str) -> float:
        """Return the value that a text stands for: 5, 4.1, 32Mi, 8192x4096.

        Raises
        ------
        ValueError
            Naming the input, the text and the range, if it is no number or outside the bounds.
        """
        number = text
        if self.prefix:
            # What is shown with a prefix may be written as it is shown, with its unit.
            number = text.strip().removesuffix(self.unit[1].removeprefix(self.prefix))
        factors = [_factor(part) for part in re.split("[x×]", number)]
        # 0x10 is no product: somebody meant another number.
        value = math.nan if len(factors) > 1 and 0 in factors else math.prod(factors)
        if self.prefix and len(factors) == 1 and 0 < value < self.bounds[0]:
            # A bare number is in the unit that is shown, if it cannot be in the plain one.
            value *= PREFIXES[self.prefix]
        if not self._may_be(value):
            self._refuse(text)
        return self.plain(value)


def _factor(text: str) -> float:
    """Return the number that a factor stands for; NaN if it is none."""
    found = re.match(FACTOR, text)
    return float(found[1].replace(",", "")) * PREFIXES[found[2] or ""] if found else math.nan


@dataclass(frozen=True)
class Option:
    """One thing to pick: its label and heading, what the readings get for it, and what it is."""

    label: str
    record: Any = None
    group: str = ""
    doc: str = ""


class Choice(Input, param.Parameter):
    """One of several options, by its id."""

    __slots__ = ["more", "options", "when"]

    kind = "choice"
    said_of_range = "range_one"

    def __init__(
        self, default: str, *, options: Mapping[str, Option], more: bool = True, **settings: Any
    ) -> None:
        self.options = options
        super().__init__(default, more=more, **settings)

    def _may_be(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def plain(self, value: Any) -> str:
        """Return the value as plain text."""
        return str(value)

    def for_readings(self, value: str) -> Any:
        """Return what the readings get: the option's record."""
        return self.options[value].record

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        return words(COMMON)[self.said_of_range].format(options=", ".join(self.options))

    def text(self, value: str) -> str:
        """Return the value as shown and spoken."""
        return self.options[value].label

    def parse(self, text: str) -> str:
        """Return the value that a text stands for.

        Raises
        ------
        ValueError
            Naming the input, the text and the options, if it is none of them.
        """
        self.check(text)
        return text


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

    def for_readings(self, value: str) -> Any:
        """Return what the readings get: the record, with what is on."""
        return self.record(**{name: name in _parts(value) for name in self.options})

    def text(self, value: str) -> str:
        """Return the value as shown and spoken."""
        on = [self.options[it].label for it in _parts(value) if it in self.options]
        return ", ".join(on) or "none"

    def parse(self, text: str) -> str:
        """Return the value that a text stands for: options in any order, or none.

        Raises
        ------
        ValueError
            Naming the input, the text and the options, if a part of it is none of them.
        """
        named = _parts(text)
        if named != ["none"] and not set(named) <= set(self.options):
            self._refuse(text)
        return self._joined(named)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
