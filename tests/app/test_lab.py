"""The lab in Python: what it says follows the inputs, and what is no request changes nothing."""

import pandas as pd
import pytest

from app import lab
from app.workbench import Controls, _in_units
from plates.kernel_fusion import KernelFusion
from plates.plate import Found, values


@pytest.fixture
def inputs():
    return KernelFusion()


@pytest.fixture
def controls(inputs):
    """Give the controls of a lab of the inputs."""
    return lab(inputs).select(Controls)[0]


def test_it_follows_what_python_sets(inputs, controls):
    inputs.k = 8
    assert "A chain of 8 kernels" in controls.told["readout"]
    assert controls.told["inputs"]["k"]["typed"] == "8"
    assert controls.told["address"] == "k=8"


def test_it_sets_what_the_reader_asks_for(inputs, controls):
    controls.asked = {"number": 1, "inputs": {"S": {"position": 12.0}, "k": {"text": "3"}}}
    assert (inputs.S, inputs.k) == (4096, 3)
    assert controls.told["heard"] == 1


def test_of_what_cannot_be_it_says_so_and_sets_the_rest(inputs, controls):
    controls.asked = {"number": 1, "inputs": {"k": {"text": "0"}, "gpu": {"text": "l40"}}}
    assert (inputs.k, inputs.gpu) == (5, "l40")
    assert "from 1 to 16; it is still 5" in controls.told["inputs"]["k"]["problem"]
    controls.asked = {"number": 2, "inputs": {"k": {"text": "2"}}}
    assert controls.told["inputs"]["k"]["problem"] == ""


@pytest.mark.parametrize(
    "asked",
    [
        {"inputs": {"nothing": {"text": "5"}}},
        {"inputs": {"k": {"position": "far"}}},
        {"inputs": {"k": {"position": 1e9}}},
        {"inputs": {"k": {}}},
        {"inputs": {"gpu": {"position": 1}}},
        {"inputs": {}, "state": "nowhere"},
    ],
)
def test_what_no_control_asks_for_changes_nothing_and_is_answered(inputs, controls, asked):
    controls.asked = {"number": 1, **asked}
    assert values(inputs) == values(KernelFusion)
    assert controls.told["heard"] == 1


def test_a_table_is_shown_in_one_unit_a_column():
    table = pd.DataFrame(
        {"what": ["a", "b"], "time_s": [2.0312345e-6, 250e-6], "ratio": [1.0, 2.0]}
    )
    found = Found(table=table, formats={"time_s": "time", "ratio": "number"})
    shown = _in_units(found)
    assert list(shown) == ["what", "time, µs", "ratio"]
    assert shown["time, µs"].tolist() == [2.031, 250.0]
    assert table["time_s"].tolist() == [2.0312345e-6, 250e-6]
