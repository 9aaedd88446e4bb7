"""Stores the manifests that agents read at the commits they measure, which then decide what a run measures.

All jobs of a run measure the same commits, so the first report is stored, a report of the same manifests changes
nothing, and a report of others is refused. Before a report, and with agents that report none, the announcement counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paceline_contract.announcements import manifest_digest
from paceline_contract.attempts import ManifestReport
from paceline_contract.events import ParamValue
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.names import SidePairing
from sqlalchemy.orm import Session

from paceline_server.jobs import queries, run_views
from paceline_server.jobs.declarations import suite_declaration
from paceline_server.jobs.leases import LeaseClaim, check_lease
from paceline_server.jobs.schemas import PlanOut
from paceline_server.jobs.selection import select_measurements
from paceline_server.kernel.errors import ProblemError, conflict
from paceline_server.store import live_events
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run


class ReadManifest(NamedTuple):
    """A valid manifest as the agent sent it, with its digest."""

    manifest: Manifest
    raw: dict[str, Any]
    digest: str


class ReportedManifests(NamedTuple):
    """The manifests that an agent read: at the run's commit and, in a job of two revisions, at the base."""

    head: ReadManifest
    base: ReadManifest | None


@dataclass(frozen=True)
class _Request:
    """The selection that a run requested, with the names of the measured commit."""

    benchmarks: Sequence[str] | None
    params: Mapping[str, Sequence[ParamValue]]
    knobs: Mapping[str, ParamValue]
    suppress: Sequence[str]


def read_report(report: ManifestReport) -> ReportedManifests:
    """Read the manifests of a report, without the database. Raises 422 that names an invalid one."""
    base = report.base_manifest
    return ReportedManifests(
        _read("manifest", report.manifest),
        None if base is None else _read("base_manifest", base),
    )


def _read(field: str, raw: dict[str, Any]) -> ReadManifest:
    try:
        return ReadManifest(read_manifest(raw), raw, manifest_digest(raw))
    except ManifestError as error:
        text = f"The {field.replace('_', ' ')} is not valid: {error}. Mend it, and commit that."
        raise ProblemError(
            422, "invalid_request", text[:2000], fields={field: str(error)[:500]}
        ) from None


def plan_job(
    session: Session, claim: LeaseClaim, reported: ReportedManifests
) -> PlanOut:
    """Store the manifests that an agent read at the commits of its job, and return what the job measures by them.

    Raises 404, 409 `lease_lost`, 409 `other_manifest` if another one was stored before, 409 `conflict` once something
    was measured, and 422 with advice if these manifests do not have what was requested."""
    job = check_lease(session, claim).job
    run = queries.lock_run(session, job.run_id)
    _check_sides(run, reported)
    target = session.get_one(Target, job.target_id)
    if not _is_kept(run, reported):
        _check_not_measured(session, run, job, reported)
        _plan_run(session, run, reported)
    names = [
        name
        for name in reported.head.manifest.benchmarks_on(target.kind)
        if name in run.benchmarks
    ]
    _check_target(run, reported, target, names)
    return PlanOut(benchmarks=names)


def _place(run: Run, side: str = "head") -> str:
    commit = run.commit if side == "head" else run.base_commit or "the base"
    return f"{run.manifest_path} at {commit[:12]}"


def _refusal(field: str, text: str) -> ProblemError:
    return ProblemError(422, "invalid_request", text[:2000], fields={field: text[:500]})


def _check_sides(run: Run, reported: ReportedManifests) -> None:
    """Raise 422 unless there is a manifest of this suite for each side of the run."""
    if run.compares_revisions and reported.base is None:
        raise _refusal(
            "base_manifest",
            "This job measures two revisions: report the manifest of the base, too.",
        )
    if reported.base is not None and not run.compares_revisions:
        raise _refusal("base_manifest", "This job measures one revision: leave it out.")
    for field, side, read in (
        ("manifest", "head", reported.head),
        ("base_manifest", "base", reported.base),
    ):
        name = run.suite if read is None else read.manifest.suite.name
        if name != run.suite:
            raise _refusal(
                field,
                f"{_place(run, side)} is the suite {name!r}, and this run measures {run.suite!r}. Give the suite its "
                f"name back in that file, or request a run of {name!r}.",
            )


def _is_kept(run: Run, reported: ReportedManifests) -> bool:
    """Return whether the same manifests were reported before. Raises 409 `other_manifest` if others were."""
    if not run.manifest_of_commit:
        return False
    kept = (run.manifest, run.base_manifest)
    for raw, read in zip(kept, reported, strict=True):
        if raw is not None and read is not None and manifest_digest(raw) != read.digest:
            raise conflict(
                f"Another agent of this run read another {run.manifest_path} at the same commit. Give both "
                "repositories the same commits, then repeat the run.",
                "other_manifest",
            )
    return True


def _check_not_measured(
    session: Session, run: Run, job: Job, reported: ReportedManifests
) -> None:
    """Raise 409 if samples are stored, which another manifest allowed, or if this attempt measures already."""
    if job.state not in ("leased", "preparing"):
        raise conflict(
            "Report the manifest before the attempt measures: what it measured was checked against another."
        )
    has_samples = any(
        other.samples for other, _ in queries.jobs_of_runs(session, [run.id])[run.id]
    )
    if has_samples and manifest_digest(run.manifest) != reported.head.digest:
        raise conflict(
            f"Samples of this run are stored already, by another {run.manifest_path} than the one at its commit. "
            "Repeat the run."
        )


def _plan_run(session: Session, run: Run, reported: ReportedManifests) -> None:
    """Plan the run by these manifests. Raises 422 naming what was requested and is not in them."""
    head = reported.head.manifest
    names = None if run.whole_suite else _requested_names(run, reported)
    request = _Request(names, run.params, run.knobs, run.suppress)
    selection = select_measurements(
        suite_declaration(reported.head.raw), request, run.suppress
    )
    if selection.faults:
        field, fault = next(iter(selection.faults.items()))
        raise ProblemError(
            422,
            "invalid_request",
            f"{_place(run)}: {field}: {fault}. Request what this commit declares, or declare it there.",
            fields=selection.faults,
        )
    base_only = (
        []
        if names is None
        else [name for name in run.benchmarks if name not in head.benchmarks]
    )
    known = dict.fromkeys([*selection.benchmarks, *_at_base(reported, base_only)])
    run.manifest, run.manifest_of_commit = reported.head.raw, True
    run.base_manifest = None if reported.base is None else reported.base.raw
    run.benchmarks, run.params, run.knobs = (
        list(known),
        selection.params,
        selection.knobs,
    )
    run.demonstration = selection.demonstration
    session.flush()
    jobs = queries.jobs_of_runs(session, [run.id])[run.id]
    live_events.emit(session, "run", run.id, None, run_views.run_event(run, jobs))


def _requested_names(run: Run, reported: ReportedManifests) -> list[str]:
    """Return the benchmarks that a run requested, by the names of its commit. For an A/B run, those that the head does
    not have are left out; other runs with such a benchmark are refused later."""
    head = reported.head.manifest
    announced = SidePairing.of(read_manifest(run.manifest), head)
    names = dict.fromkeys(announced.benchmark_in_head(name) for name in run.benchmarks)
    if not run.compares_revisions or reported.base is None:
        return list(names)
    at_base = reported.base.manifest.benchmarks
    nowhere = [
        name
        for name in run.benchmarks
        if announced.benchmark_in_head(name) not in head.benchmarks
        and name not in at_base
    ]
    if nowhere:
        raise _refusal(
            "benchmarks",
            f"Neither {_place(run)} nor {_place(run, 'base')} declares {', '.join(nowhere)}. Request what one of them "
            "declares.",
        )
    if kept := [name for name in names if name in head.benchmarks]:
        return kept
    raise _refusal(
        "benchmarks",
        f"{_place(run)} does not declare {', '.join(names)}, so there is nothing to compare. If a benchmark "
        "was renamed, give its former name in the new one's `aliases`.",
    )


def _at_base(
    reported: ReportedManifests, names: Sequence[str] | Mapping[str, Any]
) -> list[str]:
    """Return those of `names` that only the base declares."""
    base = reported.base
    return [
        name
        for name in names
        if base is not None
        and name in base.manifest.benchmarks
        and name not in reported.head.manifest.benchmarks
    ]


def _check_target(
    run: Run, reported: ReportedManifests, target: Target, names: Sequence[str]
) -> None:
    """Raise 422 if a requested benchmark does not run on this kind of target, or if none does."""
    declared = reported.head.manifest.benchmarks
    unfit = [name for name in run.benchmarks if name in declared and name not in names]
    if unfit and (not run.whole_suite or not names):
        section = "android" if target.kind == "device" else "host"
        workload = declared[unfit[0]].workload
        raise _refusal(
            "benchmarks",
            f"{_place(run)}: {unfit[0]} does not run on a {target.kind}. Give the workload {workload!r} a section "
            f"`{section}`, or request other benchmarks.",
        )
