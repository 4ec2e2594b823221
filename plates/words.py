"""The words of a plate, which stand in text files alone."""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

COMMON = Path(__file__).with_name("words.toml")


@dataclass(frozen=True)
class Guess:
    """A question that the reader answers by a guess at a reading, before looking.

    The reading at the state, divided by `scale`, is in the `unit` and between `low` and `high`. A
    guess that is at most `close` off is answered by `near`, else by `over` or `under`.
    """

    question: str
    state: str
    reading: str
    unit: str
    low: int | float
    high: int | float
    scale: int | float
    close: int | float
    near: str
    over: str
    under: str


@dataclass(frozen=True)
class Stop:
    """A stop of the tour: the state to look at, what it is called, and what to note there.

    The `figure` that it speaks of, by its id, is brought into view.
    """

    state: str
    title: str
    note: str
    figure: str = ""


ROWS: dict[str, type[Guess | Stop]] = {"guess": Guess, "tour": Stop}
"""What the entries of a section become."""


@cache
def words(file: Path) -> dict[str, Any]:
    """Return a file of words by section; there are none where there is no file."""
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def page_words(file: Path) -> dict[str, Any]:
    """Return the words of every page, and those that the plate's own file says otherwise."""
    common = {name: it for name, it in words(COMMON).items() if not isinstance(it, dict)}
    return {**common, **words(file).get("page", {})}


def entry(kind: str, row: dict[str, Any]) -> Any:
    """Return what an entry of a section becomes; a TypeError says what is wrong in it."""
    made = ROWS[kind](**row)
    for it in fields(made):
        value = getattr(made, it.name)
        if not isinstance(value, it.type):  # type: ignore[arg-type]
            raise TypeError(f"{it.name} = {value!r} is not what it should be")
    return made


def entries(file: Path, kind: str) -> list[Any]:
    """Return the entries of a plate's guesses or of its tour, in order."""
    return [entry(kind, row) for row in words(file).get(kind, [])]
