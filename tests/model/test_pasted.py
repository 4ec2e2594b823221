"""Pasted PyTorch, held against the kernels that PyTorch itself dispatches for it."""

import ast
import itertools
import math
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.chains import OWN_EMPTY, own, own_text
from model.pasted import CODE_MOST, counted
from model.pytorch import BYTES

PASTED, DISPATCHED = (
    tomllib.loads(Path(__file__).with_name(it).read_text("utf-8"))
    for it in ("pasted.toml", "dispatched.toml")
)
REFUSED = {
    "neox-partial-rotary": (1, "how large a part"),
    "drop-path": (2, "how large a tensor empty makes is not known"),
    "label-smoothing": (3, "the operation gather is not known"),
    "z-loss": (1, "the operation logsumexp is not known"),
    "alibi-scores": (2, "how large a tensor arange makes is not known"),
    "repeated-heads": (4, "how far it was expanded"),
}
UNSIZED = ("relu-squared", "low-rank-adapter")
"""Whose matrix products make larger or smaller tensors than they read, which the code hides."""
COUNTED = [name for name in PASTED if name not in REFUSED]
ROW_MOST, TABLE_MOST = Fraction(1, 40), Fraction(1, 4)
SMALL_BYTES = 0.2
"""Bytes a value of the main tensor that rows and statistics may make, which count as nothing."""


def test_each_pasted_code_has_a_record_and_each_record_its_code():
    assert list(PASTED) == [it for it in DISPATCHED if it != "pytorch"]


def declared(told):
    """Return comments that say of each argument what its recorded shape makes it."""
    most = max(map(math.prod, told["shapes"].values()))
    lines = [f"# {name}: number" for name in told.get("numbers", {})]
    for name, shape in told["shapes"].items():
        share = Fraction(math.prod(shape), most)
        kind = "tensor" if share >= TABLE_MOST else "table"
        form = told.get("formats", {}).get(name, "").replace("complex64", "complex")
        said = "row" if share <= ROW_MOST else f"{kind} {share}"
        lines.append(f"# {name}: {said} {form}".rstrip().removesuffix(" bf16"))
    return "\n".join(lines)


def moved(kernels):
    """Return the bytes that each kernel reads and writes, per value of the largest tensor."""
    most = max((n for read, written in kernels for n, _ in (*read, *written)), default=1) or 1
    return [[sum(n * size for n, size in side) / most for side in it] for it in kernels]


def stretches(kernels, barriers):
    parts = itertools.groupby(zip(kernels, barriers, strict=True), lambda it: it[1])
    return [moved([kernel for kernel, _ in part]) for barrier, part in parts if not barrier]


def sizes(tensors):
    return [(it.values, {**BYTES, "": 2}[it.format]) for it in tensors]


@pytest.mark.parametrize("name", COUNTED)
def test_pasted_code_is_counted_as_pytorch_dispatches_it(name):
    found = counted(f"{PASTED[name]['code']}\n{declared(PASTED[name])}")
    assert not found.refused
    ours = [(sizes(it.read), sizes(it.written)) for it in found.kernels]
    theirs = [(read, written) for _, read, written in DISPATCHED[name]["kernels"]]
    assert len(ours) == len(theirs)
    barriers = [it.barrier for it in found.kernels]
    pairs = zip(stretches(ours, barriers), stretches(theirs, barriers), strict=True)
    for mine, recorded in () if name in UNSIZED else pairs:
        np.testing.assert_allclose(mine, recorded, atol=SMALL_BYTES)


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_sizes_that_the_code_does_not_tell_is_refused_by_its_line(name):
    line, reason = REFUSED[name]
    found = counted(f"{PASTED[name]['code'].lstrip()}\n{declared(PASTED[name])}")
    assert not found.chains
    assert (found.refused[0].line, found.refused[0].reason[: len(reason)]) == (line, reason)


@pytest.mark.parametrize("name", COUNTED)
def test_a_pasted_chain_has_a_short_form_and_moves_less_when_fused(name):
    for chain in counted(PASTED[name]["code"]).chains:
        same = own(own_text(chain))
        for variant, column in itertools.product(("unfused", "fused"), OWN_EMPTY):
            ours, theirs = (getattr(getattr(it, variant), column) for it in (same, chain))
            np.testing.assert_allclose(ours, theirs, atol=1e-6, err_msg=column)
        for column in ("read_values", "write_values", "read_bytes", "write_bytes"):
            before, after = (getattr(it, column).sum() for it in (chain.unfused, chain.fused))
            assert after <= before + 1e-9 or column.endswith("bytes")


def kernels(code):
    """Return each kernel as its line, operation, and values and formats read and written."""
    return [
        (
            it.line,
            it.name,
            *([(t.values, t.format) for t in side] for side in (it.read, it.written)),
        )
        for it in counted(code).kernels
    ]


X, WIDE, ROW = (1.0, ""), (1.0, "fp32"), (0.0, "")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("y = x + x", [(1, "add", [X], [X])]),
        ("y = 1 / x", [(1, "reciprocal", [X], [X]), (1, "mul", [X], [X])]),
        ("y = 1 - x", [(1, "rsub", [X], [X])]),
        ("x *= 2\nx += y", [(1, "mul", [X], [X]), (2, "add", [X, X], [X])]),
        ("y = (x > 0).float() * x", [
            (1, "gt", [X], [(1.0, "bool")]), (1, "float", [(1.0, "bool")], [WIDE]),
            (1, "mul", [WIDE, X], [WIDE]),
        ]),
        ("y = x.float().float()", [(1, "float", [X], [WIDE])]),
        ("a, b = x.chunk(2, -1)\ny = F.silu(a) * b", [
            (2, "silu", [(0.5, "")], [(0.5, "")]), (2, "mul", [(0.5, ""), (0.5, "")], [(0.5, "")]),
        ]),
        ("half = x.shape[-1] // 2\ny = -x[..., half:]", [(2, "neg", [(0.5, "")], [(0.5, "")])]),
        ("y = x.mean(-1, keepdim=True)", [(1, "mean", [X], [ROW])]),
        ("y = x.max(-1)[0]", [(1, "max", [X], [ROW, (0.0, "int64")])]),
        ("y = x.transpose(1, 2).reshape(2, -1)", [(1, "clone", [X], [X])]),
        ("y = F.dropout(x, 0.1, training=False) + 1", [(1, "add", [X], [X])]),
        ("y = x.view(-1).unsqueeze(0)[None] + 1", [(1, "add", [X], [X])]),
        ("if x is None:\n    y = x * 2\nelse:\n    y = x + 2", [(4, "add", [X], [X])]),
        ("def f(x, bias=None):\n    if bias is not None:\n        x = x + bias\n    return x * 2",
         [(4, "mul", [X], [X])]),
        ("def double(t):\n    return t * 2\n\ndef f(x):\n    return double(double(x))",
         [(2, "mul", [X], [X]), (2, "mul", [X], [X])]),
        ("class A(nn.Module):\n    def __init__(self):\n        self.act = nn.SiLU()\n"
         "    def forward(self, x):\n        return self.act(x)", [(5, "silu", [X], [X])]),
        ("    y = x * 2", [(1, "mul", [X], [X])]),
    ],
)  # fmt: skip
def test_a_line_is_the_kernels_that_it_dispatches(code, found):
    assert not counted(code).refused
    assert kernels(code) == found


@pytest.mark.parametrize(
    ("code", "line", "reason"),
    [
        ("y = x * 2\nfor i in range(3):\n    y = y + 1", 2, "it is a loop"),
        ("y = self.act(x)", 1, "self.act is not known here"),
        ("y = x[..., :64] * 2", 1, "how large a part"),
        ("y = x[x > 0]", 1, "how much .* takes is known only when it runs"),
        ("y = (x", 1, "Python reads: "),
        ("if cond > 3:\n    x = x + 1", 1, "which way the branch on cond > 3 goes is not known"),
        ("y = 1", 1, "there is no operation on a tensor"),
        ("y = x @ x", 1, "no kernel in it reads a tensor to be fused"),
        ("y = x.to(self.dtype) * 2", 1, "to what format it is cast is not known"),
        ("a, b = x", 1, "what each of .* is, is not known"),
        ("x = x * 2\n" * 100, 100, "there are 100 kernels; at most 99 are counted"),
        ("x = x * 2\n" * 10_000, 5001, "the code takes too many steps"),
        ("y = " + "-" * 100_000 + "x", 1, "it is nested too deep"),
        ("y = x" + "+ 1" * 60_000, 1, "it is nested too deep"),
        ("y = x" + ".T" * 60_000, 1, "it is nested too deep"),
        ("def f(x):\n    return f(f(x))", 2, "the code takes too many steps|nested too deep"),
        ("y = x ** 9 ** 9 ** 9 ** 9\ny = y.median()", 2, "the operation median is not known"),
    ],
)
def test_a_line_that_is_not_understood_is_named_with_the_reason(code, line, reason):
    first = counted(code).refused[0]
    assert first.line == line
    assert re.match(reason, first.reason)


def test_more_than_is_read_is_refused_as_a_whole():
    with pytest.raises(ValueError, match=r"the code has 1,000,000 characters; at most"):
        counted("x" * 1_000_000)
    assert CODE_MOST < 1_000_000


def test_a_line_that_is_skipped_makes_a_tensor_and_the_rest_is_counted():
    found = counted("y = magic(x)  # skip\nz = y * 2\nw = z + 1")
    assert not found.refused
    assert [it.name for it in found.kernels] == ["mul", "add"]
    (chain,) = found.chains
    assert (chain.fused.read_values.sum(), chain.fused.write_values.sum()) == (1, 1)


def test_nothing_is_fused_across_a_matrix_product():
    found = counted("y = F.gelu(x @ w1) * 2\nz = F.relu(y @ w2)")
    assert [len(it.steps) for it in found.chains] == [2, 1]
    assert [it.name for it in found.kernels if it.barrier] == ["matmul", "matmul"]
    assert any("Line 1 is a matrix product (matmul)" in it for it in found.notes)


def test_a_row_that_is_needed_after_its_reduction_says_how_long_it_may_be():
    (note,) = counted("y = x - x.mean(-1, keepdim=True)").notes
    assert "Line 1 reduces rows" in note
    assert "65,536 values" in note
    assert not counted("y = (x * 2).sum(-1)").notes


def test_what_the_arguments_are_taken_to_be_is_told_and_may_be_said():
    code = "y = x * weight * cos + eps"
    assert counted(code).arguments == {"x": "tensor", "weight": "row", "cos": "table 1/32"}
    said = counted(f"{code}\n# cos: table 1/4 fp32").kernels[-2].read
    assert [(it.values, it.format) for it in said] == [X, (0.25, "fp32")]


def test_in_place_changes_of_arguments_are_results():
    (chain,) = counted("m.mul_(0.9).add_(grad, alpha=0.1)\np.add_(m, alpha=-lr)").chains
    assert (chain.fused.read_values.sum(), chain.fused.write_values.sum()) == (3, 2)


TOKENS = ["x", "y", "=", "*", "(", ")", "[", "]", ".", ",", ":", "\n", "\n    ", " ", "-1", "2"]
TOKENS += ["def f", "return ", "if ", "for ", "in ", "F.silu", ".chunk", ".to", ".add_", "None"]


@given(
    st.sampled_from(list(PASTED)), st.integers(0, 400), st.integers(0, 20),
    st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=12),
)  # fmt: skip
def test_whatever_is_pasted_is_counted_or_refused(name, at, gone, put):
    code = PASTED[name]["code"]
    found = counted(code[:at] + "".join(put) + code[at + gone :])
    assert found.chains or found.refused
    assert all(it.reason and it.line >= 1 for it in found.refused)


@pytest.mark.parametrize("name", PASTED)
def test_pasted_code_parses(name):
    assert ast.parse(PASTED[name]["code"]).body
