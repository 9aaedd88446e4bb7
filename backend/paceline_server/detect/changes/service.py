"""Evaluates series and stores the result: reads and computes first, then writes in one transaction.

An evaluation of points that are no longer the newest is dropped, because whoever appended newer ones evaluates
again. Storing the same evaluation twice changes nothing, not even a time.

    evaluate_series ─▶ windows ─▶ evaluate (pure)          read-only, may take long
    evaluate_history ─▶ the same for points that arrived at once, also where they end an environment
    store_evaluations ─▶ lock ─▶ still newest? ─▶ plan ─▶ round ─▶ changes, states
    mark_target_shifts(targets) ─▶ changes of many series around the same run (stats/README.md §4.7)

Accepting a change that people called expected moves the baseline of its series to the accepted level; accepted changes
are never evaluated again. `evidence.accepted` keeps the state before, so that withdrawing restores it exactly. Locks
series, then changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.detect.changes import change_rows, queries
from paceline_server.detect.changes.evaluation import Evaluation, Window, evaluate
from paceline_server.detect.changes.planning import ChangePlan, Round, plan_changes
from paceline_server.detect.changes.queries import SeriesRow
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import invalid_request
from paceline_server.series import service as series
from paceline_server.series.environments import cut_into_environments
from paceline_server.stats import constants
from paceline_server.stats.plain_words import percent
from paceline_server.stats.target_shifts import find_target_shifts
from paceline_server.store.tables.history import (
    TARGET_SHIFT,
    Change,
    SeriesPoint,
    SeriesState,
)

__all__ = [
    "EvaluatedSeries",
    "SeriesRow",
    "StoreOutcome",
    "accept_changes",
    "evaluate_history",
    "evaluate_series",
    "group_into_rounds",
    "list_series",
    "list_series_on",
    "mark_target_shifts",
    "series_of_job",
    "store_evaluations",
    "withdraw_changes",
]

WINDOWS_AT_ONCE = 64
"""Windows evaluated together, about 16 MB."""
ALL_POINTS = 1 << 30
"""More points than a series has."""

list_series = queries.list_series
list_series_on = queries.list_series_on
series_of_job = queries.series_of_job


@dataclass(frozen=True)
class EvaluatedSeries:
    """A series with its evaluation. `after`: of points before the newest ones, the last job of the evaluation that
    must be stored before it, empty if it is the first."""

    head: SeriesRow
    evaluation: Evaluation
    after: str | None = None


@dataclass
class StoreOutcome:
    """The result of storing evaluations: changes by kind, and series that differ from before."""

    changes: Counter[str] = field(default_factory=Counter)
    series: int = 0
    differing: int = 0

    def add(self, other: StoreOutcome) -> None:
        """Add another outcome."""
        self.changes += other.changes
        self.series += other.series
        self.differing += other.differing


def evaluate_series(
    session: Session, heads: Sequence[SeriesRow]
) -> Iterator[EvaluatedSeries]:
    """Evaluate these series; those without counted points are left out."""
    by_id = {head.id: head for head in heads}
    rows = queries.windows(session, list(by_id), constants.HISTORY_MAX_POINTS)
    windows = (Window(*points) for points in rows)
    while batch := list(islice(windows, WINDOWS_AT_ONCE)):
        for evaluation in evaluate(batch):
            yield EvaluatedSeries(by_id[evaluation.window.series_id], evaluation)


def evaluate_history(
    session: Session, heads: Sequence[SeriesRow]
) -> list[list[list[EvaluatedSeries]]]:
    """Evaluate series of which many points arrived at once, as if they had arrived one after the other.

    A series is evaluated at the end of each environment and every half window, too. Returns rounds to store, those of the
    newest points last.
    """
    states = queries.states(session, [head.id for head in heads])
    windows = (
        (head, number, after, window)
        for head in heads
        for number, (after, window) in enumerate(
            _list_windows(session, head, states.get(head.id))
        )
    )
    evaluated: dict[tuple[bool, int], list[EvaluatedSeries]] = defaultdict(list)
    while batch := list(islice(windows, WINDOWS_AT_ONCE)):
        evaluations = evaluate([window for *_, window in batch])
        for (head, number, after, _), evaluation in zip(
            batch, evaluations, strict=True
        ):
            place = (False, number) if after is not None else (True, 0)
            evaluated[place].append(EvaluatedSeries(head, evaluation, after))
    return [_group_evaluated(evaluated[place]) for place in sorted(evaluated)]


def _list_windows(
    session: Session, head: SeriesRow, state: SeriesState | None
) -> Iterator[tuple[str | None, Window]]:
    """Yield (the job that was evaluated last before, the window) of a series' points since its last evaluation."""
    size = constants.HISTORY_MAX_POINTS
    for row in queries.windows(session, [head.id], ALL_POINTS):
        jobs = row.job_ids
        after = "" if state is None else state.last_job_id
        examined = jobs.index(after) + 1 if after in jobs else 0
        stretches = cut_into_environments(row.fingerprints, row.declarations)
        ends = {stretch.stop for stretch in stretches[:-1]}
        ends.update(range(examined + size, len(jobs), size // 2))
        for end in sorted(end for end in ends if end > examined):
            yield after, _window_until(row, end)
            after = jobs[end - 1]
        yield None, _window_until(row, len(jobs))


def _window_until(row: queries.WindowRow, end: int) -> Window:
    start = max(0, end - constants.HISTORY_MAX_POINTS)
    part = slice(start, end)
    return Window(
        row.series_id,
        row.job_ids[part],
        row.values[part],
        row.fingerprints[part],
        start == 0,
        row.declarations[part],
    )


def group_into_rounds(
    session: Session, heads: Sequence[SeriesRow]
) -> list[list[SeriesRow]]:
    """Group series by the job of their newest counted point; they are decided together (§4.6)."""
    newest = queries.newest_counted_job(session, [head.id for head in heads])
    grouped: dict[str, list[SeriesRow]] = defaultdict(list)
    for head in heads:
        if head.id in newest:
            grouped[newest[head.id]].append(head)
    return [grouped[job_id] for job_id in sorted(grouped)]


def _group_evaluated(
    evaluated_series: Iterable[EvaluatedSeries],
) -> list[list[EvaluatedSeries]]:
    """Group evaluated series as `group_into_rounds` does."""
    grouped: dict[str, list[EvaluatedSeries]] = defaultdict(list)
    for evaluated in evaluated_series:
        grouped[evaluated.evaluation.window.job_ids[-1]].append(evaluated)
    return [grouped[job_id] for job_id in sorted(grouped)]


def store_evaluations(
    session: Session, *rounds: Sequence[EvaluatedSeries]
) -> StoreOutcome:
    """Store the evaluations of rounds of series, each round judged separately (§4.6). Series with a newer point, or that
    another evaluation was stored of meanwhile, are skipped."""
    keys = [evaluated.head.id for round_ in rounds for evaluated in round_]
    queries.lock_targets(
        session, {evaluated.head.target_id for round_ in rounds for evaluated in round_}
    )
    queries.lock_series(session, keys)
    newest = queries.newest_counted_job(session, keys)
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
            for evaluated in round_
            if _is_due(evaluated, newest, states)
        ]
        for round_ in rounds
    ]
    plans = [plan for plans_of_round in planned for _, plan in plans_of_round]
    writer = _ChangeWriter(
        session,
        queries.places(
            session, {job for plan in plans for job in change_rows.needed_jobs(plan)}
        ),
        series.fingerprints(
            session,
            {
                environment.fingerprint
                for plan in plans
                for environment in plan.evaluation.environments
            },
        ),
        states,
    )
    for plans_of_round in planned:
        decision_round = Round.of([plan for _, plan in plans_of_round])
        for head, plan in plans_of_round:
            writer.write(head, plan, decision_round)
    queries.upsert_states(session, writer.stored)
    session.flush()
    return StoreOutcome(writer.changes, len(plans), writer.differing)


def _is_due(
    evaluated: EvaluatedSeries,
    newest: Mapping[str, str],
    states: Mapping[str, SeriesState],
) -> bool:
    series_id = evaluated.head.id
    if evaluated.after is None:
        return newest.get(series_id) == evaluated.evaluation.window.job_ids[-1]
    state = states.get(series_id)
    return ("" if state is None else state.last_job_id) == evaluated.after


def mark_target_shifts(session: Session, target_ids: Iterable[str]) -> int:
    """Mark the shifts of whole targets after storing a round (§4.7); returns how many changes differ."""
    targets = sorted(set(target_ids))
    queries.lock_targets(session, targets)
    session.flush()
    marked = sum(_mark_shifts_of_target(session, target_id) for target_id in targets)
    session.flush()
    return marked


@dataclass
class _ChangeWriter:
    """Writes planned changes into rows and counts them."""

    session: Session
    places: change_rows.Places
    factors: change_rows.Factors
    states: Mapping[str, SeriesState]
    stored: list[dict[str, Any]] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    differing: int = 0

    def write(self, head: SeriesRow, plan: ChangePlan, round_: Round) -> None:
        """Write the changes and the state of a series, if they differ."""
        before = self.changes.total()
        self._write_changes(head, plan, round_)
        own_jobs = plan.evaluation.own_jobs
        columns = {
            "last_job_id": own_jobs[-1],
            "points": len(own_jobs),
            "segments": change_rows.segment_rows(head, plan, self.places, self.factors),
        }
        state = self.states.get(head.id)
        differs = state is None or any(
            getattr(state, name) != value for name, value in columns.items()
        )
        if differs:
            self.stored.append(
                {"series_id": head.id, "evaluated_at": clock.now(), **columns}
            )
        self.differing += differs or self.changes.total() > before

    def _write_changes(self, head: SeriesRow, plan: ChangePlan, round_: Round) -> None:
        for row in plan.vanished:
            row.state, row.updated_at = "vanished", clock.now()
            self.changes["vanished"] += 1
        for row in plan.out_of_reach:
            row.state = "vanished" if row.state == "suspect" else "superseded"
            row.updated_at = clock.now()
            self.changes[row.state] += 1
        for matched in plan.matched:
            columns = change_rows.change_columns(
                head, plan, matched, round_.decide(matched), self.places
            )
            if matched.row is None:
                self._add(head, columns)
            else:
                self._update(matched.row, columns)

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
        kind = (
            "confirmed"
            if "state" in differing
            else "moved"
            if "job_id" in differing
            else "updated"
        )
        self.changes[kind] += 1
        for name in differing:
            setattr(row, name, columns[name])
        row.updated_at = clock.now()


def _mark_shifts_of_target(session: Session, target_id: str) -> int:
    """Mark the changes of a target that belong to a shift of it and unmark the others; returns how many
    differ."""
    job_ids = queries.newest_jobs_of_target(
        session, target_id, constants.TARGET_SHIFT_HORIZON
    )
    position = {job_id: run_number for run_number, job_id in enumerate(job_ids)}
    runs_by_series: dict[str, list[int]] = defaultdict(list)
    changes = queries.live_changes_at(session, target_id, job_ids)
    for row in changes:
        runs_by_series[row.series_id].append(position[row.job_id])
    shift_by_change: dict[tuple[str, int], dict[str, object]] = {}
    if len(runs_by_series) > 1:
        measured = queries.count_series_measured_since(session, target_id, job_ids[0])
        for shift in find_target_shifts(runs_by_series, measured):
            evidence = {
                "job_id": job_ids[shift.run],
                "share": shift.share,
                "series": len(shift.series),
                "measured": measured,
                "text": (
                    f"{len(shift.series)} of {measured} series of this target "
                    f"({percent(shift.share)}) moved within {constants.TARGET_SHIFT_RUNS} runs of each other"
                ),
            }
            for name in shift.series:
                for run in runs_by_series[name]:
                    if abs(run - shift.run) <= constants.TARGET_SHIFT_RUNS:
                        shift_by_change.setdefault((name, run), evidence)
    return sum(
        _set_shift(row, shift_by_change.get((row.series_id, position[row.job_id])))
        for row in changes
    )


def _set_shift(row: Change, shift: dict[str, object] | None) -> bool:
    if row.evidence.get(TARGET_SHIFT) == shift or (
        shift is None and row.alert_id is not None
    ):
        return False
    evidence = {
        name: value for name, value in row.evidence.items() if name != TARGET_SHIFT
    }
    if shift is not None:
        evidence[TARGET_SHIFT] = shift
    row.evidence = evidence
    if row.alert_id is None:
        row.cause = None if shift is None else "environment"
    row.updated_at = clock.now()
    return True


def accept_changes(
    session: Session, change_ids: Collection[str], *, by: str, commit: str | None = None
) -> None:
    """Accept the live changes of the alert `by`, and changes without an alert up to the new baseline.

    The baseline is the newest of these changes, or the oldest point of `commit`. Raises 400 for a commit at
    which a series has no point, or one that is older than a change to accept.
    """
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock_series(session, series_ids)
    queries.lock_changes(session, series_ids)
    rows = [
        row
        for row in queries.changes_by_id(session, change_ids)
        if row.state in queries.LIVE
    ]
    for series_id in series_ids:
        own_changes = [row for row in rows if row.series_id == series_id]
        points = [queries.first_point_after(session, row) for row in own_changes]
        newest = max(points, key=_point_order, default=None)
        baseline = (
            newest
            if commit is None
            else _baseline_point(session, series_id, commit, newest)
        )
        if baseline is None:
            continue
        unclaimed = queries.unclaimed_changes_until(session, series_id, baseline.at)
        for row in {row.id: row for row in own_changes + unclaimed}.values():
            _accept(row, by, baseline.job_id)
        session.flush()
        _update_baseline(session, series_id, baseline)


def _baseline_point(
    session: Session, series_id: str, commit: str, newest: SeriesPoint | None
) -> SeriesPoint:
    point = queries.find_point(session, series_id, None, commit)
    if point is None:
        text = f"The series {series_id} has no point at commit {commit}."
        raise invalid_request(text, {"baseline_commit": f"no point of {series_id}"})
    if newest is not None and _point_order(point) < _point_order(newest):
        text = f"Commit {commit} was measured before the change at {newest.commit} that would be accepted."
        raise invalid_request(
            text, {"baseline_commit": f"before the change of {series_id}"}
        )
    return point


def withdraw_changes(session: Session, change_ids: Collection[str], *, by: str) -> None:
    """Restore the changes that the alert `by` accepted in the series of these changes, and the baselines."""
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock_series(session, series_ids)
    queries.lock_changes(session, series_ids)
    for series_id in series_ids:
        for row in queries.accepted_changes(session, series_id):
            accepted = row.evidence.get("accepted", {})
            if accepted.get("by") == by:
                row.evidence = {
                    name: value
                    for name, value in row.evidence.items()
                    if name != "accepted"
                }
                row.state, row.updated_at = accepted["was"], clock.now()
        session.flush()
        _update_baseline(session, series_id, None)


def _accept(row: Change, by: str, baseline_job_id: str) -> None:
    accepted: dict[str, Any] = {
        "by": by,
        "was": row.state,
        "baseline_job_id": baseline_job_id,
    }
    row.evidence = row.evidence | {"accepted": accepted}
    row.state, row.updated_at = "accepted", clock.now()


def _update_baseline(
    session: Session, series_id: str, baseline: SeriesPoint | None
) -> None:
    """Set a series' baseline to the newest of `baseline` and its accepted changes."""
    points = [] if baseline is None else [baseline]
    for row in queries.accepted_changes(session, series_id):
        job_id = row.evidence.get("accepted", {}).get("baseline_job_id", row.job_id)
        point = queries.find_point(session, series_id, job_id, None)
        points += [] if point is None else [point]
    newest = max(points, key=_point_order, default=None)
    state = session.get(SeriesState, series_id)
    if state is None:
        state = SeriesState(
            series_id=series_id,
            evaluated_at=clock.now(),
            last_job_id="",
            points=0,
            segments=[],
        )
        session.add(state)
    state.baseline_job_id = None if newest is None else newest.job_id
    session.flush()


def _point_order(point: SeriesPoint) -> tuple[Any, str]:
    return point.at, point.job_id
