"""A real browser, and the plates as served, as a site and as one file."""

import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from playwright.sync_api import sync_playwright

from app.drawing import Drawing
from app.page import shown_by
from tests.browser.chromium import chromium

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "tests" / "course"


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium(), args=["--host-resolver-rules=MAP elsewhere.test 127.0.0.1"]
        )
        yield running
        running.close()


@contextmanager
def plates_serve(*options):
    """Run `plates serve`, with the second plate beside the first, and give its address."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *options]
    environment = os.environ | {"PYTHONPATH": str(COURSE)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        process.url = process.stdout.readline().strip()
        try:
            yield process
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def server():
    with plates_serve() as process:
        yield process.url


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder that `plates export` writes, with the second plate."""
    out = tmp_path_factory.mktemp("export") / "site"
    subprocess.run(
        [sys.executable, "-m", "app", "export", str(out)],
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(COURSE)},
    )
    return out


class OtherName(StreamRequestHandler):
    """A proxy that hides from the server under which name it is asked, as some do."""

    def handle(self):
        with socket.create_connection(("127.0.0.1", self.server.behind)) as there:
            Thread(target=self.pump, args=(there, self.request), daemon=True).start()
            self.pump(self.request, there)

    def pump(self, one, other):
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(re.sub(rb"\r\nHost: [^\r]*", b"\r\nHost: localhost", data))
            other.shutdown(socket.SHUT_RDWR)


@contextmanager
def under_another_name(port):
    """Give the address of a proxy before the server at the port."""
    with ThreadingTCPServer(("127.0.0.1", 0), OtherName) as proxy:
        proxy.behind, proxy.daemon_threads, proxy.block_on_close = port, True, False
        Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://elsewhere.test:{proxy.server_address[1]}/"
        proxy.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="session")
def site_url(site):
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()


@pytest.fixture
def url(site):
    """Give the plate's address as one file: the host on which what hosts share is tried."""
    return (site / "kernel-fusion.html").as_uri()


@pytest.fixture(params=["served", "site", "single file"])
def each_host(request):
    """Give the plate's address, host by host."""
    if request.param == "served":
        return request.getfixturevalue("server") + "kernel-fusion"
    if request.param == "site":
        return request.getfixturevalue("site_url") + "kernel-fusion/"
    return request.getfixturevalue("url")


SLIDERS = "(({k, S, overhead}) => ({k, S, overhead}))(state)"
"""The state of the three inputs that have sliders."""


class Visit:
    """One page, what it said on its console, and what it asked for."""

    def __init__(self, browser, **context):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | context)
        self.page = self.context.new_page()
        self.said, self.requests, self.sockets = [], [], []
        self.page.on("console", lambda it: self.said.append((it.type, it.text)))
        self.page.on("pageerror", lambda it: self.said.append(("error", str(it))))
        self.page.on("request", lambda it: self.requests.append(it.url))
        self.page.on("websocket", lambda it: self.sockets.append(it.url))

    def open(self, url):
        self.page.goto(url)
        self.page.wait_for_function("document.documentElement.dataset.plate === 'ready'")
        return self

    def joined(self):
        """Wait until the page has its Panel session."""
        self.page.wait_for_function("document.documentElement.dataset.session === 'attached'")
        return self

    @property
    def complaints(self):
        return [line for line in self.said if line[0] not in ("info", "log", "debug")]

    def slider(self, name):
        return self.page.get_by_role("slider", name=name)

    def box(self, name):
        return self.page.get_by_role("textbox", name=name)

    def set(self, **inputs):
        """Set inputs as the controls do, and wait for the frame that shows them."""
        self.page.evaluate(
            "inputs => new Promise(done => { setInputs(inputs);"
            " requestAnimationFrame(() => requestAnimationFrame(done)); })",
            inputs,
        )

    def outputs(self):
        """Return what all elements of each reading's name hold."""
        found = self.page.evaluate(
            "[...document.querySelectorAll('[data-output]')]"
            ".map(it => [it.dataset.output, Number(it.dataset.value), it.textContent])"
        )
        values = {}
        for name, value, text in found:
            values.setdefault(name, set()).add((value, text))
        return values

    def readings(self):
        """Return the one value of each reading, having checked that there is only one."""
        found = self.outputs()
        assert all(len(values) == 1 for values in found.values()), found
        return {name: next(iter(values))[0] for name, values in found.items()}

    def bound(self):
        """Return all that follows the state: whose, at which entry, its pattern and its text."""
        return self.page.evaluate(BOUND)

    def agrees(self, plate, state):
        """Hold all that follows the state against the templates, filled by numpy."""
        found = self.bound()
        assert len(found) > 100
        drawings = {it.id: Drawing(it, shown_by(plate, it, state)) for it in plate.figures}
        for figure, entry, pattern, join, text in found:
            there = replace(drawings[figure], entry=entry).text(pattern, join)
            assert alike(text, there), (figure, pattern, text, there, state)


BOUND = """() => all("[data-scope]").flatMap(scope => all("*", scope).flatMap(it => {
    const list = it.closest("[data-each]");
    const within = list && list !== it ? list : it.parentElement.closest("[data-each]");
    const child = within && [...within.children].find(one => one.contains(it));
    if (within && (child.hidden || child.hasAttribute("hidden"))) return [];
    const entry = within ? [...within.children].indexOf(child) : null;
    const told = it.getAttributeNames().filter(name => name.startsWith("data-bind-"))
        .map(name => [it.getAttribute(name), it.getAttribute(name.slice(10))]);
    if (it.dataset.text) told.push([it.dataset.text, it.textContent]);
    const {join} = it.dataset;
    return told.map(([pattern, text]) => [scope.dataset.scope, entry, pattern, join ?? "", text]);
}))"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def alike(one, other):
    """Return whether two texts are the same, give or take the last digit of a position."""
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) < 0.0101 for a, b in pairs)


@pytest.fixture
def visit(browser):
    """Open pages; each has to leave its console empty of warnings."""
    visits = []

    def start(url, expected=(), **context):
        one = Visit(browser, **context)
        one.expected = expected
        visits.append(one)
        return one.open(url) if url else one

    yield start
    for one in visits:
        one.context.close()
        unexpected = [it for it in one.complaints if not any(e in it[1] for e in one.expected)]
        assert unexpected == []
