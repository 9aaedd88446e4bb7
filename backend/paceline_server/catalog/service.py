"""Decisions of the catalogue: which manifest is a suite's current one, and how it looks to clients.

Invariant: a suite's name belongs to the repository that announced it first; of another repository it is
refused (that suite, not the agent's heartbeat), so that no agent can quietly replace a suite's meaning. Runs
freeze the manifest they were made with.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any, NamedTuple

import structlog
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from sqlalchemy.orm import Session

from paceline_server.catalog import queries
from paceline_server.catalog.schemas import (
    BenchmarkOut,
    KnobOut,
    MetricOut,
    ParamOut,
    PresetOut,
    SuiteAnnounceIn,
    SuiteOut,
    SuiteRefusedOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.store.tables.catalog import Suite

log = structlog.get_logger("paceline.catalog")


class Announced(NamedTuple):
    """What became of an agent's announcement."""

    names: list[str]
    refused: list[SuiteRefusedOut]


def announce(
    session: Session, agent_id: str, suites: list[SuiteAnnounceIn]
) -> Announced:
    """Keep what an agent says it can run. A suite that cannot be taken is refused alone, in words."""
    names: list[str] = []
    refused: list[SuiteRefusedOut] = []
    for said in suites:
        try:
            manifest = read_manifest(said.manifest)
        except ManifestError as error:
            where = f"{said.repository}:{said.manifest_path}"
            refused.append(
                SuiteRefusedOut(
                    suite=where, reason=f"{said.manifest_path}: {error}"[:2000]
                )
            )
            continue
        name = manifest.suite.name
        if name in names:
            reason = f"Two suites of this agent are called {name!r}; give {said.manifest_path} another name."
            refused.append(SuiteRefusedOut(suite=name, reason=reason))
        elif not_ours := _keep(session, name, said):
            refused.append(SuiteRefusedOut(suite=name, reason=not_ours))
        else:
            names.append(name)
    queries.remember_agents_suites(session, agent_id, names, clock.now())
    for refusal in refused:
        log.debug(
            "suite_refused",
            agent_id=agent_id,
            suite=refusal.suite,
            reason=refusal.reason,
        )
    return Announced(names, refused)


def _keep(session: Session, name: str, said: SuiteAnnounceIn) -> str | None:
    """Make it the suite's current manifest; or say why the name is not this repository's to use."""
    digest = manifest_digest(said.manifest)
    known = queries.suite(session, name)
    if known is not None and known.repository != said.repository:
        return (
            f"The suite {name!r} belongs to the repository called {known.repository!r}. If this is the "
            f"same one, call it [repositories.{known.repository}] in this agent's agent.toml, too; if it "
            "is another one, give its suite another name."
        )
    same = known is not None and (
        known.manifest_hash,
        known.commit,
        known.branch,
        known.manifest_path,
    ) == (
        digest,
        said.commit,
        said.branch,
        said.manifest_path,
    )
    if same:
        return None
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
    log.info(
        "suite_announced",
        suite=name,
        repository=said.repository,
        commit=said.commit[:12],
    )
    return None


def manifest_digest(raw: dict[str, Any]) -> str:
    """SHA-256 of the manifest's canonical JSON: equal for equal content, however it was written."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def find(session: Session, name: str) -> Suite:
    """The newest announcement of a suite. Raises 404."""
    suite = queries.suite(session, name)
    if suite is None:
        raise not_found("suite", name)
    return suite


def suite_out(suite: Suite, last_run_at: datetime | None) -> SuiteOut:
    """The wire shape of a suite."""
    manifest = read_manifest(suite.manifest)
    return SuiteOut(
        name=suite.name,
        title=manifest.suite.title,
        description=manifest.suite.description,
        repository=suite.repository,
        manifest_path=suite.manifest_path,
        manifest_hash=suite.manifest_hash,
        benchmarks=_benchmarks(manifest),
        knobs=[
            KnobOut.of_row(knob, name=name) for name, knob in manifest.knobs.items()
        ],
        presets=[
            PresetOut.of_row(preset, name=name)
            for name, preset in manifest.presets.items()
        ],
        updated_at=suite.updated_at,
        last_run_at=last_run_at,
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
            device_reference=benchmark.on("device").reference,
            params=[
                ParamOut.of_row(param, name=key)
                for key, param in benchmark.params.items()
            ],
            metrics=[
                MetricOut(name=key, unit=metric.unit, direction=metric.direction)
                for key, metric in benchmark.metrics.items()
            ],
            margin_percent=benchmark.margin_percent,
            device_margin_percent=benchmark.on("device").margin_percent,
        )
        for name, benchmark in manifest.benchmarks.items()
    ]
