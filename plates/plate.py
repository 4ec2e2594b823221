"""What a plate is, and how the plates are found."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import param

import plates
from plates.figure import Curves, Figure


@dataclass(frozen=True)
class Reading:
    """One number that a plate computes: its label, its format, and the names of its unit."""

    label: str
    format: str
    unit: tuple[str, str] | None = None


@dataclass(frozen=True)
class Fact:
    """A number of the text that does not follow the inputs: its value, format and source."""

    value: float
    format: str
    source: str


@dataclass(frozen=True)
class State:
    """Inputs set by name: a preset button where it has a label, and a point for the text."""

    inputs: Mapping[str, Any]
    label: str = ""


@dataclass(frozen=True)
class Point:
    """A measurement as drawn: where, in which role, and what it is and whose."""

    x: float
    y: float
    role: str
    text: str


@dataclass(frozen=True)
class Measured:
    """What was measured where some inputs are `when`: points, and how far off the plate is.

    `seen_at` are other inputs at which the plate is as it was there.
    """

    when: Mapping[str, str]
    seen_at: Mapping[str, Any]
    title: str
    note: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Found:
    """What was made of something that a reader brought.

    `inputs` are to be set, and `told` says in sentences what it is. `table`, if any, is a DataFrame
    with numbers in SI units, which are shown in `formats`; of its columns `compared` are what was
    measured and what is predicted, and `roles` one role for each row. `files` are made for the
    reader, texts by name.
    """

    inputs: Mapping[str, Any] = field(default_factory=dict)
    told: Sequence[str] = ()
    table: Any = None
    formats: Mapping[str, str] = field(default_factory=dict)
    compared: tuple[str, str] | None = None
    roles: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Brought:
    """Something of their own that a reader may bring: a file, or a text that is typed.

    `read` returns what is made of its content, given its name for messages and the present inputs,
    and raises ValueError with what is wrong with it.
    """

    id: str
    label: str
    doc: str
    read: Callable[[bytes, str, Mapping[str, Any]], Found]
    file: bool = True


@dataclass(frozen=True)
class Scripts:
    """Python that measures what an option of the `input` stands for, by that option's id.

    `of` an id raises ValueError if it is not among `those` that have a script.
    """

    input: str
    those: Sequence[str]
    of: Callable[[str], str]


@dataclass(frozen=True)
class Plate:
    """One page of the course.

    `inputs` is the param class that holds its state, and `readings` the pure function from what
    those inputs stand for (by name; numbers may be arrays) to a number for each name in `outputs`,
    and to whatever else its figures draw.
    `facts` returns the text's constants anew at each call. `text` is the Markdown file. `measured`
    returns what others measured, `validate` holds a file of it against the plate, and `measure` has
    the scripts that make one. What may be `brought`, the lab takes.
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
    measured: Callable[[], tuple[Measured, ...]] = tuple
    validate: Callable[..., Any] | None = None
    brought: tuple[Brought, ...] = ()
    measure: Scripts | None = None

    @property
    def scripts(self) -> dict[str, str]:
        """Each script that measures, by its address beside the plate's page."""
        found = self.measure
        return {f"{self.id}/measure/{it}.py": found.of(it) for it in found.those} if found else {}

    @property
    def words(self) -> Path:
        """The file of the plate's words, beside its text."""
        return self.text.with_name("words.toml")

    @property
    def snippet(self) -> Path:
        """The file of the code that computes the readings again, with {names} of inputs in it."""
        return self.text.with_name("snippet.txt")

    def read(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return every reading at the inputs, which may be arrays: SI units, shares 0 to 1.

        Inputs that are not given are at their defaults. Numbers are made float64 first, as they are
        in the browser.
        """
        return dict(self.readings(**self.given(inputs)))

    def given(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the readings get of each input; those left out are at their defaults."""
        known, state = inputs_of(self.inputs), {**values(self.inputs), **inputs}
        found = {}
        for name, it in known.items():
            by = it.options[state[name]].given_by if it.kind == "choice" else ""
            if it.kind != "rows":
                found[name] = known[by or name].for_readings(state[by or name])
        return found

    def drawn(self, **given: Any) -> dict[str, Any]:
        """Return the readings, and what each figure draws of them, by the figure's id and a name.

        What is `given` is what the readings get of each input.
        """
        readings = self.readings(**given)
        places = {
            f"{figure.id}.{name}": it
            for figure in self.figures
            for name, it in figure.drawn(readings, given).items()
        }
        return {**readings, **places}

    def followed(self, figure: Curves, **given: Any) -> dict[str, Any]:
        """Return the readings that the figure draws along its input."""
        readings = self.readings(**given)
        return {name: readings[name] for name in figure.shows}

    def shown(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return all numbers of the page at the inputs: `drawn`, and the curves of each figure."""
        given = self.given(inputs)
        found = self.drawn(**given)
        for figure in self.figures:
            if isinstance(figure, Curves):
                x = figure.stops["x"]
                along = self.followed(figure, **{**given, figure.input: x})
                at_stops = {name: np.broadcast_to(it, x.shape) for name, it in along.items()}
                found |= figure.named_curves(figure.stops | at_stops)
        return found

    def outcome(self, inputs: Mapping[str, Any]) -> dict[str, float]:
        """Return the `outputs` at the inputs, each one plain number."""
        readings = self.read(inputs)
        return {name: float(readings[name]) for name in self.outputs}

    def at(self, state: str) -> dict[str, Any]:
        """Return the inputs of a named state: the defaults, with what the state sets."""
        return {**values(self.inputs), **self.states[state].inputs}


def inputs_of(inputs: param.Parameterized | type[param.Parameterized]) -> dict[str, Any]:
    """Return the inputs' parameters by name, in the order in which they are declared."""
    return {name: inputs.param[name] for name in inputs.param if name != "name"}


def values(inputs: param.Parameterized | type[param.Parameterized]) -> dict[str, Any]:
    """Return the value of each input by name, as plain number or text; of a class the defaults."""
    return {name: it.plain(getattr(inputs, name)) for name, it in inputs_of(inputs).items()}


def update(inputs: param.Parameterized, changes: Mapping[str, Any]) -> None:
    """Set several inputs at once, all of them or none.

    Raises
    ------
    ValueError
        If a name is no input, or a value is not one that the input may have.
    """
    known = inputs_of(inputs)
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"{name} is no input; there is {', '.join(known)}")
        known[name].check(value)
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
