"""Inputs that are picked from a list: one of several, or any number of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import param

from plates.words import COMMON, words


@dataclass(frozen=True)
class Option:
    """One thing to pick: its label and heading, what the readings get for it, and what it is."""

    label: str
    record: Any = None
    group: str = ""
    doc: str = ""


class Picked(param.Parameter):
    """What choices and flags share: options by their ids, and when there is anything to pick.

    `when` says at which value of which other input that is; a `more` input stands behind a fold.
    """

    __slots__ = ["more", "options", "when"]

    def __init__(
        self,
        default: str,
        *,
        options: Mapping[str, Option],
        when: Mapping[str, str] | None = None,
        more: bool = True,
        **settings: Any,
    ) -> None:
        self.options = options
        self.when = when or {}
        self.more = more
        super().__init__(default=default, **settings)

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        self.check(val)

    def check(self, value: Any) -> None:
        """Raise ValueError, naming the input, the value and the options, if it may not be this."""
        if not isinstance(value, str) or not self._may_be(value):
            self.refuse(value)

    def _may_be(self, value: str) -> bool:
        raise NotImplementedError

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        raise NotImplementedError

    def refuse(self, value: Any) -> NoReturn:
        """Raise ValueError, naming the input, the value and the options."""
        raise ValueError(f"{self.name} = {value!r} is not {self.range_text}")

    def plain(self, value: Any) -> str:
        """Return the value as plain text."""
        return str(value)


class Choice(Picked):
    """One of several options, by its id."""

    __slots__ = []

    kind = "choice"

    def _may_be(self, value: str) -> bool:
        return value in self.options

    def parse(self, text: str) -> str:
        """Return the value that a typed text stands for.

        Raises
        ------
        ValueError
            Naming the input, the text and the options, if it is none of them.
        """
        self.check(text)
        return text

    def seen(self, value: str) -> Any:
        """Return what the readings get: the option's record."""
        return self.options[value].record

    def text(self, value: str) -> str:
        """Return the value as shown and spoken."""
        return self.options[value].label

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        return words(COMMON)["range_one"].format(options=", ".join(self.options))


class Flags(Picked):
    """Any number of options, as their ids joined by commas, or "none"; all of them by default.

    `record` is the dataclass that the readings get, with a truth for each option.
    """

    __slots__ = ["record"]

    kind = "flags"

    def __init__(self, *, options: Mapping[str, Option], record: type, **settings: Any) -> None:
        self.record = record
        super().__init__(",".join(options), options=options, **settings)

    def _may_be(self, value: str) -> bool:
        return value == self._joined(_parts(value))

    def _joined(self, named: Sequence[str]) -> str:
        """Return the options that are named, each once and in their own order."""
        return ",".join(it for it in self.options if it in named) or "none"

    def parse(self, text: str) -> str:
        """Return the value that a typed text stands for: options in any order, or none.

        Raises
        ------
        ValueError
            Naming the input, the text and the options, if a part of it is none of them.
        """
        named = _parts(text)
        if named != ["none"] and not set(named) <= set(self.options):
            self.refuse(text)
        return self._joined(named)

    def seen(self, value: str) -> Any:
        """Return what the readings get: the record, with what is on."""
        return self.record(**{name: name in _parts(value) for name in self.options})

    def text(self, value: str) -> str:
        """Return the value as shown and spoken."""
        on = [self.options[it].label for it in _parts(value) if it in self.options]
        return ", ".join(on) or "none"

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        return words(COMMON)["range_some"].format(options=", ".join(self.options))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
