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

    One that has `texts` shows those of the value that its `input` has.
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
    of numbers. The `marked` readings carry their value as text, on the side where there is room:
    the first and last `flip` percent of the axis have only one. Along the top stand regimes: the
    reading `regime` is the place of one, in the words of the format `regimes`, and `regime_room` is
    what a name over the plot needs, in percent. The `regime_words` are a beginning, what stands
    before and after the size up to which a regime reaches, and what joins these. Where it is so
    said, what others `measured` is drawn in it.
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
    flip: float = 15
    regime_room: float = 25

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
        x = self.x.percent(inputs[self.input])
        sides = np.where(x < self.flip, 0, np.where(x > 100 - self.flip, 2, 1))
        found = {"x": x, "side": sides}
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

    def _regimes(self, stops: Mapping[str, Any]) -> dict[str, Any]:
        """Return which regimes there are, from left to right, and where each begins and ends."""
        place = stops[self.regime]
        first = np.diff(place, prepend=-1) != 0
        left, begin = np.repeat(stops["left"], first), np.repeat(stops["begin"], first)
        width = np.diff(left, append=100)
        return {
            "regime": np.repeat(place, first),
            "regime_left": left,
            "regime_middle": left + width / 2,
            "regime_roomy": width > self.regime_room,
            "regime_begun": left > 0,
            "regime_to": begin + np.diff(begin, append=self.along[-1]),
            "regime_on": np.diff(left, append=0) > 0,
        }


@dataclass(frozen=True, kw_only=True)
class Bars(Figure):
    """Readings as bars from zero, on an axis that ends at the reading `end`.

    Its ticks stand at shares of that end, so that the axis holds still and only its labels change.
    A bar is cut into `divisions` equal parts of the axis.
    """

    kind = "bars"

    axis_label: str
    format: str
    end: str
    ticks: tuple[float, ...]
    series: tuple[Series, ...]
    divisions: int = 1

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the length of each bar, and the value at each tick."""
        end = readings[self.end]
        lengths = {f"{it.reading}_x": 100 * readings[it.reading] / end for it in self.series}
        return lengths | {f"tick_{n}": share * end for n, share in enumerate(self.ticks)}


@dataclass(frozen=True)
class Spot:
    """A point of a figure, each of its coordinates a reading or a number."""

    x: str | float
    y: str | float


@dataclass(frozen=True)
class Path:
    """A line through spots; a label stands at its end."""

    label: str
    role: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Mark:
    """A spot that is named."""

    label: str
    role: str
    spot: Spot


@dataclass(frozen=True, kw_only=True)
class Paths(Figure):
    """Lines and named spots on two log axes: a chart whose shape the readings give.

    The name of a spot beyond `flip` percent stands to its left.
    """

    kind = "paths"

    x: Axis
    y: Axis
    paths: tuple[Path, ...]
    marks: tuple[Mark, ...]
    flip: float = 70

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return where each line bends and ends, and where each spot is."""

        def place(spot: Spot) -> list[Any]:
            return [readings[it] if isinstance(it, str) else it for it in (spot.x, spot.y)]

        found = {}
        ends = [place(path.spots[-1]) for path in self.paths]
        for n, path in enumerate(self.paths):
            for m, (x, y) in enumerate(place(spot) for spot in path.spots):
                found[f"path_{n}_{m}_x"] = 1000 * self.x.share(x)
                found[f"path_{n}_{m}_y"] = 1000 - 1000 * self.y.share(y)
            x, y = ends[n]
            found[f"end_{n}_x"], found[f"end_{n}_y"] = self._at(x, y)
            # Of two lines that end as one, the last is named.
            same = [np.where((x == right) & (y == top), 1, 0) for right, top in ends[n + 1 :]]
            found[f"end_{n}_named"] = 1 - np.clip(sum(same), 0, 1)
        for n, mark in enumerate(self.marks):
            x, y = place(mark.spot)
            found[f"mark_{n}_x"], found[f"mark_{n}_y"] = self._at(x, y)
            found[f"mark_{n}_left"] = self.x.percent(x) > self.flip
            found[f"mark_{n}_below"] = y < self.y.low
        return found

    def _at(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.x.percent(x), 100 - self.y.percent(y)


@dataclass(frozen=True)
class Lane:
    """The kernels of a variant in time, in a role; `total` is the reading of their time.

    Those that can be `lit` light together with their lines of code.
    """

    variant: str
    label: str
    role: str
    total: str
    lit: bool = False


@dataclass(frozen=True, kw_only=True)
class Timeline(Figure):
    """Lanes to one scale; above the first, the launches that the host makes for it.

    Readings that end in the lane's variant say what there is of each kernel: kernel_count, idle
    before it, kernel_started, kernel_worked. `host` has three readings: how many launches, how long
    each is, and whether they run ahead of the lane or in its idle times. `keys` name launch, fixed,
    working and idle; the `note` is shown while the host is ahead.
    """

    kind = "timeline"

    host_label: str
    host: tuple[str, str, str]
    lanes: tuple[Lane, ...]
    keys: tuple[str, str, str, str]
    note: str = ""

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the launches, and for each lane where its kernels are idle, start and work."""
        launches, each, ahead = (readings[it] for it in self.host)
        # Ahead, the clock starts when the first kernel is launched, and the host goes on.
        issued = np.where(ahead > 0, (launches - 1) * each, 0)
        whole = issued
        for lane in self.lanes:
            whole = np.maximum(whole, readings[lane.total])
        found = {"ahead": ahead > 0}
        for lane in self.lanes:
            found |= self._lane(readings, lane.variant, 1000 / whole)
        first = found[f"{self.lanes[0].variant}_from"]
        ahead_from = np.minimum(found[f"{self.lanes[0].variant}_place"] * each, issued)
        ahead_to = np.minimum(ahead_from + each, issued)
        found["host_from"] = np.where(ahead > 0, ahead_from * (1000 / whole), first)
        found["host_to"] = np.where(
            ahead > 0, ahead_to * (1000 / whole), first + each * (1000 / whole)
        )
        return found

    def _lane(self, readings: Mapping[str, Any], variant: str, scale: Any) -> dict[str, Any]:
        count = readings[f"kernel_count_{variant}"]
        idle, started, worked = (
            scale * readings[f"{part}_{variant}"]
            for part in ("idle", "kernel_started", "kernel_worked")
        )
        each = each_kernel(idle + started + worked, count)
        end = np.cumsum(each, axis=-1)
        begin = end - each + idle
        return {
            f"{variant}_from": end - each,
            f"{variant}_begin": begin,
            f"{variant}_work": begin + each_kernel(started, count),
            f"{variant}_to": end,
            f"{variant}_idle": idle > 0,
            f"{variant}_step": each_kernel(np.cumsum(1 + 0 * count, axis=-1) - 1, count),
            f"{variant}_place": np.cumsum(1 + 0 * each, axis=-1) - 1,
        }


def each_kernel(value: Any, count: Any) -> Any:
    """Return a step's value once for each of its kernels."""
    return np.repeat(value, count.astype(int))


@dataclass(frozen=True)
class Column:
    """A column of a table: what its readings begin with, its heading, and its format."""

    reading: str
    label: str
    format: str


@dataclass(frozen=True)
class Part:
    """The rows of a table that share a variant and a role.

    `names` is which of the table's texts names them. `totals` has a reading for some columns, and
    so has `wait`, for what belongs to no row. Rows that can be `lit` light with their lines of
    code.
    """

    variant: str
    label: str
    role: str
    names: str
    totals: Mapping[str, str]
    wait: Mapping[str, str]
    lit: bool = False


@dataclass(frozen=True, kw_only=True)
class Table(Figure):
    """Readings with an entry a step: as a table, as code, and as ways between `memories`.

    What a step reads comes from the first memory, or the second as far as it is resident there, to
    the third, and what it writes goes back. The texts are a head, lines and a tail of code, the
    code that makes them one, and names.
    """

    kind = "table"

    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    wait_label: str
    total_label: str
    memories: tuple[str, str, str]

    @property
    def shows(self) -> tuple[str, ...]:
        """The readings of its cells."""
        return tuple(
            reading
            for part in self.parts
            for reading in (
                *(f"{column.reading}_{part.variant}" for column in self.columns),
                *part.totals.values(),
                *part.wait.values(),
            )
        )

    def drawn(self, readings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arrows of each kernel: read, downward, and written, upward.

        They are as wide as what they carry, of the most that any carries.
        """
        moved = {
            it.variant: [readings[f"kernel_{way}_{it.variant}"] for way in ("read", "written")]
            for it in self.parts
        }
        most: Any = 0
        for read, written in moved.values():
            most = np.maximum(most, np.max(np.maximum(read, written), axis=-1))
        found: dict[str, Any] = {}
        for variant, (read, written) in moved.items():
            count = readings[f"kernel_count_{variant}"]
            top = np.where(readings[f"kernel_resident_{variant}"] > 0.5, 42, 12)
            wide = {"read": 20 * read / most, "written": 20 * written / most}
            arrows = wide | {"top": top, "neck": top + 10}
            found |= {f"{variant}_{name}": each_kernel(it, count) for name, it in arrows.items()}
            found[f"{variant}_step"] = each_kernel(np.cumsum(1 + 0 * count, axis=-1) - 1, count)
            found[f"{variant}_kernels"] = np.sum(count, axis=-1)
            found[f"{variant}_many"] = count > 1
        return found
