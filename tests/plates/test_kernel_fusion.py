"""The readings of Kernel Fusion against the numbers worked out beforehand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plates.hardware_inputs import gpu_choice
from plates.kernel_fusion import KernelFusion, plate
from plates.plate import inputs_of, values

US = 1e-6

# Worked by hand from 4·k·S bytes at 3.35e12 bytes/s, 4 or 5 µs a launch, 1.3 µs a graph's gap.
WORKED = [
    # k, S, overhead, unfused, fused, graph, speed-up, bytes, bytes, share
    (5, 33554432, 4, 220.3, 44.06, 209.5, 5.0, 671088640, 134217728, 0.0908),
    (5, 4096, 4, 20.02, 4.005, 9.224, 5.0, 81920, 16384, 0.9988),
    (8, 536870912, 5, 5168, 646.0, 5142, 8.0, 17179869184, 2147483648, 0.00774),
]


@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"k={row[0]},S={row[1]}")
def test_the_worked_numbers_come_out(row):
    k, S, overhead, unfused, fused, graph, speedup, bytes_unfused, bytes_fused, share = row
    found = plate.read({"k": k, "S": S, "overhead": overhead})
    four_digits = {"rel": 5e-4}
    assert found["time_unfused"] == pytest.approx(unfused * US, **four_digits)
    assert found["time_fused"] == pytest.approx(fused * US, **four_digits)
    assert found["time_graph"] == pytest.approx(graph * US, **four_digits)
    assert found["speedup"] == pytest.approx(speedup, rel=1e-12)
    assert found["bytes_unfused"] == bytes_unfused
    assert found["bytes_fused"] == bytes_fused
    assert found["launch_share_unfused"] == pytest.approx(share, **four_digits)


@given(S=st.integers(2**8, 2**30), overhead=st.floats(0, 20))
def test_with_one_kernel_there_is_nothing_to_fuse(S, overhead):
    found = plate.read({"k": 1, "S": S, "overhead": overhead})
    assert found["time_unfused"] == found["time_fused"] == found["time_graph"]
    assert found["bytes_unfused"] == found["bytes_fused"]
    assert found["speedup"] == 1


@given(k=st.integers(1, 16), S=st.integers(2**8, 2**30), overhead=st.floats(0, 20))
def test_fused_is_never_slower_than_a_graph_nor_a_graph_than_the_stream(k, S, overhead):
    found = plate.read({"k": k, "S": S, "overhead": overhead})
    assert found["time_graph"] <= found["time_unfused"]
    assert found["time_fused"] <= found["time_graph"] * (1 + 1e-12)


def test_a_curve_is_the_same_function_as_a_point():
    S = np.array([2**8, 4096, 33554432, 2**30])
    curve = plate.read({"k": 5, "S": S, "overhead": 4})
    for n, at in enumerate(S):
        point = plate.read({"k": 5, "S": int(at), "overhead": 4})
        for name in plate.outputs:
            assert np.broadcast_to(curve[name], S.shape)[n] == point[name]


def test_at_every_corner_of_the_bounds_all_readings_are_finite():
    numbers = {k: it for k, it in inputs_of(KernelFusion).items() if it.kind == "quantity"}
    # Of all the corners these, of which two are the lowest and the highest of everything.
    ends = np.random.default_rng(0).integers(0, 2, (len(numbers), 256))
    ends[:, 0], ends[:, -1] = 0, 1
    corners = {
        name: np.asarray(it.bounds)[at]
        for (name, it), at in zip(numbers.items(), ends, strict=True)
    }
    choices = {k: it.options for k, it in inputs_of(KernelFusion).items() if it.kind == "choice"}
    choices["gpu"] = ("v100", "b200", "custom")
    for picked in itertools.product(*choices.values()):
        found = plate.read(corners | dict(zip(choices, picked, strict=True)))
        for name in plate.outputs:
            assert np.isfinite(found[name]).all(), (name, picked)
            assert np.min(found[name]) >= 0, (name, picked)


# The GH200 as it is typed, times in µs; from its data sheet and gpu-benches.
TYPED = {
    "bandwidth": 4e12, "l2": 50e6, "fp32": 67e12, "tensor": 989e12, "achieved": 3.41 / 4,
    "l2_bandwidth": 6.1e12, "l2_full": 0.7, "l2_spilt": 1.3, "stream": 2.43, "graph": 1.23,
    "ramp": 0.75,
}  # fmt: skip


@pytest.mark.parametrize("launch", ["stream", "graph"])
def test_a_card_whose_numbers_are_typed_is_that_card(launch):
    own, name = {"gpu": "custom", **TYPED}, "gh200"
    for S in (2**12, 2**22, 2**28):
        state = {"chain": "rms-norm", "model": "refined", "launch": launch, "S": S, "overhead": 1}
        assert plate.outcome(state | own) == pytest.approx(plate.outcome(state | {"gpu": name}))


def test_a_gpu_of_one_s_own_is_offered_where_its_numbers_can_be_typed():
    assert "custom" in KernelFusion.param["gpu"].options
    assert "custom" not in gpu_choice(label="GPU").options


def test_two_instances_share_nothing():
    one, other = KernelFusion(), KernelFusion()
    one.k = 12
    assert other.k == 5
    assert values(KernelFusion())["k"] == 5
