"""Matches a line against a declared template such as `Batch {batch:count}: {arm:name} avg={avg:duration}`.

Matching never backtracks, so it costs at most the length of the line. A mismatch names the character and what was
expected there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from paceline_contract.items import PrintedNumber

from paceline.formats.quantity import (
    DURATION,
    RATE,
    SIZE,
    UnreadableError,
    count_at,
    quantity_at,
)

Value = int | str | PrintedNumber

MAX_TEXT = 200
"""The largest number of characters in a `text` field, such as a device's name."""

_PART = re.compile(r"\{([a-z_]+):([a-z]+)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_BLANK = re.compile(r"[ \t]+")
UNITS = {"duration": DURATION, "size": SIZE, "rate": RATE}
KINDS = frozenset({"count", "name", "text", *UNITS})


class MismatchError(Exception):
    """The line does not match the template. `at` counts characters from 0."""

    def __init__(self, at: int, expected: str, text: str) -> None:
        rest = text[at : at + 24]
        part = repr(rest) if rest.strip() else "the end of the line"
        super().__init__(f"expected {expected}, found {part} at character {at + 1}")
        self.at = at


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Literal:
    text: str
    pattern: re.Pattern[str]


class Template:
    """A compiled template. A blank in it matches one or more blanks in a line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts: list[_Field | _Literal] = []
        at = 0
        for part in _PART.finditer(text):
            self._add_literal(text[at : part.start()])
            if part.group(2) not in KINDS:
                raise ValueError(f"{text!r}: there is no kind {part.group(2)!r}")
            self._parts.append(_Field(part.group(1), part.group(2)))
            at = part.end()
        self._add_literal(text[at:])

    def read(self, text: str) -> dict[str, Value]:
        """Return the fields of a line. Raises MismatchError."""
        values: dict[str, Value] = {}
        at = 0
        for index, part in enumerate(self._parts):
            if isinstance(part, _Literal):
                match = part.pattern.match(text, at)
                if match is None:
                    raise _mismatch_with_literal(part.text, text, at)
                at = match.end()
                continue
            try:
                values[part.name], at = self._read_field(part.kind, index, text, at)
            except UnreadableError as error:
                raise MismatchError(
                    at, f"{error.expected} ({part.name})", text
                ) from None
        if text[at:].strip():
            raise MismatchError(at, "the end of the line", text)
        return values

    def _add_literal(self, text: str) -> None:
        if text:
            words = (re.escape(word) for word in _BLANK.split(text))
            self._parts.append(_Literal(text, re.compile("[ \t]+".join(words))))

    def _read_field(
        self, kind: str, index: int, text: str, at: int
    ) -> tuple[Value, int]:
        match kind:
            case "count":
                return count_at(text, at)
            case "duration" | "size" | "rate":
                return quantity_at(text, at, UNITS[kind])
            case "name":
                match = _NAME.match(text, at)
                if match is None:
                    raise UnreadableError("a name of letters, digits, _ and -")
                return match.group(), match.end()
            case _:
                return self._read_text(index, text, at)

    def _read_text(self, index: int, text: str, at: int) -> tuple[str, int]:
        """Read up to the literal that follows, which must come within MAX_TEXT characters."""
        following = self._parts[index + 1] if index + 1 < len(self._parts) else None
        if not isinstance(following, _Literal):
            end = len(text)
        else:
            match = following.pattern.search(
                text, at, at + MAX_TEXT + len(following.text)
            )
            if match is None:
                raise UnreadableError(
                    f"text of at most {MAX_TEXT} characters before {following.text!r}"
                )
            end = match.start()
        value = text[at:end].strip()
        if end - at > MAX_TEXT or not value or not value.isprintable():
            raise UnreadableError(f"text of 1 to {MAX_TEXT} printable characters")
        return value, end


def _mismatch_with_literal(literal: str, text: str, at: int) -> MismatchError:
    """Return the error at the first character where `text` differs from `literal`."""
    for index, char in enumerate(literal):
        if char == " " and (blank := _BLANK.match(text, at)) is not None:
            at = blank.end()
        elif text[at : at + 1] == char:
            at += 1
        else:
            return MismatchError(at, repr(literal[index:]), text)
    raise AssertionError("the text matches the literal")
