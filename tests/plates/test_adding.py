"""A GPU and a chain are each one block in one file, and all else finds them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

GPU = """
[toy-gpu]
name = "Toy GPU"
drivers = ["ACME Toy 8GB"]
like = "h100-pcie"
bandwidth = [1e12, "its data sheet"]
"""
CHAIN = """
[toy-chain]
name = "Toy chain"
source = "nobody"
group = "published"
timed_as = ["toy_bench"]
arguments = { h = "tensor", shift = "row" }
returns = "out"
code = '''
moved = h + shift  # add shift
out = moved.exp()  # exp
'''
"""
TIMINGS = """\
gpu,operation,variant,pass,dtype,rows,cols,values,time_us_median,note
ACME Toy 8GB,toy_bench,unfused,forward,bfloat16,8192,8192,67108864,700,
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    for room in ("model", "plates", "app"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, block in (("gpus.toml", GPU), ("chains.toml", CHAIN)):
        with (folder / "model" / name).open("a", encoding="utf-8") as file:
            file.write(block)
    (folder / "timings.csv").write_text(TIMINGS, encoding="utf-8")

    def plates(*arguments):
        command = [sys.executable, "-m", "app", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=folder, timeout=60
        ).stdout

    return plates


def test_the_inputs_offer_them_and_the_readings_follow(course):
    options = course("read", "--help")
    assert "toy-gpu" in options
    assert "toy-chain" in options
    asked = ("--gpu", "toy-gpu", "--chain", "toy-chain", "--S", "64Mi", "--overhead", "0")
    found = json.loads(course("read", "kernel-fusion", *asked, "--json"))["readings"]
    # Two kernels that each read and write 2 bytes a value, at 1 TB/s.
    assert found["bytes_unfused"] == 2 * 4 * 2**26
    assert found["time_unfused"] == pytest.approx(8 * 2**26 / 1e12, rel=1e-12)
    assert found["speedup"] == pytest.approx(2, rel=1e-12)


def test_timings_of_them_are_priced(course):
    (row,) = json.loads(course("validate", "timings.csv", "--json"))["rows"]
    # Adding the row is indexed, so at half of 1.83 / 2.04 TB/s; both kernels cost 1.4 + 1.9 µs.
    each_s = 4 * 2**26 / (1e12 * 1.83 / 2.04)
    assert row["predicted"] == pytest.approx(3 * each_s + 2 * 3.3e-6 + 2.9e-6, rel=1e-12)


def test_the_plate_with_them_is_sound(course):
    assert "sound" in course("check")
