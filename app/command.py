"""The command `plates`: serve, read, export, validate, check."""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from app.check import faults
from app.export import export
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command."""
    parser = Parser(prog="plates", description="Explorable plates of a course on GPU kernels.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    it = commands.add_parser("serve", help="serve the plates to a browser")
    it.add_argument("--port", type=port, default=5006, help="0 for any that is free")
    it.add_argument("--address", default="127.0.0.1", help="where to listen")
    it.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="HOST",
        help="a host whose pages may open a session; may be given again",
    )
    it.add_argument(
        "--root-path",
        default="",
        metavar="PREFIX",
        help="a path under which a proxy shows the server",
    )
    it.add_argument(
        "--engine", choices=ENGINES, default="browser", help="where the readings are computed"
    )
    it.set_defaults(run=serve_command)

    it = commands.add_parser(
        "read",
        help="print a plate's readings",
        allow_abbrev=False,
        epilog=inputs_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    it.add_argument("plate")
    it.add_argument("--json", action="store_true", help="one JSON object, in SI base units")
    it.set_defaults(run=read_command)

    it = commands.add_parser("export", help="write the static site")
    it.add_argument("out", type=Path)
    it.add_argument("--force", action="store_true", help="replace a folder that is not an export")
    it.set_defaults(run=export_command)

    it = commands.add_parser("validate", help="hold a plate's model against published timings")
    it.add_argument("file", type=Path, metavar="FILE.csv")
    it.add_argument("--json", action="store_true", help="one JSON object, times in seconds")
    it.set_defaults(run=validate_command)

    it = commands.add_parser("check", help="validate every plate")
    it.set_defaults(run=check_command)

    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "read":
        fail(f"unknown option {rest[0]}")
    options.rest = rest
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing more is to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def port(text: str) -> int:
    """Return a port number."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError(text)
    return number


def serve_command(options: argparse.Namespace) -> None:
    """Serve until SIGINT or SIGTERM."""

    def started(running: Running) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, running.stop)
        print(running.url, flush=True)

    settings = {
        name: getattr(options, name)
        for name in ("port", "address", "allow_origin", "root_path", "engine")
    }
    try:
        asyncio.run(run(find_plates(), started, **settings))
    except (OSError, OverflowError, ValueError) as fault:
        fail(f"cannot serve at {options.address}:{options.port}: {fault}")


def read_command(options: argparse.Namespace) -> None:
    """Print the readings at a state."""
    plate = named(options.plate)
    inputs = plate.inputs()
    try:
        inputs.param.update(**asked(plate, options.rest))
    except ValueError as fault:
        fail(fault)
    state = values(inputs)
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


def named(name: str) -> Plate:
    """Return the plate of that name, or end with one line."""
    plates = find_plates()
    if name not in plates:
        fail(f"no plate is called {name!r}; there is {', '.join(plates)}")
    return plates[name]


def asked(plate: Plate, rest: Sequence[str]) -> dict[str, Any]:
    """Return the inputs given as --NAME VALUE or --NAME=VALUE.

    Raises
    ------
    ValueError
        If a name is unknown, a value is missing, or it is not one that the input may have.
    """
    known = inputs_of(plate.inputs)
    words = [part for word in rest for part in (word.split("=", 1) if word[:2] == "--" else [word])]
    given: dict[str, Any] = {}
    for option, value in zip(words[::2], [*words[1::2], None], strict=False):
        name = option.removeprefix("--")
        if name == option or name not in known:
            raise ValueError(f"{option!r} is no input of {plate.id}; there is {', '.join(known)}")
        if value is None:
            raise ValueError(f"{option} needs a value, {known[name].range_text}")
        if name in given:
            raise ValueError(f"{option} is given twice")
        given[name] = known[name].parse(value)
    return given


def export_command(options: argparse.Namespace) -> None:
    """Write the static site."""
    try:
        export(find_plates(), options.out, force=options.force)
    except OSError as fault:
        fail(fault)


def validate_command(options: argparse.Namespace) -> None:
    """Print what the model says of each timing; a line on stderr for each that cannot be read."""
    validate = next(plate.validate for plate in find_plates().values() if plate.validate)
    try:
        report = validate(options.file)
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


def check_command(options: argparse.Namespace) -> None:
    """Print one line a fault; exit status 1 if there is any."""
    try:
        found = [fault for plate in find_plates().values() for fault in faults(plate)]
    except Exception as fault:
        found = [f"a plate cannot be read: {type(fault).__name__}: {fault}"]
    print("\n".join(found or ["every plate is sound"]))
    if found:
        raise SystemExit(1)
