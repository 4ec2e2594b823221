"""The explorable: numbers in the text, guesses, the tour, terms, what lights, and files."""

import csv
import io
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from plates.formats import FORMATS, formatted
from plates.kernel_fusion import plate
from plates.plate import values
from plates.words import words

NARROW = "\N{NO-BREAK SPACE}"


def text_of(there):
    return there.page.evaluate("document.body.innerText") + "".join(
        there.page.evaluate("[...document.querySelectorAll('*')].map(it => it.ariaLabel ?? '')")
    )


# ---- one state, five views


def test_a_number_in_the_text_is_a_spin_button_for_keys_and_typing(visit, url):
    there = visit(url)
    number = there.page.locator(".scrub[aria-label='Chain length k']")
    expect(number).to_have_attribute("aria-valuetext", "5 kernels")
    number.press("ArrowUp")
    expect(there.slider("Chain length k")).to_have_attribute("aria-valuetext", "6 kernels")
    number.fill("9")
    number.press("Enter")
    expect(there.box("Chain length k")).to_have_value("9")
    expect(there.page.locator(".readout [data-output=speedup]")).to_have_text("9.00×")
    number.fill("99")
    number.press("Enter")
    expect(number).to_have_attribute("aria-invalid", "true")
    assert there.page.evaluate("state.k") == 9
    number.press("Tab")
    expect(number).to_have_value("9 kernels")


def test_a_sentence_is_whole_when_copied_and_spoken_once(visit, url):
    there = visit(url)
    paragraph = there.page.locator(".prose p", has=there.page.locator(".scrub")).first
    there.slider("Chain length k").press("ArrowUp")
    expect(paragraph).to_contain_text("6 kernels")
    copied = paragraph.evaluate(
        "it => { getSelection().selectAllChildren(it); return String(getSelection()); }"
    )
    said = copied.replace("\u2060", "").replace("\xa0", " ").replace(NARROW, " ")
    assert "k is 6 kernels, S is 32 Mi values, and a launch costs 4 µs per kernel." in said
    assert paragraph.aria_snapshot().count("6 kernels") == 1
    # A field has room for its text also with the spacing that a reader may set.
    there.page.add_style_tag(
        content="* { letter-spacing: .12em !important; word-spacing: .16em !important }"
    )
    for field in paragraph.locator(".scrub").all():
        assert field.evaluate("it => it.scrollWidth - it.clientWidth") <= 1


def test_slider_box_text_table_and_link_agree_whichever_is_set(visit, url):
    there = visit(url)
    page = there.page
    page.get_by_text("The curves as numbers").click()

    def agree(text, value):
        expect(there.slider("Tensor size S")).to_have_attribute("aria-valuetext", text)
        expect(there.box("Tensor size S")).to_have_value(str(value))
        for number in page.get_by_role("spinbutton", name="Tensor size S").all():
            expect(number).to_have_attribute("aria-valuenow", str(value))
        expect(page.locator("tr.total [data-echo=S]")).to_have_text(text)
        page.wait_for_url(f"**S={value}*")

    there.slider("Tensor size S").press("Home")
    agree("256 values", 256)
    there.box("Tensor size S").fill("4Ki")
    there.box("Tensor size S").press("Enter")
    agree(f"4{NARROW}Ki values", 4096)
    number = page.get_by_role("spinbutton", name="Tensor size S").first
    number.scroll_into_view_if_needed()
    box = number.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 5, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 5 + 4 * 8, middle, steps=4)
    page.mouse.up()
    # Four stops of eight pixels each: an octave.
    agree(f"8{NARROW}Ki values", 8192)


def test_results_in_the_text_do_not_move_it(visit, url):
    there = visit(url)
    paragraph = there.page.locator(".prose p", has=there.page.locator("[data-output]")).first
    heights = set()
    for S in (256, 4096, 2**20, 2**25, 2**30):
        there.set(S=S)
        heights.add(paragraph.bounding_box()["height"])
    assert len(heights) == 1


# ---- guess, then see


def test_the_answers_are_nowhere_before_the_guess_and_beside_it_after(visit, url):
    there = visit(url)
    guesses = words(plate.words)["guess"]
    assert len(guesses) == 3
    for n, guess in enumerate(guesses):
        answer = formatted(
            plate.outcome(plate.at(guess["state"]))[guess["reading"]],
            FORMATS[plate.outputs[guess["reading"]].format],
        )
        assert answer not in text_of(there)
        assert answer not in there.page.locator("body").aria_snapshot()
        form = there.page.locator(f'[data-guess="{n}"]')
        form.get_by_role("textbox").fill("0")
        form.get_by_role("button", name="See").click()
        expect(form.locator("[role=status]")).to_contain_text("You said 0")
        expect(form.locator("[role=status]")).to_contain_text(f"The model says {answer}.")
        expect(form.locator("[role=status]")).to_contain_text(
            guess["near" if answer.startswith("0.") else "under"]
        )


def test_a_guess_is_a_number_in_its_range_however_it_is_written(visit, url):
    form = visit(url).page.locator('[data-guess="0"]')
    box = form.get_by_role("textbox")
    for said in ("", "half", "120", "-1"):
        box.fill(said)
        box.press("Enter")
        assert box.evaluate("it => it.validationMessage")
        expect(form.locator("[role=status]")).to_be_empty()
    box.fill(" 4e1 ")
    box.press("Enter")
    expect(form.locator("[role=status]")).to_contain_text("You said 40")


def test_guesses_are_skipped_by_one_key(visit, url):
    there = visit(url)
    there.page.get_by_role("button", name="Skip").focus()
    there.page.keyboard.press("Escape")
    expect(there.page.locator(".guesses")).to_be_hidden()
    expect(there.page.get_by_role("heading", name="Workshop")).to_be_focused()


# ---- the timeline, the trip, the code


def test_a_step_lights_in_code_drawing_timeline_and_table(visit, url):
    there = visit(f"{url}?chain=swiglu&model=refined").page
    there.get_by_text("Kernel by kernel", exact=True).click()
    line = there.get_by_text("out = gate * up")
    line.focus()
    lit = there.locator(".lit[data-step]")
    # The line, the row, the way through memory, and a span in each of two lanes.
    expect(lit).to_have_count(5)
    assert sorted(it.evaluate("it => it.tagName") for it in lit.all()) == [
        "LI", "TR", "path", "path", "svg",
    ]  # fmt: skip
    there.locator("tr", has_text="SiLU of gate").hover()
    expect(there.locator("li.lit")).to_contain_text(["F.silu(gate)"])


# ---- words that point, terms


def test_a_phrase_lights_its_part_of_the_figure_and_a_part_its_phrase(visit, url):
    there = visit(url).page
    phrase = there.locator('a[data-part="bytes_fused"]').first
    phrase.focus()
    expect(there.locator("rect[data-part=bytes_fused]")).to_have_class(re.compile("lit"))
    phrase.blur()
    expect(there.locator("rect[data-part=bytes_fused]")).not_to_have_class(re.compile("lit"))
    there.locator(".end[data-part=time_fused]").hover()
    expect(there.locator('a[data-part="time_fused"]').first).to_have_class(re.compile("lit"))


def test_a_term_opens_its_definition_and_escape_closes_it(visit, url):
    there = visit(url).page
    term = there.get_by_role("link", name="ridge point")
    term.focus()
    tip = there.get_by_role("tooltip")
    expect(tip).to_contain_text("arithmetic rate over bandwidth")
    expect(term).to_have_accessible_description(re.compile("stops being bound by memory"))
    there.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    term.hover()
    expect(tip).to_be_visible()
    tip.hover()
    expect(tip).to_be_visible()


def test_every_term_that_is_linked_is_in_the_glossary(visit, url):
    there = visit(None, java_script_enabled=False)
    there.page.goto(url)
    links = there.page.locator('a[href^="#term-"]').all()
    assert len(links) >= 5
    for link in links:
        assert there.page.locator(link.get_attribute("href")).count() == 1


# ---- the tour


def test_the_tour_steps_through_named_states_and_ends_when_the_reader_leaves_it(visit, url):
    there = visit(url)
    page = there.page
    page.get_by_role("button", name="Take the tour").click()
    tour = words(plate.words)["tour"]
    for n, step in enumerate(tour):
        text = page.locator(".tour [role=status]")
        expect(text).to_contain_text(step["title"])
        state = {**values(plate.inputs()), **plate.states[step["state"]].inputs}
        assert page.evaluate("state") == state
        found = plate.outcome(state)
        if "{time_unfused}" in step["note"]:
            expect(text).to_contain_text(formatted(found["time_unfused"], FORMATS["time"]))
        expect(page.locator(".tour")).to_contain_text(f"{n + 1} of {len(tour)}")
        if n + 1 < len(tour):
            page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    there.slider("Launch overhead").press("Home")
    expect(page.locator(".tour")).to_be_hidden()
    page.get_by_role("button", name="Take the tour").click()
    page.get_by_role("button", name="Next").press("Escape")
    expect(page.get_by_role("button", name="Take the tour")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1280])
def test_each_step_of_the_tour_has_a_link_and_brings_its_figure_into_view(visit, url, width):
    page = visit(url, viewport={"width": width, "height": 844}).page
    page.get_by_role("button", name="Take the tour").click()
    for step in words(plate.words)["tour"]:
        expect(page.locator(".tour [role=status]")).to_contain_text(step["title"])
        expect(page.locator(f"[data-scope={step['figure']}]").first).to_be_in_viewport(ratio=0.6)
        expect(page.locator(".tour")).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Next").click(force=True)
    page.get_by_role("link", name="Link to this step").click()
    assert page.url.endswith("#tour-5")
    page.goto(url)
    page.goto(url + "#tour-2")
    page.reload()
    expect(page.locator(".tour [role=status]")).to_contain_text("One decoded token.")
    assert page.evaluate("state.S") == 4096
    page.locator("body").press("Escape")
    expect(page.locator(".tour")).to_be_hidden()
    assert "#" not in page.url


# ---- take it away


def taken(page, kind, figure):
    with page.expect_download() as waiting:
        page.locator(f'[data-{kind}="{figure}"]').click()
    assert waiting.value.suggested_filename == f"kernel-fusion-{figure}.{kind}"
    return waiting.value.path()


def test_figures_and_tables_are_taken_as_seen(visit, url):
    there = visit(url + "?k=8&S=4096")
    there.page.get_by_text("Take it away").click()
    svg = taken(there.page, "svg", "time-vs-size").read_text()
    root = xml.etree.ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    expected = plate.outcome({"k": 8, "S": 4096})
    assert formatted(expected["time_unfused"], FORMATS["time"]) in svg
    assert len(re.findall("<polyline", svg)) == 3
    lanes = taken(there.page, "svg", "timeline").read_text()
    assert xml.etree.ElementTree.fromstring(lanes).tag.endswith("svg")
    assert formatted(expected["time_fused"], FORMATS["time"]) in lanes
    assert taken(there.page, "png", "bytes-moved").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(taken(there.page, "csv", "time-vs-size").read_text())))
    at = next(row for row in rows if row["S"] == "4096")
    assert float(at["time_fused"]) == pytest.approx(expected["time_fused"], rel=1e-12)
    steps = list(csv.DictReader(io.StringIO(taken(there.page, "csv", "kernels").read_text())))
    assert [step["launches"] for step in steps] == ["1", "7", "1"]
    assert float(steps[0]["moved"]) == 4 * 4096


@pytest.mark.parametrize(
    "query",
    [
        "k=5", "k=16&S=4096&overhead=7.5",
        "chain=rms-norm&model=refined&gpu=a100-80&S=4Mi&launch=graph",
        "chain=swiglu&model=refined&gpu=custom&bandwidth=1.5e12&l2=24e6&fp32=20e12&terms=fixed,l2",
    ],
)  # fmt: skip
def test_the_snippet_prints_what_the_page_shows(visit, url, query):
    there = visit(url + "?" + query).page
    there.get_by_text("Take it away").click()
    code = there.get_by_label("The numbers again, in Python").input_value()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = {
        name: there.locator(f".readout [data-output={reading}]").inner_text()
        for name, reading in {
            "unfused": "time_unfused", "fused": "time_fused", "speed-up": "speedup",
            "bytes unfused": "bytes_unfused", "bytes fused": "bytes_fused",
        }.items()
    }  # fmt: skip
    assert run.stdout.splitlines() == [f"{name} {text}" for name, text in shown.items()]


# ---- everyone


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_any_state(visit, url, theme, width):
    there = visit(url, color_scheme=theme, viewport={"width": width, "height": 900})
    page = there.page
    page.locator('[data-guess="0"]').get_by_role("textbox").fill("40")
    page.locator('[data-guess="0"]').get_by_role("button").click()
    page.get_by_role("button", name="Take the tour").click()
    for fold in page.locator("details").all():
        fold.locator("summary").click()
    page.get_by_role("link", name="ridge point").focus()
    found = Axe().run(page)
    assert [(it["id"], it["nodes"][0]["html"][:90]) for it in found.response["violations"]] == []


def test_a_reader_with_neither_pointer_nor_sight_finds_two_results(visit, url):
    """By keyboard alone; what is found is what the accessibility tree says."""
    there = visit(url)
    page = there.page
    page.keyboard.press("Tab")

    def tab_to(role, name):
        for _ in range(60):
            focused = page.evaluate(
                """(it => [it.getAttribute('role') ?? it.type ?? it.tagName, it.ariaLabel
                ?? it.labels?.[0]?.textContent ?? it.textContent.trim()])(document.activeElement)"""
            )
            if focused == [role, name]:
                return
            page.keyboard.press("Tab")
        raise AssertionError((role, name))

    tab_to("range", "Chain length k")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    tab_to("text", "Tensor size S, typed, in values")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("512Mi")
    page.keyboard.press("Enter")
    tab_to("text", "Launch overhead, typed, in µs per kernel")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    spoken = page.locator("#spoken")
    expect(spoken).to_contain_text("takes 5.168\xa0ms unfused and 646.0\xa0µs fused, 8.00× as fast")
    tab_to("SUMMARY", "Real chains, real GPUs")
    page.keyboard.press("Enter")
    tab_to("select-one", "Chain")
    page.keyboard.type("SwiGLU")
    page.keyboard.press("Enter")
    # 2^29 values: unfused 2 and 4 bytes in, and twice 2 out
    expect(spoken).to_contain_text(f"instead of {formatted(10 * 2**29, FORMATS['bytes'])}")


def test_printed_it_carries_the_present_state_on_white(visit, url):
    there = visit(f"{url}?k=8&S=4096", color_scheme="dark")
    there.page.emulate_media(media="print")
    assert there.page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    line = there.page.locator("polyline[data-part=time_unfused]")
    expect(line).to_be_visible()
    first = float(line.get_attribute("points").split()[0].split(",")[1])
    # 32 µs of launches on an axis from 1 µs to 30 ms
    assert first == pytest.approx(1000 * (1 - 0.3362), abs=1)
    expect(there.page.locator(".readout")).to_be_visible()
    assert there.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [320, 640])
def test_at_twice_the_text_size_nothing_scrolls_sideways(visit, url, width):
    there = visit(url, viewport={"width": width, "height": 800})
    there.page.add_style_tag(content=":root { font-size: 200%; }")
    assert there.page.evaluate("document.documentElement.scrollWidth") <= width


def test_in_forced_colours_and_reduced_motion_it_stands(visit, url):
    there = visit(url, forced_colors="active", reduced_motion="reduce").page
    assert there.evaluate("document.getAnimations().length") == 0
    expect(there.locator(".lane[data-part=time_fused] path.working")).to_be_visible()
    # Lanes are told apart by more than a colour, and so are the kinds of blocks.
    outlines = there.evaluate(
        "all('.lane .working').map(it => getComputedStyle(it).strokeDasharray)"
    )
    assert len(set(outlines)) == len(outlines) == 3
    keys = there.evaluate("all('.keys i').map(it => getComputedStyle(it).background)")
    assert len(set(keys)) == len(keys)
    # The cuts of a bar are of the ground's colour, and so end where the bar does.
    ground = there.locator(".stage").evaluate("it => getComputedStyle(it).backgroundColor")
    cuts = there.locator(".division").evaluate_all(
        "all => all.map(it => getComputedStyle(it).stroke)"
    )
    assert set(cuts) == {ground}


@pytest.mark.parametrize("figure", ["time-vs-size", "bytes-moved", "timeline", "roofline"])
def test_the_labels_of_a_figure_grow_with_the_text(visit, url, figure):
    # In one column, which has room for it.
    there = visit(url, viewport={"width": 1190, "height": 900}).page
    there.evaluate("all('details').forEach(it => { it.open = true; })")
    sizes = f"all('#{figure} text').map(it => parseFloat(getComputedStyle(it).fontSize))"
    before = there.evaluate(sizes)
    there.add_style_tag(content=":root { font-size: 200%; }")
    assert there.evaluate(sizes) == pytest.approx([2 * it for it in before], rel=0.02)


DASHES = """all("[data-figure=time-vs-size] polyline")
    .map(it => getComputedStyle(it).strokeDasharray + getComputedStyle(it).strokeWidth)"""


def test_lines_are_told_apart_without_colour_and_stand_out_in_both_themes(visit, url):
    for theme in ("light", "dark"):
        there = visit(url, color_scheme=theme).page
        dashes = there.evaluate(DASHES)
        assert len(set(dashes)) == 3
        contrasts = there.evaluate(
            """() => {
            const light = colour => {
                const canvas = new OffscreenCanvas(1, 1).getContext("2d");
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(it => it / 255)
                    .map(it => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            const ground = light(getComputedStyle(one(".workshop")).backgroundColor);
            return all("text.end").map(it => light(getComputedStyle(it).color) / ground)
                .map(it => Math.max(it, 1 / it));
        }"""
        )
        assert len(contrasts) == 3
        assert min(contrasts) >= 4.5


def test_the_figure_s_name_the_table_and_one_announcement_say_the_result(visit, url):
    there = visit(url + "?k=8&S=512Mi&overhead=5").page
    figure = there.get_by_role("img", name=re.compile(r"5\.168.ms unfused.*646\.0.µs fused"))
    expect(figure).to_have_count(2)
    there.get_by_text("The curves as numbers").click()
    row = there.get_by_role("row", name=re.compile("512.Mi"))
    expect(row).to_contain_text("5.168")
    expect(row).to_contain_text("646.0")
    there.evaluate(
        "window.said = 0; new MutationObserver(() => said++)"
        ".observe(document.querySelector('#spoken'), {childList: true})"
    )
    there.get_by_role("slider", name="Chain length k").press("ArrowLeft")
    expect(there.locator("#spoken")).to_contain_text("7 kernels")
    assert there.evaluate("said") == 1


def test_ticks_keep_to_one_family_of_units(visit, url):
    there = visit(url).page

    def ticks(figure, axis):
        return there.locator(f"[data-figure={figure}] .ticks .{axis}").all_text_contents()

    assert all(re.fullmatch(r"1(00|0)?.(µs|ms)", it) for it in ticks("time-vs-size", "y"))
    assert all(re.fullmatch(r"[\d,]+(.(Ki|Mi|Gi))?", it) for it in ticks("time-vs-size", "x"))
    assert [it.replace(NARROW, " ") for it in ticks("bytes-moved", "x")] == [
        "0 GB", "0.5 GB", "1 GB", "1.5 GB", "2 GB",
    ]  # fmt: skip
    assert "\u03bc" not in there.locator("body").inner_text()
