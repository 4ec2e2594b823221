"""The served page and Python: in step, apart from other visitors, and alive without each other."""

import socket
import time
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from app import serve
from plates.kernel_fusion import KernelFusion
from tests.browser.conftest import plates_serve, under_another_name


def port_of(url):
    return urlsplit(url).port


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


LOST = "The server cannot be reached."


def eventually(condition, timeout_s=10):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(params=["browser", "python"])
def running(request):
    plate = KernelFusion()
    server = serve(plate, engine=request.param)
    yield plate, server.url
    server.stop()


def test_setting_an_input_in_python_moves_control_figure_prose_and_address(visit, running):
    plate, url = running
    there = visit(url).joined()
    plate.k = 8
    plate.param.update(S=2**29, overhead=5.0)
    expect(there.slider("Chain length k")).to_have_attribute("aria-valuetext", "8 kernels")
    expect(there.page.locator(".readout [data-output=time_unfused]")).to_have_text("5.168\xa0ms")
    expect(there.page.locator(".prose [data-output=time_fused]")).to_have_text("646.0\xa0µs")
    # 2^29 on an axis from 2^8 to 2^30: 21 of 22 octaves
    assert there.page.locator("circle").first.get_attribute("cx") == "95.45%"
    there.page.wait_for_url("**k=8&S=536870912&overhead=5")


def test_a_choice_set_in_python_or_on_the_page_reaches_the_other(visit, running):
    plate, url = running
    there = visit(url).joined()
    plate.param.update(chain="swiglu", model="refined")
    expect(there.page.locator("[data-input=chain]")).to_have_value("swiglu")
    expect(there.page.locator(".readout")).to_contain_text("A chain of 2 kernels")
    there.page.get_by_text("Real chains, real GPUs", exact=True).first.click()
    there.page.get_by_role("combobox", name="GPU", exact=True).select_option("gh200")
    there.page.get_by_label("overlap").uncheck()
    eventually(lambda: (plate.gpu, "overlap" in plate.terms) == ("gh200", False))
    there.page.get_by_text("Kernel by kernel", exact=True).click()
    expect(there.page.locator("[data-figure=kernels]")).to_contain_text("SiLU of gate")


def test_a_page_shows_what_python_had_set_before_it_came(visit, running):
    plate, url = running
    plate.param.update(k=8, overhead=2.5)
    there = visit(f"{url}?overhead=7").joined()
    expect(there.slider("Chain length k")).to_have_attribute("aria-valuetext", "8 kernels")
    eventually(lambda: plate.overhead == 7)
    assert plate.k == 8


def test_dragging_sets_the_input_in_python(visit, running):
    plate, url = running
    there = visit(url).joined()
    there.slider("Chain length k").press("End")
    there.slider("Launch overhead").press("ArrowRight")
    eventually(lambda: (plate.k, plate.overhead) == (16, 4.1))
    there.box("Tensor size S").fill("4Ki")
    there.box("Tensor size S").press("Enter")
    eventually(lambda: plate.S == 4096)


def test_the_address_sets_the_input_in_python(visit, running):
    plate, url = running
    visit(f"{url}?k=11").joined()
    eventually(lambda: plate.k == 11)


def test_what_python_makes_of_an_input_comes_back(visit, running):
    plate, url = running
    plate.param.watch(lambda event: setattr(plate, "k", min(event.new, 10)), "k")
    there = visit(url).joined()
    there.slider("Chain length k").press("End")
    expect(there.slider("Chain length k")).to_have_attribute("aria-valuetext", "10 kernels")


def test_an_input_that_the_class_refuses_changes_nothing(visit, running):
    plate, url = running
    there = visit(url).joined()
    component = "Bokeh.documents.at(-1).roots()[0].data"
    bad = "{number: 1000, inputs: {k: 99, S: 'x', other: 1}}"
    there.page.evaluate(f"() => {{ {component}.page = {bad}; }}")
    there.page.wait_for_function(f"{component}.server.heard === 1000")
    there.slider("Launch overhead").press("ArrowRight")
    eventually(lambda: plate.overhead == 4.1)
    assert (plate.k, plate.S) == (5, 33554432)


@pytest.fixture(scope="module")
def holding():
    """A server that has inputs in Python for each visitor."""
    with plates_serve("--engine", "python") as process:
        yield process.url


def test_visitors_never_see_each_other_s_state(visit, holding):
    one = visit(holding + "kernel-fusion").joined()
    one.slider("Chain length k").press("End")
    other = visit(holding + "kernel-fusion").joined()
    expect(other.slider("Chain length k")).to_have_attribute("aria-valuetext", "5 kernels")
    other.slider("Chain length k").press("Home")
    one.page.wait_for_url("**k=16*")
    expect(one.slider("Chain length k")).to_have_attribute("aria-valuetext", "16 kernels")


def test_a_visitor_of_a_plain_server_joins_nothing(visit, server):
    there = visit(server + "kernel-fusion")
    there.slider("Chain length k").press("End")
    assert there.page.evaluate("document.documentElement.dataset.session") is None
    assert there.sockets == []
    assert not [it for it in there.requests if "session" in it or "panel" in it]


def test_when_the_server_is_killed_the_page_goes_on_with_one_notice(visit):
    with plates_serve("--engine", "python") as process:
        # What was under way when it was killed is lost, and the browser says so.
        there = visit(process.url + "kernel-fusion", expected=["Failed to load resource"]).joined()
        process.kill()
        expect(there.page.locator("#notices")).to_contain_text(LOST, timeout=5000)
    there.slider("Chain length k").press("ArrowRight")
    expect(there.page.locator(".readout [data-output=speedup]")).to_have_text("6.00×")
    expect(there.page.locator("#notices p")).to_have_count(1)
    bar = there.page.locator("rect[data-part=bytes_unfused]")
    assert bar.get_attribute("width") == "37.5%"
    with plates_serve("--port", str(port_of(process.url)), "--engine", "python"):
        there.page.wait_for_url("**k=6*")
        there.page.reload()
        there.joined()
        expect(there.slider("Chain length k")).to_have_attribute("aria-valuetext", "6 kernels")
        expect(there.page.locator("#notices")).to_be_empty()


def test_when_the_socket_is_refused_the_page_is_whole_and_says_so(visit, holding):
    with under_another_name(port_of(holding)) as url:
        refused = ["WebSocket", "websocket", "Bokeh session", "Bokeh server"]
        there = visit(url + "kernel-fusion", expected=refused)
        expect(there.page.locator("#notices")).to_contain_text(LOST, timeout=10000)
        there.slider("Chain length k").press("ArrowRight")
        expect(there.page.locator(".readout [data-output=speedup]")).to_have_text("6.00×")
        expect(there.page.locator("#notices p")).to_have_count(1)


def test_a_host_that_is_allowed_is_not_refused(visit):
    port = free_port()
    with (
        under_another_name(port) as url,
        plates_serve(
            "--engine", "python", "--port", str(port), "--allow-origin", urlsplit(url).netloc
        ),
    ):
        visit(url + "kernel-fusion").joined()


@pytest.mark.parametrize("engine", ["browser", "python"])
def test_under_a_path_prefix_it_is_the_same(visit, engine):
    with plates_serve("--root-path", "/courses/gpu/", "--engine", engine) as process:
        assert process.url.endswith("/courses/gpu/")
        assert urlopen(process.url.rstrip("/")).url == process.url
        for base in (process.url, process.url.removesuffix("courses/gpu/")):
            there = visit(base + "kernel-fusion/?k=7")
            if engine == "python":
                there.joined()
            assert there.page.url.split("?")[0] == base + "kernel-fusion"
            there.slider("Chain length k").press("ArrowRight")
            expect(there.page.locator(".readout")).to_contain_text("8 kernels")
            asked = [it for it in there.requests if not it.startswith("blob:")]
            assert [it for it in asked if not it.startswith(base)] == []
