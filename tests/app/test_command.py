"""The command line, as a user meets it."""

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import plates
from app.command import main

ROOT = Path(__file__).parents[2]
COURSE = Path(__file__).parents[1] / "course"


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_read_prints_one_json_object_with_inputs_as_in_the_address(capsys):
    main(["read", "kernel-fusion", "--k", "5", "--S", "8192x4096", "--json"])
    found = json.loads(capsys.readouterr().out)
    asked = {
        "k": 5, "S": 33554432, "overhead": 4.0, "chain": "sketch", "gpu": "h100-sxm",
        "dtype": "bf16", "model": "sketch", "launch": "stream",
    }  # fmt: skip
    assert {name: found["inputs"][name] for name in asked} == asked
    assert found["readings"]["bytes_unfused"] == 671088640
    assert found["readings"]["time_unfused"] == pytest.approx(220.325e-6, rel=1e-5)
    assert list(found["readings"])[:8] == [
        "time_unfused",
        "time_fused",
        "time_graph",
        "speedup",
        "bytes_unfused",
        "bytes_fused",
        "launch_share_unfused",
        "launch_share_fused",
    ]


def test_read_takes_in_what_the_lab_does(capsys, tmp_path):
    code = tmp_path / "chäin of mine.py"
    code.write_text("y = F.silu(gate)\nz = y * up", encoding="utf-8")
    main(["read", "kernel-fusion", "--code", str(code), "--model", "refined", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"]["chain"] == "own"
    assert found["readings"]["kernels_unfused"] == 2
    assert found["code"][0].startswith("The kernels of lines 1 to 2 are priced")
    code.write_text("y = magic(x)", encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        main(["read", "kernel-fusion", "--code", str(code)])
    assert "magic is not known here" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["read", "kernel-fusion", "--code", str(tmp_path / "none.py")])
    assert "none.py: No such file" in capsys.readouterr().err


def test_read_prints_a_table(capsys):
    main(["read", "kernel-fusion", "--overhead=5"])
    out = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"^Launch overhead +5 µs per kernel$", out, re.MULTILINE)
    assert re.search(r"^Speed-up of fusing +5.00×$", out, re.MULTILINE)
    assert re.search(r"^GPU +H100 SXM$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "0"], "k = '0' is not a whole number from 1 to 16"),
        (["--k", "2.5"], "k = '2.5' is not a whole number from 1 to 16"),
        (["--S", "12"], "S = '12' is not a whole number from 256 to 1,073,741,824"),
        (["--overhead", "abc"], "overhead = 'abc' is not a number from 0 to 20"),
        (["--overhead=-1"], "overhead = '-1' is not a number from 0 to 20"),
        (["--gpus", "h100"], "'--gpus' is no input of kernel-fusion; there is k, S, overhead"),
        (["--gpu", "h100"], "gpu = 'h100' is not one of h100-sxm, h100-pcie"),
        (["--terms", "l2,warp"], "terms = 'l2,warp' is not some of fixed, achieved, l2"),
        (["--steps", "square"], "steps = 'square' is not a chain in the short form, such as r1w1"),
        (["--bandwidth", "0"], "bandwidth = '0' is not a number from 0.001 TB/s to 100 TB/s"),
        (["--fp32=-1e12"], "fp32 = '-1e12' is not a number from"),
        (["--k", "5", "--k=6"], "--k is given twice"),
        (["--overhead", "-1"], "overhead = '-1' is not a number from 0 to 20"),
        (["--k"], "--k needs a value, a whole number from 1 to 16"),
        (["5"], "'5' is no input"),
    ],
)
def test_a_bad_input_is_one_line_with_name_value_and_range(capsys, arguments, said):
    assert said in refused(capsys, "read", "kernel-fusion", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", "no-such-plate"],
        ["read"],
        [],
        ["dance"],
        ["serve", "--port", "abc"],
        ["serve", "--port", "70000"],
        ["serve", "--engine", "steam"],
        ["serve", "--tempo", "9"],
        ["check", "--all"],
    ],
)
def test_a_bad_command_is_one_line(capsys, arguments):
    refused(capsys, *arguments)


def test_check_finds_the_plates_sound(capsys):
    main(["check"])
    assert "sound" in capsys.readouterr().out


def test_a_taken_port_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(port) in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_prints_its_address_and_ends_cleanly(number):
    command = [sys.executable, "-m", "app", "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert process.stdout.read() == ""
        assert process.stderr.read() == ""


def test_commands_without_a_page_do_not_wait_for_panel():
    script = (
        "import sys, app.command as it; it.main(['read', 'kernel-fusion']);"
        " assert 'panel' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, capture_output=True)


def test_a_second_plate_is_one_folder(tmp_path, capsys, monkeypatch):
    folder = str(COURSE / "plates")
    monkeypatch.setattr(plates, "__path__", [*plates.__path__, folder])
    main(["read", "falling-stone", "--height", "5", "--start", "1.5", "--json"])
    read = json.loads(capsys.readouterr().out)
    assert read["readings"]["dropped"] == pytest.approx(1.00964, rel=1e-5)
    main(["check"])
    main(["export", str(tmp_path / "site")])
    assert (tmp_path / "site" / "falling-stone.html").exists()
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="falling-stone/"' in index
    assert 'href="kernel-fusion/"' in index


@pytest.mark.parametrize("out", ["/proc/site", "/dev/null/site"])
def test_a_folder_that_cannot_be_written_is_one_line(capsys, out):
    assert out.split("/site")[0] in refused(capsys, "export", out)


ROW = "rows,cols,values,variant,time_us_median\n1,128,128,unfused,50\n"
SAID = ("--gpu", "h100-sxm", "--operation", "relu_squared", "--dtype", "bf16")


def predicted_s(capsys, file, *arguments):
    main(["validate", str(file), "--json", *SAID, *arguments])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    return row["predicted"]


def test_validate_takes_the_launch_the_overhead_and_the_timer(tmp_path, capsys):
    file = tmp_path / "timings.csv"
    file.write_text(ROW, encoding="utf-8")
    ahead = predicted_s(capsys, file)
    assert predicted_s(capsys, file, "--timer", "0") == pytest.approx(ahead - 2.9e-6)
    host = ("--overhead", "20", "--timer", "1")
    # Two kernels, one after the other, at 20 µs each; PyTorch adds its 2 µs to each.
    assert predicted_s(capsys, file, *host) == pytest.approx(41e-6)
    assert predicted_s(capsys, file, *host, "--launch", "eager") == pytest.approx(45e-6)


def test_validate_asks_for_what_a_file_does_not_say(tmp_path, capsys):
    file = tmp_path / "timings.csv"
    file.write_text(ROW, encoding="utf-8")
    said = refused(capsys, "validate", str(file), *SAID[:4])
    assert "timings.csv: there is no column dtype; say it as --dtype" in said
