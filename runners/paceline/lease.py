"""Renews a lease while a job runs, and stops the job when the lease is lost, the run cancelled or the agent revoked.

Renewal happens at a third of the lease's duration. An unreachable server does not stop the job: measuring
goes on, the result arrives late, and the server's clock decides whether it still counts.
"""

from __future__ import annotations

import logging
import threading

from paceline.api import ApiClient, ApiError, Lease, LeaseLostError, UnreachableError
from paceline.enrolment import NOT_ACCEPTED
from paceline.stop import Stop, StopReason

log = logging.getLogger("paceline.lease")


class Renewer:
    """Renews `lease` from entering to leaving the context."""

    def __init__(self, api: ApiClient, lease: Lease, stop: Stop) -> None:
        self._api, self._lease, self._stop = api, lease, stop
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="renew", daemon=True)

    def __enter__(self) -> Renewer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        pause_s = self._lease.lease_s / 3
        while not self._over.wait(pause_s):
            try:
                renewal = self._api.renew(self._lease)
            except LeaseLostError as error:
                log.warning(
                    "job %s: the lease is lost: %s", self._lease.job_id, error.detail
                )
                self._stop.set(StopReason.LEASE_LOST)
                return
            except ApiError as error:
                self._note_failure(error)
                if error.status in NOT_ACCEPTED:
                    self._stop.set(StopReason.NOT_ACCEPTED)
                    return
                pause_s = self._pause_after_failure(pause_s)
                continue
            except UnreachableError as error:
                self._note_failure(error)
                pause_s = self._pause_after_failure(pause_s)
                continue
            pause_s = renewal.lease_s / 3
            if renewal.cancel:
                self._stop.set(StopReason.CANCELLED)

    def _note_failure(self, error: Exception) -> None:
        log.warning(
            "job %s: the lease could not be renewed: %s", self._lease.job_id, error
        )

    def _pause_after_failure(self, pause_s: float) -> float:
        return min(pause_s, max(self._lease.lease_s / 10, 0.05))
