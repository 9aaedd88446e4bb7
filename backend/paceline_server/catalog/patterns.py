"""Patterns of a manifest, matched in linear time: what an agent announced must not be able to stall a server.

Place: `catalog` refuses what it cannot run when a suite is announced, `jobs` matches params with it.
Invariant: matching costs at most len(text) × MAX_STEPS, whatever the pattern: every state is tried once per
character (Thompson 1968, as in RE2), nothing is tried again. Python's `re` decides what one character is. The
agent has its own twin, for neither imports the other; `native/protocol/vectors/patterns.golden.json` holds
both to the same answers. Deliberately knows no groups, back-references and look-around: a value matches as a
whole or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

MAX_LENGTH = 500
"""Characters of a pattern."""
MAX_STEPS = 500
"""Steps a pattern may compile to; `(a{100}){100}` is not worth its cost."""
MAX_DEPTH = 20
"""Groups inside groups."""

_ATOM = re.compile(
    r"\\(?:[dwsDWSntrfva]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|[^\\\[\](){}|*+?^$]|[{}\]]",
    re.DOTALL,
)
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_REPEAT = re.compile(r"(?:([*+?])|\{(\d+)\}|\{(\d*),(\d*)\})(\??)")


class PatternError(Exception):
    """The pattern cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a compiled pattern. `char`: consume one character · `fork`: go on at both · `start`,
    `end`: only there · `match`: the whole text was read."""

    kind: Literal["char", "fork", "start", "end", "match"]
    char: re.Pattern[str] | None = None
    to: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern."""

    steps: tuple[Step, ...]

    def matches(self, text: str) -> bool:
        """Whether all of `text` matches."""
        here = self._reach((0,), 0, len(text))
        for at, char in enumerate(text):
            moved = [
                index + 1
                for index in here
                if (one := self.steps[index].char) is not None
                and one.fullmatch(char) is not None
            ]
            if not moved:
                return False
            here = self._reach(moved, at + 1, len(text))
        return any(self.steps[index].kind == "match" for index in here)

    def _reach(
        self, starts: tuple[int, ...] | list[int], at: int, length: int
    ) -> set[int]:
        """Every step reachable from `starts` without consuming a character."""
        seen: set[int] = set()
        waiting = list(starts)
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            step = self.steps[index]
            if step.kind == "fork":
                waiting.extend(step.to)
            elif (step.kind == "start" and at == 0) or (
                step.kind == "end" and at == length
            ):
                waiting.append(index + 1)
        return seen


Code = list[Step]
"""Steps with targets relative to their own position, so that they can be put anywhere."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern:
    """Compile a pattern. Raises `PatternError`."""
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"longer than {MAX_LENGTH} characters")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"not a regular expression: {error}") from None
    reader = _Reader(pattern)
    code = reader.either(0)
    if reader.at < len(pattern):
        raise reader.unsupported()
    steps = [
        Step(step.kind, step.char, tuple(index + offset for offset in step.to))
        for index, step in enumerate(code)
    ]
    return Pattern((*steps, Step("match")))


class _Reader:
    """Reads a pattern that `re` accepts, from left to right, into code."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def unsupported(self) -> PatternError:
        found = self.pattern[self.at : self.at + 6]
        return PatternError(
            f"{found!r} at character {self.at + 1} is not supported: use characters, classes, groups, |, * + "
            "? and {m,n}; no back-references, no look-around, no flags, so that matching takes linear time"
        )

    def either(self, depth: int) -> Code:
        code = self._sequence(depth)
        while self._take("|"):
            other = self._sequence(depth)
            jump = Step("fork", to=(len(other) + 1,))
            code = _checked([Step("fork", to=(1, len(code) + 2)), *code, jump, *other])
        return code

    def _sequence(self, depth: int) -> Code:
        code: Code = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            code = _checked([*code, *self._repeated(self._one(depth))])
        return code

    def _one(self, depth: int) -> Code:
        for text, kind in (
            ("^", "start"),
            (r"\A", "start"),
            ("$", "end"),
            (r"\Z", "end"),
        ):
            if self._take(text):
                return [Step("start" if kind == "start" else "end")]
        opened = _GROUP.match(self.pattern, self.at)
        if opened is not None:
            if depth >= MAX_DEPTH:
                raise PatternError(f"more than {MAX_DEPTH} groups inside each other")
            self.at = opened.end()
            code = self.either(depth + 1)
            if not self._take(")"):
                raise self.unsupported()
            return code
        atom = _ATOM.match(self.pattern, self.at)
        if atom is None:
            raise self.unsupported()
        self.at = atom.end()
        text = atom.group()
        return [Step("char", re.compile(re.escape(text) if text in "{}]" else text))]

    def _repeated(self, code: Code) -> Code:
        found = _REPEAT.match(self.pattern, self.at)
        if found is None or found.group() == "{,}":
            if found is not None:
                raise self.unsupported()
            return code
        self.at = found.end()
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?":
            raise self.unsupported()
        sign, exact, low, high = found.group(1, 2, 3, 4)
        if sign is not None:
            return _repeat(code, 1 if sign == "+" else 0, 1 if sign == "?" else None)
        if exact is not None:
            return _repeat(code, int(exact), int(exact))
        return _repeat(code, int(low or 0), int(high) if high else None)

    def _take(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True


def _repeat(code: Code, low: int, high: int | None) -> Code:
    """`code`, `low` to `high` times; None: without end."""
    if max(low, high or 0) * max(1, len(code)) > MAX_STEPS:
        raise _too_large()
    made = [step for _ in range(low) for step in code]
    if high is None:
        back = Step("fork", to=(-len(code) - 1,))
        return _checked([*made, Step("fork", to=(1, len(code) + 2)), *code, back])
    for _ in range(high - low):
        made = [*made, Step("fork", to=(1, len(code) + 1)), *code]
    return _checked(made)


def _checked(code: Code) -> Code:
    if len(code) > MAX_STEPS:
        raise _too_large()
    return code


def _too_large() -> PatternError:
    return PatternError(f"its repetitions come to more than {MAX_STEPS} steps")


def why_not(pattern: str) -> str | None:
    """Why a pattern cannot be used, or None."""
    try:
        compiled(pattern)
    except PatternError as error:
        return str(error)
    return None


__all__: list[str] = ["Pattern", "PatternError", "compiled", "why_not"]
