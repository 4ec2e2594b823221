"""A plate's page: one HTML text and a few files, the same served, exported and in one file."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from app.drawing import Drawing
from app.text import article, front_matter, pieces, sentence, slots, templates
from app.trace import record, rows, trace
from plates.figure import Curves, Figure
from plates.formats import FORMATS
from plates.inputs import FACTOR, PREFIXES, Choice, Flags, Quantity, Rows
from plates.plate import Measured, Plate, Point, inputs_of, values
from plates.words import entries, page_words

STATIC = Path(__file__).with_name("static")
PARTS = ("numbers", "state", "figures", "labels", "controls", "address", "article", "take", "start")
"""The page's scripts in an order in which each uses only those before it."""
SESSION = "{}/session"
"""Where a page asks how to join its Panel session, with {} for the plate's id."""


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    stem: str
    suffix: str
    text: str

    @property
    def name(self) -> str:
        """The file's name, with a hash of what is in it."""
        return f"{self.stem}.{hashlib.sha256(self.text.encode()).hexdigest()[:10]}{self.suffix}"


@cache
def _static(*names: str) -> str:
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


def _bare(script: str) -> str:
    """Return a script without its comments and indentation, which are a sixth of its weight."""
    return re.sub(r"(?m)^\s+", "", re.sub(r"(?m)^\s*//.*$", "", script))


@cache
def style() -> Asset:
    """Return the style sheet."""
    return Asset("page", ".css", re.sub(r"(?s)/\*.*?\*/|\n\s*", " ", _static("page.css")))


def scripts(plate: Plate) -> list[Asset]:
    """Return the scripts of a plate's page, in the order in which they run."""
    page = _bare(_static(*(f"{part}.js" for part in PARTS)))
    return [Asset(plate.id, ".js", plate_script(plate)), Asset("page", ".js", page)]


def session_script() -> Asset:
    """Return the script by which a served page joins its Panel session."""
    return Asset("session", ".js", _static("session.js"))


def embed_script() -> str:
    """Return the script for a page that shows plates in frames."""
    return _static("embed.js")


def plate_script(plate: Plate) -> str:
    """Return the plate as JavaScript: its inputs, formats and figures, and its traced readings."""
    spec = {
        "id": plate.id,
        "inputs": {
            name: {part: it for part, it in told.items() if part not in WRITTEN}
            for name, told in inputs_spec(plate).items()
        },
        "outputs": {name: asdict(reading) for name, reading in plate.outputs.items()},
        "formats": {name: asdict(form) for name, form in FORMATS.items()},
        "states": {name: dict(state.inputs) for name, state in plate.states.items()},
        "readout": plate.readout,
        "factor": FACTOR,
        "prefixes": PREFIXES,
        "figures": [_figure(it, plate.measured()) for it in plate.figures],
        "measured": [
            {"when": it.when, "seen_at": it.seen_at, "note": f"{it.title}. {it.note}"}
            for it in plate.measured()
        ],
        "followed": {},
        "curves": {},
        "words": page_words(plate.words),
        "guesses": [asdict(it) for it in entries(plate.words, "guess")],
        "tour": [asdict(it) for it in entries(plate.words, "tour")],
    }
    samples = plate.given({})
    along = {
        it.id: (
            trace(partial(plate.followed, it), samples),
            trace(it.named_curves, {"stops": it.stops | dict.fromkeys(it.shows, it.stops["x"])}),
        )
        for it in plate.figures
        if isinstance(it, Curves)
    }
    template = templates().get_template("plate.js")
    return _bare(template.render(spec=spec, drawn=trace(plate.drawn, samples), along=along))


def _figure(figure: Figure, measured: Sequence[Measured]) -> dict[str, Any]:
    """Return what the page knows of a figure: what is declared, its stops, and points by set."""
    if not isinstance(figure, Curves):
        return asdict(figure)
    sets = [it.points for it in measured] if figure.measured else []
    points = [_points(figure, it) for it in [*sets, ()]]
    return asdict(figure) | {"stops": rows(figure.stops), "points": points}


def _points(figure: Curves, points: Sequence[Point]) -> dict[str, list[Any]]:
    """Return what was measured as columns: what it is, and where and how it is drawn."""
    return {
        "point_text": [it.text for it in points],
        "point_role": [it.role for it in points],
        "point_x": [it.x for it in points],
        "point_y": [it.y for it in points],
        "point_left": [float(figure.x.percent(it.x)) for it in points],
        "point_top": [100 - float(figure.y.percent(it.y)) for it in points],
        "point_inside": [figure.x.low <= it.x <= figure.x.high for it in points],
    }


WRITTEN = ("doc", "off", "position", "text", "typed")
"""What of an input stands in the page alone, which its script leaves as it is."""


def inputs_spec(plate: Plate) -> dict[str, dict[str, Any]]:
    """Return what the page knows of each input, by name."""
    known = inputs_of(plate.inputs)
    return {
        name: {
            "kind": it.kind,
            "label": it.label,
            "doc": it.doc,
            "default": it.default,
            "text": it.text(it.default),
            "range": it.range_text,
            "when": it.when,
            "off": any(known[other].default != value for other, value in it.when.items()),
            "more": it.more,
            **SPECIFIC[it.kind](it),
        }
        for name, it in known.items()
    }


def _quantity(it: Quantity) -> dict[str, Any]:
    return {
        "unit": it.unit,
        "format": it.format,
        "prefix": it.prefix,
        "typed": it.box_text(it.default),
        "min": it.bounds[0],
        "max": it.bounds[1],
        "whole": it.whole,
        "slider": it.slider,
        "position": it.position(it.default),
        "stops": it.stops,
        "page": it.page_stops,
    }


def _options(it: Choice | Flags) -> dict[str, Any]:
    return {
        "options": {
            name: {
                "label": option.label,
                "group": option.group,
                "doc": option.doc,
                "record": None if option.record is None else record(option.record),
                "given_by": option.given_by,
            }
            for name, option in it.options.items()
        }
    }


def _rows(it: Rows) -> dict[str, Any]:
    return {
        "typed": it.default,
        "unit": None,
        "slider": None,
        "whole": it.whole,
        # A group is named otherwise in JavaScript.
        "entry": it.entry.replace("(?P<", "(?<"),
        "empty": it.empty,
        "first": it.first,
        "rest": it.rest,
        "record": record(it.record(it.default)),
    }


SPECIFIC: dict[str, Callable[[Any], dict[str, Any]]] = {
    "quantity": _quantity, "choice": _options, "flags": _options, "rows": _rows,
}  # fmt: skip
"""What the page knows of an input of each kind alone."""


def page(
    plate: Plate,
    link: Mapping[str, str] | None,
    *,
    view: str = "full",
    embed: str = "embed.js",
    session: str = "",
    engine: str = "browser",
    more: Sequence[Asset] = (),
    lab: str = "",
    measure: str = "",
) -> str:
    """Return the page's HTML at the plate's defaults.

    `link` maps an asset's name to its address; without it the assets are put into the page.
    `embed` is the address of the script for embedding pages, and `session` where a served page asks
    for its Panel session. `lab` is the address of the lab and `measure` that of the folder with the
    scripts that measure, if there are any.
    """
    state = values(plate.inputs())
    template = templates().get_template("page.html")
    return template.render(
        **article(plate, state),
        inputs=inputs_spec(plate),
        presets={name: it for name, it in plate.states.items() if it.label},
        sentence=sentence,
        pieces=pieces,
        live=slots(plate, state, live=True),
        drawings={it.id: Drawing(it, shown_by(plate, it, state)) for it in plate.figures},
        plate=plate,
        words=page_words(plate.words),
        guesses=entries(plate.words, "guess"),
        tour=entries(plate.words, "tour"),
        snippet=plate.snippet.read_text(encoding="utf-8") if plate.snippet.exists() else "",
        state=state,
        slots_at=lambda name: slots(plate, plate.at(name)),
        style=_placed(style(), link),
        scripts=[_placed(asset, link) for asset in (*scripts(plate), *more)],
        view=view,
        embed=embed,
        session=session,
        engine=engine,
        lab=lab,
        measure=measure,
    )


def shown_by(plate: Plate, figure: Figure, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the figure shows at a state, by name."""
    own = texts_at(plate, figure, state) if figure.texts else {}
    if isinstance(figure, Curves):
        here = (it for it in plate.measured() if it.when.items() <= state.items())
        own |= _points(figure, next((it.points for it in here), ()))
    return plate.shown(state) | {f"{figure.id}.{name}": it for name, it in own.items()}


def texts_at(plate: Plate, figure: Figure, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts that the figure shows at a state."""
    known, value = inputs_of(plate.inputs), state[figure.input]
    by = known[figure.input].options[value].given_by
    return {
        name: known[by].names(state[by]) if it is None else it
        for name, it in figure.texts[value].items()
    }


def index(plates: Mapping[str, Plate], href: str, link: Mapping[str, str]) -> str:
    """Return the list of plates as HTML; `href` is a plate's address, with {} for its id."""
    entries = [
        {
            "href": href.format(plate.id),
            "front": front_matter(plate)[0],
            "lead": article(plate, values(plate.inputs()))["lead"],
        }
        for plate in plates.values()
    ]
    template = templates().get_template("index.html")
    return template.render(plates=entries, style=link[style().name])


def _placed(asset: Asset, link: Mapping[str, str] | None) -> dict[str, Any]:
    if link is not None:
        return {"inline": False, "href": link[asset.name]}
    return {"inline": True, "text": asset.text.replace("</script", r"<\/script")}
