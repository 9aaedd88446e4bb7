"""Runs one leased job from the lease to its last write: prepare, execute, report.

Whatever happens ends in a recorded finish with a cause. Samples are on disk before they are sent. Lease
renewal, conditions and delivery run beside the executor and all end before `Job.run` returns.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import msgspec

from paceline.adb.port import AdbError
from paceline.api import ApiClient, ApiError, Lease, LeaseLostError, UnreachableError
from paceline.artifacts import ArtifactCache
from paceline.conditions import Conditions
from paceline.delivery import Delivery, DeliveryOutcome
from paceline.destination import Destination
from paceline.devices.errors import cause_of
from paceline.errors import UserError
from paceline.executors.base import Executor, LaunchSpec, TargetError
from paceline.git import Repository, SourceError
from paceline.launches import (
    BASE,
    DeclaredArmsSink,
    LaunchSink,
    Side,
    plan_launches,
    prepare_sides,
    run_launches,
    session_work,
)
from paceline.log_reports import LogListener, ReportedLine
from paceline.outcome import DETAIL_LIMIT, Cause, Outcome, stopped_outcome
from paceline.selection import Selection, check_selection
from paceline.source import Prepared, prepare
from paceline.spool import AttemptSpool, SpoolError
from paceline.stop import Stop, StopReason
from paceline.stream import ItemSink, log_items

log = logging.getLogger("paceline.job")

PATIENCE_S = 10.0
"""How long a leaving agent waits for an unreachable server before it leaves the spool for its next start."""


class JobResources(msgspec.Struct, frozen=True):
    """What the agent lends to a job."""

    api: ApiClient
    repositories: Mapping[str, Repository]
    cache: ArtifactCache
    executors: Mapping[str, Executor]


class Job:
    """Runs one lease; `stop` is its one source of cancellation."""

    def __init__(
        self, resources: JobResources, lease: Lease, spool: AttemptSpool, stop: Stop
    ) -> None:
        self._resources, self._lease, self._spool, self._stop = (
            resources,
            lease,
            spool,
            stop,
        )

    def run(self, leaving: threading.Event) -> DeliveryOutcome:
        """Everything, until the server has it all or the spool is left for later."""
        delivery = Delivery(self._resources.api, self._spool, self._stop)
        delivery.start()
        outcome = self._guarded()
        log.info("job %s: %s", self._lease.job_id, outcome.cause or "measured")
        finish = None if outcome.cause == "lease_lost" else self._record(outcome)
        if finish is not None:
            with contextlib.suppress(
                LeaseLostError
            ):  # delivery meets it too, and sets the spool aside
                self._tell({"state": "uploading"})
        return delivery.finish(leaving, PATIENCE_S, finish)

    def _guarded(self) -> Outcome:
        try:
            return self._prepare_and_execute()
        except SpoolError as error:
            return Outcome(
                "disk_full", f"{error}\nFree space in the agent's data directory."
            )
        except (
            SourceError,
            TargetError,
            AdbError,
        ) as error:  # a device's error is never the suite's
            cause = cause_of(error) if isinstance(error, AdbError) else error.cause
            return Outcome(cause, str(error)[:DETAIL_LIMIT])
        except UserError as error:
            return Outcome("suite_invalid", str(error)[:DETAIL_LIMIT])
        except LeaseLostError as error:
            self._stop.set(StopReason.LEASE_LOST)
            return Outcome("lease_lost", error.detail)
        except Exception as error:
            log.exception("job %s: the agent failed", self._lease.job_id)
            return Outcome(
                "agent_error",
                f"The agent failed: {type(error).__name__}: {error}. See its log.",
            )

    def _prepare_and_execute(self) -> Outcome:
        executor = self._resources.executors.get(self._lease.target_serial)
        if executor is None:
            text = f"This agent no longer has target {self._lease.target_serial}."
            return Outcome("target_refused", text)
        with ExitStack() as held:
            self._tell({"state": "preparing", "detail": "waiting for the target"})
            if not held.enter_context(executor.claim(self._stop)):
                return stopped_outcome(self._stop.reason or StopReason.SHUTDOWN)
            repository = self._repository()
            with ExitStack() as building:
                if not building.enter_context(executor.building(self._stop)):
                    return stopped_outcome(self._stop.reason or StopReason.SHUTDOWN)
                self._tell({"state": "preparing", "detail": "checkout and build"})
                sides = self._prepare(repository, executor.destination)
            about = {
                **self._about(repository, sides),
                "fingerprint": executor.fingerprint(),
            }
            work = msgspec.structs.replace(
                session_work(f"{self._lease.job_id}-{self._lease.attempt}", sides),
                listening=self._listening(sides),
            )
            with executor.session(work, self._conditions, self._stop) as session:
                self._tell(about)
                return run_launches(
                    plan_launches(sides, session),
                    session,
                    self._sinks(sides),
                    self._stop,
                )

    def _sinks(self, sides: list[Side]) -> Callable[[LaunchSpec], LaunchSink]:
        head = sides[-1].prepared.manifest

        def sink_for(spec: LaunchSpec) -> LaunchSink:
            sink = ItemSink(spec.launch, self._spool.append, side=spec.side)
            return DeclaredArmsSink(head, sink) if spec.side == BASE else sink

        return sink_for

    def _about(self, repository: Repository, sides: list[Side]) -> dict[str, object]:
        """What the server learns of what will run."""
        built = sides[-1].prepared.built
        body: dict[str, object] = {
            "state": "measuring",
            "artifact_hash": built.artifact_hash,
            "build": built.facts,
        }
        if len(sides) > 1:
            body["base_artifact_hash"] = sides[0].prepared.built.artifact_hash
        work = self._lease.work
        try:
            commits = repository.commits(work.base_commit, work.commit)
        except SourceError as error:  # nothing to fail a measurement for
            log.warning(
                "job %s: its commits are not named: %s", self._lease.job_id, error
            )
            return body
        return {**body, "commits": [commit._asdict() for commit in commits]}

    def _repository(self) -> Repository:
        work = self._lease.work
        repository = self._resources.repositories.get(work.repository)
        if repository is None:
            known = ", ".join(self._resources.repositories) or "there are none"
            text = f"Repository {work.repository!r} is not in this agent's allow-list ({known})."
            raise SourceError(
                "checkout_failed",
                text,
                "Add it to agent.toml and start the agent again.",
            )
        return repository

    def _prepare(self, repository: Repository, destination: Destination) -> list[Side]:
        """The revision to measure, or base and head."""
        work = self._lease.work

        def built(commit: str) -> Prepared:
            return prepare(
                repository,
                commit,
                work.manifest_path,
                benchmarks=work.benchmarks,
                cache=self._resources.cache,
                log=self._build_log,
                stop=self._stop,
                destination=destination,
            )

        selection = Selection(
            benchmarks=work.benchmarks,
            params=work.params,
            knobs=work.knobs,
            first_launch=work.first_launch,
            launches=work.launches,
            rounds=work.rounds,
            min_time_ns=work.min_time_ns,
            seed=work.seed,
        )
        if work.base_commit is not None:
            return prepare_sides(built, work.base_commit, work.commit, selection)
        prepared = built(work.commit)
        return [Side(prepared, check_selection(prepared.manifest, selection))]

    def _build_log(self, lines: list[str]) -> None:
        self._spool.append(log_items("build", lines))

    def _listening(self, sides: list[Side]) -> LogListener | None:
        """To the log of a device, for lines that the suite declares; of two revisions the head says which."""
        lines = sides[-1].prepared.manifest.log_lines()
        return LogListener(lines, self._reported) if lines else None

    def _reported(self, line: ReportedLine) -> None:
        self._keep("reported", line)

    def _conditions(self, conditions: Conditions) -> None:
        self._keep("conditions", conditions)

    def _keep(self, kind: str, content: Conditions | ReportedLine) -> None:
        """On disk at once, on whatever thread; a disk that is full ends the job."""
        try:
            self._spool.append([{"kind": kind, **msgspec.to_builtins(content)}])
        except SpoolError:
            self._stop.set(StopReason.DISK_FULL)

    def _tell(self, body: dict[str, object]) -> None:
        """Announces a step. A server that cannot be reached learns it from the items and the finish."""
        try:
            self._resources.api.state(self._lease, body)
        except LeaseLostError:
            raise
        except (ApiError, UnreachableError) as error:
            log.warning(
                "job %s: step %s was not announced: %s",
                self._lease.job_id,
                body["state"],
                error,
            )

    def _record(self, outcome: Outcome) -> dict[str, object]:
        ends: dict[Cause, str] = {"cancelled": "cancelled"}
        kind = "done" if outcome.cause is None else ends.get(outcome.cause, "failed")
        clean = outcome.detail[:DETAIL_LIMIT].encode("utf-8", "replace").decode()
        text = clean.replace("\x00", "\ufffd")
        finish: dict[str, object] = {
            "outcome": kind,
            "cause": outcome.cause,
            "detail": text or None,
        }
        try:
            self._spool.record_finish(finish)
        except SpoolError as error:
            log.error(
                "job %s: its end could not be recorded: %s", self._lease.job_id, error
            )
        return finish
