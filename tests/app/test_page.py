"""The page's scripts and files, without a browser."""

import re
from dataclasses import replace

import pytest

from app.page import PARTS, STATIC, page, scripts
from plates.kernel_fusion import plate

SOURCES = {name: (STATIC / f"{name}.js").read_text(encoding="utf-8") for name in PARTS}


def declared(script):
    return set(re.findall(r"^(?:async )?(?:const|let|function) (\w+)", script, re.MULTILINE))


def named(script):
    """Return the names that a script uses: no properties, comments or texts."""
    code = re.sub(r"//.*|\"[^\"\n]*\"|`[^`$]*`", "", script)
    return set(re.findall(r"(?<![.\w])(\w+)(?!\s*:)\b", code))


@pytest.mark.parametrize("n", range(len(PARTS)), ids=PARTS)
def test_a_script_uses_only_those_before_it(n):
    own = declared(SOURCES[PARTS[n]])
    later = {it for name in PARTS[n + 1 :] for it in declared(SOURCES[name])} - own
    assert later & named(SOURCES[PARTS[n]]) == set()
    assert own or n + 1 == len(PARTS)


def test_no_text_becomes_html():
    for name, script in SOURCES.items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval", script
        ), name


def test_what_the_page_loads_is_made_once_and_named_by_what_is_in_it():
    first, again = scripts(plate), scripts(plate)
    assert [it.name for it in first] == [it.name for it in again]
    assert all(re.fullmatch(r"[\w-]+\.[0-9a-f]{10}\.js", it.name) for it in first)


def test_a_figure_stands_where_it_says_and_may_be_the_only_one():
    roof = next(it for it in plate.figures if it.kind == "paths")
    assert '<div data-scope="roofline">' in page(plate, None)
    alone = page(replace(plate, figures=(replace(roof, place="beside"),), measured=tuple), None)
    assert '<figure class="beside" data-scope="roofline">' in alone


def test_a_page_without_a_session_has_no_trace_of_one():
    html = page(plate, None)
    assert "data-session" not in html
    assert not re.search("bokeh|panel", html, re.IGNORECASE)
