"""The exported site in a browser: the same numbers, under any path, from nowhere else."""

import gzip
import json
import re
import shutil
from functools import partial
from http.server import ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from app.command import main
from tests.browser.conftest import Quiet


def test_each_host_shows_what_the_command_prints(visit, each_host, capsys):
    """One state a host: what its formulas say in all the others is held against numpy once."""
    state = {"k": 12, "S": 4097, "overhead": 2.5}
    there = visit(f"{each_host}?{urlencode(state)}")
    options = [f"--{name}={value}" for name, value in state.items()]
    main(["read", "kernel-fusion", *options, "--json"])
    said = json.loads(capsys.readouterr().out)
    shown = there.readings()
    assert shown == pytest.approx({it: said["readings"][it] for it in shown}, rel=1e-12)
    there.slider("Chain length k").press("Home")
    expect(there.page.locator(".readout [data-output=speedup]")).to_have_text("1.00×")
    there.page.wait_for_url("**k=1*")


@pytest.mark.parametrize("slash", ["", "/"])
def test_under_a_path_prefix_everything_is_found(visit, site, tmp_path, slash):
    shutil.copytree(site, tmp_path / "courses" / "gpu")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        prefix = f"http://127.0.0.1:{http.server_port}/courses/gpu"
        there = visit(None)
        answers = []
        there.page.on("response", lambda it: answers.append((it.status, it.url)))
        there.open(f"{prefix}/kernel-fusion{slash}")
        there.slider("Chain length k").press("End")
        expect(there.page.locator(".readout")).to_contain_text("16 kernels")
        there.page.goto(f"{prefix}/")
        there.page.get_by_role("link", name="Kernel Fusion").click()
        there.page.wait_for_function("document.documentElement.dataset.plate === 'ready'")
        assert [it for it in answers if it[0] >= 400 or not it[1].startswith(prefix)] == []
        http.shutdown()


def test_all_that_a_reader_downloads_stays_light(site):
    parts = [site / "kernel-fusion" / "index.html", *(site / "assets").iterdir()]
    mine = [it for it in parts if "falling-stone" not in it.name]
    assert len(mine) == 4
    assert sum(len(gzip.compress(it.read_bytes(), 9)) for it in mine) < 75_000
    assert len(gzip.compress((site / "kernel-fusion.html").read_bytes(), 9)) < 75_000


def test_what_is_exported_has_no_library_and_names_no_other_host(site):
    for file in site.rglob("*"):
        if file.suffix in (".js", ".css", ".html"):
            text = file.read_text(encoding="utf-8")
            named = set(re.findall(r"https?://[^\s\"'<`]+", text))
            assert named <= {"https://your.host/"}, file  # what a reader is to fill in
            assert not re.search("bokeh|panel", text, re.IGNORECASE), file
