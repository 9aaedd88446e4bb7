"""Leases and runs jobs for one target, one at a time.

The host and every device have a lane each. A lane requests work for its own target only, so that no target
waits for another, and its job is cancelled by itself. A job that cannot be spooled is refused with a cause.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable

from paceline_contract.attempts import MAX_DETAIL, AgentCause, FinishReport

from paceline.api import ApiError, Lease, UnreachableError
from paceline.artifacts import ArtifactCache
from paceline.executors.base import Executor
from paceline.job import Job, JobResources
from paceline.lease import Renewer
from paceline.spool import Attempt, Spool, SpoolError
from paceline.stop import Stop, StopReason

log = logging.getLogger("paceline.agent")

POLL_S = 5.0
"""Length of one long poll for work. An idle lane needs up to this long to leave or to receive an order."""
RETRY_S = 2.0


class LaneResources(JobResources, frozen=True):
    """Resources that all lanes of an agent share."""

    open_cache: Callable[[], ArtifactCache]
    """A cache for one job: its entries are not evicted until the job ends."""
    spool: Spool
    leaving: threading.Event
    ends_agent: Callable[[Exception], bool]
    """Called with every refusal by the server; True when it ends the whole agent."""
    poll_s: float = POLL_S


class Lane:
    """Leases jobs for target `serial` and runs them with `executor`."""

    def __init__(self, shared: LaneResources, serial: str, executor: Executor) -> None:
        self._shared, self._serial, self._executor = shared, serial, executor
        self._current: Stop | None = None

    @property
    def busy(self) -> bool:
        return self._current is not None

    def cancel(self, reason: StopReason) -> None:
        """End the job that runs now, if any."""
        current = self._current
        if current is not None:
            current.set(reason)

    def take(self, target_id: str | None) -> bool:
        """Request one lease and run its job to the end; False when there was no job.

        `target_id` None requests a job for any target of this agent, for servers that name no targets.
        Raises an internal error after the job has failed with it as its cause.
        """
        try:
            lease = self._shared.api.lease(
                self._shared.poll_s, None if target_id is None else [target_id]
            )
        except (ApiError, UnreachableError) as error:
            if not self._shared.ends_agent(error):
                log.warning("lease for %s: %s", self._serial, error)
                self._shared.leaving.wait(RETRY_S)
            return False
        if lease is None:
            return False
        self._run(lease)
        return True

    def _run(self, lease: Lease) -> None:
        if lease.target_serial != self._serial:
            text = f"This agent no longer has target {lease.target_serial}."
            self._refuse(lease, "target_refused", text)
            return
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
            with shared.open_cache() as cache, Renewer(shared.api, lease, stop):
                job = Job(
                    shared,
                    lease,
                    executor=self._executor,
                    cache=cache,
                    spool=spool,
                    stop=stop,
                )
                delivered = job.run(shared.leaving)
            log.info("job %s: %s", lease.job_id, delivered.value)
        except SpoolError as error:
            self._refuse(lease, "disk_full", str(error))
        except Exception as error:
            self._refuse(
                lease, "agent_error", f"The agent met an error of its own: {error!r}"
            )
            raise
        finally:
            self._current = None

    def _refuse(self, lease: Lease, cause: AgentCause, why: str) -> None:
        log.error("job %s: %s", lease.job_id, why)
        report = FinishReport(
            outcome="failed", cause=cause, detail=why[:MAX_DETAIL], last_seq=-1
        )
        with contextlib.suppress(ApiError, UnreachableError):
            self._shared.api.finish(
                lease.job_id, lease.attempt, lease.lease_token, report, tries=5
            )
