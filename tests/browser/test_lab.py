"""The lab in a browser: its controls, its figures and what is brought to it, for any plate."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from plates.kernel_fusion import KernelFusion, plate
from plates.kernel_fusion.timings import PUBLISHED, validate
from plates.plate import values

ROW = "gpu,operation,variant,dtype,values,time_us_median\nh100-sxm,{},unfused,bf16,33554432,560\n"


@pytest.fixture
def lab(visit, server):
    """Give a function that opens the lab at a query, and waits until its controls answer."""

    def opened(query="", plate="kernel-fusion", **context):
        there = visit(None, **context)
        there.page.goto(f"{server}{plate}/lab{query}")
        expect(there.page.locator(".readout")).not_to_be_empty(timeout=20_000)
        return there

    return opened


def readout(page):
    return page.locator(".readout")


def test_a_slider_moves_the_sentence_and_the_link_to_the_page(lab):
    page = lab().page
    page.get_by_role("slider", name="Chain length k").press("ArrowRight")
    expect(readout(page)).to_contain_text("A chain of 6 kernels")
    expect(page.get_by_role("link", name="Open in the plate")).to_have_attribute(
        "href", "../kernel-fusion?k=6"
    )


def test_the_page_that_the_lab_leads_to_says_the_same(lab):
    page = lab("?chain=own&steps=r2w1_r2w1_r1w1&model=refined&gpu=a100-80").page
    said = readout(page).text_content()
    page.get_by_role("link", name="Open in the plate").click()
    expect(page.locator("html")).to_have_attribute("data-plate", "ready")
    expect(page.locator(".workshop .readout")).to_have_text(said)


def test_the_served_page_leads_to_the_lab_at_its_state(visit, server):
    page = visit(f"{server}kernel-fusion?k=9&gpu=l40").page
    page.get_by_role("link", name="Open in the lab").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kernel Fusion: Lab")
    expect(readout(page)).to_contain_text("A chain of 9 kernels", timeout=20_000)
    expect(page.get_by_label("GPU", exact=True)).to_have_value("l40")


def test_an_exported_page_has_no_link_to_a_lab(visit, url):
    expect(visit(url).page.get_by_role("link", name="Open in the lab")).to_have_count(0)


def test_what_cannot_be_is_said_beside_its_control_and_changes_nothing(lab):
    page = lab("?k=99").page
    problem = page.get_by_text("k = “99” is not a whole number from 1 to 16; it is still 5.")
    expect(problem).to_be_visible()
    page.get_by_role("textbox", name="Chain length k, typed").fill("7")
    page.get_by_role("textbox", name="Chain length k, typed").press("Enter")
    expect(problem).to_have_count(0)
    expect(readout(page)).to_contain_text("A chain of 7 kernels")


def test_a_preset_sets_what_it_says_and_reset_the_rest(lab):
    page = lab("?k=8").page
    page.get_by_role("button", name="one decoded token").click()
    expect(readout(page)).to_contain_text("8 kernels (k equal steps) on 4 Ki values")
    page.get_by_role("button", name="Reset").click()
    expect(readout(page)).to_contain_text("5 kernels (k equal steps) on 32 Mi values")


def test_inputs_that_wait_for_others_answer_once_these_are_set(lab):
    page = lab().page
    expect(page.get_by_label("Launch mode")).to_be_disabled()
    expect(page.get_by_label("Own chain")).to_be_hidden()
    page.get_by_label("Cost model").select_option("refined")
    page.get_by_label("Chain", exact=True).select_option("own")
    expect(page.get_by_label("Launch mode")).to_be_enabled()
    expect(page.get_by_label("Own chain")).to_be_visible()


def test_two_visitors_are_apart(lab):
    one, other = lab().page, lab().page
    one.get_by_role("slider", name="Chain length k").press("End")
    expect(readout(one)).to_contain_text("A chain of 16 kernels")
    expect(readout(other)).to_contain_text("A chain of 5 kernels")


def test_each_plate_has_a_lab(lab):
    page = lab("?height=64", plate="falling-stone").page
    expect(readout(page)).to_contain_text("From 64 metres it falls")
    expect(page.get_by_role("img", name="Time against height")).to_be_visible()
    expect(page.get_by_role("img", name="The two times")).to_be_visible()


def test_pasted_code_is_priced_here_and_on_the_page_and_what_is_wrong_changes_nothing(lab):
    page = lab().page
    box = page.get_by_role("textbox", name="Your chain")
    box.fill("y = F.silu(gate)\nz = y * up")
    page.get_by_role("button", name="Take it in").click()
    expect(page.get_by_role("region", name="Your chain")).to_contain_text("The kernels of lines 1")
    expect(readout(page)).to_contain_text("A chain of 2 kernels")
    with page.expect_download() as download:
        page.get_by_text("Download measure.py").click()
    assert "z = y * up\n    return z" in download.value.path().read_text(encoding="utf-8")
    said = readout(page).text_content()
    box.fill("y = magic(x)")
    page.get_by_role("button", name="Take it in").click()
    expect(page.get_by_text("Line 1, y = magic(x): magic is not known here")).to_be_visible()
    expect(readout(page)).to_have_text(said)
    page.get_by_role("link", name="Open in the plate").click()
    expect(page.locator("html")).to_have_attribute("data-plate", "ready")
    expect(page.locator(".workshop .readout")).to_have_text(said)


def test_timings_are_priced_and_shown(lab):
    there = lab("?model=refined")
    there.page.get_by_label("Your timings").set_input_files(PUBLISHED)
    told = there.page.get_by_role("region", name="Your timings")
    expect(told).to_contain_text("347 rows priced", timeout=20_000)
    expect(there.page.get_by_role("img", name="Your timings")).to_be_visible()
    expect(there.page.get_by_role("columnheader", name="ratio", exact=True)).to_be_visible()
    outside = [
        it for it in there.requests if not it.startswith((there.page.url[:17], "blob", "data"))
    ]
    assert outside == []
    with there.page.expect_download() as download:
        there.page.get_by_text("Download these rows").click()
    assert len(validate(download.value.path()).table) == 347


def test_timings_that_say_nothing_are_refused_and_the_last_ones_stay(lab, tmp_path):
    page = lab().page
    for name, text in {"good.csv": ROW.format("rms_norm"), "bad.csv": ROW.format("fft")}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        page.get_by_role("button", name="Your timings").set_input_files(tmp_path / name)
        if name == "good.csv":
            expect(page.get_by_role("region", name="Your timings")).to_contain_text("1 rows priced")
    expect(page.get_by_text("traffic of the operation not counted").first).to_be_visible()
    expect(page.get_by_role("region", name="Your timings")).to_contain_text("1 rows priced")


def test_timed_copies_are_set_as_a_gpu_of_ones_own(lab):
    page = lab().page
    rows = "".join(f"{it};{4 + it / 1e6}\n" for it in (10**8, 10**9, 10**10))
    file = {"name": "copies.csv", "mimeType": "text/csv", "buffer": f"bytes;us\n{rows}".encode()}
    page.get_by_label("Your GPU, from timed copies").set_input_files(file)
    told = page.get_by_role("region", name="Your GPU, from timed copies")
    expect(told).to_contain_text("reach 2.00\xa0TB/s after a fixed 4.000\xa0µs each")
    expect(page.get_by_role("textbox", name="Ramp to memory")).to_have_value("2.6")
    expect(page.get_by_role("combobox", name="GPU")).to_have_value("custom")


HAS_COLOUR = """([canvas, [red, green, blue]]) => {
    const {width, height} = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, width, height);
    for (let n = 0; n < data.length; n += 4) {
        if (data[n] === red && data[n + 1] === green && data[n + 2] === blue) return true;
    }
    return false;
}"""
"""Whether a canvas has a colour."""
CUT_OFF = """cells => cells.filter(cell => cell.textContent.trim()
    && [cell, ...cell.querySelectorAll("*")].some(it => it.scrollWidth > it.clientWidth
        && getComputedStyle(it).overflowX !== "visible")).map(it => it.textContent)"""
"""The texts that are wider than their cells."""


def bring(page, code="y = F.silu(gate)\nz = y * up", file=PUBLISHED):
    """Paste code and pick a file, and wait until the table of each is shown."""
    page.get_by_role("textbox", name="Your chain").fill(code)
    page.get_by_role("button", name="Take it in").click()
    expect(page.get_by_role("columnheader", name="kernel")).to_be_visible(timeout=20_000)
    page.get_by_label("Your timings").set_input_files(file)
    expect(page.get_by_role("columnheader", name="ratio", exact=True)).to_be_visible(timeout=20_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_lab(lab, scheme):
    page = lab("?model=refined", color_scheme=scheme).page
    bring(page)
    expect(page.get_by_role("gridcell").get_by_role("button", name="Next")).to_have_count(2)
    found = Axe().run(page)
    assert [
        (it["id"], [n["html"] for n in it["nodes"]]) for it in found.response["violations"]
    ] == []


def test_tables_and_figures_follow_the_reader_s_theme(lab):
    page = lab("?model=refined", color_scheme="light").page
    bring(page)
    cell, button = (
        page.get_by_role("columnheader", name="ratio", exact=True),
        page.get_by_role("button", name="Download these rows").first,
    )
    painted = page.get_by_role("img", name="Bytes moved, pass by pass").locator("canvas").first
    # As in page.css, --raised and --ground.
    expect(cell).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(button).to_have_css("background-color", "rgb(251, 250, 247)")
    light = painted.evaluate("it => it.toDataURL()")
    page.emulate_media(color_scheme="dark")
    expect(cell).to_have_css("background-color", "rgb(29, 31, 35)")
    expect(button).to_have_css("background-color", "rgb(22, 23, 26)")
    page.wait_for_function(
        "([it, was]) => it.toDataURL() !== was", arg=[painted.element_handle(), light]
    )


def test_no_text_of_the_tables_is_cut_off_and_only_they_scroll_sideways(lab):
    page = lab("?model=refined", viewport={"width": 768, "height": 900}).page
    bring(page, code="y = x.float()\nz = torch.where(y.abs() > 1e-6, y, torch.zeros_like(y)) * x")
    order = page.get_by_role("columnheader", name="values", exact=True)
    for direction in ("ascending", "descending"):
        order.click()
        expect(order).to_have_attribute("aria-sort", direction)
        cells = page.get_by_role("columnheader").or_(page.get_by_role("gridcell"))
        assert cells.evaluate_all(CUT_OFF) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 768


def test_tables_and_figures_print_on_white_from_a_dark_screen(lab):
    page = lab("?model=refined", color_scheme="dark").page
    bring(page)
    heading = page.get_by_role("columnheader", name="ratio", exact=True)
    page.emulate_media(media="print")
    # As in page.css, the light --raised and --ink.
    expect(heading).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(heading).to_have_css("color", "rgb(31, 31, 29)")
    painted = page.get_by_role("img", name="Your timings").locator("canvas").first
    page.wait_for_function(HAS_COLOUR, arg=[painted.element_handle(), [31, 31, 29]])
    page.emulate_media(media="screen")
    page.wait_for_function(HAS_COLOUR, arg=[painted.element_handle(), [232, 230, 225]])


def test_the_figures_of_the_lab_hold_the_numbers_of_the_model(lab):
    page = lab("?k=8&S=536870912&overhead=5").page
    marks = page.evaluate("[...Bokeh.documents[0]._all_models.values()].map(it => it.data?.y)")
    outcome = plate.outcome({**values(KernelFusion), "k": 8, "S": 536870912, "overhead": 5.0})
    assert [outcome["time_unfused"], outcome["time_fused"]] in marks
