"""Figures as their templates draw them: attributes and texts bound to names, filled at a state.

A pattern has {names} in it: of what the figure draws, else of the readings. {name} is the plain
number, {name|format} the number as text, and {name|format|end} a round one in the unit of the end.
Where a name has a list, the pattern stands once for each entry. The page fills the same patterns
again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from plates.figure import Axis, Figure
from plates.formats import FORMATS, formatted, scaled

SLOT = re.compile(r"{([^}]+)}")
AXIS_DIGITS = 3
"""Digits at most of a number on an axis that is in the unit of the axis' end."""


@dataclass(frozen=True)
class Drawing:
    """A figure at a state; within a list, at one `entry` of it."""

    figure: Figure
    values: Mapping[str, Any]
    entry: int | None = None

    def value(self, name: str) -> Any:
        """Return what the name stands for: a number, a text, or a list; # is the entry's place."""
        if name == "#":
            return self.entry
        values = self.values
        own = f"{self.figure.id}.{name}"
        found = np.asarray(values[own] if own in values else values[name]).tolist()
        if self.entry is None or not isinstance(found, list):
            return found
        return found[self.entry] if self.entry < len(found) else ""

    def text(self, pattern: str, join: str = "") -> str:
        """Return the pattern filled; once for each entry, joined, where a name in it has a list."""
        names = [slot.split("|")[0] for slot in SLOT.findall(pattern)]
        lists = [it for it in map(self.value, names) if isinstance(it, list)]
        entries = [replace(self, entry=n) for n in range(len(lists[0]))] if lists else [self]
        return join.join(SLOT.sub(it._filled, pattern) for it in entries)

    def _filled(self, slot: re.Match[str]) -> str:
        name, *form = slot[1].split("|")
        value = self.value(name)
        if isinstance(value, str):
            return value
        if not form:
            return f"{round(100 * value) / 100:.15g}"
        shown = FORMATS[form[0]]
        if not form[1:]:
            return formatted(value, shown)
        unit, scale = scaled(self.value(form[1]), shown)
        return f"{value / scale:.{AXIS_DIGITS}g}{shown.space}{unit}"

    def bind(self, **patterns: str) -> Markup:
        """Return attributes that follow the state, each with what it is now."""
        said = []
        for name, pattern in patterns.items():
            attribute = name.replace("_", "-")
            said.append(Markup('data-bind-{}="{}"').format(attribute, pattern))
            if not self.empty(pattern):
                said.append(Markup('{}="{}"').format(attribute, self.text(pattern)))
        return Markup(" ").join(said)

    def empty(self, pattern: str) -> bool:
        """Return whether this stands for the entries of a list that has none."""
        return "" in (self.value(slot.split("|")[0]) for slot in SLOT.findall(pattern))

    def says(self, pattern: str, join: str = "") -> Markup:
        """Return the end of an opening tag and the text, which follows the state, after it."""
        joined = Markup(' data-join="{}"').format(join) if join else ""
        return Markup('data-text="{}"{}>{}').format(pattern, joined, self.text(pattern, join))

    def shown(self, name: str) -> Markup:
        """Return the attributes of what is shown while the name is true, or not zero."""
        hidden = "" if self.value(name) else " hidden"
        return Markup('data-shown="{}"{}').format(name, hidden)

    def each(self, name: str) -> list["Drawing"]:
        """Return the drawing at each entry of a list; of an empty one at a first that is not."""
        return [replace(self, entry=n) for n in range(max(1, len(self.value(name))))]


def percent(share: float) -> str:
    """Return the share as a length in SVG."""
    return f"{100 * share:.4g}%"


def tick(axis: Axis, value: float) -> str:
    """Return the label of a tick, which is round."""
    form = FORMATS[axis.format]
    return formatted(value, form if form.digits is None else replace(form, digits=1))
