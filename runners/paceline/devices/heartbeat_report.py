"""Holds what a device's lane reports to the server in heartbeats, and the server's last reply.

A check, a rung and a finished order are repeated until the server confirms them. An order is carried out once,
even if an old reply names it again. Ages are durations, because only the server's clock counts.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import msgspec

from paceline.api import DeviceOrder, TargetReply
from paceline.devices import readiness
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.check import HealthCheck
from paceline.devices.conditions import DeviceReading
from paceline.devices.errors import TWIN_ADVICE
from paceline.devices.health import Rung
from paceline.devices.parsers.text_values import unread_text

KEPT = 64
"""Most rungs and orders in one heartbeat; the server accepts no more."""
UNKNOWN_NAMES = {
    "boot_id": "its boot id",
    "thermal_status": "its thermal status",
    "battery_c": "its battery's temperature",
    "battery_percent": "its charge",
    "cpu_frequency_cap_mhz": "its highest allowed clocks",
    "cpus_online": "its online cores",
    "psi_cpu_percent": "how long tasks wait for a CPU",
    "psi_memory_percent": "how long tasks wait for memory",
}
"""Conditions as people call them (`devices/conditions.py`, WANTED)."""
REMEMBERED = 1024
"""Finished orders remembered while the agent runs: about a year's worth."""
FINDING_CHARACTERS = 500
"""Most characters of a finding or a refusal in a heartbeat."""
TEXT_CHARACTERS = 1000
"""Most characters of any other text in a heartbeat."""


def fit_for_wire(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """Return a text from a device as the server accepts it: no NUL, no lone surrogate, at most `limit` characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:limit]


FindingEntry = dict[str, str]
"""A finding as JSON, with the fields of a preflight finding."""


def finding_entry(
    code: str, text: str, advice: str, level: str = "warning"
) -> FindingEntry:
    return {
        "code": code,
        "level": level,
        "text": fit_for_wire(text, FINDING_CHARACTERS),
        "advice": fit_for_wire(advice, FINDING_CHARACTERS),
    }


def twin_findings(device: AttachedDevice) -> list[FindingEntry]:
    """Return the finding that another device has the same serial number, if there is one."""
    if device.twin is None:
        return []
    return [finding_entry("identity", device.twin, TWIN_ADVICE)]


def reading_notes(reading: DeviceReading) -> list[FindingEntry]:
    """Return what a reading lacks: conditions that the device does not report, and texts that are not understood."""
    notes: list[FindingEntry] = []
    unknown = reading.values.get("unknown")
    if isinstance(unknown, list) and unknown:
        names = ", ".join(UNKNOWN_NAMES.get(str(name), str(name)) for name in unknown)
        notes.append(
            finding_entry(
                "unknown_conditions",
                f"It does not report {names}: unknown is never taken for good.",
                "",
                "info",
            )
        )
    if text := unread_text(reading.unread):
        notes.append(
            finding_entry(
                "not_understood",
                text,
                "Everything else was read. The conditions of a run hold the whole texts: please report them.",
                "info",
            )
        )
    return notes


def agent_error_finding(error: Exception) -> FindingEntry:
    """Return a finding about an internal error, which would otherwise be in the agent's log only."""
    text = f"The agent had an internal error: {type(error).__name__}: {error}"
    return finding_entry(
        "agent_error", text, "See its log for the details. It keeps trying."
    )


class TriedRung(msgspec.Struct, frozen=True):
    """A rung that was tried. `ok`: it was carried out; only the next check tells whether it helped.
    `order_id`: the order that requested it."""

    id: str
    rung: Rung
    ok: bool
    text: str
    at_s: float
    order_id: str | None = None


class IdleReadings(msgspec.Struct, frozen=True):
    """The last reading while idle, as a heartbeat reports it. `refuses`: the texts of readiness checks that block."""

    values: dict[str, float | int | bool | None] = {}
    configuration: list[str] | None = None
    preflight: list[FindingEntry] = []
    refuses: str | None = None
    at_s: float = 0.0


def idle_readings(reading: DeviceReading, blocked_by: frozenset[str]) -> IdleReadings:
    """Return the part of a reading that a heartbeat reports. Pure."""
    inputs = reading.seen
    blocking = [
        check for check in readiness.check_readiness(inputs, blocked_by) if check.blocks
    ]
    findings_of: list[tuple[str, str, str]] = [
        (check.name, check.text, check.advice) for check in blocking
    ]
    findings_of += [
        (problem.name, problem.text, problem.advice)
        for problem in reading.configuration
    ]
    findings = [finding_entry(name, text, advice) for name, text, advice in findings_of]
    findings += reading_notes(reading)
    refuses = (
        " ".join(f"{check.text} {check.advice}".strip() for check in blocking)[
            :FINDING_CHARACTERS
        ]
        or None
    )
    names: list[str] = [problem.name for problem in reading.configuration]
    return IdleReadings(
        readiness.heartbeat_values(inputs), names, findings, refuses, reading.at_s
    )


class HeartbeatReport:
    """Shared by the lane's and the heartbeat's thread. `wake` is set when the server has replied."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.wake = threading.Event()
        self._clock = clock
        self._lock = threading.Lock()
        self._check: HealthCheck | None = None
        self._tried: dict[str, TriedRung] = {}
        self._done: dict[str, None] = {}
        self._refused: dict[str, str] = {}
        self._handled: dict[str, None] = {}
        """Ids of orders that were done or refused."""
        self._readings = IdleReadings()
        self._reply: TargetReply | None = None

    # --- the lane ---

    def note_check(self, check: HealthCheck) -> None:
        with self._lock:
            self._check = check

    def note_rung(
        self, rung: Rung, ok: bool, text: str, order: DeviceOrder | None = None
    ) -> None:
        order_id = order.id if order is not None else None
        tried = TriedRung(
            f"rec_{uuid.uuid4().hex}", rung, ok, text, self._clock(), order_id
        )
        with self._lock:
            self._tried[tried.id] = tried
            _forget_oldest(self._tried, KEPT)

    def note_done(self, order: DeviceOrder) -> None:
        with self._lock:
            self._done[order.id] = self._handled[order.id] = None
            _forget_oldest(self._done, KEPT)
            _forget_oldest(self._handled, REMEMBERED)

    def refuse(self, order: DeviceOrder, why: str) -> None:
        """Report that an order will not be carried out."""
        with self._lock:
            self._refused[order.id], self._handled[order.id] = why, None
            _forget_oldest(self._refused, KEPT)
            _forget_oldest(self._handled, REMEMBERED)

    def note_readings(self, readings: IdleReadings) -> None:
        with self._lock:
            self._readings = readings

    @property
    def readings(self) -> IdleReadings:
        return self._readings

    @property
    def reply(self) -> TargetReply | None:
        """Return the server's last reply about this device; None before the first."""
        return self._reply

    @property
    def driven_by(self) -> str | None:
        """Return the agent that drives this device now, when it is not this one."""
        return None if self._reply is None else self._reply.driven_by

    def forget(self) -> None:
        """Drop readings from a time when this agent drove the device."""
        self.note_readings(IdleReadings())

    @property
    def order(self) -> DeviceOrder | None:
        """Return the oldest order that is still to be carried out."""
        reply = self._reply
        if reply is None:
            return None
        with self._lock:
            return next(
                (order for order in reply.orders if order.id not in self._handled), None
            )

    @property
    def check_due(self) -> bool:
        """Return whether the server requests a check and none is waiting to be delivered."""
        return self._reply is not None and self._reply.check_due and self._check is None

    # --- the heartbeat ---

    def entry(self) -> dict[str, Any]:
        """Return the device's entry in a heartbeat, without identity and connection."""
        with self._lock:
            check, readings = self._check, self._readings
            tried, done = list(self._tried.values()), list(self._done)
            refused = [
                {"id": order_id, "why": fit_for_wire(why, FINDING_CHARACTERS)}
                for order_id, why in self._refused.items()
            ]
        entry: dict[str, Any] = {
            "preflight": readings.preflight,
            "refuses": readings.refuses,
            "recovery": [self._rung_entry(rung) for rung in tried],
            "orders_done": done,
            "orders_refused": refused,
        }
        if readings.values:
            entry["gates"] = {**readings.values, "ms_ago": self._ms_ago(readings.at_s)}
        if readings.configuration is not None:
            entry["configuration"] = readings.configuration
        if check is not None:
            entry["check"] = self._check_entry(check)
        return entry

    def take_reply(self, reply: TargetReply) -> None:
        """Take the server's reply and drop what it confirms."""
        with self._lock:
            self._reply = reply
            if self._check is not None and self._check.id in reply.checks_heard:
                self._check = None
            for tried_id in reply.recovery_heard:
                self._tried.pop(tried_id, None)
            order_ids = {order.id for order in reply.orders}
            self._done = {
                order_id: None for order_id in self._done if order_id in order_ids
            }
            self._refused = {
                order_id: why
                for order_id, why in self._refused.items()
                if order_id in order_ids
            }
        self.wake.set()

    def _rung_entry(self, tried: TriedRung) -> dict[str, Any]:
        age = self._ms_ago(tried.at_s)
        text = fit_for_wire(tried.text)
        entry = {
            "id": tried.id,
            "step": tried.rung.value,
            "ok": tried.ok,
            "text": text,
            "ms_ago": age,
        }
        return {**entry, "order_id": tried.order_id}

    def _check_entry(self, check: HealthCheck) -> dict[str, Any]:
        entry = msgspec.to_builtins(check)
        del entry["started_s"]
        steps = [
            {**step, "text": fit_for_wire(step["text"])} for step in entry["steps"]
        ]
        return {
            **entry,
            "steps": steps,
            "started_at_ms_ago": self._ms_ago(check.started_s),
        }

    def _ms_ago(self, at_s: float) -> int:
        return max(int((self._clock() - at_s) * 1000), 0)


def _forget_oldest(kept: dict[str, Any], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]
