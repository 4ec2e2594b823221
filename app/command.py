"""The command `plates`: serve, read, export, validate, measure, check."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import Any, NoReturn

from app.check import faults
from app.export import export as write_site
from app.server import ENGINES, Running, run
from model.cost import LAUNCHES
from plates.formats import FORMATS, formatted
from plates.plate import Brought, Plate, find_plates, inputs_of, values


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the message and exit status 2."""
        fail(message)


def fail(message: object) -> NoReturn:
    """End with one line on stderr and exit status 2."""
    print(f"plates: {message}", file=sys.stderr)
    raise SystemExit(2)


def serve(address: str, port: int, **settings: Any) -> None:
    """Serve the plates to a browser until SIGINT or SIGTERM."""

    def started(running: Running) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, running.stop)
        print(running.url, flush=True)

    try:
        asyncio.run(run(find_plates(), started, address=address, port=port, **settings))
    except (OSError, ValueError) as fault:
        fail(f"cannot serve at {address}:{port}: {fault}")


def read(plate: str, rest: Sequence[str], json: bool) -> None:
    """Print a plate's readings at a state."""
    plates = find_plates()
    if plate not in plates:
        fail(f"no plate is called {plate!r}; there is {', '.join(plates)}")
    it = plates[plate]
    changes, files = asked(it, rest)
    state = {**values(it.inputs), **changes}
    told = {brought.id: taken_in(brought, file, state) for brought, file in files}
    if json:
        print(dumps({"inputs": state, "readings": it.outcome(state), **told}))
        return
    for said in told.values():
        print(*said, sep="\n", end="\n\n")
    lines = [*_table(it, state)]
    width = max(len(label) for label, _ in lines)
    for label, text in lines:
        print(f"{label:{width}}  {text}")


def _table(plate: Plate, state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the label and text of each input that can be set at the state, and of each reading."""
    for name, it in inputs_of(plate.inputs).items():
        if all(state[other] == value for other, value in it.when.items()):
            yield it.label, it.text(state[name])
    readings = plate.outcome(state)
    for name, reading in plate.outputs.items():
        yield reading.label, formatted(readings[name], FORMATS[reading.format])


def taken_in(brought: Brought, file: str, state: dict[str, Any]) -> list[str]:
    """Set in the state what follows from a file, and return in sentences what that is."""
    try:
        found = brought.read(Path(file).read_bytes(), file, state)
    except OSError as fault:
        fail(f"{file}: {fault.strerror}")
    except ValueError as fault:
        fail(fault)
    state |= found.inputs
    return list(found.told)


def asked(
    plate: Plate, arguments: Sequence[str]
) -> tuple[dict[str, Any], list[tuple[Brought, str]]]:
    """Return the inputs given as --NAME VALUE, and what is brought with the name of its file.

    Ends with one line that says what is wrong.
    """
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS)
    known = inputs_of(plate.inputs)
    files = {it.id: it for it in plate.brought}
    for name in (*known, *files):
        parser.add_argument(f"--{name}", action="append", nargs="?")
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        fail(f"{unknown[0]!r} is no input of {plate.id}; there is {', '.join((*known, *files))}")
    for name, texts in vars(given).items():
        if None in texts:
            fail(f"--{name} needs a value, {known[name].range_text if name in known else 'a file'}")
        if len(texts) > 1:
            fail(f"--{name} is given twice")
    each = {name: text for name, (text,) in vars(given).items()}
    try:
        changes = {name: known[name].parse(text) for name, text in each.items() if name in known}
    except ValueError as fault:
        fail(fault)
    return changes, [(it, each[name]) for name, it in files.items() if name in each]


def export(out: Path, force: bool) -> None:
    """Write the static site."""
    try:
        write_site(find_plates(), out, force=force)
    except OSError as fault:
        fail(fault)


def validate(
    file: Path, json: bool, launch: str, overhead: float, timer: float | None, **said: str | None
) -> None:
    """Print what the model says of each published timing; on stderr, of those it cannot read."""
    validated = next(plate.validate for plate in find_plates().values() if plate.validate)
    timer_s = None if timer is None else timer * 1e-6
    told: dict[str, Any] = {"launch": launch, "overhead_s": overhead * 1e-6, "timer_s": timer_s}
    told["said"] = {name: text for name, text in said.items() if text is not None}
    if sys.stderr.isatty():
        told["progress"] = lambda rows: print(
            f"\rplates: {rows} rows read", end="", file=sys.stderr, flush=True
        )
    try:
        report = validated(file, **told)
        if "progress" in told:
            print(file=sys.stderr)
    except OSError as fault:
        fail(f"{file}: {fault.strerror}")
    except ValueError as fault:
        fail(fault)
    for line in report.first_faults:
        print(f"plates: {line}", file=sys.stderr)
    sys.stdout.writelines(report.json() if json else [report.text()])
    print()
    if report.table.empty:
        why = "; ".join(f"{count} × {reason}" for reason, count in report.unpriced.items())
        fail(f"nothing in {file} could be priced: {why or 'it has no rows'}")


def measure(chain: str) -> None:
    """Print the script that times a chain on a GPU, as a file that `validate` reads."""
    measured = next(plate.measure for plate in find_plates().values() if plate.measure)
    try:
        print(measured.of(chain), end="")
    except ValueError as fault:
        fail(fault)


def check() -> None:
    """Validate every plate: one line a fault, and exit status 1 if there is any."""
    try:
        found = [fault for plate in find_plates().values() for fault in faults(plate)]
    except Exception as fault:
        found = [f"a plate cannot be read: {type(fault).__name__}: {fault}"]
    print("\n".join(found or ["every plate is sound"]))
    if found:
        raise SystemExit(1)


def microseconds(text: str) -> float:
    """Return a time that is given in µs."""
    try:
        if 0 <= (found := float(text)) <= 1e6:
            return found
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1e6, in µs")


MICROSECONDS: dict[str, Any] = {"type": microseconds, "metavar": "µs"}
FLAG: dict[str, Any] = {"action": "store_true"}
MANY: dict[str, Any] = {"action": "append", "default": []}
JSON = FLAG | {"help": "one JSON object, in SI units"}
COMMANDS: dict[Callable[..., None], dict[str, Any]] = {
    serve: {
        "--port": {"type": int, "default": 5006, "help": "0 for any that is free"},
        "--address": {"default": "127.0.0.1", "help": "where to listen"},
        "--allow-origin": MANY | {"metavar": "HOST", "help": "a host whose pages may join it"},
        "--root-path": {"default": "", "metavar": "PREFIX", "help": "where a proxy shows it"},
        "--engine": {"choices": ENGINES, "default": "browser", "help": "what computes"},
    },
    read: {"plate": {}, "--json": JSON},
    export: {"out": {"type": Path}, "--force": FLAG | {"help": "replace what no export wrote"}},
    validate: {
        "file": {"type": Path, "metavar": "FILE.csv"},
        "--json": JSON,
        "--launch": {"choices": LAUNCHES, "default": "stream", "help": "how kernels are launched"},
        "--overhead": MICROSECONDS | {"default": 0.0, "help": "host's time a launch; else ahead"},
        "--timer": MICROSECONDS | {"help": "what the timer measures of itself; else 2.9"},
        "--gpu": {"help": "of all rows, where the file does not say it; so the next:"},
        "--operation": {},
        "--variant": {"help": "or PROVIDER=VARIANT,… where providers have columns"},
        "--dtype": {},
        "--rows": {"help": "a number, or the column that has it"},
        "--cols": {"help": "likewise"},
        "--values": {"help": "likewise"},
        "--unit": {"help": "of the times: s, ms, us, ns or GB/s"},
        "--bytes": {"help": "a value, as the benchmark counted them for its GB/s"},
    },
    measure: {"chain": {"metavar": "CHAIN"}},
    check: {},
}
"""Each command, and what argparse is to know of what it takes: the function's own arguments."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command."""
    options, rest = commands().parse_known_args(arguments)
    takes = vars(options)
    does = takes.pop("does")
    if does is read:
        takes["rest"] = rest
    elif rest:
        fail(f"unknown option {rest[0]}")
    try:
        does(**takes)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing more is to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def commands() -> Parser:
    """Return the parser of all commands. What `read` does not know is for its plate's own."""
    parser = Parser(prog="plates", description="Explorable plates of a course on GPU kernels.")
    added = parser.add_subparsers(required=True, metavar="COMMAND")
    for does, takes in COMMANDS.items():
        it = added.add_parser(
            does.__name__,
            help=does.__doc__,
            allow_abbrev=does is not read,
            epilog=inputs_help() if does is read else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for option, settings in takes.items():
            it.add_argument(option, **settings)
        it.set_defaults(does=does)
    return parser


def inputs_help() -> str:
    """Return what may be set, plate by plate, a line an input."""
    lines = []
    # What is wrong with a plate is said by the command itself, or by `plates check`.
    with suppress(Exception):
        for plate in find_plates().values():
            lines.append(f"\ninputs of {plate.id}:")
            for name, it in inputs_of(plate.inputs).items():
                lines.append(f"  --{name:10} {it.range_text}")
            lines += [f"  --{it.id:10} a file: {it.label}" for it in plate.brought]
    return "\n".join(lines).strip()
