"""The agent: enrol → (deliver what was left) → lease → prepare → execute → report, for ever. A table of
contents.

Place in the journey: the process on a host. Invariants: one job at a time per target; what an earlier life
left in the spool is delivered before anything new is leased; a first SIGTERM finishes the job and leaves, a
second cancels it; no lease is asked for while the target refuses jobs.

    starting ──enrolled──▶ idle ──lease──▶ working ──delivered──▶ idle
                            │ leave()          │ leave(): finish, then end · leave() again: cancel, then end
                            └──────▶ ended ◀───┘
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from paceline import environment
from paceline.announce import Announcer
from paceline.api import Api, ApiError, UnreachableError, check_address
from paceline.artifacts import ArtifactCache
from paceline.config import Config
from paceline.delivery import deliver
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.executors.host import HostExecutor
from paceline.git import Repository
from paceline.job import PATIENCE_S, Job, Workshop
from paceline.lease import Renewer
from paceline.spool import Attempt, Spool, SpoolError
from paceline.stop import Reason, Stop

log = logging.getLogger("paceline.agent")

POLL_S = 5.0
"""Length of one long poll for work: also how long an idle agent may take to leave."""
RETRY_S = 2.0
NOT_ACCEPTED = (401, 403)
"""Answers that waiting does not change: the credential is unknown, revoked or not an agent's."""


class Credential(msgspec.Struct, frozen=True):
    server: str
    agent_id: str
    credential: str


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
    ) -> None:
        check_address(server)
        self._server, self._data_dir, self._config = server.rstrip("/"), data_dir, config
        data_dir.mkdir(parents=True, exist_ok=True)
        self._repositories = {
            name: Repository(name, item.location, data_dir) for name, item in config.repositories.items()
        }
        self._announcer = Announcer(config, self._repositories, data_dir)
        self._executor = executor or HostExecutor(self._announcer.serial)
        self._poll_s = poll_s
        self._pause_s = RETRY_S
        self._spool = Spool(data_dir / "spool")
        self._leaving = threading.Event()
        self._over = threading.Event()
        self._current: Stop | None = None
        self._refusal: ApiError | None = None

    def leave(self) -> None:
        """First call: end after the current job. Second: cancel the current job, too."""
        current = self._current
        if self._leaving.is_set() and current is not None:
            log.info("told twice to stop: cancelling the job")
            current.set(Reason.SHUTDOWN)
        elif not self._leaving.is_set():
            log.info("told to stop: leaving %s", "after this job" if current else "now")
        self._leaving.set()

    def run(self, enrolment_code: str | None = None) -> None:
        """Raises UserError when it cannot start or is no longer accepted (a revoked credential); everything
        else is waited out or logged.
        """
        with self._exclusively(), contextlib.closing(self._enrol(enrolment_code)) as api:
            if not self._first_heartbeat(api):
                return
            beats = threading.Thread(target=self._heartbeats, args=(api,), name="heartbeat", daemon=True)
            beats.start()
            log.info("ready: target %s", self._announcer.serial)
            try:
                self._deliver_leftovers(api)
                while not self._leaving.is_set():
                    self._work(api)
            finally:
                self._over.set()
                beats.join()
            if self._refusal is not None:
                raise self._not_accepted(self._refusal) from self._refusal

    @contextlib.contextmanager
    def _exclusively(self) -> Iterator[None]:
        lock = FileLock(self._data_dir / "agent.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            text = f"Another agent already uses {self._data_dir}."
            raise UserError(text, "Stop it, or give this one its own directory with --data.") from error
        try:
            yield
        finally:
            lock.release()

    # --- enrol ---

    def _enrol(self, code: str | None) -> Api:
        path = self._data_dir / "credential.json"
        known = _read_credential(path)
        if known is not None and known.server == self._server:
            if code is not None:
                log.info("already enrolled as %s; the code is not used", known.agent_id)
            return Api(self._server, known.credential)
        if code is None:
            there = f"It is enrolled at {known.server}." if known else "It has no credential yet."
            advice = "Get a one-time code with `paceline-server enrolment-code` and give it with --enrol."
            raise UserError(f"This agent is not enrolled at {self._server}. {there}", advice)
        api = Api(self._server)
        try:
            enrolment = api.enrol(code, self._config.agent.name or environment.display_name())
        except ApiError as error:
            advice = "Codes work once and expire: get a new one and start again."
            raise UserError(f"The server refused the enrolment: {error.detail}", advice) from error
        except UnreachableError as error:
            raise UserError(
                f"The server cannot be reached: {error}", "Check --server and the network."
            ) from error
        finally:
            api.close()
        credential = Credential(self._server, enrolment.agent_id, enrolment.credential)
        _write_secret(path, msgspec.json.encode(credential))
        log.info("enrolled as %s", enrolment.agent_id)
        return Api(self._server, enrolment.credential)

    # --- heartbeat ---

    def _beat(self, api: Api) -> float:
        busy = self._current is not None
        beat = api.heartbeat(self._announcer.targets(busy), self._announcer.suites(busy))
        self._announcer.heard(beat.refused)
        return beat.heartbeat_s

    def _first_heartbeat(self, api: Api) -> bool:
        """Until the server knows us; False when told to leave first. Raises UserError when it refuses us."""
        while not self._leaving.is_set():
            try:
                self._pause_s = self._beat(api)
            except UnreachableError as error:
                log.warning("waiting for the server: %s", error)
                self._leaving.wait(RETRY_S)
            except ApiError as error:
                if error.status in NOT_ACCEPTED:
                    raise self._not_accepted(error) from error
                raise UserError(
                    f"The server refuses the heartbeat: {error}", "Are both of one version?"
                ) from error
            else:
                return True
        return False

    def _heartbeats(self, api: Api) -> None:
        pause_s = self._pause_s
        while not self._over.wait(pause_s):
            try:
                pause_s = self._beat(api)
            except (ApiError, UnreachableError) as error:
                if self._ends_us(error):
                    return
                log.warning("heartbeat: %s", error)
                pause_s = RETRY_S

    def _ends_us(self, error: Exception) -> bool:
        """Whether the server no longer accepts this agent: then it leaves, and `run` says why."""
        if not isinstance(error, ApiError) or error.status not in NOT_ACCEPTED:
            return False
        self._refusal = error
        self._leaving.set()
        return True

    def _not_accepted(self, error: ApiError) -> UserError:
        path = self._data_dir / "credential.json"
        advice = f"Remove {path} and enrol again with a new one-time code."
        return UserError(f"The server does not accept this agent: {error.detail}", advice)

    # --- lease, work, report ---

    def _deliver_leftovers(self, api: Api) -> None:
        """What earlier lives measured but could not report; their interrupted jobs end as agent_lost."""
        for spool in self._spool.undelivered():
            lost = {
                "outcome": "failed",
                "cause": "agent_lost",
                "detail": "The agent ended while the job ran.",
            }
            log.info("job %s: delivering what an earlier life left", spool.attempt.job_id)
            deliver(api, spool, spool.finish() or lost, self._leaving, PATIENCE_S)

    def _work(self, api: Api) -> None:
        if self._announcer.refuses() is not None:
            with contextlib.suppress(ApiError, UnreachableError):
                self._beat(api)
            self._leaving.wait(RETRY_S)
            return
        try:
            lease = api.lease(self._poll_s)
        except (ApiError, UnreachableError) as error:
            if self._ends_us(error):
                return
            log.warning("lease: %s", error)
            self._leaving.wait(RETRY_S)
            return
        if lease is None:
            return
        log.info("job %s: attempt %d of suite %s", lease.job_id, lease.attempt, lease.work.suite)
        stop = self._current = Stop()
        try:
            spool = self._spool.create(Attempt(lease.job_id, lease.attempt, lease.lease_token))
            cache = ArtifactCache(self._data_dir / "artifacts", self._config.agent.artifact_cache_bytes)
            shop = Workshop(api, self._repositories, cache, {self._announcer.serial: self._executor})
            with Renewer(api, lease, stop):
                ended = Job(shop, lease, spool, stop).run(self._leaving)
            log.info("job %s: %s", lease.job_id, ended.value)
        except SpoolError as error:
            self._refuse(api, lease.job_id, lease.attempt, lease.lease_token, str(error))
        finally:
            self._current = None

    def _refuse(self, api: Api, job_id: str, attempt: int, token: str, why: str) -> None:
        log.error("job %s: %s", job_id, why)
        body = {"outcome": "failed", "cause": "disk_full", "detail": why, "last_seq": -1}
        with contextlib.suppress(ApiError, UnreachableError):
            api.finish(job_id, attempt, token, body, tries=5)


def _read_credential(path: Path) -> Credential | None:
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), Credential)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", "Remove it and enrol again.") from error


def _write_secret(path: Path, data: bytes) -> None:
    """Readable by its owner only, from its first byte on."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
