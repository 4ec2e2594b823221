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
class Curves:
    """Readings against one input, log-log, with the present value of that input marked.

    The curves are computed at the values `along`. The `marked` readings carry their value as text,
    on the side where there is room: the first and last share `flip` of the axis have only one.
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
    flip: float = 0.15
    kind: str = "curves"

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


Figure = Curves | Bars
