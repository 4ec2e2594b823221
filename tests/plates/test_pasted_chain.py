"""Pasted PyTorch as the plate's inputs: the same numbers as the chain that it is."""

import ast

import pytest

from plates.kernel_fusion import plate
from plates.plate import values

INPUTS = values(plate.inputs)
(CODE,) = [it for it in plate.brought if it.id == "code"]
SWIGLU = "def swiglu(gate, up):\n    return F.silu(gate) * up\n"


def read(code, **inputs):
    return CODE.read(code.encode(), "pasted.py", INPUTS | inputs)


def test_a_pasted_chain_has_the_numbers_of_the_same_chain_of_the_plate():
    found = read(SWIGLU)
    assert plate.outcome(found.inputs) == plate.outcome({"chain": "swiglu"})


def test_code_of_tensors_and_numbers_gets_the_script_that_times_it():
    script = read("def f(x, weight, eps: float, wide=False):\n    return x * weight + eps")
    text = script.files["measure.py"]
    ast.parse(text)
    assert "    return f\n\n\nchain = pasted()" in text
    assert "make(rows, cols),\n        make(cols),\n        1e-6," in text
    bare = read("x.mul_(2)\ny = x + gate").files["measure.py"]
    assert "def chain(x, gate):\n    x.mul_(2)\n    y = x + gate\n    return x, y" in bare
    turned = read("y = q * cos + k").files["measure.py"]
    assert "make(rows, 32, cols // 32),\n        make(rows, 1, cols // 32)" in turned


def test_names_of_pasted_code_are_not_those_of_the_script():
    helped = "def copied(x):\n    return x * 2\n\ndef results(x):\n    return copied(x) + 1"
    made: dict = {}
    text = read(helped).files["measure.py"]
    exec(text[text.index("def pasted") : text.index("def inputs")], made)
    assert made["chain"](3) == 7
    assert made.keys() - {"__builtins__"} == {"pasted", "chain"}


@pytest.mark.parametrize(
    "code", ["y = x * 2 + 1", "x * 2 + 1", "def chain(main):\n    return main * 2 + 1"]
)
def test_the_script_runs_what_was_pasted(code):
    made: dict = {}
    text = read(f"from __future__ import annotations\n{code}").files["measure.py"]
    first = "def pasted" if "def pasted" in text else "def chain"
    exec(text[text.index(first) : text.index("def inputs")], made)
    assert made["chain"](3) == 7


@pytest.mark.parametrize(
    "code",
    [
        "y = F.gelu(x) * self.scale",
        "y = F.gelu(x @ w)",
        "def f(x, self):\n    return x + self.a",
        "def f(x):\n    return x * scale",
        "def f(x, *, eps):\n    return x + eps",
        "from torch import *\ny = x * 2",
    ],
)
def test_code_of_more_than_these_gets_none(code):
    assert read(code).files == {}


def test_each_kernel_is_told_with_its_line_and_what_it_moves_in_the_format():
    table = read(SWIGLU).table
    assert table["kernel"].tolist() == ["silu", "mul"]
    assert table[["line", "reads", "writes", "flop"]].to_numpy().tolist() == [
        [2, 2, 2, 5], [2, 4, 2, 1],
    ]  # fmt: skip
    assert read(SWIGLU, dtype="fp32").table["reads"].tolist() == [4, 8]
    assert "gate: tensor, up: tensor" in read(SWIGLU).told[1]


def test_of_several_chains_the_largest_is_priced_and_the_others_are_named():
    found = read("y = F.relu(x @ w) * 2\nz = F.silu(y @ w2)")
    assert plate.outcome(found.inputs)["kernels_unfused"] == 2
    assert found.table["note"].tolist() == [
        "matrix product, not priced", "", "", "matrix product, not priced", "of another chain",
    ]  # fmt: skip
    assert any("the largest of 2 chains" in it for it in found.told)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (b"y = magic(x)", "Line 1, y = magic.x.: magic is not known here"),
        (b"", "Line 1, : there is no operation"),
        (b"\xff\xfe\x00", "pasted.py is no text in UTF-8"),
        (b"x = x + 1\n" * 100_000, "the code has 1,000,000 characters; at most"),
        (b"y = magic(x)\n" * 30, "10 lines more"),
    ],
)
def test_what_is_not_understood_is_said(code, said):
    with pytest.raises(ValueError, match=said):
        CODE.read(code, "pasted.py", INPUTS)
