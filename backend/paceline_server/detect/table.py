"""Prints the report of a job as aligned plain text for a terminal or a CI log.

The last line is the verdict with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from paceline_contract.outputs import BRACKETS
from paceline_contract.params import params_text
from paceline_contract.units import quantity

from paceline_server.detect.analyse import Analysis, JudgedPair
from paceline_server.detect.policies import advice_sentences as policy_words
from paceline_server.detect.reasons import reasons_of, witness_sentence
from paceline_server.detect.schemas import BaseOut, JobReportOut, MeasurementOut
from paceline_server.stats.configuration import describe_error
from paceline_server.stats.plain_words import percent


def write_table(analysis: Analysis, out: TextIO, failure: str | None = None) -> None:
    """Write the report of an analysis; `failure`: why the measurement is incomplete and has no verdict."""
    for line in report_lines(analysis, failure):
        out.write(line.rstrip() + "\n")


def report_lines(analysis: Analysis, failure: str | None = None) -> list[str]:
    """Return the report, line by line, without newlines."""
    report = analysis.report
    lines = [
        f"{report.suite} at {describe_revision(report.revision)} on {report.target}"
    ]
    if report.artifact_hash:
        lines.append(f"artifact {report.artifact_hash[:16]}")
    if report.base is not None:
        lines += base_lines(report.base)
    if any(comparison.demonstration for comparison in report.comparisons):
        lines.append(
            "DEMONSTRATION: a knob changed the work on purpose; these figures say nothing about the code"
        )
    lines += [""]
    lines += _check_lines(analysis)
    lines += _witness_lines(report)
    lines += [
        f"suppressed {describe_error(name).text} ({name})" for name in report.suppressed
    ]
    lines += _disturbance_lines(analysis)
    lines += [f"new        {name} (only head declares it)" for name in report.added]
    lines += [f"removed    {name} (only base declares it)" for name in report.removed]
    lines += [report.unaffected.words] if report.unaffected else []
    tables: dict[tuple[str, str], list[JudgedPair]] = {}
    for judged in analysis.ruled:
        tables.setdefault((judged.pair.group.benchmark, judged.pair.metric), []).append(
            judged
        )
    for (benchmark, metric), group in tables.items():
        table_lines = _benchmark_lines if report.base is None else revision_lines
        lines += ["", *table_lines(benchmark, metric, group, analysis)]
    if any(not judged.decides for judged in analysis.ruled):
        lines += ["", BRACKETS]
    lines += _uncompared_lines(
        [
            row
            for row in report.measurements
            if (row.benchmark, row.metric) not in tables
        ]
    )
    lines += _unavailable_lines(analysis)
    lines += _audit_lines(analysis)
    lines += _derived_lines(analysis)
    lines += _gate_lines(analysis)
    lines += _policy_lines(analysis)
    lines += _reason_lines(report)
    lines += ["", report.saved.words] if report.saved else []
    ending = f"verdict: {analysis.verdict.upper()} - {analysis.reason}"
    lines += ["", ending if failure is None else f"verdict: NONE - {failure}"]
    return [_with_texts(line, analysis.texts) for line in lines]


def _with_texts(line: str, texts: Mapping[str, str]) -> str:
    """Write what another tool calls a benchmark in place of its name with a digest, as wide as before in columns."""
    for name, text in texts.items():
        line = line.replace(f"{name}  ", f"{text:<{len(name)}}  ").replace(name, text)
    return line


def _witness_lines(report: JobReportOut) -> list[str]:
    """Say of each arm that declares a witness whether it ran."""
    words = {"pass": "ok", "fail": "FAILED", "inconclusive": "unknown"}
    return [
        f"witness    {words[row.verdict]} - {witness_sentence(row)}"
        for row in report.witnesses
    ]


def _disturbance_lines(analysis: Analysis) -> list[str]:
    """Describe what disturbed the measurement, and what it demanded of ratios."""
    disturbance = analysis.disturbance
    if not disturbance.conditions:
        return []
    extra = percent(disturbance.extra_percent / 100.0)
    most = "at most " if disturbance.drift_percent else ""
    return [
        *analysis.report.disturbances,
        f"{disturbance.phrase}: ratios must clear their margin by {most}{extra} more; levels are not judged",
    ]


def _reason_lines(report: JobReportOut) -> list[str]:
    """Return each cause of what is undecided, once, with every case that it concerns and what to do next."""
    lines: list[str] = []
    for reason in reasons_of(report):
        if reason.verdict != "inconclusive":
            continue
        count = f" ({reason.count} cases)" if reason.count > 1 else ""
        lines.append(f"undecided  {reason.cause or reason.text}{count}")
        lines += [f"           {case}" for case in reason.cases if reason.cause]
        lines += [f"    next   {reason.next_step}"] if reason.next_step else []
    return ["", *lines] if lines else []


def describe_revision(revision: str) -> str:
    """Return a revision in words; `paceline run` may have recorded it without a commit or with uncommitted changes."""
    if revision == "unversioned":
        return "no commit"
    commit, dirty, _ = revision.partition("+dirty")
    return f"{commit[:40]} with uncommitted changes" if dirty else commit[:40]


def base_lines(base: BaseOut) -> list[str]:
    """Return lines about the base of an A/B job."""
    lines = [f"against {base.revision[:40]}"]
    if base.same_artifact:
        return [
            *lines,
            "the same artifact on both sides: what differs is the environment, not the code",
        ]
    return (
        [*lines, f"artifact {base.artifact_hash[:16]}"] if base.artifact_hash else lines
    )


def revision_lines(
    benchmark: str, metric: str, group: Sequence[JudgedPair], analysis: Analysis
) -> list[str]:
    """Return a table of head against base, one row per group and arm."""
    margin = group[0].pair.policy.margin_percent
    medians = {
        (row.side, row.benchmark, row.metric, row.arm, _params(row.params)): quantity(
            row.median, row.unit
        )
        for row in analysis.report.measurements
    }
    names = list(
        dict.fromkeys(name for judged in group for name in judged.pair.group.params)
    )
    rows = [[*names, "arm", "base", "head", "head against base", "blocks", "verdict"]]
    notes = []
    for judged in group:
        pair, outcome = judged.pair, judged.pair.outcome
        params = _params(dict(pair.group.params))
        key = (benchmark, metric, pair.arm, params)
        comparison = (
            "not in both" if outcome.verdict == "not_applicable" else pair.words()
        )
        rows.append(
            [
                *(str(pair.group.params.get(name, "-")) for name in names),
                pair.arm,
                medians.get(("base", *key), "-"),
                medians.get(("head", *key), "-"),
                comparison,
                f"{outcome.blocks} in {outcome.launches}",
                outcome.verdict if judged.decides else f"({outcome.verdict})",
            ]
        )
        if outcome.verdict != "pass" and not _is_said_below(judged, analysis):
            notes.append((f"{params} {pair.arm}", outcome.reason))
    params_count = len(names)
    title = f"{benchmark}: {metric}, head against base, margin {margin:g} %"
    return [
        title,
        *align_columns(
            rows, right=(*range(params_count), params_count + 1, params_count + 2)
        ),
        *fold_notes(notes),
    ]


def _is_said_below(judged: JudgedPair, analysis: Analysis) -> bool:
    """Return whether the job's reasons say why a pair has no verdict."""
    is_undecided = judged.pair.outcome.verdict == "inconclusive"
    return bool(analysis.blockers) or (is_undecided and judged.decides)


def fold_notes(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of notes (row, text), each text once with the number of its rows."""
    rows_by_text: dict[str, list[str]] = {}
    for row, text in notes:
        rows_by_text.setdefault(text, []).append(row)
    return [
        f"  {first}{f' and {len(others)} more' if others else ''}: {text}"
        for text, (first, *others) in rows_by_text.items()
    ]


def align_columns(
    rows: Sequence[Sequence[str]], right: Iterable[int] = ()
) -> list[str]:
    """Return the cells aligned in columns; those in `right` to the right."""
    right_aligned = set(right)
    widths = (
        [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        if rows
        else []
    )
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if column in right_aligned else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _check_lines(analysis: Analysis) -> list[str]:
    checks = analysis.report.checks
    if not checks:
        return ["checks     none"]
    results = [f"{check.name} {'ok' if check.ok else 'FAILED'}" for check in checks]
    return ["checks     " + ", ".join(results)]


def _params(params: dict[str, int | str]) -> str:
    return params_text(params, " ") or "-"


def _benchmark_lines(
    benchmark: str, metric: str, group: Sequence[JudgedPair], analysis: Analysis
) -> list[str]:
    medians = {
        (row.benchmark, row.metric, row.arm, _params(row.params)): row
        for row in analysis.report.measurements
    }

    def cell(arm: str, params: str) -> str:
        row = medians.get((benchmark, metric, arm, params))
        return "-" if row is None else quantity(row.median, row.unit)

    margin, reference = group[0].pair.policy.margin_percent, group[0].pair.reference
    title = f"{benchmark}: {metric}, reference {reference}, margin {margin:g} %"
    names = list(
        dict.fromkeys(name for judged in group for name in judged.pair.group.params)
    )
    rows = [
        [
            *names,
            "arm",
            "median",
            reference,
            "arm against reference",
            "blocks",
            "verdict",
        ]
    ]
    notes = []
    for judged in group:
        pair, params = judged.pair, _params(dict(judged.pair.group.params))
        rows.append(
            [
                *(str(pair.group.params.get(name, "-")) for name in names),
                pair.arm,
                cell(pair.arm, params),
                cell(pair.reference, params),
                pair.words(),
                f"{pair.outcome.blocks} in {pair.outcome.launches}",
                pair.outcome.verdict if judged.decides else f"({pair.outcome.verdict})",
            ]
        )
        if pair.outcome.verdict == "not_applicable":
            rows[-1][-3] = "not available here"
        elif pair.outcome.verdict != "pass" and not _is_said_below(judged, analysis):
            notes.append((f"{params} {pair.arm}", pair.outcome.reason))
    notes += [
        (f"{_params(row.params)} {row.arm}", ", ".join(row.flags))
        for row in _flagged_rows(analysis, benchmark, metric)
    ]
    params_count = len(names)
    return [
        title,
        *align_columns(
            rows, right=(*range(params_count), params_count + 1, params_count + 2)
        ),
        *fold_notes(notes),
    ]


def _flagged_rows(
    analysis: Analysis, benchmark: str, metric: str
) -> list[MeasurementOut]:
    rows = analysis.report.measurements
    return [
        row
        for row in rows
        if row.flags and (row.benchmark, row.metric) == (benchmark, metric)
    ]


def _uncompared_lines(rows: Sequence[MeasurementOut]) -> list[str]:
    if not rows:
        return []
    head = ["benchmark", "params", "arm", "metric", "median", "p99", "sd", "n"]
    cells = [
        [
            row.benchmark,
            _params(row.params),
            row.arm,
            row.metric,
            quantity(row.median, row.unit),
            quantity(row.p99, row.unit),
            quantity(row.sd, row.unit),
            f"{row.n} in {row.launches}",
        ]
        for row in rows
    ]
    return [
        "",
        "measured without a reference",
        *align_columns([head, *cells], right=(4, 5, 6)),
    ]


def _unavailable_lines(analysis: Analysis) -> list[str]:
    if not analysis.report.unavailable:
        return []
    rows = [
        [
            row.benchmark,
            row.arm,
            _params(row.params) if row.params else "everywhere",
            row.reason,
        ]
        for row in analysis.report.unavailable
    ]
    return ["", "not available here", *align_columns(rows)]


def _audit_lines(analysis: Analysis) -> list[str]:
    """Return findings by group, with the comparison of means alone."""
    if not analysis.report.audits:
        return []
    lines = ["", "audit of the protocol"]
    for row in analysis.report.audits:
        names = ", ".join(dict.fromkeys(finding.name for finding in row.findings))
        kind = (
            "defects" if any(finding.decisive for finding in row.findings) else "notes"
        )
        naive = "" if row.naive is None else f"means alone say {row.naive}; "
        lines.append(f"  {row.benchmark} {_params(row.params)}: {naive}{kind}: {names}")
        lines += [f"    {finding.name}: {finding.text}" for finding in row.findings]
    return lines


def _derived_lines(analysis: Analysis) -> list[str]:
    if not analysis.report.derived:
        return []
    rows = [["name", "benchmark", "arm", "params", "value", "interval", "in words"]]
    for row in analysis.report.derived:
        value = (
            f"{row.value:.4g}"
            if row.value is not None
            else "none"
            if row.answered
            else "-"
        )
        bounds = (
            "-"
            if row.lower is None or row.upper is None
            else f"{row.lower:.4g} to {row.upper:.4g}"
        )
        if row.kind == "crossover" and row.lower is None and row.upper is not None:
            bounds = f"{row.upper:.4g} or below"
        explanation = row.note or row.words
        rows.append(
            [
                row.name,
                row.benchmark,
                row.arm,
                _params(row.params),
                value,
                bounds,
                explanation,
            ]
        )
    return ["", "derived", *align_columns(rows, right=(4,))]


def _gate_lines(analysis: Analysis) -> list[str]:
    if not analysis.report.gates:
        return []
    rows = [["benchmark", "arm", "params", "gate", "actual", "level", "verdict", "why"]]
    for gate in analysis.report.gates:
        actual = "-" if gate.actual is None else f"{gate.actual:.6g}"
        condition = f"{gate.statistic} {gate.metric} {gate.op} {gate.target:g}"
        condition = f"size of {condition}" if gate.absolute else condition
        condition = f"{gate.name}: {condition}" if gate.name else condition
        reason = "" if gate.verdict == "pass" else gate.reason
        rows.append(
            [
                gate.benchmark,
                gate.arm,
                _params(gate.params),
                condition,
                actual,
                gate.level,
                gate.verdict,
                reason,
            ]
        )
    return ["", "gates", *align_columns(rows, right=(4,))]


def _policy_lines(analysis: Analysis) -> list[str]:
    """Return the advice for each policy and group, and whether the policy in force holds."""
    if not analysis.policies:
        return []
    answers = {True: "holds", False: "DOES NOT HOLD", None: "inconclusive"}
    lines = ["", "policies"]
    for policy in analysis.policies:
        lines.append(
            f"  {policy.policy.name}: {policy_words.headline(policy)}: {answers[policy.holds]}"
        )
        lines.append(f"    {policy_words.explain_holds(policy)}")
    return lines
