"""Reads the lines of a text that a declared pattern matches, whose named groups are columns like those of a declared CSV.

Matching takes time linear in the text, whatever the pattern is. Other lines are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paceline_contract.patterns import Pattern, PatternError, compile_pattern
from paceline_contract.readers.declared_csv import (
    CasesByKey,
    DeclaredColumns,
    parse_columns,
    take_row,
)
from paceline_contract.readers.parsing import check_document
from paceline_contract.results import Result, ResultError, refuse_duplicates

TOOL = "lines"


class DeclaredLines(NamedTuple):
    """A pattern, and what its groups are."""

    pattern: Pattern
    columns: DeclaredColumns


def parse_pattern(pattern: str, options: Sequence[str]) -> DeclaredLines:
    """Return the lines that a pattern declares. Its groups are what they are called, or what `GROUP=ROLE` says. Raises
    ResultError."""
    try:
        compiled = compile_pattern(pattern)
    except PatternError as error:
        raise ResultError(f"the pattern cannot be used: {error}") from error
    if not compiled.names:
        raise ResultError("the pattern has no named groups")
    return DeclaredLines(compiled, parse_columns(options, compiled.names))


def read_lines(data: bytes, declared: DeclaredLines) -> Result:
    """Read the lines that the pattern matches as a whole, but for the blanks around them. Raises ResultError, which says
    the line."""
    check_document(data, TOOL)
    cases: CasesByKey = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        row = declared.pattern.find_groups(line.strip())
        if row is not None:
            take_row(row, f"line {number}", declared.columns, cases)
    if not cases:
        raise ResultError("the pattern matches no line as a whole")
    return Result(TOOL, refuse_duplicates(cases.values()))
