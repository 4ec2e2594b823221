"""The numbers of the text that do not follow the inputs, each with its source."""

import itertools
from collections.abc import Iterator
from typing import Any

from model import cost
from model.chains import CHAINS
from model.gpus import FORMATS, GPUS
from plates.hardware_inputs import REFERENCE
from plates.kernel_fusion import timings
from plates.kernel_fusion.inputs import TOKENS, WIDTH
from plates.kernel_fusion.readings import MATMUL_SIDE
from plates.plate import Fact

RMS_NORM_STEPS = 6
"""Element-wise steps of RMSNorm as the text names them, from the square to the learned scale."""

FITTED_TO = ("relu-squared", "rms-norm-wide-weight", "rope", "rope-complex")
"""Chains whose published times gave constants of the model, or of the H100."""

RELU_SQUARED_COLS = {"small": "128", "middle": "2048", "large": "16384"}
"""Widths of the tensors of 4096 rows whose published times the text compares; chosen."""

Facts = Iterator[tuple[str, Any, str, str]]


def facts() -> dict[str, Fact]:
    """Return the facts by name, computed anew from the constants of `model`."""
    found = itertools.chain(_of_the_sketch(), _of_chains(), _of_timings(), _of_pairs())
    return {name: Fact(float(value), form, source) for name, value, form, source in found}


def _of_the_sketch() -> Facts:
    gpu, norm = GPUS[REFERENCE], CHAINS["rms-norm"]
    sheet, value_bytes = gpu.sources["bandwidth"], FORMATS["bf16"].bytes
    step_bytes = cost.traffic_bytes(1, 1, value_bytes)
    intensities = {
        "ridge_plain": (cost.ridge_point(gpu.fp32_rate, gpu.bandwidth), sheet),
        "ridge_tensor": (cost.ridge_point(gpu.tensor_rate, gpu.bandwidth), sheet),
        "step_intensity": (cost.intensity(1, step_bytes), "one operation on one value"),
        "norm_intensity": (cost.intensity(norm.fused.flop.item(), step_bytes), "the formula"),
        "matmul_intensity": (cost.matmul_intensity(MATMUL_SIDE, value_bytes), "the formula"),
    }
    yield from ((name, it, "intensity", source) for name, (it, source) in intensities.items())
    yield "bandwidth", gpu.bandwidth, "bandwidth", sheet
    yield "achieved", gpu.achieved_share, "share", gpu.sources["achieved_share"]
    yield "graph_gap", cost.GRAPH_GAP_S, "time", "RRZE-HPC/gpu-benches"
    yield "indexed", cost.INDEXED_SHARE, "share", "fitted, see model/cost.py"
    yield "matmul_side", MATMUL_SIDE, "plain", "chosen as an example"
    yield "value_bytes", value_bytes, "plain", "the format BF16"
    yield "step_bytes", step_bytes, "plain", "one value read, one written"
    yield "norm_steps", RMS_NORM_STEPS, "plain", "the formula"
    yield "norm_flop", norm.fused.flop.item(), "plain", norm.source
    yield "tokens", TOKENS, "plain", "the state"
    yield "width", WIDTH, "plain", "the state"


def _of_chains() -> Facts:
    """Yield what each chain moves per value in BF16, unfused and fused, and in how many kernels."""
    run = cost.Run(GPUS[REFERENCE], FORMATS["bf16"], terms=cost.SKETCH)
    for name, chain in CHAINS.items():
        for variant, steps in (("unfused", chain.unfused), ("fused", chain.fused)):
            found = cost.chain_cost(steps, 1, run)
            key = f"{name.replace('-', '_')}_{variant}"
            yield f"bytes_{key}", found.traffic_bytes, "plain", chain.source
            yield f"kernels_{key}", found.kernels, "plain", chain.source


def _of_timings() -> Facts:
    """Yield how far the models are off the published timings, at the median, and of how many."""
    errors = {}
    for model, report in {"refined": timings.published(), "sketch": timings.in_sketch()}.items():
        others = report.table[~report.table["card"].isin(timings.CORE)]
        unfused = timings.of_variant(others, "unfused")
        for slow, name in ((False, "dense"), (True, "slow")):
            rows = unfused[unfused["chain"].map(_slow) == slow]
            errors[f"{model}_{name}"] = len(rows), timings.median_error(rows)
        for line in report.summary()[:4]:
            cards = "core" if line["scope"] == "A100 and H100" else "others"
            name = f"{model}_{cards}_{line['variant'].replace(' ', '_')}"
            errors[name] = line["rows"], line["median_error"]
    table = timings.published().table
    core = table[table["card"].isin(timings.CORE)]
    for name, rows in {
        "unseen": timings.of_variant(core[~core["chain"].isin(FITTED_TO)], "unfused"),
        "any_fused": timings.of_variant(core, "fused"),
        "compiled": timings.of_variant(core, "compiled"),
    }.items():
        errors[name] = len(rows), timings.median_error(rows)
    for name, (count, error) in errors.items():
        yield f"error_{name}", error, "share", "published.csv"
        yield f"rows_{name}", count, "plain", "published.csv"
    yield "timer", timings.EVENT_TIMER_S, "time", "meta-pytorch/tritonbench pull 146"


def _slow(chain: str) -> bool:
    """Return whether a chain has a kernel whose operands are not all dense and of one format."""
    steps = CHAINS[chain].unfused
    return bool((steps.indexed | steps.mixed).any())


def _of_pairs() -> Facts:
    """Yield, for ReLU and square on an H100, sizes and speed-ups: published and predicted."""
    rows = [it for it in timings.published().priced if it.chain == "relu-squared"]
    for name, cols in RELU_SQUARED_COLS.items():
        of = {it.variant: it for it in rows if it.cols == cols}
        before, after = (of[it] for it in ("unfused", "fused"))
        yield f"size_{name}", before.n_values, "count", before.source
        for said in ("measured", "predicted"):
            before_s, after_s = (getattr(it, f"{said}_s") for it in (before, after))
            yield f"{said}_{name}", before_s / after_s, "number", before.source
