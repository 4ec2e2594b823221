"""Copies that a reader timed, as a GPU: what it then says of these copies, and what is refused."""

import pytest

from plates.kernel_fusion import plate
from plates.plate import values

INPUTS = values(plate.inputs)
(COPIES,) = [it for it in plate.brought if it.id == "copies"]
SIZES = (2**20, 2**26, 2**27, 2**28, 2**30)


def read(*lines, **inputs):
    return COPIES.read("\n".join(lines).encode(), "copies.csv", INPUTS | inputs)


def timed(bandwidth, fixed_us):
    """Return the lines of a file of copies; twice what is copied moves."""
    return ["bytes,us", *(f"{it},{fixed_us + 2e6 * it / bandwidth}" for it in SIZES)]


def test_the_gpu_has_the_bandwidth_and_fixed_cost_of_its_copies():
    found = read(*timed(2.68e12, 4.2))
    told = {it: found.inputs[it] for it in ("gpu", "model", "bandwidth", "achieved", "l2")}
    assert told == {
        "gpu": "custom", "model": "refined", "bandwidth": 3.35e12, "achieved": 0.8, "l2": 50e6,
    }  # fmt: skip
    assert found.inputs["stream"] + found.inputs["ramp"] == pytest.approx(4.2)
    # Copies of 1 GiB take 4.2 + 2 × 2**30 / 2.68e6 µs, and so says the page of a single kernel.
    state = found.inputs | {"k": 1, "S": 2**29, "dtype": "bf16"}
    assert plate.outcome(state)["time_unfused"] == pytest.approx(805.50e-6, rel=1e-3)


def test_each_copy_has_its_residual_and_those_inside_l2_are_not_fitted():
    # A copy of 1 Mi inside L2 is twice as fast as the line.
    found = read(*timed(2.68e12, 4.2)[:1], f"{2**20},2.49", *timed(2.68e12, 4.2)[2:])
    assert found.table["ratio"].tolist() == pytest.approx([2.0, 1, 1, 1, 1], rel=2e-3)
    assert found.table["note"].tolist() == ["not fitted: L2 may hold it", *[""] * 4]
    assert "The 4 copies that move more than 65.00\xa0MB" in found.told[0]


def test_a_fixed_cost_below_that_of_the_chosen_gpu_is_all_in_the_stream():
    found = read(*timed(2.68e12, 0.9))
    assert (found.inputs["stream"], found.inputs["ramp"]) == (pytest.approx(0.9, abs=1e-3), 0)


def test_copies_faster_than_the_chosen_gpu_are_told_and_stand_as_its_peak():
    found = read(*timed(2.68e12, 4.2), gpu="h100-pcie")
    assert found.inputs["bandwidth"] == pytest.approx(2.68e12, rel=1e-4)
    assert found.inputs["achieved"] == 1
    assert "H100 PCIe moves 2.04\xa0TB/s at its peak" in found.told[-1]


def test_a_gpu_whose_numbers_were_typed_keeps_the_others():
    typed = {"gpu": "custom", "bandwidth": 4e12, "l2": 30e6, "fp32": 80e12}
    found = read(*timed(2.68e12, 4.2), **typed)
    assert {it: found.inputs[it] for it in typed} == typed
    assert found.inputs["achieved"] == pytest.approx(0.67)


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["size,us", "1,2"], "there is no column 'bytes'"),
        (timed(2.68e12, 4.2)[:4], r"copies.csv: 2 sizes .* more than 65\.00.MB, .* it has 2"),
        ([*timed(2.68e12, 4.2), "2e9,soon"], None),
        (["bytes,us", "2e9,soon"], "us = 'soon' is not a number"),
    ],
)
def test_what_cannot_be_fitted_is_refused_and_what_cannot_be_read_is_told(lines, wrong):
    if wrong:
        with pytest.raises(ValueError, match=wrong):
            read(*lines)
    else:
        assert "copies.csv:7: us = 'soon'" in read(*lines).told[0]
