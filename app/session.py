"""One visitor's Panel session: the page's inputs and a plate's inputs, held in step."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import panel as pn
import param

from app.page import STATIC
from plates.plate import Plate, update, values


class Session(pn.custom.JSComponent):
    """What page and server tell each other."""

    page = param.Dict({}, doc="From the page: inputs that the reader changed, and a number.")
    server = param.Dict(
        {}, doc="To the page: all inputs, and the number of the last message heard."
    )

    _esm = STATIC / "session.mjs"


def session(plate: Plate, inputs: param.Parameterized, engine: str) -> Session:
    """Return the component that keeps a page and the inputs in step, both ways.

    With the engine "python" each message to the page also holds readings and figures from numpy;
    else the page computes them. What the param class refuses is answered with what it holds.
    """
    component = Session()
    heard = 0
    hearing = False

    def tell(*_: Any) -> None:
        if not hearing:
            state = values(inputs)
            computed = {"values": _shown(plate, state)} if engine == "python" else {}
            component.server = {"heard": heard, "inputs": state, **computed}

    def hear(event: Any) -> None:
        nonlocal heard, hearing
        heard, hearing = event.new["number"], True
        try:
            with suppress(TypeError, ValueError):
                update(inputs, event.new["inputs"])
        finally:
            # Also when a watcher of somebody else's fails: the page waits for an answer.
            hearing = False
            tell()

    component.param.watch(hear, "page")
    watcher = inputs.param.watch(tell, list(values(inputs)))
    if pn.state.curdoc:
        pn.state.curdoc.on_session_destroyed(lambda _: inputs.param.unwatch(watcher))
    tell()
    return component


def _shown(plate: Plate, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(it).tolist() for name, it in plate.shown(inputs).items()}
