"""Pages whose inputs Python holds: a Panel session for each visitor, in step with the inputs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.embed.bundle import bundle_for_objs_and_resources
from bokeh.io import curdoc
from bokeh.model import Model
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import generate_jwt_token, generate_session_id
from jinja2 import Template
from panel.io.application import build_applications
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from app.page import SESSION, STATIC, style
from app.text import TEMPLATES, front_matter
from app.workbench import lab
from plates.plate import Plate, inputs_of, update, values
from plates.words import page_words

COMPONENTS = ["bokeh", "bokeh-widgets", "bokeh-tables"]
"""The parts of Bokeh that Panel's script asks for."""


class Session(pn.custom.JSComponent):
    """What page and server tell each other."""

    page = param.Dict({}, doc="From the page: inputs that the reader changed, and a number.")
    server = param.Dict(
        {}, doc="To the page: all inputs, and the number of the last message heard."
    )

    _esm = STATIC / "session.mjs"

    def get_root(self, *args: Any, **kwargs: Any) -> Model:
        """Return its Bokeh model, with no style sheets to fetch: nothing of it is seen."""
        root = super().get_root(*args, **kwargs)
        root.stylesheets = []
        return root


class Joining(RequestHandler):
    """How a page joins: the scripts it needs, a token for a session of its own, and the socket."""

    def get(self, plate: str) -> None:
        """Answer with them as JSON. The session is made when the socket opens."""
        needed = self.application.resources().clone(components=COMPONENTS)
        files = bundle_for_objs_and_resources(None, needed).js_files
        # Relative, so that they are found under a path prefix too.
        scripts = [str(it).removeprefix("/") for it in files]
        token = generate_jwt_token(generate_session_id())
        self.set_header("Cache-Control", "no-store")
        self.finish({"scripts": scripts, "token": token, "socket": f"{plate}/ws"})


def application(
    plates: Mapping[str, Plate],
    inputs: param.Parameterized | None,
    engine: str,
    host: str,
    allow_origin: Sequence[str],
) -> BokehTornado:
    """Return the running part of a server at the host that holds the sessions of the plates.

    All who open the plate of `inputs` share them; else each visitor has inputs of their own.
    """
    address = "/" + SESSION.format(f"({'|'.join(plates)})")
    port = host.rpartition(":")[2]
    visits = {
        name: lambda plate=plate: _visit(plate, inputs, engine) for name, plate in plates.items()
    } | {f"{name}/lab": lambda plate=plate: _lab(plate, inputs) for name, plate in plates.items()}
    sessions = BokehTornado(
        build_applications(visits, location=False),
        extra_websocket_origins=[host, f"localhost:{port}", f"127.0.0.1:{port}", *allow_origin],
        extra_patterns=[(address, Joining)],
        compress_response=True,
    )
    sessions.initialize(IOLoop.current())
    sessions.start()
    return sessions


def _lab(plate: Plate, shared: param.Parameterized | None) -> pn.Template:
    """Return the page of a plate's lab, at the state of the address if the inputs are its own."""
    inputs = shared if isinstance(shared, plate.inputs) else plate.inputs()
    words, title = page_words(plate.words), front_matter(plate)[0]["title"]
    heading = f"{title}: {words['lab']}"
    template = pn.Template(_lab_page())
    template.add_variable("style", style().text)
    template.add_variable("heading", heading)
    asked = {
        name: texts[-1].decode(errors="replace")
        for name, texts in pn.state.session_args.items()
        if name in inputs_of(plate.inputs) and inputs is not shared
    }
    template.add_panel("lab", lab(inputs, f"../{plate.id}", asked))
    return template


@cache
def _lab_page() -> Template:
    """Return the page of a lab, compiled once for all visitors."""
    return Template((TEMPLATES / "lab_page.html").read_text(encoding="utf-8"))


def _visit(plate: Plate, shared: param.Parameterized | None, engine: str) -> Session:
    """Return what keeps a visitor's page and the inputs in step, as long as the document lives.

    With the engine "python" each message to the page also holds readings and figures from numpy;
    else the page computes them. What the param class refuses is answered with what it holds.
    """
    inputs = shared if isinstance(shared, plate.inputs) else plate.inputs()
    component, document, told = Session(), curdoc(), count()
    heard, hearing = 0, False

    def tell(*_: Any) -> None:
        if not hearing:
            state = values(inputs)
            computed = {"values": _shown(plate, state)} if engine == "python" else {}
            component.server = {"told": next(told), "heard": heard, "inputs": state, **computed}

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
    document.on_session_destroyed(lambda _: inputs.param.unwatch(watcher))
    # While the page connects, Panel drops what is told; so it is told again, under a new number.
    pn.state.onload(tell)
    tell()
    # The page says itself when the server is lost, and goes on without it.
    document.config.update(
        reconnect_session=False, notify_connection_status=False, notifications=None
    )
    return component


def _shown(plate: Plate, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(it).tolist() for name, it in plate.shown(inputs).items()}
