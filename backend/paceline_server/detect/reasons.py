"""Lists why a job did not simply pass, the most important first.

What failed comes before what could not be decided: a regression, then a gate, then an arm that lost to its reference;
then what blocks every verdict, then what is missing. Read from the report's rows alone, so that every document and
page orders them alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from paceline_contract.params import params_text

from paceline_server.detect.analyse import gate_sentence, with_count_of_others
from paceline_server.detect.schemas import (
    ComparisonOut,
    GateOut,
    JobReportOut,
    ReasonOut,
)
from paceline_server.jobs.schemas import Verdict

NOTHING_IN_COMMON = "the two revisions have no requested benchmark in common"


def reasons_of(report: JobReportOut) -> list[ReasonOut]:
    """The reasons of a job, one per verdict and kind; empty if it passes."""
    return [*_failures(report), *_doubts(report), *_waived(report)]


def verdict_of(reasons: Iterable[ReasonOut]) -> Verdict:
    """`fail` if anything failed, `inconclusive` if anything could not be decided, else `pass`."""
    verdicts = {reason.verdict for reason in reasons} - {"waived"}
    if "fail" in verdicts:
        return "fail"
    return "inconclusive" if verdicts else "pass"


def order_reasons(reasons: Iterable[ReasonOut]) -> list[ReasonOut]:
    """Reasons of several jobs, the most important first."""
    return sorted(reasons, key=lambda reason: IMPORTANCE.index(_place_of(reason)))


IMPORTANCE = (
    ("fail", "regression"),
    ("fail", "gate"),
    ("fail", "arm"),
    (None, "job"),
    ("inconclusive", "blocker"),
    ("inconclusive", "missing"),
    ("inconclusive", "regression"),
    ("inconclusive", "gate"),
    ("inconclusive", "arm"),
    ("waived", "regression"),
    ("waived", "gate"),
    ("waived", "arm"),
)


def join_reasons(reasons: Iterable[ReasonOut], verdict: str) -> str:
    """The reasons of a verdict in one line."""
    return "; ".join(reason.text for reason in reasons if reason.verdict == verdict)


def waived_sentence(reasons: Iterable[ReasonOut]) -> str:
    """What passed only because it was waived or is known, in one line; empty if nothing did."""
    texts = [reason.text for reason in reasons if reason.verdict == "waived"]
    return f"not counted: {'; '.join(texts)}" if texts else ""


def _place_of(reason: ReasonOut) -> tuple[str | None, str]:
    return reason.verdict, reason.kind


def is_deciding(item: ComparisonOut | GateOut) -> bool:
    """Whether the run's verdict rests on it. Reports from before this was recorded say nothing: then it may."""
    if isinstance(item, GateOut):
        return item.level == "required"
    return item.decides is not False


def _failures(report: JobReportOut) -> Iterator[ReasonOut]:
    yield from _of_comparisons(report, "revisions", "fail")
    yield from _of_gates(report, "fail")
    yield from _of_comparisons(report, "arms", "fail")


def _doubts(report: JobReportOut) -> Iterator[ReasonOut]:
    blockers = report.blockers
    if blockers:
        # Every row is undecided for this reason, and would only repeat it.
        yield _reason("blocker", "inconclusive", blockers)
    if report.missing is not None:
        yield _reason("missing", "inconclusive", [report.missing])
    if blockers:
        return
    if report.base is not None and not _is_anything_compared(report):
        yield _reason("regression", "inconclusive", [NOTHING_IN_COMMON])
    yield from _of_comparisons(report, "revisions", "inconclusive")
    yield from _of_gates(report, "inconclusive")
    yield from _of_comparisons(report, "arms", "inconclusive")


def _waived(report: JobReportOut) -> Iterator[ReasonOut]:
    rows: dict[str, list[str]] = {"regression": [], "gate": [], "arm": []}
    for row in report.comparisons:
        if row.waived is not None:
            kind = "regression" if row.sides == "revisions" else "arm"
            rows[kind].append(f"{comparison_sentence(row)} ({row.waived.words})")
    for gate in report.gates:
        if gate.waived is not None:
            rows["gate"].append(f"{gate_sentence(gate)} ({gate.waived.words})")
    for kind, sentences in rows.items():
        if sentences:
            yield _reason(kind, "waived", sentences)


def _is_anything_compared(report: JobReportOut) -> bool:
    return any(
        row.sides == "revisions"
        and is_deciding(row)
        and row.verdict != "not_applicable"
        for row in report.comparisons
    )


def _of_comparisons(
    report: JobReportOut, sides: str, verdict: Verdict
) -> Iterator[ReasonOut]:
    rows = sorted(
        (
            row
            for row in report.comparisons
            if row.sides == sides
            and row.verdict == verdict
            and is_deciding(row)
            and row.waived is None
        ),
        key=lambda row: -(row.ratio or 0.0),
    )
    if rows:
        kind = "regression" if sides == "revisions" else "arm"
        yield _reason(kind, verdict, [comparison_sentence(row) for row in rows])


def _of_gates(report: JobReportOut, verdict: Verdict) -> Iterator[ReasonOut]:
    rows = sorted(
        (
            gate
            for gate in report.gates
            if gate.verdict == verdict and is_deciding(gate) and gate.waived is None
        ),
        key=lambda gate: 1.0 if gate.reached is None else gate.reached,
    )
    if rows:
        yield _reason("gate", verdict, [gate_sentence(gate) for gate in rows])


def _reason(kind: str, verdict: str, sentences: Sequence[str]) -> ReasonOut:
    count = len(sentences)
    text = with_count_of_others(sentences[0], count)
    return ReasonOut.model_validate(
        {"kind": kind, "verdict": verdict, "text": text, "count": count}
    )


def comparison_sentence(row: ComparisonOut) -> str:
    """`sort_batch batch=1000: native at head is 10 % slower than base (…)`; of an undecided one, why."""
    where = f"{row.benchmark} {params_text(row.params, ' ')}".rstrip()
    arm = f"{row.arm} at head" if row.sides == "revisions" else row.arm
    if row.verdict != "fail":
        return f"{where}: {arm} - {row.reason}"
    words = row.words.removeprefix("head ")
    if row.sides == "arms":
        words = words.replace(" (", f" than {row.reference} (", 1)
    return f"{where}: {arm} is {words}"
