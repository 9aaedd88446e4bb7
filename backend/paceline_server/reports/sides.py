"""Resolves one side of a comparison, and classifies how far apart two sides are.

A side is a run, or all runs that measured a revision for history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.kernel.errors import invalid_request, not_found
from paceline_server.reports import queries
from paceline_server.reports.history_schemas import (
    CompareSideOut,
    Magnitude,
    Significance,
)
from paceline_server.reports.queries import ReportedJobRow
from paceline_server.store.tables.jobs import IMPORTED, Run

SMALL, MEDIUM, LARGE = 0.01, 0.05, 0.20
"""Ratio minus 1: below 1 % is not worth mentioning, from 5 % on users may notice, from 20 % on they will."""

COMMIT = re.compile(r"^[0-9a-f]{7,64}$")


@dataclass(frozen=True)
class ComparedSide:
    """The runs of a side, newest first, and the reports of their jobs, oldest first."""

    name: str
    runs: Sequence[Run]
    reports: Sequence[ReportedJobRow]
    is_run: bool

    @property
    def suite(self) -> str:
        return self.runs[0].suite

    @property
    def commit(self) -> str:
        return self.runs[0].commit

    @property
    def branch(self) -> str:
        return self.runs[0].branch or ""

    @property
    def newest(self) -> dict[str, ReportedJobRow]:
        """The newest job of each target, by target id."""
        return {report.target.id: report for report in self.reports}

    @property
    def at(self) -> datetime:
        """When its newest run was requested; where another tool measured it, when that was."""
        first = self.runs[0]
        if first.trigger != IMPORTED or not self.reports:
            return first.created_at
        return self.reports[-1].job.started_at or first.created_at

    def out(self) -> CompareSideOut:
        """Return the wire shape of this side."""
        first = self.runs[0]
        return CompareSideOut(
            name=self.name,
            run_id=first.id if self.is_run else None,
            commit=first.commit,
            at=self.at,
            runs=len(self.runs),
            demonstration=first.demonstration,
        )


def resolve_side(
    session: Session, field: str, name: str, suite: str | None
) -> ComparedSide:
    """Return the side with this name. Raises 404 for an unknown run or revision; 400 for a name that is neither, or
    that several suites or commits match."""
    if name.startswith("run_"):
        run = queries.find_run(session, name)
        if run is None:
            raise not_found("run", name)
        return ComparedSide(
            name, [run], queries.reports_of_runs(session, [run.id]), True
        )
    if not COMMIT.match(name):
        raise invalid_request(
            f"{field}: expected a run's id or 7 or more hexadecimal digits of a commit.",
            {field: "unknown"},
        )
    runs = queries.runs_of_revision(session, suite, name)
    if not runs:
        raise not_found("measured revision", name)
    for what, values in (
        ("suites", {run.suite for run in runs}),
        ("commits", {run.commit for run in runs}),
    ):
        if len(values) > 1:
            raise invalid_request(
                f"{field}: {name} is of several {what}: {', '.join(sorted(values))}."
            )
    return ComparedSide(
        name, runs, queries.reports_of_runs(session, [run.id for run in runs]), False
    )


def significance(
    ratio: float | None, lower: float | None, upper: float | None, mde: float | None
) -> Significance:
    """Return how clear a difference is: `clear` if the interval excludes 1 and the ratio exceeds the noise floor, if
    that is known."""
    if ratio is None or lower is None or upper is None or lower <= 1.0 <= upper:
        return "uncertain"
    return "below_noise" if mde is not None and abs(ratio - 1.0) < mde else "clear"


def magnitude(ratio: float | None) -> Magnitude:
    """Return the size class of a ratio in either direction."""
    if ratio is None or ratio <= 0.0:
        return "none"
    away = max(ratio, 1.0 / ratio) - 1.0
    if away < SMALL:
        return "none"
    return "small" if away < MEDIUM else "medium" if away < LARGE else "large"
