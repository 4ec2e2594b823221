"""Inputs that are picked from a list: one of several, or any number of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import param

from plates.words import COMMON, words


@dataclass(frozen=True)
class Option:
    """One thing to pick: its label and heading, what the readings get for it, and what it is."""

    label: str
    record: Any = None
    group: str = ""
    doc: str = ""


class Choice(param.Parameter):
    """One of several options, by its id.

    `when` says at which value of which other input there is anything to choose, and a `more` input
    stands behind a fold.
    """

    __slots__ = ["more", "options", "when"]

    kind = "choice"

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
        if not isinstance(value, str) or value not in self.options:
            raise ValueError(f"{self.name} = {value!r} is not {self.range_text}")

    def plain(self, value: Any) -> str:
        """Return the value as plain text."""
        return str(value)

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


class Flags(param.Parameter):
    """Any number of options, as their ids joined by commas, or "none".

    `record` is the dataclass that the readings get, with a truth for each option.
    """

    __slots__ = ["more", "options", "record", "when"]

    kind = "flags"

    def __init__(
        self,
        *,
        options: Mapping[str, Option],
        record: type,
        when: Mapping[str, str] | None = None,
        more: bool = True,
        **settings: Any,
    ) -> None:
        self.options = options
        self.record = record
        self.when = when or {}
        self.more = more
        super().__init__(default=",".join(options), **settings)

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        self.check(val)

    def check(self, value: Any) -> None:
        """Raise ValueError, naming the input, the value and the options, if it may not be this."""
        if not isinstance(value, str) or value != self._joined(value):
            raise ValueError(f"{self.name} = {value!r} is not {self.range_text}")

    def _joined(self, text: str) -> str:
        """Return the options named in the text, each once and in their own order."""
        return ",".join(it for it in self.options if it in self._words(text)) or "none"

    @staticmethod
    def _words(text: str) -> list[str]:
        return [word.strip() for word in text.split(",")]

    def plain(self, value: Any) -> str:
        """Return the value as plain text."""
        return str(value)

    def parse(self, text: str) -> str:
        """Return the value that a typed text stands for: options in any order, or none.

        Raises
        ------
        ValueError
            Naming the input, the text and the options, if a part of it is none of them.
        """
        words = self._words(text)
        if words != ["none"] and not set(words) <= set(self.options):
            raise ValueError(f"{self.name} = {text!r} is not {self.range_text}")
        return self._joined(text)

    def seen(self, value: str) -> Any:
        """Return what the readings get: the record, with what is on."""
        return self.record(**{name: name in self._words(value) for name in self.options})

    def text(self, value: str) -> str:
        """Return the value as shown and spoken."""
        on = [self.options[it].label for it in self._words(value) if it in self.options]
        return ", ".join(on) or "none"

    @property
    def range_text(self) -> str:
        """What may be set, in words: the end of an error message."""
        return words(COMMON)["range_some"].format(options=", ".join(self.options))
