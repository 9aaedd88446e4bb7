"""Runs the agent: enrols, delivers what an earlier run left, then works for the host and every device.

    starting ──enrolled──▶ idle ──lease──▶ working ──delivered──▶ idle
                            │ leave()          │ leave(): finish, then end · leave() again: cancel, then end
                            └──────▶ ended ◀───┘

Every target runs one job at a time, in a lane of its own. Spooled results are delivered before a new job is
leased. One thread sends all heartbeats, so that replies arrive in order.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from filelock import FileLock, Timeout
from paceline_contract.attempts import FinishReport

from paceline import environment
from paceline.adb.keys import key_directory
from paceline.adb.usb import UsbBus
from paceline.announce import Announcer
from paceline.api import (
    ApiClient,
    ApiError,
    HeartbeatReply,
    UnreachableError,
)
from paceline.artifacts import ArtifactCache, EntriesInUse
from paceline.config import ConfigFile, RepositoryConfig
from paceline.credentials import check_address
from paceline.delivery import deliver
from paceline.devices.backends import AdbBackends, DeviceBackends
from paceline.devices.driver import DriverIntervals
from paceline.devices.fleet import DeviceLanes
from paceline.devices.heartbeat_report import FindingEntry, agent_error_finding
from paceline.enrolment import NOT_ACCEPTED, NotAcceptedError, enrol, rotate
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.executors.host import HostExecutor
from paceline.git import Repository
from paceline.job import PATIENCE_S
from paceline.lane import POLL_S, RETRY_S, Lane, LaneResources
from paceline.spool import Spool
from paceline.stop import StopReason

log = logging.getLogger("paceline.agent")

BAD_TURNS = 3
"""Internal errors in a row on the host's lane that end the agent, so that whoever started it sees them."""


class Agent:
    """One agent on one data directory. `run` blocks until the agent has left; a signal handler may call
    `leave`."""

    def __init__(
        self,
        server: str,
        data_dir: Path,
        config_file: ConfigFile,
        executor: Executor | None = None,
        *,
        poll_s: float = POLL_S,
        backends: DeviceBackends | None = None,
        pace: DriverIntervals | None = None,
    ) -> None:
        self._server = check_address(server)
        self._data_dir, self._config_file = data_dir, config_file
        config = self._config = config_file.config
        self._artifacts = data_dir / "artifacts"
        data_dir.mkdir(parents=True, exist_ok=True)
        self._repositories: dict[str, Repository] = {}
        self._open_repositories({})
        self._announcer = Announcer(config, self._repositories, data_dir)
        self._executor = executor or HostExecutor(self._announcer.serial)
        self._backends = backends or AdbBackends(
            config.devices.adb_server,
            key_directory(data_dir),
            UsbBus() if config.devices.usb else None,
        )
        self._poll_s, self._pace = poll_s, pace
        self._pause_s = RETRY_S
        self._spool = Spool(data_dir / "spool")
        self._in_use = EntriesInUse()
        self._leaving = threading.Event()
        self._over = False
        self._heartbeat_due = threading.Event()
        self._lane: Lane | None = None
        self._host_id: str | None = None
        self._host_refused: bool | None = None
        """Whether the server refuses this host from this agent, which then leases nothing for it. None: not known."""
        self._devices: DeviceLanes | None = None
        self._refusal: ApiError | None = None
        self._trouble: FindingEntry | None = None

    def leave(self) -> None:
        """End after the current jobs; called a second time, cancel these jobs, too."""
        lanes = [lane for lane in (self._lane, self._devices) if lane is not None]
        busy = any(lane.busy for lane in lanes)
        if self._leaving.is_set() and busy:
            log.info("told twice to stop: cancelling running jobs")
            for lane in lanes:
                lane.cancel(StopReason.SHUTDOWN)
        elif not self._leaving.is_set():
            when = "after the running jobs" if busy else "now"
            log.info("told to stop: leaving %s", when)
        self._leaving.set()
        if self._devices is not None:
            self._devices.leave()

    def run(self, enrolment_code: str | None = None) -> None:
        """Work until told to leave; all threads have ended when this returns.

        Raises UserError when the agent cannot start or the server no longer accepts it (a revoked
        credential), and an internal error that repeats. Other errors are waited out or logged.
        """
        name = self._config.agent.name or environment.display_name()
        with (
            self._lock_data_directory(),
            contextlib.closing(
                enrol(
                    self._server,
                    self._data_dir,
                    enrolment_code,
                    name=name,
                    host_serial=self._announcer.serial,
                )
            ) as api,
        ):
            if not self._first_heartbeat(api):
                return
            heartbeats = threading.Thread(
                target=self._send_heartbeats, args=(api,), name="heartbeat", daemon=True
            )
            heartbeats.start()
            try:
                self._deliver_leftovers(api)
                with self._device_lanes(api):
                    self._drive_host(api)
            finally:
                self._over = True
                self._heartbeat_due.set()
                heartbeats.join()
            if self._refusal is not None:
                raise NotAcceptedError(self._refusal, self._data_dir) from self._refusal

    @contextlib.contextmanager
    def _lock_data_directory(self) -> Iterator[None]:
        lock = FileLock(self._data_dir / "agent.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            text = f"Another agent already uses {self._data_dir}."
            raise UserError(
                text, "Stop it, or give this one its own directory with --data."
            ) from error
        try:
            yield
        finally:
            lock.release()

    # --- heartbeat ---

    def _send_heartbeat(self, api: ApiClient) -> float:
        """Send one heartbeat, and another one with the manifests that the server lacks, and apply the reply;
        return the pause until the next."""
        self._apply_config_changes()
        reply = self._exchange_heartbeat(api)
        if self._announcer.note_wanted_manifests(reply.manifests_wanted):
            reply = self._exchange_heartbeat(api)
            self._announcer.note_wanted_manifests(reply.manifests_wanted)
        self._announcer.note_refused_suites(reply.refused)
        self._announcer.note_identity(reply.notes)
        self._note_host_accepted(
            refused=self._announcer.note_refused_targets(reply) is not None
        )
        if reply.rotate_credential:
            rotate(api, self._data_dir)
        return reply.heartbeat_s

    def _note_host_accepted(self, *, refused: bool) -> None:
        """Note whether the server takes this host, and log it first and after each change."""
        if refused != self._host_refused:
            if refused:
                log.warning(
                    "waiting: the server does not take this host (%s) from this agent, which gets no jobs for it",
                    self._announcer.serial,
                )
            else:
                log.info("ready: target %s", self._announcer.serial)
        self._host_refused = refused

    def _apply_config_changes(self) -> None:
        """Read agent.toml again if it has changed: its repositories are used at once, the rest after a restart."""
        before = self._config
        try:
            if not self._config_file.reload():
                return
        except UserError as error:
            log.error("agent.toml has changed and is not used: %s", error)
            return
        self._config = self._config_file.config
        self._open_repositories(before.repositories)
        self._announcer.use(self._config)
        log.info(
            "agent.toml was read again: %s",
            ", ".join(self._repositories) or "no repositories",
        )
        if (before.agent, before.devices) != (self._config.agent, self._config.devices):
            log.warning(
                "[agent] and [devices] of agent.toml have changed: restart the agent to use them"
            )

    def _open_repositories(self, before: Mapping[str, RepositoryConfig]) -> None:
        """Make `_repositories` those of the configuration; one that is as it was before stays open."""
        listed = self._config.repositories
        for name in self._repositories.keys() - listed.keys():
            del self._repositories[name]
        for name, item in listed.items():
            if name not in before or before[name].location != item.location:
                self._repositories[name] = Repository(
                    name, item.location, self._data_dir
                )

    def _exchange_heartbeat(self, api: ApiClient) -> HeartbeatReply:
        lane, devices = self._lane, self._devices
        busy = lane is not None and lane.busy
        targets = [
            {**host, "preflight": [*host["preflight"], *self._findings()]}
            for host in self._announcer.targets(busy)
        ]
        targets += devices.entries() if devices is not None else []
        reply = api.heartbeat(targets, self._announcer.suites(busy))
        for target in reply.targets:
            if target.kind == "host":
                self._host_id = target.target_id
            elif devices is not None:
                devices.take_reply(target)
        return reply

    def _findings(self) -> list[FindingEntry]:
        """Return findings about this host that preflight does not make."""
        findings = [] if self._trouble is None else [self._trouble]
        return findings + (
            self._devices.findings() if self._devices is not None else []
        )

    def _first_heartbeat(self, api: ApiClient) -> bool:
        """Retry until the server has accepted a heartbeat; False when told to leave first. Raises UserError
        when the server refuses it."""
        while not self._leaving.is_set():
            try:
                self._pause_s = self._send_heartbeat(api)
            except UnreachableError as error:
                log.warning("waiting for the server: %s", error)
                self._leaving.wait(RETRY_S)
            except ApiError as error:
                if error.status in NOT_ACCEPTED:
                    raise NotAcceptedError(error, self._data_dir) from error
                raise UserError(
                    f"The server refuses the heartbeat: {error}",
                    "Check that agent and server have the same version.",
                ) from error
            else:
                return True
        return False

    def _send_heartbeats(self, api: ApiClient) -> None:
        pause_s = self._pause_s
        while True:
            self._heartbeat_due.wait(pause_s)
            self._heartbeat_due.clear()
            if self._over:
                return
            try:
                pause_s = self._send_heartbeat(api)
            except (ApiError, UnreachableError) as error:
                if self._leave_if_not_accepted(error):
                    return
                log.warning("heartbeat: %s", error)
                pause_s = RETRY_S
            except Exception:  # the server would lose the agent if this thread ended
                log.exception("a heartbeat failed")
                pause_s = RETRY_S

    def _leave_if_not_accepted(self, error: Exception) -> bool:
        """Return whether the server no longer accepts this agent. If so, stop running jobs and leave; `run` then raises the
        reason."""
        if not isinstance(error, ApiError) or error.status not in NOT_ACCEPTED:
            return False
        log.critical("the server no longer accepts this agent: %s", error.detail)
        self._refusal = error
        self._leaving.set()
        if self._devices is not None:
            self._devices.leave()
        for lane in (self._lane, self._devices):
            if lane is not None:
                lane.cancel(StopReason.NOT_ACCEPTED)
        return True

    # --- lanes ---

    def _deliver_leftovers(self, api: ApiClient) -> None:
        """Deliver what this agent measured before its last end; interrupted jobs finish as agent_lost."""
        for spool in self._spool.load_undelivered():
            lost = FinishReport(
                outcome="failed",
                cause="agent_lost",
                detail="The agent ended while the job ran.",
                last_seq=spool.last_seq,
            )
            log.info(
                "job %s: delivering what was left before the agent's start",
                spool.attempt.job_id,
            )
            deliver(api, spool, spool.finish() or lost, self._leaving, PATIENCE_S)

    def _lane_resources(self, api: ApiClient) -> LaneResources:
        limit = self._config.agent.artifact_cache_bytes
        return LaneResources(
            api=api,
            repositories=self._repositories,
            open_cache=lambda: ArtifactCache(self._artifacts, limit, self._in_use),
            spool=self._spool,
            leaving=self._leaving,
            ends_agent=self._leave_if_not_accepted,
            poll_s=self._poll_s,
        )

    @contextlib.contextmanager
    def _device_lanes(self, api: ApiClient) -> Iterator[None]:
        """Drive every attached device in a thread of its own while the body runs."""
        if not self._config.devices.enabled:
            yield
            return
        lanes = DeviceLanes(
            self._config.devices,
            self._backends,
            self._data_dir / "devices",
            self._lane_resources(api),
            host_serial=self._announcer.serial,
            artifacts=self._artifacts,
            request_heartbeat=self._heartbeat_due.set,
            pace=self._pace,
        )
        self._devices = lanes
        with lanes:
            yield

    def _drive_host(self, api: ApiClient) -> None:
        """Run the host's lane in this thread until told to leave. Raises the last of BAD_TURNS errors."""
        lane = self._lane = Lane(
            self._lane_resources(api), self._announcer.serial, self._executor
        )
        errors = 0
        while not self._leaving.is_set():
            try:
                if self._take_host_turn(lane):
                    errors, self._trouble = 0, None
            except Exception as error:
                errors += 1
                if errors >= BAD_TURNS:
                    log.critical("this agent ends after error %d: %r", errors, error)
                    self._leaving.set()
                    raise
                log.exception("a turn of this host failed")
                self._trouble = agent_error_finding(error)
                self._heartbeat_due.set()
                self._leaving.wait(min(RETRY_S, self._poll_s))

    def _take_host_turn(self, lane: Lane) -> bool:
        """Run a job if there is one. Returns False without a job, while the host refuses jobs, or the server refuses the
        host."""
        if self._host_refused:
            self._leaving.wait(self._pause_s)
            return False
        if self._announcer.refusal_reason() is None:
            return lane.take(self._host_id)
        self._heartbeat_due.set()
        self._leaving.wait(RETRY_S)
        return False
