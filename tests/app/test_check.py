"""Each fault that a plate can have is found, and named."""

import dataclasses
import re
import shutil

import numpy as np
import pytest

from app.check import faults
from plates.figure import Axis, Series
from plates.inputs import Quantity
from plates.kernel_fusion import plate
from plates.plate import Fact, Reading, State


class Bare(plate.inputs):
    k = Quantity(5, bounds=(1, 16), step=1, whole=True, unit=("", ""), when={"model": "guess"})


def with_text(tmp_path, before, after):
    file = tmp_path / "plate.md"
    text = plate.text.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    shutil.copy(plate.words, tmp_path)
    return dataclasses.replace(plate, text=file)


def changed_figure(**changes):
    figure = dataclasses.replace(plate.figures[0], **changes)
    return dataclasses.replace(plate, figures=(figure,))


def branching(overhead, **others):
    return plate.readings(overhead=overhead if overhead > 1 else 1, **others)


def missing(**inputs):
    found = plate.readings(**inputs)
    return {name: it for name, it in found.items() if name != "speedup"}


def unasked(**inputs):
    return {**plate.readings(**inputs), "pi": 3.0}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (dataclasses.replace(plate, inputs=Bare), "input k has no unit"),
        (dataclasses.replace(plate, inputs=Bare), "input k waits for model = guess"),
        (dataclasses.replace(plate, readings=branching), "cannot run in the browser"),
        (dataclasses.replace(plate, readings=missing), "speedup is declared and not computed"),
        (dataclasses.replace(plate, readings=unasked), "pi is computed, and neither declared"),
        (
            dataclasses.replace(
                plate, outputs={**plate.outputs, "speedup": Reading("Speed-up", "furlongs")}
            ),
            "unknown format 'furlongs'",
        ),
        (changed_figure(text=""), "has no text alternative"),
        (changed_figure(text="{nothing}"), "{nothing} names no input or reading"),
        (changed_figure(input="nothing"), "runs along nothing"),
        (changed_figure(place="above"), "stands 'above', which is not one of beside, wide, fold"),
        (changed_figure(marked=("pace",)), "draws pace, which is no reading"),
        (changed_figure(y=Axis("y", "furlongs", 0, 1, (1,))), "is a log axis and cannot hold 0"),
        (changed_figure(y=Axis("y", "furlongs", 1, 2, (1,))), "the unknown format 'furlongs'"),
        (changed_figure(series=(Series("speedup", "", "sideways"),)), "'sideways' is no role"),
        (
            dataclasses.replace(plate, facts=lambda: {"pi": Fact(np.pi, "number", "")}),
            "fact pi has no source",
        ),
        (
            dataclasses.replace(plate, states={**plate.states, "odd": State({"x": 1})}),
            "state odd: ",
        ),
    ],
)
def test_a_fault_is_one_line_that_names_it(broken, said):
    assert any(said in line for line in faults(broken))


def test_a_slot_that_resolves_to_nothing_is_found(tmp_path):
    broken = with_text(tmp_path, "{{ decode.S }}", "{{ decode.size }}")
    assert any("size" in line for line in faults(broken))


def test_a_slot_that_is_not_closed_is_found_with_its_line(tmp_path):
    broken = with_text(tmp_path, "{{ decode.S }}", "{{ decode.S }")
    line = next(
        n
        for n, text in enumerate(broken.text.read_text(encoding="utf-8").splitlines(), 1)
        if "{{ decode.S }," in text
    )
    assert any(f"plate.md:{line}:" in fault for fault in faults(broken))


def test_a_text_without_a_place_for_the_workshop_is_found(tmp_path):
    assert any("workshop" in line for line in faults(with_text(tmp_path, "<!-- workshop -->", "")))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("(#term-l2)", "(#term-l3)", "a link leads to #term-l3, which there is not"),
        ('"bytes_fused")', '"bytes_lost")', "a link lights bytes_lost, which is no reading"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, before, after, said):
    assert any(said in line for line in faults(with_text(tmp_path, before, after)))


def test_a_guess_about_nothing_is_found(tmp_path):
    broken = with_text(tmp_path, "RMSNorm", "RMSNorm")
    text = plate.words.read_text(encoding="utf-8")
    wrong = text.replace('state = "decode"', 'state = "dream"').replace("{S}, goes", "{T}, goes")
    broken.words.write_text(wrong, encoding="utf-8")
    found = list(faults(broken))
    assert any("guess 1 is at dream, which is no state" in line for line in found)
    assert any("guess 1: {T} names no input or reading" in line for line in found)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("near = ", "nearly = ", "guess 1: .* argument 'nearly'"),
        ("low = 0\n", "", "guess 1: .* argument: 'low'"),
        ("close = 3", 'close = "3"', "guess 1: close = '3' is not what it should be"),
        ("title = ", "tile = ", "tour 1: .* argument 'tile'"),
    ],
)
def test_a_guess_or_a_stop_with_wrong_parts_is_found(tmp_path, before, after, said):
    broken = with_text(tmp_path, "RMSNorm", "RMSNorm")
    said_before, where, rest = plate.words.read_text(encoding="utf-8").partition(
        "[[tour]]" if "tour" in said else "[[guess]]"
    )
    broken.words.write_text(said_before + where + rest.replace(before, after, 1), encoding="utf-8")
    assert any(re.search(said, line) for line in faults(broken))


def test_a_slot_of_the_readout_that_names_nothing_is_found():
    broken = dataclasses.replace(plate, readout="It takes {ages}.")
    assert any("readout: {ages} names no input or reading" in line for line in faults(broken))
