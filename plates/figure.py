"""Figures as data, and where each draws what: numpy functions that the page runs as traced.

A position is in percent of the plot, from the left or the top; in a line or a block, which are
stretched to the plot, it is in thousandths. Nothing here draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

ROLES = ("before", "after", "other", "ink")
"""What gives a part its hue and dash everywhere: unfused, fused, beside them, and plain."""

PLACES = ("beside", "wide", "fold")
"""Where a figure may stand: beside others, by itself on a row, or behind a fold."""


@dataclass(frozen=True)
class Axis:
    """One log axis: its label, the format of its ticks, its ends, and where the ticks stand."""

    label: str
    format: str
    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: Any) -> Any:
        """Return where the value stands, from 0 at the low end to 1 at the high end."""
        return np.log(value / self.low) / np.log(self.high / self.low)

    def percent(self, value: Any) -> Any:
        """Return where the value stands in percent; one beyond an end stands at it."""
        return 100 * np.clip(self.share(value), 0, 1)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What every figure has: an id, a title, a text alternative with {names} in it, and its place.

    One that has `texts` shows those of the value that its `input` has; one that is None is the
    names of the rows by which that value is given.
    """

    id: str
    title: str
    text: str
    place: str = "beside"
    input: str = ""
    texts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    kind: ClassVar[str]

    @property
    def shows(self) -> tuple[str, ...]:
        """The readings that are shown as they are."""
        return ()

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the template draws at a state, by name: positions, truths, numbers."""
        raise NotImplementedError


@dataclass(frozen=True)
class Series:
    """One reading as drawn: its label, and the role that gives it hue and dash."""

    reading: str
    label: str
    role: str


@dataclass(frozen=True, kw_only=True)
class Curves(Figure):
    """Readings against one input, log-log, with the present value of that input marked.

    The curves are computed at the values `along`, and every `tabled`th of these stands in the table
    of numbers. The `marked` readings carry their value as text. Along the top stand regimes: the
    reading `regime` is the place of one, in the words of the format `regimes`. The `regime_words`
    are a beginning, what is said of each {regime} and what it reaches {to}, and what joins these.
    Where it is so said, what others `measured` is drawn in it.
    """

    kind = "curves"

    along: tuple[float, ...]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marked: tuple[str, ...]
    regime: str = ""
    regimes: str = ""
    regime_words: tuple[str, ...] = ()
    measured: bool = False
    tabled: int = 8

    @property
    def shows(self) -> tuple[str, ...]:
        """The readings that are computed at each of the values `along`."""
        return (*(one.reading for one in self.series), *([self.regime] if self.regime else []))

    @property
    def stops(self) -> dict[str, np.ndarray]:
        """What holds at the values `along` whatever the state: one entry each."""
        x = np.asarray(self.along, dtype=float)
        begin = np.sqrt(x * np.concatenate([x[:1], x[:-1]]))
        return {
            "x": x,
            "across": 1000 * self.x.share(x),
            "begin": begin,
            "left": self.x.percent(begin),
            "tabled": np.arange(len(x)) % self.tabled == 0,
        }

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the marks: where the input stands, and each reading that is marked."""
        found = {"x": self.x.percent(inputs[self.input])}
        for name in self.marked:
            y = readings[name]
            found[f"{name}_y"] = 100 - self.y.percent(y)
            found[f"{name}_below"] = y < self.y.low
            found[f"{name}_above"] = y > self.y.high
        return found

    def curves(self, stops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the curves and the table, from the `stops` and what is `followed` at each."""
        found = {"across": stops["across"], "rows": np.repeat(stops["x"], stops["tabled"])}
        for one in self.series:
            values = stops[one.reading]
            found[f"{one.reading}_line"] = 1000 - 1000 * self.y.share(values)
            found[f"{one.reading}_end"] = 100 - self.y.percent(values[..., -1])
            found[f"{one.reading}_rows"] = np.repeat(values, stops["tabled"])
        return found | (self._regimes(stops) if self.regime else {})

    def named_curves(self, stops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `curves` by the figure's id and a name, so that figures keep apart."""
        return {f"{self.id}.{name}": it for name, it in self.curves(stops).items()}

    def _regimes(self, stops: Mapping[str, Any]) -> dict[str, Any]:
        """Return which regimes there are, from left to right, and up to where."""
        place = stops[self.regime]
        first = np.diff(place, prepend=-1) != 0
        left, begin = np.repeat(stops["left"], first), np.repeat(stops["begin"], first)
        return {
            "regime": np.repeat(place, first),
            "regime_left": left,
            "regime_middle": left + np.diff(left, append=100) / 2,
            "regime_begun": left > 0,
            "regime_to": begin + np.diff(begin, append=self.along[-1]),
        }


@dataclass(frozen=True, kw_only=True)
class Bars(Figure):
    """Readings as bars from zero, on an axis that ends at the reading `end`.

    Its ticks are round, 1, 2, 2.5 or 5 of a power of ten apart, and the last may stand before the
    end. A bar is cut into `divisions` equal parts of the axis.
    """

    kind = "bars"
    ticks: ClassVar[int] = 5
    """How many there are at most, and at least three."""

    axis_label: str
    format: str
    end: str
    series: tuple[Series, ...]
    divisions: int = 1

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the length of each bar, and of each tick its value, place and whether it is on."""
        end = readings[self.end]
        found = {f"{it.reading}_x": 100 * readings[it.reading] / end for it in self.series}
        apart = round_up(end / self.ticks)
        for n in range(self.ticks):
            found[f"tick_{n}"] = n * apart
            found[f"tick_{n}_x"] = 100 * n * apart / end
            found[f"tick_{n}_on"] = n * apart <= end
        return found


def round_up(value: Any) -> Any:
    """Return the least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below the value."""
    power = np.power(10.0, np.floor(np.log10(value)))
    times: Any = 10
    for one in (5, 2.5, 2, 1):
        times = np.where(value <= one * power, one, times)
    return times * power


Spot = tuple[str | float, str | float]
"""A point of a figure, each of its coordinates a reading or a number."""


@dataclass(frozen=True)
class Path:
    """A line through spots, with its label at its end; with a single spot, that spot named."""

    label: str
    role: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True, kw_only=True)
class Paths(Figure):
    """Lines and named spots on two log axes: a chart whose shape the readings give.

    Where names are in each other's way, those of the first `paths` stay.
    """

    kind = "paths"

    x: Axis
    y: Axis
    paths: tuple[Path, ...]

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return where each line bends and ends, and whether it is named there."""
        spots = [
            [tuple(readings[it] if isinstance(it, str) else it for it in spot) for spot in it.spots]
            for it in self.paths
        ]
        found = {}
        for n, path in enumerate(spots):
            for m, (x, y) in enumerate(path):
                found[f"path_{n}_{m}_x"] = 1000 * self.x.share(x)
                found[f"path_{n}_{m}_y"] = 1000 - 1000 * self.y.share(y)
            x, y = path[-1]
            found[f"end_{n}_x"] = self.x.percent(x)
            found[f"end_{n}_y"] = 100 - self.y.percent(y)
            found[f"end_{n}_below"] = y < self.y.low
            # Of two lines that end as one, the last is named.
            ends = [it[-1] for it in spots[n + 1 :]]
            same = [np.where((x == right) & (y == top), 1, 0) for right, top in ends]
            found[f"end_{n}_named"] = 1 - np.clip(sum(same), 0, 1)
        return found


@dataclass(frozen=True)
class Variant:
    """One way to run the chain: what its readings end in, its label, and its role.

    Kernels that can be `lit` light together with their lines of code.
    """

    name: str
    label: str
    role: str
    lit: bool = False


def each_kernel(value: Any, count: Any) -> Any:
    """Return a step's value once for each of its kernels."""
    return np.repeat(value, count.astype(int))


def places(entries: Any) -> Any:
    """Return the place of each entry, from 0 on."""
    return np.cumsum(1 + 0 * entries, axis=-1) - 1


@dataclass(frozen=True, kw_only=True)
class Timeline(Figure):
    """A lane for each variant, to one scale; above them, the launches that the host makes.

    The readings of a variant say what there is of each step: kernel_count, idle before each kernel,
    kernel_started, kernel_worked; and time. `host` has three readings: how many launches, how long
    each is, and whether they run ahead of the first lane or in its idle times. `keys` name launch,
    fixed, working and idle; the `note` is shown while the host is ahead.
    """

    kind = "timeline"

    host_label: str
    host: tuple[str, str, str]
    lanes: tuple[Variant, ...]
    keys: tuple[str, str, str, str]
    note: str = ""

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the launches, and for each lane where its kernels are idle, start and work."""
        launches, each, ahead = (readings[it] for it in self.host)
        # Ahead, the clock starts when the first kernel is launched, and the host goes on.
        issued = np.where(ahead > 0, (launches - 1) * each, 0)
        whole = issued
        for lane in self.lanes:
            whole = np.maximum(whole, readings[f"time_{lane.name}"])
        first = self.lanes[0].name
        last = self._lane(readings, first, 1.0)[f"{first}_from"][..., -1]
        whole = np.maximum(whole, np.where(ahead > 0, 0, np.where(launches > 1, last, 0) + each))
        scale = 1000 / whole
        found = {"ahead": ahead > 0}
        for lane in self.lanes:
            found |= self._lane(readings, lane.name, scale)
        idle_from = found[f"{first}_from"]
        made = places(idle_from)
        ahead_from = scale * np.minimum(made * each, issued)
        ahead_to = scale * np.minimum((made + 1) * each, issued)
        idle_to = np.where(made < launches, idle_from + scale * each, idle_from)
        return found | {
            "host_from": np.where(ahead > 0, ahead_from, idle_from),
            "host_to": np.where(ahead > 0, ahead_to, idle_to),
        }

    def _lane(self, readings: Mapping[str, Any], name: str, scale: Any) -> dict[str, Any]:
        count, idle = readings[f"kernel_count_{name}"], scale * readings[f"idle_{name}"]
        started = scale * readings[f"kernel_started_{name}"]
        each = each_kernel(idle + started + scale * readings[f"kernel_worked_{name}"], count)
        end = np.cumsum(each, axis=-1)
        return {
            f"{name}_from": end - each,
            f"{name}_begin": end - each + idle,
            f"{name}_work": end - each + idle + each_kernel(started, count),
            f"{name}_to": end,
            f"{name}_idle": idle > 0,
            f"{name}_step": each_kernel(places(count), count),
        }


@dataclass(frozen=True)
class Column:
    """A column of a table: what its readings begin with, its heading, and its format.

    `total` and `wait` are what the readings of the chain begin with, if there are any.
    """

    reading: str
    label: str
    format: str
    total: str = ""
    wait: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Figure):
    """Readings with an entry a step: as a table, as code, and as ways between `memories`.

    What a step reads comes from the first memory, or the second as far as it is resident there, to
    the third, and what it writes goes back. The texts are a head, lines and a tail of code, the
    code that makes them one, and, for each variant, the names of its steps.
    """

    kind = "table"

    columns: tuple[Column, ...]
    variants: tuple[Variant, ...]
    wait_label: str
    total_label: str
    memories: tuple[str, str, str]

    @property
    def shows(self) -> tuple[str, ...]:
        """The readings of its cells."""
        return tuple(
            f"{begin}_{variant.name}"
            for variant in self.variants
            for column in self.columns
            for begin in (column.reading, column.total, column.wait)
            if begin
        )

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arrows of each kernel: read, downward, and written, upward.

        They are as wide as what they carry, of the most that any carries.
        """
        found: dict[str, Any] = {}
        names = [it.name for it in self.variants]
        most: Any = 0
        for name in names:
            larger = np.maximum(readings[f"kernel_read_{name}"], readings[f"kernel_written_{name}"])
            most = np.maximum(most, np.max(larger, axis=-1))
        for name in names:
            count = readings[f"kernel_count_{name}"]
            top = np.where(readings[f"kernel_resident_{name}"] > 0.5, 42, 12)
            for way in ("read", "written"):
                wide = 20 * readings[f"kernel_{way}_{name}"] / most
                found[f"{name}_{way}"] = each_kernel(wide, count)
            found |= {
                f"{name}_top": each_kernel(top, count),
                f"{name}_neck": each_kernel(top + 10, count),
                f"{name}_step": each_kernel(places(count), count),
                f"{name}_kernels": np.sum(count, axis=-1),
                f"{name}_many": count > 1,
            }
        return found
