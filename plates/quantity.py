"""An input of a plate: a number with its bounds, stops and unit, and how it is typed and spoken."""

import math
import re
from numbers import Real
from typing import Any

import param

from plates.formats import FORMATS, formatted

PREFIXES = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+\.?[0-9]*|\.[0-9]+)"
FACTOR = rf"^\s*([+-]?{DIGITS}(?:[eE][+-]?[0-9]+)?)\s*(Ki|Mi|Gi)?\s*$"
"""One factor of a typed number: 8192, 33,554,432, 32Mi or 1e6. Factors are joined by x or ×."""


class Quantity(param.Number):
    """A number that the reader may set.

    Beside param's own `default`, `bounds`, `step`, `label` and `doc` it holds the `unit` (one, and
    many), whether it is `whole`, and, for a slider of equal ratios, its `stops_per_octave`.
    """

    __slots__ = ["stops_per_octave", "unit", "whole"]

    def __init__(
        self,
        default: float,
        *,
        unit: tuple[str, str],
        whole: bool = False,
        stops_per_octave: int | None = None,
        **settings: Any,
    ) -> None:
        self.unit = unit
        self.whole = whole
        self.stops_per_octave = stops_per_octave
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

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        low, high = (f"{bound:,}" for bound in self.bounds)
        return f"a {'whole number' if self.whole else 'number'} from {low} to {high}"

    @property
    def slider(self) -> dict[str, float]:
        """The ends and step of the slider, in octaves (log2) where its stops are equal ratios."""
        low, high = self.bounds
        if self.stops_per_octave is None:
            return {"min": low, "max": high, "step": self.step}
        return {
            "min": round(math.log2(low) * self.stops_per_octave) / self.stops_per_octave,
            "max": round(math.log2(high) * self.stops_per_octave) / self.stops_per_octave,
            "step": 1 / self.stops_per_octave,
        }

    @property
    def stops(self) -> list[float]:
        """The value at each stop of the slider, from its lowest to its highest."""
        ends = self.slider
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

    def position(self, value: float) -> float:
        """Return where on its slider a value stands: at the stop nearest to it."""
        stop = min(range(len(self.stops)), key=lambda n: abs(self.stops[n] - value))
        return self.slider["min"] + stop * self.slider["step"]

    def text(self, value: float) -> str:
        """Return the value as shown and spoken, exact and with its unit, such as 32 Mi values."""
        number = formatted(value, FORMATS[self.format])
        return f"{number} {self.unit[0] if value == 1 else self.unit[1]}"

    def parse(self, text: str) -> float:
        """Return the value that a typed text stands for: 5, 4.1, 32Mi, 8192x4096.

        Raises
        ------
        ValueError
            Naming the input, the text and the range, if it is no number or outside the bounds.
        """
        factors = [re.match(FACTOR, part) for part in re.split("[x×]", text)]
        numbers = [
            float(it[1].replace(",", "")) * PREFIXES[it[2] or ""] if it else math.nan
            for it in factors
        ]
        # 0x10 is no product: somebody meant another number.
        value = math.nan if len(numbers) > 1 and 0 in numbers else math.prod(numbers)
        try:
            self.check(value)
        except ValueError:
            raise ValueError(f"{self.name} = {text!r} is not {self.range_text}") from None
        return self.plain(value)
