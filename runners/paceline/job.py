"""Runs one leased job: fetch, build, execute, report.

    run ──▶ _measure: claim the target ─▶ fetch ─▶ report the manifests ─▶ build ─▶ open a session ─▶ launches
     └────▶ record the finish ─▶ deliver what is left

Every job ends with a recorded finish, which names the cause of a failure. Samples are on disk before they are
sent. Delivery runs beside all of it and ends before `run` returns.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Literal, TypeVar

import msgspec
from paceline_contract.attempts import (
    MAX_DETAIL,
    AgentCause,
    CommitReport,
    FinishReport,
    ManifestReport,
    StateReport,
)
from paceline_contract.items import Conditions, ConditionsItem, ReportedItem

from paceline.adb.port import AdbError
from paceline.api import ApiClient, ApiError, Lease, LeaseLostError, UnreachableError
from paceline.artifacts import ArtifactCache
from paceline.delivery import Delivery, DeliveryOutcome
from paceline.destination import Destination
from paceline.devices.errors import cause_of
from paceline.enrolment import NOT_ACCEPTED
from paceline.errors import UserError
from paceline.executors.base import Executor, LaunchSpec, SessionWork, TargetError
from paceline.executors.claim import Claimant
from paceline.git import Repository, SourceError
from paceline.judging import AskingPace
from paceline.launches import (
    LaunchSink,
    Side,
    SideManifests,
    prepare_sides,
    read_sides,
    run_job,
    session_work,
)
from paceline.log_reports import LogListener
from paceline.manifest import Manifest
from paceline.outcome import Outcome, stopped_outcome
from paceline.selection import Selection, check_selection
from paceline.source import Prepared, prepare, read_manifest
from paceline.spool import AttemptSpool, SpoolError
from paceline.stop import Stop, StopReason
from paceline.stream import ItemSink, log_items
from paceline.unaffected import leave_out_unaffected, measures_anything

log = logging.getLogger("paceline.job")

T = TypeVar("T")

REFUSED = (400, 413, 422)
"""Statuses that mean that the suite cannot be measured; other refusals concern this attempt only."""
MAX_WORDS = 500
"""Characters of a step that the server keeps."""
LONGEST_PAUSE_S = 10.0
"""Longest pause between two tries to reach the server before anything is measured."""
DELIVERY_S = 2.0
"""How long a job between two launches waits for the delivery of what was measured."""
PATIENCE_S = 10.0
"""How long a leaving agent waits for an unreachable server before it leaves the spool for its next start."""
_END: Mapping[AgentCause | None, Literal["done", "cancelled"]] = {
    None: "done",
    "cancelled": "cancelled",
}
"""How an attempt ends by its cause; with any other it failed."""


class JobResources(msgspec.Struct, frozen=True):
    """Resources that all jobs of an agent share."""

    api: ApiClient
    repositories: Mapping[str, Repository]


class Job:
    """Runs one lease on `executor`. Only `stop` cancels it."""

    def __init__(
        self,
        resources: JobResources,
        lease: Lease,
        *,
        executor: Executor,
        cache: ArtifactCache,
        spool: AttemptSpool,
        stop: Stop,
    ) -> None:
        self._resources, self._executor, self._cache = resources, executor, cache
        self._lease, self._spool, self._stop = lease, spool, stop

    def run(self, leaving: threading.Event) -> DeliveryOutcome:
        """Run the job until the server has everything, or the spool is left for the agent's next start."""
        delivery = Delivery(self._resources.api, self._spool, self._stop)
        delivery.start()
        outcome = self._measure_or_explain()
        log.info("job %s: %s", self._lease.job_id, outcome.cause or "measured")
        finish = None if outcome.cause == "lease_lost" else self._record_finish(outcome)
        if finish is not None:
            # Delivery gets the same error and sets the spool aside.
            with contextlib.suppress(LeaseLostError):
                self._announce(StateReport("uploading"))
        return delivery.finish(leaving, PATIENCE_S, finish)

    def _measure(self) -> Outcome:
        """Claim the target, fetch and build the revisions, and run all launches.

        The server is told of every step. Raises one of the errors that `_measure_or_explain` names.
        """
        executor = self._executor
        with ExitStack() as claims:
            self._announce(StateReport("leased", "waiting for the target"))
            claimed = executor.claim(self._stop, by=self._claimant("the target"))
            self._enter_claim(claims, claimed)
            repository = self._find_repository()
            with ExitStack() as building:
                here = self._claimant("its host, to build there")
                self._enter_claim(building, executor.building(self._stop, here))
                self._announce(StateReport("preparing", "checkout and build"))
                base = self._find_base(repository)
                manifests = self._read_manifests(repository, base)
                selections = self._select(self._report_manifests(manifests))
                sides = self._build(
                    repository, base, manifests, selections, executor.destination
                )
                sides, unaffected = self._leave_out_unaffected(sides)
            measuring = msgspec.structs.replace(
                self._describe_build(repository, base, sides),
                fingerprint=executor.fingerprint(),
                unaffected=unaffected,
            )
            if unaffected:
                self._agree_on_unaffected(measuring)
            if not measures_anything(sides):
                return Outcome()
            work = self._session_work(sides)
            with executor.session(work, self._keep_conditions, self._stop) as session:
                self._announce(measuring)
                return run_job(
                    sides,
                    session,
                    self._sink_for,
                    self._stop,
                    partial(self._list_undecided, AskingPace())
                    if self._asks_between
                    else None,
                )

    def _measure_or_explain(self) -> Outcome:
        """Return the outcome of `_measure`; an error becomes an outcome with its cause."""
        try:
            return self._measure()
        except SpoolError as error:
            return Outcome(
                "disk_full", f"{error}\nFree space in the agent's data directory."
            )
        except (SourceError, TargetError, AdbError) as error:
            # Before UserError, their base: a device's error must not be blamed on the suite.
            cause = cause_of(error) if isinstance(error, AdbError) else error.cause
            where = (
                " The job's log has the build's whole output."
                if cause == "build_failed"
                else ""
            )
            return Outcome(cause, f"{error}{where}"[:MAX_DETAIL])
        except UserError as error:
            return Outcome("suite_invalid", str(error)[:MAX_DETAIL])
        except LeaseLostError as error:
            self._stop.set(StopReason.LEASE_LOST)
            return Outcome("lease_lost", error.detail)
        except Exception as error:
            log.exception("job %s: the agent failed", self._lease.job_id)
            return Outcome(
                "agent_error",
                f"The agent failed: {type(error).__name__}: {error}. See its log.",
            )

    def _claimant(self, of: str) -> Claimant:
        """Return this job as a claimant, which announces who it waits for."""
        return Claimant(
            f"job {self._lease.job_id} of {self._lease.work.suite}",
            lambda holder: self._announce(
                StateReport("leased", f"waiting for {of}: {holder}"[:MAX_WORDS])
            ),
        )

    def _enter_claim(
        self, claims: ExitStack, claim: AbstractContextManager[bool]
    ) -> None:
        """Hold `claim` as long as `claims`. Raises TargetError when the job was stopped while it waited."""
        if not claims.enter_context(claim):
            stopped = stopped_outcome(self._stop.reason or StopReason.SHUTDOWN)
            raise TargetError(stopped.cause or "cancelled", stopped.detail)

    def _session_work(self, sides: list[Side]) -> SessionWork:
        """Return the input of the session. The head's manifest declares which lines of a device's log are kept."""
        work = session_work(f"{self._lease.job_id}-{self._lease.attempt}", sides)
        lines = sides[-1].prepared.manifest.log_lines()
        listener = LogListener(lines, self._keep) if lines else None
        return msgspec.structs.replace(work, listening=listener)

    @property
    def _asks_between(self) -> bool:
        """Whether the job asks between launches what is undecided. Later batches run whole."""
        work = self._lease.work
        return work.stop_when_sure and work.first_launch == 0

    def _list_undecided(self, pace: AskingPace, _launches: int) -> list[str] | None:
        """Return the benchmarks that more launches may decide, by what the server has; None if asking is not due. A server
        that does not say so soon may still be busy with the answer, and is asked no more: everything goes on."""
        if not pace.is_due:
            return None
        try:
            with pace.measure_asking():
                self._wait_for_delivery()
                return self._resources.api.undecided(self._lease)
        except LeaseLostError:
            raise
        except (ApiError, UnreachableError) as error:
            pace.end()
            log.warning(
                "job %s: all goes on, for what is undecided is not known: %s",
                self._lease.job_id,
                error,
            )
            return None

    def _wait_for_delivery(self) -> None:
        """Wait until the server has what was measured, but not long."""
        give_up_at = time.monotonic() + DELIVERY_S
        while (
            self._spool.acknowledged_seq < self._spool.last_seq
            and time.monotonic() < give_up_at
            and not self._stop.wait(0.05)
        ):
            pass

    def _sink_for(self, spec: LaunchSpec) -> LaunchSink:
        return ItemSink(spec.launch, self._spool.append, side=spec.side)

    def _find_base(self, repository: Repository) -> str | None:
        """Return the revision to compare with. A merge base is announced before it is measured, because all jobs of a
        run have the same; the server's refusal ends the job."""
        work = self._lease.work
        if work.base_commit is not None or work.base_branch is None:
            return work.base_commit
        base = repository.merge_base(work.commit, work.base_branch)
        report = StateReport("preparing", base_commit=base)
        self._agree(lambda: self._resources.api.state(self._lease, report, tries=1))
        return base

    def _read_manifests(
        self, repository: Repository, base: str | None
    ) -> SideManifests | Manifest:
        """Return what the commits to measure declare, of both sides in an A/B job."""
        work = self._lease.work

        def read(commit: str) -> Manifest:
            return read_manifest(repository, commit, work.manifest_path)

        if base is None:
            return read(work.commit)
        return read_sides(read, base, work.commit)

    def _report_manifests(self, manifests: SideManifests | Manifest) -> list[str]:
        """Report what the commits declare; return the benchmarks that the server has planned by it, or those of the
        lease where the server takes no such report."""
        report = (
            ManifestReport(manifests.head.raw, manifests.base.raw)
            if isinstance(manifests, SideManifests)
            else ManifestReport(manifests.raw)
        )
        plan = self._agree(lambda: self._resources.api.manifest(self._lease, report))
        return self._lease.work.benchmarks if plan is None else plan.benchmarks

    def _agree(self, send: Callable[[], T]) -> T:
        """Send a report that the server must have before anything is measured, and return its answer; wait until the server
        can be reached. Raises SourceError for a refusal, TargetError when the job was stopped while it waited."""
        pause_s = 0.2
        while True:
            try:
                return send()
            except LeaseLostError:
                raise
            except ApiError as error:
                if error.status in NOT_ACCEPTED:
                    raise
                is_refused = error.status in REFUSED
                cause: AgentCause = "suite_invalid" if is_refused else "checkout_failed"
                raise SourceError(cause, error.detail) from error
            except UnreachableError as error:
                log.warning(
                    "job %s: waiting for the server before measuring: %s",
                    self._lease.job_id,
                    error,
                )
            if self._stop.wait(pause_s):
                stopped = stopped_outcome(self._stop.reason or StopReason.SHUTDOWN)
                raise TargetError(stopped.cause or "cancelled", stopped.detail)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _describe_build(
        self, repository: Repository, base_commit: str | None, sides: list[Side]
    ) -> StateReport:
        """Return the announcement of what will run: artifact hashes, build facts, commits."""
        built = sides[-1].prepared.built
        base = sides[0].prepared.built if len(sides) > 1 else None
        return StateReport(
            "measuring",
            artifact_hash=built.artifact_hash,
            base_artifact_hash=None if base is None else base.artifact_hash,
            commits=self._commits(repository, base_commit),
            build=built.facts,
        )

    def _commits(
        self, repository: Repository, base: str | None
    ) -> list[CommitReport] | None:
        """Return the commits that are measured; None when they cannot be named, which is no reason to fail."""
        try:
            commits = repository.commits(base, self._lease.work.commit)
            return [
                msgspec.convert(commit._asdict(), CommitReport) for commit in commits
            ]
        except (SourceError, msgspec.ValidationError) as error:
            log.warning(
                "job %s: its commits are not named: %s", self._lease.job_id, error
            )
            return None

    def _find_repository(self) -> Repository:
        work = self._lease.work
        repository = self._resources.repositories.get(work.repository)
        if repository is None:
            allowed = ", ".join(self._resources.repositories) or "there are none"
            text = f"Repository {work.repository!r} is not in this agent's allow-list ({allowed})."
            raise SourceError(
                "checkout_failed",
                text,
                "Add it to agent.toml and start the agent again.",
            )
        return repository

    def _select(self, benchmarks: list[str]) -> Selection:
        work = self._lease.work
        return Selection(
            benchmarks=benchmarks,
            params=work.params,
            knobs=work.knobs,
            first_launch=work.first_launch,
            launches=work.launches,
            rounds=work.rounds,
            min_time_ns=work.min_time_ns,
            seed=work.seed,
            stop_when_sure=work.stop_when_sure,
        )

    def _build(
        self,
        repository: Repository,
        base: str | None,
        manifests: SideManifests | Manifest,
        wanted: Selection,
        destination: Destination,
    ) -> list[Side]:
        """Build the revision to measure; for an A/B job, base and head."""
        work = self._lease.work

        def build(commit: str, benchmarks: Sequence[str]) -> Prepared:
            return prepare(
                repository,
                commit,
                work.manifest_path,
                benchmarks=benchmarks,
                cache=self._cache,
                log=lambda lines: self._spool.append(log_items("build", lines)),
                stop=self._stop,
                destination=destination,
                on_step=lambda step: self._announce(
                    StateReport("preparing", step.words)
                ),
            )

        if base is not None and isinstance(manifests, SideManifests):
            return prepare_sides(build, manifests, base, work.commit, wanted)
        prepared = build(work.commit, wanted.benchmarks)
        return [Side(prepared, check_selection(prepared.manifest, wanted))]

    def _leave_out_unaffected(
        self, sides: list[Side]
    ) -> tuple[list[Side], dict[str, str]]:
        """Leave out benchmarks that the server wants measured only if head may differ from base; note them in the log."""
        if not self._lease.work.skips_unaffected:
            return sides, {}
        sides, unaffected = leave_out_unaffected(sides)
        if unaffected:
            line = f"(agent) not measured again, one digest at base and head: {', '.join(unaffected)}"
            self._spool.append(log_items("build", [line]))
        return sides, unaffected

    def _agree_on_unaffected(self, measuring: StateReport) -> None:
        """Report what is left out before anything is measured: the server would miss it otherwise."""
        self._agree(lambda: self._resources.api.state(self._lease, measuring, tries=1))

    def _keep_conditions(self, conditions: Conditions) -> None:
        self._keep(ConditionsItem.of(conditions))

    def _keep(self, item: ConditionsItem | ReportedItem) -> None:
        """Write to the spool at once, from any thread; a full disk stops the job."""
        try:
            self._spool.append([item])
        except SpoolError:
            self._stop.set(StopReason.DISK_FULL)

    def _announce(self, report: StateReport) -> None:
        """Announce a step. A server that cannot be reached infers it later from the items and the finish."""
        try:
            self._resources.api.state(self._lease, report)
        except LeaseLostError:
            raise
        except (ApiError, UnreachableError) as error:
            log.warning(
                "job %s: step %s was not announced: %s",
                self._lease.job_id,
                report.state,
                error,
            )

    def _record_finish(self, outcome: Outcome) -> FinishReport:
        clean = outcome.detail[:MAX_DETAIL].encode("utf-8", "replace").decode()
        text = clean.replace("\x00", "\ufffd")
        finish = FinishReport(
            outcome=_END.get(outcome.cause, "failed"),
            cause=outcome.cause,
            detail=text or None,
            last_seq=self._spool.last_seq,
        )
        try:
            self._spool.record_finish(finish)
        except SpoolError as error:
            log.error(
                "job %s: its end could not be recorded: %s", self._lease.job_id, error
            )
        return finish
