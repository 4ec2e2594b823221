"""The numbers of the text that do not follow the inputs, each with its source."""

from model import cost, hardware, launch, traffic
from plates.kernel_fusion.inputs import TOKENS, WIDTH
from plates.kernel_fusion.readings import MICRO
from plates.plate import Fact

RMS_NORM_STEPS = 6
"""Element-wise steps of RMSNorm as the text names them, from the square to the learned scale."""

RMS_NORM_FLOP = 4
"""FLOP per value of RMSNorm: square, sum, two multiplications; what is done per row is nothing.

Source: counted from LlamaRMSNorm, transformers 4.56, modeling_llama.py.
"""

MATMUL_SIDE = 8192
"""Rows and columns of the square matrices in the text's example of a large product."""

RELU_SQUARED_US = {
    "small": (4096 * 128, 8.672, 7.328),
    "middle": (4096 * 2048, 26.784, 17.056),
    "large": (4096 * 16384, 185.536, 94.4),
}
"""Values, and medians unfused and fused in µs, of square(relu(x)) in BF16 on an H100 80GB.

Source: linkedin/Liger-Kernel, benchmark/data/all_benchmark_data.csv at 39a1f454, relu_squared,
forward, 4096 rows of 128, 2048 and 16384 (BSD-2-Clause).
"""


def facts() -> dict[str, Fact]:
    """Return the facts by name, computed anew from the constants of `model`."""
    gpu = hardware.H100_SXM
    step_bytes = traffic.traffic_fused_bytes(1, traffic.BF16_BYTES)
    matmul_flop = 2 * MATMUL_SIDE**3
    matmul_bytes = 3 * MATMUL_SIDE**2 * traffic.BF16_BYTES
    intensities = {
        "ridge_plain": (cost.ridge_point(gpu.fp32_rate, gpu.bandwidth), gpu.source),
        "ridge_tensor": (cost.ridge_point(gpu.tensor_rate, gpu.bandwidth), gpu.source),
        "step_intensity": (cost.arithmetic_intensity(1, step_bytes), "one operation on one value"),
        "norm_intensity": (cost.arithmetic_intensity(RMS_NORM_FLOP, step_bytes), "the formula"),
        "matmul_intensity": (
            cost.arithmetic_intensity(matmul_flop, matmul_bytes),
            "a product of two squares, each read once and the result written once",
        ),
    }
    counts = {
        "value_bytes": (traffic.BF16_BYTES, "the format BF16"),
        "step_bytes": (step_bytes, "one value read, one written"),
        "norm_steps": (RMS_NORM_STEPS, "the formula"),
        "norm_flop": (RMS_NORM_FLOP, "the formula"),
        "tokens": (TOKENS, "the state"),
        "width": (WIDTH, "the state"),
        "matmul_side": (MATMUL_SIDE, "chosen as an example"),
    }
    measured = {
        f"measured_{name}": (cost.speedup(unfused * MICRO, fused * MICRO), "Liger-Kernel")
        for name, (_, unfused, fused) in RELU_SQUARED_US.items()
    }
    sizes = {
        f"size_{name}": Fact(size, "count", "Liger-Kernel")
        for name, (size, _, _) in RELU_SQUARED_US.items()
    }
    return {
        "bandwidth": Fact(gpu.bandwidth, "bandwidth", gpu.source),
        "graph_gap": Fact(launch.GRAPH_GAP_S, "time", "RRZE-HPC/gpu-benches"),
        **{
            name: Fact(float(it), "intensity", source) for name, (it, source) in intensities.items()
        },
        **{name: Fact(float(it), "plain", source) for name, (it, source) in counts.items()},
        **{name: Fact(float(it), "number", source) for name, (it, source) in measured.items()},
        **sizes,
    }
