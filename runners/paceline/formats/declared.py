"""The types shared by importers: declared lines, the records read from them, and problems.

Every line that resembles a declared one becomes a record or a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from paceline_contract.items import PrintedNumber

from paceline.formats.templates import Template, Value


class LogOrigin(msgspec.Struct, frozen=True, omit_defaults=True):
    """The origin that a log line states. `logged_at` is kept as printed, because most logs have no year."""

    logged_at: str | None = None
    level: str | None = None
    tag: str | None = None
    pid: int | None = None
    tid: int | None = None


class LogRecord(msgspec.Struct, frozen=True):
    """One line that was read. `line` counts from 1; `text` is the line as it came."""

    line: int
    pattern: str
    origin: LogOrigin
    fields: dict[str, Value]
    text: str = ""


class LineProblem(msgspec.Struct, frozen=True):
    """One line that looks like a declared one but differs, or that cannot be decoded."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a suite declares. A message with `tag` that begins with `marker` must match `template`; otherwise it
    is a problem."""

    name: str
    tag: str
    marker: str
    template: Template

    def claims(self, tag: str | None, message: str) -> bool:
        """Return whether a message must match this declaration."""
        return tag == self.tag and message.startswith(self.marker)


def declared_line(name: str, tag: str, text: str) -> Line:
    """Return the line that a suite declares. Its marker is the text before its first field."""
    return Line(name, tag, text.partition("{")[0].rstrip(), Template(text))


def count_of(values: Mapping[str, Value], name: str) -> int:
    """Return the value of a field of kind `count`."""
    value = values[name]
    assert isinstance(value, int)  # noqa: S101 - the template decided it
    return value


def quantity_of(values: Mapping[str, Value], name: str) -> PrintedNumber:
    """Return the value of a field of kind `duration`, `size` or `rate`."""
    value = values[name]
    assert isinstance(value, PrintedNumber)  # noqa: S101 - the template decided it
    return value
