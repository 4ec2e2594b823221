"""Where figures draw what, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from plates.figure import Axis, Bars, Column, Curves, Path, Paths, Series, Table, Timeline, Variant

SAID = {"id": "figure", "title": "Figure", "text": "a figure"}
TENTHS = Axis("x", "plain", 1, 1e4, (1, 10, 100, 1000))
TIMES = Axis("y", "time", 1e-3, 1e3, (1e-3, 1, 1e3))
CURVES = Curves(
    **SAID,
    input="x",
    along=(1.0, 100.0, 1e4),
    x=TENTHS,
    y=TIMES,
    series=(Series("y", "y", "before"),),
    marked=("y",),
    regime="place",
    tabled=2,
)


def listed(values):
    return {name: np.asarray(it).tolist() for name, it in values.items()}


def test_an_axis_is_a_log_scale_and_what_lies_beyond_stands_at_its_end():
    assert TENTHS.percent(np.array([0.1, 1, 10, 1000, 1e6])) == pytest.approx([0, 0, 25, 75, 100])
    assert TENTHS.share(0.1) == pytest.approx(-0.25)


def test_a_mark_stands_at_its_value_and_tells_when_it_is_off_the_axis():
    assert listed(CURVES.drawn({"y": 1.0}, {"x": 100.0})) == {
        "x": 50, "y_y": 50, "y_below": False, "y_above": False,
    }  # fmt: skip
    assert listed(CURVES.drawn({"y": 1e-4}, {"x": 2.0})) == {
        "x": pytest.approx(7.526, abs=1e-3), "y_y": 100, "y_below": True, "y_above": False,
    }  # fmt: skip


def test_a_curve_goes_through_its_stops_and_every_second_stop_is_in_the_table():
    y, place = np.array([1e-3, 1.0, 1e3]), np.array([0, 0, 2])
    found = listed(CURVES.curves(CURVES.stops | {"y": y, "place": place}))
    assert found["across"] == [0, 500, 1000]
    assert found["y_line"] == [1000, 500, 0]
    assert found["y_end"] == 0
    assert found["rows"] == [1, 1e4]
    assert found["y_rows"] == [1e-3, 1e3]


def test_a_regime_reaches_half_way_to_the_stop_where_another_begins():
    # From the stop at 10² to that at 10⁴, half way is 10³: three quarters of the axis.
    found = listed(CURVES.curves(CURVES.stops | {"y": np.ones(3), "place": np.array([0, 0, 2])}))
    assert found["regime"] == [0, 2]
    assert found["regime_left"] == [0, pytest.approx(75)]
    assert found["regime_middle"] == [pytest.approx(37.5), pytest.approx(87.5)]
    assert found["regime_to"] == [pytest.approx(1e3), pytest.approx(1e4)]
    assert found["regime_begun"] == [False, True]


def test_a_regime_that_comes_again_is_told_again():
    place = np.array([0, 3, 0])
    found = listed(CURVES.curves(CURVES.stops | {"y": np.ones(3), "place": place}))
    assert found["regime"] == [0, 3, 0]


def test_without_a_regime_there_are_none():
    plain = replace(CURVES, regime="")
    assert "regime" not in plain.curves(plain.stops | {"y": np.ones(3)})
    assert plain.shows == ("y",)


BARS = Bars(
    **SAID,
    axis_label="bytes",
    format="bytes",
    end="end",
    series=(Series("a", "a", "before"), Series("b", "b", "after")),
)


def test_bars_and_their_ticks_are_shares_of_the_end_of_their_axis():
    found = listed(BARS.drawn({"a": 3.0, "b": 1.0, "end": 4.0}, {}))
    assert (found["a_x"], found["b_x"]) == (75, 25)
    assert [found[f"tick_{n}_x"] for n in range(5)] == [0, 25, 50, 75, 100]


@pytest.mark.parametrize(
    ("end", "ticks"),
    [
        (2**31, [0, 0.5e9, 1e9, 1.5e9, 2e9]),
        (2**14, [0, 5e3, 10e3, 15e3]),
        (1.2e-4, [0, 0.25e-4, 0.5e-4, 0.75e-4, 1e-4]),
        (9.0, [0, 2, 4, 6, 8]),
        (5.1, [0, 2, 4]),
        (5.0, [0, 1, 2, 3, 4]),
    ],
)
def test_ticks_of_bars_are_round_and_three_to_five(end, ticks):
    found = BARS.drawn({"a": 3.0, "b": 1.0, "end": end}, {})
    on = [found[f"tick_{n}"] for n in range(5) if found[f"tick_{n}_on"]]
    assert on == pytest.approx(ticks)


ROOF = Paths(
    **SAID,
    x=TENTHS,
    y=TIMES,
    paths=(
        Path("low", "other", ((1, 1e-3), ("ridge", "roof"))),
        Path("high", "ink", ((1, 1.0), ("ridge", "top"))),
        Path("here", "before", (("ridge", 1e-4),)),
    ),
)


def test_lines_bend_and_spots_stand_where_the_readings_say():
    found = listed(ROOF.drawn({"ridge": 100.0, "roof": 1.0, "top": 1e3}, {}))
    assert (found["path_0_0_x"], found["path_0_0_y"]) == (0, 1000)
    assert (found["path_0_1_x"], found["path_0_1_y"]) == (500, 500)
    assert (found["end_1_x"], found["end_1_y"]) == (50, 0)
    assert (found["end_2_x"], found["end_2_y"]) == (50, 100)
    assert found["end_2_below"]
    assert not found["end_1_below"]


@pytest.mark.parametrize(("top", "named"), [(1e3, 1), (1.0, 0)])
def test_of_two_lines_that_end_as_one_the_last_is_named(top, named):
    found = ROOF.drawn({"ridge": 100.0, "roof": 1.0, "top": top}, {})
    assert found["end_0_named"] == named
    assert found["end_1_named"] == 1


LANES = Timeline(
    **SAID,
    host_label="host",
    host=("launches", "launch", "ahead"),
    lanes=(Variant("unfused", "unfused", "before", lit=True), Variant("fused", "fused", "after")),
    keys=("a", "b", "c", "d"),
)
# Two steps, the second of them twice: 1 idle before each kernel, 1 to start, 2 or 3 to work.
KERNELS = {
    "launches": 3.0, "launch": 1.0, "ahead": 0.0, "time_unfused": 14.0, "time_fused": 7.0,
    "kernel_count_unfused": np.array([1.0, 2.0]), "idle_unfused": 1.0,
    "kernel_started_unfused": np.array([1.0, 1.0]), "kernel_worked_unfused": np.array([2.0, 3.0]),
    "kernel_count_fused": np.array([1.0]), "idle_fused": 0.0,
    "kernel_started_fused": np.array([2.0]), "kernel_worked_fused": np.array([5.0]),
}  # fmt: skip


def test_each_kernel_of_a_lane_is_idle_starts_and_works_in_turn():
    found = {name: np.asarray(it) * 14 / 1000 for name, it in LANES.drawn(KERNELS, {}).items()}
    assert found["unfused_from"] == pytest.approx([0, 4, 9])
    assert found["unfused_begin"] == pytest.approx([1, 5, 10])
    assert found["unfused_work"] == pytest.approx([2, 6, 11])
    assert found["unfused_to"] == pytest.approx([4, 9, 14])
    assert found["fused_to"] == pytest.approx([7])
    assert found["host_from"] == pytest.approx([0, 4, 9])
    assert found["host_to"] == pytest.approx([1, 5, 10])


def test_kernels_of_one_step_light_together_and_idle_time_is_drawn_where_there_is_any():
    found = LANES.drawn(KERNELS, {})
    assert found["unfused_step"].tolist() == [0, 1, 1]
    assert found["unfused_idle"]
    assert not found["fused_idle"]


def test_a_host_that_is_ahead_launches_the_others_from_the_first_on():
    ahead = KERNELS | {"ahead": 1.0, "launch": 10.0}
    found = LANES.drawn(ahead, {})
    # Two launches of 10 after the first: the host is the last to be done.
    assert found["ahead"]
    assert found["host_from"] == pytest.approx([0, 500, 1000])
    assert found["host_to"] == pytest.approx([500, 1000, 1000])
    assert found["unfused_to"][-1] == pytest.approx(700)


def test_a_host_that_is_not_ahead_is_to_the_same_scale_and_launches_as_often_as_it_does():
    slow = KERNELS | {"launch": 20.0}
    # The third launch begins at 9 and takes 20: 29 in all.
    found = LANES.drawn(slow, {})
    assert found["host_to"][-1] == pytest.approx(1000)
    assert found["unfused_to"][-1] == pytest.approx(1000 * 14 / 29)
    once = LANES.drawn(slow | {"launches": 1.0}, {})
    assert (once["host_to"] - once["host_from"])[1:] == pytest.approx([0, 0])
    assert once["host_to"][0] == pytest.approx(1000)


def test_arrows_are_as_wide_as_what_they_carry_and_begin_where_it_is():
    table = Table(
        **SAID,
        columns=(Column("kernel_time", "time", "time", wait="wait"),),
        variants=(Variant("unfused", "unfused", "before"),),
        wait_label="wait",
        total_label="in all",
        memories=("HBM", "L2", "registers"),
    )
    found = listed(
        table.drawn(
            {
                "kernel_read_unfused": np.array([4.0, 1.0]),
                "kernel_written_unfused": np.array([2.0, 0.0]),
                "kernel_resident_unfused": np.array([0.0, 0.9]),
                "kernel_count_unfused": np.array([1.0, 2.0]),
            },
            {},
        )
    )
    assert found["unfused_read"] == [20, 5, 5]
    assert found["unfused_written"] == [10, 0, 0]
    assert found["unfused_top"] == [12, 42, 42]
    assert found["unfused_neck"] == [22, 52, 52]
    assert found["unfused_step"] == [0, 1, 1]
    assert found["unfused_many"] == [False, True]
    assert found["unfused_kernels"] == 3
    assert table.shows == ("kernel_time_unfused", "wait_unfused")
