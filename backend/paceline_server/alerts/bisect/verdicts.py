"""Classifies an A/B comparison: the series moved, stayed, or that is unknown.

For a slowdown this is the arm verdict of stats/README.md §2; for an improvement the same rule
with the sides swapped (`evidence.faster`), at the same margin.
"""

from __future__ import annotations

from typing import Literal

from paceline_server.store.tables.decisions import Comparison

Side = Literal["moved", "stayed", "unknown"]


def side_of(comparison: Comparison, *, worse: bool) -> Side:
    """Whether head differs from base in the suspected direction, in `ratio` = head ÷ base."""
    if worse:
        answers: dict[str, Side] = {"fail": "moved", "pass": "stayed"}
        return answers.get(comparison.verdict, "unknown")
    if comparison.verdict not in ("pass", "fail") or comparison.lower is None:
        return "unknown"
    if comparison.evidence["faster"]:
        return "moved"
    margin = 1.0 + float(comparison.evidence["margin_percent"]) / 100.0
    return "stayed" if comparison.lower * margin > 1.0 else "unknown"
