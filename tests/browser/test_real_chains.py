"""Real chains, real GPUs and the refined model on the page."""

import json
import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from model.chains import CHAINS, own_text
from plates.kernel_fusion import plate

REAL = "?model=refined&chain=rms-norm&gpu=a100-80&S=4Mi&overhead=2"


def test_the_page_opens_on_the_sketch_with_three_sliders_and_all_else_one_step_away(visit, url):
    there = visit(url).page
    assert [it.is_visible() for it in there.get_by_role("slider").all()] == [True] * 3
    assert there.get_by_role("combobox").count() == 0
    there.get_by_text("Real chains, real GPUs", exact=True).first.click()
    names = ["Chain", "GPU", "Data type", "Cost model", "Launch mode"]
    for name in names:
        expect(there.get_by_role("combobox", name=name, exact=True)).to_be_visible()
    expect(there.get_by_role("combobox", name="Launch mode")).to_be_disabled()
    expect(there.get_by_role("textbox", name="Bandwidth of the GPU")).to_be_hidden()


def test_each_input_is_set_by_its_control_and_stands_in_the_address(visit, url):
    there = visit(url).page
    there.get_by_text("Real chains, real GPUs", exact=True).first.click()
    for name, value in [
        ("Chain", "swiglu"), ("GPU", "h200"), ("Data type", "fp32"), ("Cost model", "refined"),
        ("Launch mode", "graph"),
    ]:  # fmt: skip
        there.get_by_role("combobox", name=name, exact=True).select_option(value)
    there.get_by_role("group", name="Terms").get_by_label("L2").uncheck()
    there.wait_for_url("**terms=*")
    asked = {name: it[0] for name, it in parse_qs(urlsplit(there.url).query).items()}
    assert asked["terms"] == "fixed,achieved,access,arithmetic,overlap"
    state = {name: asked[name] for name in ("chain", "gpu", "dtype", "model", "launch", "terms")}
    assert state["gpu"] == "h200"
    here = plate.outcome({"S": int(asked["S"]), **state})
    shown = there.locator(".readout [data-output=time_unfused]").get_attribute("data-value")
    assert float(shown) == pytest.approx(here["time_unfused"], rel=1e-12)


def test_an_address_sets_what_stands_behind_the_fold_and_opens_it(visit, url):
    there = visit(url + REAL).page
    expect(there.get_by_role("combobox", name="Chain", exact=True)).to_have_value("rms-norm")
    expect(there.get_by_role("slider", name="Chain length k")).to_be_disabled()
    expect(there.locator(".readout")).to_contain_text(
        "A chain of 8 kernels (RMSNorm) on 4 Mi values"
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("gpu=voodoo2", "gpu = “voodoo2” in the address is not one of h100-sxm"),
        ("terms=l2,warp", "terms = “l2,warp” in the address is not some of fixed"),
        ("chain=toString", "chain = “toString” in the address is not one of sketch"),
        ("chain=own&steps=r1", "steps = “r1” in the address is not a chain in the short form"),
        ("gpu=custom&bandwidth=0", "bandwidth = “0” in the address is not a number from"),
    ],
)
def test_a_bad_choice_in_the_address_falls_back_alone_with_a_notice(visit, url, query, said):
    there = visit(f"{url}?k=7&{query}").page
    expect(there.locator("#notices")).to_contain_text(said)
    assert there.evaluate("state.k") == 7


def test_a_chain_of_one_s_own_in_the_address_is_priced_listed_and_typed_anew(visit, url):
    steps = own_text(CHAINS["rms-norm"])
    state = {"chain": "own", "steps": steps, "model": "refined"}
    there = visit(f"{url}?{urlencode(state)}")
    here = plate.outcome({**state, "chain": "rms-norm"})
    assert there.readings()["time_unfused"] == pytest.approx(here["time_unfused"], rel=1e-6)
    there.page.get_by_text("Kernel by kernel").first.click()
    there.agrees(plate, plate.at("prefill") | state)
    expect(there.page.get_by_role("row", name="times rsqrt")).to_be_visible()
    box = there.box("Own chain")
    box.fill("r1w1_r1w1_r1w1_r1w1")
    box.press("Enter")
    # three kernels against one
    expect(there.page.locator(".readout")).to_contain_text("3.00×")
    assert there.readings()["bytes_unfused"] == 3 * there.readings()["bytes_fused"]
    box.fill("r1w1")
    box.press("Enter")
    expect(there.page.locator("#steps-problem")).to_contain_text("r1w1” is not a chain")
    assert there.page.evaluate("state.steps") == "r1w1_r1w1_r1w1_r1w1"


def test_a_gpu_of_one_s_own_is_typed_and_refused_at_the_field(visit, url):
    there = visit(url + "?gpu=custom&model=refined&terms=none&overhead=0&k=1")
    box = there.box("Bandwidth of the GPU")
    box.fill("1.5 TB/s")
    box.press("Enter")
    expect(there.page.locator("[data-spoken=bandwidth]")).to_have_text(re.compile(r"1\.5.TB/s"))
    # 2^25 values of 4 bytes moved at 1.5e12 bytes/s
    assert there.readings()["time_unfused"] == pytest.approx(2**27 / 1.5e12, rel=1e-12)
    box.fill("1.5")
    box.press("Enter")
    assert there.page.evaluate("state.bandwidth") == 1.5e12
    rate = there.box("Tensor rate of the GPU")
    rate.fill("989")
    rate.press("Enter")
    assert there.page.evaluate("state.tensor") == 989e12
    expect(there.box("Fixed cost in a graph")).to_be_visible()
    for wrong in ("0", "-3", "fast"):
        box.fill(wrong)
        box.press("Enter")
        expect(box).to_have_attribute("aria-invalid", "true")
        problem = there.page.locator("#bandwidth-problem")
        expect(problem).to_contain_text("is not a number from 0.001 TB/s to 100 TB/s")
        assert there.page.evaluate("state.bandwidth") == 1.5e12


def test_the_regimes_are_named_from_left_to_right(visit, url):
    there = visit(url)
    said = there.page.locator(".regimes-said")
    labels = there.page.locator(".regimes text:visible")
    # 4 µs of launch are 4 bytes a value at 3.35 TB/s for 3.35 million values. The stops nearest to
    # that are 2^21.5 and 2^21.75, and 2^21.625 is 3.1 Mi.
    expect(said).to_have_text(
        re.compile("Unfused: launch-bound up to about 3.1.Mi values, then HBM-bound up to about 1")
    )
    expect(labels).to_have_text(["launch-bound", "HBM-bound"])
    line = there.page.locator(".regimes .between:not([hidden])")
    assert line.evaluate_all("all => all.map(it => it.getAttribute('x1'))") == ["61.93%"]
    there.set(overhead=0)
    expect(said).to_have_text(re.compile("Unfused: HBM-bound up to about 1.0.Gi values"))
    expect(labels).to_have_text(["HBM-bound"])


def cells(rows):
    return [
        [cell.inner_text().replace("\N{NO-BREAK SPACE}", " ") for cell in row.locator("td").all()]
        for row in rows.all()
    ]


def test_the_table_of_steps_adds_up_to_what_the_figures_say(visit, url):
    there = visit(url + REAL).page
    there.get_by_text("Kernel by kernel", exact=True).click()
    table = there.locator("[data-figure=kernels]")
    unfused = table.locator("tbody:nth-of-type(-n + 3)")
    assert unfused.locator("th[scope=row]:visible").all_inner_texts() == [
        "to FP32", "square", "mean", "add ε", "rsqrt", "times rsqrt", "back", "times weight",
        "in all",
    ]  # fmt: skip
    rows = cells(unfused.locator("tr:visible"))
    shown = there.locator(".readout")
    assert rows[-1][2:4] == [
        shown.locator(f"[data-output={name}]").inner_text().replace("\N{NO-BREAK SPACE}", " ")
        for name in ("bytes_unfused", "time_unfused")
    ]
    assert {row[4] for row in rows[1:-1]} == {
        "launch-bound", "L2-bound", "HBM-bound", "access-bound",
    }  # fmt: skip
    there.get_by_role("slider", name="Tensor size S").press("Home")
    there.get_by_role("slider", name="Launch overhead").press("End")
    expect(unfused.get_by_text("wait for the host")).to_be_visible()


def test_the_roofline_places_the_chain_and_a_large_product(visit, url):
    there = visit(url).page
    there.get_by_text("Under the roofline", exact=True).click()
    figure = there.locator("[data-figure=roofline]")
    expect(figure).to_have_accessible_name(re.compile(r"1\.3 FLOP/byte fused".replace(" ", ".")))

    def place(label):
        circle = figure.locator(".spot", has_text=label).last.locator("circle")
        return [float(circle.get_attribute(it).rstrip("%")) for it in ("cx", "cy")]

    before = place("fused")
    there.get_by_role("slider", name="Chain length k").press("End")
    there.wait_for_url("**k=16*")
    after = place("fused")
    # Sixteen operations on each value: more to the right, and higher.
    assert after[0] > before[0]
    assert after[1] < before[1]
    assert place("matrix multiply")[0] > after[0]


def test_the_served_page_hands_out_the_script_of_the_chain_on_show(visit, server):
    page = visit(f"{server}kernel-fusion?chain=swiglu#take").page
    page.get_by_text("Take it away").click()
    link = page.get_by_role("link", name="Measure it yourself")
    with page.expect_download() as download:
        link.click()
    assert "F.silu(gate)" in download.value.path().read_text(encoding="utf-8")
    page.get_by_role("combobox", name="Chain").select_option("own")
    expect(link).to_be_hidden()


def test_published_points_lie_where_they_were_measured_and_name_their_source(visit, url):
    there = visit(url).page
    there.get_by_text("Published timings", exact=True).click()
    expect(there.locator("#measured-note")).to_contain_text("No timings of this chain")
    there.get_by_label("Timings of").select_option(label="ReLU, square, BF16, H100 SXM (16)")
    points = there.locator(".points > :visible")
    expect(points).to_have_count(16)
    expect(there.locator("#measured-note")).to_contain_text(
        "ReLU, square, BF16, H100 SXM. Median error of the refined model: 1.0\N{NO-BREAK SPACE}%"
    )
    first = points.first
    assert "unfused, 4096 × 16384, torch; linkedin/Liger-Kernel" in first.text_content()
    # 67,108,864 values on an axis from 2^8 to 2^30: 18 of 22 octaves
    assert first.get_attribute("x") == "81.82%"
    expect(
        there.get_by_role("row", name=re.compile("524,288 8.672.*4096 × 128, torch"))
    ).to_have_count(1)
    there.wait_for_url("**points=on*")
    there.get_by_label("Show them in the figure").uncheck()
    expect(points).to_have_count(0)


def test_a_link_with_points_shows_them(visit, url):
    there = visit(f"{url}?model=refined&chain=tvd&dtype=fp32&points=on").page
    # Of 12, two lie beyond the axis.
    expect(there.locator(".points > :visible")).to_have_count(10)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_with_every_fold_open(visit, url, width, theme):
    there = visit(
        url + REAL + "&points=on", viewport={"width": width, "height": 900}, color_scheme=theme
    )
    there.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    found = Axe().run(there.page)
    assert [it["id"] for it in found.response["violations"]] == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_scrolls_sideways_with_every_fold_open(visit, url, width):
    address = url + "?gpu=custom&model=refined&chain=jsd&points=on"
    there = visit(address, viewport={"width": width, "height": 700}).page
    there.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    assert there.evaluate("document.documentElement.scrollWidth") <= width


def test_a_host_sets_and_hears_choices(visit, site_url):
    there = visit(None)
    there.page.goto(site_url)
    heard = there.page.evaluate(
        """address => new Promise(done => {
        const frame = document.createElement("iframe");
        frame.src = address;
        addEventListener("message", ({data}) => {
            if (data.type === "plate:height") frame.contentWindow.postMessage(
                {type: "plate:set", inputs: {chain: "rope", gpu: "no", model: "refined"}}, "*");
            if (data.type === "plate:state") done(data);
        });
        document.body.append(frame);
    })""",
        site_url + "kernel-fusion/",
    )
    assert heard["inputs"]["chain"] == "rope"
    assert heard["inputs"]["gpu"] == "h100-sxm"
    assert heard["readings"]["kernels_unfused"] == 10
    expected = plate.outcome(json.loads(json.dumps(heard["inputs"])))
    assert heard["readings"]["time_fused"] == pytest.approx(expected["time_fused"], rel=1e-12)
