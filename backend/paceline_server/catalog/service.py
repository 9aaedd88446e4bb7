"""Stores the suites that agents announce, and returns them to clients.

A suite's name belongs to the location of the repository that announced it first; another repository's suite of that
name is refused, so that no agent can silently replace a suite. Runs keep the manifest they were created with. An
announcement is read before a transaction begins, because reading a manifest takes milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import structlog
from paceline_contract.announcements import manifest_digest
from paceline_contract.locations import (
    EVERYTHING,
    LocationError,
    canonical_location,
    check_manifest_path,
    matches,
)
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import (
    ManifestError,
    read_announced_manifest,
    read_manifest,
)
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
from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.wire import Page
from paceline_server.store import access, audit
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.page import page
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.jobs import Run

log = structlog.get_logger("paceline.catalog")


NICKNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""The form of a repository's name in `agent.toml`."""


MAX_CLAIMS = 20
"""At most this many refused repositories of one suite are recorded, so that an agent cannot fill the audit log."""


MERGED_IMPORTS = 10
"""An imported suite has the benchmarks of this many of its newest runs, because one measurement may be several files."""


class AnnouncedSuite(NamedTuple):
    """A suite that an agent can run. `manifest`: a valid manifest; None: the agent sent only its hash."""

    name: str
    repository: str
    location: str | None
    manifest_path: str
    manifest: dict[str, Any] | None
    manifest_hash: str
    commit: str
    branch: str | None


class MeasuredSuite(NamedTuple):
    """A suite with figures. `imported`: no agent announced it; `manifest` is made of what its newest imports have."""

    manifest: Manifest
    imported: bool


class Announcement(NamedTuple):
    """The suites that an agent says it can run, and those whose announcement is invalid."""

    suites: list[AnnouncedSuite]
    refused: list[SuiteRefusedOut]


class AnnouncementOutcome(NamedTuple):
    """The names of an agent's accepted suites, its refused suites, and the hashes of manifests it should send."""

    names: list[str]
    refused: list[SuiteRefusedOut]
    wanted: list[str]


def read_announcement(announced: Iterable[SuiteAnnounceIn]) -> Announcement:
    """Read what an agent announces, without the database. An invalid suite is refused without affecting the others."""
    suites: dict[str, AnnouncedSuite] = {}
    refused: list[SuiteRefusedOut] = []
    for announcement in announced:
        try:
            suite = _read_suite(announcement)
        except (ManifestError, LocationError) as error:
            source = f"{announcement.repository}:{announcement.manifest_path}"
            reason = (
                f"{announcement.manifest_path}: {error}"
                if isinstance(error, ManifestError)
                else str(error)
            )
            refused.append(SuiteRefusedOut(suite=source, reason=reason[:2000]))
            continue
        if suite.name in suites:
            reason = f"Two suites of this agent are called {suite.name!r}; give {announcement.manifest_path} another name."
            refused.append(SuiteRefusedOut(suite=suite.name, reason=reason))
        else:
            suites[suite.name] = suite
    return Announcement(list(suites.values()), refused)


def _read_suite(announced: SuiteAnnounceIn) -> AnnouncedSuite:
    """Read the announcement of one suite. Raises LocationError or ManifestError."""
    if NICKNAME.fullmatch(announced.repository) is None:
        raise LocationError(
            f"{announced.repository!r} is no name of a repository: expected letters, digits and -_. only"
        )
    check_manifest_path(announced.manifest_path)
    location = announced.location
    name, digest = announced.suite or "", announced.digest or ""
    if announced.manifest is not None:
        name = read_announced_manifest(announced.manifest).suite.name
        computed = manifest_digest(announced.manifest)
        if announced.digest not in {None, computed}:
            raise LocationError(
                f"{announced.manifest_path} was announced with the digest of another manifest: expected {computed}"
            )
        digest = computed
    return AnnouncedSuite(
        name,
        announced.repository,
        None if location is None else canonical_location(location),
        announced.manifest_path,
        announced.manifest,
        digest,
        announced.commit,
        announced.branch,
    )


def store_announcement(
    session: Session,
    agent_id: str,
    announcement: Announcement,
    repositories: list[str],
) -> AnnouncementOutcome:
    """Store the suites that an agent can run, in every project it acts for. A suite that cannot be accepted is refused
    without affecting the others. `repositories`: patterns of the locations that the agent's grant names."""
    limits = access.of_session(session)
    projects = (limits.project,) if limits.projects is None else limits.projects
    names: dict[str, None] = {}
    wanted: dict[str, None] = {}
    refused: dict[tuple[str, str], SuiteRefusedOut] = {
        (refusal.suite, refusal.reason): refusal for refusal in announcement.refused
    }
    granted: list[AnnouncedSuite] = []
    for suite in announcement.suites:
        if reason := _explain_missing_grant(suite, repositories):
            refused[suite.name, reason] = SuiteRefusedOut(
                suite=suite.name, reason=reason
            )
        else:
            granted.append(suite)
    for project_id in projects:
        with access.within_project(session, project_id or DEFAULT_PROJECT_ID):
            stored = _store_suites(session, agent_id, granted)
        names |= dict.fromkeys(stored.names)
        wanted |= dict.fromkeys(stored.wanted)
        refused |= {
            (refusal.suite, refusal.reason): refusal for refusal in stored.refused
        }
    for refusal in refused.values():
        log.debug(
            "suite_refused",
            agent_id=agent_id,
            suite=refusal.suite,
            reason=refusal.reason,
        )
    return AnnouncementOutcome(list(names), list(refused.values()), list(wanted))


def _explain_missing_grant(
    suite: AnnouncedSuite, repositories: list[str]
) -> str | None:
    if suite.location is None:
        if EVERYTHING in repositories:
            return None
        return (
            "This agent does not say where its repository is, and may announce only those that its grant names: "
            "install the agent of this version."
        )
    if matches(suite.location, repositories):
        return None
    return (
        f"This agent may not announce suites of {suite.location}: its grant names "
        f"{', '.join(repositories) or 'no repository'}. An admin of the installation can change the grant."
    )


def _store_suites(
    session: Session, agent_id: str, suites: list[AnnouncedSuite]
) -> AnnouncementOutcome:
    nicknames: dict[str, str] = {}
    refused: list[SuiteRefusedOut] = []
    wanted: list[str] = []
    for suite in suites:
        stored = queries.suite_without_manifest(session, suite.name)
        reason = (
            None
            if stored is None
            else _explain_name_taken(session, agent_id, suite, stored)
        )
        if stored is not None and reason is not None:
            refused.append(SuiteRefusedOut(suite=suite.name, reason=reason))
            _record_refused_claim(session, agent_id, suite, stored)
        elif _store(session, agent_id, suite, stored):
            nicknames[suite.name] = suite.repository
        else:
            wanted.append(suite.manifest_hash)
            if agent_id in queries.agents_of(session, suite.name):
                nicknames[suite.name] = suite.repository
    queries.replace_suites_of_agent(session, agent_id, nicknames, clock.now())
    return AnnouncementOutcome(list(nicknames), refused, wanted)


def _store(
    session: Session, agent_id: str, suite: AnnouncedSuite, stored: Suite | None
) -> bool:
    """Store the suite's newest announcement; returns False if the agent must send the manifest first."""
    is_known = stored is not None and stored.manifest_hash == suite.manifest_hash
    if suite.manifest is None and not is_known:
        return False
    announced = suite._asdict()
    if stored is None:
        queries.insert_suite(session, {**announced, "updated_at": clock.now()})
    else:
        kept = {"name", "repository", *({"manifest"} if is_known else ())}
        changed = {
            name: value
            for name, value in announced.items()
            if name not in kept
            and (name == "manifest" or getattr(stored, name) != value)
        }
        if not changed:
            return True
        queries.update_suite(
            session, suite.name, {**changed, "updated_at": clock.now()}
        )
    log.info(
        "suite_announced",
        suite=suite.name,
        agent_id=agent_id,
        repository=suite.location or suite.repository,
        commit=suite.commit[:12],
    )
    return True


def _explain_name_taken(
    session: Session, agent_id: str, suite: AnnouncedSuite, stored: Suite
) -> str | None:
    """Return why a suite's name belongs to another repository; None if it belongs to the announced one.

    A suite without a known location gets the location of an agent that announced it before, or of the first agent if
    no agent announces it any more.
    """
    if stored.location is None:
        agents = queries.agents_of(session, suite.name)
        if stored.repository != suite.repository:
            return (
                f"The suite {suite.name!r} belongs to the repository {stored.repository!r}. If this is the same "
                f"repository, name it [repositories.{stored.repository}] in this agent's agent.toml as well; "
                "otherwise give its suite another name."
            )
        if suite.location is None or agent_id in agents or not agents:
            return None
        return (
            f"The suite {suite.name!r} belongs to a repository whose agents do not say where it is: install the "
            "agent of this version on their hosts first."
        )
    if suite.location == stored.location:
        return None
    if suite.location is None:
        return (
            f"The suite {suite.name!r} belongs to the repository {stored.location}, and this agent does not say "
            "where its own is: install the agent of this version."
        )
    return (
        f"The suite {suite.name!r} belongs to the repository {stored.location}, and this agent announces it from "
        f"{suite.location}. Name the same url in agent.toml on every host, or give this suite another name."
    )


def _record_refused_claim(
    session: Session, agent_id: str, suite: AnnouncedSuite, stored: Suite
) -> None:
    """Record in the project's audit log that another repository announces the name of a suite, once per repository."""
    claimed_by = suite.location or suite.repository
    entries = audit.details(session, "suite.claim_refused", "suite", suite.name)
    claimants = {entry["claimed_by"] for entry in entries}
    if claimed_by in claimants or len(claimants) >= MAX_CLAIMS:
        return
    detail = {
        "claimed_by": claimed_by,
        "belongs_to": stored.location or stored.repository,
        "agent_id": agent_id,
    }
    audit.record(session, "system", "suite.claim_refused", "suite", suite.name, detail)
    log.warning("suite_name_taken", suite=suite.name, **detail)


def find(session: Session, name: str) -> Suite:
    """Return the newest announcement of a suite. Raises 404."""
    suite = queries.suite(session, name)
    if suite is None:
        raise _unknown(session, name)
    return suite


def _unknown(session: Session, name: str) -> ProblemError:
    detail = f"There is no suite {name!r}. {describe_announced(session)}"
    return ProblemError(404, "not_found", detail)


def find_measured(session: Session, name: str) -> MeasuredSuite:
    """Return a suite that was announced or imported. Raises 404."""
    announced = announced_manifest(session, name)
    if announced is not None:
        return MeasuredSuite(read_manifest(announced), imported=False)
    return MeasuredSuite(_merge_imported(_imported_runs(session, name)), imported=True)


def _imported_runs(session: Session, name: str) -> Sequence[Run]:
    """Return the newest imported runs of a suite. Raises 404 without any."""
    runs = queries.newest_imported_runs(session, name, MERGED_IMPORTS)
    if not runs:
        raise _unknown(session, name)
    return runs


def _merge_imported(runs: Sequence[Run]) -> Manifest:
    """Return the manifest of the newest of these runs, with the benchmarks of all of them."""
    newest, *older = [read_manifest(run.manifest) for run in runs]
    benchmarks = dict(newest.benchmarks)
    for manifest in older:
        benchmarks = manifest.benchmarks | benchmarks
    return msgspec.structs.replace(newest, benchmarks=benchmarks)


def manifests(session: Session) -> dict[str, Manifest]:
    """Return the newest manifest of every suite, by the suite's name."""
    return {
        suite.name: read_manifest(suite.manifest)
        for suite in session.scalars(queries.suites().order_by(Suite.name))
    }


def announced_manifest(session: Session, name: str) -> dict[str, Any] | None:
    """Return the manifest of a suite's newest announcement; None for suites that are only imported."""
    suite = queries.suite(session, name)
    return None if suite is None else suite.manifest


MAX_NAMED_SUITES = 20
"""At most this many suites are named in the answer to an unknown name."""


def describe_announced(session: Session) -> str:
    """Return a sentence that names the announced suites, for the answer to an unknown name."""
    known = queries.suite_names(session, MAX_NAMED_SUITES + 1)
    if not known:
        return "No suite is announced yet: register its repository with an agent."
    more = ", …" if len(known) > MAX_NAMED_SUITES else ""
    return f"Announced: {', '.join(known[:MAX_NAMED_SUITES])}{more}."


def list_suites(session: Session, *, limit: int, cursor: str | None) -> Page[SuiteOut]:
    """Return the suites that were announced or imported, by name."""
    names = page(
        session,
        queries.known_names(),
        [queries.KNOWN_NAME],
        lambda name: [name],
        str,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    announced = queries.suites_called(session, names.items)
    last_runs = queries.last_runs(session)
    return Page(
        items=[
            suite_out(announced[name], last_runs.get(name))
            if name in announced
            else _imported_suite_out(session, name)
            for name in names.items
        ],
        next=names.next,
    )


def get_suite(session: Session, name: str) -> SuiteOut:
    """Return a suite that was announced or imported. Raises 404."""
    suite = queries.suite(session, name)
    if suite is None:
        return _imported_suite_out(session, name)
    return suite_out(suite, queries.last_runs(session, name).get(name))


def _imported_suite_out(session: Session, name: str) -> SuiteOut:
    runs = _imported_runs(session, name)
    manifest = _merge_imported(runs)
    return SuiteOut(
        name=name,
        title=manifest.suite.title,
        description=None,
        imported=True,
        repository=None,
        manifest_path=None,
        manifest_hash=None,
        benchmarks=_benchmarks(manifest),
        knobs=[],
        presets=[],
        updated_at=runs[0].created_at,
        last_run_at=None,
    )


def suite_out(suite: Suite, last_run_at: datetime | None) -> SuiteOut:
    """Return the wire shape of an announced suite."""
    manifest = read_manifest(suite.manifest)
    return SuiteOut(
        name=suite.name,
        title=manifest.suite.title,
        description=manifest.suite.description,
        imported=False,
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
