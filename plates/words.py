"""The words of a plate, which stand in text files alone."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

COMMON = Path(__file__).with_name("words.toml")


@cache
def words(file: Path) -> dict[str, Any]:
    """Return a file of words by section; there are none where there is no file."""
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def page_words(file: Path) -> dict[str, Any]:
    """Return the words of every page, and those that the plate's own file says otherwise."""
    common = {name: it for name, it in words(COMMON).items() if not isinstance(it, dict)}
    return {**common, **words(file).get("page", {})}
