"""Delivers a spool to the server while it grows, and its last write at the end.

    growing ──finish()──▶ draining ──all acknowledged, finish sent──▶ DELIVERED (spool removed)
       └──────────────────────┴──refused──▶ REFUSED (spool set aside)      └──gave up waiting──▶ LEFT (for
       the next start)

An item leaves the spool only after the server acknowledged it. An unreachable server is waited for without
limit while the job runs. A server that lost acknowledged items (`items_missing`) gets everything again, at
most MOST_REPETITIONS times. What the server refuses for good is set aside with the reason, never deleted.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import random
import threading
import time

from paceline_contract.attempts import MAX_DETAIL, AgentCause, FinishReport

from paceline.api import ApiClient, ApiError, LeaseLostError, UnreachableError
from paceline.enrolment import NOT_ACCEPTED
from paceline.spool import AttemptSpool
from paceline.stop import Stop, StopReason

log = logging.getLogger("paceline.delivery")

IDLE_S = 0.5
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.1, 10.0
MOST_REPETITIONS = 3
"""How often everything is sent again to a server that lost items it had acknowledged."""


class DeliveryOutcome(enum.Enum):
    DELIVERED = "delivered"
    REFUSED = "refused"
    LEFT = "left for the next start"


class Delivery:
    """Sends items of `spool` in the background; `finish` sends the rest and the last write."""

    def __init__(self, api: ApiClient, spool: AttemptSpool, stop: Stop) -> None:
        self._api, self._spool, self._stop = api, spool, stop
        self._closing = threading.Event()
        self._refusal: ApiError | None = None
        self._thread = threading.Thread(
            target=self._send_while_growing, name="deliver", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def finish(
        self,
        give_up: threading.Event,
        patience_s: float,
        last: FinishReport | None,
    ) -> DeliveryOutcome:
        """Send everything left and the `last` write, if there is to be one. After `give_up` is set it
        waits `patience_s` at most.
        """
        self._closing.set()
        self._spool.grown.set()
        self._thread.join()
        return deliver(
            self._api, self._spool, last, give_up, patience_s, refusal=self._refusal
        )

    def _send_while_growing(self) -> None:
        backoff = _Backoff(self._spool.attempt.job_id)
        while not self._closing.is_set() and self._refusal is None:
            self._spool.grown.wait(IDLE_S)
            try:
                while not self._closing.is_set() and _send_batch(
                    self._api, self._spool
                ):
                    backoff.reset()
            except UnreachableError as error:
                backoff.wait(error, self._closing)
            except ApiError as error:
                self._refusal = error
                self._stop.set(_reason_of(error))


class _Backoff:
    """Waits longer after each failure to reach the server, until a batch got through."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id
        self.reset()

    def reset(self) -> None:
        self._next_s = FIRST_BACKOFF_S

    def wait(self, error: UnreachableError, interrupted: threading.Event) -> None:
        """Log why the server is waited for and wait, at most until `interrupted` is set."""
        log.warning("job %s: waiting for the server: %s", self._job_id, error)
        interrupted.wait(self._next_s * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
        self._next_s = min(self._next_s * 2, LONGEST_BACKOFF_S)


def _reason_of(error: ApiError) -> StopReason:
    if isinstance(error, LeaseLostError):
        return StopReason.LEASE_LOST
    if error.status in NOT_ACCEPTED:
        return StopReason.NOT_ACCEPTED
    return StopReason.REFUSED


def deliver(
    api: ApiClient,
    spool: AttemptSpool,
    last: FinishReport | None,
    give_up: threading.Event,
    patience_s: float,
    *,
    refusal: ApiError | None = None,
) -> DeliveryOutcome:
    """Deliver all items, then the finish report."""
    attempt = spool.attempt
    backoff = _Backoff(attempt.job_id)
    deadline: float | None = None
    repetitions = 0
    while refusal is None:
        try:
            while _send_batch(api, spool):
                backoff.reset()
            if last is not None:
                report = spool.add_last_seq(last)
                api.finish(attempt.job_id, attempt.attempt, attempt.lease_token, report)
            spool.remove()
            return DeliveryOutcome.DELIVERED
        except UnreachableError as error:
            if give_up.is_set():
                deadline = deadline or time.monotonic() + patience_s
                if time.monotonic() > deadline:
                    log.warning(
                        "job %s: %s; its spool stays for the next start",
                        attempt.job_id,
                        error,
                    )
                    return DeliveryOutcome.LEFT
            backoff.wait(error, threading.Event() if give_up.is_set() else give_up)
        except ApiError as error:
            if error.code == "items_missing" and repetitions < MOST_REPETITIONS:
                repetitions += 1
                log.warning(
                    "job %s: %s Sending everything again.", attempt.job_id, error.detail
                )
                spool.start_over()
            else:
                refusal = error
    if not isinstance(refusal, LeaseLostError):
        _report_refusal(api, spool, refusal)
    kept_in = spool.set_aside(str(refusal))
    log.error(
        "job %s: the server refused (%s); what was measured is kept in %s",
        attempt.job_id,
        refusal,
        kept_in,
    )
    return DeliveryOutcome.REFUSED


NOT_DECLARED = "not_declared"
"""The server's code when a workload measures something that its manifest does not declare: the suite is wrong."""
IS_KEPT = "What was measured is kept in the agent's spool."


def _report_refusal(api: ApiClient, spool: AttemptSpool, refusal: ApiError) -> None:
    """End the attempt with the items that the server has, so that nobody waits for the rest."""
    attempt = spool.attempt
    detail = f"The server refused what the agent measured: {refusal}. {IS_KEPT}"
    cause: AgentCause = "agent_error"
    if refusal.code == NOT_DECLARED:
        cause, detail = "suite_invalid", f"{refusal.detail} {IS_KEPT}"
    if spool.damaged:
        detail += (
            f" {len(spool.damaged)} of its lines were damaged on the agent's disk."
        )
    report = FinishReport(
        outcome="failed",
        cause=cause,
        detail=detail[:MAX_DETAIL],
        last_seq=spool.acknowledged_seq,
    )
    with contextlib.suppress(ApiError, UnreachableError):
        api.finish(
            attempt.job_id, attempt.attempt, attempt.lease_token, report, tries=3
        )


def _send_batch(api: ApiClient, spool: AttemptSpool) -> bool:
    batch = spool.next_batch()
    if batch is None:
        return False
    attempt = spool.attempt
    api.items(attempt.job_id, attempt.attempt, attempt.lease_token, batch.items)
    spool.acknowledge(batch)
    return True
