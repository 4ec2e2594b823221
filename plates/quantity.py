"""An input of a plate: a number with its bounds, stops and unit, and how it is typed and spoken."""

import math
import re
from collections.abc import Mapping
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
FACTOR = rf"^\s*([+-]?{DIGITS}(?:[eE][+-]?[0-9]+)?)\s*(Ki|Mi|Gi|k|M|G|T)?\s*$"
"""One factor of a typed number: 8192, 33,554,432, 32Mi or 1e6. Factors are joined by x or ×."""


class Quantity(param.Number):
    """A number that the reader may set.

    Beside param's own `default`, `bounds`, `step`, `label` and `doc` it holds the `unit` (one, and
    many), whether it is `whole`, and, for a slider of equal ratios, its `stops_per_octave`; with no
    `step` either, it is only typed. `prefix` is the one of `PREFIXES` in which it is shown, which
    the unit names too. `when` says at which value of which other input it can be set; one that is
    always there is a main input, the others are `more` and stand behind a fold.
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
        when: Mapping[str, str] | None = None,
        more: bool = False,
        **settings: Any,
    ) -> None:
        self.unit = unit
        self.whole = whole
        self.stops_per_octave = stops_per_octave
        self.prefix = prefix
        self.when = when or {}
        self.more = more
        super().__init__(default=default, **settings)

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        self.check(val)

    def check(self, value: Any) -> None:
        """Raise ValueError, naming the input, the value and the range, if it may not be this."""
        number = isinstance(value, Real) and not isinstance(value, bool)
        low, high = self.bounds
        if not number or not low <= value <= high or (self.whole and value != int(value)):
            raise ValueError(f"{self.name} = {value!r} is not {self.range_text}")

    def plain(self, value: Any) -> float:
        """Return the value as a number of plain Python, whole where the input is."""
        return int(value) if self.whole else float(value)

    def seen(self, value: Any) -> Any:
        """Return what the readings get: the value, or each of an array, as in the browser."""
        return np.asarray(value, dtype=float)[()]

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        low, high = (f"{bound:,}" for bound in self.bounds)
        if self.prefix:
            low, high = self.text(self.bounds[0]), self.text(self.bounds[1])
        said = words(COMMON)["range_whole" if self.whole else "range_number"]
        return said.format(low=low, high=high)

    @property
    def slider(self) -> dict[str, float] | None:
        """The ends and step of the slider, in octaves (log2) where its stops are equal ratios."""
        low, high = self.bounds
        if self.stops_per_octave is None:
            return {"min": low, "max": high, "step": self.step} if self.step else None
        return {
            "min": round(math.log2(low) * self.stops_per_octave) / self.stops_per_octave,
            "max": round(math.log2(high) * self.stops_per_octave) / self.stops_per_octave,
            "step": 1 / self.stops_per_octave,
        }

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

    def typed(self, value: float) -> str:
        """Return the value as it stands in the box where it is typed, such as 3.35T."""
        return f"{value / PREFIXES[self.prefix]:.15g}{self.prefix}"

    def text(self, value: float) -> str:
        """Return the value as shown and spoken, exact and with its unit, such as 32 Mi values."""
        number = formatted(
            value / PREFIXES[self.prefix] if self.prefix else value, FORMATS[self.format]
        )
        return f"{number} {self.unit[0] if value == 1 else self.unit[1]}"

    def parse(self, text: str) -> float:
        """Return the value that a typed text stands for: 5, 4.1, 32Mi, 8192x4096.

        Raises
        ------
        ValueError
            Naming the input, the text and the range, if it is no number or outside the bounds.
        """
        # What is shown with a prefix may be typed as it is shown, with its unit.
        plain = (
            text.strip().removesuffix(self.unit[1].removeprefix(self.prefix))
            if self.prefix
            else text
        )
        factors = [re.match(FACTOR, part) for part in re.split("[x×]", plain)]
        numbers = [
            float(it[1].replace(",", "")) * PREFIXES[it[2] or ""] if it else math.nan
            for it in factors
        ]
        # A bare number is in the unit that is shown, if it cannot be in the plain one.
        if self.prefix and len(numbers) == 1 and 0 < numbers[0] < self.bounds[0]:
            numbers = [numbers[0] * PREFIXES[self.prefix]]
        # 0x10 is no product: somebody meant another number.
        value = math.nan if len(numbers) > 1 and 0 in numbers else math.prod(numbers)
        try:
            self.check(value)
        except ValueError:
            raise ValueError(f"{self.name} = {text!r} is not {self.range_text}") from None
        return self.plain(value)
