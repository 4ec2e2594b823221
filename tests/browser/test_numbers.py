"""Browser and numpy, prose and figure: one set of numbers."""

import dataclasses
import math
import random

import numpy as np
import pytest
from playwright.sync_api import expect

from app.page import page
from app.text import slots
from model import cost, hardware
from plates.kernel_fusion import KernelFusion, plate
from plates.kernel_fusion.inputs import Card
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


def test_on_five_thousand_states_browser_and_numpy_agree(visit, site):
    asked = list(states(5000))
    there = visit((site / "kernel-fusion.html").as_uri()).page
    found = there.evaluate("asked => asked.map(it => outcome({...defaults, ...it}))", asked)
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


def test_numbers_are_written_alike_in_python_and_in_the_browser(visit, site):
    there = visit((site / "kernel-fusion.html").as_uri()).page
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


def test_the_drawn_figure_is_right_all_through_a_drag(visit, url):
    there = visit(url)
    slider = there.slider("Chain length k")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    there.page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    there.page.mouse.down()
    seen = set()
    for share in np.linspace(0.02, 0.98, 9):
        there.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        there.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        state = there.page.evaluate("state")
        seen.add(state["k"])
        drawn = there.sources()
        for figure in plate.figures[:2]:
            table = figure.columns(plate.read, state)
            for source in set(table) & {"curves", "marks", "bars"}:
                for column, here in table[source].items():
                    np.testing.assert_allclose(drawn[source][column], here, rtol=1e-12)
        bars = drawn["bars"]
        assert bars["drawn"] == pytest.approx([state["k"] / 16, 1 / 16], **CLOSE)
    there.page.mouse.up()
    assert len(seen) >= 7


def test_the_figure_holds_its_scales_while_the_inputs_move(visit, site):
    there = visit((site / "kernel-fusion.html").as_uri())
    ranges = """JSON.stringify(Bokeh.documents.flatMap(it => it.roots()).map(it =>
        [it.x_range.start, it.x_range.end, it.y_range.start, it.y_range.end]))"""
    before = there.page.evaluate(ranges)
    for state in states(5):
        there.set(**state)
        assert there.page.evaluate(ranges) == before


def test_the_smallest_and_largest_states_draw_finite_curves(visit, site):
    there = visit((site / "kernel-fusion.html").as_uri())
    for k in (1, 16):
        for S in (2**8, 2**30):
            for overhead in (0, 20):
                there.set(k=k, S=S, overhead=overhead)
                for source in there.sources().values():
                    for column in source.values():
                        numbers = [it for it in column if not isinstance(it, str)]
                        assert all(math.isfinite(it) for it in numbers)
                text = there.page.locator(".workshop").inner_text()
                assert "NaN" not in text
                assert "Infinity" not in text


def test_what_falls_below_the_axis_is_marked_at_its_edge(visit, site):
    there = visit((site / "kernel-fusion.html").as_uri() + "?S=256&overhead=0")
    assert there.sources()["marks"]["drawn"] == [1e-6, 1e-6]
    expect(there.page.locator('[data-mark="time_fused"]')).to_have_text("↓ 0.3057\xa0ns")


def test_the_page_follows_a_constant_and_a_formula_of_the_model(visit, tmp_path, monkeypatch):
    gpu = hardware.H100_SXM
    card = KernelFusion.param["gpu"].options["h100-sxm"]
    wide = dataclasses.replace(card, record=Card(dataclasses.replace(gpu, bandwidth=6.7e12)))
    monkeypatch.setitem(KernelFusion.param["gpu"].options, "h100-sxm", wide)
    monkeypatch.setattr(
        cost, "time_s", lambda launch_s, traffic_bytes, rate: launch_s + 7 * traffic_bytes / rate
    )
    changed = tmp_path / "changed.html"
    changed.write_text(page(plate, None), encoding="utf-8")
    there = visit(changed.as_uri())
    there.slider("Tensor size S").press("Home")
    expect(there.page.locator(".readout [data-output=bytes_fused]")).to_have_text("1.024\xa0kB")
    # 4 bytes a value, seven times over, 256 values, 6.7 TB/s, and 4 µs of launch
    assert there.readings()["time_fused"] == pytest.approx(4e-6 + 7 * 4 * 256 / 6.7e12, **CLOSE)
    assert there.sources()["curves"]["time_fused"][0] == pytest.approx(4.00107e-6, rel=1e-6)


def test_both_engines_show_the_same_over_the_same_states(visit, server):
    with plates_serve("--engine", "python") as python:
        here = visit(server + "kernel-fusion")
        there = visit(python.url + "kernel-fusion").joined()
        for state in [*states(12), {"k": 5, "S": 4096, "overhead": 4}]:
            here.set(**state)
            there.set(**state)
            there.page.wait_for_function(
                "asked => Object.keys(asked).every(it => shown.inputs[it] === asked[it])", arg=state
            )
            assert here.readings() == pytest.approx(there.readings(), **CLOSE)
            ours, theirs = here.sources(), there.sources()
            for source, column in (("curves", "time_graph"), ("marks", "y"), ("bars", "value")):
                np.testing.assert_allclose(ours[source][column], theirs[source][column], rtol=1e-12)


def test_defaults_are_those_of_the_param_class(visit, url):
    assert visit(url).page.evaluate("state") == {
        name: it.default for name, it in inputs_of(KernelFusion).items()
    }
