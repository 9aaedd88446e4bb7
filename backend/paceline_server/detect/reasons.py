"""Lists why a job did not simply pass, the most important first.

What failed comes before what could not be decided: an arm that never ran, then a regression, a gate, and an arm that
lost to its reference; then what blocks every verdict, then what is missing. Each cause is said once, with all of its cases and what to do
next. Read from the report's rows alone, so that every document and page orders them alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from paceline_contract.params import params_text

from paceline_server.detect.gate_figures import gate_name
from paceline_server.detect.groups import MANIFEST_SAYS
from paceline_server.detect.schemas import (
    ComparisonOut,
    GateOut,
    JobReportOut,
    ReasonOut,
    WitnessOut,
)
from paceline_server.jobs.schemas import Verdict
from paceline_server.stats.gates import UNDECIDED

LEVEL_NOT_JUDGED = "a level is not judged"
"""The reason of a gate on a level begins so where a disturbance keeps it from being judged."""
QUIET = "`paceline doctor` says what disturbs the target; repeat when it is quiet."
WITNESS_NOT_SENT = (
    "Let the workload send it with every measured sample of the arm (a counter in `work`, a fact in `start.build`), "
    "or declare in suite.toml what it does send."
)
NOTHING_IN_COMMON = "the two revisions have no requested benchmark in common"


def reasons_of(report: JobReportOut) -> list[ReasonOut]:
    """Return the reasons of a job, one per verdict and kind; empty if it passes."""
    return [*_list_failures(report), *_list_doubts(report), *_list_waived(report)]


def verdict_of(reasons: Iterable[ReasonOut]) -> Verdict:
    """Return `fail` if anything failed, `inconclusive` if anything could not be decided, else `pass`."""
    verdicts = {reason.verdict for reason in reasons} - {"waived"}
    if "fail" in verdicts:
        return "fail"
    return "inconclusive" if verdicts else "pass"


def order_reasons(reasons: Iterable[ReasonOut]) -> list[ReasonOut]:
    """Sort the reasons of several jobs, the most important first."""
    return sorted(reasons, key=lambda reason: IMPORTANCE.index(_place_of(reason)))


IMPORTANCE = (
    ("fail", "witness"),
    ("fail", "regression"),
    ("fail", "gate"),
    ("fail", "arm"),
    (None, "job"),
    ("inconclusive", "blocker"),
    ("inconclusive", "missing"),
    ("inconclusive", "witness"),
    ("inconclusive", "regression"),
    ("inconclusive", "gate"),
    ("inconclusive", "arm"),
    ("waived", "regression"),
    ("waived", "gate"),
    ("waived", "arm"),
)


def join_reasons(reasons: Iterable[ReasonOut], verdict: str) -> str:
    """Join the reasons of a verdict in one line."""
    return "; ".join(reason.text for reason in reasons if reason.verdict == verdict)


def waived_sentence(reasons: Iterable[ReasonOut]) -> str:
    """Describe in one line what passed only because it was waived or is known; empty if nothing did."""
    texts = [reason.text for reason in reasons if reason.verdict == "waived"]
    return f"not counted: {'; '.join(texts)}" if texts else ""


def _place_of(reason: ReasonOut) -> tuple[str | None, str]:
    return reason.verdict, reason.kind


def is_deciding(item: ComparisonOut | GateOut) -> bool:
    """Return whether the run's verdict rests on a row. Reports from before this was recorded say nothing: then it
    may."""
    if isinstance(item, GateOut):
        return item.level == "required"
    return item.decides is not False


def _list_failures(report: JobReportOut) -> Iterator[ReasonOut]:
    """Yield the reasons for a `fail`."""
    if not report.blockers:
        yield from _reasons_of_witnesses(report, "fail")
    yield from _reasons_of_comparisons(report, "revisions", "fail")
    yield from _reasons_of_gates(report, "fail")
    yield from _reasons_of_comparisons(report, "arms", "fail")


def _list_doubts(report: JobReportOut) -> Iterator[ReasonOut]:
    """Yield the reasons for an `inconclusive`."""
    for blocker in report.blockers:
        # Every row is undecided for this reason, and would only repeat it.
        yield ReasonOut(
            kind="blocker",
            verdict="inconclusive",
            text=blocker,
            count=1,
            cause=blocker,
            next_step=report.next_steps.get(blocker) or _step_for_cause(blocker),
        )
    if report.missing is not None:
        yield _make_reason("missing", "inconclusive", [report.missing])
    if report.blockers:
        return
    if (
        report.base is not None
        and report.unaffected is None
        and not _is_anything_compared(report)
    ):
        yield _make_reason("regression", "inconclusive", [NOTHING_IN_COMMON])
    yield from _reasons_of_witnesses(report, "inconclusive")
    yield from _undecided_comparisons(report, "revisions")
    yield from _undecided_gates(report)
    yield from _undecided_comparisons(report, "arms")


def _reasons_of_witnesses(
    report: JobReportOut, verdict: Verdict
) -> Iterator[ReasonOut]:
    """Yield which arms did not run, or do not say so. They count even where no rule watches the arm."""
    rows = [row for row in report.witnesses if row.verdict == verdict]
    if rows:
        reason = _make_reason(
            "witness", verdict, [witness_sentence(row) for row in rows]
        )
        step = WITNESS_NOT_SENT if verdict == "inconclusive" else None
        yield reason.model_copy(update={"next_step": step})


def _list_waived(report: JobReportOut) -> Iterator[ReasonOut]:
    """Yield the failures that were waived or are known."""
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
            yield _make_reason(kind, "waived", sentences)


def _is_anything_compared(report: JobReportOut) -> bool:
    return any(
        row.sides == "revisions"
        and is_deciding(row)
        and row.verdict != "not_applicable"
        for row in report.comparisons
    )


def _reasons_of_comparisons(
    report: JobReportOut, sides: str, verdict: Verdict
) -> Iterator[ReasonOut]:
    rows = _deciding_comparisons(report, sides, verdict)
    if rows:
        yield _make_reason(
            _kind_of(sides), verdict, [comparison_sentence(row) for row in rows]
        )


def _reasons_of_gates(report: JobReportOut, verdict: Verdict) -> Iterator[ReasonOut]:
    rows = _deciding_gates(report, verdict)
    if rows:
        yield _make_reason("gate", verdict, [gate_sentence(gate) for gate in rows])


def _deciding_comparisons(
    report: JobReportOut, sides: str, verdict: Verdict
) -> list[ComparisonOut]:
    """Return the comparisons of a verdict that count, the slowest first."""
    return sorted(
        (
            row
            for row in report.comparisons
            if row.sides == sides
            and row.verdict == verdict
            and is_deciding(row)
            and row.waived is None
            and not _is_said_by_witness(row)
        ),
        key=lambda row: -(row.ratio or 0.0),
    )


def _deciding_gates(report: JobReportOut, verdict: Verdict) -> list[GateOut]:
    """Return the gates of a verdict that count, the farthest from their level first."""
    return sorted(
        (
            gate
            for gate in report.gates
            if gate.verdict == verdict
            and is_deciding(gate)
            and gate.waived is None
            and not _is_said_by_witness(gate)
        ),
        key=lambda gate: 1.0 if gate.reached is None else gate.reached,
    )


def _is_said_by_witness(row: ComparisonOut | GateOut) -> bool:
    """Check whether a row is undecided or fails because of a witness, which is a reason of its own."""
    return row.witness in ("fail", "inconclusive")


def _undecided_comparisons(report: JobReportOut, sides: str) -> Iterator[ReasonOut]:
    by_cause: dict[str, list[ComparisonOut]] = {}
    for row in _deciding_comparisons(report, sides, "inconclusive"):
        by_cause.setdefault(row.reason, []).append(row)
    for cause, rows in by_cause.items():
        needed = [row.launches_needed for row in rows]
        launches = max(
            (number for number in needed if number is not None), default=None
        )
        is_disturbed = any(row.extra_percent for row in rows)
        yield _make_undecided(
            _kind_of(sides),
            cause,
            [_place_of_comparison(row) for row in rows],
            _step_for_cause(cause)
            or _step_for_launches(
                launches, needed.count(None), len(rows), is_disturbed
            ),
            None if None in needed else launches,
        )


def _step_for_cause(cause: str) -> str | None:
    """Explain what to do about a cause that no launches remove; None for others."""
    if cause.startswith("check "):
        return "Timings of wrong results do not count: correct what the check found."
    return next((step for part, step in _STEPS if part in cause), None)


_STEPS = (
    (
        MANIFEST_SAYS,
        "`paceline validate` compares both beforehand: correct suite.toml or the workload.",
    ),
    (
        "the protocol has defects",
        "The audit of the protocol says what to correct in the workload.",
    ),
    (
        "probably optimised away",
        "Let the workload use its results, so that the compiler keeps the work.",
    ),
    ("was not measured", "The log says why the workload left it out."),
    (UNDECIDED, "More launches narrow the interval: repeat with more (`--launches`)."),
)
"""The next step, by a part of the cause."""


def _step_for_launches(
    launches: int | None, unknown: int, cases: int, is_disturbed: bool
) -> str | None:
    """Explain what to do about comparisons: how many launches decide them, as far as launches do."""
    if launches is None:
        return QUIET if is_disturbed else None
    step = f"Repeat with {launches} launches (`--launches {launches}`)"
    if unknown:
        step += f", which decides {cases - unknown} of the {cases}"
    return f"{step}. {QUIET}" if is_disturbed else f"{step}."


def _undecided_gates(report: JobReportOut) -> Iterator[ReasonOut]:
    by_cause: dict[str, list[GateOut]] = {}
    for gate in _deciding_gates(report, "inconclusive"):
        by_cause.setdefault(gate.reason, []).append(gate)
    for cause, gates in by_cause.items():
        # What disturbed the job kept the level from being judged, or widened its interval.
        step = next(iter(report.next_steps.values()), None)
        is_disturbed = step is not None and (
            cause.startswith(LEVEL_NOT_JUDGED) or UNDECIDED in cause
        )
        yield _make_undecided(
            "gate",
            cause,
            [_place_of_gate(gate) for gate in gates],
            step if is_disturbed else _step_for_cause(cause),
            None,
        )


def _make_undecided(
    kind: str,
    cause: str,
    cases: Sequence[str],
    next_step: str | None,
    launches: int | None,
) -> ReasonOut:
    text = with_count_of_others(f"{cases[0]} - {cause}", len(cases))
    return ReasonOut.model_validate(
        {
            "kind": kind,
            "verdict": "inconclusive",
            "text": text,
            "count": len(cases),
            "cause": cause,
            "cases": list(cases),
            "next_step": next_step,
            "launches": launches,
        }
    )


def _kind_of(sides: str) -> str:
    return "regression" if sides == "revisions" else "arm"


def _make_reason(kind: str, verdict: str, sentences: Sequence[str]) -> ReasonOut:
    text = with_count_of_others(sentences[0], len(sentences))
    return ReasonOut.model_validate(
        {
            "kind": kind,
            "verdict": verdict,
            "text": text,
            "count": len(sentences),
            "cases": list(sentences),
        }
    )


def with_count_of_others(first: str, count: int) -> str:
    return first if count == 1 else f"{first} (and {count - 1} more)"


def _place_of_comparison(row: ComparisonOut) -> str:
    """Return the case in words, such as `sort_batch batch=1000: native at head`."""
    where = f"{row.benchmark} {params_text(row.params, ' ')}".rstrip()
    return (
        f"{where}: {row.arm} at head"
        if row.sides == "revisions"
        else f"{where}: {row.arm}"
    )


def _place_of_gate(gate: GateOut) -> str:
    """Return the gate in words, such as `sort_batch batch=1000: native, gate median of time`."""
    params = params_text(gate.params, " ")
    where = " ".join(part for part in (gate.benchmark, params) if part)
    return f"{where}: {gate.arm}, gate {gate_name(gate)}"


def witness_sentence(row: WitnessOut) -> str:
    """Say `sort_batch batch=1000: native was built, and never called: …`."""
    where = f"{row.benchmark} {params_text(row.params, ' ')}".rstrip()
    return f"{where}: {row.words}"


def gate_sentence(gate: GateOut) -> str:
    """Return words such as `sort_batch: native, gate median of time: 12 <= 10 does not hold`."""
    return f"{_place_of_gate(gate)}: {gate.reason}"


def comparison_sentence(row: ComparisonOut) -> str:
    """Return `sort_batch batch=1000: native at head is 10 % slower than base (…)`; of an undecided one, why."""
    place = _place_of_comparison(row)
    if row.verdict != "fail":
        return f"{place} - {row.reason}"
    words = row.words.removeprefix("head ")
    if row.sides == "arms":
        words = words.replace(" (", f" than {row.reference} (", 1)
    return f"{place} is {words}"
