"""Numpy's own functions as JavaScript, and what cannot be."""

import math

import numpy as np
import pytest

from app.trace import TraceError, trace


def doubled_above_one(x):
    return np.where(x > 1, 2 * x, x)


def test_a_trace_reads_like_the_formula():
    script = trace(lambda a, b: {"sum": a + b, "twice": 2 * (a + b)}, ["a", "b"])
    assert script.lines == (
        ("readings.sum", "inputs.a + inputs.b"),
        ("readings.twice", "2 * readings.sum"),
    )


def test_what_is_computed_twice_is_written_once():
    script = trace(lambda x: {"y": (x + 1) * (x + 1)}, ["x"])
    assert script.lines == (("t1", "inputs.x + 1"), ("readings.y", "t1 * t1"))


def test_helpers_constants_and_loops_need_no_rule():
    def total(x):
        return {"y": sum(doubled_above_one(x) * weight for weight in (1.0, 2.0))}

    assert trace(total, ["x"]).lines[-1][0] == "readings.y"


def test_names_cannot_collide_whatever_they_are():
    script = trace(lambda var, t1: {"t1": var + t1, "Math": np.sqrt(var)}, ["var", "t1"])
    assert script.lines == (
        ("readings.t1", "inputs.var + inputs.t1"),
        ("readings.Math", "Math.sqrt(inputs.var)"),
    )


def test_a_reading_may_be_a_constant_an_input_or_another_reading():
    def readings(x):
        return {"two": np.float64(2.5), "same": x, "double": 2 * x, "again": 2 * x}

    assert trace(readings, ["x"]).lines == (
        ("readings.again", "2 * inputs.x"),
        ("readings.two", "2.5"),
        ("readings.same", "inputs.x"),
        ("readings.double", "readings.again"),
    )


def test_a_clip_may_be_open_on_a_side():
    assert trace(lambda x: {"y": np.clip(x, 0, None)}, ["x"]).lines == (
        ("readings.y", "Math.max(inputs.x, 0)"),
    )


def test_comparisons_may_be_joined_and_chosen_by():
    script = trace(lambda x: {"y": np.where((x > 1) & ~(x > 3), x, 0)}, ["x"])
    assert [line for _, line in script.lines] == [
        "inputs.x > 1", "inputs.x > 3", "!t2", "t1 && t3", "t4 ? inputs.x : 0",
    ]  # fmt: skip


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


def comparisons_added(x):
    return {"y": ((x > 1) + (x > 2)) * 10}


def comparison_times_number(x):
    return {"y": (x > 1) * x}


def number_negated_bit_by_bit(x):
    return {"y": ~x}


def numbers_joined(x):
    return {"y": np.where(np.logical_and(x, x), 1, 2)}


def comparison_returned(x):
    return {"y": x > 1}


def complex_constant(x):
    return {"y": 1j * x}


def array_constant(x):
    return {"y": np.array([1.0, 2.0]) * x}


def in_place(x):
    x += 1
    return {"y": x}


REFUSED = [
    branch, plain_number, unknown, reduction, loop, comparisons_added, comparison_times_number,
    number_negated_bit_by_bit, numbers_joined, complex_constant, array_constant, in_place,
]  # fmt: skip


def test_a_comparison_is_no_reading():
    with pytest.raises(TraceError, match="comparison"):
        trace(comparison_returned, ["x"])


@pytest.mark.parametrize("function", REFUSED)
def test_what_has_no_javascript_is_refused_with_its_line(function):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=f"test_trace.py:{line}: .*cannot run in the browser"):
        trace(function, ["x"])


def test_a_branch_is_told_of_where():
    with pytest.raises(TraceError, match=r"np\.where"):
        trace(branch, ["x"])
