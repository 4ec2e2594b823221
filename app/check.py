"""Faults of a plate that its author should hear of before a reader does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError

from app.drawing import LINES
from app.page import page
from app.text import WORKSHOP
from app.trace import trace
from plates.figure import Curves, Paths
from plates.formats import FORMATS
from plates.plate import Plate, inputs_of, values
from plates.words import COMMON, page_words, words


def faults(plate: Plate) -> Iterator[str]:
    """Yield one line for each fault of the plate."""
    inputs = inputs_of(plate.inputs)
    if not re.fullmatch("[a-z0-9-]+", plate.id):
        yield f"{plate.id!r} is no address: use small letters, digits and hyphens"
    for name, it in inputs.items():
        wanted = {"label": it.label}
        if it.kind == "quantity":
            wanted |= {"unit": it.unit and it.unit[1], "bounds": it.bounds}
        else:
            wanted |= {"options": it.options}
        for other, value in it.when.items():
            if other not in inputs or value not in inputs[other].options:
                yield f"{plate.id}: input {name} waits for {other} = {value}, which cannot be"
        for what, given in {**wanted, "doc": it.doc}.items():
            if not given:
                yield f"{plate.id}: input {name} has no {what}"
    try:
        trace(plate.readings, plate.samples())
        computed = plate.read(values(plate.inputs()))
    except Exception as fault:
        # All else is made of the readings.
        yield f"{plate.id}: readings: {fault}"
        return
    yield from _faults_of_readings(plate, computed)
    yield from _faults_of_figures(plate, computed)
    for name, fact in plate.facts().items():
        if not fact.source:
            yield f"{plate.id}: fact {name} has no source"
    for name in plate.states:
        try:
            plate.inputs(**plate.at(name))
        except (TypeError, ValueError) as fault:
            yield f"{plate.id}: state {name}: {fault}"
    yield from _faults_of_words(plate)
    if plate.text.read_text(encoding="utf-8").count(WORKSHOP) != 1:
        yield f"{plate.text}: not one line {WORKSHOP}, where the workshop goes"
    try:
        yield from _faults_of_links(plate, page(plate, None))
    except TemplateSyntaxError as fault:
        yield f"{plate.text}:{fault.lineno}: {fault.message}"
    except TemplateError as fault:
        yield f"{plate.text}: {fault.message}"
    except Exception as fault:
        yield f"{plate.id}: its page cannot be made: {type(fault).__name__}: {fault}"


def _faults_of_readings(plate: Plate, computed: Mapping[str, Any]) -> Iterator[str]:
    drawn = {it for figure in plate.figures for it in figure.drawn}
    for name in plate.outputs.keys() - computed.keys():
        yield f"{plate.id}: reading {name} is declared and not computed"
    for name in computed.keys() - plate.outputs.keys() - drawn:
        yield f"{plate.id}: reading {name} is computed, and neither declared nor drawn"
    for name, reading in plate.outputs.items():
        if not name.isidentifier():
            yield f"{plate.id}: reading {name!r} is not a plain name"
        if reading.format not in FORMATS:
            yield f"{plate.id}: reading {name} has the unknown format {reading.format!r}"


def _faults_of_figures(plate: Plate, computed: Mapping[str, Any]) -> Iterator[str]:
    ids = [figure.id for figure in plate.figures]
    if len(set(ids)) < len(ids):
        yield f"{plate.id}: two figures have one id: {', '.join(ids)}"
    for figure in plate.figures:
        place = f"{plate.id}: figure {figure.id}"
        if not figure.text:
            yield f"{place} has no text alternative"
        for slot in re.findall(r"{(\w+)}", figure.text + plate.readout):
            if slot not in plate.outputs and slot not in inputs_of(plate.inputs):
                yield f"{place}: {{{slot}}} names no input or reading"
        for reading in figure.drawn - set(computed):
            yield f"{place} draws {reading}, which is no reading"
        for role in figure.roles - set(LINES):
            yield f"{place}: {role!r} is no role"
        for name in set(getattr(figure, "end_at", ())) - set(inputs_of(plate.inputs)):
            yield f"{place} ends at {name}, which is no input"
        axes = [figure.x, figure.y] if isinstance(figure, Curves | Paths) else []
        for axis in axes:
            if not 0 < axis.low < axis.high or min(axis.ticks) <= 0:
                yield f"{place}: its axis of {axis.label!r} is a log axis and cannot hold 0"
        for name in {axis.format for axis in axes} - set(FORMATS):
            yield f"{place}: its axis has the unknown format {name!r}"
        if isinstance(figure, Curves) and figure.input not in inputs_of(plate.inputs):
            yield f"{place} runs along {figure.input}, which is no input"


NUMBER = (int, float)
WANTED: dict[str, dict[str, Any]] = {
    "guess": {
        **dict.fromkeys(("question", "state", "reading", "unit", "near", "over", "under"), str),
        **dict.fromkeys(("low", "high", "scale", "close"), NUMBER),
    },
    "tour": dict.fromkeys(("state", "title", "note"), str),
}
"""What guesses and steps of a tour consist of."""


def _faults_of_words(plate: Plate) -> Iterator[str]:
    said = words(plate.words)
    for name in said.get("page", {}).keys() - page_words(COMMON).keys() - {"more", "unmeasured"}:
        yield f"{plate.words}: [page] says {name}, which no page asks for"
    for kind, wanted in WANTED.items():
        for n, it in enumerate(said.get(kind, []), start=1):
            place = f"{plate.words}: {kind} {n}"
            wrong = [name for name, types in wanted.items() if not isinstance(it.get(name), types)]
            if wrong:
                yield f"{place}: {', '.join(wrong)} is missing, or not what it should be"
                continue
            if it["state"] not in plate.states:
                yield f"{place} is at {it['state']}, which is no state"
            if it.get("reading", next(iter(plate.outputs))) not in plate.outputs:
                yield f"{place} asks for {it['reading']}, which is no reading"
            for slot in re.findall(r"{(\w+)}", it.get("note", "") + it.get("question", "")):
                if slot not in plate.outputs and slot not in inputs_of(plate.inputs):
                    yield f"{place}: {{{slot}}} names no input or reading"


def _faults_of_links(plate: Plate, html: str) -> Iterator[str]:
    known = set(re.findall(r'(?:id|data-figure)="([\w-]+)"', html))
    for target in re.findall(r'<a href="#([\w-]+)"', html):
        if target not in known:
            yield f"{plate.text}: a link leads to #{target}, which there is not"
    for part in re.findall(r'<a href="#[\w-]+" data-part="(\w+)"', html):
        if part not in plate.outputs:
            yield f"{plate.text}: a link lights {part}, which is no reading"
