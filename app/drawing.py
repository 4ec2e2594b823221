"""The declared figures, drawn twice from the same tables: as Bokeh models and as SVG positions."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bokeh.embed import json_item
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure as bokeh_figure

from plates.figure import Axis, Bars, Curves, Figure, Paths, Table, Timeline
from plates.formats import FORMATS, formatted
from plates.plate import Plate

MARGIN = 8
"""Pixels of canvas round the plot, so that a mark at its edge is drawn whole."""

LINES: dict[str, dict[str, Any]] = {
    "before": {"line_width": 2.5, "line_dash": []},
    "after": {"line_width": 2.5, "line_dash": [8, 4]},
    "other": {"line_width": 1.5, "line_dash": [2, 3]},
    "ink": {"line_width": 1.5, "line_dash": []},
}
"""Width and dash of a curve by its role; the hue is the page's, by theme."""

MARK_SIZE = 10
BAR_HEIGHT = 0.42
BAR_MIDDLE = 0.66
"""A bar's height and where its middle lies, in rows from the top: its label stands above it."""


def tables(plate: Plate, inputs: Mapping[str, float]) -> dict[str, Any]:
    """Return the tables of every figure, by its id, at the given inputs."""
    return {figure.id: figure.columns(plate.read, inputs) for figure in plate.figures}


def bokeh_item(figure: Figure) -> Any:
    """Return the figure as Bokeh's JSON: empty, to be filled and laid over the page's own axes.

    What is drawn as SVG or as a table has none.
    """
    if isinstance(figure, Paths | Table | Timeline):
        return None
    plot = _bokeh_curves(figure) if isinstance(figure, Curves) else _bokeh_bars(figure)
    text = json.dumps(json_item(plot))
    # Bokeh counts its models through the life of the process; here they count from one again, so
    # that the same figure is always the same text.
    ids = dict.fromkeys(re.findall(r'"p\d+"', text))
    numbered = {old: f'"{figure.id}-{n}"' for n, old in enumerate(ids, start=1)}
    return json.loads(re.sub(r'"p\d+"', lambda found: numbered[found[0]], text))


def _bokeh_curves(figure: Curves) -> Any:
    ends = {"x_range": (figure.x.low, figure.x.high), "y_range": (figure.y.low, figure.y.high)}
    plot = _bare(x_axis_type="log", y_axis_type="log", **ends)
    curves = _source("curves", "x", *(one.reading for one in figure.series))
    for one in figure.series:
        plot.line("x", one.reading, source=curves, **LINES[one.role]).glyph.name = one.reading
    marks = _source("marks", "x", "drawn", "colour")
    # Annotations, unlike glyphs, are not cut off at the edge of the plot.
    plot.scatter("x", "drawn", size=MARK_SIZE, color="colour", source=marks, level="annotation")
    return plot


def _bokeh_bars(figure: Bars) -> Any:
    n = len(figure.series)
    plot = _bare(x_range=(0, 1), y_range=(n - BAR_MIDDLE, -BAR_MIDDLE))
    bars = _source("bars", "row", "drawn", "colour")
    plot.hbar(y="row", right="drawn", height=BAR_HEIGHT, color="colour", source=bars)
    return plot


def _bare(**settings: Any) -> Any:
    plot = bokeh_figure(
        tools="",
        toolbar_location=None,
        sizing_mode="stretch_both",
        min_border=MARGIN,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        **settings,
    )
    plot.axis.visible = plot.grid.visible = False
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def along(axis: Axis, value: float) -> float:
    """Return where on a log axis the value stands, from 0 at its low end to 1 at its high end."""
    return math.log(value / axis.low) / math.log(axis.high / axis.low)


def clamped(share: float) -> float:
    """Return the share, held to 0 to 1."""
    return min(max(share, 0), 1)


def percent(share: float) -> str:
    """Return the share as a length in SVG."""
    return f"{100 * share:.4g}%"


def points(figure: Curves | Paths, spots: Iterable[tuple[float, float]]) -> str:
    """Return a line as the points of an SVG polyline in a box of 1000 by 1000."""
    return " ".join(
        f"{1000 * along(figure.x, x):.2f},{1000 * (1 - along(figure.y, y)):.2f}" for x, y in spots
    )


def between(spans: Iterable[list[float]], part: int) -> list[tuple[float, float]]:
    """Return where one part of each kernel's time begins and ends: idle, fixed or working."""
    return [(span[part], span[part + 1]) for span in spans]


def until(launches: Iterable[list[float]]) -> list[tuple[float, float]]:
    """Return where each launch begins and ends."""
    return [(start, start + each) for start, each in launches]


def most(table: Any) -> float:
    """Return the most that any step reads or writes."""
    return max(value for part in table for row in part["rows"][:2] for value in row)


def blocks(spans: Iterable[tuple[float, float]], end: float) -> str:
    """Return spans of time as one SVG path in a box of 1000 by 10, which ends at `end`."""
    return "".join(
        f"M{1000 * start / end:.2f},0V10H{1000 * stop / end:.2f}V0Z"
        for start, stop in spans
        if stop > start
    )


def ways(read: float, written: float, resident: float, most: float) -> dict[str, str]:
    """Return a step's two arrows as SVG paths in a box of 100 by 100: in, downward, and back.

    They are as wide as what they carry, of `most`, and begin at the second place where most of it
    is `resident` there.
    """
    top = 42 if resident > 0.5 else 12
    wide_in, wide_out = 40 * read / most, 40 * written / most
    return {
        "in": f"M{27 - wide_in / 2:.2f},{top}h{wide_in:.2f}V76l{-wide_in / 2:.2f},10"
        f"l{-wide_in / 2:.2f},-10Z"
        if read
        else "",
        "out": f"M{73 - wide_out / 2:.2f},86h{wide_out:.2f}V{top + 10}l{-wide_out / 2:.2f},-10"
        f"l{-wide_out / 2:.2f},10Z"
        if written
        else "",
    }


def regime_sentence(figure: Curves, regimes: list[list[float]]) -> str:
    """Return in words which regime reaches how far."""
    before, until, then = figure.regime_words
    labels = [figure.regimes[int(place)].label for place, _, _ in regimes]
    ends = [formatted(end, FORMATS["size"]) for _, _, end in regimes]
    reach = [until.format(label=it, to=to) for it, to in zip(labels, ends, strict=True)]
    return before + then.join([*reach[:-1], labels[-1]])


def tick(format_name: str, value: float, end: float | None = None) -> str:
    """Return a tick's label: round as it is, or, on an axis with that end, in the end's unit."""
    form = FORMATS[format_name]
    if form.digits is None:
        return formatted(value, form)
    if end is None:
        return formatted(value, replace(form, digits=1))
    unit = next(name for name, scale in form.units if end >= scale)
    return formatted(value, replace(form, digits=3), unit)
