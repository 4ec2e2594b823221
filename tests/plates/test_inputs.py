"""An input: what may be typed, what is refused, where the slider stops, how it is spoken."""

import math

import numpy as np
import param
import pytest

from plates.inputs import Choice, Flags, Option, Quantity
from plates.kernel_fusion import KernelFusion, plate
from plates.plate import update, values

K, S, OVERHEAD, TENSOR = (KernelFusion.param[it] for it in ("k", "S", "overhead", "tensor"))


def main(plate):
    return {name: it for name, it in values(plate).items() if name in ("k", "S", "overhead")}


class Shifted(param.Parameterized):
    speed = Quantity(1.5, bounds=(1.5, 9.5), step=1, unit=("m/s", "m/s"))


@pytest.mark.parametrize(
    ("quantity", "text", "value"),
    [
        (K, "5", 5),
        (K, " 16 ", 16),
        (K, "8.0", 8),
        (S, "8192x4096", 33554432),
        (S, "2^25", 33554432),
        (S, "2^13 x 4Ki", 33554432),
        (S, "8192 × 4096", 33554432),
        (S, "4Ki", 4096),
        (S, "32 Mi", 33554432),
        (S, "1Gi", 2**30),
        (S, "33,554,433", 33554433),
        (S, "1e6", 1_000_000),
        (S, "0.5Mi", 524288),
        (OVERHEAD, "0", 0),
        (OVERHEAD, "4.1", 4.1),
        (OVERHEAD, ".3", 0.3),
        (TENSOR, "989", 989e12),
        (TENSOR, "989 TFLOP/s", 989e12),
        (TENSOR, "1e9", 1e9),
        (TENSOR, "0", 0),
    ],
)
def test_what_is_typed_is_understood(quantity, text, value):
    assert quantity.parse(text) == value


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (K, "0"),
        (K, "17"),
        (K, "2.5"),
        (K, ""),
        (K, "abc"),
        (K, "1e999"),
        (K, "NaN"),
        (K, "-5"),
        (K, "5x"),
        (K, "1,6"),
        (OVERHEAD, "1,5"),
        (OVERHEAD, "0x10"),
        (S, "33,55,44"),
        (K, "５"),
        (S, "255"),
        (S, "2Gi"),
        (S, "8192x"),
        (S, "64 MiB"),
        (S, "1000.5"),
        (OVERHEAD, "-0.1"),
        (OVERHEAD, "20.1"),
        (OVERHEAD, "4 µs"),
    ],
)
def test_what_is_no_value_in_range_is_refused_with_name_text_and_range(quantity, text):
    with pytest.raises(ValueError, match=r"^\w+ = '.*' is not a (whole )?number from .+ to "):
        quantity.parse(text)


@pytest.mark.parametrize("value", [0, 17, 2.5, True, None, "5", math.nan, math.inf, 10**400])
def test_the_param_class_refuses_what_the_page_would(value):
    plate = KernelFusion()
    with pytest.raises(ValueError, match=r"k = .* is not a whole number from 1 to 16"):
        plate.k = value
    assert plate.k == 5


def test_numpy_s_numbers_are_numbers():
    plate = KernelFusion(k=np.int64(8), overhead=np.float32(2.5))
    assert main(plate) == {"k": 8, "S": 33554432, "overhead": 2.5}
    assert all(type(it) in (int, float) for it in main(plate).values())


def test_several_inputs_are_set_all_or_none():
    plate = KernelFusion()
    for changes in ({"k": 8, "S": 3}, {"S": 4096, "k": 99}, {"k": 8, "other": 1}):
        with pytest.raises(ValueError, match=r"is not|is no input"):
            update(plate, changes)
        assert main(plate) == {"k": 5, "S": 33554432, "overhead": 4.0}


def test_a_slider_in_octaves_has_four_stops_an_octave_on_whole_numbers():
    assert S.slider == {"min": 8, "max": 30, "step": 0.25}
    assert len(S.stops) == 89
    assert S.stops[:5] == [256, 304, 362, 431, 512]
    assert S.stops[-1] == 2**30
    assert S.position(33554432) == 25


def test_a_linear_slider_counts_its_steps_from_its_minimum():
    assert Shifted.param["speed"].stops == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]


def test_decimal_stops_are_the_decimals_that_one_reads():
    assert OVERHEAD.stops[:4] == [0, 0.1, 0.2, 0.3]
    assert len(OVERHEAD.stops) == 201
    assert all(len(repr(stop)) <= 4 for stop in OVERHEAD.stops)


def test_a_value_is_spoken_exactly_and_with_its_unit():
    assert K.text(1) == "1 kernel"
    assert K.text(5) == "5 kernels"
    assert S.text(33554432).replace("\N{NO-BREAK SPACE}", " ") == "32 Mi values"
    assert S.text(33554433) == "33,554,433 values"
    assert OVERHEAD.text(4.25) == "4.25 µs per kernel"


GPU, TERMS = (KernelFusion.param[name] for name in ("gpu", "terms"))


def test_a_choice_is_one_of_its_options_and_the_readings_get_its_record():
    assert GPU.parse("h200") == "h200"
    assert GPU.for_readings("h200") is GPU.options["h200"].record
    for text in ("h100", "", "H200"):
        with pytest.raises(ValueError, match=rf"^gpu = '{text}' is not one of h100-sxm, h100-pcie"):
            GPU.parse(text)


def test_flags_are_some_of_their_options_in_their_own_order_or_none():
    assert TERMS.parse("overlap, l2") == "l2,overlap"
    assert TERMS.parse("none") == "none"
    on = TERMS.for_readings("l2,overlap")
    assert (on.l2, on.overlap, on.fixed) == (True, True, False)
    for text in ("l2,none", "l2,warp", ""):
        with pytest.raises(ValueError, match=r"^terms = '.*' is not some of fixed, achieved"):
            TERMS.parse(text)


@pytest.mark.parametrize("value", ["l2,fixed", "l2,l2", "", 5, None])
def test_the_param_class_refuses_flags_that_are_not_in_order(value):
    with pytest.raises(ValueError, match=r"^terms = .* is not some of"):
        KernelFusion(terms=value)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Quantity(9, bounds=(1, 8), unit=("", ""), label="Size"), "Size = 9 is not a num"),
        (lambda: Choice("c", options={"a": Option("A")}, label="Kind"), "Kind = 'c' is not one of"),
        (lambda: Flags(options={}, record=dict, label="Some"), "Some = '' is not some of"),
    ],
)
def test_a_default_that_may_not_be_is_refused_where_it_is_declared(made, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        made()


def test_flags_may_be_written_with_spaces_and_are_spoken_by_their_labels():
    assert TERMS.parse(" none ") == "none"
    assert TERMS.text("none") == "none"
    assert (
        TERMS.text("l2,overlap") == f"{TERMS.options['l2'].label}, {TERMS.options['overlap'].label}"
    )


def test_a_chain_of_one_s_own_is_given_by_its_text():
    given = plate.given({"chain": "own", "steps": "r2w1_r2w1_r1w1"})
    assert "steps" not in given
    assert given["chain"].fused.read_values.tolist() == [2]
    assert given["chain"].unfused.read_values.tolist() == [2, 1]
    assert KernelFusion.param["steps"].names("r1_r1w1_times two-w1_f2") == ["1", "times two", "3"]
