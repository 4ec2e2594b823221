"""Files of timings in the forms that benchmarks write, and what the report gives of them."""

import io

import pandas as pd
import pytest

from plates.kernel_fusion.timings import EVENT_TIMER_S, PUBLISHED, published, validate

HEAD = "gpu,operation,variant,dtype,rows,cols,values,time_us_median,note"


def row(time_us, variant="unfused", rows=4096, cols=4096, **other):
    cells = {"gpu": "h100-sxm", "operation": "relu_squared", "dtype": "bf16", "note": ""} | other
    cells = {"values": rows * cols} | cells
    cells |= {"variant": variant, "rows": rows, "cols": cols, "time_us_median": time_us}
    return ",".join(str(cells[it]) for it in HEAD.split(","))


def report_on(*lines, **said):
    return validate("\n".join(lines).encode(), said=said, name="upload.csv")


def test_content_is_read_as_a_file_is_and_is_called_by_its_name():
    assert [*validate(PUBLISHED.read_bytes()).json()] == [*published().json()]
    assert report_on(HEAD, row("fast")).faults == [
        "upload.csv:2: time_us_median = 'fast' is not a number from 0.001 to 1e+12"
    ]
    with pytest.raises(ValueError, match="the file is empty"):
        validate(b"")


def test_the_priced_rows_as_csv_are_priced_to_the_same_numbers():
    first = published()
    again = validate(first.csv().encode())
    for name in ("measured_s", "predicted_s", "regime", "n_values"):
        assert again.table[name].tolist() == first.table[name].tolist()
    assert again.unpriced.total() == 0
    assert pd.read_csv(io.StringIO(first.csv()))["ratio"].tolist() == [
        it.ratio for it in first.priced
    ]


def test_columns_that_are_not_needed_do_not_matter():
    (found,) = report_on(HEAD + ",speed (GB/s),speed-up (x)", row(27) + ",7,8").priced
    assert found.measured_s == 27e-6


def test_tabs_separate_too_and_cells_may_hold_line_ends():
    tabbed = [it.replace(",", "\t") for it in (HEAD, row(27), row(28, note='"one\ntwo"'), "x\ty")]
    report = report_on(*tabbed)
    assert [it.line for it in report.priced] == [2, 4]
    assert report.faults == ["upload.csv:5: it has not as many columns as the heading"]


@pytest.mark.parametrize(
    "note", ['24" rack', 'a "b" c', '"a ""b"", c"', '"a, b"', '"one\r\ntwo, 2"']
)
def test_a_quote_is_one_only_at_the_start_of_a_cell(note):
    report = report_on(HEAD, row(27, note=note), row(28))
    assert [it.measured_s for it in report.priced] == pytest.approx([27e-6, 28e-6])
    assert report.faults == []


def test_a_heading_alone_gives_no_rows():
    report = report_on(HEAD)
    assert report.table.empty
    assert report.rows().empty
    assert report.errors("size").empty
    assert report.csv().startswith("line,gpu,operation")
    assert report.left_out() == []
    assert "0 rows priced" in report.text()


def test_spellings_of_a_card_and_an_operation_are_one_group():
    spelt = [("h100-sxm", "relu_squared"), ("NVIDIA H100 80GB HBM3", "relu-squared")]
    rows = [row(50, gpu=gpu, operation=of) for gpu, of in (spelt[1], *spelt, spelt[1])]
    (group,) = report_on(HEAD, *rows).errors("operation", "gpu", "variant").to_dict("records")
    assert (group["gpu"], group["operation"]) == ("NVIDIA H100 80GB HBM3", "relu-squared")
    assert group["rows"] == 4


def test_errors_are_told_by_bands_of_size():
    sizes = [(512, 512), (1024, 1024), (1025, 1024), (4096, 4096), (8192, 8192)]
    report = report_on(HEAD, *(row(900, rows=a, cols=b) for a, b in sizes))
    bands = report.errors("size").set_index("size")["rows"].to_dict()
    assert bands == {"up to 1 Mi": 2, "1 to 16 Mi": 2, "over 16 Mi": 1}


def test_launch_overhead_and_timer_are_priced():
    source = "\n".join([HEAD, row(50, rows=1, cols=128)]).encode()

    def predicted(**options):
        return validate(source, **options).priced[0].predicted_s

    ahead = predicted()
    assert predicted(timer_s=0) == pytest.approx(ahead - EVENT_TIMER_S)
    # Two kernels at 20 µs; a framework adds its own to each.
    assert predicted(overhead_s=20e-6, timer_s=0) == pytest.approx(40e-6)
    assert predicted(overhead_s=20e-6, timer_s=0, launch="eager") == pytest.approx(44e-6)
    how = validate(source, overhead_s=20e-6, launch="eager", timer_s=1e-6).text()
    assert "launched as eager, 20 µs a launch" in how.replace("\N{NO-BREAK SPACE}", " ")


def test_times_alike_at_larger_sizes_are_likely_the_host_s():
    small = [row(60 + n, rows=2**n, cols=1024) for n in range(4)]
    (line,) = report_on(HEAD, *small).host_bound()
    assert "4 of relu_squared on h100-sxm" in line
    grown = [row(60 * 2**n, rows=2**n, cols=1024) for n in range(4)]
    assert report_on(HEAD, *grown).host_bound() == []


def test_a_value_that_is_not_understood_is_told_with_the_nearest_that_is():
    report = report_on(HEAD, row(50, operation="relu_sqared"), row(50, operation="relu_sqared"))
    (left,) = report.left_out()
    assert left["rows"] == 2
    assert left["values"] == [{"value": "relu_sqared", "rows": 2, "nearest": "relu_squared"}]
    assert "2  'relu_sqared', nearest 'relu_squared'" in report.text()


def test_rows_that_cannot_be_are_told_and_not_priced():
    # 4 bytes a value for 64 Mi values in 10 µs are 26.8 TB/s.
    report = report_on(HEAD, row(10, rows=8192, cols=8192), row(90, values=7))
    assert report.table.empty
    assert report.faults[0].startswith("upload.csv:2: 26.8 TB/s would be moved, more than")
    assert report.faults[1] == "upload.csv:3: values = 7 is not rows × cols = 16777216"
    assert report.unpriced == {"faster than memory could be": 1, "values are not rows × columns": 1}


def test_what_a_file_lacks_is_asked_for_and_may_be_said():
    lines = ("rows,cols,variant,time (ms)", "4096,4096,fused,0.0279")
    with pytest.raises(
        ValueError, match=r"upload.csv: there is no column gpu, operation, dtype; sa"
    ):
        report_on(*lines)
    said = {"gpu": "h100-sxm", "operation": "relu_squared", "dtype": "bf16"}
    (beside,) = report_on(*lines, **said).priced
    (inside,) = report_on(*(f"# {it}: {text}" for it, text in said.items()), *lines).priced
    assert beside.predicted_s == inside.predicted_s
    assert (beside.n_values, inside.line, inside.measured_s) == (4096**2, 5, 27.9e-6)


LIGER = (
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,"
    "x_value,y_value_50,y_value_20,y_value_80,extra_benchmark_config_str,gpu_name"
)


def liger(name, provider, x_name, x, time_ms, config, mode="forward", metric="speed,ms"):
    quoted = '"' + config.replace('"', '""') + '"'
    return f"{name},{provider},{mode},{metric},{x_name},x,{x},{time_ms},1,1,{quoted},NVIDIA B200"


def test_the_long_form_of_liger_kernel_is_read():
    report = report_on(
        LIGER,
        liger("relu_squared", "torch", "N", 2048, 0.05, '{"M": 4096, "dtype": "torch.bfloat16"}'),
        liger("layer_norm", "huggingface", "N", 8, 0.05, '{"M": 4096, "dtype": "torch.float32"}'),
        liger("rope", "liger", "T", 1024, 0.05,
              '{"hidden_size": 8192, "num_q_heads": 32, "num_kv_heads": 8, "dtype": "bf16"}'),
        liger("tvd", "liger", "V", 4096, 0.5, '{"B": 8, "T": 2048}'),
        liger("rope", "liger", "T", 1024, 0.05, "{}", mode="full"),
        liger("rope", "liger", "T", 1024, 99, "{}", metric="memory,MB"),
        liger("rope", "liger", "T", 1024, 0.05, '{"dtype": "bf16"}'),
        dtype="float32",
    )  # fmt: skip
    assert [(it.variant, it.rows, it.cols, it.form) for it in report.priced] == [
        ("unfused", "4096", "2048", "bf16"),
        ("fused", "4096", "8", "fp32"),
        ("fused", "1024", "10240", "bf16"),
        ("fused", "16384", "4096", "fp32"),
    ]
    assert report.priced[0].measured_s == pytest.approx(50e-6)
    assert report.unpriced == {
        "not the forward pass": 1, "not a time": 1, "no size or no time given": 1,
    }  # fmt: skip


BESIDE = {"gpu": "h100-sxm", "operation": "softmax", "dtype": "fp32", "rows": "4096", "cols": "N"}


def test_what_perf_report_writes_is_read_once_the_rest_is_said():
    lines = ("N,Triton (GB/s),Torch (GB/s)", "1024.000000,2000.000000,1000.000000")
    known = {"variant": "Triton=fused,Torch=fused", "bytes": "8"}
    report = report_on(*lines, **BESIDE, **known)
    # 4 Mi values of 8 bytes at 2 and at 1 TB/s.
    assert [it.measured_s for it in report.priced] == pytest.approx([16.777216e-6, 33.554432e-6])
    assert report.priced[0].note == "provider=Triton"
    for lacking, asked in {"bytes": "--bytes", "variant": "--variant 'Triton=…,Torch=…'"}.items():
        said = {it: text for it, text in {**BESIDE, **known}.items() if it != lacking}
        with pytest.raises(ValueError, match=asked):
            report_on(*lines, **said)
    without = {it: BESIDE[it] for it in ("gpu", "operation", "dtype")}
    with pytest.raises(ValueError, match="--rows N and --cols N"):
        report_on(*lines, **without, **known)
    (one,) = report_on("N,Triton (ms)", "1024,0.02", **BESIDE, variant="fused").priced
    assert (one.variant, one.measured_s) == ("fused", 20e-6)
    with pytest.raises(ValueError, match=r"no column 'K' for its cols, .* there is N, Triton"):
        report_on(*lines, **BESIDE | {"cols": "K"}, **known)
    with pytest.raises(ValueError, match=r"--unit, .* where each provider has a column"):
        report_on("N,Triton", "1024,0.02", **BESIDE)
    timed = ("N,unfused (Time (ms)),fused (Time (ms))", "1024,0.06,0.02")
    assert [it.measured_s for it in report_on(*timed, **BESIDE).priced] == [60e-6, 20e-6]


COMPARE = """\
[----------- relu_squared ----------]
                 |  unfused  |  fused
1 threads: --------------------------
      1024x1024  |     24.1  |   12.6
      4096x4096  |    101.1  |   51.4

Times are in microseconds (us).
"""


def test_what_torch_utils_benchmark_prints_is_read():
    report = report_on(COMPARE, gpu="h100-sxm", dtype="bf16")
    assert [(it.line, it.variant, it.n_values) for it in report.priced] == [
        (4, "unfused", 2**20), (4, "fused", 2**20), (5, "unfused", 2**24), (5, "fused", 2**24),
    ]  # fmt: skip
    assert report.priced[3].measured_s == pytest.approx(51.4e-6)
    with pytest.raises(ValueError, match="no column dtype; say it as --dtype"):
        report_on(COMPARE, gpu="h100-sxm")
    with pytest.raises(ValueError, match="has 2 tables"):
        report_on(COMPARE, COMPARE, gpu="h100-sxm", dtype="bf16")
