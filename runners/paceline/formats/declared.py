"""The types shared by importers: declared lines, the records read from them, and problems.

A line that looks like a declared one is never dropped without a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class ConsistencyCheck(msgspec.Struct, frozen=True):
    """Whether two figures of a line agree within their rounding; `ok` None: unknown."""

    name: str
    ok: bool | None
    text: str


class LogRecord(msgspec.Struct, frozen=True):
    """One line that was read. `line` counts from 1; `text` is the line as it came."""

    line: int
    pattern: str
    origin: LogOrigin
    fields: dict[str, Value]
    checks: list[ConsistencyCheck]
    text: str = ""


class LineProblem(msgspec.Struct, frozen=True):
    """One line that looks like a declared one but differs, or that cannot be decoded."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Line:
    """A declared line. A message that begins with `marker` and has `tag`, or contains `word`, must match
    `template`; otherwise it is a problem."""

    name: str
    tag: str
    marker: str
    word: str
    template: Template
    check: Callable[[Mapping[str, Value]], list[ConsistencyCheck]]

    def claims(self, tag: str | None, message: str) -> bool:
        return message.startswith(self.marker) and (
            tag == self.tag or self.word in message
        )


NEVER = "\0"
"""The `word` of lines that are recognised by their tag only; no readable line contains it."""


def declared_line(name: str, tag: str, text: str) -> Line:
    """A line that a suite declares, recognised by its tag and the text before its first field. Its fields are
    not checked against each other, because only the app knows what they mean."""
    marker = text.partition("{")[0].rstrip()
    return Line(
        name=name,
        tag=tag,
        marker=marker,
        word=NEVER,
        template=Template(text),
        check=lambda _: [],
    )


def count_of(values: Mapping[str, Value], name: str) -> int:
    """The value of a field of kind `count`."""
    value = values[name]
    assert isinstance(value, int)  # noqa: S101 - the template decided it
    return value


def quantity_of(values: Mapping[str, Value], name: str) -> PrintedNumber:
    """The value of a field of kind `duration`, `size` or `rate`."""
    value = values[name]
    assert isinstance(value, PrintedNumber)  # noqa: S101 - the template decided it
    return value
