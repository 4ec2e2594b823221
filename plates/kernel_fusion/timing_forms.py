"""The forms in which benchmarks write timings: known by their headings, made one table of rows."""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

FORM = "plates/kernel_fusion/published.md"
"""Where the form of a file of timings is described."""

UNITS = {"s": 1, "sec": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
UNITS |= {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
RATE = ("gb/s", "gbps")
TIMED = ("measured", "time", "median", "latency", "duration", "mean")
"""What the name of the column of times says: one of these, and its unit."""

VARIANTS = ("unfused", "fused", "compiled", "graph")
NEEDED = ("gpu", "operation", "variant", "dtype", "values")
ASSUMED = {"pass": "forward", "rows": "", "cols": "", "note": "", "metric": "speed"}
"""Columns that may be missing, and what each row is then taken to say."""

SAID = ("gpu", "operation", "variant", "dtype", "rows", "cols", "values", "unit", "bytes")
"""What may be said of all rows of a file, beside it or in a line `# gpu: …` before its heading.

`rows`, `cols` and `values` are a number or the column that has it, `variant` one for all or
`PROVIDER=VARIANT` for each, `unit` that of the times, and `bytes` what the benchmark counted for
each value where it states GB/s.
"""

TIME_NAME = "time_us_median"

LIGER = ("kernel_name", "kernel_provider", "kernel_operation_mode", "metric_name", "metric_unit",
    "x_name", "x_value", "y_value_50", "extra_benchmark_config_str", "gpu_name")  # fmt: skip
"""Columns of the long form, by which it is known. Source: linkedin/Liger-Kernel, benchmark/data."""

TOKENS = (("M",), ("S", "B"), ("B", "T"), ("bsz", "T"), ("BT",), ("seq_len",), ("T",))
WIDTHS = (("H",), ("N",), ("V",), ("vocab_size",), ("hidden_size",))
LIGER_SHAPES: Mapping[str, tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]] = {
    **dict.fromkeys(("rms_norm", "layer_norm", "softmax", "relu_squared"), (TOKENS, WIDTHS)),
    **dict.fromkeys(("fused_add_rms_norm", "megatron_rms_norm"), (TOKENS, WIDTHS)),
    **dict.fromkeys(("dyt", "dyt_beta", "kl_div", "jsd", "tvd"), (TOKENS, WIDTHS)),
    # Queries and keys are turned together: so many values for each of the queries' heads.
    **dict.fromkeys(
        ("rope", "llama4_rope"), (TOKENS, (("H", "q_and_k"), ("hidden_size", "q_and_k")))
    ),
    "group_norm": (TOKENS, (("C", "H"),)),
    **dict.fromkeys(("geglu", "swiglu"), (TOKENS, (("intermediate_size",),))),
}
"""By kernel the names whose product is the rows, and the columns: the first that are all there."""

ONE_KERNEL = ("layer_norm", "group_norm", "softmax", "megatron_rms_norm")
"""What PyTorch runs as one kernel of its own, so that its time is of no chain."""

PROVIDERS = {"huggingface": "unfused", "torch": "unfused", "torch_compile": "compiled"}
"""What is timed of a chain by the one who provides it; liger's and megatron's are by hand."""


@dataclass
class Heading:
    """How a file of timings is written: its heading and where, and what is said of all its rows."""

    names: list[str]
    separator: str
    line: int
    said: dict[str, str]
    kind: Callable[[Any, "Heading"], Any] | None = None
    time: str = TIME_NAME
    unit: str = ""
    rated: bool = False
    providers: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        if self.kind is of_liger:
            return list(LIGER)
        if self.kind is of_columns:
            return self.names
        meant = [self.said.get(it, "") for it in ("rows", "cols", "values")]
        known = {*NEEDED, *ASSUMED, *meant, "source", self.time}
        return [it for it in self.names if it in known]


def heading_of(lines: Sequence[str], beside: Mapping[str, str]) -> Heading:
    """Return the heading: of the first lines the one that has the most of the columns."""
    told = [(n, it.strip("\r\n")) for n, it in enumerate(lines, start=1) if it.strip()]
    if not told:
        raise ValueError(" is empty")
    declared = re.fullmatch(r'"?sep=(.)"?', told[0][1])
    known = {*NEEDED, *ASSUMED, *LIGER, beside.get("values")}
    found: list[tuple[int, Heading]] = []
    said: dict[str, str] = {}
    for n, line in told:
        if note := re.fullmatch(r"\W*#\s*(\w+)\s*:\s*(.*?)[\s,;]*", line):
            said.setdefault(note[1].casefold(), note[2])
            continue
        for separator in declared[1] if declared else ",;\t|":
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
            names = [it.strip() for it in cells]
            small = [it.casefold() for it in names]
            names = [low if low in known else it for low, it in zip(small, names, strict=True)]
            here = {**said, **beside}
            heading = Heading(names, separator, n, here)
            count = 2 * sum(it in known for it in names) + sum(map(_is_time, names))
            # What gives a unit for each provider, or has no unit that is not said, is a table too.
            found.append((count or int(_has_providers(heading, lines)), heading))
    best = max(found, key=itemgetter(0))[1] if found else Heading([], ",", 1, {})
    if twice := [it for it, count in Counter(best.names).items() if it and count > 1]:
        raise ValueError(f": there are two columns {twice[0]}")
    if set(LIGER) <= set(best.names):
        best.kind, best.time = of_liger, "y_value_50"
        return best
    for it in ("rows", "cols", "values"):
        text = best.said.get(it, "0")
        if text not in best.names and text != SHAPE and not text.isdecimal():
            raise ValueError(
                f": there is no column {text!r} for its {it}, and it is no number; there is"
                f" {', '.join(best.names)}"
            )
    if _has_providers(best, lines):
        best.kind = of_columns
        _told_beside(best, lines)
    else:
        best.kind = of_rows
        timed = [it for it in best.names if _unit(it) is not None]
        best.time = min(timed, key=_far_from_median, default="")
    sized = {"rows", "cols"} <= {*best.names, *best.said}
    missing = [
        it
        for it in NEEDED
        if it not in (*best.names, *best.said)
        and not (it == "values" and sized)
        and not (it in ("values", "variant") and best.kind is of_columns)
    ]
    if best.kind is of_rows and not best.time:
        missing.append(TIME_NAME)
    if missing:
        it = missing[0] if TIME_NAME not in missing else "unit"
        ask = "" if it in SAID[:-2] else " where each provider has a column of times"
        raise ValueError(
            f": there is no column {', '.join(missing)}; say it as --{it}, or before the heading as"
            f" '# {it}: …'{ask}; the form is described in {FORM}"
        )
    best.names = [it or f"column {at}" for at, it in enumerate(best.names, start=1)]
    return best


def _words(name: str) -> list[str]:
    return re.split("[^a-z0-9]+", name.casefold().replace("µ", "u").replace("μ", "u"))


def _unit(name: str) -> float | None:
    """Return the unit in seconds of a column of times, or None if it is no such column."""
    words = _words(name)
    units = [UNITS[it] for it in words if it in UNITS]
    # A column S is more likely one of sizes.
    timed = any(it in words for it in TIMED) or (len(words) == 1 and words != ["s"])
    return units[0] if units and timed else None


def _is_time(name: str) -> bool:
    return _unit(name) is not None


def _far_from_median(name: str) -> int:
    """Return a column's place among those of times: the median's first, then a plain or mean."""
    words = _words(name)
    if "median" in words or "p50" in words:
        return 0
    return 2 if any(re.fullmatch(r"p?\d+|min|max|std|stdev|best|worst", it) for it in words) else 1


SHAPE = "shape"
"""What the first column of a printed comparison is called here; it has no name of its own."""

PROVIDED = re.compile(r"(?P<provider>[^()]+) \((?P<unit>.*)\)")
"""How `perf_report` names a column, without the unit in early versions.

Source: triton.testing.Mark._run.
"""


def _has_providers(heading: Heading, lines: Sequence[str]) -> bool:
    """Return whether there is a column of times for each provider, as nothing else says."""
    if heading.separator == "|":
        return any(it.startswith("Times are in ") for it in lines) and not heading.names[0]
    if "variant" in heading.names:
        return False
    named = [PROVIDED.fullmatch(it) for it in heading.names]
    if any(it and not set(_words(it["provider"])) & set(TIMED) for it in named):
        return True
    first = heading.line == 1 or lines[heading.line - 2].lstrip(' "').startswith("#")
    return "unit" in heading.said and first and not any(map(_is_time, heading.names))


def _told_beside(heading: Heading, lines: Sequence[str]) -> None:
    """Add to a heading the unit of its times, and which columns are those of providers.

    Source: torch.utils.benchmark.Compare prints the operation in brackets, a column for each
    description, and the unit in its last line.
    """
    said, names = heading.said, heading.names
    if heading.separator == "|":
        titles = [it for it in lines if re.fullmatch(r"\[-+ (.*) -+\]", it.strip())]
        if len(titles) > 1:
            raise ValueError(f" has {len(titles)} tables; there may be one in a file")
        for title in titles:
            said.setdefault("operation", title.strip().strip("[]-").strip())
        names[0] = SHAPE
        last = next(it for it in lines if it.startswith("Times are in "))
        heading.unit, heading.providers = last.partition("(")[2].partition(")")[0], names[1:]
        return
    found = {it: named for it in names if (named := PROVIDED.fullmatch(it))}
    meant = {*NEEDED, *ASSUMED, *(said.get(it) for it in ("rows", "cols", "values"))}
    heading.providers = list(found) or [it for it in names if it not in meant]
    heading.unit = said.get("unit") or next(it["unit"] for it in found.values())


def of_rows(cells: Any, heading: Heading) -> Any:
    """Return the table of a file that has a row for each time."""
    cells["time"], cells["unit_s"] = cells.pop(heading.time), _unit(heading.time)
    return cells


def of_columns(cells: Any, heading: Heading) -> Any:
    """Return the table of a file that has a column of times for each provider."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    told = heading.said.pop("variant", "")
    variants = {it: text.strip().casefold() for it, text in re.findall("([^=,]+)=([^=,]*)", told)}
    providers = {
        it: named["provider"] if (named := PROVIDED.fullmatch(it)) else it
        for it in heading.providers
    }
    variant = {
        it: variants.get(it, told if told in VARIANTS else it.casefold())
        for it in providers.values()
    }
    if unknown := [it for it in variant if variant[it] not in VARIANTS]:
        each = ",".join(f"{it}=…" for it in unknown)
        raise ValueError(
            f": of what variant is {', '.join(map(repr, unknown))}? Say it as --variant '{each}',"
            f" each {', '.join(VARIANTS)}"
        )
    rated = any(it in heading.unit.casefold() for it in RATE)
    unit = "" if rated else next((it for it in _words(heading.unit) if it in UNITS), "")
    if not unit and not rated:
        raise ValueError(f": {heading.unit!r} is no unit of time, nor GB/s: say it as --unit ms")
    if rated and not re.fullmatch(r"\d+(\.\d*)?", said := heading.said.get("bytes", "")):
        wrong = f"{said!r} is no number" if said else "it is not said"
        raise ValueError(
            f": how many bytes a value does {heading.unit} count? Say it as --bytes 4; {wrong}"
        )
    heading.time, heading.rated = f"time in {heading.unit}", rated
    beside = [it for it in cells if it not in heading.providers]
    table = pd.concat(
        [
            cells[beside].assign(
                time=cells[it],
                variant=variant[provider],
                note=f"provider={provider}",
                unit_s=UNITS.get(unit, np.nan),
            )
            for it, provider in providers.items()
        ],
        ignore_index=True,
    ).sort_values("line", kind="stable", ignore_index=True)
    if SHAPE in table:
        sizes = table[SHAPE].astype(str).str.extract(r"(\d+)\s*[x×*,]\s*(\d+)")
        if not {"rows", "cols", "values"} & heading.said.keys():
            if sizes[0].isna().any():
                odd = table[SHAPE][sizes[0].isna()].iloc[0]
                raise ValueError(
                    f": {odd.strip()!r} is no shape such as 4096x4096; a number alone may be said"
                    " to be --rows, --cols or --values 'shape'"
                )
            table["rows"], table["cols"] = sizes[0], sizes[1]
    return table


def of_liger(cells: Any, heading: Heading) -> Any:
    """Return the table of a file in the long form of Liger-Kernel."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    about = [cells[it].astype(str) for it in ("kernel_name", "kernel_provider", "x_name")]
    about += [cells[it].astype(str) for it in ("x_value", "extra_benchmark_config_str")]
    # Rows repeat; what is known of them is let go with the file.
    found = [*map(cache(_run_of_liger), *about)]
    names = ["variant", "dtype", "rows", "cols", "note"]
    table = pd.DataFrame(found, columns=names, index=cells.index)
    table["line"], table["time"] = cells["line"], cells["y_value_50"]
    table["gpu"], table["operation"] = cells["gpu_name"], cells["kernel_name"]
    table["pass"], table["metric"] = cells["kernel_operation_mode"], cells["metric_name"]
    table["unit_s"] = cells["metric_unit"].astype(str).map(UNITS)
    table["dtype"] = table["dtype"].mask(table["dtype"] == "", heading.said.get("dtype", ""))
    return table


def _run_of_liger(
    kernel: str, provider: str, x_name: str, x_value: str, config: str
) -> tuple[str, ...]:
    """Return the variant, format, rows, columns and note of a row in the long form."""
    try:
        told = {**json.loads(config or "{}"), x_name: float(x_value)}
    except (TypeError, ValueError):
        told = {}
    sizes = {it: size for it, size in told.items() if isinstance(size, int | float)}
    if sizes.get("num_q_heads") and "num_kv_heads" in sizes:
        sizes["q_and_k"] = 1 + sizes["num_kv_heads"] / sizes["num_q_heads"]
    rows, cols = (
        next((math.prod(sizes[it] for it in of) for of in ways if set(of) <= sizes.keys()), None)
        for ways in LIGER_SHAPES.get(kernel, ((), ()))
    )
    variant = PROVIDERS.get(provider, provider)
    by_hand = provider.startswith(("liger", "megatron"))
    if by_hand or (variant == "unfused" and kernel in ONE_KERNEL):
        variant = "fused"
    note = f"provider={provider}"
    if kernel == "fused_add_rms_norm" and variant == "fused" and "fused_add" not in provider:
        variant, note = "unfused", f"{note}; partly fused"
    if kernel in ("geglu", "swiglu"):
        note += "; GEMMs too"
    shown = ["" if it is None else f"{it:.15g}" for it in (rows, cols)]
    return variant, str(told.get("dtype", "")), *shown, note
