"""Declared figures as Bokeh figures, to hover over, pan, zoom and save."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, log2, log10
from typing import Any

import numpy as np
from bokeh.models import (
    AllIndices,
    AllLabels,
    BoxZoomTool,
    ColumnDataSource,
    CustomJSHover,
    FactorRange,
    HoverTool,
    InlineStyleSheet,
    LogTicker,
    Range1d,
    Span,
    UnionRenderers,
)
from bokeh.plotting import figure as bokeh_figure

from app.drawing import tick
from app.page import style, texts_at
from plates.figure import Axis, Bars, Curves, Figure, Paths, Table
from plates.formats import FORMATS, formatted, scaled
from plates.plate import Found, Plate

TOOLS = "pan,wheel_zoom,box_zoom,reset,save"
DASHES = {"before": "solid", "after": "dashed", "other": "dotted", "ink": "solid"}
"""How a line of each role is dashed, so that its hue is not all that tells it apart."""

HEIGHT = 340
ROW = 22
"""Pixels: the height of a figure, and of a bar among many."""

HOVERED = 10_000
"""Points that say what they are under the pointer; of more, the texts would be the most of all."""


@cache
def palette() -> dict[str, tuple[str, str]]:
    """Return the page's colours by name, each on a light ground and on a dark one."""
    found = re.findall(
        r"--([a-z]+): var\(--light, (#\w{6})\) var\(--dark, (#\w{6})\)", style().text
    )
    return {name: (light, dark) for name, light, dark in found}


@cache
def hue(role: str) -> str:
    """Return the colour of a role on either ground: the mean of the two that the page has."""
    pair = palette()[role]
    parts = (sum(int(it[n : n + 2], 16) for it in pair) // 2 for n in (1, 3, 5))
    return "#" + "".join(f"{it:02x}" for it in parts)


@cache
def ground() -> str:
    """Return a style sheet: the frame of a Bokeh figure is light, or on a screen as the theme."""
    colours = palette()
    sheets = []
    for n, media in enumerate(("all", "screen and (prefers-color-scheme: dark)")):
        ink, quiet, rule = (colours[it][n] for it in ("ink", "quiet", "rule"))
        said = {
            **dict.fromkeys(("background-fill", "border-fill"), "transparent"),
            **dict.fromkeys(("axis-line", "major-tick-line", "minor-tick-line"), quiet),
            **dict.fromkeys(("outline-line", "grid-line"), rule),
            **dict.fromkeys(("text", "axis-label-text", "major-label-text", "label-text"), ink),
        }
        lines = " ".join(f"--bk-{name}-color: {colour};" for name, colour in said.items())
        sheets.append(f"@media {media} {{ :host {{ {lines} }} }}")
    return "\n".join(sheets)


@dataclass(frozen=True)
class Now:
    """The plate at a state: the inputs, what the readings get of them, and the readings."""

    plate: Plate
    state: Mapping[str, Any]
    given: Mapping[str, Any]
    readings: Mapping[str, Any]

    def text(self, reading: str) -> str:
        """Return a declared reading as text."""
        return formatted(float(self.readings[reading]), FORMATS[self.plate.outputs[reading].format])


def at(plate: Plate, state: Mapping[str, Any]) -> Now:
    """Return the plate at a state."""
    given = plate.given(state)
    return Now(plate, state, given, plate.readings(**given))


def _hovered(form: str) -> CustomJSHover:
    """Return what writes a number of many under the pointer; as text, each would be sent anew."""
    code = """
      const [name, scale] = units.find(([, it]) => value >= it) ?? units.at(-1) ?? ["", 1]
      return `${(value / scale).toPrecision(4)} ${name}`
    """
    return CustomJSHover(args={"units": [list(it) for it in FORMATS[form].units]}, code=code)


Draw = Callable[[Now], None]


def plotted(plate: Plate, figure: Figure) -> tuple[Any, Draw] | None:
    """Return the Bokeh figure of a declared one and what brings it to a state, if its kind has one.

    It is drawn for the first time when it is first brought to a state.
    """
    kind = KINDS.get(figure.kind)
    return kind(plate, figure) if kind else None


def share(plots: Sequence[Any]) -> None:
    """Let figures of one document share what is alike in them, since each model costs memory."""
    if not plots:
        return
    policy, labels, rows, sheets = UnionRenderers(), AllLabels(), AllIndices(), plots[0].stylesheets
    formatters: dict[type, Any] = {}
    handles = plots[0].select_one(BoxZoomTool).overlay.handles
    for plot in plots:
        views = {it.data_source: it.view for it in plot.renderers}
        for view in views.values():
            view.filter = rows
        for it in plot.renderers:
            # Nothing is selected or muted here.
            it.update(nonselection_glyph=None, muted_glyph=None, view=views[it.data_source])
            it.data_source.selection_policy = policy
        for axis in plot.axis:
            axis.major_label_policy = labels
            axis.formatter = formatters.setdefault(type(axis.formatter), axis.formatter)
        plot.stylesheets = sheets
        plot.select_one(BoxZoomTool).overlay.handles = handles


def _empty(title: str, **settings: Any) -> Any:
    plot = bokeh_figure(
        **{"height": HEIGHT, "sizing_mode": "stretch_width", "tools": TOOLS} | settings,
        active_scroll=None, stylesheets=[InlineStyleSheet(css=ground())],
        html_attributes={"role": "img", "aria-label": title}, title=title, min_border_right=24,
        styles={"flex": "1 1 26rem"},
    )  # fmt: skip
    plot.toolbar.logo = None
    return plot


def _on_log_axes(title: str, x: Axis, y: Axis) -> Any:
    plot = _empty(
        title, x_axis_type="log", y_axis_type="log", x_axis_label=x.label, y_axis_label=y.label,
        x_range=Range1d(x.low, x.high), y_range=Range1d(y.low, y.high),
    )  # fmt: skip
    for shown, axis in ((plot.xaxis, x), (plot.yaxis, y)):
        shown.ticker = LogTicker(base=2 if axis.format == "count" else 10)
        shown.major_label_overrides = _labels(axis)
    return plot


@cache
def _labels(axis: Axis) -> dict[float, str]:
    """Return the labels of all round numbers far beyond the axis, in its format."""
    form = FORMATS[axis.format]
    if axis.format == "count":
        return {2.0**n: formatted(2.0**n, form) for n in range(61)}
    decades = range(round(log10(axis.low)) - 3, round(log10(axis.high)) + 4)
    rounds = [float(f"{lead}e{n}") for n in decades for lead in range(1, 10)]
    return {it: tick(axis, it) for it in rounds}


def _curves(plate: Plate, figure: Curves) -> tuple[Any, Draw]:
    plot = _on_log_axes(figure.title, figure.x, figure.y)
    lines, marks, regimes, points = (ColumnDataSource() for _ in range(4))
    x = figure.stops["x"]
    texts = [formatted(float(it), FORMATS[figure.x.format]) for it in x]
    sets = plate.measured() if figure.measured else ()
    for it in figure.series:
        plot.line(
            "x", it.reading, source=lines, color=hue(it.role), line_width=2,
            line_dash=DASHES[it.role], legend_label=it.label,
        )  # fmt: skip
    tips = {it.label: f"@{{{it.reading}}}{{custom}}" for it in figure.series}
    forms = {it.reading: plate.outputs[it.reading].format for it in figure.series}
    hovered = {form: _hovered(form) for form in {*forms.values()}}
    shown = {f"@{{{name}}}": hovered[form] for name, form in forms.items()}
    plot.add_tools(
        HoverTool(
            renderers=plot.renderers[:1],
            tooltips=[(figure.x.label, "@text"), *tips.items()],
            formatters=shown,
            mode="vline",
        )
    )
    plot.scatter("x", "y", source=marks, size=11, color="hue")
    here = Span(dimension="height", line_color=hue("other"), line_dash="dotted")
    plot.add_layout(here)
    if figure.regime:
        plot.text(
            "x", figure.y.high, "text", source=regimes, text_color=hue("other"), x_offset=4,
            text_font_size="12px", text_baseline="top", y_offset="down",
        )  # fmt: skip
        plot.vspan("x", source=regimes, line_color=hue("other"), line_dash="dashed", line_alpha=0.5)
    if figure.measured:
        drawn = plot.scatter(
            "x", "y", source=points, size=7, marker="square", line_color="hue", fill_alpha=0
        )
        plot.add_tools(HoverTool(renderers=[drawn], tooltips=[("", "@text")]))
    plot.legend.location = "bottom_right"
    plot.legend.label_text_color = hue("other")
    plot.legend.background_fill_alpha = plot.legend.border_line_alpha = 0

    drawn_for: dict[str, Any] = {}

    def draw(now: Now) -> None:
        mark(now)
        others = {**now.state, figure.input: None}
        if others != drawn_for:
            drawn_for.update(others)
            follow(now)

    def mark(now: Now) -> None:
        stands = float(now.given[figure.input])
        here.location = stands
        of = [it for it in figure.series if it.reading in figure.marked]
        marks.data = {
            "x": [stands] * len(of),
            "y": [float(now.readings[it.reading]) for it in of],
            "hue": [hue(it.role) for it in of],
        }

    def follow(now: Now) -> None:
        along = plate.followed(figure, **{**now.given, figure.input: x})
        along = {name: np.broadcast_to(it, x.shape) for name, it in along.items()}
        lines.data = {
            "x": x,
            "text": texts,
            **{it.reading: along[it.reading] for it in figure.series},
        }
        if figure.regime:
            found = figure.curves(figure.stops | along)
            ends = [figure.x.low, *found["regime_to"].tolist()]
            names = [FORMATS[figure.regimes].words[int(it)] for it in found["regime"]]
            # Two narrow ones beside each other are named one below the other.
            down = [4 + 16 * (n % 3) for n in range(len(names))]
            regimes.data = {"x": ends[:-1], "text": names, "down": down}
        if figure.measured:
            of_set = next((it.points for it in sets if it.when.items() <= now.state.items()), ())
            points.data = {
                "x": [it.x for it in of_set],
                "y": [it.y for it in of_set],
                "hue": [hue(it.role) for it in of_set],
                "text": [it.text for it in of_set],
            }

    return plot, draw


def _bars(plate: Plate, figure: Bars) -> tuple[Any, Draw]:
    names = [it.label for it in figure.series]
    source = ColumnDataSource()
    plot = _empty(figure.title, y_range=FactorRange(factors=names[::-1]), x_range=Range1d(0, 1))
    _lay(plot, source, ["length"])

    def draw(now: Now) -> None:
        lengths = {"length": [float(now.readings[it.reading]) for it in figure.series]}
        texts = [now.text(it.reading) for it in figure.series]
        hues = [hue(it.role) for it in figure.series]
        end = float(now.readings[figure.end])
        _fill(plot, source, figure.axis_label, figure.format, end, names, lengths, texts, hues)

    return plot, draw


def _steps(plate: Plate, figure: Table) -> tuple[Any, Draw]:
    """Return a bar a kernel: its first column and others in that format, but totals, end to end."""
    form = figure.columns[0].format
    columns = [it for it in figure.columns if it.format == form and not it.total]
    source = ColumnDataSource()
    plot = _empty(figure.title, y_range=FactorRange(), x_range=Range1d(0, 1))
    _lay(plot, source, [it.reading for it in columns])

    def draw(now: Now) -> None:
        texts = texts_at(plate, figure, now.state)
        names: list[str] = []
        hues: list[str] = []
        lengths: dict[str, list[float]] = {it.reading: [] for it in columns}
        for variant in figure.variants:
            counts = np.atleast_1d(now.readings[f"kernel_count_{variant.name}"])
            called = texts[f"{variant.name}_names"]
            for n in np.flatnonzero(counts):
                times = f" × {counts[n]:g}" if counts[n] > 1 else ""
                names.append(f"{len(names) + 1}  {called[n]}{times}")
                hues.append(hue(variant.role))
                for name, some in lengths.items():
                    of = np.broadcast_to(now.readings[f"{name}_{variant.name}"], counts.shape)
                    some.append(float(of[n]))
        said = [
            "".join(
                f"{column.label} {formatted(it, FORMATS[form])}  "
                for column, it in zip(columns, row, strict=True)
            )
            for row in zip(*lengths.values(), strict=True)
        ]
        plot.y_range.factors = names[::-1]
        plot.height = 100 + ROW * len(names)
        label = ", ".join(it.label for it in columns)
        # In octaves, so that the axis holds still while a size is dragged.
        end = 2 ** ceil(log2(max(map(sum, zip(*lengths.values(), strict=True)))))
        _fill(plot, source, label, form, end, names, lengths, said, hues)

    return plot, draw


def _lay(plot: Any, source: ColumnDataSource, parts: Sequence[str]) -> None:
    """Lay a bar for each name, of the parts end to end, each paler than the one before.

    In the source, each part stands as where it ends.
    """
    drawn = [
        plot.hbar(
            y="name", left=left, right=right, height=0.6, color="hue", source=source,
            fill_alpha=1 / (n + 1),
        )
        for n, (left, right) in enumerate(pairwise([0, *parts]))
    ]  # fmt: skip
    plot.add_tools(HoverTool(tooltips=[("@name", "@text")], renderers=drawn))
    plot.center.remove(plot.ygrid[0])


def _fill(
    plot: Any, source: ColumnDataSource, label: str, form: str, end: float, names: Sequence[str],
    lengths: Mapping[str, Sequence[float]], texts: Sequence[str], hues: Sequence[str],
) -> None:  # fmt: skip
    """Draw bars on an axis that ends at `end`, in the unit in which that is shown."""
    unit, scale = scaled(end, FORMATS[form])
    plot.xaxis.axis_label = f"{label}, {unit}"
    plot.x_range.end = plot.x_range.reset_end = end / scale
    ends = np.cumsum(list(lengths.values()), axis=0) / scale
    source.data = {
        "name": names,
        "text": texts,
        "hue": hues,
        **dict(zip(lengths, ends, strict=True)),
    }


def _paths(plate: Plate, figure: Paths) -> tuple[Any, Draw]:
    plot = _on_log_axes(figure.title, figure.x, figure.y)
    lines, spots = ColumnDataSource(), ColumnDataSource()
    plot.multi_line("xs", "ys", source=lines, line_color="hue", line_dash="dash", line_width=1.5)
    plot.scatter("x", "y", source=spots, size=12, color="hue", marker="diamond")
    plot.text(
        "x", "y", "text", source=spots, text_color="hue", text_font_size="12px", y_offset=20,
        text_align="align",
    )  # fmt: skip
    tips = [("", "@text"), (figure.x.label, "@x{custom}"), (figure.y.label, "@y{custom}")]
    shown = {"@x": _hovered(figure.x.format), "@y": _hovered(figure.y.format)}
    plot.add_tools(HoverTool(tooltips=tips, formatters=shown, renderers=plot.renderers[1:2]))
    plot.add_tools(HoverTool(tooltips=[("", "@text")], renderers=plot.renderers[:1]))

    def draw(now: Now) -> None:
        def number(it: str | float) -> float:
            return float(now.readings[it]) if isinstance(it, str) else it

        at = [[tuple(map(number, spot)) for spot in it.spots] for it in figure.paths]
        both = list(zip(figure.paths, at, strict=True))
        for source, some in (
            (lines, [(it, ends) for it, ends in both if len(ends) > 1]),
            (spots, [(it, ends) for it, ends in both if len(ends) == 1]),
        ):
            of = [it for it, _ in some]
            source.data = {
                "xs": [[x for x, _ in ends] for _, ends in some],
                "ys": [[y for _, y in ends] for _, ends in some],
                "x": [ends[0][0] for _, ends in some],
                "y": [ends[0][1] for _, ends in some],
                "hue": [hue(it.role) for it in of],
                "dash": [DASHES[it.role] for it in of],
                "text": [it.label for it in of],
                "align": [
                    "right" if figure.x.percent(ends[0][0]) > 50 else "left" for _, ends in some
                ],
            }

    return plot, draw


def compared(found: Found, title: str, labels: tuple[str, str]) -> tuple[Any, ColumnDataSource]:
    """Return what was measured against what is predicted, and its source, a point for each row."""
    measured, predicted = (found.table[it].to_numpy() for it in found.compared or ())
    both = np.concatenate([measured, predicted])
    low, high = 10 ** np.floor(np.log10(both.min())), 10 ** np.ceil(np.log10(both.max()))
    axes = [Axis(it, "time", low, high, ()) for it in labels]
    plot = _on_log_axes(title, *axes)
    plot.add_tools("box_select", "tap")
    source = ColumnDataSource({"x": measured, "y": predicted})
    roles = np.array(found.roles or ["after"] * len(measured))
    hues = {role: hue(role) for role in np.unique(roles)}
    source.data["hue"] = [hues[it] for it in roles]
    points = plot.scatter(
        "x", "y", source=source, size=6, line_color="hue", fill_color="hue", fill_alpha=0.3,
        selection_fill_alpha=1, nonselection_line_alpha=0.4,
    )  # fmt: skip
    plot.line([low, high], [low, high], color=hue("other"), line_dash="dotted")
    if len(found.table) <= HOVERED:
        names = [it for it in found.table if it not in found.formats]
        for name in names:
            source.data[name] = found.table[name].astype(str).tolist()
        tips = [(name, f"@{{{name}}}") for name in names]
        plot.add_tools(HoverTool(renderers=[points], tooltips=tips))
    return plot, source


KINDS: Mapping[str, Callable[[Plate, Any], tuple[Any, Draw]]] = {
    "curves": _curves, "bars": _bars, "paths": _paths, "table": _steps,
}  # fmt: skip
"""How a figure of each kind is drawn; a timeline is not, since nothing in it is to be read off."""
