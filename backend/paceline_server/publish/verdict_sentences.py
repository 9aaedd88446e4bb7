"""Describes a comparison or gate in sentences that every rendered format shares."""

from __future__ import annotations

from collections.abc import Mapping

from paceline_server.detect.schemas import ComparisonOut, GateOut, ReasonOut

FAILED: Mapping[str, str] = {
    "regression": "Slower than base:",
    "gate": "Gate:",
    "arm": "Slower than its reference:",
}
UNDECIDED: Mapping[str, str] = {
    "regression": "Undecided against base:",
    "gate": "Undecided gate:",
    "arm": "Undecided arm:",
    "blocker": "Not judged:",
    "missing": "Missing:",
}


def reason_heading(reason: ReasonOut) -> str:
    """What kind of reason it is, before its text."""
    if reason.verdict is None:
        return "No verdict:"
    if reason.verdict == "waived":
        return "Waived:"
    return (FAILED if reason.verdict == "fail" else UNDECIDED)[reason.kind]


def subject_words(item: ComparisonOut | GateOut) -> str:
    """What is judged: `time against kotlin`, or a gate by its name."""
    if isinstance(item, ComparisonOut):
        other = "base" if item.sides == "revisions" else item.reference
        return f"{item.metric} against {other}"
    return f"gate {item.name or item.derived or f'{item.statistic} of {item.metric}'}"


def result_words(item: ComparisonOut | GateOut) -> str:
    """What was found, with its numbers and interval, as the API words it; without a verdict also why. Of what was
    waived, by whom and until when."""
    words = _finding_words(item)
    return words if item.waived is None else f"{words}; {item.waived.words}"


def _finding_words(item: ComparisonOut | GateOut) -> str:
    if isinstance(item, GateOut):
        return f"{item.reason} ({item.level})"
    if item.verdict in ("inconclusive", "not_applicable"):
        return f"{item.words}: {item.reason}" if item.ratio is not None else item.reason
    return item.words


def verdict_words(item: ComparisonOut | GateOut, decides: bool) -> str:
    """The verdict; in brackets if the run's verdict does not rest on it."""
    spoken = item.verdict.replace("_", " ")
    if item.waived is not None:
        return f"{spoken}, waived"
    return spoken if decides else f"({spoken})"
