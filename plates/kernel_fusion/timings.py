"""The refined model held against published timings: what it says of each, and how far it is off."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from model import cost
from model.chains import CHAINS, Chain, own
from model.gpus import FORMATS, GPUS, Gpu
from plates import formats
from plates.formats import formatted
from plates.hardware_inputs import MICRO
from plates.kernel_fusion.inputs import WORDS, KernelFusion, chosen_gpu
from plates.kernel_fusion.timing_files import first, numbers_of, read
from plates.kernel_fusion.timing_forms import FORM, VARIANTS
from plates.plate import Found, Measured, Point

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


def _bare(card: str) -> str:
    """Return a card's name as it is compared: in small letters, without the maker's name."""
    return " ".join(card.casefold().split()).removeprefix("nvidia ")


CARDS = {driver: name for name, gpu in GPUS.items() for driver in gpu.drivers}
OPERATIONS = {said: name for name, chain in CHAINS.items() for said in chain.timed_as}
DTYPES = {
    "bfloat16": "bf16", "float16": "bf16", "fp16": "bf16", "half": "bf16", "16-bit": "bf16",
    "float32": "fp32", "float": "fp32", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
}  # fmt: skip
"""Formats by the name that PyTorch gives them; in FP16 a chain moves what it moves in BF16."""

CARDS_BARE = (
    {_bare(gpu.name): name for name, gpu in GPUS.items()}
    | {_bare(driver): name for driver, name in CARDS.items()}
    | {name: name for name in GPUS}
)
PASSES = ("forward", "fwd")
BEST = "best fused"

AT_ONCE = 50_000
"""Rows priced at a time."""

REFUSED_FOR = {
    "not a time": ("metric", ("speed",)),
    "not the forward pass": ("pass", PASSES),
    "GPU not named, or not in the table": ("gpu", (*CARDS, *GPUS)),
    "times matrix products too": None,
    "traffic of the operation not counted": ("operation", (*OPERATIONS, *CHAINS)),
    "partly fused": None,
    "neither unfused, fused nor compiled": ("variant", VARIANTS),
    "data type not in the table": ("dtype", (*DTYPES, *FORMATS)),
    "no size or no time given": None,
    "timed by wall clock": None,
}
"""Why a row is not priced, the first that holds; the column that says so, and what it may say."""

VALUES_SHOWN = 5
HOST_BOUND = {"longer": 1.5, "alike": 1.1, "larger": 2.0}
"""A time is likely the host's: so much longer than predicted, and alike at a size so much larger.

Chosen: no published time is flagged that is met to within the model's error.
"""


@dataclass(frozen=True)
class Report:
    """All that a file of timings came to: rows priced, others by reason, faults by line.

    `table` has a row for each that was priced: the cells of the file, its `line`, the ids `card`,
    `chain` and `form`, `n_values` and `measured_s`; what the model says, `predicted_s`, the `ratio`
    of that to the measured, the timer's part `timer_s` and the largest of the others, the `regime`;
    and `of_gpu` and `of_operation`, the commonest of all spellings of the same. `refused` has, by
    reason, the values that were not understood, and `how` says what was taken to be so.
    """

    table: Any
    unpriced: Counter[str]
    faults: list[str]
    refused: Mapping[str, Counter[str]]
    how: str

    @property
    def priced(self) -> list[Any]:
        """The rows that were priced, each with the columns of `table` as its attributes."""
        return [*self.table.itertuples(index=False, name="Timing")]

    @property
    def first_faults(self) -> list[str]:
        """The first of the faults, and how many more there are."""
        return first(self.faults)

    def summary(self) -> list[dict[str, Any]]:
        """Return the median errors: of the core cards and the others, then group by group."""
        table = self.table
        inner = table["card"].isin(CORE)
        parts = [
            ({"scope": scope, "variant": variant}, of_variant(rows, variant))
            for scope, rows in (("A100 and H100", table[inner]), ("other GPUs", table[~inner]))
            for variant in ("unfused", BEST)
        ]
        return [
            {**it, "rows": len(rows), "median_error": median_error(rows)} for it, rows in parts
        ] + self.errors("operation", "gpu", "variant").to_dict("records")

    def _with_errors(self) -> Any:
        bands = np.array([*SIZES], object)[
            np.searchsorted([*SIZES.values()], self.table["n_values"])
        ]
        return self.table.assign(error=(self.table["ratio"] - 1).abs(), size=bands)

    def errors(self, *by: str) -> Any:
        """Return a table of the rows and `median_error` of each group, and what it is a group of.

        That is any of `operation`, `gpu`, `size` (a name in `SIZES`) and `variant`; errors are
        shares of the measured times.
        """
        table = self._with_errors()
        table = table.assign(operation=table["of_operation"], gpu=table["of_gpu"])
        found = table.groupby([*by], observed=True)["error"].agg(rows="size", median_error="median")
        return found.sort_index().reset_index()

    def rows(self) -> Any:
        """Return a table of the priced rows as they are shown, with times in seconds.

        Its columns are `SHOWN`; `ratio` is predicted over measured.
        """
        table = self.table.assign(
            gpu=self.table["of_gpu"],
            operation=self.table["of_operation"],
            values=self.table["n_values"].astype(int),
        )
        return table[SHOWN]

    def csv(self) -> str:
        """Return the priced rows as a file that `validate` prices to the same numbers."""
        return self.rows().to_csv(index=False, lineterminator="\n")

    def left_out(self, shown: int = VALUES_SHOWN) -> list[dict[str, Any]]:
        """Return why rows were left out: by reason how many, and which values, the commonest first.

        Each value that was not understood has its `rows`, and the `nearest` that is known or "";
        `more` are not shown.
        """
        found = []
        for reason, rows in self.unpriced.most_common():
            counts = self.refused.get(reason, Counter())
            _, known = REFUSED_FOR.get(reason) or ("", ())
            values = [
                {"value": it, "rows": n, "nearest": "".join(get_close_matches(it, known, n=1))}
                for it, n in counts.most_common(shown)
            ]
            more = len(counts) - len(values)
            found.append({"reason": reason, "rows": rows, "values": values, "more": more})
        return found

    def json(self) -> Iterator[str]:
        """Yield the pieces of the report as one JSON object, with times in seconds.

        It has the `rows` that were priced, how many are `unpriced` by reason, and the `summary`.
        """
        a_row = ", ".join(f'"{name}": %s' for name in IN_JSON)
        yield '{"rows": ['
        for start in range(0, len(self.table), AT_ONCE):
            some = self.table[start : start + AT_ONCE]
            cells = zip(*(_dumped(some[it]) for it in IN_JSON.values()), strict=True)
            yield ", " if start else ""
            yield ", ".join(f"{{{a_row % row}}}" for row in cells)
        rest = dumps({"unpriced": self.unpriced, "summary": self.summary()})
        yield f"], {rest[1:]}"

    def text(self) -> str:
        """Return the errors as a table, and why rows were left out."""
        lines = [
            f"{len(self.table)} rows priced: {self.how}."
            " Best fused: the fastest fused kernel of each shape.",
            *(self._errors() if len(self.table) else []),
            *self.host_bound(),
            f"{sum(self.unpriced.values())} rows not priced:",
        ]
        for it in self.left_out():
            lines.append(f"  {it['rows']:>5}  {it['reason']}")
            for value in it["values"]:
                near = f", nearest {value['nearest']!r}" if value["nearest"] else ""
                lines.append(f"         {value['rows']:>5}  {value['value']!r}{near}")
            if it["more"]:
                lines.append(f"                and {it['more']} values more")
        if any(self.refused.values()):
            lines.append(f"What a file of timings may say is described in {FORM}.")
        return "\n".join(lines)

    def _errors(self) -> Iterator[str]:
        table = [("timings of", "variant", "rows", "median error")]
        for line in [*self.summary(), *self.errors("size", "variant").to_dict("records")]:
            of = line.get("scope") or line.get("size") or f"{line['operation']}, {line['gpu']}"
            error = line["median_error"]
            shown = "–" if error is None else f"{100 * error:.1f} %"
            table.append((of, line["variant"], str(line["rows"]), shown))
        a, b, c, d = (max(map(len, column)) for column in zip(*table, strict=True))
        for of, by, rows, error in table:
            yield f"{of:{a}}  {by:{b}}  {rows:>{c}}  {error:>{d}}"

    def host_bound(self) -> list[str]:
        """Return a line on the unfused times that are likely the host's, if there are any."""
        rows = self.table[self.table["variant"] == "unfused"] if len(self.table) else self.table
        found: Counter[str] = Counter()
        for _, of in rows.groupby(["card", "chain", "form"], observed=True):
            slow = of[of.measured_s > HOST_BOUND["longer"] * of.predicted_s]
            slow = slow.sort_values("n_values")
            sizes, times = (slow[it].to_numpy() for it in ("n_values", "measured_s"))
            if not len(sizes) or sizes[-1] < HOST_BOUND["larger"] * sizes[0]:
                continue
            alike = times <= HOST_BOUND["alike"] * times.min()
            alike_sizes = sizes[alike]
            if alike_sizes[-1] >= HOST_BOUND["larger"] * alike_sizes[0]:
                found[f"{of['of_operation'].iloc[0]} on {of['of_gpu'].iloc[0]}"] += int(alike.sum())
        if not found:
            return []
        each = ", ".join(f"{count} of {what}" for what, count in found.items())
        return [
            f"Likely bound by the host, since their time hardly depends on size: {each};"
            " --overhead prices what a launch costs."
        ]


IN_JSON = {
    **{it: it for it in ("gpu", "operation", "variant", "pass", "dtype", "rows", "cols")},
    "predicted": "predicted_s", "measured": "measured_s",
    **{it: it for it in ("ratio", "regime", "line")},
}  # fmt: skip
"""What a row has in JSON, and the column that has it."""

SHOWN = ["line", "gpu", "operation", "variant", "measured_s", "predicted_s", "ratio"]
SHOWN += ["dtype", "rows", "cols", "values", "regime", "note"]

SIZES = {"up to 1 Mi": 2**20, "1 to 16 Mi": 2**24, "over 16 Mi": np.inf}
"""Bands of sizes by their upper end, in values; chosen: small, about as large as L2, larger."""


def of_variant(table: Any, variant: str) -> Any:
    """Return the rows of a variant; of the `BEST`, the fastest fused one of each shape."""
    if variant != BEST:
        return table[table["variant"] == variant]
    shape = ["card", "chain", "form", "rows", "cols", "n_values"]
    fused = table[table["variant"] == "fused"].sort_values("measured_s", kind="stable")
    return fused.drop_duplicates(shape)


def median_error(table: Any) -> float | None:
    """Return the median of how far predictions are off, as shares of the measured times."""
    return float(np.median(np.abs(table["ratio"] - 1))) if len(table) else None


def _dumped(column: Any) -> Any:
    """Return each cell of a column as JSON; of texts a whole number as such, and null for none."""
    if column.dtype == float or column.dtype == int:
        return map(repr, column.tolist())
    return map({it: dumps(_whole(it)) for it in column.unique()}.__getitem__, column.tolist())


def _whole(text: str) -> int | str | None:
    return int(text) if text.isdecimal() else text or None


def validate(
    source: Path | bytes,
    terms: cost.Terms = cost.REFINED,
    overhead_s: float = 0,
    launch: str = "stream",
    timer_s: float | None = None,
    progress: Callable[[int], None] | None = None,
    said: Mapping[str, str] | None = None,
    name: str = "",
    gpu: Gpu | None = None,
    chain: Chain | None = None,
) -> Report:
    """Return the report on a file of timings, or on its content, which faults then call `name`.

    The host is taken to be ahead, since it launches while the timer still clears L2; with an
    `overhead_s` each launch costs it that. Of itself the timer measures `timer_s`, by default
    `EVENT_TIMER_S`. What is `said` holds for all rows where the file does not say it: see
    `timing_forms.SAID`. Where a column is missing, a row is taken to be of the forward pass, timed
    between events, and `values` is the number of its values whatever its shape. `progress` is told
    how many rows have been read. A `gpu` is taken to be every one that is not known, and a `chain`
    is the operation `own`.

    Raises
    ------
    ValueError
        If the file is empty, is no CSV in UTF-8 or UTF-16, or lacks a column; it names the file and
        what is missing.
    """
    timer_s = EVENT_TIMER_S if timer_s is None else timer_s
    gpus = GPUS | ({"custom": gpu} if gpu else {})
    chains = CHAINS | ({"own": chain} if chain else {})
    name = name or ("the file" if isinstance(source, bytes) else str(source))
    table, faults, unreadable = read(source, name, said or {}, progress)
    why = _reasons(table, gpus, chains)
    unpriced = Counter({"unreadable": unreadable} if unreadable else {})
    refused: dict[str, Counter[str]] = {}
    for reason, about in REFUSED_FOR.items():
        if rows := int((why == reason).sum()):
            unpriced[reason] = rows
            if about:
                counts = table.loc[why == reason, about[0]].value_counts()
                refused[reason] = Counter({it: int(n) for it, n in counts.items() if n})
    table = table[why == ""].copy()
    cannot, told = _cannot_be(table, name, gpus, chains)
    unpriced.update({it: int(n) for it, n in cannot[cannot != ""].value_counts().items()})
    run = partial(cost.Run, overhead_s=overhead_s, terms=terms)
    table = _priced(table[cannot == ""].copy(), run, launch, timer_s, gpus, chains)
    host = f"{formatted(overhead_s, TIME)} a launch" if overhead_s else "host ahead"
    by = "" if launch == "stream" else f"launched as {launch}, "
    how = f"{by}{host}, L2 cleared, {formatted(timer_s, TIME)} for the timer"
    if gpu and (table["card"] == "custom").any():
        how += f", GPUs not in the table taken to be {gpu.name}"
    return Report(table, unpriced, faults + told, refused, how)


def taken(content: bytes, name: str, inputs: Mapping[str, Any]) -> Found:
    """Return what the lab shows of a file of timings: the report, and each row that was priced.

    The launch mode of the inputs counts, and where that is eager their overhead; else the host is
    ahead. The operation `own` is their own chain, and if their GPU is their own, so is any that is
    not known. A ValueError is as in `validate`, or says that nothing could be priced.
    """
    launch = inputs["launch"]
    overhead_s = inputs["overhead"] * MICRO if launch == "eager" else 0
    gpu = chosen_gpu(inputs) if inputs["gpu"] == "custom" else None
    report = validate(
        content,
        overhead_s=overhead_s,
        launch=launch,
        name=name,
        gpu=gpu,
        chain=own(inputs["steps"]),
    )
    told = [*report.first_faults, report.text()]
    if report.table.empty:
        raise ValueError("\n".join(told))
    roles = ["before" if it == "unfused" else "after" for it in report.table["variant"]]
    formats = {"measured_s": "time", "predicted_s": "time", "ratio": "number"}
    return Found({}, told, report.rows(), formats, ("measured_s", "predicted_s"), roles)


def _reasons(table: Any, gpus: Mapping[str, Gpu], chains: Mapping[str, Chain]) -> Any:
    """Return why each row cannot be priced, or "", and add to the table what its cells mean."""
    other = "custom" if "custom" in gpus else ""
    table["card"] = _mapped(table["gpu"], lambda it: CARDS_BARE.get(_bare(it), it and other))
    table["chain"] = _mapped(table["operation"], lambda it: _known(it, OPERATIONS, chains))
    table["form"] = _mapped(table["dtype"], _form)
    table["variant"] = _mapped(table["variant"], lambda it: it.strip().casefold())
    # What a note may say that decides: there is no column that says it.
    note = table["note"]
    gemm = _mapped(note, lambda it: "GEMM" in it).astype(bool)
    partly = _mapped(note, lambda it: "partly fused" in it).astype(bool)
    clock = _mapped(note, lambda it: "wall clock" in it).astype(bool)
    holds = {
        "not a time": ~table["metric"].isin(("speed",)),
        "not the forward pass": ~_mapped(table["pass"], lambda it: it.strip().casefold()).isin(
            PASSES
        ),
        "GPU not named, or not in the table": table["card"] == "",
        "times matrix products too": gemm,
        "traffic of the operation not counted": ~table["chain"].isin(chains.keys()),
        "partly fused": partly,
        "neither unfused, fused nor compiled": ~table["variant"].isin(VARIANTS),
        "data type not in the table": ~table["form"].isin(FORMATS.keys()),
        "no size or no time given": (table["n_values"] + table["measured_s"]).isna(),
        "timed by wall clock": clock,
    }
    found = np.full(len(table), "", object)
    for reason in reversed(REFUSED_FOR):
        found[holds[reason].to_numpy()] = reason
    return found


def _mapped(column: Any, what: Callable[[str], Any]) -> Any:
    """Return a column of categories with each as a function says, which is asked once for each."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    told = np.array([what(it) for it in column.cat.categories], object)
    return pd.Series(told[column.cat.codes.to_numpy()] if len(told) else told, column.index)


def _form(text: str) -> str:
    plain = text.strip().casefold().removeprefix("torch.")
    return _known(plain.split(" ")[0], DTYPES, FORMATS)


def _known(text: str, others: Mapping[str, str], ours: Mapping[str, Any]) -> str:
    """Return the id that is meant by itself, by its name here, or by a name that others give it."""
    plain = text.strip()
    named = (it for it in ours if ours[it].name.casefold() == plain.casefold())
    return others.get(plain) or next(named, plain.casefold().replace("_", "-"))


def _priced(
    table: Any, run: Callable[..., cost.Run], launch: str, timer_s: float,
    gpus: Mapping[str, Gpu], chains: Mapping[str, Chain],
) -> Any:  # fmt: skip
    """Return a table with what the model says of each row, computed group by group."""
    # A CUDA graph of many repeats is timed as a whole.
    graphs = _mapped(table["note"], lambda it: bool(re.search("(?<!no )CUDA graph", it)))
    table["timer_s"] = np.where(graphs.astype(bool), 0, timer_s)
    sizes, predicted = table["n_values"].to_numpy(), np.zeros(len(table))
    regimes = np.zeros(len(table), int)
    groups = table.groupby(["card", "chain", "form", "variant"]).indices
    for (card, chain, form, variant), rows in groups.items():
        launched = cost.LAUNCHES["graph" if variant == "graph" else launch]
        how = run(gpus[card], FORMATS[form], launched)
        steps = chains[chain].unfused if variant in ("unfused", "graph") else chains[chain].fused
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            found = cost.chain_cost(steps, sizes[some], how).chain
            predicted[some], regimes[some] = found.time_s, cost.largest(found)
    for meant, said in (("card", "gpu"), ("chain", "operation")):
        counts = table.groupby([meant, said], observed=True).size()
        usual = {it: of.idxmax()[1] for it, of in counts.groupby(level=0)}
        table[f"of_{said}"] = table[meant].map(usual).astype("category")
    table["predicted_s"] = predicted + table["timer_s"]
    table["ratio"] = table["predicted_s"] / table["measured_s"]
    table["regime"] = np.array(cost.REGIMES, object)[regimes]
    return table


def _cannot_be(
    table: Any, name: str, gpus: Mapping[str, Gpu], chains: Mapping[str, Chain]
) -> tuple[Any, list[str]]:
    """Return why each row cannot be as it says, or "", and a line on each such row.

    Memory moves what the fused kernel must, and no faster than its peak, unless L2 may hold it.
    """
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    why = pd.Series("", table.index, dtype=object)
    found: list[tuple[int, str]] = []
    for (card, chain, form), rows in table.groupby(["card", "chain", "form"]):
        gpu = gpus[card]
        run = cost.Run(gpu, FORMATS[form])
        each = float(cost.chain_cost(chains[chain].fused, 1, run).traffic_bytes)
        moved = each * rows["n_values"]
        spilt = moved > gpu.l2_spilt_share * gpu.l2_bytes
        fast = rows[spilt & (moved > gpu.bandwidth * rows["measured_s"])]
        why[fast.index] = "faster than memory could be"
        at_most = f"the {gpu.bandwidth / 1e12:.3g} TB/s of the memory of {gpu.name}"
        rates = each * fast["n_values"] / fast["measured_s"] / 1e12
        for line, rate in zip(fast["line"], rates, strict=True):
            found.append((line, f"{rate:.3g} TB/s would be moved, more than {at_most}"))
    height, width = (numbers_of(table[it]) for it in ("rows", "cols"))
    size = height * width
    other = size.notna() & (size != table["n_values"])
    why[other] = "values are not rows × columns"
    for line, values, product in zip(
        *(it[other] for it in (table["line"], table["n_values"], size)), strict=True
    ):
        found.append((line, f"values = {values:.15g} is not rows × cols = {product:.15g}"))
    return why, [f"{name}:{line}: {said}" for line, said in sorted(found)]


@cache
def published(terms: cost.Terms = cost.REFINED, overhead_s: float = 0) -> Report:
    """Return the report on the timings that ship with the plate."""
    return validate(PUBLISHED, terms, overhead_s)


def in_sketch() -> Report:
    """Return the same report by the sketch, at the overhead that the page begins with."""
    return published(cost.SKETCH, KernelFusion.param["overhead"].default * MICRO)


@cache
def measured() -> tuple[Measured, ...]:
    """Return the timings that ship with the plate, by GPU, chain and format, with the errors."""
    terms = KernelFusion.param["terms"].default
    seen_at = {"model": "refined", "launch": "stream", "overhead": 0, "terms": terms}
    ours, sketch = (
        dict([*report.table.groupby(["card", "chain", "form"], observed=True)])
        for report in (published(), in_sketch())
    )
    found = []
    for key in itertools.product(GPUS, CHAINS, sorted(FORMATS)):
        when = dict(zip(("gpu", "chain", "dtype"), key, strict=True))
        # A copy is one step of the sketch, and no chain that was timed.
        if key in ours and when["chain"] != "sketch":
            note = _note(ours[key], sketch[key])
            points = tuple(map(_point, ours[key].to_dict("records")))
            found.append(Measured(when, seen_at, _title(**when), note, points))
    return tuple(found)


def _title(gpu: str, chain: str, dtype: str) -> str:
    """Return what was timed where; a chain that is in FP32 anyway says so itself."""
    form = "" if CHAINS[chain].fp32 else f", {FORMATS[dtype].name}"
    return f"{WORDS.get('chains', {}).get(chain, CHAINS[chain].name)}{form}, {GPUS[gpu].name}"


def _point(row: Mapping[str, Any]) -> Point:
    provider = row["note"].split(";")[0].removeprefix("provider=")
    text = WORDS["measured"]["point"].format(**{**row, "provider": provider})
    role = "before" if row["variant"] == "unfused" else "after"
    return Point(row["n_values"], float(f"{row['measured_s']:.6g}"), role, text)


def _note(ours: Any, sketch: Any) -> str:
    """Return how far off the model is, and the sketch, at the median."""
    said = WORDS["measured"]

    def errors(rows: Any) -> str:
        found = [
            said[variant].format(share=formatted(error, SHARE))
            for variant in ("unfused", BEST)
            if (error := median_error(of_variant(rows, variant))) is not None
        ]
        return said["both"].format(*found) if len(found) > 1 else "".join(found)

    return said["note"].format(
        timer=formatted(EVENT_TIMER_S, TIME), refined=errors(ours), sketch=errors(sketch)
    )
