"""The lab of a plate: what it declares as inputs and figures, as controls and in Bokeh."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import StringIO
from sys import intern
from typing import Any, ClassVar
from urllib.parse import urlencode

import panel as pn
import param
from bokeh.io import curdoc
from bokeh.models import Row

from app import plots
from app.page import STATIC, inputs_spec, style
from app.text import sentence, slots, templates
from plates.formats import FORMATS, scaled
from plates.plate import Brought, Found, Plate, inputs_of, plate_of, update, values
from plates.words import page_words

LARGEST_BYTES = 32 * 2**20
"""How large a file may be: some 250,000 timings."""

ROWS = 12
"""Rows of a table on show at once."""


SHEETS = [
    re.sub(r":root(\[.+?\])", r":host(\1)", style().text).replace(":root", ":host"),
    (STATIC / "lab.css").read_text(encoding="utf-8"),
]
"""The page's style and the lab's own, for what is in the shadow of a component."""


class Controls(pn.custom.JSComponent):
    """The inputs as native controls, and the sentence that says what they come to."""

    html = param.String(doc="The controls, at the defaults.")
    asked = param.Dict({}, doc="From the reader: what was set of which input, and a number.")
    told = param.Dict({}, doc="How each input stands, and the number of what was last heard.")

    _esm = STATIC / "lab.mjs"
    _stylesheets: ClassVar[list[str]] = SHEETS
    # Heard at once: one request is under way at a time, so none need be gathered.
    _priority_changes: ClassVar[list[str]] = ["asked"]


class Taken(pn.custom.JSComponent):
    """A file that the reader picks, or a text that is typed. What was given is not kept."""

    html = param.String(doc="The field, with its label.")
    given = param.Dict({}, doc="From the reader: the content, and its name.")
    problem = param.String(doc="What is wrong with it.")
    largest = param.Integer(LARGEST_BYTES, doc="How many bytes it may have.")
    too_large = param.String(doc="What is said of more.")

    _esm = STATIC / "taken.mjs"
    _stylesheets: ClassVar[list[str]] = SHEETS


def lab(
    inputs: param.Parameterized, href: str = "", asked: Mapping[str, str] | None = None
) -> pn.Column:
    """Return the lab of the plate that the inputs belong to: a part of a page, or a cell's value.

    Setting an input moves it, and its controls set the inputs. `href` is where the plate's page is,
    for a link to it. Inputs may be `asked` for as in the page's address; of one that cannot be, its
    control says so.

    Raises
    ------
    LookupError
        If no plate has inputs of that class.
    """
    pn.extension("tabulator", inline=True)
    plate = plate_of(inputs)
    drawn = [(it, *made) for it in plate.figures if (made := plots.plotted(plate, it))]
    controls = Controls(html=_html(plate, href), sizing_mode="stretch_width")
    problems: dict[str, str] = {}
    texts = {name: {"text": it} for name, it in (asked or {}).items()}
    update(inputs, _meant(plate, values(inputs), texts, problems))
    heard, hearing = 0, False

    def tell(*_: Any, complete: bool = True) -> None:
        if hearing:
            return
        state = values(inputs)
        now = plots.at(plate, state)
        with pn.io.hold():
            for it, _, draw in drawn:
                if complete or it.place != "fold":
                    draw(now)
            controls.told = {
                "heard": heard,
                "complete": complete,
                "inputs": _stands(plate, state, problems),
                "readout": sentence(plate.readout, slots(plate, state, readings=now.readings)),
                "address": _address(plate, state),
            }

    def hear(event: Any) -> None:
        nonlocal heard, hearing
        asked, hearing = event.new, True
        heard = asked["number"]
        try:
            if "state" in asked:
                problems.clear()
                state = plate.states[asked["state"]].inputs if asked["state"] else {}
                update(inputs, state or values(plate.inputs))
            update(inputs, _meant(plate, values(inputs), asked["inputs"], problems))
        except (AttributeError, LookupError, TypeError, ValueError):
            # What no control asks for changes nothing.
            pass
        finally:
            hearing = False
            tell(complete=bool(asked.get("rest")))

    controls.param.watch(hear, "asked")
    watcher = inputs.param.watch(tell, list(values(inputs)))
    if (document := curdoc()).session_context:
        document.on_session_destroyed(lambda _: inputs.param.unwatch(watcher))
    tell()
    plots.share([plot for _, plot, _ in drawn])
    # One layout of Bokeh's own: a pane for each figure would be half as many objects again.
    figures = pn.pane.Bokeh(
        Row(
            children=[plot for _, plot, _ in drawn],
            styles={"flex-wrap": "wrap"},
            sizing_mode="stretch_width",
        ),
        sizing_mode="stretch_width",
    )
    whole = pn.Column(controls, figures, sizing_mode="stretch_width")
    for it in plate.brought:
        whole.append(_brought(plate, it, inputs, whole))
    return whole


def _brought(plate: Plate, it: Brought, inputs: param.Parameterized, whole: pn.Column) -> Taken:
    """Return where something is brought; what is made of it goes below that in the whole."""
    words = page_words(plate.words)
    html = intern(templates().get_template("taken.html").render(it=it, words=words))
    taken = Taken(html=html, too_large=words["lab_too_large"], sizing_mode="stretch_width")
    shown: list[Any] = []

    async def read(event: Any) -> None:
        if not event.new:
            return
        given, taken.given, taken.problem = event.new, {}, ""
        try:
            found = await asyncio.to_thread(
                it.read, given["content"], given["name"], values(inputs)
            )
            update(inputs, found.inputs)
        except ValueError as fault:
            taken.problem = str(fault)
            return
        there, shown[:] = [of for of in whole if of not in shown], _shown(found, it, words)
        below = there.index(taken) + 1
        whole[:] = [*there[:below], *shown, *there[below:]]

    taken.param.watch(read, "given")
    return taken


def _shown(found: Found, brought: Brought, words: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what was found: sentences, then as points and as a table that select each other."""
    said = templates().get_template("told.html").render(told=found.told, label=brought.label)
    yield pn.pane.HTML(said, stylesheets=SHEETS, sizing_mode="stretch_width", margin=(5, 0))
    yield from (_download(name, partial(StringIO, it)) for name, it in found.files.items())
    if found.table is None:
        return
    rows = _in_units(found)
    table = pn.widgets.Tabulator(
        rows, widths=_widths(rows), disabled=True, show_index=False, pagination="remote",
        page_size=ROWS, sizing_mode="stretch_width", theme="fast", stylesheets=SHEETS,
        margin=(5, 0),
    )  # fmt: skip
    if found.compared:
        plot, source = plots.compared(found, brought.label, tuple(words["lab_compared"]))
        table.selectable = True
        table.param.watch(lambda moved: source.selected.update(indices=moved.new), "selection")
        source.selected.on_change("indices", lambda _, __, rows: table.param.update(selection=rows))
        yield plot
    yield table
    yield _download(
        f"{brought.id}.csv",
        lambda: StringIO(found.table.to_csv(index=False)),
        label=words["lab_download"],
    )


def _download(name: str, made: Callable[[], StringIO], **said: Any) -> pn.widgets.FileDownload:
    return pn.widgets.FileDownload(
        callback=made, filename=name, stylesheets=SHEETS, margin=(5, 0), **said
    )


def _in_units(found: Found) -> Any:
    """Return the table with its numbers in one unit a column, which its heading names."""
    table, names = found.table.copy(), {}
    for name, form in found.formats.items():
        unit, scale = scaled(float(table[name].median()), FORMATS[form])
        table[name] = (table[name] / scale).map("{:.4g}".format).astype(float)
        names[name] = f"{name.removesuffix('_s')}, {unit}" if unit else name
    return table.rename(columns=names)


def _widths(table: Any) -> dict[str, int]:
    """Return the width of each column in pixels: room for its heading and its longest text.

    By itself the table makes room only for what is on the page that it shows first.
    """
    widths = {}
    for name in table:
        text = "{:,}".format if table[name].dtype.kind in "if" else str
        longest = max(map(len, map(text, table[name].unique())), default=0)
        widths[name] = 8 * max(len(name) + 3, longest) + 16
    return widths


def _html(plate: Plate, href: str) -> str:
    """Return the controls, in one text for all visitors."""
    html = (
        templates()
        .get_template("lab.html")
        .render(
            plate=plate,
            inputs=inputs_spec(plate),
            presets={name: it for name, it in plate.states.items() if it.label},
            words=page_words(plate.words),
            href=href,
        )
    )
    return intern(html)


def _address(plate: Plate, state: Mapping[str, Any]) -> str:
    """Return the state as the query of the page's address."""
    defaults = values(plate.inputs)
    return urlencode({name: it for name, it in state.items() if it != defaults[name]}, safe=",")


def _stands(
    plate: Plate, state: Mapping[str, Any], problems: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return how each input stands: what its control is to show."""
    found: dict[str, dict[str, Any]] = {}
    for name, it in inputs_of(plate.inputs).items():
        value = state[name]
        off = any(state[other] != said for other, said in it.when.items())
        found[name] = {
            "value": value,
            "text": it.text(value),
            "off": off,
            "hidden": off and it.more and it.kind in ("quantity", "rows"),
            "problem": problems.get(name, ""),
        }
        if it.kind == "quantity":
            found[name]["position"] = it.position(value)
        if it.kind in ("quantity", "rows"):
            found[name]["typed"] = it.box_text(value)
        if it.kind == "choice":
            found[name]["about"] = it.options[value].doc
            found[name]["given"] = bool(it.options[value].given_by)
    return found


def _meant(
    plate: Plate, state: Mapping[str, Any], asked: Mapping[str, Any], problems: dict[str, str]
) -> dict[str, Any]:
    """Return the inputs that were asked for; what is none is added to the problems, in words."""
    known = inputs_of(plate.inputs)
    found: dict[str, Any] = {}
    for name, said in asked.items():
        it = known[name]
        problems.pop(name, None)
        try:
            found[name] = (
                it.stop(said["position"]) if "position" in said else it.parse(said["text"])
            )
        except ValueError:
            shown = it.box_text(state[name]) if it.kind == "quantity" else state[name]
            problems[name] = page_words(plate.words)["wrong"].format(
                name=name, text=said["text"], range=it.range_text, value=shown
            )
    return found
