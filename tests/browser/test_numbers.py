"""Browser and numpy, prose and figure: one set of numbers."""

import dataclasses
import random
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from app.page import page
from app.text import slots
from model import cost, gpus
from model.chains import CHAINS, own_text
from plates.hardware_inputs import Card
from plates.kernel_fusion import KernelFusion, plate
from plates.plate import inputs_of, values
from tests.browser.conftest import plates_serve
from tests.plates.test_kernel_fusion import US, WORKED

CLOSE = {"rel": 1e-12}


def states(count):
    chance = random.Random(2)
    for _ in range(count):
        yield {
            "k": chance.randint(1, 16),
            "S": round(2 ** chance.uniform(8, 30)),
            "overhead": chance.choice([0, chance.uniform(0, 20), round(chance.uniform(0, 20), 1)]),
        }


def any_states(count):
    """Draw states in which every input is anything that it may be."""
    chance = random.Random(4)
    known = inputs_of(KernelFusion)
    for _ in range(count):
        state = {}
        for name, it in known.items():
            if it.kind == "choice":
                state[name] = chance.choice(list(it.options))
            elif it.kind == "flags":
                on = [flag for flag in it.options if chance.random() < 0.7]
                state[name] = ",".join(on) or "none"
            elif it.kind == "rows":
                state[name] = own_text(chance.choice([c for c in CHAINS.values() if not c.repeats]))
            else:
                low, high = it.bounds
                value = np.exp(chance.uniform(np.log(max(low, 0.01)), np.log(high)))
                state[name] = round(value) if it.whole else float(value)
        yield state


def test_on_five_hundred_states_of_all_inputs_browser_and_numpy_agree(visit, url):
    asked = list(any_states(500))
    found = visit(url).page.evaluate("asked => asked.map(it => read(it))", asked)
    for state, there in zip(asked, found, strict=True):
        expected = plate.drawn(**plate.given(state))
        for name, value in there.items():
            np.testing.assert_allclose(
                value, np.squeeze(expected[name]), rtol=1e-9, atol=1e-30, err_msg=f"{name} {state}"
            )


def test_on_five_thousand_states_browser_and_numpy_agree(visit, url):
    asked = list(states(5000))
    there = visit(url).page
    found = there.evaluate("asked => asked.map(it => outcome(read({...defaults, ...it})))", asked)
    columns = {name: np.array([it[name] for it in asked]) for name in asked[0]}
    expected = plate.read(columns)
    for name in plate.outputs:
        here = np.broadcast_to(expected[name], len(asked))
        np.testing.assert_allclose([it[name] for it in found], here, rtol=1e-12, atol=0)


@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"k={row[0]},S={row[1]}")
def test_the_worked_numbers_stand_on_the_page(visit, url, row):
    k, S, overhead, unfused, fused, *_ = row
    found = visit(f"{url}?k={k}&S={S}&overhead={overhead}").readings()
    assert found["time_unfused"] == pytest.approx(unfused * US, rel=5e-4)
    assert found["time_fused"] == pytest.approx(fused * US, rel=5e-4)


def test_what_is_shown_is_what_numpy_says(visit, url):
    there = visit(url)
    for state in states(40):
        there.set(**state)
        expected = plate.read(state)
        for name, value in there.readings().items():
            assert value == pytest.approx(float(expected[name]), **CLOSE)


def test_numbers_are_written_alike_in_python_and_in_the_browser(visit, url):
    there = visit(url).page
    asked = list(states(500))
    texts = there.evaluate(
        """asked => asked.map(inputs => {
        const readings = read({...defaults, ...inputs});
        return [...Object.keys(inputs).map(name => inputText(name, inputs[name])),
          ...Object.keys(plate.outputs).map(name => outputText(name, readings[name]))];
    })""",
        asked,
    )
    for state, found in zip(asked, texts, strict=True):
        here = slots(plate, {**values(KernelFusion()), **state})
        names = [*state, *plate.outputs]
        assert found == [here[name].text for name in names]


def test_all_that_follows_the_state_is_drawn_where_numpy_says_in_any_state(visit, url):
    there = visit(url)
    there.page.evaluate("all('details').forEach(it => { it.open = true; })")
    for state in any_states(25):
        there.set(**state)
        there.agrees(plate, state)
        expected = plate.outcome(state)
        for name, value in there.readings().items():
            assert value == pytest.approx(expected[name], rel=1e-12, abs=1e-30)


def test_the_drawn_figure_is_right_all_through_a_drag(visit, url):
    there = visit(url)
    slider = there.slider("Chain length k")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    there.page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    there.page.mouse.down()
    seen = set()
    bar = there.page.locator("rect[data-part=bytes_unfused]")
    for share in np.linspace(0.02, 0.98, 9):
        there.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        there.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        k = there.page.evaluate("state.k")
        seen.add(k)
        assert bar.get_attribute("width") == f"{100 * k / 16:g}%"
    there.page.mouse.up()
    assert len(seen) >= 7


def test_the_figure_holds_its_scales_while_the_inputs_move(visit, url):
    there = visit(url)
    scales = """all("[data-figure=time-vs-size] :is(.ticks, .grid)").map(it => it.outerHTML)"""
    before = there.page.evaluate(scales)
    for state in states(5):
        there.set(**state)
        assert there.page.evaluate(scales) == before


def test_the_smallest_and_largest_states_draw_finite_curves(visit, url):
    there = visit(url)
    for k in (1, 16):
        for S in (2**8, 2**30):
            for overhead in (0, 20):
                there.set(k=k, S=S, overhead=overhead)
                html = there.page.locator("main").inner_html()
                assert not re.search("NaN|Infinity|undefined|null", html)


def test_what_falls_below_the_axis_is_marked_at_its_edge(visit, url):
    there = visit(f"{url}?S=256&overhead=0")
    circle = there.page.locator("circle[data-part=time_fused]")
    assert circle.get_attribute("cy") == "100%"
    mark = there.page.locator("text.mark[data-part=time_fused]")
    expect(mark.locator("tspan").first).to_be_visible()
    expect(mark).to_have_text("↓ ↑ 0.3057\xa0ns")


def test_the_page_follows_a_constant_and_a_formula_of_the_model(visit, tmp_path, monkeypatch):
    gpu = gpus.GPUS["h100-sxm"]
    card = KernelFusion.param["gpu"].options["h100-sxm"]
    wide = dataclasses.replace(card, record=Card(dataclasses.replace(gpu, bandwidth=6.7e12)))
    monkeypatch.setitem(KernelFusion.param["gpu"].options, "h100-sxm", wide)
    monkeypatch.setattr(cost, "transfer_s", lambda moved, bandwidth: 7 * moved / bandwidth)
    changed = tmp_path / "changed.html"
    changed.write_text(page(plate, None), encoding="utf-8")
    there = visit(changed.as_uri())
    there.slider("Tensor size S").press("Home")
    expect(there.page.locator(".readout [data-output=bytes_fused]")).to_have_text("1.024\xa0kB")
    # 4 bytes a value, seven times over, 256 values, 6.7 TB/s, and 4 µs of launch
    assert there.readings()["time_fused"] == pytest.approx(4e-6 + 7 * 4 * 256 / 6.7e12, **CLOSE)
    assert there.page.evaluate("stopsOf(plate.figures[0], state).stops[0].time_fused") == (
        pytest.approx(4.00107e-6, rel=1e-6)
    )


def test_both_engines_show_the_same_over_the_same_states(visit, url):
    with plates_serve("--engine", "python") as python:
        there = visit(python.url + "kernel-fusion").joined()
        there.page.evaluate("all('details').forEach(it => { it.open = true; })")
        for state in [*states(12), {"k": 5, "S": 4096, "overhead": 4}]:
            there.set(**state)
            there.page.wait_for_function(
                "asked => Object.keys(asked).every(it => shown.inputs[it] === asked[it])", arg=state
            )
            there.agrees(plate, values(KernelFusion(**state)))


def test_defaults_are_those_of_the_param_class(visit, url):
    assert visit(url).page.evaluate("state") == {
        name: it.default for name, it in inputs_of(KernelFusion).items()
    }
