"""The cancellation of a job: the first reason to stop wins.

Each attempt has one, which is handed to every step. Once set it stays set, with its first reason.
"""

from __future__ import annotations

import enum
import threading


class StopReason(enum.Enum):
    """Why a job must stop before its end."""

    CANCELLED = "the run was cancelled"
    LEASE_LOST = "the lease was lost: another attempt may be running"
    REFUSED = "the server refuses what the agent sends"
    NOT_ACCEPTED = "the server no longer accepts this agent"
    SHUTDOWN = "the agent was told twice to stop"
    DISK_FULL = "the agent's disk is full"


class Stop:
    """`set` from any thread; `reason` is None until then."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._reason: StopReason | None = None

    def set(self, reason: StopReason) -> None:
        with self._lock:
            if self._reason is None:
                self._reason = reason
        self._event.set()

    @property
    def reason(self) -> StopReason | None:
        return self._reason

    def wait(self, timeout_s: float) -> bool:
        """Return True as soon as it is set, False after `timeout_s`."""
        return self._event.wait(timeout_s)
