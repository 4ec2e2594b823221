"""What a plate is, and how the plates are found."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import param

import plates
from plates.figure import Figure


@dataclass(frozen=True)
class Reading:
    """One number that a plate computes: its label and the format it is shown in."""

    label: str
    format: str


@dataclass(frozen=True)
class Fact:
    """A number of the text that does not follow the inputs: its value, format and source."""

    value: float
    format: str
    source: str


@dataclass(frozen=True)
class State:
    """Inputs set by name: a preset button where it has a label, and a point for the text."""

    inputs: Mapping[str, float]
    label: str = ""


@dataclass(frozen=True)
class Plate:
    """One page of the course.

    `inputs` is the param class that holds its state, and `readings` the pure function from those
    inputs (by name, each a number, an array or a symbol) to a number for each name in `outputs`.
    `facts` returns the text's constants anew at each call. `text` is the Markdown file.
    """

    id: str
    text: Path
    inputs: type[param.Parameterized]
    readings: Callable[..., Mapping[str, Any]]
    outputs: Mapping[str, Reading]
    figures: tuple[Figure, ...]
    readout: str
    states: Mapping[str, State] = field(default_factory=dict)
    facts: Callable[[], Mapping[str, Fact]] = dict

    def read(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return every reading at the inputs, which may be arrays: SI units, shares 0 to 1.

        The inputs are made float64 first, as they are in the browser.
        """
        numbers = {name: np.asarray(value, dtype=float)[()] for name, value in inputs.items()}
        return dict(self.readings(**numbers))

    def at(self, state: str) -> dict[str, float]:
        """Return the inputs of a named state: the defaults, with what the state sets."""
        return {**values(self.inputs()), **self.states[state].inputs}


def quantities(inputs: param.Parameterized | type[param.Parameterized]) -> dict[str, Any]:
    """Return the inputs' parameters by name, in the order in which they are declared."""
    return {name: inputs.param[name] for name in inputs.param if name != "name"}


def values(inputs: param.Parameterized) -> dict[str, float]:
    """Return the present value of each input by name, as a plain number."""
    return {name: it.plain(getattr(inputs, name)) for name, it in quantities(inputs).items()}


def update(inputs: param.Parameterized, changes: Mapping[str, float]) -> None:
    """Set several inputs at once, all of them or none.

    Raises
    ------
    ValueError
        If a name is no input, or a value is not one that the input may have.
    """
    for name, value in changes.items():
        if name not in quantities(inputs):
            raise ValueError(f"{name} is no input; there is {', '.join(quantities(inputs))}")
        quantities(inputs)[name].check(value)
    inputs.param.update(**changes)


def plate_of(inputs: param.Parameterized) -> Plate:
    """Return the plate that the inputs belong to.

    Raises
    ------
    LookupError
        If no plate has inputs of that class.
    """
    for plate in find_plates().values():
        if isinstance(inputs, plate.inputs):
            return plate
    raise LookupError(f"no plate has inputs of the class {type(inputs).__name__}")


def find_plates() -> dict[str, Plate]:
    """Return every plate by its id: what each folder of `plates` holds as `plate`."""
    modules = sorted(m.name for m in pkgutil.iter_modules(plates.__path__) if m.ispkg)
    found = [importlib.import_module(f"plates.{name}").plate for name in modules]
    plates_by_id = {plate.id: plate for plate in found}
    if len(plates_by_id) < len(found):
        raise ValueError(f"two plates have one id: {', '.join(plate.id for plate in found)}")
    return plates_by_id
