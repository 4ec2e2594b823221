"""Faults of a plate that its author should hear of before a reader does."""

import re
from collections.abc import Iterator

from jinja2 import TemplateSyntaxError

from app.drawing import LINES
from app.page import page
from app.text import WORKSHOP
from app.trace import trace
from plates.figure import Curves
from plates.formats import FORMATS
from plates.plate import Plate, quantities, values


def faults(plate: Plate) -> Iterator[str]:
    """Yield one line for each fault of the plate."""
    inputs = quantities(plate.inputs)
    if not re.fullmatch("[a-z0-9-]+", plate.id):
        yield f"{plate.id!r} is no address: use small letters, digits and hyphens"
    for name, it in inputs.items():
        wanted = {"label": it.label, "unit": it.unit and it.unit[1], "bounds": it.bounds}
        for what, given in {**wanted, "doc": it.doc}.items():
            if not given:
                yield f"{plate.id}: input {name} has no {what}"
    yield from _faults_of_readings(plate)
    yield from _faults_of_figures(plate)
    for name, fact in plate.facts().items():
        if not fact.source:
            yield f"{plate.id}: fact {name} has no source"
    for name in plate.states:
        try:
            plate.inputs(**plate.at(name))
        except (TypeError, ValueError) as fault:
            yield f"{plate.id}: state {name}: {fault}"
    if plate.text.read_text(encoding="utf-8").count(WORKSHOP) != 1:
        yield f"{plate.text}: not one line {WORKSHOP}, where the workshop goes"
    try:
        page(plate, None)
    except TemplateSyntaxError as fault:
        yield f"{plate.text}:{fault.lineno}: {fault.message}"
    except Exception as fault:
        yield f"{plate.text}: {fault}"


def _faults_of_readings(plate: Plate) -> Iterator[str]:
    try:
        trace(plate.readings, list(quantities(plate.inputs)))
        computed = plate.read(values(plate.inputs()))
    except Exception as fault:
        yield f"{plate.id}: readings: {fault}"
        return
    for name in computed.keys() ^ plate.outputs.keys():
        yield f"{plate.id}: reading {name} is not both computed and declared"
    for name, reading in plate.outputs.items():
        if not name.isidentifier():
            yield f"{plate.id}: reading {name!r} is not a plain name"
        if reading.format not in FORMATS:
            yield f"{plate.id}: reading {name} has the unknown format {reading.format!r}"


def _faults_of_figures(plate: Plate) -> Iterator[str]:
    ids = [figure.id for figure in plate.figures]
    if len(set(ids)) < len(ids):
        yield f"{plate.id}: two figures have one id: {', '.join(ids)}"
    for figure in plate.figures:
        place = f"{plate.id}: figure {figure.id}"
        if not figure.text:
            yield f"{place} has no text alternative"
        for slot in re.findall(r"{(\w+)}", figure.text + plate.readout):
            if slot not in plate.outputs and slot not in quantities(plate.inputs):
                yield f"{place}: {{{slot}}} names no input or reading"
        drawn = {one.reading for one in figure.series}
        drawn |= set(figure.marked if isinstance(figure, Curves) else [figure.end_reading])
        for reading in drawn - set(plate.outputs):
            yield f"{place} draws {reading}, which is no reading"
        for one in figure.series:
            if one.role not in LINES:
                yield f"{place}: {one.role!r} is no role"
        axes = [figure.x, figure.y] if isinstance(figure, Curves) else []
        for axis in axes:
            if not 0 < axis.low < axis.high or min(axis.ticks) <= 0:
                yield f"{place}: its axis of {axis.label!r} is a log axis and cannot hold 0"
        for name in {axis.format for axis in axes} - set(FORMATS):
            yield f"{place}: its axis has the unknown format {name!r}"
        if isinstance(figure, Curves) and figure.input not in quantities(plate.inputs):
            yield f"{place} runs along {figure.input}, which is no input"
