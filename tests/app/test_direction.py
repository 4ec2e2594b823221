"""model <- plates <- app, and nothing points back."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "model": {"model", "numpy"},
    "plates": {"plates", "model", "numpy", "param", "bokeh", "pandas"},
    "app": {
        "app",
        "plates",
        "model",
        "numpy",
        "param",
        "bokeh",
        "panel",
        "tornado",
        "jinja2",
        "markupsafe",
        "markdown_it",
    },
}


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module.split(".")[0]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_stands_below_it(room):
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for file in files:
        foreign = set(imported(file)) - MAY_IMPORT[room] - sys.stdlib_module_names
        assert not foreign, f"{file} imports {foreign}"
