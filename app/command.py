"""The command `plates`: serve, read, export, validate, check."""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from app.check import faults
from app.export import export as write_site
from app.server import ENGINES, Running, run
from plates.formats import FORMATS, formatted
from plates.plate import Plate, find_plates, inputs_of, values

FAULTS_SHOWN = 20


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the message and exit status 2."""
        fail(message)


def fail(message: object) -> NoReturn:
    """End with one line on stderr and exit status 2."""
    print(f"plates: {message}", file=sys.stderr)
    raise SystemExit(2)


def serve(options: argparse.Namespace) -> None:
    """Serve the plates to a browser until SIGINT or SIGTERM."""

    def started(running: Running) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, running.stop)
        print(running.url, flush=True)

    names = ("port", "address", "allow_origin", "root_path", "engine")
    settings = {name: getattr(options, name) for name in names}
    try:
        asyncio.run(run(find_plates(), started, **settings))
    except (OSError, ValueError) as fault:
        fail(f"cannot serve at {options.address}:{options.port}: {fault}")


def read(options: argparse.Namespace) -> None:
    """Print a plate's readings at a state."""
    plates = find_plates()
    if options.plate not in plates:
        fail(f"no plate is called {options.plate!r}; there is {', '.join(plates)}")
    plate = plates[options.plate]
    state = {**values(plate.inputs()), **asked(plate, options.rest)}
    readings = plate.outcome(state)
    if options.json:
        print(json.dumps({"inputs": state, "readings": readings}))
        return
    lines = [
        (it.label, it.text(state[name]))
        for name, it in inputs_of(plate.inputs).items()
        if all(state[other] == value for other, value in it.when.items())
    ]
    lines += [
        (it.label, formatted(readings[name], FORMATS[it.format]))
        for name, it in plate.outputs.items()
    ]
    width = max(len(label) for label, _ in lines)
    for label, text in lines:
        print(f"{label:{width}}  {text}")


def asked(plate: Plate, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the inputs given as --NAME VALUE, or end with one line that says what is wrong."""
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS)
    known = inputs_of(plate.inputs)
    for name in known:
        parser.add_argument(f"--{name}", action="append", nargs="?")
    given, unknown = parser.parse_known_args(arguments)
    state = {}
    for name, texts in vars(given).items():
        if None in texts:
            fail(f"--{name} needs a value, {known[name].range_text}")
        if len(texts) > 1:
            fail(f"--{name} is given twice")
        try:
            state[name] = known[name].parse(texts[0])
        except ValueError as fault:
            fail(fault)
    if unknown:
        fail(f"{unknown[0]!r} is no input of {plate.id}; there is {', '.join(known)}")
    return state


def export(options: argparse.Namespace) -> None:
    """Write the static site."""
    try:
        write_site(find_plates(), options.out, force=options.force)
    except OSError as fault:
        fail(fault)


def validate(options: argparse.Namespace) -> None:
    """Print what the model says of each published timing; on stderr, of those it cannot read."""
    validated = next(plate.validate for plate in find_plates().values() if plate.validate)
    try:
        report = validated(options.file)
    except OSError as fault:
        fail(f"{options.file}: {fault.strerror}")
    except ValueError as fault:
        fail(fault)
    for line in report.faults[:FAULTS_SHOWN]:
        print(f"plates: {line}", file=sys.stderr)
    if more := len(report.faults[FAULTS_SHOWN:]):
        print(f"plates: and {more} faults more", file=sys.stderr)
    print(json.dumps(report.plain()) if options.json else report.text())
    if not report.priced:
        why = "; ".join(f"{count} × {reason}" for reason, count in report.unpriced.items())
        fail(f"nothing in {options.file} could be priced: {why or 'it has no rows'}")


def check(options: argparse.Namespace) -> None:
    """Validate every plate: one line a fault, and exit status 1 if there is any."""
    try:
        found = [fault for plate in find_plates().values() for fault in faults(plate)]
    except Exception as fault:
        found = [f"a plate cannot be read: {type(fault).__name__}: {fault}"]
    print("\n".join(found or ["every plate is sound"]))
    if found:
        raise SystemExit(1)


FLAG: dict[str, Any] = {"action": "store_true"}
MANY: dict[str, Any] = {"action": "append", "default": []}
JSON = FLAG | {"help": "one JSON object, in SI units"}
COMMANDS: dict[Callable[[argparse.Namespace], None], dict[str, Any]] = {
    serve: {
        "--port": {"type": int, "default": 5006, "help": "0 for any that is free"},
        "--address": {"default": "127.0.0.1", "help": "where to listen"},
        "--allow-origin": MANY | {"metavar": "HOST", "help": "a host whose pages may join it"},
        "--root-path": {"default": "", "metavar": "PREFIX", "help": "where a proxy shows it"},
        "--engine": {"choices": ENGINES, "default": "browser", "help": "what computes"},
    },
    read: {"plate": {}, "--json": JSON},
    export: {"out": {"type": Path}, "--force": FLAG | {"help": "replace what no export wrote"}},
    validate: {"file": {"type": Path, "metavar": "FILE.csv"}, "--json": JSON},
    check: {},
}
"""Each command, and what argparse is to know of what it takes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command."""
    options, rest = commands().parse_known_args(arguments)
    if rest and options.command != "read":
        fail(f"unknown option {rest[0]}")
    options.rest = rest
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing more is to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def commands() -> Parser:
    """Return the parser of all commands. What `read` does not know is for its plate's own."""
    parser = Parser(prog="plates", description="Explorable plates of a course on GPU kernels.")
    added = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    reading = {
        "allow_abbrev": False,
        "epilog": inputs_help(),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }
    for does, takes in COMMANDS.items():
        more: dict[str, Any] = reading if does is read else {}
        it = added.add_parser(does.__name__, help=does.__doc__, **more)
        for option, settings in takes.items():
            it.add_argument(option, **settings)
        it.set_defaults(run=does)
    return parser


def inputs_help() -> str:
    """Return what may be set, plate by plate, a line an input."""
    try:
        plates = find_plates().values()
    except Exception:
        # The command itself, or `plates check`, says what is wrong.
        return ""
    return "\n\n".join(
        f"inputs of {plate.id}:\n"
        + "\n".join(
            f"  --{name:10} {it.range_text}" for name, it in inputs_of(plate.inputs).items()
        )
        for plate in plates
    )
