"""The refined model held against published timings: what it says of each, and how far it is off."""

import csv
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from model import cost
from model.chains import CHAINS
from model.gpus import FORMATS, GPUS
from plates import formats
from plates.formats import formatted
from plates.kernel_fusion.inputs import WORDS, KernelFusion
from plates.kernel_fusion.readings import MICRO
from plates.plate import Measured, Point

SHARE = replace(formats.FORMATS["share"], digits=2)
TIME = replace(formats.FORMATS["time"], digits=2)

PUBLISHED = Path(__file__).with_name("published.csv")
"""The timings that ship with the plate; `published.md` says whose they are."""

EVENT_TIMER_S = 2.9e-6
"""What two events round the kernels measure of themselves: the timer's cost, in no other number.

Source: meta-pytorch/tritonbench pulls 38 and 146, between events with nothing launched on an H100.
"""

CORE = ("h100-sxm", "h100-pcie", "a100-80", "a100-40")
"""The cards over which the errors are stated first, apart from those of the others."""

CARDS = {driver: name for name, gpu in GPUS.items() for driver in gpu.drivers}
OPERATIONS = {said: name for name, chain in CHAINS.items() for said in chain.timed_as}
DTYPES = {"bfloat16": "bf16", "float16": "bf16", "16-bit": "bf16", "float32": "fp32"}
"""Formats by the name that PyTorch gives them; in FP16 a chain moves what it moves in BF16."""

VARIANTS = ("unfused", "fused", "compiled", "graph")
BEST = "best fused"

FIGURES = {"values": (1, 1e15), "time_us_median": (1e-3, 1e12)}
"""Columns of numbers, and what they may be: no tensor and no time lies beyond."""

NEEDED = ("gpu", "operation", "variant", "pass", "dtype", "rows", "cols", *FIGURES, "note")


@dataclass(frozen=True)
class Timing:
    """A published time: its row in the file, what that means here, and what the model says of it.

    `card`, `chain` and `form` are ids. Of the prediction `timer_s` is the timer's, and `regime` the
    largest part.
    """

    row: Mapping[str, str]
    line: int
    card: str
    chain: str
    form: str
    n_values: float
    measured_s: float
    timer_s: float
    predicted_s: float = np.nan
    regime: str = ""

    @property
    def variant(self) -> str:
        """What was timed of the chain, one of `VARIANTS`."""
        return self.row["variant"]

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted_s / self.measured_s

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, times in seconds."""
        return {
            **{it: self.row[it] for it in ("gpu", "operation", "variant", "pass", "dtype")},
            **{it: _whole(self.row[it]) for it in ("rows", "cols")},
            "predicted": self.predicted_s, "measured": self.measured_s, "ratio": self.ratio,
            "regime": self.regime, "line": self.line,
        }  # fmt: skip


@dataclass(frozen=True)
class Report:
    """All that a file of timings came to: rows priced, others by reason, faults by line."""

    priced: list[Timing]
    unpriced: Counter[str]
    faults: list[str]

    def summary(self) -> list[dict[str, Any]]:
        """Return the median errors: of the core cards and the others, then group by group."""
        core = [it for it in self.priced if it.card in CORE]
        others = [it for it in self.priced if it.card not in CORE]
        groups = _grouped(self.priced, lambda it: (it.row["operation"], it.row["gpu"], it.variant))
        parts = [
            ({"scope": scope, "variant": variant}, of_variant(rows, variant))
            for scope, rows in (("A100 and H100", core), ("other GPUs", others))
            for variant in ("unfused", BEST)
        ] + [
            ({"operation": operation, "gpu": gpu, "variant": variant}, rows)
            for (operation, gpu, variant), rows in sorted(groups.items())
        ]
        return [{**it, "rows": len(rows), "median_error": median_error(rows)} for it, rows in parts]

    def plain(self) -> dict[str, Any]:
        """Return the report as plain data: each row priced, the others by reason, the errors."""
        rows = [it.plain() for it in self.priced]
        return {"rows": rows, "unpriced": dict(self.unpriced), "summary": self.summary()}

    def text(self) -> str:
        """Return the errors as a table, and why rows were left out."""
        table = [("timings of", "variant", "rows", "median error")]
        for line in self.summary() if self.priced else []:
            of = line.get("scope") or f"{line['operation']}, {line['gpu']}"
            error = line["median_error"]
            shown = "–" if error is None else f"{100 * error:.1f} %"
            table.append((of, line["variant"], str(line["rows"]), shown))
        a, b, c, d = (max(map(len, column)) for column in zip(*table, strict=True))
        lines = [
            f"{len(self.priced)} rows priced: host ahead, L2 cleared,"
            f" {formatted(EVENT_TIMER_S, TIME)} for the timer."
            " Best fused: the fastest fused kernel of each shape.",
            *(f"{of:{a}}  {by:{b}}  {rows:>{c}}  {error:>{d}}" for of, by, rows, error in table),
            f"{sum(self.unpriced.values())} rows not priced:",
            *(f"  {count:>5}  {reason}" for reason, count in self.unpriced.most_common()),
        ]
        return "\n".join(lines if self.priced else [lines[0], *lines[2:]])


def _whole(text: str) -> int | str | None:
    return int(text) if text.isdecimal() else text or None


def _grouped(rows: Iterable[Timing], key: Callable[[Timing], Any]) -> dict[Any, list[Timing]]:
    groups = defaultdict(list)
    for it in rows:
        groups[key(it)].append(it)
    return groups


def of_variant(rows: Iterable[Timing], variant: str) -> list[Timing]:
    """Return the rows of a variant; of the `BEST`, the fastest fused one of each shape."""
    if variant != BEST:
        return [it for it in rows if it.variant == variant]
    shape = itemgetter("gpu", "operation", "dtype", "rows", "cols")
    groups = _grouped(of_variant(rows, "fused"), lambda it: (shape(it.row), it.n_values))
    return [min(group, key=lambda it: it.measured_s) for group in groups.values()]


def median_error(rows: Sequence[Timing]) -> float | None:
    """Return the median of how far predictions are off, as shares of the measured times."""
    return float(np.median([abs(it.ratio - 1) for it in rows])) if rows else None


def validate(file: Path, terms: cost.Terms = cost.REFINED, overhead_s: float = 0) -> Report:
    """Return the report on a CSV file with the columns of the published timings.

    The host is taken to be ahead, since it launches while the timer still clears L2; with an
    `overhead_s` each launch costs it that.

    Raises
    ------
    ValueError
        If the file is empty, is no CSV in UTF-8, or lacks a column; it names the file and what is
        missing.
    """
    priced, unpriced, faults = [], Counter[str](), []
    for line, row in _rows(file):
        if wrong := _wrong(row):
            unpriced["unreadable"] += 1
            faults += [f"{file}:{line}: {it}" for it in wrong]
        elif isinstance(found := _timing(line, row), Timing):
            priced.append(_priced(found, terms, overhead_s))
        else:
            unpriced[found] += 1
    return Report(priced, unpriced, faults)


def _rows(file: Path) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    """Yield each row with the number of its line."""
    with file.open(encoding="utf-8-sig", newline="") as text:
        try:
            lines = csv.DictReader(text)
            if not lines.fieldnames:
                raise ValueError(f"{file} is empty")
            if missing := [name for name in NEEDED if name not in lines.fieldnames]:
                raise ValueError(f"{file}: there is no column {', '.join(missing)}")
            for row in lines:
                yield lines.line_num, row
        except (UnicodeDecodeError, csv.Error) as fault:
            raise ValueError(f"{file} is no CSV file in UTF-8: {fault}") from None


def _wrong(row: Mapping[Any, Any]) -> list[str]:
    """Return what is wrong with a row; a number may be left out."""
    if None in row or None in row.values():
        return ["it has not as many columns as the heading"]
    return [
        f"{name} = {row[name]!r} is not a number from {low:g} to {high:g}"
        for name, (low, high) in FIGURES.items()
        if row[name].strip() and not low <= _number(row[name]) <= high
    ]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _timing(line: int, row: Mapping[str, str]) -> Timing | str:
    """Return the timing of a row, or else the reason why it cannot be priced."""
    card = _known(row["gpu"], CARDS, GPUS)
    chain = _known(row["operation"], OPERATIONS, CHAINS)
    form = _known(row["dtype"].split(" ")[0], DTYPES, FORMATS)
    # What a note may say that decides: there is no column that says it.
    note = row["note"]
    values, time_us = (_number(row[it]) for it in FIGURES)
    reasons = {
        "not the forward pass": row["pass"] != "forward",
        "GPU not named, or not in the table": card not in GPUS,
        "times matrix products too": "GEMM" in note,
        "traffic of the operation not counted": chain not in CHAINS,
        "partly fused": "partly fused" in note,
        "neither unfused, fused nor compiled": row["variant"] not in VARIANTS,
        "data type not in the table": form not in FORMATS,
        "no size or no time given": np.isnan(values + time_us),
        "timed by wall clock": "wall clock" in note,
    }
    # A CUDA graph of many repeats is timed as a whole.
    timer_s = 0 if re.search("(?<!no )CUDA graph", note) else EVENT_TIMER_S
    found = Timing(row, line, card, chain, form, values, time_us * MICRO, timer_s)
    return next((it for it, holds in reasons.items() if holds), found)


def _known(text: str, others: Mapping[str, str], ours: Mapping[str, Any]) -> str:
    """Return the id that is meant by itself, by its name here, or by a name that others give it."""
    plain = text.strip()
    named = (it for it in ours if ours[it].name.casefold() == plain.casefold())
    return others.get(plain) or next(named, plain.casefold().replace("_", "-"))


def _priced(timing: Timing, terms: cost.Terms, overhead_s: float) -> Timing:
    """Return a timing with what the model says of it."""
    variant, chain = timing.variant, CHAINS[timing.chain]
    launch = cost.LAUNCHES["graph" if variant == "graph" else "stream"]
    run = cost.Run(GPUS[timing.card], FORMATS[timing.form], launch, overhead_s, terms)
    steps = chain.unfused if variant in ("unfused", "graph") else chain.fused
    found = cost.chain_cost(steps, timing.n_values, run).chain
    regime = cost.REGIMES[int(cost.largest(found))]
    return replace(timing, predicted_s=float(found.time_s + timing.timer_s), regime=regime)


@cache
def published(terms: cost.Terms = cost.REFINED, overhead_s: float = 0) -> Report:
    """Return the report on the timings that ship with the plate."""
    return validate(PUBLISHED, terms, overhead_s)


def in_sketch() -> Report:
    """Return the same report by the sketch, at the overhead that the page begins with."""
    return published(cost.SKETCH, KernelFusion.param["overhead"].default * MICRO)


def measured() -> tuple[Measured, ...]:
    """Return the timings that ship with the plate, by GPU, chain and format, with the errors."""
    terms = KernelFusion.param["terms"].default
    seen_at = {"model": "refined", "launch": "stream", "overhead": 0, "terms": terms}
    ours, sketch = (
        _grouped(report.priced, lambda it: (it.card, it.chain, it.form))
        for report in (published(), in_sketch())
    )
    found = []
    for key in itertools.product(GPUS, CHAINS, sorted(FORMATS)):
        when = dict(zip(("gpu", "chain", "dtype"), key, strict=True))
        # A copy is one step of the sketch, and no chain that was timed.
        if key in ours and when["chain"] != "sketch":
            note, points = _note(ours[key], sketch[key]), tuple(map(_point, ours[key]))
            found.append(Measured(when, seen_at, _title(**when), note, points))
    return tuple(found)


def _title(gpu: str, chain: str, dtype: str) -> str:
    """Return what was timed where; a chain that is in FP32 anyway says so itself."""
    form = "" if CHAINS[chain].fp32 else f", {FORMATS[dtype].name}"
    return f"{WORDS.get('chains', {}).get(chain, CHAINS[chain].name)}{form}, {GPUS[gpu].name}"


def _point(timing: Timing) -> Point:
    provider = timing.row["note"].split(";")[0].removeprefix("provider=")
    text = WORDS["measured"]["point"].format(**timing.row, provider=provider)
    role = "before" if timing.variant == "unfused" else "after"
    return Point(timing.n_values, float(f"{timing.measured_s:.6g}"), role, text)


def _note(ours: Sequence[Timing], sketch: Sequence[Timing]) -> str:
    """Return how far off the model is, and the sketch, at the median."""
    said = WORDS["measured"]

    def errors(rows: Sequence[Timing]) -> str:
        found = [
            said[variant].format(share=formatted(error, SHARE))
            for variant in ("unfused", BEST)
            if (error := median_error(of_variant(rows, variant))) is not None
        ]
        return said["both"].format(*found) if len(found) > 1 else "".join(found)

    return said["note"].format(
        timer=formatted(EVENT_TIMER_S, TIME), refined=errors(ours), sketch=errors(sketch)
    )
