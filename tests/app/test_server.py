"""What the server answers, without a browser."""

import asyncio
import json
import re
import socket
from importlib.metadata import version
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import pytest
from tornado.iostream import IOStream

from app import serve
from app.server import Server, _origins, application
from plates.kernel_fusion import KernelFusion

TRIED = {"panel": {"1.9", "1.10"}, "bokeh": {"3.9", "3.10"}}
"""Versions with which `app/session.py` was tried: it uses parts that they do not promise to keep,
`build_applications` of Panel, `BokehTornado` and the bundle of scripts of Bokeh."""


@pytest.fixture(scope="module")
def url():
    running = serve(KernelFusion())
    yield running.url
    running.stop()


def answer(url):
    with urlopen(Request(url, headers={"Accept-Encoding": "gzip"})) as it:
        return it.headers, it.read()


def told(url):
    with urlopen(f"{url}/session") as it:
        return json.load(it)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("course.example:8080", ["course.example:8080"]),
        ("https://Course.example", ["course.example", "course.example:80"]),
        ("[::1]:8080", ["[::1]:8080"]),
        ("http://[::1]", ["[::1]", "[::1]:80"]),
        ("*.example", ["*.example", "*.example:80"]),
    ],
)
def test_an_origin_is_allowed_as_browsers_send_it(said, meant):
    assert _origins(said) == meant


@pytest.mark.parametrize("said", ["", "course example", "::1", "a:b", "a:70000", "a/b", "//a"])
def test_what_is_no_origin_is_refused_when_the_server_starts(said):
    with pytest.raises(ValueError, match="is no host such as"):
        application({}, "127.0.0.1:5006", allow_origin=[said])


def test_packets_leave_at_once_whatever_tornado_says_after_a_request():
    async def nodelay():
        listening = socket.create_server(("127.0.0.1", 0))
        with socket.create_connection(listening.getsockname()), listening:
            taken, address = listening.accept()
            stream = IOStream(taken)
            Server(lambda request: None).handle_stream(stream, address)
            stream.set_nodelay(False)
            found = taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            stream.close()
            return found

    assert asyncio.run(nodelay())


@pytest.mark.parametrize("name", TRIED)
def test_panel_and_bokeh_are_of_a_version_that_was_tried(name):
    assert version(name).rpartition(".")[0] in TRIED[name]


def test_a_page_that_may_join_is_told_scripts_that_there_are_and_a_token_of_its_own(url):
    first, second = told(url), told(url)
    assert first["socket"] == "kernel-fusion/ws"
    assert first["token"] != second["token"]
    assert [it for it in first["scripts"] if "panel.min.js" in it]
    for script in first["scripts"]:
        assert answer(urljoin(url, script))[0].get_content_subtype() == "javascript"


def test_a_page_is_asked_for_anew_and_its_files_are_kept(url):
    with urlopen(url) as page:
        assert page.headers["Cache-Control"] == "no-cache"
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        files = re.findall(r'(?:href|src)="(assets/[^"]+)"', page.read().decode())
    kinds = {".js": "text/javascript", ".css": "text/css"}
    assert {"." + it.rpartition(".")[2] for it in files} == set(kinds)
    for file in files:
        headers, body = answer(urljoin(url, file))
        assert headers["Cache-Control"] == "max-age=31536000, immutable"
        assert headers["Content-Type"] == f"{kinds['.' + file.rpartition('.')[2]]}; charset=utf-8"
        assert body[:2] == b"\x1f\x8b" or len(body) < 1024


def test_a_slash_too_many_leads_to_the_plate_with_the_same_inputs(url):
    with urlopen(f"{url}/?k=7&S=4096") as page:
        assert page.url == f"{url}?k=7&S=4096"


def test_an_engine_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="engine = 'steam' is not one of browser, python"):
        serve(KernelFusion(), engine="steam")


def test_a_port_that_is_none_is_refused():
    with pytest.raises(ValueError, match="port = 70000 is not from 0 to 65535"):
        serve(KernelFusion(), port=70000)
