"""Sliders, typed boxes, presets: by role and name, by keyboard, by hand, and when mistyped."""

import re

import pytest
from playwright.sync_api import expect

K, S, OVERHEAD = "Chain length k", "Tensor size S", "Launch overhead"

KEYS = [
    (K, "ArrowRight", "6 kernels"),
    (K, "ArrowLeft", "4 kernels"),
    (K, "ArrowUp", "6 kernels"),
    (K, "ArrowDown", "4 kernels"),
    (K, "PageUp", "7 kernels"),
    (K, "PageDown", "3 kernels"),
    (K, "Home", "1 kernel"),
    (K, "End", "16 kernels"),
    (S, "ArrowRight", "39,903,169 values"),  # 2^25.25
    (S, "PageUp", "64 Mi values"),
    (S, "PageDown", "16 Mi values"),
    (S, "Home", "256 values"),
    (S, "End", "1 Gi values"),
    (OVERHEAD, "ArrowRight", "4.1 µs per kernel"),
    (OVERHEAD, "PageDown", "2 µs per kernel"),
    (OVERHEAD, "Home", "0 µs per kernel"),
    (OVERHEAD, "End", "20 µs per kernel"),
]


def spoken(slider, text):
    expect(slider).to_have_attribute("aria-valuetext", re.compile(text.replace(" ", r"\s")))


@pytest.mark.parametrize(("name", "key", "text"), KEYS)
def test_each_key_does_what_a_slider_s_key_does(visit, url, name, key, text):
    slider = visit(url).slider(name)
    slider.press(key)
    spoken(slider, f"^{text}$")


def test_half_of_the_size_slider_is_the_geometric_mean_of_its_ends(visit, url):
    there = visit(url)
    there.slider(S).fill("19")
    spoken(there.slider(S), "^512 Ki values$")


def test_decimals_stay_the_decimals_that_one_reads(visit, url):
    there = visit(f"{url}?overhead=5")
    slider = there.slider(OVERHEAD)
    for _ in range(8):
        slider.press("ArrowRight")
    spoken(slider, r"^5\.8 µs")
    expect(there.box(OVERHEAD)).to_have_value("5.8")
    there.page.wait_for_url("**overhead=5.8*")


def test_whole_numbers_stay_whole_through_the_whole_range(visit, url):
    there = visit(url + "?k=1")
    for n in range(1, 17):
        expect(there.box(K)).to_have_value(str(n))
        there.slider(K).press("ArrowRight")


def test_one_step_of_the_slider_is_one_frame_later_everywhere(visit, url):
    there = visit(url)
    there.slider(K).press("End")
    expect(there.page.locator(".readout")).to_contain_text("16 kernels")
    found = there.readings()
    assert found["speedup"] == pytest.approx(16)
    figure = there.page.get_by_role("img", name=re.compile("16 kernels.*705.0"))
    expect(figure).to_have_attribute("data-figure", "time-vs-size")


def test_a_size_that_is_no_stop_stays_exact_and_the_next_key_goes_to_its_neighbour(visit, url):
    there = visit(url)
    box, slider = there.box(S), there.slider(S)
    for key, text in (("ArrowRight", "39,903,169"), ("ArrowLeft", "32 Mi")):
        box.fill("33554433")
        box.press("Enter")
        spoken(slider, "^33,554,433 values$")
        expect(box).to_have_value("33554433")
        slider.press(key)
        spoken(slider, f"^{text} values$")


@pytest.mark.parametrize(
    ("text", "value"),
    [("8192x4096", 33554432), ("8192 × 2048", 16777216), ("2^25", 33554432), ("2^5Mi", 33554432)],
)
def test_a_size_may_be_typed_as_one_says_it(visit, url, text, value):
    there = visit(f"{url}?S=300")
    there.box(S).fill(text)
    there.box(S).press("Enter")
    expect(there.box(S)).to_have_value(str(value))
    there.page.wait_for_url(f"**S={value}*")


@pytest.mark.parametrize("text", ["", "abc", "-5", "0", "17", "1e999", "NaN", "2.5", "５"])
def test_a_bad_entry_keeps_the_last_good_value_and_says_why(visit, url, text):
    there = visit(f"{url}?k=7")
    box = there.box(K)
    box.fill(text)
    box.press("Enter")
    problem = there.page.locator("#k-problem")
    expect(problem).to_have_text(f"k = “{text}” is not a whole number from 1 to 16; it is still 7.")
    expect(box).to_have_attribute("aria-invalid", "true")
    assert "k-problem" in box.get_attribute("aria-describedby")
    spoken(there.slider(K), "^7 kernels$")
    assert there.readings()["speedup"] == pytest.approx(7)
    box.press("Tab")
    expect(box).to_have_value("7")
    there.slider(K).press("ArrowRight")
    expect(problem).to_have_text("")


def test_a_click_with_a_modifier_is_the_browser_s(visit, url):
    there = visit(url)
    for selector in ('a[href^="#term-"]', "a[data-part]"):
        link = there.page.locator(selector).first
        with there.context.expect_page() as opened:
            link.click(modifiers=["ControlOrMeta"])
        opened.value.wait_for_url(f"**{link.get_attribute('href')}")


def test_the_wheel_scrolls_whatever_has_the_focus(visit, url):
    page = visit(url).page
    page.locator("#guess-0").fill("40")
    for selector in ("#guess-0", "#k", "[data-typed=S]", ".scrub"):
        field = page.locator(selector).first
        field.focus()
        before, top = field.input_value(), page.evaluate("scrollY")
        box = field.bounding_box()
        page.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2)
        page.mouse.wheel(0, 60)
        page.wait_for_function("top => scrollY > top", arg=top)
        assert field.input_value() == before


def test_presets_and_reset(visit, url):
    there = visit(f"{url}?k=9&overhead=1")
    button = there.page.get_by_role("button", name="one decoded token")
    button.click()
    spoken(there.slider(S), "^4 Ki values$")
    spoken(there.slider(K), "^9 kernels$")
    there.page.get_by_role("button", name="8192-token sequence").click()
    spoken(there.slider(S), "^32 Mi values$")
    there.page.get_by_role("button", name="Reset").click()
    spoken(there.slider(K), "^5 kernels$")
    spoken(there.slider(OVERHEAD), "^4 µs")


def test_every_control_is_reached_and_left_by_the_tab_key(visit, url):
    there = visit(url)
    there.page.locator("body").press("Tab")
    while there.page.evaluate("document.activeElement.dataset.input") != "k":
        there.page.keyboard.press("Tab")
    order = []
    for _ in range(10):
        order.append(
            there.page.evaluate("""(() => { const it = document.activeElement;
            return it.dataset.input ?? it.dataset.typed ?? it.textContent; })()""")
        )
        outline = there.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        there.page.keyboard.press("Tab")
    assert order == [
        "k",
        "k",
        "S",
        "S",
        "overhead",
        "overhead",
        "8192-token sequence",
        "one decoded token",
        "Reset",
        "Take the tour",
    ]


def test_a_held_key_is_announced_once_it_rests(visit, url):
    there = visit(url + "?S=256")
    there.page.evaluate("""window.spoken = [];
        const place = document.querySelector('#spoken');
        new MutationObserver(() => window.spoken.push(place.textContent))
            .observe(place, {childList: true});""")
    for _ in range(40):
        there.slider(S).press("ArrowRight")
    there.page.wait_for_function("window.spoken.length > 0")
    expect(there.page.locator("#spoken")).to_contain_text("256 Ki")
    assert there.page.evaluate("window.spoken.length") <= 2


def test_the_pointer_over_the_curves_shows_their_values(visit, url):
    there = visit(url)
    plot = there.page.locator('[data-figure="time-vs-size"]')
    tip = plot.locator(".tip")
    expect(tip).to_be_hidden()
    plot.hover(position={"x": 2, "y": 100})
    expect(tip).to_contain_text("256 values")
    expect(tip).to_contain_text(re.compile(r"unfused 20\.00\sµs"))
    expect(tip).to_contain_text(re.compile(r"fused 4\.000\sµs"))
    there.page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    there.page.locator('[data-figure="bytes-moved"]').hover()
    expect(there.page.locator('[data-figure="bytes-moved"] .tip')).to_contain_text("134.2")


def test_a_tap_shows_the_values_and_a_tap_elsewhere_hides_them(visit, url):
    there = visit(url, viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True)
    plot = there.page.locator('[data-figure="time-vs-size"]')
    plot.tap(position={"x": 150, "y": 100})
    tip = plot.locator(".tip")
    expect(tip).to_be_visible()
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    there.page.locator("h1").tap()
    expect(tip).to_be_hidden()
