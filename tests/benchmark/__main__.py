"""`python -m tests.benchmark` prints how a drag of the size slider feels, host by host.

The yardstick is a page with a bare canvas that calls the same traced formula. *Age* is the time
from a change of the slider to the first frame that shows it, or a newer one, in picture and text.
"""

import argparse
import asyncio
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Browser, Page, async_playwright

from app.export import export
from app.page import plate_script
from plates.plate import find_plates
from tests.browser.chromium import chromium

HERE = Path(__file__).parent
DRAG_S = 3
MOVE_S = 0.0159
"""A little less than a frame, so that the moves drift through the frames."""


async def drag(page: Page) -> None:
    slider = page.locator('[data-input="S"]')
    await slider.scroll_into_view_if_needed()
    box = await slider.bounding_box()
    assert box is not None
    cdp = await page.context.new_cdp_session(page)
    middle = box["y"] + box["height"] / 2

    def mouse(kind: str, x: float, buttons: int) -> asyncio.Task:
        return asyncio.create_task(
            cdp.send(
                "Input.dispatchMouseEvent",
                {
                    "type": kind,
                    "x": x,
                    "y": middle,
                    "button": "left",
                    "buttons": buttons,
                    "clickCount": 1,
                },
            )
        )

    def x_at(share: float) -> float:
        return box["x"] + 10 + (box["width"] - 20) * (0.5 - 0.45 * math.cos(2 * math.pi * share))

    await mouse("mouseMoved", x_at(0), 0)
    await mouse("mousePressed", x_at(0), 1)
    moves, start = [], time.perf_counter()
    for n in range(1, round(DRAG_S / MOVE_S)):
        await asyncio.sleep(max(0, start + n * MOVE_S - time.perf_counter()))
        moves.append(mouse("mouseMoved", x_at(n * MOVE_S / DRAG_S * 1.7), 1))
    await asyncio.gather(*moves)
    await mouse("mouseReleased", x_at(1.7), 0)
    await page.wait_for_function("dragLog.frames.at(-1).at > dragLog.released + 500")


async def looks(page: Page, values: list[float]) -> dict[float, tuple[float, str]]:
    """Return, for each value of the slider, where its mark and what its text is once at rest."""
    found = {}
    for value in values:
        await page.locator('[data-input="S"]').fill(str(value))
        await page.evaluate("dragLog.frames.length = 0")
        await page.wait_for_function("dragLog.frames.length > 4")
        frame = await page.evaluate("dragLog.frames.at(-1)")
        found[value] = (frame["mark"], frame["text"])
    return found


def numbers(log: dict, looks: dict[float, tuple[float, str]]) -> dict[str, float]:
    """Return what one drag felt like, times in ms."""
    changes = [it for it in log["changes"] if it["at"] <= log["released"]]
    changes = [changes[0]] + [b for a, b in pairwise(changes) if a["value"] != b["value"]]
    frames = [it for it in log["frames"] if it["at"] >= changes[0]["at"]]

    def newest_shown(frame: dict) -> int:
        """Return the last change by then whose value this frame shows, or -1."""
        return max(
            (
                n
                for n, change in enumerate(changes)
                if change["at"] <= frame["at"]
                and abs(looks[change["value"]][0] - frame["mark"]) < 1e-4
                and looks[change["value"]][1] == frame["text"]
            ),
            default=-1,
        )

    shown = [newest_shown(frame) for frame in frames]
    ages = [
        next(f["at"] for f, n in zip(frames, shown, strict=True) if n >= i) - change["at"]
        for i, change in enumerate(changes)
    ]
    pictures = sum(f["painted"] for f in frames if f["at"] <= log["released"])
    tasks = [task["length"] for task in log["longTasks"] if task["start"] >= changes[0]["at"]]
    return {
        "age p50": statistics.median(ages),
        "age p95": statistics.quantiles(ages, n=20)[-1],
        "pictures/s": 1e3 * pictures / (log["released"] - changes[0]["at"]),
        "after release": max(0, changes[-1]["at"] + ages[-1] - log["released"]),
        "longest task": max(tasks, default=0),
        "changes": len(changes),
    }


async def measure(browser: Browser, url: str) -> dict[str, float]:
    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    await page.add_init_script(path=HERE / "watch.js")
    await page.goto(url)
    await page.wait_for_function("document.documentElement.dataset.plate === 'ready'")
    # Where Python holds the inputs, the page asks for a session.
    joined = "['attached', undefined].includes(document.documentElement.dataset.session)"
    await page.wait_for_function(joined)
    await page.wait_for_timeout(1000)
    await drag(page)
    log = await page.evaluate("dragLog")
    found = await looks(page, sorted({change["value"] for change in log["changes"]}))
    await page.close()
    return numbers(log, found)


async def delayed(port: Callable[[], int], delay_s: float) -> asyncio.Server:
    """Return a server before the one at `port()`, every byte later by `delay_s` each way."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while data := await reader.read(65536):
            loop.call_later(delay_s, writer.write, data)
        loop.call_later(delay_s, writer.close)

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port())
        with suppress(ConnectionError):
            await asyncio.gather(pump(reader, back), pump(there, writer))

    return await asyncio.start_server(join, "127.0.0.1", 0)


@contextmanager
def served(*options: str) -> Iterator[str]:
    """Run `plates serve` on a free port and give its address."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() + "kernel-fusion"
        finally:
            process.terminate()


async def main(rounds: int, engine_too: bool) -> None:
    plate = find_plates()["kernel-fusion"]
    rows: dict[str, list[dict[str, float]]] = {}
    far = await delayed(lambda: urlsplit(live).port, 0.05)
    far_host = f"127.0.0.1:{far.sockets[0].getsockname()[1]}"
    with (
        tempfile.TemporaryDirectory() as folder,
        served("--allow-origin", far_host) as live,
        served("--engine", "python") as python,
    ):
        out = Path(folder)
        export({plate.id: plate}, out / "site")
        script = f"<script>{plate_script(plate)}</script>"
        yardstick = (HERE / "canvas.html").read_text().replace("<script>", script + "<script>", 1)
        (out / "canvas.html").write_text(yardstick)
        hosts = {
            "bare canvas": (out / "canvas.html").as_uri(),
            "served": live,
            "served, 100 ms round trip": f"http://{far_host}/{plate.id}",
            "single file": (out / "site" / f"{plate.id}.html").as_uri(),
        }
        if engine_too:
            hosts["served, Python engine"] = python
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium())
            for _ in range(rounds):
                for name, url in hosts.items():
                    rows.setdefault(name, []).append(await measure(browser, url))
    print("ms, medians of", rounds, "rounds")
    columns = list(next(iter(rows.values()))[0])
    print(f"{'':28}" + "".join(f"{column:>15}" for column in columns))
    for name, found in rows.items():
        medians = [statistics.median(it[column] for it in found) for column in columns]
        print(f"{name:28}" + "".join(f"{value:15.1f}" for value in medians))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python-engine", action="store_true", help="measure that one as well")
    options = parser.parse_args()
    asyncio.run(main(options.rounds, options.python_engine))
