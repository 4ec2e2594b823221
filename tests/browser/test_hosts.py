"""The guide's own snippets, in sites that their real generators build."""

import re
import subprocess
import sys
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Quiet
from tests.browser.test_embedding import fits

GUIDE = (Path(__file__).parents[2] / "app" / "embedding.md").read_text(encoding="utf-8")


def snippet(heading, host):
    section = GUIDE.split(f"## {heading}\n")[1]
    return re.search(r"```html\n(.*?)```", section, re.DOTALL)[1].replace("https://your.host", host)


def run(*command, cwd):
    subprocess.run([sys.executable, "-m", *command], cwd=cwd, check=True, capture_output=True)


def sphinx(folder, page):
    (folder / "conf.py").write_text("extensions = ['myst_parser']\nhtml_theme = 'alabaster'\n")
    (folder / "index.md").write_text(f"# A course\n\nRead on.\n\n{page}\n\nThe end.\n")
    run("sphinx", "-q", "-W", "-b", "html", ".", "out", cwd=folder)
    return folder / "out"


def mkdocs(folder, page):
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(f"# A course\n\nRead on.\n\n{page}\n\nThe end.\n")
    (folder / "mkdocs.yml").write_text("site_name: A course\nplugins: []\ntheme:\n  name: mkdocs\n")
    run("mkdocs", "build", "-q", cwd=folder)
    return folder / "site"


@pytest.mark.parametrize(
    ("build", "heading"),
    [(sphinx, "Sphinx with MyST"), (mkdocs, "MkDocs")],
    ids=["sphinx", "mkdocs"],
)
@pytest.mark.parametrize("width", [1280, 700, 320])
def test_the_plate_stands_in_a_site_at_its_full_height(
    visit, site_url, tmp_path, build, heading, width
):
    built = build(tmp_path, snippet(heading, site_url.rstrip("/")))
    handler = partial(Quiet, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        # What the site's own theme asks of others is not the plate's affair.
        there = visit(
            None,
            expected=["Failed to load resource", "hljs is not defined", "backdrop"],
            viewport={"width": width, "height": 800},
        )
        there.page.goto(f"http://localhost:{http.server_port}/")
        element = there.page.locator("iframe")
        element.scroll_into_view_if_needed()
        frame = element.element_handle().content_frame()
        frame.wait_for_function("document.documentElement.dataset.plate === 'ready'")
        there.page.wait_for_function("document.querySelector('iframe').style.height !== ''")
        frame.get_by_role("slider", name="Chain length k").press("End")
        expect(frame.locator(".readout")).to_contain_text("16 kernels")
        frame.wait_for_function("Math.abs(innerHeight - document.body.offsetHeight) <= 2")
        assert fits(there, frame)
        http.shutdown()
