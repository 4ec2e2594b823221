"""The plate in frames of another page, on another origin."""

import re

import pytest
from playwright.sync_api import expect

from plates.kernel_fusion import plate
from tests.browser.conftest import SLIDERS

HOST = """<!DOCTYPE html><html lang="en"><title>A course</title>
<body style="margin: 0 16px"><h1>A course</h1>{frames}{script}</body></html>"""
FRAME = """<p><iframe data-plate title="{title}" src="{src}" width="100%" height="760"
sandbox="allow-scripts" style="border: 0"></iframe></p>"""


@pytest.fixture
def host(tmp_path, site):
    """Write a page with frames, to be opened from disk: an origin of its own."""

    def write(*sources, late=False):
        frames = "".join(FRAME.format(title=f"plate {n}", src=it) for n, it in enumerate(sources))
        script = f"<script{' defer' if late else ''} src='{(site / 'embed.js').as_uri()}'></script>"
        file = tmp_path / "host.html"
        file.write_text(HOST.format(frames=frames, script=script), encoding="utf-8")
        return file.as_uri()

    return write


def opened(visit, url, count, expected=(), **context):
    there = visit(None, expected, **context)
    there.page.add_init_script("""window.heard = [];
        addEventListener('message', ({data}) => window.heard.push(data));""")
    there.page.goto(url)
    frames = [it for it in there.page.frames if it is not there.page.main_frame]
    assert len(frames) == count
    for frame in frames:
        frame.wait_for_function("document.documentElement.dataset.plate === 'ready'")
    there.page.wait_for_function(
        f"heard.filter(it => it.type === 'plate:height').length >= {count}"
    )
    return there, frames


def fits(there, frame):
    """Wait until the frame is as high as what is in it, and has nothing to scroll."""
    frame.wait_for_function("Math.abs(innerHeight - document.body.offsetHeight) <= 2")
    inside = frame.evaluate("document.documentElement.scrollHeight")
    return abs(inside - frame.frame_element().bounding_box()["height"]) <= 2


@pytest.mark.parametrize("width", [1280, 700, 320])
@pytest.mark.parametrize("view", ["full", "workshop"])
def test_a_frame_is_as_high_as_its_plate(visit, site_url, host, width, view):
    source = f"{site_url}kernel-fusion/?view={view}"
    there, (frame,) = opened(visit, host(source), 1, viewport={"width": width, "height": 800})
    there.page.wait_for_function("""document.querySelector('iframe').style.height !== ''""")
    frame.get_by_role("textbox", name="Chain length k").fill("99")
    frame.get_by_role("textbox", name="Chain length k").press("Enter")
    expect(frame.locator("#k-problem")).not_to_be_empty()
    expect(frame.locator("#spoken")).to_be_attached()
    there.page.wait_for_function("heard.length > 0")
    eventually = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"
    there.page.evaluate(eventually)
    frame.evaluate(eventually)
    there.page.evaluate(eventually)
    assert fits(there, frame)
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heights = there.page.evaluate("heard.filter(it => it.type === 'plate:height')")
    assert len(heights) <= 6


def test_three_plates_on_one_page_are_three_states(visit, site_url, host):
    sources = [f"{site_url}kernel-fusion/?view=workshop&k={k}" for k in (2, 5, 9)]
    there, frames = opened(visit, host(*sources), 3)
    frames[1].get_by_role("slider", name="Chain length k").press("End")
    there.page.wait_for_function("heard.some(it => it.type === 'plate:state')")
    assert [it.evaluate("state.k") for it in frames] == [2, 16, 9]
    states = there.page.evaluate("heard.filter(it => it.type === 'plate:state')")
    assert [it["inputs"]["k"] for it in states] == [16]
    assert list(states[0]["readings"]) == list(plate.outputs)
    assert states[0]["plate"] == "kernel-fusion"
    assert states[0]["readings"]["speedup"] == pytest.approx(16)
    assert all(fits(there, frame) for frame in frames)


def test_the_host_sets_inputs_and_nobody_else_does(visit, site_url, host):
    there, (frame,) = opened(visit, host(f"{site_url}kernel-fusion/"), 1)
    say = "message => document.querySelector('iframe').contentWindow.postMessage(message, '*')"
    there.page.evaluate(say, {"type": "plate:set", "inputs": {"k": 8, "overhead": 2.5}})
    frame.wait_for_function("state.k === 8 && state.overhead === 2.5")
    for inputs in ({"k": "9"}, {"k": 99}, {"k": None}, {"x": 3, "__proto__": 1}, "abc", None, 7):
        there.page.evaluate(say, {"type": "plate:set", "inputs": inputs})
    for message in (None, 5, "plate:set", {"type": "plate:set"}, {"type": "other"}):
        there.page.evaluate(say, message)
    frame.evaluate("postMessage({type: 'plate:set', inputs: {k: 3}}, '*')")
    there.page.evaluate(say, {"type": "plate:set", "inputs": {"k": 12}})
    frame.wait_for_function("state.k === 12")
    assert frame.evaluate(SLIDERS) == {"k": 12, "S": 33554432, "overhead": 2.5}


@pytest.mark.parametrize("late", [False, True])
def test_the_plate_follows_the_theme_of_its_host(visit, site_url, host, late):
    there, (frame,) = opened(visit, host(f"{site_url}kernel-fusion/", late=late), 1)
    there.page.evaluate("document.body.style.background = '#111'")
    frame.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    for colour, theme in [
        ("#fff", "light"),
        ("oklch(0.2 0 0)", "dark"),
        ("oklch(0.98 0.01 90)", "light"),
    ]:
        there.page.evaluate("colour => { document.body.style.background = colour; }", colour)
        frame.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")


DARK = "document.documentElement.dataset.theme === 'dark'"
LIGHT = "document.documentElement.dataset.theme === 'light'"


def test_the_host_s_script_may_stand_in_the_head_and_still_follow_its_body(
    visit, site, site_url, tmp_path
):
    host = tmp_path / "host.html"
    host.write_text(
        f"""<!DOCTYPE html><script src="{(site / "embed.js").as_uri()}"></script>
        <style>[data-theme=dark] {{ background: #111 }}</style><body data-theme="light">
        {FRAME.format(title="plate", src=site_url + "kernel-fusion/?view=workshop")}""",
        encoding="utf-8",
    )
    there, (frame,) = opened(visit, host.as_uri(), 1)
    assert fits(there, frame)
    there.page.evaluate("document.body.dataset.theme = 'dark'")
    frame.wait_for_function(DARK)


@pytest.mark.parametrize(
    ("style", "toggle"),
    [
        ("body { transition: background-color .4s } .dark { background: #111 }", "body"),
        ("body { color-scheme: light } .dark body { color-scheme: dark; color: #ddd }", "html"),
        (":root { color-scheme: light } :root.dark { color-scheme: dark }", "html"),
        (".dark { background: color(srgb 0.1 0.1 0.1) }", "p"),
    ],
)
def test_frame_and_host_agree_once_the_theme_rests(visit, site_url, host, style, toggle):
    there, (frame,) = opened(visit, host(f"{site_url}kernel-fusion/?view=workshop"), 1)
    there.page.add_style_tag(content=style)
    for theme in (DARK, LIGHT, DARK):
        there.page.evaluate("it => document.querySelector(it).classList.toggle('dark')", toggle)
        frame.wait_for_function(theme)


def test_a_theme_without_any_event_is_followed(visit, site_url, host):
    """A box that is ticked, seen by the style sheet alone; and nothing is read from a picture."""
    there, (frame,) = opened(visit, host(f"{site_url}kernel-fusion/?view=workshop"), 1)
    there.page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("afterbegin", `<style>body:has(:checked) {
                background: oklch(0.2 0.02 250 / 0.9)
            }</style><label><input type="checkbox"> dark</label>`);
            HTMLCanvasElement.prototype.getContext = () => { throw new Error("no picture"); };
        }"""
    )
    there.page.get_by_label("dark").check()
    frame.wait_for_function(DARK)
    there.page.get_by_label("dark").uncheck()
    frame.wait_for_function(LIGHT)


def test_a_frame_is_known_by_its_window_wherever_it_stands(visit, site, site_url, tmp_path):
    frame = f'<iframe src="{site_url}kernel-fusion/?view=workshop" style="border: 0"></iframe>'
    host = tmp_path / "host.html"
    host.write_text(
        f"""<!DOCTYPE html><script src="{(site / "embed.js").as_uri()}"></script>
        <body><template id="card">{frame}</template><section><div>{frame}</div></section>
        <script>
        const shadow = (within) => within.appendChild(document.createElement("div"))
            .attachShadow({{mode: "open"}});
        const within = document.querySelector("section");
        for (const root of [shadow(within), shadow(shadow(within))]) {{
            root.append(card.content.cloneNode(true));
        }}
        </script>""",
        encoding="utf-8",
    )
    there, frames = opened(visit, host.as_uri(), 3)
    assert all(fits(there, it) for it in frames)
    there.page.evaluate("document.body.style.background = '#111'")
    for it in frames:
        it.wait_for_function(DARK)


def test_a_theme_in_the_address_stands_above_the_host(visit, site_url, host):
    there, (frame,) = opened(visit, host(f"{site_url}kernel-fusion/?theme=light"), 1)
    say = "message => document.querySelector('iframe').contentWindow.postMessage(message, '*')"
    there.page.evaluate(say, {"type": "plate:theme", "theme": "dark"})
    there.page.evaluate(say, {"type": "plate:set", "inputs": {"k": 8}})
    frame.wait_for_function("state.k === 8")
    assert frame.evaluate("document.documentElement.dataset.theme") == "light"


def test_as_srcdoc_in_a_sandbox_without_storage_or_history(visit, site, tmp_path):
    html = (site / "kernel-fusion.html").read_text(encoding="utf-8")
    hostile = """<script>
        Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }});
        history.replaceState = () => { throw new Error('no'); };
    </script>"""
    host = tmp_path / "host.html"
    hears = "<script>heard = []; addEventListener('message', it => heard.push(it.data))</script>"
    frame = "<iframe sandbox='allow-scripts'></iframe>"
    host.write_text(f"<!DOCTYPE html>{hears}{frame}", encoding="utf-8")
    there = visit(None)
    there.page.goto(host.as_uri())
    there.page.evaluate(
        "html => { document.querySelector('iframe').srcdoc = html; }",
        html.replace("<body>", "<body>" + hostile, 1),
    )
    frame = there.page.frame_locator("iframe")
    frame.get_by_role("slider", name="Chain length k").press("End")
    expect(frame.locator(".readout [data-output=speedup]")).to_have_text("16.0×")
    there.page.wait_for_function("heard.some(it => it.type === 'plate:state')")


def test_in_a_fold_that_opens_later_the_figures_have_their_size(visit, site_url, tmp_path):
    host = tmp_path / "host.html"
    host.write_text(
        f"""<!DOCTYPE html><details><summary>more</summary>
        {FRAME.format(title="plate", src=site_url + "kernel-fusion/")}</details>""",
        encoding="utf-8",
    )
    there = visit(None)
    there.page.goto(host.as_uri())
    there.page.wait_for_function("document.readyState === 'complete'")
    there.page.get_by_text("more").click()
    frame = there.page.frame_locator("iframe")
    plot = frame.locator('[data-figure="time-vs-size"]')
    wide, box = plot.bounding_box(), plot.locator("svg").first.bounding_box()
    assert box["height"] > 200
    assert box["width"] == pytest.approx(wide["width"], abs=2)


def test_the_server_forbids_no_frame_and_sets_no_cookie(visit, server):
    there = visit(None)
    for path in ("", "kernel-fusion", "embed.js"):
        answer = there.context.request.get(server + path)
        assert answer.ok
        headers = {name.lower() for name in answer.headers}
        assert not headers & {"x-frame-options", "content-security-policy", "set-cookie"}


def test_the_link_that_is_copied_holds_the_state(visit, site_url):
    there = visit(None, permissions=["clipboard-read", "clipboard-write"])
    there.open(site_url + "kernel-fusion/?theme=dark#top")
    there.slider("Chain length k").press("End")
    there.page.get_by_role("button", name="Copy link").click()
    expect(there.page.locator("#copied")).to_have_text("Copied.")
    link = there.page.evaluate("navigator.clipboard.readText()")
    assert link == site_url + "kernel-fusion/?theme=dark&k=16&S=33554432&overhead=4"


@pytest.mark.parametrize("query", ["?file=1", "?a&file=/12/x%20y.html&k=2&b=%2F"])
def test_what_the_page_is_found_by_stays_in_every_address_of_it(visit, site, query):
    there = visit(None)
    page = there.page
    kept = [it for it in query[1:].split("&") if not it.startswith("k=")]
    html = (site / "kernel-fusion.html").read_text(encoding="utf-8")

    def serve(route):
        asked = route.request.url.partition("?")[2].split("&")
        good = [it for it in asked if it in kept] == kept
        route.fulfill(
            body=html if good else "", content_type="text/html", status=200 if good else 404
        )

    there.context.route("http://course.test/**", serve)
    there.open(f"http://course.test/x{query}")
    there.slider("Chain length k").press("End")
    page.wait_for_url("**k=16**")
    there.open(page.url)
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("#copied")
    expect(link).not_to_be_empty()
    src = re.search('src="([^"]*)"', page.locator("#embed textarea").input_value())[1]
    for address in (link.text_content(), src):
        there.open(address)
        assert page.evaluate("state.k") == 16


def test_where_nothing_may_be_copied_the_link_is_shown(visit, site_url, host):
    url = host(f"{site_url}kernel-fusion/?k=3")
    _, (frame,) = opened(visit, url, 1, expected=["Clipboard API has been blocked"])
    frame.get_by_role("button", name="Copy link").click()
    expect(frame.locator("#copied")).to_have_text(
        site_url + "kernel-fusion/?k=3&S=33554432&overhead=4"
    )


def test_the_code_that_the_page_offers_embeds_it_as_it_stands(visit, site_url, tmp_path):
    there = visit(site_url + "kernel-fusion/?k=3")
    there.slider("Chain length k").press("ArrowRight")
    there.page.wait_for_url("**k=4*")
    there.page.get_by_text("Embed", exact=True).click()
    code = there.page.get_by_role("textbox", name="Code to embed").input_value()
    host = tmp_path / "host.html"
    host.write_text(HOST.format(frames=code, script=""), encoding="utf-8")
    embedding, (frame,) = opened(visit, host.as_uri(), 1)
    assert frame.evaluate(SLIDERS) == {"k": 4, "S": 33554432, "overhead": 4}
    expect(frame.locator("h1")).to_be_hidden()
    embedding.page.wait_for_function("document.querySelector('iframe').style.height !== ''")
    assert fits(embedding, frame)


def test_at_a_fixed_height_the_short_form_shows_sliders_and_figures_at_once(visit, site_url):
    there = visit(site_url + "kernel-fusion/?view=workshop", viewport={"width": 700, "height": 420})
    for selector in ("[type=range]:visible", ".beside .plot:visible"):
        assert there.page.locator(selector).count() >= 2
        for element in there.page.locator(selector).all():
            box = element.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 420
