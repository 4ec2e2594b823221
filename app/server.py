"""The pages served: the same HTML and files as exported, and where Python has the inputs, it too.

A visitor of `plates serve` costs what a file costs: Panel is imported, and a session made for each
visitor, only where somebody in Python sets the inputs or Python computes the readings.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import param
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets
from tornado.routing import Router
from tornado.web import Application, RedirectHandler, RequestHandler

from app.page import SESSION, embed_script, index, page, scripts, session_script, style
from plates.plate import Plate, plate_of

ENGINES = ("browser", "python")
KINDS = {".js": "text/javascript", ".css": "text/css", ".py": "text/x-python"}
ASSETS = "/assets/"
ORIGIN = re.compile(
    r"(?:https?://)?(\[[0-9a-f:.]+\]|[^]\s:/[@?#]+)(?::(\d{1,5}))?/?", re.IGNORECASE
)
"""A host as browsers send it, or without its scheme; an IPv6 address stands in brackets."""


class File(RequestHandler):
    """A text that was made when the server started."""

    def initialize(self, text: str) -> None:
        """Take the text."""
        self.text = text

    def get(self) -> None:
        """Answer with the text. An asset, whose name says what is in it, may be kept for a year."""
        path = self.request.path
        kind = KINDS.get(PurePosixPath(path).suffix, "text/html")
        year = f"max-age={365 * 24 * 3600}, immutable"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Cache-Control", year if path.startswith(ASSETS) else "no-cache")
        self.finish(self.text)

    head = get


class Late(Router):
    """What is made when an address that is its own is first asked for."""

    def __init__(self, own: str, make: Callable[[], Router]) -> None:
        self.own, self.make = own, make
        self.made: Router | None = None

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        """Return what answers the request, once there is anything that could."""
        if self.made is None and re.fullmatch(self.own, request.path):
            self.made = self.make()
        return self.made and self.made.find_handler(request, **kwargs)


class WithoutPrefix(Router):
    """The server under a path prefix, for proxies that pass the prefix on and those that do not."""

    def __init__(self, application: Application, prefix: str) -> None:
        self.application, self.prefix = application, prefix

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        """Return what answers the request's address once the prefix is taken off."""
        if request.path.startswith(f"{self.prefix}/"):
            request.path = request.path.removeprefix(self.prefix)
        return self.application.find_handler(request, **kwargs)


def application(
    plates: Mapping[str, Plate],
    host: str,
    *,
    inputs: param.Parameterized | None = None,
    allow_origin: Sequence[str] = (),
    root_path: str = "",
    engine: str = "browser",
) -> WithoutPrefix:
    """Return what answers at the host, given as name:port.

    With `inputs`, all who open their plate share them; with the engine "python" each visitor has
    inputs of their own. `allow_origin` are further hosts whose pages may open a session. Every
    address answers under `root_path` as well.

    Raises
    ------
    ValueError
        If an allowed origin is none.
    """
    joined = inputs is not None or engine == "python"
    allowed = [at for it in allow_origin for at in _origins(it)]
    prefix = "/" + root_path.strip("/")
    texts = _texts(plates, engine, joined)
    routes: list[Any] = [
        *((re.escape(path), File, {"text": text}) for path, text in texts.items()),
        # A slash too many would displace the relative links of a page.
        (f"/({'|'.join(plates)})/", RedirectHandler, {"url": "../{0}", "permanent": False}),
        (re.escape(prefix), RedirectHandler, {"url": f"{prefix}/"}),
    ]

    def sessions() -> Router:
        from app import session

        return session.application(plates, inputs, engine, host, allowed)

    own = "/.*" if joined else f"/({'|'.join(plates)})/lab(/.*)?"
    late = Late(own, sessions)
    if joined:
        late.made = sessions()
    routes.append(("/.*", late))
    return WithoutPrefix(Application(routes, compress_response=True), prefix)


def _origins(host: str) -> list[str]:
    """Return the host as it is named where a page of it asks for a session, with its port."""
    found = ORIGIN.fullmatch(host)
    if not found or not 0 <= int(found[2] or 0) <= 65535:
        raise ValueError(f"{host!r} is no host such as course.example, or [::1]:8080 with a port")
    name = found[1].lower()
    # Of a port that is not said, Bokeh takes 80, but not behind an IPv6 address.
    return [f"{name}:{found[2]}"] if found[2] else [name, f"{name}:80"]


def _texts(plates: Mapping[str, Plate], engine: str, joined: bool) -> dict[str, str]:
    """Return the text at each address; `joined` pages ask for a session."""
    more = [session_script()] if joined else []
    assets = [style(), *more, *(it for plate in plates.values() for it in scripts(plate))]
    link = {it.name: f"assets/{it.name}" for it in assets}
    texts = {f"{ASSETS}{it.name}": it.text for it in assets}
    texts |= {"/": index(plates, "{}", link), "/embed.js": embed_script()}
    for name, plate in plates.items():
        session = SESSION.format(name) if joined else ""
        texts[f"/{name}"] = page(
            plate, link, session=session, engine=engine, more=more, lab=f"{name}/lab",
            measure=f"{name}/measure/",
        )  # fmt: skip
        texts |= {f"/{at}": text for at, text in plate.scripts.items()}
    return texts


class Server(HTTPServer):
    """A server whose packets leave at once, also those that follow each other."""

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Take a connection, with Nagle's algorithm off for good.

        Tornado turns it on after each request. But what a session sends are several small packets,
        of which the second would wait, often 40 ms, until the first is acknowledged.
        """
        stream.set_nodelay(True)
        stream.set_nodelay = lambda value: None
        super().handle_stream(stream, address)


@dataclass(frozen=True)
class Running:
    """A server that answers at `url` until `stop` is called."""

    url: str
    stop: Callable[[], None]


async def run(
    plates: Mapping[str, Plate],
    started: Callable[[Running], None],
    *,
    port: int = 5006,
    address: str = "127.0.0.1",
    **settings: Any,
) -> None:
    """Serve the plates, call `started` once connections are accepted, and return when stopped.

    `settings` are those of `application`.

    Raises
    ------
    OSError
        If the port is taken or the address cannot be had.
    ValueError
        If the port is none, or as `application`.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"port = {port} is not from 0 to 65535")
    sockets = bind_sockets(port, address)
    name = f"[{address}]" if ":" in address else address or "127.0.0.1"
    host = f"{name}:{sockets[0].getsockname()[1]}"
    server = Server(application(plates, host, **settings))
    server.add_sockets(sockets)
    loop, end = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(end.set)

    path = settings.get("root_path", "").strip("/")
    started(Running(f"http://{host}/{path and path + '/'}", stop))
    await end.wait()
    server.stop()
    await server.close_all_connections()
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
        As `run`; also if the engine is none.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r} is not one of {', '.join(ENGINES)}")
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
