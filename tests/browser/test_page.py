"""The page as a whole: whom it serves, what it asks for, how it holds still."""

import re
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from app.page import page
from plates.kernel_fusion import plate
from tests.browser.conftest import alike

SIZES = [(1280, 900), (390, 844)]


@pytest.mark.parametrize("size", SIZES, ids=lambda it: str(it[0]))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(visit, url, size, theme):
    there = visit(url, viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    there.box("Chain length k").fill("99")
    there.box("Chain length k").press("Enter")
    found = Axe().run(there.page)
    assert [it["id"] for it in found.response["violations"]] == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_scrolls_sideways(visit, url, width):
    there = visit(f"{url}?k=99", viewport={"width": width, "height": 640})
    assert there.page.evaluate("document.documentElement.scrollWidth") <= width


YOUNG = (
    "light-dark(", "color-mix(", ":has(", "subgrid", "field-sizing", "text-wrap", "@container",
    "popover", "@starting-style", "anchor(",
)  # fmt: skip
"""What a browser of three years ago may not know in a style sheet or a selector."""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_without_what_is_young_in_style_sheets_it_is_as_readable(
    visit, url, site, tmp_path, theme, width
):
    html = (site / "kernel-fusion.html").read_text(encoding="utf-8")
    for name in YOUNG:
        html = html.replace(
            name, "unknown-" + name if name[0] not in ":@" else name[0] + "x-" + name
        )
    (tmp_path / "old.html").write_text(html, encoding="utf-8")
    context = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    old = visit((tmp_path / "old.html").as_uri(), **context)
    new = visit(url, **context)
    assert old.page.evaluate(COLOURS) == new.page.evaluate(COLOURS)
    assert old.page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(old.page)
    assert [it["id"] for it in found.response["violations"]] == []
    old.page.locator("#time-vs-size").hover()
    expect(old.page.locator("#time-vs-size .tip")).to_be_visible()


COLOURS = """() => all("html, .workshop, .controls, input, select, button, .plot *, p, #term")
    .map(it => getComputedStyle(it))
    .map(it => [it.color, it.backgroundColor, it.borderColor, it.fill, it.stroke].join())"""


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_from_right_to_left_the_text_turns_and_figures_and_numbers_stay(visit, url, width):
    there = visit(url, viewport={"width": width, "height": 800})
    page = there.page
    page.evaluate("all('details').forEach(it => { it.open = true; })")
    drawn = page.evaluate(DRAWN)
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert page.evaluate(DRAWN) == pytest.approx(drawn, abs=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # A number stands before its unit, in the sentence and in the table.
    for selector in (".readout [data-output=time_unfused]", "tr.total td .number"):
        assert page.locator(selector).first.evaluate(ENDS) == pytest.approx(1, abs=0.3)
    # The thumb goes the way of the key.
    slider = there.slider("Chain length k")
    box = slider.bounding_box()
    slider.press("End")
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    assert page.evaluate("state.k") == 16


DRAWN = """() => all(".plot text").map(it => [it, it.closest(".plot")])
    .map(([it, plot]) => it.getBoundingClientRect().left - plot.getBoundingClientRect().left)"""
ENDS = """it => {
    const node = document.createTreeWalker(it, NodeFilter.SHOW_TEXT).nextNode();
    const at = (n) => {
        const range = document.createRange();
        range.setStart(node, n);
        range.setEnd(node, n + 1);
        return range.getBoundingClientRect().left;
    };
    const whole = document.createRange();
    whole.selectNodeContents(it);
    const {left, right} = whole.getBoundingClientRect();
    return (at(node.length - 1) - at(0)) / (right - left);
}"""


@pytest.mark.parametrize(
    "context",
    [{"viewport": {"width": 390, "height": 844}}, {"has_touch": True, "is_mobile": True}],
    ids=["narrow", "touch"],
)
def test_no_field_makes_a_phone_enlarge_the_page(visit, url, context):
    there = visit(f"{url}?gpu=custom&chain=own&model=refined", **context)
    there.page.evaluate("all('details').forEach(it => { it.open = true; })")
    sizes = there.page.evaluate(
        "all('input, select, textarea').map(it => parseFloat(getComputedStyle(it).fontSize))"
    )
    assert len(sizes) > 15
    assert min(sizes) >= 16


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_with_the_spacing_that_a_reader_may_set_nothing_is_cut_off(visit, url, width):
    """WCAG 1.4.12; 320 pixels are 1280 at 400 % as well."""
    there = visit(url, viewport={"width": width, "height": 256}).page
    there.evaluate("all('details').forEach(it => { it.open = true; })")
    there.add_style_tag(
        content="""* { line-height: 1.5 !important; letter-spacing: .12em !important;
        word-spacing: .16em !important } p { margin-bottom: 2em !important }"""
    )
    assert there.evaluate("document.documentElement.scrollWidth") <= width
    cut = there.evaluate(
        """all("label, .shown, button, .readout, p, dd, summary, figcaption, li").filter(it =>
        it.clientWidth > 1 && getComputedStyle(it).overflow !== "visible"
        && (it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1))
        .map(it => it.outerHTML.slice(0, 80))"""
    )
    assert cut == []


@pytest.mark.parametrize("width", [320, 1280])
def test_targets_are_large_enough(visit, url, width):
    there = visit(url, viewport={"width": width, "height": 640})
    there.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    for target in there.page.locator("input:visible, button:visible, select:visible").all():
        box = target.bounding_box()
        assert box["width"] >= 24
        assert box["height"] >= 24


def test_the_file_opened_from_disk_without_a_network_asks_for_nothing(visit, url):
    there = visit(None, offline=True)
    there.open(url)
    there.slider("Chain length k").press("End")
    expect(there.page.locator(".readout")).to_contain_text("705.0")
    assert there.requests == [url]
    assert there.sockets == []


def test_the_site_asks_for_five_files_of_its_own(visit, site_url):
    there = visit(site_url + "kernel-fusion/")
    assert len(there.requests) <= 5
    assert all(it.startswith(site_url) for it in there.requests)
    assert there.sockets == []


def test_the_served_page_asks_its_own_server_and_nobody_else(visit, server):
    there = visit(server + "kernel-fusion")
    assert len(there.requests) <= 5
    assert [it for it in there.requests if not it.startswith(server)] == []
    assert there.sockets == []
    assert there.page.context.cookies() == []


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def test_the_site_runs_under_a_strict_policy(visit, site_url):
    there = visit(None)

    def with_policy(route):
        answer = route.fetch()
        route.fulfill(response=answer, headers=answer.headers | {"Content-Security-Policy": POLICY})

    there.page.route("**/*", with_policy)
    there.open(site_url + "kernel-fusion/?chain=relu-squared&model=refined&points=on")
    there.page.evaluate("all('details').forEach(it => { it.open = true; })")
    there.slider("Launch overhead").press("Home")
    expect(there.page.locator(".readout")).to_contain_text("A chain of 2 kernels")
    there.page.get_by_role("combobox", name="Chain", exact=True).select_option("jsd")
    expect(there.page.locator(".readout")).to_contain_text("A chain of 18 kernels")
    there.page.get_by_role("button", name="Take the tour").click()
    expect(there.page.locator(".tour")).to_contain_text("1 of 5")


def test_a_fault_in_one_part_leaves_the_others_working(visit, site, tmp_path):
    html = (site / "kernel-fusion.html").read_text(encoding="utf-8")
    assert html.count("function startTerms() {") == 1
    broken = html.replace(
        "function startTerms() {", "function startTerms() { throw Error('oh');", 1
    )
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    there = visit((tmp_path / "broken.html").as_uri(), expected=["oh"])
    there.slider("Chain length k").press("End")
    expect(there.page.locator(".readout [data-output=speedup]")).to_have_text("16.0×")
    there.page.get_by_role("button", name="Take the tour").click()
    expect(there.page.locator(".tour")).to_be_visible()


def test_without_scripts_it_is_an_article_with_its_figures(visit, url):
    there = visit(None, java_script_enabled=False)
    there.page.goto(url)
    expect(there.page.get_by_role("heading", name="Where fusion does not help")).to_be_visible()
    expect(there.page.locator(".readout")).to_contain_text(re.compile(r"220\.3\sµs"))
    figure = there.page.get_by_role("img", name=re.compile("tensor size.*220.3.*44.06"))
    assert figure.locator("polyline").count() == 3
    assert figure.bounding_box()["height"] > 200


def test_scripts_change_nothing_of_the_first_picture(visit, url):
    first = visit(None, java_script_enabled=False)
    first.page.goto(url)
    there = visit(url)
    for figure in ("time-vs-size", "bytes-moved", "timeline", "roofline", "kernels"):
        one, other = (it.page.locator(f"#{figure}").inner_html() for it in (first, there))
        assert alike(one, other)


def test_what_is_folded_away_holds_the_state_of_the_address_at_once(visit, url):
    there = visit(f"{url}?chain=softmax&S=4096&model=refined").page
    steps = there.locator("[data-figure=kernels]")
    assert "def softmax" in steps.text_content()
    assert "row maximum" in steps.text_content()


def test_two_curves_of_one_plate_keep_apart(visit, tmp_path):
    other = replace(plate.figures[0], id="again", y=replace(plate.figures[0].y, low=1e-9))
    file = tmp_path / "two.html"
    file.write_text(page(replace(plate, figures=(*plate.figures, other)), None), encoding="utf-8")
    there = visit(file.as_uri()).page
    lines = [
        there.locator(f"#{it} polyline[data-part=time_fused]").get_attribute("points")
        for it in ("time-vs-size", "again")
    ]
    assert lines[0] != lines[1]


SHIFTS = """window.shift = 0; new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""


@pytest.mark.parametrize("size", SIZES, ids=lambda it: str(it[0]))
def test_nothing_shifts_while_loading_or_dragging(visit, url, size):
    there = visit(None, viewport={"width": size[0], "height": size[1]})
    there.page.add_init_script(SHIFTS)
    there.open(url)
    slider = there.slider("Launch overhead")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    there.page.mouse.move(box["x"] + 10, middle)
    there.page.mouse.down()
    for step in range(12):
        there.page.mouse.move(box["x"] + 10 + step * box["width"] / 14, middle)
    there.page.mouse.up()
    there.slider("Tensor size S").press("Home")
    there.page.wait_for_url("**S=256*")
    assert there.page.evaluate("window.shift") == 0


def swipe(there, target, x, y):
    """Move a finger from the right part of the target, by x and y pixels."""
    cdp = there.context.new_cdp_session(there.page)
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    start = {"x": box["x"] + box["width"] * 0.8, "y": box["y"] + box["height"] / 2}
    points = [{"x": start["x"] + x * n / 15, "y": start["y"] + y * n / 15} for n in range(16)]
    for kind, at in [("touchStart", points[0]), *[("touchMove", it) for it in points[1:]]]:
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize("selector", ["[data-figure]", "[data-input=k]", "[data-input=S]"])
def test_a_swipe_that_starts_on_a_figure_or_a_slider_scrolls_the_page(visit, url, selector):
    there = visit(url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    target = there.page.locator(selector).first
    target.scroll_into_view_if_needed()
    before = there.page.evaluate("scrollY")
    swipe(there, target, 0, -300)
    there.page.wait_for_function(f"scrollY > {before} + 200")
    there.page.wait_for_function("state.k === 5 && state.S === 33554432")


def test_a_finger_that_moves_along_a_slider_slides_it(visit, url):
    there = visit(url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    slider = there.slider("Chain length k")
    slider.scroll_into_view_if_needed()
    before = there.page.evaluate("scrollY")
    swipe(there, slider, -0.3 * slider.bounding_box()["width"], 0)
    there.page.wait_for_function("state.k > 6 && state.k < 11")
    assert there.page.evaluate("scrollY") == before


def test_a_second_plate_is_listed_drawn_and_live(visit, server):
    there = visit(None)
    there.page.goto(server)
    there.page.get_by_role("link", name="A Falling Stone").click()
    there.page.wait_for_function("document.documentElement.dataset.plate === 'ready'")
    there.slider("Height").press("End")
    expect(there.page.locator(".readout")).to_contain_text("14.45")
    assert there.readings()["dropped"] == pytest.approx((2 * 1024 / 9.81) ** 0.5)
    assert there.page.locator("circle").first.get_attribute("cx") == "100%"
    there.slider("Start").press("ArrowRight")
    expect(there.box("Start")).to_have_value("1")
