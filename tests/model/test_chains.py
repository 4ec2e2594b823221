"""What real chains move, against counts traced from the formulas as PyTorch runs them."""

import ast

import numpy as np
import pytest

from model import cost
from model.chains import CHAINS, OWN_EMPTY, chains, own, own_text
from model.gpus import FORMATS, GPUS

# Chain, format, kernels, bytes a value unfused and fused: traced, one kernel an operation.
TRACED = [
    ("rms-norm", "bf16", 8, 36, 4),
    ("rms-norm", "fp32", 6, 28, 8),
    ("rms-norm-wide-weight", "bf16", 8, 38, 4),
    ("add-rms-norm", "bf16", 9, 42, 8),
    ("add-rms-norm-upcast", "fp32", 7, 40, 16),
    ("layer-norm", "bf16", 9, 24, 4),
    ("layer-norm-fp32", "bf16", 13, 60, 4),
    ("layer-norm-fp32", "fp32", 9, 48, 8),
    ("swiglu", "bf16", 2, 10, 6),
    ("geglu", "bf16", 2, 10, 6),
    ("gelu", "bf16", 8, 36, 4),
    ("quick-gelu", "bf16", 3, 14, 4),
    ("bias-gelu", "bf16", 10, 46, 4),
    ("bias-dropout-add", "bf16", 3, 15, 6),
    ("bias-add", "bf16", 2, 10, 6),
    ("rope", "bf16", 10, 20.2, 4.1),
    ("softmax", "bf16", 5, 16, 4),
    ("attention-scores", "bf16", 5, 28.0625, 4.0625),
    ("adamw", "fp32", 9, 88, 28),
    ("relu-squared", "bf16", 2, 8, 4),
    ("rope-complex", "bf16", 6, 20.2, 4.1),
    ("dyt", "bf16", 3, 22, 4),
    ("dyt-beta", "bf16", 4, 30, 4),
    ("tvd", "fp32", 5, 32, 12),
    ("kl-div", "fp32", 5, 36, 8),
    ("jsd", "fp32", 18, 116, 12),
]


def counted(steps, form):
    run = cost.Run(GPUS["h100-sxm"], FORMATS[form], terms=cost.SKETCH)
    return cost.chain_cost(steps, 1, run)


@pytest.mark.parametrize(
    ("chain", "form", "kernels", "moved", "moved_fused"), TRACED, ids=lambda it: str(it)
)
def test_kernels_and_bytes_are_those_that_were_traced(chain, form, kernels, moved, moved_fused):
    before, after = (counted(it, form) for it in (CHAINS[chain].unfused, CHAINS[chain].fused))
    assert before.kernels == kernels
    assert before.traffic_bytes == pytest.approx(moved, rel=1e-12)
    assert after.kernels == 1
    assert after.traffic_bytes == pytest.approx(moved_fused, rel=1e-12)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("form", FORMATS)
def test_fusing_never_moves_more_and_computes_the_same(chain, form):
    before, after = (counted(it, form) for it in (CHAINS[chain].unfused, CHAINS[chain].fused))
    assert after.traffic_bytes <= before.traffic_bytes
    assert after.flop == pytest.approx(before.flop, rel=1e-12)


def test_access_follows_from_what_a_step_declares():
    norm = CHAINS["rms-norm-wide-weight"].unfused
    names = [step.name for step in CHAINS["rms-norm-wide-weight"].steps]
    assert [names[n] for n in np.flatnonzero(norm.indexed)] == ["times rsqrt", "times weight"]
    assert [names[n] for n in np.flatnonzero(norm.mixed)] == ["times weight"]
    assert not CHAINS["rope"].fused.indexed.any()


def names(code, context):
    nodes = ast.walk(ast.parse(code))
    return {it.id for it in nodes if isinstance(it, ast.Name) and isinstance(it.ctx, context)}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_the_code_of_the_steps_is_the_body_of_a_function(chain):
    arguments = set(chain.arguments)
    known, assigned, read = arguments | {"torch", "F"}, set(), set()
    for step in chain.steps:
        assert "\n" not in step.code
        (line,) = ast.parse(step.code).body
        assert isinstance(line, ast.Assign)
        assert all(isinstance(it, ast.Name) for it in line.targets)
        needed = names(step.code, ast.Load)
        assert needed <= known
        read |= needed
        assigned |= names(step.code, ast.Store)
        known |= assigned
    returned = names(chain.returns, ast.Load)
    assert returned <= assigned
    assert arguments <= read
    assert assigned <= read | returned


def test_every_chain_has_a_source():
    assert all(chain.source for chain in CHAINS.values())


def test_a_step_is_fresh_where_it_reads_what_none_before_it_has_touched():
    def fresh(name, column):
        steps = getattr(CHAINS[name].unfused, column)
        return [step.name for step, it in zip(CHAINS[name].steps, steps, strict=True) if it]

    assert fresh("rms-norm", "fresh") == ["to FP32"]
    assert fresh("rms-norm", "fresh_wide") == ["square"]
    assert fresh("swiglu", "fresh") == ["SiLU of gate", "times up"]
    assert fresh("adamw", "fresh_wide") == [
        "m times β₁", "m plus gradient", "v times β₂", "decay weights",
    ]  # fmt: skip
    assert fresh("sketch", "fresh") == ["the first step"]
    assert fresh("bias-dropout-add", "fresh") == ["add bias", "add residual"]


TOY = """
[toy]
name = "Toy"
source = "nobody"
arguments = { h = "tensor", table = "table 1/4 fp32", weight = "row", eps = "number" }
returns = "out"
code = '''
wide = h.float()  # to FP32
scaled = wide * table  # times table
out = scaled.to(h.dtype)  # back
'''
"""


def toy(tmp_path, before="", after=""):
    assert before in TOY
    file = tmp_path / "chains.toml"
    file.write_text(TOY.replace(before, after), encoding="utf-8")
    return chains(file)["toy"]


def test_a_chain_is_counted_from_its_code_whatever_its_arguments_are_called(tmp_path):
    steps = toy(tmp_path).unfused
    assert steps.read_values.tolist() == [1, 0, 0]
    assert steps.read_bytes.tolist() == [0, 4 + 1, 4]
    assert steps.write_values.tolist() == [0, 0, 1]
    assert steps.write_bytes.tolist() == [4, 4, 0]
    assert steps.flop.tolist() == [0, 1, 0]
    assert steps.indexed.tolist() == [False, True, False]
    assert steps.cast.tolist() == [True, False, True]
    assert steps.fresh.tolist() == [True, False, False]
    assert steps.fresh_wide.tolist() == [False, True, False]
    one = toy(tmp_path).fused
    assert (one.read_values, one.read_bytes, one.write_values) == (1, 1, 1)
    assert one.mixed.all()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("wide * table", "wide @ table", "line 2, .*not one of a chain"),
        ("wide * table", "wide.cumulate(-1)", "line 2, .*the operation cumulate is not known"),
        ("wide * table", "wide * tabel", "line 2, .*tabel is not known"),
        ("wide * table", "wide[..., :64]", "line 2, .*is not known: a bound"),
        ("wide * table", "wide * table + 1", "line 2, .*2 kernels, not one"),
        ("wide * table", "wide.flatten()", "line 2, .*0 kernels, not one"),
        ("  # times table", "", "line 2, .*what the kernel is called"),
        ("wide * table", "wide *", "line 2, .*invalid syntax"),
        ('returns = "out"', 'returns = "oud"', "oud"),
        ('"row"', '"column"', "argument weight is 'column'"),
        ("1/4", "quarter", "argument table is 'table quarter fp32'"),
        ('source = "nobody"', "", "source"),
        ("returns", 'retruns = "x"\nreturns', "retruns"),
        ("returns", 'shapes = { y = "rows" }\nreturns', "shapes has y, which is no argument"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_its_line(tmp_path, before, after, said):
    with pytest.raises(ValueError, match=rf"chains.toml: toy: .*{said}"):
        toy(tmp_path, before, after)


@pytest.mark.parametrize("name", [name for name, it in CHAINS.items() if not it.repeats])
def test_the_short_form_of_a_chain_stands_for_the_same_steps(name):
    chain = CHAINS[name]
    same = own(own_text(chain))
    for variant in ("unfused", "fused"):
        for column in OWN_EMPTY:
            ours, theirs = (getattr(getattr(it, variant), column) for it in (same, chain))
            np.testing.assert_allclose(ours, theirs, atol=1e-6, err_msg=column)


def test_a_short_form_says_what_each_kernel_reads_writes_and_computes():
    chain = own("r2W4f3.5aA_to FP32-r1W4ca_r0.5R4w1f2im")
    assert [it.name for it in chain.steps] == ["to FP32", "2"]
    assert chain.fused.read_values.tolist() == [2]
    assert chain.fused.flop.tolist() == [3.5]
    assert chain.unfused.read_values.tolist() == [1, 0.5]
    assert chain.unfused.read_bytes.tolist() == [0, 4]
    assert chain.unfused.cast.tolist() == [True, False]
    assert chain.unfused.indexed.tolist() == [False, True]
    assert chain.unfused.fresh.tolist() == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "", "r1w1", "_", "r1w1_", "r1w1_f1", "f1_r1w1", "r0w1_r1w1", "w1r1_r1w1", "r1w1_r1w1;",
        "r-1_r1w1", "r1e9_r1", "r12345_r1", "x<y-r1_r1", "r1w1" + "_r1w1" * 100,
    ],
)  # fmt: skip
def test_what_is_no_chain_in_the_short_form_is_refused(text):
    with pytest.raises(ValueError, match="is no chain in the short form"):
        own(text)
