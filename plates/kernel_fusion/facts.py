"""The numbers of the text that do not follow the inputs, each with its source."""

from collections.abc import Iterator

from model import cost, hardware, launch, operations, refined, traffic
from plates.kernel_fusion import validation
from plates.kernel_fusion.inputs import TOKENS, WIDTH, KernelFusion
from plates.kernel_fusion.readings import MATMUL_SIDE, MICRO
from plates.plate import Fact

RMS_NORM_STEPS = 6
"""Element-wise steps of RMSNorm as the text names them, from the square to the learned scale."""

FITTED_TO = ("relu-squared", "rms-norm-wide-weight", "rope", "rope-complex")
"""Chains whose published times gave constants of the model, or of the H100."""

RELU_SQUARED_COLS = {"small": "128", "middle": "2048", "large": "16384"}
"""Widths of the tensors of 4096 rows whose published times the text compares; chosen."""


def facts() -> dict[str, Fact]:
    """Return the facts by name, computed anew from the constants of `model`."""
    return {**_of_the_sketch(), **_of_chains(), **dict(_of_timings()), **dict(_of_pairs())}


def _of_the_sketch() -> dict[str, Fact]:
    gpu = hardware.H100_SXM
    sheet = gpu.sources["bandwidth"]
    value_bytes = hardware.FORMATS["bf16"].bytes
    step_bytes = traffic.traffic_fused_bytes(1, value_bytes)
    norm_flop = float(operations.fused(operations.CHAINS["rms-norm"]).flop[0])
    matmul = cost.arithmetic_intensity(
        cost.matmul_flop(MATMUL_SIDE), cost.matmul_traffic_bytes(MATMUL_SIDE, value_bytes)
    )
    intensities = {
        "ridge_plain": (cost.ridge_point(gpu.fp32_rate, gpu.bandwidth), sheet),
        "ridge_tensor": (cost.ridge_point(gpu.tensor_rate, gpu.bandwidth), sheet),
        "step_intensity": (cost.arithmetic_intensity(1, step_bytes), "one operation on one value"),
        "norm_intensity": (cost.arithmetic_intensity(norm_flop, step_bytes), "the formula"),
        "matmul_intensity": (matmul, "the formula"),
    }
    counts = {
        "value_bytes": (value_bytes, "the format BF16"),
        "step_bytes": (step_bytes, "one value read, one written"),
        "norm_steps": (RMS_NORM_STEPS, "the formula"),
        "norm_flop": (norm_flop, operations.CHAINS["rms-norm"].source),
        "tokens": (TOKENS, "the state"),
        "width": (WIDTH, "the state"),
        "matmul_side": (MATMUL_SIDE, "chosen as an example"),
    }
    return {
        "bandwidth": Fact(gpu.bandwidth, "bandwidth", sheet),
        "graph_gap": Fact(launch.GRAPH_GAP_S, "time", "RRZE-HPC/gpu-benches"),
        **{name: Fact(float(it), "intensity", src) for name, (it, src) in intensities.items()},
        **{name: Fact(float(it), "plain", src) for name, (it, src) in counts.items()},
    }


def _of_chains() -> dict[str, Fact]:
    """Return what some chains move per value, in BF16, unfused and fused."""
    bf16 = hardware.FORMATS["bf16"]
    moved = {}
    for name, chain in operations.CHAINS.items():
        for variant, columns in (
            ("unfused", operations.unfused(chain)),
            ("fused", operations.fused(chain)),
        ):
            counted = refined.chain_cost(
                columns,
                refined.step_count(columns, bf16),
                1.0,
                bf16,
                hardware.H100_SXM,
                refined.LAUNCHES["stream"],
                0.0,
                refined.Terms(),
            )
            key = f"{name.replace('-', '_')}_{variant}"
            moved[f"bytes_{key}"] = Fact(float(counted.traffic_bytes), "plain", chain.source)
            moved[f"kernels_{key}"] = Fact(float(counted.kernels), "plain", chain.source)
    return moved


def _of_timings() -> Iterator[tuple[str, Fact]]:
    """Yield how far the models are off the published timings, at the median."""
    overhead_s = KernelFusion.param["overhead"].default * MICRO
    reports = {
        "refined": validation.published(),
        "sketch": validation.published(validation.SKETCH, overhead_s),
    }
    for model, report in reports.items():
        for line in report.summary()[:4]:
            cards = "core" if line["scope"] == "A100 and H100" else "others"
            name = f"{model}_{cards}_{line['variant'].replace(' ', '_')}"
            yield f"error_{name}", Fact(line["median_error"], "share", "published.csv")
            yield f"rows_{name}", Fact(line["rows"], "plain", "published.csv")
    core = [it for it in validation.published().priced if it.timing.card in validation.CORE]
    for name, chosen in {
        "unseen": [
            it for it in core if it.timing.variant == "unfused" and it.timing.chain not in FITTED_TO
        ],
        "any_fused": [it for it in core if it.timing.variant == "fused"],
        "compiled": [it for it in core if it.timing.variant == "compiled"],
    }.items():
        error = validation.median_error(chosen)
        assert error is not None
        yield f"error_{name}", Fact(error, "share", "published.csv")
        yield f"rows_{name}", Fact(len(chosen), "plain", "published.csv")
    yield "timer", Fact(validation.EVENT_TIMER_S, "time", "meta-pytorch/tritonbench pull 146")
    yield "achieved", Fact(hardware.H100_SXM.achieved_share, "share", "Dao-AILab/quack")
    yield "indexed", Fact(refined.INDEXED_SHARE, "share", "fitted, see model/refined.py")


def _of_pairs() -> Iterator[tuple[str, Fact]]:
    """Yield, for ReLU and square on an H100, sizes and speed-ups: published and predicted."""
    rows = [it for it in validation.published().priced if it.timing.chain == "relu-squared"]
    for name, cols in RELU_SQUARED_COLS.items():
        unfused, fused = (
            next(it for it in rows if (it.timing.cols, it.timing.variant) == (cols, variant))
            for variant in ("unfused", "fused")
        )
        source = unfused.timing.source
        measured = cost.speedup(unfused.timing.measured_s, fused.timing.measured_s)
        predicted = cost.speedup(unfused.predicted_s, fused.predicted_s)
        yield f"size_{name}", Fact(unfused.timing.n_values, "count", source)
        yield f"measured_{name}", Fact(float(measured), "number", source)
        yield f"predicted_{name}", Fact(float(predicted), "number", source)
