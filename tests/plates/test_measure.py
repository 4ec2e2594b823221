"""The script that times a chain: whole for each, and what it writes is read.

Run by hand on a CPU with PyTorch 2.13, each chain ran through; no GPU has run it.
"""

import ast

import pytest

from model.chains import CHAINS
from plates.kernel_fusion.measure import measure
from plates.kernel_fusion.timings import validate

HEADING = (
    "gpu,operation,variant,pass,dtype,rows,cols,values,time_us_median,note,driver,torch,date\n"
)
CPU = "CPU,rms-norm,unfused,forward,bfloat16,32,4096,131072,90.1,wall clock,,2.13.0,2026-12-04\n"
GPU = (
    "NVIDIA H100 80GB HBM3,rms-norm,unfused,forward,bfloat16,8192,4096,33554432,560.2,"
    "L2 overwritten; clock limits 0x0,570.1,2.13.0,2026-12-04\n"
)


@pytest.mark.parametrize("name", CHAINS)
def test_it_is_a_script_with_the_lines_of_the_chain(name):
    text = measure(name)
    ast.parse(text)
    assert all(step.code in text for step in CHAINS[name].steps)


def test_its_tensors_are_as_large_as_the_chain_says():
    assert "make(rows, cols * 2)" in measure("swiglu-split")
    assert "make(cols)" in measure("rms-norm")
    assert "make(cols, dtype=torch.float32)" in measure("dyt")
    assert "ROWS, COLS = 1, 5120" in measure("rope")
    assert "ROWS, COLS = 1, 4096" in measure("rms-norm")
    assert "ROWS, COLS = 32, 4096" in measure("group-norm")


def test_a_chain_in_fp32_is_timed_in_no_other_format():
    assert "choices=['float32'], default=\"float32\"" in measure("adamw")


def test_an_unknown_chain_is_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"no chain is called 'nope'; there is sketch, rms-norm"):
        measure("nope")


def test_what_it_writes_of_a_gpu_is_priced_and_what_of_a_cpu_is_not():
    assert f'COLUMNS = "{HEADING.strip().replace(",", " ")}"' in measure("rms-norm")
    report = validate((HEADING + CPU + GPU).encode(), name="both")
    assert [it.card for it in report.priced] == ["h100-sxm"]
    assert dict(report.unpriced) == {"GPU not named, or not in the table": 1}
