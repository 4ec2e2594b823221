"""Labels of the figures: in no state and at no width does one touch another or leave its figure."""

from itertools import product

import pytest
from playwright.sync_api import expect

from model.gpus import GPUS

SIZES = (2**8, 2**12, 2**25, 2**30)
STATES = [
    *({"k": k, "S": S, "overhead": it} for k, S, it in product((1, 5, 16), SIZES, (0, 4, 20))),
    *(
        {"gpu": gpu, "k": k, "S": S, "model": "refined"}
        for gpu, k, S in product(GPUS, (1, 16), (2**8, 2**30))
    ),
    *(
        {"chain": chain, "S": S, "dtype": dtype, "model": "refined"}
        for chain, S, dtype in product(
            ("rms-norm", "swiglu", "adamw", "rope"), SIZES, ("fp32", "bf16")
        )
    ),
    {"gpu": "custom", "tensor": 0},
    {"gpu": "custom", "bandwidth": 1e9, "fp32": 1e9},
]
"""Corners of the inputs; those that a state leaves out are at their defaults."""

WALK = """async states => {
    all("details").forEach(it => { it.open = true; });
    const said = [];
    for (const inputs of states) {
        setInputs({...defaults, ...inputs});
        await new Promise(requestAnimationFrame);
        said.push(...faults().map(it => `${it} at ${JSON.stringify(inputs)}`));
    }
    return [said.length, ...said.slice(0, 5)];
}"""
FAULTS = """window.faults = () => all(".plot").flatMap(plot => {
    const boxes = all("text, circle", plot).map(it => [it, it.getBoundingClientRect()])
        .filter(([it, box]) => box.width > 0 && getComputedStyle(it).visibility === "visible")
        .map(([it, box]) => ({...box.toJSON(), name: it.textContent, dot: it.matches("circle")}));
    const figure = plot.closest("[data-scope]").getBoundingClientRect();
    const most = {left: Math.max(0, figure.left), right: Math.min(figure.right, root.clientWidth)};
    const out = boxes.filter(it => it.left < most.left - 1 || it.right > most.right + 1)
        .map(({name}) => `${name} leaves its figure`);
    // A pixel is no touch; two points that are one may lie on each other.
    const pairs = boxes.flatMap((one, n) => boxes.slice(n + 1).filter(other =>
        !(one.dot && other.dot) && one.left < other.right - 1 && other.left < one.right - 1
        && one.top < other.bottom - 1 && other.top < one.bottom - 1)
        .map(({name}) => `${one.name || "a point"} and ${name || "a point"} touch`));
    const missing = all(".mark, .spot text", plot)
        .filter(it => getComputedStyle(it).visibility !== "visible")
        .map(it => `${it.textContent} has no place`);
    return [...out, ...pairs, ...missing].map(it => `${plot.id}: ${it}`);
})"""


@pytest.mark.parametrize("width", [320, 390, 600, 768, 1024, 1280])
def test_in_no_state_does_a_label_touch_another_or_leave_its_figure(visit, url, width):
    there = visit(url, viewport={"width": width, "height": 900}).page
    there.evaluate(FAULTS)
    assert there.evaluate(WALK, STATES) == [0]


def test_labels_find_new_places_when_the_page_becomes_narrow(visit, url):
    there = visit(f"{url}?k=16&S=1Gi&gpu=l40").page
    there.evaluate(FAULTS)
    there.get_by_text("Under the roofline", exact=True).click()
    there.set_viewport_size({"width": 320, "height": 900})
    there.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert there.evaluate("faults()") == []


def test_a_regime_is_named_where_its_name_fits_between_its_ends(visit, url):
    there = visit(f"{url}?chain=attention-scores&model=refined").page
    # Between 1.5 and 6.2 Mi values, two octaves of 22, there is no room for "L2-bound".
    expect(there.locator(".regimes-said")).to_contain_text("then L2-bound up to about 6.2")
    expect(there.locator(".regimes text:visible")).to_have_text(["launch-bound", "HBM-bound"])
