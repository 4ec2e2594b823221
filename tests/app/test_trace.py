"""Numpy's own functions as JavaScript, and what cannot be."""

import math

import numpy as np
import pytest

from app.trace import TraceError, trace


def doubled_above_one(x):
    return np.where(x > 1, 2 * x, x)


def test_a_trace_reads_like_the_formula():
    script = trace(lambda a, b: {"sum": a + b, "twice": 2 * (a + b)}, ["a", "b"])
    assert script.arguments == ("a", "b")
    assert script.lines == (("sum", "a + b"), ("twice", "2 * sum"))
    assert script.results == {"sum": "sum", "twice": "twice"}


def test_what_is_computed_twice_is_written_once():
    script = trace(lambda x: {"y": (x + 1) * (x + 1)}, ["x"])
    assert len(script.lines) == 2


def test_helpers_constants_and_loops_need_no_rule():
    def total(x):
        return {"y": sum(doubled_above_one(x) * weight for weight in (1.0, 2.0))}

    assert trace(total, ["x"]).results == {"y": "y"}


def test_a_constant_result_is_written_as_it_is():
    assert trace(lambda x: {"y": np.float64(2.5)}, ["x"]).results == {"y": "2.5"}


def branch(x):
    return {"y": x if x > 1 else 2 * x}


def plain_number(x):
    return {"y": math.sqrt(x)}


def unknown(x):
    return {"y": np.sinc(x)}


def reduction(x):
    return {"y": np.add.reduce(x)}


def loop(x):
    return {"y": [it for it in x]}  # noqa: C416


@pytest.mark.parametrize("function", [branch, plain_number, unknown, reduction, loop])
def test_what_has_no_javascript_is_refused_with_its_line(function):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=f"test_trace.py:{line}: .*cannot run in the browser"):
        trace(function, ["x"])


def test_a_branch_is_told_of_where():
    with pytest.raises(TraceError, match=r"np\.where"):
        trace(branch, ["x"])
