"""The exported site in a browser: the same numbers, under any path, from nowhere else."""

import gzip
import json
import re
import shutil
from functools import partial
from http.server import ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from plates.kernel_fusion import plate
from tests.app.test_command import plates
from tests.browser.conftest import Quiet
from tests.browser.test_numbers import CLOSE, states

ADDRESS = "?k={k}&S={S}&overhead={overhead}"


def test_for_two_hundred_addresses_the_page_shows_what_numpy_says(visit, site):
    url = (site / "kernel-fusion.html").as_uri()
    there = visit(url)
    for n, state in enumerate(states(200)):
        there.open(url + ADDRESS.format(**state))
        shown = there.readings()
        assert shown == pytest.approx(
            {name: float(plate.read(state)[name]) for name in shown}, **CLOSE
        )
        if n % 50 == 0:
            options = [f"--{name}={value}" for name, value in state.items()]
            said = json.loads(plates("read", "kernel-fusion", *options, "--json").stdout)
            assert shown == pytest.approx({it: said["readings"][it] for it in shown}, **CLOSE)


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
    weights = {it.name: len(gzip.compress(it.read_bytes(), 9)) for it in mine}
    assert len(mine) == 5
    own = sum(weight for name, weight in weights.items() if not name.startswith("bokeh"))
    assert own < 62_000
    assert sum(weights.values()) < 600_000
    assert len(gzip.compress((site / "kernel-fusion.html").read_bytes(), 9)) < 600_000


def test_what_is_ours_names_no_other_host(site):
    for file in site.rglob("*"):
        if file.suffix in (".js", ".css", ".html") and "bokeh" not in file.name:
            text = file.read_text(encoding="utf-8")
            if file.parent == site and file.name != "index.html":
                continue  # the single files have Bokeh in them
            named = set(re.findall(r"https?://[^\s\"'<]+", text))
            assert named <= {"https://your.host/"}, file  # what a reader is to fill in


@pytest.mark.parametrize("out", ["/proc/site", "/dev/null/site"])
def test_a_folder_that_cannot_be_written_is_one_line(out):
    done = plates("export", out)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
