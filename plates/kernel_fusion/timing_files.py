"""Files of timings as people have them, read into one table; what a file lacks is asked for."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from plates.kernel_fusion.timing_forms import ASSUMED, NEEDED, Heading, heading_of, of_columns

VALUES = (1, 1e15)
TIMES_S = (1e-9, 1e6)
RATES = (1e-6, 1e6)
"""What a number of values, a time and a rate in GB/s may be: nothing lies beyond."""

FAULTS_SHOWN = 20
HEADING_WITHIN = 200
AT_ONCE = 50_000
"""Faults that are told one by one, lines among which the heading is, and lines read at a time."""


def read(
    source: Path | bytes, name: str, said: Mapping[str, str], progress: Callable[[int], None] | None
) -> tuple[Any, list[str], int]:
    """Return the rows of a file or its content as a table, faults by line, and how many have one.

    The table has the columns `NEEDED` and `ASSUMED` as categories of texts, and `line`, `n_values`
    and `measured_s` (seconds, missing where the row gives none). `said` is of all rows, see `SAID`.

    Raises
    ------
    ValueError
        If it is empty, is no CSV in UTF-8 or UTF-16, or lacks what is not said either; it names
        what is missing, and begins with `name`.
    """
    from pandas.errors import ParserError  # type: ignore[import-untyped,unused-ignore]

    faults: list[str] = []
    try:
        with _opened(source) as text:
            heading = heading_of(list(islice(text, HEADING_WITHIN)), said)
            text.seek(0)
            cells = _cells(islice(text, heading.line, None), heading, name, faults, progress)
        ragged = len(faults)
        assert heading.kind
        table = _filled(heading.kind(cells, heading), heading)
    except (UnicodeError, csv.Error, ParserError) as fault:
        raise ValueError(f"{name} is no CSV file in UTF-8 or UTF-16: {fault}") from None
    except ValueError as fault:
        raise ValueError(f"{name}{fault}") from None
    faulty = _numbers(table, heading, name, faults)
    return table[~faulty], faults, ragged + int(faulty.sum())


def first(faults: Sequence[str]) -> list[str]:
    """Return the first faults, and how many more there are."""
    more = len(faults[FAULTS_SHOWN:])
    return [*faults[:FAULTS_SHOWN], *([f"and {more} faults more"] if more else [])]


def _opened(source: Path | bytes) -> io.TextIOWrapper:
    raw = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    marked = raw.read(2) in (b"\xff\xfe", b"\xfe\xff")
    raw.seek(0)
    return io.TextIOWrapper(raw, encoding="utf-16" if marked else "utf-8-sig", newline="")


def _cells(
    lines: Iterator[str],
    heading: Heading,
    name: str,
    faults: list[str],
    progress: Callable[[int], None] | None,
) -> Any:
    """Return the cells that are read, as categories but for numbers, and the `line` of each row."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    wanted, width = heading.columns, len(heading.names)
    # Numbers hardly repeat, and are parsed at once.
    numbered = {"values", heading.time, *heading.providers}
    parts: list[Any] = []
    numbers: list[Any] = [np.zeros(0, int)]
    records, last, rows = _records(lines, heading.separator), heading.line, 0
    while some := list(islice(records, AT_ONCE)):
        ends = last + np.cumsum([_lines_in(it) for it in some])
        last = ends[-1]
        cells = np.array([_cells_in(it, heading.separator) for it in some])
        faults += [
            f"{name}:{number}: it has not as many columns as the heading"
            for number in ends[(cells != 0) & (cells != width)]
        ]
        numbers.append(ends[cells == width])
        rows += len(numbers[-1])
        parts.append(
            pd.read_csv(
                io.StringIO("".join(compress(some, (cells == width).tolist()))),
                sep=heading.separator,
                names=heading.names,
                usecols=wanted,
                dtype="str",
                keep_default_na=False,
                skipinitialspace=True,
            ).astype({it: "category" for it in wanted if it not in numbered})
        )
        if progress:
            progress(rows)
    table = pd.DataFrame({"line": np.concatenate(numbers)})
    for it in wanted:
        columns = [part[it] for part in parts]
        if it in numbered or not columns:
            table[it] = (
                pd.concat(columns, ignore_index=True) if columns else pd.Series([], dtype="str")
            )
        else:
            table[it] = pd.api.types.union_categoricals(columns)
    return table


def _records(lines: Iterator[str], separator: str) -> Iterator[str]:
    """Yield each row as text; a quoted cell of it may go on in the next line."""
    for line in lines:
        yield _joined(line, lines, separator) if '"' in _unquoted(line, separator) else line


def _joined(line: str, lines: Iterator[str], separator: str) -> str:
    taken: list[str] = []

    def each() -> Iterator[str]:
        for it in chain([line], lines):
            taken.append(it)
            yield it

    next(csv.reader(each(), delimiter=separator, skipinitialspace=True))
    return "".join(taken)


def _unquoted(record: str, separator: str) -> str:
    """Return a row without its cells that are quoted; where there is more to it, quotes stay."""
    return _quoted(separator).sub("", record) if '"' in record else record


@cache
def _quoted(separator: str) -> re.Pattern[str]:
    mark = re.escape(separator)
    return re.compile(rf'"(?:(?<![^{mark}]")|(?<={mark} "))[^"]*(?:""[^"]*)*"')


def _lines_in(record: str) -> int:
    return 1 + record.rstrip("\r\n").count("\n") if '"' in record else 1


def _cells_in(record: str, separator: str) -> int:
    """Return how many cells a row has; none if it is empty, or only drawn between two others."""
    if record.isspace() or (separator == "|" and separator not in record):
        return 0
    bare = _unquoted(record, separator)
    if '"' not in bare:
        return bare.count(separator) + 1
    rows = csv.reader(io.StringIO(record, ""), delimiter=separator, skipinitialspace=True)
    return len(next(rows))


def _filled(table: Any, heading: Heading) -> Any:
    """Return the table with the columns that the file has not, as said or assumed."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    for name in (*NEEDED, *ASSUMED):
        text = heading.said.get(name)
        if name not in table and text in table:
            table[name] = table[text]
        elif name not in table and (text is not None or name in ASSUMED):
            told = ASSUMED.get(name) if text is None else text
            table[name] = pd.Categorical.from_codes(np.zeros(len(table), np.int8), [told])
        if name in table and name != "values" and table[name].dtype != "category":
            table[name] = table[name].astype("category")
    if "values" not in table and heading.kind is of_columns and not _sized(table):
        others = [it for it in table if it not in (*NEEDED, *ASSUMED, "line", "time", "unit_s")]
        raise ValueError(
            ": how many values have the tensors? Say it as --values N, or as --rows N and --cols N,"
            f" a number or a column ({', '.join(others)})"
        )
    return table


def _sized(table: Any) -> bool:
    return all(list(table[it].cat.categories) != [""] for it in ("rows", "cols"))


def numbers_of(column: Any, separator: str = ",") -> Any:
    """Return the numbers of a column of texts, missing where there is none.

    A number has a decimal comma where commas do not separate.
    """
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    if column.dtype == "category":
        each = numbers_of(column.cat.categories.to_series(), separator).to_numpy()
        codes = column.cat.codes.to_numpy()
        return pd.Series(each[codes] if len(each) else np.zeros(0), column.index)
    plain = column if separator == "," else column.str.replace(",", ".", regex=False)
    return pd.to_numeric(plain, errors="coerce").astype(float)


def _numbers(table: Any, heading: Heading, name: str, faults: list[str]) -> Any:
    """Add the columns of numbers to a table, and to faults those that are none; return these."""
    separator = heading.separator
    if "values" in table:
        values = numbers_of(table["values"], separator)
        faulty = _faulty(table, "values", "values", values, VALUES, name, faults)
    else:
        values = numbers_of(table["rows"], separator) * numbers_of(table["cols"], separator)
        faulty = np.zeros(len(table), bool)
    times, unit_s = numbers_of(table["time"], separator), table["unit_s"]
    rated = heading.rated
    low, high = RATES if rated else TIMES_S
    known = 1.0 if rated or not len(table) else float(np.nanmax([*unit_s.unique(), 0])) or 1.0
    bounds = (low, high) if rated else (low / known, high / known)
    faulty = faulty | _faulty(table, "time", heading.time, times, bounds, name, faults)
    table["n_values"] = values
    if rated:
        table["measured_s"] = float(heading.said["bytes"]) * values / (times * 1e9)
    else:
        table["measured_s"] = times * unit_s.astype(float)
    for column in {"values", "time", "unit_s"} & set(table):
        table.pop(column)
    return faulty


def _faulty(
    table: Any, column: str, shown: str, numbers: Any, bounds: Any, name: str, faults: list[str]
) -> Any:
    """Return the rows whose number is none or outside its bounds, though one is given."""
    low, high = bounds
    wrong = ~numbers.between(low * (1 - 1e-12), high * (1 + 1e-12)).to_numpy()
    wrong[wrong] = table.loc[wrong, column].astype(str).str.strip() != ""
    faults += [
        f"{name}:{line}: {shown} = {text!r} is not a number from {low:g} to {high:g}"
        for line, text in zip(table.loc[wrong, "line"], table.loc[wrong, column], strict=True)
    ]
    return wrong
