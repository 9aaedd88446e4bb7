"""Evaluates series and stores the result: read and compute first, then write in one
transaction.

Called when a job left points, and for everything by `paceline-server recompute`. What
must stay true:
- an evaluation of points that are no longer the newest is dropped: whoever appended
  newer ones evaluates again;
- storing the same evaluation twice changes nothing, not even a time;
- points and findings are never changed here.

    evaluate_series ─▶ windows ─▶ evaluate (pure)          read-only, may take long
    store_evaluations ─▶ lock ─▶ still newest? ─▶ plan ─▶ round ─▶ changes, states
    mark_incidents(targets) ─▶ changes that moved together
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.detect.changes import change_rows, incidents, queries
from paceline_server.detect.changes.acceptance import accept_changes, withdraw_changes
from paceline_server.detect.changes.evaluation import Evaluation, Window, evaluate
from paceline_server.detect.changes.planning import ChangePlan, Round, plan_changes
from paceline_server.detect.changes.queries import SeriesRow
from paceline_server.kernel import clock, ids
from paceline_server.stats import constants
from paceline_server.store.tables.history import Change, SeriesState

__all__ = [
    "EvaluatedSeries",
    "SeriesRow",
    "StoreOutcome",
    "accept_changes",
    "evaluate_series",
    "group_into_rounds",
    "list_series",
    "mark_incidents",
    "series_of_job",
    "store_evaluations",
    "withdraw_changes",
]

TOGETHER = 64
"""windows evaluated at once: some 16 MB of numbers."""

list_series = queries.list_series
series_of_job = queries.series_of_job


@dataclass(frozen=True)
class EvaluatedSeries:
    """A series and what detection says of it."""

    head: SeriesRow
    evaluation: Evaluation


@dataclass
class StoreOutcome:
    """What keeping a look changed: how many changes by what became of them, and how many series had news."""

    changes: Counter[str] = field(default_factory=Counter)
    series: int = 0
    news: int = 0

    def add(self, other: StoreOutcome) -> None:
        """Count another one in."""
        self.changes += other.changes
        self.series += other.series
        self.news += other.news


def evaluate_series(
    session: Session, heads: Sequence[SeriesRow]
) -> Iterator[EvaluatedSeries]:
    """Evaluate these series; those without a counting point are left out."""
    by_id = {head.id: head for head in heads}
    found = queries.windows(session, list(by_id), constants.HISTORY_MAX_POINTS)
    windows = (Window(*points) for points in found)
    while some := list(islice(windows, TOGETHER)):
        for evaluation in evaluate(some):
            yield EvaluatedSeries(by_id[evaluation.window.series_id], evaluation)


def group_into_rounds(
    session: Session, heads: Sequence[SeriesRow]
) -> list[list[SeriesRow]]:
    """The series grouped by the job of their newest counting point: what was decided together (§4.6)."""
    newest = queries.newest_counting(session, [head.id for head in heads])
    grouped: dict[str, list[SeriesRow]] = defaultdict(list)
    for head in heads:
        if head.id in newest:
            grouped[newest[head.id]].append(head)
    return [grouped[job_id] for job_id in sorted(grouped)]


def store_evaluations(
    session: Session, *looks: Sequence[EvaluatedSeries]
) -> StoreOutcome:
    """Store what rounds of series say, each round judged by itself (§4.6). Series that have a newer point by
    now are left to whoever added it."""
    keys = [evaluated.head.id for looked in looks for evaluated in looked]
    queries.lock_targets(
        session, {evaluated.head.target_id for looked in looks for evaluated in looked}
    )
    queries.lock_series(session, keys)
    newest = queries.newest_counting(session, keys)
    kept: dict[str, list[Change]] = defaultdict(list)
    for row in queries.kept_changes(session, keys):
        kept[row.series_id].append(row)
    states = queries.states(session, keys)
    planned = [
        [
            (
                evaluated.head,
                plan_changes(
                    evaluated.evaluation,
                    kept[evaluated.head.id],
                    states.get(evaluated.head.id),
                ),
            )
            for evaluated in looked
            if newest.get(evaluated.head.id) == evaluated.evaluation.window.job_ids[-1]
        ]
        for looked in looks
    ]
    plans = [made for plans_of_round in planned for _, made in plans_of_round]
    keeping = _ChangeWriter(
        session,
        queries.places(
            session, {job for made in plans for job in change_rows.needed_jobs(made)}
        ),
        queries.factors(
            session,
            {
                environment.fingerprint
                for made in plans
                for environment in made.evaluation.environments
            },
        ),
        states,
    )
    for plans_of_round in planned:
        decides = Round.of([made for _, made in plans_of_round])
        for head, made in plans_of_round:
            keeping.keep(head, made, decides)
    queries.upsert_states(session, keeping.stored)
    session.flush()
    return StoreOutcome(keeping.changes, len(plans), keeping.news)


def mark_incidents(session: Session, target_ids: Iterable[str]) -> int:
    """Once everything of a round is kept: what moved together on a target is one event (§4.7). Returns how
    many changes are marked otherwise than before."""
    targets = sorted(set(target_ids))
    queries.lock_targets(session, targets)
    session.flush()
    marked = sum(
        incidents.mark_incidents_of_target(session, target_id) for target_id in targets
    )
    session.flush()
    return marked


@dataclass
class _ChangeWriter:
    """What was planned on its way into rows, and what became of it."""

    session: Session
    places: change_rows.Places
    factors: change_rows.Factors
    states: Mapping[str, SeriesState]
    stored: list[dict[str, Any]] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    news: int = 0

    def keep(self, head: SeriesRow, made: ChangePlan, decides: Round) -> None:
        """Write what differs, nothing else."""
        before = self.changes.total()
        self._changes(head, made, decides)
        own = made.evaluation.own_jobs
        columns = {
            "last_job_id": own[-1],
            "points": len(own),
            "segments": change_rows.segment_rows(head, made, self.places, self.factors),
        }
        state = self.states.get(head.id)
        differs = state is None or any(
            getattr(state, name) != value for name, value in columns.items()
        )
        if differs:
            self.stored.append(
                {"series_id": head.id, "evaluated_at": clock.now(), **columns}
            )
        self.news += differs or self.changes.total() > before

    def _changes(self, head: SeriesRow, made: ChangePlan, decides: Round) -> None:
        for row in made.vanished:
            row.state, row.updated_at = "vanished", clock.now()
            self.changes["vanished"] += 1
        for row in made.left:
            row.state = "vanished" if row.state == "suspect" else "superseded"
            row.updated_at = clock.now()
            self.changes[row.state] += 1
        for found in made.found:
            columns = change_rows.change_columns(
                head, made, found, decides.decides(found), self.places
            )
            if found.row is None:
                self._add(head, columns)
            else:
                self._update(found.row, columns)

    def _add(self, head: SeriesRow, columns: dict[str, Any]) -> None:
        at = clock.now()
        self.session.add(
            Change(
                id=ids.new_id("chg"),
                series_id=head.id,
                cause=None,
                alert_id=None,
                found_at=at,
                updated_at=at,
                **columns,
            )
        )
        self.changes["new"] += 1

    def _update(self, row: Change, columns: dict[str, Any]) -> None:
        differing = [
            name for name, value in columns.items() if getattr(row, name) != value
        ]
        if not differing:
            return
        what = (
            "confirmed"
            if "state" in differing
            else "moved"
            if "job_id" in differing
            else "updated"
        )
        self.changes[what] += 1
        for name in differing:
            setattr(row, name, columns[name])
        row.updated_at = clock.now()
