"""Looking at series and keeping what was seen: reading and computing first, then one transaction of writes.

Place: `detect` calls it when a job left points, `paceline-server recompute` for everything; `alerts` and
`reports` read what it keeps. Invariants:
- what was computed from points that are no longer the newest is dropped: whoever appended looks again;
- keeping the same look twice changes nothing, not even a time;
- points and findings are never touched here.

    look(series) ─▶ windows ─▶ evaluate (pure)          read-only, may take long
    keep(looked) ─▶ lock ─▶ still newest? ─▶ plan ─▶ round ─▶ changes, states ─▶ incidents of the target
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.series.detection import incidents, queries, rows
from paceline_server.series.detection.evaluation import Evaluation, Window, evaluate
from paceline_server.series.detection.planning import Plan, Round, plan
from paceline_server.series.detection.queries import Head
from paceline_server.stats import constants
from paceline_server.store.tables.history import Change, SeriesState

__all__ = ["Head", "Looked", "Outcome", "all_heads", "keep", "look", "rounds", "touched"]

all_heads = queries.heads
touched = queries.touched


@dataclass(frozen=True)
class Looked:
    """A series and what detection says of it."""

    head: Head
    evaluation: Evaluation


@dataclass
class Outcome:
    """What keeping a look changed: how many changes by what became of them, and how many series had news."""

    changes: Counter[str] = field(default_factory=Counter)
    series: int = 0
    news: int = 0

    def add(self, other: Outcome) -> None:
        self.changes += other.changes
        self.series += other.series
        self.news += other.news


def look(session: Session, heads: Sequence[Head]) -> Iterator[Looked]:
    """Evaluate these series; those without a counting point are left out."""
    by_id = {head.id: head for head in heads}
    for points, whole in queries.windows(session, list(by_id), constants.HISTORY_MAX_POINTS):
        series_id = points[0].series_id
        window = Window(
            series_id,
            [point.job_id for point in points],
            [point.value for point in points],
            [point.fingerprint for point in points],
            whole,
        )
        yield Looked(by_id[series_id], evaluate(window))


def rounds(session: Session, heads: Sequence[Head]) -> list[list[Head]]:
    """The series grouped by the job of their newest counting point: what was decided together (§4.6)."""
    newest = queries.newest_counting(session, [head.id for head in heads])
    grouped: dict[str, list[Head]] = defaultdict(list)
    for head in heads:
        if head.id in newest:
            grouped[newest[head.id]].append(head)
    return [grouped[job_id] for job_id in sorted(grouped)]


def keep(session: Session, looked: Sequence[Looked]) -> Outcome:
    """Store what a round of series says. Series that have a newer point by now are left to whoever added
    it."""
    keys = [one.head.id for one in looked]
    queries.lock(session, keys)
    newest = queries.newest_counting(session, keys)
    fresh = [one for one in looked if newest.get(one.head.id) == one.evaluation.window.job_ids[-1]]
    kept: dict[str, list[Change]] = defaultdict(list)
    for row in queries.kept_changes(session, [one.head.id for one in fresh]):
        kept[row.series_id].append(row)
    states = queries.states(session, [one.head.id for one in fresh])
    plans = [plan(one.evaluation, kept[one.head.id], states.get(one.head.id)) for one in fresh]
    places = queries.places(session, {job for one in plans for job in rows.needed_jobs(one)})
    hashes = {one.fingerprint for each in plans for one in each.evaluation.environments}
    factors = queries.factors(session, hashes)
    keeping, stored = _Keeping(session, Round.of(plans), places), []
    for one, made in zip(fresh, plans, strict=True):
        before = keeping.changes.total()
        keeping.keep(one.head, made)
        own = made.evaluation.own_jobs
        columns = {
            "last_job_id": own[-1],
            "points": len(own),
            "segments": rows.segments(one.head, made, places, factors),
        }
        differs = _differs(states.get(one.head.id), columns)
        if differs:
            stored.append({"series_id": one.head.id, "evaluated_at": clock.now(), **columns})
        keeping.news += differs or keeping.changes.total() > before
    queries.upsert_states(session, stored)
    session.flush()
    for target_id in sorted({one.head.target_id for one in fresh}):
        keeping.changes["marked"] += incidents.mark(session, target_id)
    session.flush()
    return Outcome(keeping.changes, len(fresh), keeping.news)


def _differs(row: SeriesState | None, columns: dict[str, Any]) -> bool:
    return row is None or any(getattr(row, name) != value for name, value in columns.items())


@dataclass
class _Keeping:
    """The changes of one round on their way into rows, and what became of them."""

    session: Session
    decides: Round
    places: rows.Places
    changes: Counter[str] = field(default_factory=Counter)
    news: int = 0

    def keep(self, head: Head, made: Plan) -> None:
        """Write what differs, nothing else."""
        for row in made.vanished:
            row.state, row.updated_at = "vanished", clock.now()
            self.changes["vanished"] += 1
        for found in made.found:
            columns = rows.change_columns(head, made, found, self.decides.decides(found), self.places)
            if found.row is None:
                self._add(head, columns)
            else:
                self._update(found.row, columns)

    def _add(self, head: Head, columns: dict[str, Any]) -> None:
        at = clock.now()
        self.session.add(
            Change(
                id=ids.new_id("chg"), series_id=head.id, cause=None, alert_id=None, found_at=at,
                updated_at=at, **columns,
            )
        )  # fmt: skip
        self.changes["new"] += 1

    def _update(self, row: Change, columns: dict[str, Any]) -> None:
        differing = [name for name, value in columns.items() if getattr(row, name) != value]
        if not differing:
            return
        what = "confirmed" if "state" in differing else "moved" if "job_id" in differing else "updated"
        self.changes[what] += 1
        for name in differing:
            setattr(row, name, columns[name])
        row.updated_at = clock.now()
