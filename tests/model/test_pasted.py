"""The pasted code parses, and each has its record of what PyTorch dispatches."""

import ast
import tomllib
from pathlib import Path

import pytest

PASTED, DISPATCHED = (
    tomllib.loads(Path(__file__).with_name(it).read_text("utf-8"))
    for it in ("pasted.toml", "dispatched.toml")
)


def test_each_pasted_code_has_a_record_and_each_record_its_code():
    assert list(PASTED) == [it for it in DISPATCHED if it != "pytorch"]


@pytest.mark.parametrize("name", PASTED)
def test_pasted_code_parses(name):
    assert ast.parse(PASTED[name]["code"]).body
