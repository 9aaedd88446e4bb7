"""Decisions of the catalogue: which manifest is a suite's current one, and how it looks to clients.

Invariant: a suite's name belongs to the repository that announced it first; another repository is refused, so
that no agent can quietly replace a suite's meaning. Runs freeze the manifest they were made with.
"""

from __future__ import annotations

import structlog
from sqlalchemy.orm import Session

from paceline_server.catalog import manifest as manifests
from paceline_server.catalog import queries
from paceline_server.catalog.manifest import Manifest, ManifestError
from paceline_server.catalog.schemas import (
    BenchmarkOut,
    KnobOut,
    MetricOut,
    ParamOut,
    SuiteAnnounceIn,
    SuiteOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, conflict, not_found
from paceline_server.store.tables.catalog import Suite

log = structlog.get_logger("paceline.catalog")


def announce(session: Session, agent_id: str, suites: list[SuiteAnnounceIn]) -> list[str]:
    """Keep what an agent says it can run; returns the suites' names.

    Raises 422 `suite_invalid` naming the manifest, 409 when the name belongs to another repository.
    """
    at = clock.now()
    names: list[str] = []
    for index, said in enumerate(suites):
        try:
            manifest = manifests.read(said.manifest)
        except ManifestError as error:
            raise ProblemError(
                422, "suite_invalid", f"{said.manifest_path}: {error}"[:2000],
                fields={f"body.suites.{index}.manifest": str(error)[:500]},
            ) from None  # fmt: skip
        name = manifest.suite.name
        if name in names:
            raise conflict(f"Two suites of one agent are called {name!r}.")
        names.append(name)
        _keep(session, name, said)
    queries.remember_agents_suites(session, agent_id, names, at)
    return names


def _keep(session: Session, name: str, said: SuiteAnnounceIn) -> None:
    digest = manifests.digest(said.manifest)
    known = queries.suite(session, name)
    if known is not None and known.repository != said.repository:
        raise conflict(
            f"The suite {name!r} belongs to the repository {known.repository!r}; "
            f"{said.repository!r} must give its suite another name."
        )
    same = known is not None and (known.manifest_hash, known.commit, known.branch, known.manifest_path) == (
        digest, said.commit, said.branch, said.manifest_path,
    )  # fmt: skip
    if same:
        return
    queries.upsert_suite(
        session,
        {
            "name": name,
            "repository": said.repository,
            "manifest_path": said.manifest_path,
            "manifest": said.manifest,
            "manifest_hash": digest,
            "commit": said.commit,
            "branch": said.branch,
            "updated_at": clock.now(),
        },
    )
    log.info("suite_announced", suite=name, repository=said.repository, commit=said.commit[:12])


def find(session: Session, name: str) -> Suite:
    """The newest announcement of a suite. Raises 404."""
    suite = queries.suite(session, name)
    if suite is None:
        raise not_found("suite", name)
    return suite


def suite_out(suite: Suite) -> SuiteOut:
    """The wire shape of a suite."""
    manifest = manifests.read(suite.manifest)
    return SuiteOut(
        name=suite.name,
        title=manifest.suite.title,
        description=manifest.suite.description,
        repository=suite.repository,
        manifest_path=suite.manifest_path,
        manifest_hash=suite.manifest_hash,
        benchmarks=_benchmarks(manifest),
        knobs=[KnobOut(name=name, **knob.model_dump()) for name, knob in manifest.knobs.items()],
        updated_at=suite.updated_at,
    )


def _benchmarks(manifest: Manifest) -> list[BenchmarkOut]:
    return [
        BenchmarkOut(
            name=name,
            title=benchmark.title,
            description=benchmark.description,
            workload=benchmark.workload,
            arms=benchmark.arms,
            reference=benchmark.reference,
            params=[ParamOut(name=key, **param.model_dump()) for key, param in benchmark.params.items()],
            metrics=[
                MetricOut(name=key, unit=metric.unit, direction=metric.direction)
                for key, metric in benchmark.metrics.items()
            ],
            margin_percent=benchmark.margin_percent,
        )
        for name, benchmark in manifest.benchmarks.items()
    ]
