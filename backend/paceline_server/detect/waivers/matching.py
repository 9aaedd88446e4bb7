"""Decides what a waiver lets pass: pure functions over the rows of a report.

Only what failed is waived, and never that an arm did not run. What became worse than it was when the waiver was given fails again, so that nothing new
hides behind an old permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from paceline_contract.events import ParamValue
from paceline_contract.params import params_key, params_text

from paceline_server.detect.gate_figures import (
    GateFigure,
    is_worse_than,
    metric_of,
)
from paceline_server.detect.reasons import is_deciding
from paceline_server.detect.schemas import (
    ComparisonOut,
    GateOut,
    JobReportOut,
    WaivedOut,
)
from paceline_server.detect.waivers.schemas import WaivedKind
from paceline_server.store.tables.waivers import Waiver

Row = TypeVar("Row", ComparisonOut, GateOut)


@dataclass(frozen=True)
class WaivedRun:
    """What a waiver asks of a run."""

    run_id: str
    commit: str
    pull_request: int | None
    target_id: str
    demonstration: bool


@dataclass(frozen=True)
class KnownAlert:
    """An acknowledged or expected alert about an arm that is slower or a gate that fails.

    What people have seen of it: `accepted`, the highest ratio of the arm by params key, or `figures` of the gate.
    """

    alert_id: str
    state: str
    benchmark: str
    arm: str
    metric: str
    demonstration: bool
    accepted: Mapping[str, float]
    figures: Sequence[GateFigure]


def kind_of(row: ComparisonOut | GateOut) -> WaivedKind:
    """Return what kind of failure a row is."""
    if isinstance(row, GateOut):
        return "gate"
    return "regression" if row.sides == "revisions" else "arm"


def waive(
    report: JobReportOut,
    waivers: Sequence[Waiver],
    alerts: Sequence[KnownAlert],
    run: WaivedRun,
) -> JobReportOut:
    """Return the report with a mark on each failing row that a waiver or a known alert lets pass."""

    def marked(row: Row) -> Row:
        if row.verdict != "fail" or row.waived is not None or not is_deciding(row):
            return row
        if row.witness == "fail":
            return row
        mark = _mark_of(row, waivers, alerts, run)
        return row if mark is None else row.model_copy(update={"waived": mark})

    return report.model_copy(
        update={
            "comparisons": [marked(row) for row in report.comparisons],
            "gates": [marked(row) for row in report.gates],
        }
    )


def _mark_of(
    row: ComparisonOut | GateOut,
    waivers: Sequence[Waiver],
    alerts: Sequence[KnownAlert],
    run: WaivedRun,
) -> WaivedOut | None:
    for waiver in waivers:
        if concerns(waiver, run) and covers(waiver, row) and not is_worse(waiver, row):
            return WaivedOut(
                waiver_id=waiver.id,
                alert_id=None,
                by=waiver.created_by,
                reason=waiver.reason,
                until=waiver.expires_at,
                words=f"waived by {waiver.created_by} until {waiver.expires_at:%Y-%m-%d %H:%M} UTC: {waiver.reason}",
            )
    for alert in alerts:
        if _is_known(alert, row, run):
            return WaivedOut(
                waiver_id=None,
                alert_id=alert.alert_id,
                by=None,
                reason=None,
                until=None,
                words=f"known: alert {alert.alert_id} is {alert.state}",
            )
    return None


def concerns(waiver: Waiver, run: WaivedRun) -> bool:
    """Return whether a waiver was given for this run."""
    if waiver.target_id not in (None, run.target_id):
        return False
    if waiver.run_id == run.run_id:
        return True
    if waiver.commits is None and waiver.pull_request is None:
        return True
    return (
        waiver.pull_request is not None and waiver.pull_request == run.pull_request
    ) or any(run.commit.startswith(commit) for commit in waiver.commits or ())


def covers(waiver: Waiver, row: ComparisonOut | GateOut) -> bool:
    """Return whether a waiver is about what this row judges."""
    return (
        waiver.kind == kind_of(row)
        and fnmatchcase(row.benchmark, waiver.benchmark)
        and fnmatchcase(row.arm, waiver.arm)
        and fnmatchcase(row.metric, waiver.metric)
        and all(row.params.get(name) == value for name, value in waiver.params.items())
    )


def is_worse(waiver: Waiver, row: ComparisonOut | GateOut) -> bool:
    """Return whether a row is worse than what was waived, for certain: its interval lies beyond."""
    if isinstance(row, GateOut):
        limit = waiver.worst_actual
        return limit is not None and is_worse_than(limit, row)
    if waiver.worst_ratio is None:
        return False
    best = row.ratio if row.lower is None else row.lower
    return best is None or best > waiver.worst_ratio


def _is_known(alert: KnownAlert, row: ComparisonOut | GateOut, run: WaivedRun) -> bool:
    if (alert.benchmark, alert.arm) != (row.benchmark, row.arm):
        return False
    if isinstance(row, GateOut):
        return (
            alert.metric == metric_of(row)
            and alert.demonstration == run.demonstration
            and any(figure.admits(row) for figure in alert.figures)
        )
    if row.sides != "arms" or (alert.metric, alert.demonstration) != (
        row.metric,
        row.demonstration,
    ):
        return False
    accepted = alert.accepted.get(params_key(row.params))
    best = row.ratio if row.lower is None else row.lower
    return accepted is not None and best is not None and best <= accepted


def waiver_words(waiver: Waiver) -> str:
    """Return words such as `gate of native of ledger_* for pull request 7, until 2026-12-01 12:00 UTC`."""
    subject = f"{waiver.kind} of {waiver.arm} of {waiver.benchmark}"
    params: Mapping[str, ParamValue] = waiver.params
    if params:
        subject += f" {params_text(params, ' ')}"
    scopes = [f"commit {commit[:12]}" for commit in waiver.commits or ()]
    if waiver.pull_request is not None:
        scopes.append(f"pull request {waiver.pull_request}")
    scope = f" for {', '.join(scopes)}" if scopes else ""
    return f"{subject}{scope}, until {waiver.expires_at:%Y-%m-%d %H:%M} UTC"
