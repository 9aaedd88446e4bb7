"""What the lane has to say of its device and what the server has to say back, between two threads.

Place in the journey: the lane writes, heartbeats carry it away and bring the answer. Invariants: a check, a
rung and a finished order are said until the server has heard them, whatever answers are lost; an order is
carried out once; ages are durations, because the server's clock is the only clock.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import msgspec

from paceline.api import Order, TargetHeard
from paceline.devices.check import Check
from paceline.devices.ladder import Rung

KEPT = 64
"""Rungs and orders said at once, at most; the wire takes no more."""
SHOWN = 1000
"""Characters of a text the wire takes."""


def sayable(text: str, limit: int = SHOWN) -> str:
    """What the wire takes of a text that a device had a part in: no NUL, no half character, not too long."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:limit]


class Tried(msgspec.Struct, frozen=True):
    """A rung that was climbed. `ok`: it did what it could; whether that helped, the next check tells."""

    id: str
    rung: Rung
    ok: bool
    text: str
    at_s: float


class Readings(msgspec.Struct, frozen=True):
    """Of the last look while idle, as the wire has it. `refuses`: what the gates that hold say."""

    gates: dict[str, float | int | bool | None] = {}
    configuration: list[str] | None = None
    preflight: list[dict[str, str]] = []
    refuses: str | None = None


class Report:
    """Safe for the lane's thread and the heartbeat's. `wake` is set when the server said something."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.wake = threading.Event()
        self._clock = clock
        self._lock = threading.Lock()
        self._check: Check | None = None
        self._tried: dict[str, Tried] = {}
        self._done: dict[str, None] = {}
        self._ignored: set[str] = set()
        self._readings = Readings()
        self._heard: TargetHeard | None = None

    # --- the lane ---

    def checked(self, check: Check) -> None:
        with self._lock:
            self._check = check

    def tried(self, rung: Rung, ok: bool, text: str) -> None:
        one = Tried(f"rec_{uuid.uuid4().hex}", rung, ok, text, self._clock())
        with self._lock:
            self._tried[one.id] = one
            while len(self._tried) > KEPT:
                del self._tried[next(iter(self._tried))]

    def done(self, order: Order) -> None:
        with self._lock:
            self._done[order.id] = None
            while len(self._done) > KEPT:
                del self._done[next(iter(self._done))]

    def ignore(self, order: Order) -> None:
        """It cannot be carried out: the server lets it expire."""
        with self._lock:
            self._ignored.add(order.id)

    def read(self, readings: Readings) -> None:
        with self._lock:
            self._readings = readings

    @property
    def readings(self) -> Readings:
        return self._readings

    @property
    def heard(self) -> TargetHeard | None:
        """The last answer about this device; None before the first."""
        return self._heard

    @property
    def order(self) -> Order | None:
        """The oldest order that is still to be carried out."""
        heard = self._heard
        if heard is None:
            return None
        with self._lock:
            over = self._done.keys() | self._ignored
        return next((one for one in heard.orders if one.id not in over), None)

    @property
    def check_due(self) -> bool:
        """Whether the server wants a check and has not one of ours to hear first."""
        return self._heard is not None and self._heard.check_due and self._check is None

    # --- the heartbeat ---

    def entry(self) -> dict[str, Any]:
        """What a heartbeat carries beside identity and connection."""
        with self._lock:
            check, readings = self._check, self._readings
            tried, done = list(self._tried.values()), list(self._done)
        entry: dict[str, Any] = {
            "preflight": readings.preflight,
            "refuses": readings.refuses,
            "recovery": [self._rung(one) for one in tried],
            "orders_done": done,
        }
        if readings.gates:
            entry["gates"] = readings.gates
        if readings.configuration is not None:
            entry["configuration"] = readings.configuration
        if check is not None:
            entry["check"] = self._checked(check)
        return entry

    def hear(self, heard: TargetHeard) -> None:
        """Takes the server's answer; what it has heard is not said again."""
        with self._lock:
            self._heard = heard
            if self._check is not None and self._check.id in heard.checks_heard:
                self._check = None
            for one in heard.recovery_heard:
                self._tried.pop(one, None)
            asked = {order.id for order in heard.orders}
            self._done = {one: None for one in self._done if one in asked}
            self._ignored &= asked
        self.wake.set()

    def _rung(self, one: Tried) -> dict[str, Any]:
        age = self._ms_ago(one.at_s)
        text = sayable(one.text)
        return {"id": one.id, "step": one.rung.value, "ok": one.ok, "text": text, "ms_ago": age}

    def _checked(self, check: Check) -> dict[str, Any]:
        said = msgspec.to_builtins(check)
        del said["started_s"]
        steps = [{**step, "text": sayable(step["text"])} for step in said["steps"]]
        return {**said, "steps": steps, "started_at_ms_ago": self._ms_ago(check.started_s)}

    def _ms_ago(self, at_s: float) -> int:
        return max(int((self._clock() - at_s) * 1000), 0)
