"""GPUs as data: sources, what is borrowed, and what is refused."""

import pytest

from model.gpus import GPUS, NUMBERS, WORKING_SHARE, custom, gpus

TOY = """
[sources]
sheet = "the sheet"

[old]
name = "Old"
bandwidth = [1e12, "sheet"]
fp32_rate = [10e12, "sheet"]
tensor_rate = [100e12, "sheet"]
l2_bytes = [40e6, "sheet"]
achieved_share = ["1 / 4", "a run"]
l2_bandwidth = [2e12, "a run"]
l2_full_share = [0.5, "a run"]
l2_spilt_share = [1.5, "a run"]
stream_s = [2e-6, "a run"]
graph_s = [1e-6, "a run"]
ramp_s = [0, "a run"]

[newer]
name = "Newer"
like = "old"
bandwidth = [2e12, "sheet"]
achieved_assumed = true

[newest]
name = "Newest"
drivers = ["NVIDIA Newest"]
like = "newer"
l2_bandwidth = [8e12, "a run of its own"]
"""


def toys(tmp_path, before="", after=""):
    assert before in TOY
    file = tmp_path / "gpus.toml"
    file.write_text(TOY.replace(before, after, 1), encoding="utf-8")
    return gpus(file)


def test_what_a_gpu_does_not_give_is_taken_from_its_kin_and_named_after_where_it_was_measured(
    tmp_path,
):
    found = toys(tmp_path)
    newest = found["newest"]
    assert (newest.bandwidth, newest.l2_bandwidth, newest.graph_s) == (2e12, 8e12, 1e-6)
    assert (newest.borrowed["bandwidth"], newest.borrowed["graph_s"]) == ("Newer", "Old")
    assert "l2_bandwidth" not in newest.borrowed
    assert newest.sources["bandwidth"] == "the sheet"
    assert newest.drivers == ["NVIDIA Newest"]
    assert found["old"].achieved_share == 0.25
    assert (found["newer"].achieved_share, found["newer"].achieved_assumed) == (WORKING_SHARE, True)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("ramp_s = [0", "rampe_s = [0", "old: there is no ramp_s"),
        ('name = "Newer"', 'name = "Newer"\nwarps = 4', "newer: warps is nothing that a GPU has"),
        ('like = "old"', 'like = "odl"', "newer: it is like 'odl', which is no GPU"),
        ('like = "old"', 'like = "newest"', "newer: "),
        ('"sheet"', '"shete"', "old: .*shete.* is not a value and its source"),
        ("[1e12", "['fast'", "old: .*fast"),
        ("[1e12", "[-1e12", "old: bandwidth = -1000000000000.0 is not"),
    ],
)
def test_what_cannot_be_is_refused_by_file_and_gpu(tmp_path, before, after, said):
    with pytest.raises(ValueError, match=rf"gpus.toml: {said}"):
        toys(tmp_path, before, after)


def test_every_number_of_a_gpu_has_a_source():
    for gpu in GPUS.values():
        assert set(gpu.sources) == set(NUMBERS)
        assert all(gpu.sources.values())
        assert set(gpu.borrowed) <= set(NUMBERS)


def test_a_custom_gpu_s_l2_is_as_much_faster_than_its_memory_as_the_h100_s():
    gpu, h100 = custom(6.7e12, 20e6, 30e12), GPUS["h100-sxm"]
    assert gpu.l2_bandwidth == pytest.approx(2 * h100.l2_bandwidth)
    assert (gpu.l2_bytes, gpu.fp32_rate, gpu.tensor_rate) == (20e6, 30e12, 30e12)
    assert gpu.stream_s == h100.stream_s
    told = custom(6.7e12, 20e6, 30e12, tensor_rate=90e12, l2_bandwidth=9e12, stream_s=5e-6)
    assert (told.tensor_rate, told.l2_bandwidth, told.stream_s) == (90e12, 9e12, 5e-6)
