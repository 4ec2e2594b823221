"""The refined model held against published timings: what it says of each, and how far it is off."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from model import refined
from model.hardware import FORMATS, GPUS
from model.operations import CHAINS, fused, unfused
from plates import formats
from plates.formats import formatted
from plates.kernel_fusion.inputs import WORDS, KernelFusion
from plates.kernel_fusion.readings import MICRO
from plates.plate import Measured, Point

SKETCH = refined.Terms(*[False] * len(fields(refined.Terms)))
SHARE = replace(formats.FORMATS["share"], digits=2)
TIME = replace(formats.FORMATS["time"], digits=2)

PUBLISHED = Path(__file__).with_name("published.csv")
"""The timings that ship with the plate; `published.md` says whose they are."""

EVENT_TIMER_S = 2.9e-6
"""What two events round the kernels measure of themselves: the timer's cost, in no other number.

Source: meta-pytorch/tritonbench pulls 38 and 146, between events with nothing launched on an H100.
"""

CARDS = {
    "NVIDIA H100 80GB HBM3": "h100-sxm",
    "NVIDIA H100 SXM": "h100-sxm",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H200": "h200",
    "NVIDIA GH200 480GB": "gh200",
    "NVIDIA B200": "b200",
    "NVIDIA A100-SXM4-80GB": "a100-80",
    "NVIDIA A100-SXM4-40GB": "a100-40",
    "Tesla V100-SXM2-16GB": "v100",
    "Tesla V100-SXM2-32GB": "v100",
    "NVIDIA L40": "l40",
    "NVIDIA L40S": "l40s",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "NVIDIA GeForce RTX 5090": "rtx-5090",
}
"""GPUs by the name that their driver gives them, and one short name that a source uses."""

CORE = ("h100-sxm", "h100-pcie", "a100-80", "a100-40")
"""The cards over which the errors are stated first, apart from those of the others."""

OPERATIONS = {
    "relu_squared": "relu-squared",
    "rms_norm": "rms-norm-wide-weight",
    "megatron_rms_norm": "rms-norm",
    "fused_add_rms_norm": "add-rms-norm-upcast",
    "layer_norm": "layer-norm",
    "group_norm": "group-norm",
    "llama4_rope": "rope-complex",
    "rope": "rope",
    "dyt": "dyt",
    "dyt_beta": "dyt-beta",
    "tvd": "tvd",
    "kl_div": "kl-div",
    "jsd": "jsd",
    "softmax": "softmax",
    "copy": "sketch",
}
"""Chains by the name that the benchmarks give them; the id of a chain stands for itself too."""

DTYPES = {"bfloat16": "bf16", "float16": "bf16", "16-bit": "bf16", "float32": "fp32"}
"""Formats by the name that PyTorch gives them; in FP16 a chain moves what it moves in BF16."""

FIGURES = {"values": (1, 1e15), "time_us_median": (1e-3, 1e12)}
"""Columns of numbers, and what they may be: no tensor and no time lies beyond."""

NEEDED = ("gpu", "operation", "variant", "pass", "dtype", "rows", "cols", *FIGURES, "note")


@dataclass(frozen=True)
class Timing:
    """A published time: of what, on what, how large, and whose."""

    line: int
    gpu: str
    operation: str
    variant: str
    dtype: str
    rows: str
    cols: str
    n_values: float
    measured_s: float
    source: str
    note: str
    card: str
    chain: str
    format: str

    @property
    def shape(self) -> tuple[Any, ...]:
        """What rows of one shape have in common."""
        return (self.gpu, self.operation, self.dtype, self.rows, self.cols, self.n_values)

    @property
    def timer_s(self) -> float:
        """What the timer adds: a CUDA graph of many repeats is timed as a whole."""
        return 0 if re.search(r"(?<!no )CUDA graph", self.note) else EVENT_TIMER_S


@dataclass(frozen=True)
class Priced:
    """A timing and what the model says: its time, and which part of it is the largest."""

    timing: Timing
    predicted_s: float
    regime: str

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted_s / self.timing.measured_s


@dataclass(frozen=True)
class Report:
    """All that a file of timings came to: rows priced, others by reason, faults by line."""

    priced: list[Priced]
    unpriced: Counter[str]
    faults: list[str] = field(default_factory=list)

    def summary(self) -> list[dict[str, Any]]:
        """Return the median errors: of the core cards and the others, then group by group."""
        lines = []
        for scope, chosen in (
            ("A100 and H100", [it for it in self.priced if it.timing.card in CORE]),
            ("other GPUs", [it for it in self.priced if it.timing.card not in CORE]),
        ):
            unfused = [it for it in chosen if it.timing.variant == "unfused"]
            fused = [it for it in chosen if it.timing.variant == "fused"]
            lines += [
                {"scope": scope, "variant": "unfused", **_error(unfused)},
                {"scope": scope, "variant": "best fused", **_error(best_fused(fused))},
            ]
        groups = defaultdict(list)
        for it in self.priced:
            groups[it.timing.operation, it.timing.gpu, it.timing.variant].append(it)
        return lines + [
            {"operation": operation, "gpu": gpu, "variant": variant, **_error(group)}
            for (operation, gpu, variant), group in sorted(groups.items())
        ]

    def plain(self) -> dict[str, Any]:
        """Return the report as plain data: each row priced, the others by reason, the errors."""
        return {
            "rows": [
                {
                    "gpu": it.timing.gpu,
                    "operation": it.timing.operation,
                    "variant": it.timing.variant,
                    "pass": "forward",
                    "dtype": it.timing.dtype,
                    "rows": _whole(it.timing.rows),
                    "cols": _whole(it.timing.cols),
                    "predicted": it.predicted_s,
                    "measured": it.timing.measured_s,
                    "ratio": it.ratio,
                    "regime": it.regime,
                    "line": it.timing.line,
                }
                for it in self.priced
            ],
            "unpriced": dict(self.unpriced),
            "summary": self.summary(),
        }

    def text(self) -> str:
        """Return the errors as a table, and why rows were left out."""
        table = [("timings of", "variant", "rows", "median error")]
        for line in self.summary():
            of = line.get("scope") or f"{line['operation']}, {line['gpu']}"
            error = line["median_error"]
            shown = "–" if error is None else f"{100 * error:.1f} %"
            table.append((of, line["variant"], str(line["rows"]), shown))
        widths = [max(len(row[n]) for row in table) for n in range(4)]
        lines = [
            f"{of:{widths[0]}}  {variant:{widths[1]}}  {rows:>{widths[2]}}  {error:>{widths[3]}}"
            for of, variant, rows, error in table
        ]
        timer = formatted(EVENT_TIMER_S, TIME)
        if not self.priced:
            lines = []
        return "\n".join(
            [
                f"{len(self.priced)} rows priced: host ahead, L2 cleared, {timer} for the timer."
                " Best fused: the fastest fused kernel of each shape.",
                *lines,
                f"{sum(self.unpriced.values())} rows not priced:",
                *(f"  {count:>5}  {reason}" for reason, count in self.unpriced.most_common()),
            ]
        )


def _whole(text: str) -> int | str | None:
    return int(text) if text.isdecimal() else text or None


def best_fused(priced: Iterable[Priced]) -> list[Priced]:
    """Return, of fused rows, the fastest of each shape."""
    best: dict[tuple[Any, ...], Priced] = {}
    for it in priced:
        kept = best.setdefault(it.timing.shape, it)
        if it.timing.measured_s < kept.timing.measured_s:
            best[it.timing.shape] = it
    return list(best.values())


def _error(priced: Sequence[Priced]) -> dict[str, Any]:
    return {"rows": len(priced), "median_error": median_error(priced)}


def median_error(priced: Sequence[Priced]) -> float | None:
    """Return the median of how far predictions are off, as shares of the measured times."""
    return float(np.median([abs(it.ratio - 1) for it in priced])) if priced else None


def validate(file: Path, terms: refined.Terms | None = None, overhead_s: float = 0) -> Report:
    """Return the report on a CSV file with the columns of the published timings.

    The host is taken to be ahead, since it launches while the timer still clears L2; with an
    `overhead_s` each launch costs it that.

    Raises
    ------
    ValueError
        If the file is empty, is no CSV in UTF-8, or lacks a column; it names the file and what is
        missing.
    """
    unpriced: Counter[str] = Counter()
    faults: list[str] = []
    timings = []
    for found in _read(file):
        if isinstance(found, Timing):
            timings.append(found)
        elif isinstance(found, str):
            unpriced[found] += 1
        else:
            unpriced["unreadable"] += 1
            faults += found
    return Report(_price(timings, terms or refined.Terms(), overhead_s), unpriced, faults)


def _read(file: Path) -> Iterator[Timing | str | list[str]]:
    """Yield each row: a timing, else the reason why it cannot be priced, else its faults."""
    with file.open(encoding="utf-8-sig", newline="") as text:
        try:
            lines = csv.DictReader(text)
            header = lines.fieldnames or []
            if not header:
                raise ValueError(f"{file} is empty")
            if missing := [name for name in NEEDED if name not in header]:
                raise ValueError(f"{file}: there is no column {', '.join(missing)}")
            for row in lines:
                yield _timing(file, lines.line_num, row)
        except (UnicodeDecodeError, csv.Error) as fault:
            raise ValueError(f"{file} is no CSV file in UTF-8: {fault}") from None


def _timing(file: Path, line: int, row: Mapping[Any, Any]) -> Timing | str | list[str]:
    if None in row or None in row.values():
        return [f"{file}:{line}: it has not as many columns as the heading"]
    faults, numbers = [], {}
    for name in FIGURES:
        if row[name].strip():
            try:
                numbers[name] = float(row[name])
            except ValueError:
                numbers[name] = np.nan
            low, high = FIGURES[name]
            if not low <= numbers[name] <= high:
                faults.append(
                    f"{file}:{line}: {name} = {row[name]!r} is not a number"
                    f" from {low:g} to {high:g}"
                )
    card = _known(row["gpu"], CARDS, {name: gpu.name for name, gpu in GPUS.items()})
    chain = _known(row["operation"], OPERATIONS, {name: it.name for name, it in CHAINS.items()})
    form = _known(row["dtype"].split(" ")[0], DTYPES, {k: it.name for k, it in FORMATS.items()})
    return (
        faults
        or _reason(row, numbers, card, chain, form)
        or Timing(
            line,
            row["gpu"],
            row["operation"],
            row["variant"],
            row["dtype"],
            row["rows"],
            row["cols"],
            numbers["values"],
            numbers["time_us_median"] * MICRO,
            row.get("source", ""),
            row["note"],
            card,
            chain,
            form,
        )
    )


def _reason(
    row: Mapping[str, str], numbers: Mapping[str, float], card: str, chain: str, form: str
) -> str:
    """Return why the row cannot be priced, or nothing."""
    reasons = {
        "not the forward pass": row["pass"] != "forward",
        "GPU not named, or not in the table": card not in GPUS,
        "times matrix products too": "GEMM" in row["note"],
        "traffic of the operation not counted": chain not in CHAINS,
        "partly fused": "partly fused" in row["note"],
        "neither unfused, fused nor compiled": row["variant"]
        not in ("unfused", "fused", "compiled", "graph"),
        "data type not in the table": form not in FORMATS,
        "no size or no time given": len(numbers) < len(FIGURES),
        "timed by wall clock": "wall clock" in row["note"],
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _known(text: str, others: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the id that is meant by itself, by its name here, or by a name that others give it."""
    meant = {name.casefold(): it for it, name in names.items()}
    plain = text.strip()
    return others.get(plain) or meant.get(plain.casefold()) or plain.casefold().replace("_", "-")


def _price(timings: Sequence[Timing], terms: refined.Terms, overhead_s: float) -> list[Priced]:
    """Return the timings priced, those of one chain, GPU and format at once, in their order."""
    groups = defaultdict(list)
    for it in timings:
        groups[it.card, it.chain, it.format, it.variant].append(it)
    priced = []
    for (card, name, form, variant), group in groups.items():
        chain, launched = (
            CHAINS[name],
            refined.LAUNCHES["graph" if variant == "graph" else "stream"],
        )
        steps = unfused(chain) if variant in ("unfused", "graph") else fused(chain)
        count = refined.step_count(steps, FORMATS[form])
        cost = refined.chain_cost(
            steps,
            count,
            np.array([it.n_values for it in group]),
            FORMATS[form],
            GPUS[card],
            launched,
            overhead_s,
            terms,
        )
        parts = cost.chain
        largest = refined.largest(
            parts.launch_s, parts.l2_s, parts.hbm_s, parts.access_s, parts.arithmetic_s
        )
        priced += [
            Priced(it, float(time + it.timer_s), refined.REGIMES[int(regime)])
            for it, time, regime in zip(group, parts.time_s, largest, strict=True)
        ]
    return sorted(priced, key=lambda it: it.timing.line)


def measured() -> tuple[Measured, ...]:
    """Return the timings that ship with the plate, by GPU, chain and format, with the errors."""
    sketch = published(SKETCH, KernelFusion.param["overhead"].default * MICRO)
    groups = defaultdict(list)
    for it, other in zip(published().priced, sketch.priced, strict=True):
        if it.timing.chain != "sketch":
            groups[it.timing.card, it.timing.chain, it.timing.format].append((it, other))
    return tuple(
        Measured(
            {"gpu": card, "chain": chain, "dtype": form},
            {
                "model": "refined",
                "launch": "stream",
                "overhead": 0,
                "terms": KernelFusion.param["terms"].default,
            },
            _title(chain, form, card),
            _note([it for it, _ in group], [other for _, other in group]),
            tuple(_point(it.timing) for it, _ in group),
        )
        for (card, chain, form), group in sorted(groups.items(), key=lambda it: _place(it[0]))
    )


def _title(chain: str, form: str, card: str) -> str:
    name = WORDS["chains"].get(chain, CHAINS[chain].name)
    # A chain that is in FP32 anyway says so itself.
    parts = (
        [name, GPUS[card].name] if "(FP32)" in name else [name, FORMATS[form].name, GPUS[card].name]
    )
    return ", ".join(parts)


def _place(key: tuple[str, str, str]) -> tuple[int, int, str]:
    card, chain, form = key
    return list(GPUS).index(card), list(CHAINS).index(chain), form


def _point(timing: Timing) -> Point:
    text = WORDS["measured"]["point"].format(
        variant=timing.variant,
        rows=timing.rows,
        cols=timing.cols,
        provider=timing.note.split(";")[0].removeprefix("provider="),
        source=timing.source,
    )
    role = "before" if timing.variant == "unfused" else "after"
    return Point(timing.n_values, float(f"{timing.measured_s:.6g}"), role, text)


def _note(priced: Sequence[Priced], sketch: Sequence[Priced]) -> str:
    """Return how far off the model is, and the sketch, at the median."""
    said = WORDS["measured"]

    def errors(rows: Sequence[Priced]) -> str:
        found = []
        for variant in ("unfused", "fused"):
            chosen = [it for it in rows if it.timing.variant == variant]
            share = median_error(best_fused(chosen) if variant == "fused" else chosen)
            if share is not None:
                found.append(said[variant].format(share=formatted(share, SHARE)))
        return said["both"].format(*found) if len(found) > 1 else "".join(found)

    return said["note"].format(
        timer=formatted(EVENT_TIMER_S, TIME), refined=errors(priced), sketch=errors(sketch)
    )


@cache
def published(terms: refined.Terms | None = None, overhead_s: float = 0) -> Report:
    """Return the report on the timings that ship with the plate."""
    return validate(PUBLISHED, terms, overhead_s)
