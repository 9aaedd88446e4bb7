"""Leases and runs jobs for one target, one at a time.

The host has a lane and so does every device. A lane asks for work of its own target only, so that none waits
for another's, and has its own source of cancellation. A job that cannot be spooled is refused with a cause.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping

import msgspec

from paceline.api import ApiClient, ApiError, Lease, UnreachableError
from paceline.artifacts import ArtifactCache
from paceline.executors.base import Executor
from paceline.git import Repository
from paceline.job import Job, JobResources
from paceline.lease import Renewer
from paceline.outcome import DETAIL_LIMIT, Cause
from paceline.spool import Attempt, Spool, SpoolError
from paceline.stop import Stop, StopReason

log = logging.getLogger("paceline.agent")

POLL_S = 5.0
"""Length of one long poll for work: also how long an idle lane may take to leave, or to hear of an order."""
RETRY_S = 2.0


class LaneResources(msgspec.Struct, frozen=True):
    """What the lanes of one agent have in common. `ends_us`: told of every refusal, says whether it is final
    for the whole agent."""

    api: ApiClient
    repositories: Mapping[str, Repository]
    cache: Callable[[], ArtifactCache]
    """One per job: what it has given out stays until that job is over."""
    spool: Spool
    leaving: threading.Event
    ends_us: Callable[[Exception], bool]
    poll_s: float = POLL_S


class Lane:
    """Leases for the target `serial` and runs what it gets with `executor`."""

    def __init__(self, shared: LaneResources, serial: str, executor: Executor) -> None:
        self._shared, self._serial, self._executor = shared, serial, executor
        self._current: Stop | None = None

    @property
    def busy(self) -> bool:
        return self._current is not None

    def cancel(self) -> None:
        """Ends the job that runs now, if any."""
        current = self._current
        if current is not None:
            current.set(StopReason.SHUTDOWN)

    def take(self, target_id: str | None) -> bool:
        """Asks once, runs what it gets to its end; whether there was a job. None asks for any target of this
        agent: only right for a server that names none. Raises what the agent itself did wrong; the job has
        that for its cause by then."""
        try:
            lease = self._shared.api.lease(
                self._shared.poll_s, None if target_id is None else [target_id]
            )
        except (ApiError, UnreachableError) as error:
            if not self._shared.ends_us(error):
                log.warning("lease for %s: %s", self._serial, error)
                self._shared.leaving.wait(RETRY_S)
            return False
        if lease is None:
            return False
        self._run(lease)
        return True

    def _run(self, lease: Lease) -> None:
        log.info(
            "job %s: attempt %d of suite %s",
            lease.job_id,
            lease.attempt,
            lease.work.suite,
        )
        stop = self._current = Stop()
        try:
            spool = self._shared.spool.create(
                Attempt(lease.job_id, lease.attempt, lease.lease_token)
            )
            shared = self._shared
            with shared.cache() as cache, Renewer(shared.api, lease, stop):
                shop = JobResources(
                    shared.api,
                    shared.repositories,
                    cache,
                    {self._serial: self._executor},
                )
                ended = Job(shop, lease, spool, stop).run(shared.leaving)
            log.info("job %s: %s", lease.job_id, ended.value)
        except SpoolError as error:
            self._refuse(lease, "disk_full", str(error))
        except Exception as error:
            self._refuse(
                lease, "agent_error", f"The agent met an error of its own: {error!r}"
            )
            raise
        finally:
            self._current = None

    def _refuse(self, lease: Lease, cause: Cause, why: str) -> None:
        log.error("job %s: %s", lease.job_id, why)
        body = {
            "outcome": "failed",
            "cause": cause,
            "detail": why[:DETAIL_LIMIT],
            "last_seq": -1,
        }
        with contextlib.suppress(ApiError, UnreachableError):
            self._shared.api.finish(
                lease.job_id, lease.attempt, lease.lease_token, body, tries=5
            )
