"""Numpy's own functions as JavaScript, and what cannot be."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from app.trace import TraceError, record, trace


def doubled_above_one(x):
    return np.where(x > 1, 2 * x, x)


def test_a_trace_reads_like_the_formula():
    script = trace(lambda a, b: {"sum": a + b, "twice": 2 * (a + b)}, {"a": 1.0, "b": 1.0})
    assert script == ("readings.sum = inputs.a + inputs.b;", "readings.twice = 2 * readings.sum;")


def test_what_is_computed_twice_is_written_once():
    script = trace(lambda x: {"y": (x + 1) * (x + 1)}, {"x": 1.0})
    assert script == ("const t1 = inputs.x + 1;", "readings.y = t1 * t1;")


def test_helpers_constants_and_loops_need_no_rule():
    def total(x):
        return {"y": sum(doubled_above_one(x) * weight for weight in (1.0, 2.0))}

    assert trace(total, {"x": 1.0})[-1].startswith("readings.y = ")


def test_names_cannot_collide_whatever_they_are():
    script = trace(lambda var, t1: {"t1": var + t1, "Math": np.sqrt(var)}, {"var": 1.0, "t1": 1.0})
    assert script == (
        "readings.t1 = inputs.var + inputs.t1;",
        "readings.Math = Math.sqrt(inputs.var);",
    )


def test_a_reading_may_be_a_constant_an_input_or_another_reading():
    def readings(x):
        return {"two": np.float64(2.5), "same": x, "double": 2 * x, "again": 2 * x}

    assert trace(readings, {"x": 1.0}) == (
        "readings.again = 2 * inputs.x;",
        "readings.two = 2.5;",
        "readings.same = inputs.x;",
        "readings.double = readings.again;",
    )


def test_a_clip_may_be_open_on_a_side():
    assert trace(lambda x: {"y": np.clip(x, 0, None)}, {"x": 1.0}) == (
        "readings.y = Math.max(inputs.x, 0);",
    )


def test_comparisons_may_be_joined_and_chosen_by():
    script = trace(lambda x: {"y": np.where((x > 1) & ~(x > 3), x, 0)}, {"x": 1.0})
    assert script == (
        "const t1 = inputs.x > 1;",
        "const t2 = inputs.x > 3;",
        "const t3 = !t2;",
        "const t4 = t1 && t3;",
        "readings.y = t4 ? inputs.x : 0;",
    )


@dataclass(frozen=True)
class Rate:
    bytes_per_s: float
    name: str
    fast: bool


@dataclass(frozen=True)
class Steps:
    moved: np.ndarray
    skipped: np.ndarray


CHAIN = Steps(np.array([1.0, 2.0]), np.array([False, True]))


def total(rate, chain, x):
    moved = np.where(chain.skipped, 0, x[..., None] * chain.moved)
    return {"time": np.sum(moved, axis=-1) / rate.bytes_per_s, "moved": moved}


def test_a_sum_over_steps_is_a_loop_and_a_step_s_value_is_kept_in_it():
    assert trace(total, {"rate": Rate(1.0, "", True), "chain": CHAIN, "x": 1.0}) == (
        "let t3 = 0;",
        "readings.moved = [];",
        "for (let i = 0; i < inputs.chain.length; i++) {",
        "  const each = inputs.chain[i];",
        "  const t1 = inputs.x * each.moved;",
        "  const t2 = each.skipped ? 0 : t1;",
        "  t3 += t2;",
        "  readings.moved.push(t2);",
        "}",
        "readings.time = t3 / inputs.rate.bytes_per_s;",
    )


def test_the_page_holds_numbers_truths_and_steps_of_a_record():
    assert record(Rate(2.0, "H100", True)) == {"bytes_per_s": 2.0, "fast": True}
    assert record(CHAIN) == [{"moved": 1.0, "skipped": False}, {"moved": 2.0, "skipped": True}]


def shares(chain):
    moved = 2 * chain.moved
    return {"share": moved / np.max(moved, axis=-1), "unused": np.sum(moved, axis=-1) > 0}


def test_what_a_later_pass_needs_is_kept_and_what_nobody_needs_is_not_computed():
    script = trace(lambda chain: {"share": shares(chain)["share"]}, {"chain": CHAIN})
    assert script == (
        "let t2 = -Infinity;",
        "const t1s = [];",
        "for (let i = 0; i < inputs.chain.length; i++) {",
        "  const each = inputs.chain[i];",
        "  const t1 = 2 * each.moved;",
        "  t2 = Math.max(t2, t1);",
        "  t1s.push(t1);",
        "}",
        "readings.share = [];",
        "for (let i = 0; i < inputs.chain.length; i++) {",
        "  const t3 = t1s[i] / t2;",
        "  readings.share.push(t3);",
        "}",
    )


def test_a_running_sum_and_the_last_entry_are_known_within_and_after_the_pass():
    def function(chain):
        end = np.cumsum(chain.moved, axis=-1)
        return {"begin": end - chain.moved, "all": end[..., -1]}

    script = trace(function, {"chain": CHAIN})
    assert script[:3] == ("let t1 = 0;", "readings.all = NaN;", "readings.begin = [];")
    assert script[5:9] == (
        "  t1 += each.moved;", "  const t2 = t1 - each.moved;", "  readings.all = t1;",
        "  readings.begin.push(t2);",
    )  # fmt: skip


def test_entries_are_repeated_by_a_count_and_set_against_their_neighbours():
    def function(chain):
        first = np.diff(chain.moved, prepend=0) != 0
        left = np.repeat(chain.moved, first)
        return {"left": left, "width": np.diff(left, append=9)}

    assert trace(function, {"chain": CHAIN}) == (
        "readings.left = [];",
        "for (let i = 0; i < inputs.chain.length; i++) {",
        "  const each = inputs.chain[i];",
        "  const t1 = each.moved - (i > 0 ? inputs.chain[i - 1].moved : 0);",
        "  const t2 = t1 !== 0;",
        "  for (let n = 0; n < t2; n++) readings.left.push(each.moved);",
        "}",
        "readings.width = [];",
        "for (let i = 0; i < readings.left.length; i++) {",
        "  const t4 = (i + 1 < readings.left.length ? readings.left[i + 1] : 9)"
        " - readings.left[i];",
        "  readings.width.push(t4);",
        "}",
    )


def test_a_whole_number_loses_its_fraction_and_a_truth_becomes_a_number():
    script = trace(lambda x: {"n": x.astype(int), "one": (x > 1).astype(float)}, {"x": 1.0})
    assert script == (
        "readings.n = Math.trunc(inputs.x);",
        "const t2 = inputs.x > 1;",
        "readings.one = t2 ? 1 : 0;",
    )


def test_a_key_is_never_renamed():
    script = trace(lambda x: {"f-t1": x + 1, "b": x + 1}, {"x": 1.0})
    assert sorted(script) == ["readings.b = inputs.x + 1;", 'readings["f-t1"] = readings.b;']


def one_step(chain):
    return {"y": chain.moved[0]}


def two_lists(chain):
    return {"y": chain.moved + np.repeat(chain.moved, chain.skipped)}


def all_axes(chain):
    return {"y": np.sum(chain.moved)}


def open_differences(chain):
    return {"y": np.diff(chain.moved)}


@pytest.mark.parametrize("function", [one_step, two_lists, all_axes, open_differences])
def test_what_is_no_pass_over_the_steps_is_refused(function):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=f"test_trace.py:{line}: .*cannot run in the browser"):
        trace(function, {"chain": CHAIN})


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


def test_a_comparison_may_be_returned_as_a_truth():
    assert trace(comparison_returned, {"x": 1.0}) == ("readings.y = inputs.x > 1;",)


@pytest.mark.parametrize("function", REFUSED)
def test_what_has_no_javascript_is_refused_with_its_line(function):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=f"test_trace.py:{line}: .*cannot run in the browser"):
        trace(function, {"x": 1.0})


def test_a_branch_is_told_of_where():
    with pytest.raises(TraceError, match=r"np\.where"):
        trace(branch, {"x": 1.0})
