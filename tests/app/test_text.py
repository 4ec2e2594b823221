"""The prose is computed: no numeral that the model could have given is written by hand."""

import dataclasses
import json
import re
import subprocess
import sys

import jinja2
import param
import pytest

from app.page import page
from app.text import article
from model import gpus
from plates.kernel_fusion import KernelFusion, facts, plate
from plates.plate import State, values

PROVED_INDEPENDENT = {
    "1": "the single kernel, one by definition",
    "1.00": "its ratio, one whatever the model",
    "6": "steps of RMSNorm, those listed in the same sentence; bytes of SwiGLU fused, counted",
    "16": "in BF16 and its bits; timings of chains with slow access on other GPUs, counted",
    "32": "in FP32 and its bits; the prefill state's size in Mi, set by the state",
    "4": "the decode state's size in Ki, set by the state; bytes of a step, by the format",
    "2": "in L2; bytes of a value, by the format",
    "8,192": "tokens of the prefill state, by its definition; side of the example product, chosen",
    "4,096": "values of a token, by definition",
    "2.00": "ratio of the chain of two, by its length",
    "512": "measured by others at this size, in Ki",
    "8": "likewise, in Mi; kernels of RMSNorm, counted",
    "64": "likewise, in Mi",
    "82793": "number of a source",
    "100": "in H100",
    "200": "in B200",
    "134.2": "MB of one pass over the prefill tensor: its size and format alone",
    "0.25": "FLOP/byte of one operation: a count, no rate in it",
    "1.0": "FLOP/byte of the fused norm, likewise",
    "2700": "FLOP/byte of the example product, likewise",
    "3": "in XIII.3",
    "5": "in XVI.5",
    "2009": "year of a source",
    "2205.14135": "number of a source",
    "1.18": "measured by others",
    "1.57": "measured by others",
    "1.97": "measured by others",
    "36": "bytes of RMSNorm a value, counted",
    "10": "bytes of SwiGLU a value, counted",
    "48": "published timings, counted",
    "76": "shapes of published timings, counted",
    "18": "timings that gave no constant, counted",
    "120": "fused kernels written by hand, counted",
    "11": "compiled kernels, counted",
    "28": "timings on other GPUs, counted",
    "12": "of these, of chains with dense operands, counted",
    "70": "shapes on other GPUs, counted",
    "2.0": "in Apache-2.0",
}
WRITTEN_BY_HAND = {"16", "32", "3", "5", "2009", "2205.14135", "82793"}


def numerals(plate):
    parts = article(plate, values(plate.inputs()))
    html = " ".join(str(parts[name]) for name in ("lead", "before", "caption", "after"))
    return re.findall(r"\d+(?:[.,]\d+)*", re.sub("<[^>]*>", "", html))


class Longer(KernelFusion):
    k = KernelFusion.param["k"].__class__(
        7, bounds=(1, 16), step=1, whole=True, unit=("kernel", "kernels"), label="k", doc="k"
    )


OTHER_WORLD = """
import dataclasses, json
from model import cost
from model.gpus import GPUS
gpu = GPUS["h100-sxm"]
GPUS["h100-sxm"] = dataclasses.replace(
    gpu,
    bandwidth=gpu.bandwidth / 2,
    fp32_rate=gpu.fp32_rate * 1.37,
    tensor_rate=gpu.tensor_rate * 1.37,
    achieved_share=gpu.achieved_share * 0.7,
    stream_s=gpu.stream_s * 1.9,
    ramp_s=gpu.ramp_s * 1.9,
)
for name, it in GPUS.items():
    GPUS[name] = dataclasses.replace(it, achieved_share=it.achieved_share * 0.7)
cost.GRAPH_GAP_S = 1.7e-6
cost.INDEXED_SHARE = 0.3
from plates.kernel_fusion import plate, timings
timings.EVENT_TIMER_S = 4.1e-6
# What was measured here could not be there.
timings._cannot_be = lambda table, *_: (table["note"].astype(str).mask(table.line > 0, ""), [])
from tests.app.test_text import Longer, numerals
print(json.dumps(numerals(dataclasses.replace(plate, inputs=Longer))))
"""


def test_in_another_world_every_numeral_changes_but_those_proved_independent():
    here = numerals(plate)
    run = [sys.executable, "-c", OTHER_WORLD]
    there = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    pairs = list(zip(here, there, strict=True))
    assert {old for old, new in pairs if old == new} <= set(PROVED_INDEPENDENT)
    assert sum(old != new for old, new in pairs) > 25


def test_wider_values_change_the_bytes_of_the_prose(monkeypatch):
    before = article(plate, values(plate.inputs()))["caption"]
    monkeypatch.setitem(gpus.FORMATS, "bf16", gpus.Format("BF16", 8))
    after = article(plate, values(plate.inputs()))["caption"]
    assert re.sub("<[^>]*>", "", before).count("2S") == 2
    assert re.sub("<[^>]*>", "", after).count("8S") == 2


def test_the_source_holds_no_numeral_that_the_model_could_have_given():
    body = plate.text.read_text(encoding="utf-8").split("+++\n", 2)[2]
    prose = re.sub(r"{{.*?}}|<.*?>", "", body)
    written = set(re.findall(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w])", prose))
    assert written <= WRITTEN_BY_HAND
    assert set(PROVED_INDEPENDENT) >= WRITTEN_BY_HAND


def test_the_worked_numbers_stand_in_the_prose():
    html = article(plate, values(plate.inputs()))["after"].replace("\N{NO-BREAK SPACE}", " ")
    for text in ("220.3 µs", "44.06 µs", "20.02 µs", "99.9 %", "9.224 µs", "1.00×", "1.18"):
        assert f">{text}<" in html


def test_a_slot_that_names_nothing_is_refused_with_its_name(tmp_path):
    text = plate.text.read_text(encoding="utf-8")
    broken = tmp_path / "plate.md"
    broken.write_text(text.replace("{{ decode.S }}", "{{ decode.size }}"), encoding="utf-8")
    wrong = dataclasses.replace(plate, text=broken)
    with pytest.raises(jinja2.UndefinedError, match="size"):
        article(wrong, values(plate.inputs()))


@pytest.mark.parametrize(
    ("language", "direction"),
    [
        ("", "ltr"),
        ("de", "ltr"),
        ("ar", "rtl"),
        ("he-IL", "rtl"),
        ("ur-Latn", "ltr"),
        ("pa-Arab-PK", "rtl"),
        ("arn", "ltr"),
    ],
)
def test_the_language_of_a_plate_gives_the_page_its_direction(tmp_path, language, direction):
    text = plate.text.read_text(encoding="utf-8")
    head = f'+++\nlanguage = "{language}"\n' if language else "+++\n"
    (tmp_path / "plate.md").write_text(text.replace("+++\n", head, 1), encoding="utf-8")
    (tmp_path / "words.toml").write_bytes(plate.words.read_bytes())
    html = page(dataclasses.replace(plate, text=tmp_path / "plate.md"), None)
    assert f'<html lang="{language or "en"}" dir="{direction}"' in html


def test_every_fact_has_a_source():
    assert all(fact.source for fact in facts().values())


def test_a_state_sets_inputs_that_the_class_admits():
    for name, state in plate.states.items():
        assert isinstance(state, State)
        assert isinstance(plate.inputs(**plate.at(name)), param.Parameterized)


def test_the_words_of_the_page_are_those_of_the_plate_s_own_file(tmp_path):
    for name in ("plate.md", "words.toml"):
        text = plate.text.with_name(name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(
            text.replace("[page]\n", '[page]\nworkshop = "Werkstatt"\n'), encoding="utf-8"
        )
    translated = dataclasses.replace(plate, text=tmp_path / "plate.md")
    assert ">Werkstatt</h2>" in page(translated, None)
    assert ">Workshop</h2>" in page(plate, None)
