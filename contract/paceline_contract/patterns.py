"""Matches the patterns of a suite manifest with RE2, in time linear in the text.

Anybody may have written a manifest, so a pattern must stall neither agent nor server. Patterns are Python's: each is
checked by `re` and translated to RE2's syntax with the same meaning. Patterns without a linear match (back-references,
look-around) are refused.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import re2

MAX_LENGTH = 500
"""Characters of a pattern."""
MAX_STEPS = 500
"""Characters a pattern may match after its repetitions are written out; RE2's own limit is 1,000."""
MAX_DEPTH = 20
"""Groups inside groups."""
MAX_MEMORY_BYTES = 64 * 1024 * 1024
r"""The memory that RE2 may use for one pattern; `\w` 500 times takes about half of it."""

_SETS = {
    r"\d": r"\p{Nd}",
    r"\w": r"\p{L}\p{N}_",
    r"\s": r"\t-\r\x1c-\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
}
"""Python's character sets in RE2's syntax."""
_CHARACTER = re.compile(
    r"\\(?:[dwsDWSntrfva]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])"
    r"|[^\\\[\](){}|*+?^$]|[{}\]]",
    re.DOTALL,
)
_CLASS = re.compile(r"\[(\^?)(\]?(?:\\.|[^\]\\])*)\]", re.DOTALL)
_CLASS_ITEM = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|.",
    re.DOTALL,
)
_ANCHOR = re.compile(r"\^|\$|\\A|\\Z")
_GROUP = re.compile(r"\((?:\?:|\?P<(\w+)>|(?!\?))")
_REPETITION = re.compile(r"(?:([*+?])|\{(\d+)\}|\{(\d*),(\d*)\})(\??)")

_ESCAPES = dict(zip("ntrfvab", "\n\t\r\f\v\a\b", strict=True))

Ranges = list[tuple[int, int]]
"""Code points, first and last of each run, in order."""


class PatternError(Exception):
    """The pattern cannot be used; the text says why."""


class Pattern:
    """A compiled pattern."""

    def __init__(self, expression: str) -> None:
        options = re2.Options()
        options.max_mem = MAX_MEMORY_BYTES
        options.log_errors = False
        try:
            self._compiled = re2.compile(expression, options)
        except re2.error as error:
            raise PatternError(f"RE2 does not take it: {error}") from None

    @property
    def names(self) -> list[str]:
        """Return the names of its groups, in their order."""
        return sorted(self._compiled.groupindex, key=self._compiled.groupindex.get)

    def matches(self, text: str) -> bool:
        """Return whether all of `text` matches."""
        return self.find_groups(text) is not None

    def find_groups(self, text: str) -> dict[str, str | None] | None:
        """Return the texts of the named groups, None for one that has no part in it; None unless all of `text` matches."""
        try:
            match = self._compiled.fullmatch(text)
        except UnicodeEncodeError:  # a lone surrogate is no text
            return None
        return None if match is None else match.groupdict()


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern. Raises `PatternError`."""
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"longer than {MAX_LENGTH} characters")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"not a regular expression: {error}") from None
    translator = _Translator(pattern)
    expression, _ = translator.alternatives(0)
    if translator.at < len(pattern):
        raise translator.unsupported()
    return Pattern(expression)


def pattern_problem(pattern: str) -> str | None:
    """Return why a pattern cannot be used, or None."""
    try:
        compile_pattern(pattern)
    except PatternError as error:
        return str(error)
    return None


class _Translator:
    """Rewrites a pattern that `re` accepts for RE2, left to right; each part with its number of steps."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def unsupported(self) -> PatternError:
        part = self.pattern[self.at : self.at + 6]
        return PatternError(
            f"{part!r} at character {self.at + 1} is not supported: use characters, classes, groups, |, * + "
            "? and {m,n}; no back-references, no look-around, no flags, so that matching takes linear time"
        )

    def alternatives(self, depth: int) -> tuple[str, int]:
        expressions, steps = [], 0
        while True:
            expression, more = self._sequence(depth)
            expressions.append(expression)
            steps = _check_size(steps + more)
            if not self.pattern.startswith("|", self.at):
                return "|".join(expressions), steps
            self.at += 1

    def _sequence(self, depth: int) -> tuple[str, int]:
        expressions, steps = [], 0
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            expression, more = self._read_repetition(*self._item(depth))
            expressions.append(expression)
            steps = _check_size(steps + more)
        return "".join(expressions), steps

    def _item(self, depth: int) -> tuple[str, int]:
        if anchor := self._take(_ANCHOR):
            return (r"\A" if anchor[0] in ("^", r"\A") else r"\z"), 0
        if group := self._take(_GROUP):
            if depth >= MAX_DEPTH:
                raise PatternError(f"more than {MAX_DEPTH} groups inside each other")
            expression, steps = self.alternatives(depth + 1)
            if not self.pattern.startswith(")", self.at):
                raise self.unsupported()
            self.at += 1
            kind = "?:" if group[1] is None else f"?P<{group[1]}>"
            return f"({kind}{expression})", steps
        if char_class := self._take(_CLASS):
            return _class(*char_class.groups()), 1
        if character := self._take(_CHARACTER):
            text = character[0]
            if text.lower() in _SETS:
                return _class("^" if text[1].isupper() else "", text.lower()), 1
            return ("." if text == "." else _escape(_code_point(text))), 1
        raise self.unsupported()

    def _read_repetition(self, expression: str, steps: int) -> tuple[str, int]:
        if self.pattern.startswith("{,}", self.at):
            raise self.unsupported()
        repetition = self._take(_REPETITION)
        if repetition is None:
            return expression, steps
        if self.pattern.startswith(("*", "+", "?"), self.at):
            raise self.unsupported()
        sign, exact, low, high, lazy = repetition.groups()
        if sign is None:
            times = [int(number) for number in (exact, low, high) if number]
            if times and max(times) > MAX_STEPS:
                raise _too_large()
            steps = _check_size(max([1, *times]) * max(1, steps))
            sign = f"{{{exact}}}" if exact else f"{{{low or 0},{high}}}"
        return f"(?:{expression}){sign}{lazy}", steps

    def _take(self, expected: re.Pattern[str]) -> re.Match[str] | None:
        match = expected.match(self.pattern, self.at)
        self.at = self.at if match is None else match.end()
        return match


def _class(negation: str, content: str) -> str:
    """Return a class of Python's syntax in RE2's; sets (`\\w`) hold all of Unicode, as in Python."""
    items = _CLASS_ITEM.findall(content)
    if any(item in (r"\D", r"\W", r"\S") for item in items):
        # Sums of complements are no part of RE2's syntax, so they are counted out.
        ranges = _union(_class_ranges(items))
        if negation:
            ranges = _complement(ranges)
        members = "".join(_range(first, last) for first, last in ranges)
        return f"[{members}]" if members else r"[^\x{0}-\x{10FFFF}]"
    return f"[{negation}{''.join(_class_members(items))}]"


def _class_members(items: list[str]) -> Iterator[str]:
    """Yield the members of a class without complements, each in RE2's syntax."""
    for item in items:
        if item in _SETS:
            yield _SETS[item]
    plain = [item for item in items if item not in _SETS]
    yield from (_range(first, last) for first, last in _class_ranges(plain))


def _class_ranges(items: list[str]) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(items):
        if items[at].lower() in _SETS:
            yield from _members(items[at])
        elif items[at + 1 : at + 2] == ["-"] and at + 2 < len(items):
            yield _code_point(items[at]), _code_point(items[at + 2])
            at += 2
        else:
            yield _code_point(items[at]), _code_point(items[at])
        at += 1


@cache
def _members(set_escape: str) -> Ranges:
    """Return the characters that `\\d`, `\\w` or `\\s` matches in Python, over all of Unicode."""
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    runs = re.finditer(f"{set_escape}+", characters)
    return [(run.start(), run.end() - 1) for run in runs]


def _union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    joined: Ranges = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _complement(ranges: Ranges) -> Ranges:
    gaps: Ranges = []
    start = 0
    for first, last in ranges:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    return gaps if start > sys.maxunicode else [*gaps, (start, sys.maxunicode)]


def _code_point(text: str) -> int:
    r"""Return the code point of one character as a pattern writes it: `a`, `\n`, `\x61`, `\.`."""
    if len(text) == 1:
        return ord(text)
    kind, digits = text[1], text[2:]
    if kind == "N":
        return ord(unicodedata.lookup(digits[1:-1]))
    if kind in "xuU":
        return int(digits, 16)
    if kind.isdecimal():
        return int(text[1:], 8)
    return ord(_ESCAPES.get(kind, kind))


def _escape(code_point: int) -> str:
    return rf"\x{{{code_point:X}}}"


def _range(first: int, last: int) -> str:
    return f"{_escape(first)}-{_escape(last)}"


def _check_size(steps: int) -> int:
    if steps > MAX_STEPS:
        raise _too_large()
    return steps


def _too_large() -> PatternError:
    return PatternError(f"its repetitions come to more than {MAX_STEPS} steps")
