"""Creates runs that follow another run: confirmations of an alert, A/B runs, steps of a bisection.

A follow-up has one target and the manifest, knobs, launches and rounds of the run it follows, limited to the doubtful
benchmarks. It never adds a point to a series (I13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from paceline_contract.events import ParamValue
from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.jobs import queries
from paceline_server.jobs.run_creation import new_run, store_run
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

MAX_LAUNCHES = 100
"""The limit of `RunIn.launches`."""


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
    """Create a run that measures the same revision, manifest and knobs again on one target (I13).

    It has one job, which can be leased from `not_before`. If it ends without a verdict, the outbox gets
    `alerts.evaluate`.
    """
    original = session.get_one(Run, original_run_id)
    run = _narrow(original, benchmarks, params)
    run.commit, run.branch, run.trigger = original.commit, original.branch, "confirm"
    run.confirms_alert_id = alert_id
    run.stop_when_sure = True
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
    """Create a run that measures two revisions, interleaved in one job on one target, and judges `commit` against
    `base_commit`.

    Manifest, knobs, launches and rounds are those of `original_run_id`; `times` multiplies the launches. Equal commits
    make an A/A run. When the job ends, the outbox gets `alerts.evaluate` if it has a verdict, or if an alert or a
    bisection waits for it. Its comparisons have `sides` = "revisions".
    """
    original = session.get_one(Run, original_run_id)
    run = _narrow(original, _names_in_manifest(session, original, benchmarks), params)
    run.commit, run.base_commit, run.trigger = commit, base_commit, trigger
    run.branch = original.branch if commit == original.commit else None
    run.confirms_alert_id, run.bisection_id = alert_id, bisection_id
    run.stop_when_sure = commit != base_commit
    launches = min(MAX_LAUNCHES, _launches(session, original, target_id) * times)
    store_run(session, run, [session.get_one(Target, target_id)], not_before, launches)
    return run


def _launches(session: Session, original: Run, target_id: str) -> int:
    """Return the number of launches that the original run's job had on that target."""
    return queries.launches_of(session, original.id, target_id) or original.launches


def _names_in_manifest(
    session: Session, original: Run, benchmarks: Sequence[str]
) -> list[str]:
    """Return the names that the run's own manifest has for `benchmarks`, which are given by their newest names."""
    declared, suite = (
        original.manifest["benchmarks"],
        queries.suite(session, original.suite),
    )
    if suite is None or all(name in declared for name in benchmarks):
        return list(benchmarks)
    newest = read_manifest(suite.manifest).benchmarks
    old_names = {
        name: [alias for alias in benchmark.aliases if alias in declared]
        for name, benchmark in newest.items()
    }
    return sorted(
        {
            (name if name in declared else (old_names.get(name) or [name])[0])
            for name in benchmarks
        }
    )


def _narrow(
    original: Run, benchmarks: Sequence[str], params: Mapping[str, Sequence[ParamValue]]
) -> Run:
    return new_run(
        "paceline",
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
    )


def commits_of(session: Session, job_id: str) -> list[dict[str, Any]]:
    """Return the commits that a job's agent reported, `{commit, author, at, subject}`, oldest first: for an A/B job
    those after the base up to the head, for others only the head. The list is empty if the agent reported none."""
    return list(session.get_one(Job, job_id).commits or [])
