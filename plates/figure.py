"""Figures as data: what is drawn, along which axis, in whose name. Nothing here draws."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Read = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""A plate's readings at given inputs, any of which may be an array."""


@dataclass(frozen=True)
class Axis:
    """One axis: its label, the format of its ticks, its ends, and where the ticks stand."""

    label: str
    format: str
    low: float
    high: float
    ticks: tuple[float, ...]


@dataclass(frozen=True)
class Series:
    """One reading as drawn: its label, and the `role` that gives it hue and dash everywhere.

    Roles are "before", "after" and, for a thin line beside them, "other".
    """

    reading: str
    label: str
    role: str


@dataclass(frozen=True)
class Regime:
    """What a time may mostly consist of: the reading that is its share, and a label."""

    reading: str
    label: str


@dataclass(frozen=True)
class Curves:
    """Readings against one input, log-log, with the present value of that input marked.

    The curves are computed at the values `along`. The `marked` readings carry their value as text,
    on the side where there is room: the first and last share `flip` of the axis have only one.
    Along the top stand the `regimes`, each as far as its share is the largest of all; the
    `regime_room` is the share of the axis that a name over the plot needs, and the
    `regime_words` that say so are a beginning, "{label} up to {to}", and what joins these.
    """

    id: str
    title: str
    text: str
    input: str
    along: tuple[float, ...]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marked: tuple[str, ...]
    regimes: tuple[Regime, ...] = ()
    regime_words: tuple[str, str, str] = ("", "", "")
    flip: float = 0.15
    regime_room: float = 0.25
    kind: str = "curves"

    @property
    def drawn(self) -> set[str]:
        """The readings that it draws."""
        return {
            *(it.reading for it in self.series),
            *(it.reading for it in self.regimes),
            *self.marked,
            *(["bound_unfused"] if self.regimes else []),
        }

    @property
    def roles(self) -> set[str]:
        """The roles in which it draws them."""
        return {it.role for it in self.series}

    def columns(self, read: Read, inputs: Mapping[str, Any]) -> Any:
        """Return what is drawn at the given inputs: a table for the curves, one for the marks."""
        x = np.asarray(self.along, dtype=float)
        along = read(dict(inputs) | {self.input: x})
        here = read(inputs)
        return {
            "curves": {"x": x.tolist()}
            | {
                one.reading: np.broadcast_to(along[one.reading], x.shape).tolist()
                for one in self.series
            },
            "marks": {
                "x": [float(inputs[self.input])] * len(self.marked),
                "y": [float(here[reading]) for reading in self.marked],
            },
            "regimes": regimes_along(
                x, np.array([np.broadcast_to(along[it.reading], x.shape) for it in self.regimes])
            ),
        }


@dataclass(frozen=True)
class Bars:
    """Readings as bars from zero, on an axis that ends at one reading at a given state.

    Its ticks stand at shares of that end, so that the axis holds still and only its labels change.
    A bar is cut into `divisions` equal parts of the axis.
    """

    id: str
    title: str
    text: str
    axis_label: str
    format: str
    end_reading: str
    end_at: Mapping[str, float]
    ticks: tuple[float, ...]
    series: tuple[Series, ...]
    divisions: int = 1
    kind: str = "bars"

    @property
    def drawn(self) -> set[str]:
        """The readings that it draws."""
        return {it.reading for it in self.series} | {self.end_reading}

    @property
    def roles(self) -> set[str]:
        """The roles in which it draws them."""
        return {it.role for it in self.series}

    def columns(self, read: Read, inputs: Mapping[str, Any]) -> Any:
        """Return what is drawn at the given inputs: a table for the bars, one for the axis' end."""
        here = read(inputs)
        end = read(dict(inputs) | dict(self.end_at))[self.end_reading]
        return {
            "bars": {
                "row": list(range(len(self.series))),
                "value": [float(here[one.reading]) for one in self.series],
            },
            "axis": {"end": [float(end)]},
        }


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


@dataclass(frozen=True)
class Paths:
    """Lines and named spots on two log axes: a chart whose shape the readings give."""

    id: str
    title: str
    text: str
    x: Axis
    y: Axis
    paths: tuple[Path, ...]
    marks: tuple[Mark, ...]
    kind: str = "paths"

    @property
    def roles(self) -> set[str]:
        """The roles in which it draws them."""
        return {*(it.role for it in self.paths), *(it.role for it in self.marks)}

    @property
    def drawn(self) -> set[str]:
        """The readings that it draws."""
        spots = [spot for path in self.paths for spot in path.spots] + [
            it.spot for it in self.marks
        ]
        return {it for spot in spots for it in (spot.x, spot.y) if isinstance(it, str)}

    def columns(self, read: Read, inputs: Mapping[str, Any]) -> Any:
        """Return what is drawn at the given inputs: each line's and each mark's coordinates."""
        here = read(inputs)

        def place(spot: Spot) -> list[float]:
            return [float(here[it] if isinstance(it, str) else it) for it in (spot.x, spot.y)]

        return {
            "paths": [[place(spot) for spot in path.spots] for path in self.paths],
            "marks": [place(mark.spot) for mark in self.marks],
        }


@dataclass(frozen=True)
class Column:
    """A column of a table: how its readings begin, its heading, and its format or its words."""

    reading: str
    label: str
    format: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """The rows of a table that share a role.

    Their readings end in the `variant`, and `count` says how often each row is there. `names` are
    those of the rows, by the value of the table's input. `totals` has a reading for some columns,
    and `wait` is a time that belongs to no row.
    """

    variant: str
    label: str
    role: str
    count: str
    names: Mapping[str, tuple[str, ...]]
    totals: Mapping[str, str]
    wait: str


@dataclass(frozen=True)
class Code:
    """Steps as lines of code, between a head and a tail, and the code that makes them one."""

    head: str
    lines: tuple[str, ...]
    tail: str
    fused: str


@dataclass(frozen=True)
class Table:
    """Readings with an entry a step: as a table, as code, and as ways between `places`.

    What a step reads comes from the first place, or the second as far as it is `resident` there, to
    the third, and what it writes goes back.
    """

    id: str
    title: str
    text: str
    input: str
    columns_: tuple[Column, ...]
    parts: tuple[Part, ...]
    wait_label: str
    total_label: str
    code: Mapping[str, Code]
    places: tuple[str, str, str]
    kind: str = "table"

    @property
    def drawn(self) -> set[str]:
        """The readings that it draws."""
        return {
            reading
            for part in self.parts
            for reading in (
                part.count,
                part.wait,
                f"kernel_resident_{part.variant}",
                *part.totals.values(),
                *(f"{column.reading}_{part.variant}" for column in self.columns_),
            )
        }

    @property
    def roles(self) -> set[str]:
        """The roles in which it draws them."""
        return {it.role for it in self.parts}

    def columns(self, read: Read, inputs: Mapping[str, Any]) -> Any:
        """Return what is drawn at the given inputs: the rows of each part, and its totals."""
        here = read(inputs)
        chosen = inputs[self.input]
        return [
            {
                "names": list(part.names[chosen]),
                "count": np.ravel(here[part.count]).tolist(),
                "rows": [
                    np.ravel(here[f"{column.reading}_{part.variant}"]).tolist()
                    for column in self.columns_
                ],
                "totals": {name: float(here[it]) for name, it in part.totals.items()},
                "wait": float(here[part.wait]),
                "resident": np.ravel(here[f"kernel_resident_{part.variant}"]).tolist(),
            }
            for part in self.parts
        ]


@dataclass(frozen=True)
class Lane:
    """What runs in time: entries `count` times each, with idle time before each of them.

    The readings are idle, kernel_started and kernel_worked of the `variant`; `total` is the whole.
    """

    label: str
    role: str
    variant: str
    count: str
    total: str


@dataclass(frozen=True)
class Timeline:
    """Lanes to one scale; above the first, the launches that the host makes for it.

    `host` has three readings: how many launches, how long each is, and whether they run ahead of
    the lane or in its idle times. `keys` name launch, fixed, working and idle; the
    `note` is shown while the host is ahead.
    """

    id: str
    title: str
    text: str
    host_label: str
    host: tuple[str, str, str]
    lanes: tuple[Lane, ...]
    keys: tuple[str, str, str, str]
    note: str = ""
    kind: str = "timeline"

    @property
    def drawn(self) -> set[str]:
        """The readings that it draws."""
        parts = ("idle", "kernel_started", "kernel_worked")
        lanes = {f"{part}_{lane.variant}" for lane in self.lanes for part in parts}
        return lanes | {it for lane in self.lanes for it in (lane.count, lane.total)} | {*self.host}

    @property
    def roles(self) -> set[str]:
        """The roles in which it draws them."""
        return {it.role for it in self.lanes}

    def columns(self, read: Read, inputs: Mapping[str, Any]) -> Any:
        """Return what is drawn at the given inputs: the launches, and each lane's spans."""
        here = read(inputs)
        launches, each, ahead = (float(here[it]) for it in self.host)
        lanes = [
            spans(
                float(here[f"idle_{lane.variant}"]),
                np.ravel(here[lane.count]).tolist(),
                np.ravel(here[f"kernel_started_{lane.variant}"]).tolist(),
                np.ravel(here[f"kernel_worked_{lane.variant}"]).tolist(),
            )
            for lane in self.lanes
        ]
        # Ahead, the clock starts when the first kernel is launched, and the host goes on.
        starts = [n * each for n in range(round(launches) - 1)]
        host = [[start, each] for start in (starts if ahead else [it[0] for it in lanes[0]])]
        return {
            "end": max([span[3] for lane in lanes for span in lane] + [sum(it) for it in host]),
            "host": host,
            "lanes": lanes,
            "ahead": bool(ahead),
        }


def spans(
    idle: float, count: list[float], fixed: list[float], working: list[float]
) -> list[list[float]]:
    """Return, for each kernel in order, where idle time, fixed cost and work start, and the end.

    A last entry says which step it is.
    """
    found: list[list[float]] = []
    at = 0.0
    for step, times in enumerate(count):
        for _ in range(round(times)):
            begin, work = at + idle, at + idle + fixed[step]
            end = work + working[step]
            found.append([at, begin, work, end, step])
            at = end
    return found


def regimes_along(x: Any, shares: Any) -> list[list[float]]:
    """Return the regimes along x: which (by its place), from where and to where.

    A regime reaches as far as its share is the largest. Between two values of x a border lies where
    both shares, drawn straight over the logarithm of x, are equal.
    """
    if len(shares) == 0:
        return []
    most = np.argmax(shares, axis=0)
    found = [[int(most[0]), float(x[0]), float(x[-1])]]
    for n in np.flatnonzero(np.diff(most)):
        lead = shares[most[n], n : n + 2] - shares[most[n + 1], n : n + 2]
        border = float(x[n] * (x[n + 1] / x[n]) ** (lead[0] / (lead[0] - lead[1])))
        found[-1][2] = border
        found.append([int(most[n + 1]), border, float(x[-1])])
    return found


Figure = Curves | Bars | Timeline | Paths | Table
