"""Runs the server asks for because of another one: confirmations, old against new, the steps of a bisection.

Place: beside `service`, called by alerts through it. Invariant (I13): a follow-up is a run of its own, of one
target, with the manifest, knobs and amounts of the run it follows, narrowed to what is doubted; it never
becomes a point of a series. Decides nothing about alerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.orm import Session

from paceline_server.catalog import manifest as manifests
from paceline_server.catalog.schemas import ParamValue
from paceline_server.jobs import queries
from paceline_server.jobs.run_creation import store_run
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

MAX_LAUNCHES = 100
"""What a run may ask for (`RunIn.launches`)."""


def confirmation_run(
    session: Session,
    *,
    alert_id: str,
    original_run_id: str,
    benchmarks: Sequence[str],
    params: Mapping[str, Sequence[ParamValue]],
    target_id: str,
    not_before: datetime,
) -> Run:
    """A new session of the same revision, manifest and knobs on one target (I13), narrowed to the doubt.

    One job, leasable from `not_before`. Its job's end without a verdict leaves `alerts.evaluate`.
    """
    original = session.get_one(Run, original_run_id)
    run = _narrowed(original, benchmarks, params)
    run.commit, run.branch, run.trigger = original.commit, original.branch, "confirm"
    run.confirms_alert_id = alert_id
    launches = _launches(session, original, target_id)
    store_run(session, run, [session.get_one(Target, target_id)], not_before, launches)
    return run


def ab_run(
    session: Session,
    *,
    original_run_id: str,
    base_commit: str,
    commit: str,
    benchmarks: Sequence[str],
    params: Mapping[str, Sequence[ParamValue]],
    target_id: str,
    trigger: Literal["confirm", "bisect", "a_a", "manual"],
    alert_id: str | None = None,
    bisection_id: str | None = None,
    times: int = 1,
    not_before: datetime,
) -> Run:
    """Two revisions interleaved in one job on one target: `commit` is judged against `base_commit`.

    Manifest, knobs and amounts are those of `original_run_id`, launches so many `times`. Equal commits make
    an A/A run. The job's end leaves `alerts.evaluate` with its id: with a verdict always, without one where
    an alert or a bisection waits for it. Its comparisons have `sides` = "revisions".
    """
    original = session.get_one(Run, original_run_id)
    run = _narrowed(original, _named_then(session, original, benchmarks), params)
    run.commit, run.base_commit, run.trigger = commit, base_commit, trigger
    run.branch = original.branch if commit == original.commit else None
    run.confirms_alert_id, run.bisection_id = alert_id, bisection_id
    launches = min(MAX_LAUNCHES, _launches(session, original, target_id) * times)
    store_run(session, run, [session.get_one(Target, target_id)], not_before, launches)
    return run


def _launches(session: Session, original: Run, target_id: str) -> int:
    """As many as a job of the original run had on that target."""
    return queries.launches_of(session, original.id, target_id) or original.launches


def _named_then(
    session: Session, original: Run, benchmarks: Sequence[str]
) -> list[str]:
    """The benchmarks as the run's own manifest calls them: history knows them by their newest names."""
    declared, suite = (
        original.manifest["benchmarks"],
        queries.suite(session, original.suite),
    )
    if suite is None or all(name in declared for name in benchmarks):
        return list(benchmarks)
    newest = manifests.read(suite.manifest).benchmarks
    olds = {
        name: [old for old in one.aliases if old in declared]
        for name, one in newest.items()
    }
    return sorted(
        {
            (name if name in declared else (olds.get(name) or [name])[0])
            for name in benchmarks
        }
    )


def _narrowed(
    original: Run, benchmarks: Sequence[str], params: Mapping[str, Sequence[ParamValue]]
) -> Run:
    return Run(
        suite=original.suite,
        repository=original.repository,
        manifest_path=original.manifest_path,
        manifest=original.manifest,
        demonstration=original.demonstration,
        benchmarks=list(benchmarks),
        params={name: list(values) for name, values in params.items()},
        knobs=dict(original.knobs),
        suppress=list(original.suppress),
        rounds=original.rounds,
        min_time_ns=original.min_time_ns,
        created_by="paceline",
    )


def commits_of(session: Session, job_id: str) -> list[dict[str, Any]]:
    """The commits a job's agent named, `{commit, author, at, subject}`, oldest first: of an A/B job those
    after the base up to the head, else the head alone. Empty: the agent did not say."""
    return list(session.get_one(Job, job_id).commits or [])
