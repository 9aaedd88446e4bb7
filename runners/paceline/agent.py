"""Runs the agent: enrols, delivers what an earlier run left, then works for the host and every device.

    starting ──enrolled──▶ idle ──lease──▶ working ──delivered──▶ idle
                            │ leave()          │ leave(): finish, then end · leave() again: cancel, then end
                            └──────▶ ended ◀───┘

Every target runs one job at a time, in a lane of its own. Spooled results are delivered before anything new
is leased. One thread sends all heartbeats, so that replies arrive in order. An internal error is reported and
survived; BAD_TURNS errors in a row on the host's lane end the whole agent.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from paceline import environment
from paceline.adb.keys import key_directory
from paceline.announce import Announcer
from paceline.api import ApiClient, ApiError, UnreachableError, check_address
from paceline.artifacts import ArtifactCache, EntriesInUse
from paceline.config import Config
from paceline.delivery import deliver
from paceline.devices.backends import AdbBackends, DeviceBackends
from paceline.devices.driver import DriverIntervals
from paceline.devices.fleet import DeviceLanes
from paceline.devices.heartbeat_report import FindingEntry, agent_error_finding
from paceline.enrolment import NOT_ACCEPTED, enrol, not_accepted_error
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.executors.host import HostExecutor
from paceline.git import Repository
from paceline.job import PATIENCE_S
from paceline.lane import POLL_S, RETRY_S, Lane, LaneResources
from paceline.spool import Spool

log = logging.getLogger("paceline.agent")

BAD_TURNS = 3
"""Errors of our own on the host's lane without a job that went well: who started the agent is to see it."""


class Agent:
    """One agent on one data directory. `run` blocks until it has left; `leave` may come from a signal
    handler.
    """

    def __init__(
        self,
        server: str,
        data_dir: Path,
        config: Config,
        executor: Executor | None = None,
        *,
        poll_s: float = POLL_S,
        backends: DeviceBackends | None = None,
        pace: DriverIntervals | None = None,
    ) -> None:
        check_address(server)
        self._server, self._data_dir, self._config = (
            server.rstrip("/"),
            data_dir,
            config,
        )
        self._artifacts = data_dir / "artifacts"
        data_dir.mkdir(parents=True, exist_ok=True)
        self._repositories = {
            name: Repository(name, item.location, data_dir)
            for name, item in config.repositories.items()
        }
        self._announcer = Announcer(config, self._repositories, data_dir)
        self._executor = executor or HostExecutor(self._announcer.serial)
        self._ways = backends or AdbBackends(
            config.devices.adb_server, key_directory(data_dir)
        )
        self._poll_s, self._pace = poll_s, pace
        self._pause_s = RETRY_S
        self._spool = Spool(data_dir / "spool")
        self._in_use = EntriesInUse()
        self._leaving = threading.Event()
        self._over = False
        self._beat_now = threading.Event()
        self._lane: Lane | None = None
        self._host_id: str | None = None
        self._devices: DeviceLanes | None = None
        self._refusal: ApiError | None = None
        self._trouble: FindingEntry | None = None

    def leave(self) -> None:
        """First call: end after the current jobs. Second: cancel the current jobs, too."""
        lanes = [lane for lane in (self._lane, self._devices) if lane is not None]
        busy = any(lane.busy for lane in lanes)
        if self._leaving.is_set() and busy:
            log.info("told twice to stop: cancelling what runs")
            for lane in lanes:
                lane.cancel()
        elif not self._leaving.is_set():
            log.info("told to stop: leaving %s", "after what runs" if busy else "now")
        self._leaving.set()
        if self._devices is not None:
            self._devices.leave()

    def run(self, enrolment_code: str | None = None) -> None:
        """Raises UserError when it cannot start or is no longer accepted (a revoked credential), and an error
        of our own that repeats; everything else is waited out or logged. However it ends, all of it has.
        """
        name = self._config.agent.name or environment.display_name()
        with (
            self._exclusively(),
            contextlib.closing(
                enrol(self._server, self._data_dir, enrolment_code, name)
            ) as api,
        ):
            if not self._first_heartbeat(api):
                return
            beats = threading.Thread(
                target=self._heartbeats, args=(api,), name="heartbeat", daemon=True
            )
            beats.start()
            log.info("ready: target %s", self._announcer.serial)
            try:
                self._deliver_leftovers(api)
                with self._device_lanes(api):
                    self._drive_host(api)
            finally:
                self._over = True
                self._beat_now.set()
                beats.join()
            if self._refusal is not None:
                raise not_accepted_error(
                    self._refusal, self._data_dir
                ) from self._refusal

    @contextlib.contextmanager
    def _exclusively(self) -> Iterator[None]:
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

    def _beat(self, api: ApiClient) -> float:
        lane, devices = self._lane, self._devices
        busy = lane is not None and lane.busy
        targets = [
            {**host, "preflight": [*host["preflight"], *self._findings()]}
            for host in self._announcer.targets(busy)
        ]
        targets += devices.entries() if devices is not None else []
        beat = api.heartbeat(targets, self._announcer.suites(busy))
        self._announcer.note_refused_suites(beat.refused)
        for heard in beat.targets:
            if heard.kind == "host":
                self._host_id = heard.target_id
            elif devices is not None:
                devices.take_reply(heard)
        return beat.heartbeat_s

    def _findings(self) -> list[FindingEntry]:
        """About this host, beside its preflight."""
        findings = [] if self._trouble is None else [self._trouble]
        return findings + (
            self._devices.findings() if self._devices is not None else []
        )

    def _first_heartbeat(self, api: ApiClient) -> bool:
        """Until the server knows us; False when told to leave first. Raises UserError when it refuses us."""
        while not self._leaving.is_set():
            try:
                self._pause_s = self._beat(api)
            except UnreachableError as error:
                log.warning("waiting for the server: %s", error)
                self._leaving.wait(RETRY_S)
            except ApiError as error:
                if error.status in NOT_ACCEPTED:
                    raise not_accepted_error(error, self._data_dir) from error
                raise UserError(
                    f"The server refuses the heartbeat: {error}",
                    "Are both of one version?",
                ) from error
            else:
                return True
        return False

    def _heartbeats(self, api: ApiClient) -> None:
        pause_s = self._pause_s
        while True:
            self._beat_now.wait(pause_s)
            self._beat_now.clear()
            if self._over:
                return
            try:
                pause_s = self._beat(api)
            except (ApiError, UnreachableError) as error:
                if self._ends_us(error):
                    return
                log.warning("heartbeat: %s", error)
                pause_s = RETRY_S
            except (
                Exception
            ):  # without this thread nobody would hear of the agent any more
                log.exception("a heartbeat failed")
                pause_s = RETRY_S

    def _ends_us(self, error: Exception) -> bool:
        """Whether the server no longer accepts this agent: then it leaves, and `run` says why."""
        if not isinstance(error, ApiError) or error.status not in NOT_ACCEPTED:
            return False
        self._refusal = error
        self._leaving.set()
        if self._devices is not None:
            self._devices.leave()
        return True

    # --- lanes ---

    def _deliver_leftovers(self, api: ApiClient) -> None:
        """What earlier lives measured but could not report; their interrupted jobs end as agent_lost."""
        for spool in self._spool.undelivered():
            lost = {
                "outcome": "failed",
                "cause": "agent_lost",
                "detail": "The agent ended while the job ran.",
            }
            log.info(
                "job %s: delivering what an earlier life left", spool.attempt.job_id
            )
            deliver(api, spool, spool.finish() or lost, self._leaving, PATIENCE_S)

    def _shared(self, api: ApiClient) -> LaneResources:
        limit = self._config.agent.artifact_cache_bytes
        return LaneResources(
            api=api,
            repositories=self._repositories,
            cache=lambda: ArtifactCache(self._artifacts, limit, self._in_use),
            spool=self._spool,
            leaving=self._leaving,
            ends_us=self._ends_us,
            poll_s=self._poll_s,
        )

    @contextlib.contextmanager
    def _device_lanes(self, api: ApiClient) -> Iterator[None]:
        """Every attached device is driven in a thread of its own meanwhile."""
        if not self._config.devices.enabled:
            yield
            return
        lanes = DeviceLanes(
            self._config.devices,
            self._ways,
            self._data_dir / "devices",
            self._shared(api),
            host_serial=self._announcer.serial,
            artifacts=self._artifacts,
            request_heartbeat=self._beat_now.set,
            pace=self._pace,
        )
        self._devices = lanes
        with lanes:
            yield

    def _drive_host(self, api: ApiClient) -> None:
        """The host's own lane, in this thread, until told to leave. Raises the last of BAD_TURNS errors."""
        lane = self._lane = Lane(
            self._shared(api), self._announcer.serial, self._executor
        )
        bad = 0
        while not self._leaving.is_set():
            try:
                if self._host_turn(lane):
                    bad, self._trouble = 0, None
            except Exception as error:
                bad += 1
                if bad >= BAD_TURNS:
                    log.critical("this agent ends: %r for the %dth time", error, bad)
                    self._leaving.set()
                    raise
                log.exception("a turn of this host failed")
                self._trouble = agent_error_finding(error)
                self._beat_now.set()
                self._leaving.wait(min(RETRY_S, self._poll_s))

    def _host_turn(self, lane: Lane) -> bool:
        """Whether a job was done."""
        if self._announcer.refuses() is None:
            return lane.take(self._host_id)
        self._beat_now.set()
        self._leaving.wait(RETRY_S)
        return False
