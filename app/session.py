"""One visitor's Panel session: the page's inputs and a plate's inputs, held in step."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import panel as pn
import param

from app.drawing import tables
from plates.plate import Plate, values

STATIC = Path(__file__).with_name("static")


class Session(pn.custom.JSComponent):
    """What page and server tell each other."""

    page = param.Dict({}, doc="From the page: its inputs, and the number of the message.")
    server = param.Dict({}, doc="To the page: an answer to a message, or inputs set in Python.")

    _esm = STATIC / "session.mjs"


def session(plate: Plate, inputs: param.Parameterized, engine: str) -> Session:
    """Return the component that keeps a page and the inputs in step, both ways.

    With the engine "python" it also answers each message with readings and figures from numpy;
    else the page computes them. Inputs that the param class refuses are answered with those held.
    """
    component = Session()

    def page_changed(event: Any) -> None:
        number, asked = event.new["number"], event.new["inputs"]
        try:
            inputs.param.update(**asked)
        except (TypeError, ValueError):
            component.server = {"inputs": values(inputs)}
        computed = _computed(plate, values(inputs)) if engine == "python" else {}
        component.server = {"answer": number, "inputs": values(inputs), **computed}

    def inputs_changed(*events: Any) -> None:
        if values(inputs) != component.page.get("inputs"):
            component.server = {"inputs": values(inputs)}

    component.param.watch(page_changed, "page")
    inputs.param.watch(inputs_changed, list(values(inputs)))
    return component


def _computed(plate: Plate, inputs: Mapping[str, float]) -> dict[str, Any]:
    readings = {name: float(value) for name, value in plate.read(inputs).items()}
    return {"readings": readings, "tables": tables(plate, inputs)}
