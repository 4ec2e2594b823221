"""A plate in JupyterLab, with a live kernel; needs the extra `jupyter`."""

import json
import os
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

CELLS = [
    "from app import show\nfrom plates.kernel_fusion import KernelFusion\n"
    "plate = KernelFusion(k=7)\nshow(plate)",
    "plate.k = 12",
    "print('k is', plate.k, 'and S', plate.S)",
]


def notebook(cells):
    return {
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{n}",
                "source": it,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for n, it in enumerate(cells)
        ],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture
def lab(tmp_path):
    """Give the address of a JupyterLab that has the notebook."""
    (tmp_path / "plate.ipynb").write_text(json.dumps(notebook(CELLS)))
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port = it.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--IdentityProvider.token=", f"--notebook-dir={tmp_path}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class="
        "jupyterlab.handlers.announcements.NeverCheckForUpdate",
    ]  # fmt: skip
    folders = {f"JUPYTER_{it}_DIR": str(tmp_path / it) for it in ("CONFIG", "RUNTIME")}
    with subprocess.Popen(
        command, env=os.environ | folders, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        url = f"http://127.0.0.1:{port}/"
        end = time.monotonic() + 60
        while not answers(url + "api"):
            assert time.monotonic() < end
            time.sleep(0.1)
        yield url
        process.terminate()


def answers(url):
    try:
        return urlopen(url).status == 200
    except URLError:
        return False


def test_the_workshop_lives_in_a_notebook_in_step_with_the_kernel(visit, lab):
    noise = [""]  # JupyterLab says much on its console, and none of it is ours
    there = visit(None, expected=noise, viewport={"width": 1280, "height": 1100})
    page = there.page
    page.goto(lab + "lab/tree/plate.ipynb")
    page.get_by_text("| Idle").wait_for(timeout=60000)
    cells = page.locator(".jp-CodeCell")
    cells.first.click()
    page.keyboard.press("Shift+Enter")
    frame = page.frame_locator("iframe[title='Kernel Fusion']")
    expect(frame.locator(".readout")).to_contain_text("7 kernels", timeout=60000)
    page.keyboard.press("Shift+Enter")
    expect(frame.locator(".readout")).to_contain_text("12 kernels")
    frame.get_by_role("slider", name="Tensor size S").press("Home")
    expect(frame.locator("#spoken")).to_contain_text("256 values")
    # Panel gathers what the page says and sends it a little later: a cell run at once is too early.
    heard = page.locator(".jp-OutputArea-output").last
    for run in range(3, 60):
        cells.nth(2).click()
        page.keyboard.press("Control+Enter")
        expect(cells.nth(2).locator(".jp-InputPrompt")).to_have_text(f"[{run}]:")
        if heard.inner_text() == "k is 12 and S 256\n":
            break
    expect(heard).to_have_text("k is 12 and S 256\n")
    element = page.locator("iframe[title='Kernel Fusion']")
    inside = frame.locator("body").evaluate("it => it.offsetHeight")
    assert abs(element.bounding_box()["height"] - inside) <= 2
    assert [it for it in there.requests if "://" in it and "127.0.0.1" not in it] == []
