"""The state in the address."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SLIDERS


def test_the_address_sets_the_state_in_any_order(visit, url):
    there = visit(f"{url}?overhead=2.5&S=8192x4096&nothing=1&k=12")
    assert there.page.evaluate(SLIDERS) == {"k": 12, "S": 33554432, "overhead": 2.5}
    expect(there.page.locator("#notices")).to_be_empty()


def test_a_change_is_written_back_without_an_entry_in_the_history(visit, url):
    there = visit(f"{url}?k=12&utm=x#top")
    entries = there.page.evaluate("history.length")
    for _ in range(3):
        there.slider("Chain length k").press("ArrowLeft")
    there.page.wait_for_url("**?k=9&utm=x&S=33554432&overhead=4#top")
    assert there.page.evaluate("history.length") == entries
    there.page.reload()
    there.page.wait_for_function("document.documentElement.dataset.plate === 'ready'")
    assert there.page.evaluate("state.k") == 9


@pytest.mark.parametrize(
    "text",
    [
        "999",
        "0",
        "abc",
        "2.5",
        "",
        "NaN",
        "1e400",
        "-1",
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "8&k=9",
    ],
)
@pytest.mark.parametrize("order", ["?k={}&S=67108864", "?S=67108864&k={}"])
def test_a_bad_value_falls_back_alone_with_a_notice(visit, url, text, order):
    there = visit(url + order.format(text))
    assert there.page.evaluate(SLIDERS) == {"k": 5, "S": 67108864, "overhead": 4}
    notice = there.page.locator("#notices")
    expect(notice).to_contain_text("in the address is not a whole number from 1 to 16; 5 is used.")
    expect(notice.locator("p")).to_have_count(1)
    assert there.page.locator("#notices img, #notices script").count() == 0
    there.page.wait_for_url("**k=5*")


@pytest.mark.parametrize("text", ["0.3", "0.15", "4.1", "20", "1e-7"])
def test_a_decimal_in_the_address_lands_on_itself(visit, url, text):
    there = visit(url + f"?overhead={text}")
    assert there.page.evaluate("state.overhead") == float(text)
    expect(there.page.locator("#notices")).to_be_empty()


def test_a_name_that_there_is_not_is_never_more_than_text(visit, url):
    there = visit(url + "?colour=</script><script>alert(1)</script>&__proto__=1&k=3#<img src=x>")
    assert there.page.evaluate(SLIDERS) == {"k": 3, "S": 33554432, "overhead": 4}
    expect(there.page.locator("#notices")).to_be_empty()


@pytest.mark.parametrize(("theme", "dark"), [("dark", True), ("light", False), ("auto", False)])
def test_the_address_sets_the_theme(visit, url, theme, dark):
    there = visit(f"{url}?theme={theme}")
    ground = there.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(22, 23, 26)") is dark


def test_a_theme_that_there_is_not_is_as_none(visit, url):
    there = visit(f"{url}?theme=banana", color_scheme="dark")
    assert there.page.evaluate("document.documentElement.dataset.theme") == "auto"
    expect(there.page.locator("#notices")).to_contain_text("banana")


def test_the_workshop_can_be_had_alone(visit, url):
    there = visit(f"{url}?view=workshop&k=3")
    expect(there.page.locator("h1")).to_be_hidden()
    expect(there.page.locator(".prose").first).to_be_hidden()
    expect(there.slider("Chain length k")).to_be_visible()
    expect(there.page.locator(".readout")).to_contain_text("3 kernels")
    there.slider("Chain length k").press("ArrowRight")
    there.page.wait_for_url("**view=workshop*k=4*")
