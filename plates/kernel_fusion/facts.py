"""The numbers of the text that do not follow the inputs, each with its source."""

from model import cost, hardware, launch, traffic
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

RELU_SQUARED_US = {0.5: (8.672, 7.328), 8.4: (26.784, 17.056), 67: (185.536, 94.4)}
"""Medians unfused and fused of square(relu(x)), BF16, by million values, in µs, on an H100 80GB.

Source: linkedin/Liger-Kernel, benchmark/data/all_benchmark_data.csv at 39a1f454, relu_squared,
forward, 4096 rows of 128, 2048 and 16384 (BSD-2-Clause).
"""


def facts() -> dict[str, Fact]:
    """Return the facts by name, computed anew from the constants of `model`."""
    gpu = hardware.H100_SXM
    value_bytes = traffic.BF16_BYTES
    step_bytes = traffic.traffic_fused_bytes(1, value_bytes)
    matmul_flop = 2 * MATMUL_SIDE**3
    matmul_bytes = 3 * MATMUL_SIDE**2 * value_bytes
    roofline = "Williams, Waterman, Patterson, Roofline (2009)"
    measured = {
        f"measured_{size:g}".replace(".", "_"): Fact(
            float(cost.speedup(unfused * MICRO, fused * MICRO)), "number", "Liger-Kernel benchmark"
        )
        for size, (unfused, fused) in RELU_SQUARED_US.items()
    }
    return {
        "bandwidth": Fact(gpu.bandwidth, "bandwidth", gpu.source),
        "ridge_plain": Fact(
            float(cost.ridge_point(gpu.fp32_rate, gpu.bandwidth)), "intensity", gpu.source
        ),
        "ridge_tensor": Fact(
            float(cost.ridge_point(gpu.tensor_rate, gpu.bandwidth)), "intensity", gpu.source
        ),
        "graph_gap": Fact(launch.GRAPH_GAP_S, "time", "RRZE-HPC/gpu-benches, gpu-small-kernels"),
        "norm_steps": Fact(RMS_NORM_STEPS, "plain", "the formula"),
        "norm_intensity": Fact(
            float(cost.arithmetic_intensity(RMS_NORM_FLOP, step_bytes)), "intensity", roofline
        ),
        "step_intensity": Fact(
            float(cost.arithmetic_intensity(1, step_bytes)), "intensity", roofline
        ),
        "matmul_intensity": Fact(
            float(cost.arithmetic_intensity(matmul_flop, matmul_bytes)), "intensity", roofline
        ),
        "matmul_side": Fact(MATMUL_SIDE, "plain", "chosen"),
        "value_bytes": Fact(value_bytes, "plain", "the format BF16"),
        "step_bytes": Fact(float(step_bytes), "plain", "one value read, one written"),
        **measured,
    }
