"""Prints the report of a job as aligned plain text for a terminal or a CI log.

Readable in a pipe; the verdict is the last line and says why. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from paceline_server.detect.analyse import Analysis, JudgedPair
from paceline_server.detect.policies import advice_sentences as policy_words
from paceline_server.detect.schemas import BaseOut, MeasurementOut
from paceline_server.stats.configuration import describe_error
from paceline_server.stats.plain_words import quantity


def write_table(analysis: Analysis, out: TextIO, failure: str | None = None) -> None:
    """Write the whole report of one analysis; `failure`: why it is no verdict on a whole measurement."""
    for line in report_lines(analysis, failure):
        out.write(line.rstrip() + "\n")


def report_lines(analysis: Analysis, failure: str | None = None) -> list[str]:
    """The report, line by line, without newlines."""
    report = analysis.report
    lines = [
        f"{report.suite} at {revision_in_words(report.revision)} on {report.target}"
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
    lines += _checks(analysis)
    lines += [f"void       {void.text}" for void in analysis.voids]
    lines += [
        f"suppressed {describe_error(name).text} ({name})" for name in report.suppressed
    ]
    lines += [f"blocked    {text}" for text in analysis.blockers]
    tables: dict[tuple[str, str], list[JudgedPair]] = {}
    for judged in analysis.ruled:
        tables.setdefault((judged.pair.group.benchmark, judged.pair.metric), []).append(
            judged
        )
    for (benchmark, metric), group in tables.items():
        shown = _benchmark_lines if report.base is None else revision_lines
        lines += ["", *shown(benchmark, metric, group, analysis)]
    lines += _uncompared(
        [
            row
            for row in report.measurements
            if (row.benchmark, row.metric) not in tables
        ]
    )
    lines += _unavailable(analysis)
    lines += _audits(analysis)
    lines += _derived(analysis)
    lines += _gates(analysis)
    lines += _policies(analysis)
    ending = f"verdict: {analysis.verdict.upper()} - {analysis.reason}"
    return [*lines, "", ending if failure is None else f"verdict: NONE - {failure}"]


def revision_in_words(revision: str) -> str:
    """A commit; of the offline path also what was in no commit, as `paceline run` records it."""
    if revision == "unversioned":
        return "no commit"
    commit, dirty, _ = revision.partition("+dirty")
    return f"{commit[:40]} with uncommitted changes" if dirty else commit[:40]


def base_lines(base: BaseOut) -> list[str]:
    """The other revision of an A/B job, under the head."""
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
    """Head against base, one row per point and arm."""
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
        pair, found, params = (
            judged.pair,
            judged.pair.found,
            _params(dict(judged.pair.group.params)),
        )
        key = (benchmark, metric, pair.arm, params)
        said = "not in both" if found.verdict == "not_applicable" else pair.words()
        rows.append(
            [
                *(str(pair.group.params.get(name, "-")) for name in names),
                pair.arm,
                medians.get(("base", *key), "-"),
                medians.get(("head", *key), "-"),
                said,
                f"{found.blocks} in {found.launches}",
                found.verdict if judged.decides else f"({found.verdict})",
            ]
        )
        if found.verdict != "pass" and not analysis.blockers:
            notes.append((f"{params} {pair.arm}", found.reason))
    at = len(names)
    head = f"{benchmark}: {metric}, head against base, margin {margin:g} %"
    return [
        head,
        *align_columns(rows, right=(*range(at), at + 1, at + 2)),
        *fold_notes(notes),
    ]


def fold_notes(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of what is said of which row, each text once: a metric that no arm has says so in one line."""
    places: dict[str, list[str]] = {}
    for place, text in notes:
        places.setdefault(text, []).append(place)
    return [
        f"  {first}{f' and {len(others)} more' if others else ''}: {text}"
        for text, (first, *others) in places.items()
    ]


def align_columns(
    rows: Sequence[Sequence[str]], right: Iterable[int] = ()
) -> list[str]:
    """Rows as columns two spaces apart; the columns in `right` end flush."""
    flush = set(right)
    widths = (
        [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        if rows
        else []
    )
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if at in flush else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _checks(analysis: Analysis) -> list[str]:
    checks = analysis.report.checks
    if not checks:
        return ["checks     none"]
    said = [f"{check.name} {'ok' if check.ok else 'FAILED'}" for check in checks]
    return ["checks     " + ", ".join(said)]


def _params(params: dict[str, int | str]) -> str:
    return " ".join(f"{name}={value}" for name, value in params.items()) or "-"


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
    head = f"{benchmark}: {metric}, reference {reference}, margin {margin:g} %"
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
                f"{pair.found.blocks} in {pair.found.launches}",
                pair.found.verdict if judged.rule else f"({pair.found.verdict})",
            ]
        )
        if pair.found.verdict == "not_applicable":
            rows[-1][-3] = "not available here"
        elif pair.found.verdict != "pass" and not analysis.blockers:
            notes.append((f"{params} {pair.arm}", pair.found.reason))
    notes += [
        (f"{_params(row.params)} {row.arm}", ", ".join(row.flags))
        for row in _flagged_rows(analysis, benchmark, metric)
    ]
    at = len(names)
    return [
        head,
        *align_columns(rows, right=(*range(at), at + 1, at + 2)),
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


def _uncompared(rows: Sequence[MeasurementOut]) -> list[str]:
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


def _unavailable(analysis: Analysis) -> list[str]:
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


def _audits(analysis: Analysis) -> list[str]:
    """Per group with findings: what the means alone would have said, then every finding in words."""
    if not analysis.report.audits:
        return []
    lines = ["", "audit of the protocol"]
    for row in analysis.report.audits:
        names = ", ".join(dict.fromkeys(finding.name for finding in row.findings))
        kind = (
            "defects" if any(finding.decisive for finding in row.findings) else "notes"
        )
        said = "" if row.naive is None else f"means alone say {row.naive}; "
        lines.append(f"  {row.benchmark} {_params(row.params)}: {said}{kind}: {names}")
        lines += [f"    {finding.name}: {finding.text}" for finding in row.findings]
    return lines


def _derived(analysis: Analysis) -> list[str]:
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
        said = row.note or row.words
        rows.append(
            [row.name, row.benchmark, row.arm, _params(row.params), value, bounds, said]
        )
    return ["", "derived", *align_columns(rows, right=(4,))]


def _gates(analysis: Analysis) -> list[str]:
    if not analysis.report.gates:
        return []
    rows = [["benchmark", "arm", "params", "gate", "actual", "level", "verdict", "why"]]
    for gate in analysis.report.gates:
        actual = "-" if gate.actual is None else f"{gate.actual:.6g}"
        what = f"{gate.statistic} {gate.metric} {gate.op} {gate.target:g}"
        what = f"size of {what}" if gate.absolute else what
        why = "" if gate.verdict == "pass" else gate.reason
        rows.append(
            [
                gate.benchmark,
                gate.arm,
                _params(gate.params),
                what,
                actual,
                gate.level,
                gate.verdict,
                why,
            ]
        )
    return ["", "gates", *align_columns(rows, right=(4,))]


def _policies(analysis: Analysis) -> list[str]:
    """One line per policy and point: the advice, and whether what is in force is right."""
    if not analysis.policies:
        return []
    said = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}
    lines = ["", "policies"]
    for policy in analysis.policies:
        lines.append(
            f"  {policy.policy.name}: {policy_words.headline(policy)}: {said[policy.holds]}"
        )
        lines.append(f"    {policy_words.explain_holds(policy)}")
    return lines
