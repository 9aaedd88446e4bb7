"""The types shared by importers: declared lines, the records read from them, and problems.

Every record holds its line number and every inconsistency found inside its line. Nothing is dropped without a
problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from paceline.formats.quantity import Quantity
from paceline.formats.templates import Template, Value


class LogOrigin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a log line says it comes from. `logged_at` is kept as printed: most logs name no year."""

    logged_at: str | None = None
    level: str | None = None
    tag: str | None = None
    pid: int | None = None
    tid: int | None = None


class ConsistencyCheck(msgspec.Struct, frozen=True):
    """Whether two things a line says of itself agree within what printing hid; `ok` None: nobody can tell."""

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
    """One line that looks like a declared one and is not, or that could not be read at all."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Line:
    """A declared line. One with `tag`, or of another tag and with `word` in it, that begins with `marker`
    claims to be of this shape: if it then is not, that is a problem and no coincidence.
    """

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
"""In no line that can be read: a line that only its tag tells apart has this word."""


def declared_line(name: str, tag: str, text: str) -> Line:
    """A line a suite declares: its tag and the text before its first field say that it is one. Nothing inside
    it is checked, for nobody but the app knows what its fields mean to each other."""
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
    """A field its template reads as `count`."""
    value = values[name]
    assert isinstance(value, int)  # noqa: S101 - the template decided it
    return value


def quantity_of(values: Mapping[str, Value], name: str) -> Quantity:
    """A field its template reads as `duration`, `size` or `rate`."""
    value = values[name]
    assert isinstance(value, Quantity)  # noqa: S101 - the template decided it
    return value
