"""GPUs as data: one constant each, every number with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """Peak rates of one GPU.

    `bandwidth` is that of its memory in bytes/s; `fp32_rate` (outside the tensor cores, a fused
    multiply-add counted as two) and `tensor_rate` (dense BF16) are in FLOP/s.
    """

    name: str
    bandwidth: float
    fp32_rate: float
    tensor_rate: float
    source: str


H100_SXM = Gpu(
    name="H100 SXM",
    bandwidth=3.35e12,
    fp32_rate=66.9e12,
    tensor_rate=989e12,
    source="NVIDIA H100 data sheet, as transcribed in PyTorch 2.14,"
    " torch/_inductor/analysis/device_info.py, and in stas00/ml-engineering,"
    " compute/accelerator/README.md; the sheet's tensor rate is halved, since it assumes sparsity",
)
