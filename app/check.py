"""Faults of a plate that its author should hear of before a reader does."""

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from typing import Any

import numpy as np
from jinja2 import TemplateError, TemplateSyntaxError

from app.page import page
from app.text import WORKSHOP
from app.trace import trace
from plates.figure import PLACES, ROLES, Axis, Figure
from plates.formats import FORMATS
from plates.plate import Plate, inputs_of
from plates.words import COMMON, ROWS, entry, page_words, words


def faults(plate: Plate) -> Iterator[str]:
    """Yield one line for each fault of the plate."""
    if not re.fullmatch("[a-z0-9-]+", plate.id):
        yield f"{plate.id!r} is no address: use small letters, digits and hyphens"
    yield from _faults_of_inputs(plate)
    try:
        trace(plate.readings, plate.given({}))
        computed = set(plate.read({}))
    except Exception as fault:
        # All else is made of the readings.
        yield f"{plate.id}: readings: {fault}"
        return
    yield from [*_faults_of_figures(plate, computed)] or _faults_of_readings(plate, computed)
    yield from _faults_of_words(plate)
    yield from _faults_of_page(plate)


def _faults_of_inputs(plate: Plate) -> Iterator[str]:
    inputs = inputs_of(plate.inputs)
    for name, it in inputs.items():
        unit = {"unit": it.unit[1]} if it.kind == "quantity" else {}
        for what, given in {"label": it.label, **unit, "doc": it.doc}.items():
            if not given:
                yield f"{plate.id}: input {name} has no {what}"
        for other, value in it.when.items():
            if other not in inputs or value not in inputs[other].options:
                yield f"{plate.id}: input {name} waits for {other} = {value}, which cannot be"
    for name in plate.states:
        try:
            plate.inputs(**plate.at(name))
        except (TypeError, ValueError) as fault:
            yield f"{plate.id}: state {name}: {fault}"


def _drawn(plate: Plate, figure: Figure) -> set[str]:
    """Return the names of the readings that the figure draws or shows."""
    asked: dict[str, Any] = defaultdict(lambda: np.ones(1))
    figure.drawn(asked, plate.given({}))
    return {*asked, *figure.shows}


def _faults_of_readings(plate: Plate, computed: Set[str]) -> Iterator[str]:
    drawn = {it for figure in plate.figures for it in _drawn(plate, figure)}
    for name in plate.outputs.keys() - computed:
        yield f"{plate.id}: reading {name} is declared and not computed"
    for name in computed - plate.outputs.keys() - drawn:
        yield f"{plate.id}: reading {name} is computed, and neither declared nor drawn"
    for name, reading in plate.outputs.items():
        if not name.isidentifier():
            yield f"{plate.id}: reading {name!r} is not a plain name"
        if reading.format not in FORMATS:
            yield f"{plate.id}: reading {name} has the unknown format {reading.format!r}"
    for name, fact in plate.facts().items():
        if not fact.source:
            yield f"{plate.id}: fact {name} has no source"


def _faults_of_figures(plate: Plate, computed: Set[str]) -> Iterator[str]:
    ids = [figure.id for figure in plate.figures]
    if len(set(ids)) < len(ids):
        yield f"{plate.id}: two figures have one id: {', '.join(ids)}"
    for name in inputs_of(plate.inputs).keys() & set(ids):
        yield f"{plate.id}: an input and a figure have one id: {name}"
    for figure in plate.figures:
        place = f"{plate.id}: figure {figure.id}"
        if not figure.text:
            yield f"{place} has no text alternative"
        if figure.place not in PLACES:
            yield f"{place} stands {figure.place!r}, which is not one of {', '.join(PLACES)}"
        yield from _faults_of_slots(plate, place, figure.text)
        # One with such a fault cannot be drawn to see what it asks for.
        yield from [*_faults_of_parts(plate, figure, place)] or (
            f"{place} draws {name}, which is no reading"
            for name in _drawn(plate, figure) - computed
        )


def _faults_of_parts(plate: Plate, figure: Figure, place: str) -> Iterator[str]:
    if (figure.input or figure.kind == "curves") and figure.input not in inputs_of(plate.inputs):
        yield f"{place} runs along {figure.input}, which is no input"
    for part in (it for name in vars(figure).values() if isinstance(name, tuple) for it in name):
        if getattr(part, "role", "ink") not in ROLES:
            yield f"{place}: {part.role!r} is no role"
    for axis in (it for it in vars(figure).values() if isinstance(it, Axis)):
        if not 0 < axis.low < axis.high or min(axis.ticks) <= 0:
            yield f"{place}: its axis of {axis.label!r} is a log axis and cannot hold 0"
        if axis.format not in FORMATS:
            yield f"{place}: its axis has the unknown format {axis.format!r}"


def _faults_of_words(plate: Plate) -> Iterator[str]:
    yield from _faults_of_slots(plate, f"{plate.id}: readout", plate.readout)
    said = words(plate.words)
    for name in said.get("page", {}).keys() - page_words(COMMON).keys():
        yield f"{plate.words}: [page] says {name}, which no page asks for"
    for kind in ROWS:
        for n, row in enumerate(said.get(kind, []), start=1):
            place = f"{plate.words}: {kind} {n}"
            try:
                entry(kind, row)
            except TypeError as fault:
                yield f"{place}: {fault}"
                continue
            if row["state"] not in plate.states:
                yield f"{place} is at {row['state']}, which is no state"
            if "reading" in row and row["reading"] not in plate.outputs:
                yield f"{place} asks for {row['reading']}, which is no reading"
            if row.get("figure") and row["figure"] not in (it.id for it in plate.figures):
                yield f"{place} is about {row['figure']}, which is no figure"
            yield from _faults_of_slots(plate, place, row.get("question", "") + row.get("note", ""))


def _faults_of_slots(plate: Plate, place: str, text: str) -> Iterator[str]:
    for slot in re.findall(r"{(\w+)}", text):
        if slot not in plate.outputs and slot not in inputs_of(plate.inputs):
            yield f"{place}: {{{slot}}} names no input or reading"


def _faults_of_page(plate: Plate) -> Iterator[str]:
    if plate.text.read_text(encoding="utf-8").count(WORKSHOP) != 1:
        yield f"{plate.text}: not one line {WORKSHOP}, where the workshop goes"
    try:
        html = page(plate, None)
    except TemplateError as fault:
        line = f":{fault.lineno}" if isinstance(fault, TemplateSyntaxError) else ""
        yield f"{plate.text}{line}: {fault.message}"
        return
    except Exception as fault:
        yield f"{plate.id}: its page cannot be made: {type(fault).__name__}: {fault}"
        return
    known = set(re.findall(r'(?:id|data-figure)="([\w-]+)"', html))
    for target, part in re.findall(r'<a href="#([\w-]+)"(?: data-part="(\w+)")?', html):
        if target not in known:
            yield f"{plate.text}: a link leads to #{target}, which there is not"
        if part and part not in plate.outputs:
            yield f"{plate.text}: a link lights {part}, which is no reading"
