"""The pages served: the same HTML and files as exported, and a Panel session for each visitor."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import param
from bokeh.io import curdoc
from panel.io.resources import LOCAL_DIST, bundle_resources, patch_model_css
from panel.io.server import DocHandler, Server, get_server
from tornado.httputil import HTTPServerRequest
from tornado.routing import Router
from tornado.web import Application, GZipContentEncoding, RedirectHandler, RequestHandler

from app.page import embed_script, index, page, scripts, session_script, style
from app.session import Session, session
from plates.plate import Plate, plate_of

YEAR_S = 365 * 24 * 3600
ENGINES = ("browser", "python")


class File(RequestHandler):
    """A text that was made when the server started."""

    def initialize(self, text: str, kind: str, age_s: int = 0) -> None:
        """Take the text, its content type, and for how long a browser may keep it."""
        self.text, self.kind, self.age_s = text, kind, age_s

    def get(self) -> None:
        """Answer with the text."""
        self.set_header("Content-Type", f"{self.kind}; charset=utf-8")
        kept = f"max-age={self.age_s}, immutable" if self.age_s else "no-cache"
        self.set_header("Cache-Control", kept)
        self.finish(self.text)

    head = get


class WithoutSlash(RequestHandler):
    """A plate's address with a slash too many, which would displace its relative links."""

    def get(self, name: str) -> None:
        """Send the browser on to the address without it."""
        query = f"?{self.request.query}" if self.request.query else ""
        self.redirect(f"../{name}{query}")


class SessionHandler(DocHandler):
    """How a page joins its Panel session: the session's token, its socket, and Panel's scripts."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Make the session and answer with what the page needs for it, as JSON."""
        visit = await self.get_session()
        for root in visit.document.roots:
            patch_model_css(root, LOCAL_DIST)
        bundle = bundle_resources(visit.document.roots, self.application.resources())
        scripts = [str(file) for file in bundle.js_files]
        # The page has Bokeh already, and draws without WebGL.
        # The page draws without WebGL.
        needed = [it for it in scripts if "/bokeh-gl." not in it]
        socket = self.bokeh_websocket_path.removeprefix("/")
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps({"scripts": needed, "token": visit.token, "socket": socket}))


class WithoutPrefix(Router):
    """The server under a path prefix, for a proxy that passes the prefix on."""

    def __init__(self, application: Application, prefix: str) -> None:
        self.application, self.prefix = application, prefix

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        """Return what answers the request's address once the prefix is taken off, once."""
        if request.path != request.uri.split("?")[0]:
            return None
        request.path = request.path.removeprefix(self.prefix)
        return self.application.find_handler(request)


def make_server(
    plates: Mapping[str, Plate],
    *,
    inputs: param.Parameterized | None = None,
    port: int = 5006,
    address: str = "127.0.0.1",
    allow_origin: Sequence[str] = (),
    root_path: str = "",
    engine: str = "browser",
) -> Server:
    """Return a server of the plates, bound to its port and not yet started.

    Each visitor has inputs of their own, unless `inputs` are given: then all who open their plate
    share them. Every address answers under `root_path` as well.

    Raises
    ------
    OSError
        If the port is taken or the address cannot be had.
    ValueError
        If the port, the engine or an allowed origin is none.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r} is not one of {', '.join(ENGINES)}")
    if not 0 <= port <= 65535:
        raise ValueError(f"port = {port} is not from 0 to 65535")

    def visit(plate: Plate) -> Callable[[], Session]:
        shared = inputs if isinstance(inputs, plate.inputs) else None

        def component() -> Session:
            # The page says itself when the server is lost, and goes on without it.
            curdoc().config.update(
                reconnect_session=False, notify_connection_status=False, notifications=None
            )
            return session(plate, shared or plate.inputs(), engine)

        return component

    server = get_server(
        {f"/{name}": visit(plate) for name, plate in plates.items()},
        port=port,
        address=address,
        websocket_origin=list(allow_origin) or None,
        location=False,
    )
    application = server._tornado
    application._websocket_origins |= {
        f"{host}:{server.port}" for host in ("localhost", "127.0.0.1", address)
    }
    application.transforms.append(GZipContentEncoding)
    routes = _routes(plates, engine, application)
    if prefix := root_path.strip("/"):
        under = WithoutPrefix(application, f"/{prefix}")
        routes.insert(0, (f"/{re.escape(prefix)}/.*", under, {}))
        routes.append((f"/{re.escape(prefix)}", RedirectHandler, {"url": f"/{prefix}/"}))
    application.add_handlers(".*", routes)
    return server


def _routes(plates: Mapping[str, Plate], engine: str, application: Any) -> list[Any]:
    assets = {asset.name: asset for plate in plates.values() for asset in scripts(plate)}
    assets |= {asset.name: asset for asset in (style(), session_script())}
    link = {name: f"assets/{name}" for name in assets}
    kinds = {".js": "text/javascript", ".css": "text/css"}
    routes: list[Any] = [
        (f"/assets/{re.escape(name)}", File, _file(it.text, kinds[it.suffix], age_s=YEAR_S))
        for name, it in assets.items()
    ]
    routes.append(("/", File, _file(index(plates, "{}", link), "text/html")))
    routes.append(("/embed.js", File, _file(embed_script(), "text/javascript")))
    for name, plate in plates.items():
        html = page(plate, link, session=f"{name}/session", engine=engine, more=[session_script()])
        context = application._applications[f"/{name}"]
        joining = {"application_context": context, "bokeh_websocket_path": f"/{name}/ws"}
        routes += [
            (f"/{name}", File, _file(html, "text/html")),
            (f"/({name})/", WithoutSlash),
            (f"/{name}/session", SessionHandler, joining),
        ]
    return routes


def _file(text: str, kind: str, age_s: int = 0) -> dict[str, Any]:
    return {"text": text, "kind": kind, "age_s": age_s}


@dataclass(frozen=True)
class Running:
    """A server that answers at `url` until `stop` is called."""

    url: str
    stop: Callable[[], None]


async def run(
    plates: Mapping[str, Plate], started: Callable[[Running], None], **settings: Any
) -> None:
    """Serve the plates, call `started` once connections are accepted, and return when stopped.

    `settings` are those of `make_server`.
    """
    server = make_server(plates, **settings)
    server.start()
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    path = settings.get("root_path", "").strip("/")
    address = settings.get("address") or "127.0.0.1"
    host = f"[{address}]" if ":" in address else address
    url = f"http://{host}:{server.port}/{path and path + '/'}"

    def stop() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(end.set)

    started(Running(url, stop))
    await end.wait()
    server.stop()
    # What the sessions still had to do is done, so that nothing is cut off half-way.
    if under_way := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(under_way, timeout=1)


def serve(inputs: param.Parameterized, port: int = 0, engine: str = "browser") -> Running:
    """Serve the plate that the inputs belong to, from a thread, and return once it answers.

    Whoever opens it shares the inputs: setting one moves the page, and the page sets them.

    Raises
    ------
    LookupError
        If no plate has inputs of that class.
    OSError, ValueError
        As `make_server`.
    """
    plate = plate_of(inputs)
    answer: Future[Running] = Future()

    def thread() -> None:
        try:
            asyncio.run(
                run({plate.id: plate}, answer.set_result, inputs=inputs, port=port, engine=engine)
            )
        except Exception as fault:
            if answer.done():
                raise
            answer.set_exception(fault)

    threading.Thread(target=thread, daemon=True, name="plates").start()
    running = answer.result()
    return Running(running.url + plate.id, running.stop)
