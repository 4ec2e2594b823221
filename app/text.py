"""A plate's Markdown as HTML, each number in it a slot filled from the model."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.drawing import percent, tick
from plates.formats import FORMATS, formatted
from plates.plate import Plate, inputs_of

TEMPLATES = Path(__file__).with_name("templates")
WORKSHOP = "<!-- workshop -->"
RIGHT_TO_LEFT = re.compile(
    r"(ar|arc|ckb|dv|fa|he|ps|sd|syr|ug|ur|yi)\b(?!-latn)|\w+-(arab|hebr)\b", re.IGNORECASE
)
"""The languages (BCP 47) that are written from right to left, or in a script that is."""


@dataclass(frozen=True)
class Slot:
    """A number as the page shows it. `output` or `echo` name the reading or input it follows."""

    value: float
    format: str = "plain"
    output: str = ""
    echo: str = ""
    digits: int | None = None
    words: str = ""
    unit: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        """The number in its format."""
        if self.words:
            return self.words
        form = FORMATS[self.format]
        text = formatted(self.value, replace(form, digits=self.digits) if self.digits else form)
        return f"{text} {self.unit[0 if self.value == 1 else 1]}" if self.unit else text


@cache
def templates() -> Environment:
    """Return the environment of the page's templates."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": "{:.15g}".format, "percent": percent, "zip": zip}
    environment.globals |= {"tick": tick}
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return environment


def slots(
    plate: Plate,
    inputs: Mapping[str, float],
    live: bool = False,
    readings: Mapping[str, Any] | None = None,
) -> dict[str, Slot]:
    """Return a slot for each reading and each input at a state; `live` ones follow the page.

    The `readings` are those at the state, if they are known.
    """
    readings = readings or plate.outcome(inputs)
    outputs = {
        name: Slot(
            float(readings[name]), reading.format, output=name if live else "", unit=reading.unit
        )
        for name, reading in plate.outputs.items()
    }
    echoes = {
        name: Slot(inputs[name], echo=name if live else "", words=quantity.text(inputs[name]))
        for name, quantity in inputs_of(plate.inputs).items()
    }
    return outputs | echoes


def front_matter(plate: Plate) -> tuple[dict[str, Any], str]:
    """Return the head of the plate's text, written between its +++ lines, and the body.

    The head has a `language`, English where none is written, and the `direction` of its script.
    """
    _, head, body = plate.text.read_text(encoding="utf-8").split("+++\n", 2)
    front = {"language": "en"} | tomllib.loads(head)
    front["direction"] = "rtl" if RIGHT_TO_LEFT.match(front["language"]) else "ltr"
    # The body keeps its place in the file, so that a fault is reported at the file's own line.
    return front, "\n" * (head.count("\n") + 2) + body


def article(plate: Plate, inputs: Mapping[str, float]) -> dict[str, Any]:
    """Return the parts of the plate's text as HTML: its head, and what stands round the workshop.

    Raises
    ------
    jinja2.TemplateError
        If a slot of the text names nothing, or has a format that there is not.
    """
    front, body = front_matter(plate)
    slot = templates().get_template("slots.html").module.slot  # type: ignore[attr-defined]
    environment = Environment(
        undefined=StrictUndefined,
        finalize=lambda value: slot(value) if isinstance(value, Slot) else value,
    )
    environment.filters["digits"] = lambda it, digits: replace(it, digits=digits)
    context = {
        "page": slots(plate, inputs, live=True),
        **{name: slots(plate, plate.at(name)) for name in plate.states},
        "fact": {name: Slot(fact.value, fact.format) for name, fact in plate.facts().items()},
    }
    markdown = MarkdownIt("commonmark", {"typographer": True}).enable(["table", "smartquotes"])

    def html(text: str) -> Markup:
        return Markup(markdown.render(environment.from_string(text).render(context)))

    before, _, after = _linked(html(body)).partition(WORKSHOP)
    return {
        "front": front,
        "lead": Markup(re.sub("</?p>", "", html(front["lead"])).strip()),
        "caption": html(front["caption"]),
        "before": before,
        "after": after,
    }


def _linked(html: str) -> Markup:
    """Return the text with an id for each term, and its links to figures naming the part.

    A link to a figure has the part as its title: [fused](#bytes-moved "bytes_fused").
    """
    terms = re.sub(r"<dt>(.+?)</dt>", lambda it: f'<dt id="{_slug(it[1])}">{it[1]}</dt>', html)
    return Markup(re.sub(r'(<a href="#[\w-]+") title=', r"\1 data-part=", terms))


def _slug(text: str) -> str:
    return "term-" + re.sub(r"\W+", "-", text.lower()).strip("-")


def pieces(text: str, slots: Mapping[str, Slot]) -> list[str | Slot]:
    """Return a sentence with {names} in it as its words and slots, in order."""
    parts = re.split(r"{(\w+)}", text)
    return [slots[part] if i % 2 else part for i, part in enumerate(parts)]


def sentence(text: str, slots: Mapping[str, Slot]) -> str:
    """Return a sentence with its {names} filled."""
    return "".join(it if isinstance(it, str) else it.text for it in pieces(text, slots))
