"""Drives one device: connects, carries out orders, checks health, recovers, and leases jobs.

    look ─▶ driven by another agent: wait ─▶ recovering: try a rung ─▶ silent: try a rung ─▶ order
         ─▶ health check ─▶ readiness ─▶ job

One thread per device does one of these at a time, so that nothing runs beside a measurement. If another
agent drives the device, or the server has not said yet which agent does, only its serial is read. A job is requested
only when the device answers, the server calls it healthy and no readiness check blocks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from paceline.adb.port import CONNECT_TIMEOUT_S, AdbError, Connection
from paceline.api import DeviceOrder, TargetReply
from paceline.devices import connection_state, health, readiness
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import DeviceBackends
from paceline.devices.check import CheckContext, HealthCheck, run_check
from paceline.devices.conditions import DeviceConditions, DeviceReading
from paceline.devices.health import Ladder, RecoveryCapabilities, Rung, next_rung
from paceline.devices.heartbeat_report import (
    FindingEntry,
    HeartbeatReport,
    IdleReadings,
    agent_error_finding,
    finding_entry,
    fit_for_wire,
    idle_readings,
    twin_findings,
)
from paceline.devices.leftovers import LeftOverError
from paceline.devices.parsers.text_values import unread_text
from paceline.devices.recovery import (
    BOOT_LOOK_S,
    LOST_BY_RESTART,
    RecoveryOutcome,
    reboot,
    try_rung,
)
from paceline.lane import Lane
from paceline.stop import Stop, StopReason

log = logging.getLogger("paceline.devices")


class DriverIntervals(msgspec.Struct, frozen=True):
    """How often an agent attends to its devices; tests shorten the intervals."""

    discover_s: float = 10.0
    """Pause between two searches of all routes: the longest time until a plugged-in phone is noticed."""
    connect_s: float = CONNECT_TIMEOUT_S
    """Timeout for a route without a known device in such a pass, where a prompt may wait for a person."""
    look_s: float = 15.0
    """Pause between two checks that an idle device still answers. A shorter pause would keep it awake and warm."""
    others_s: float = 60.0
    """The same pause for a device that another agent drives and may be measuring on."""
    retry_s: float = 5.0
    """Pause between two tries to reach a silent device."""
    readings_s: float = 60.0
    """Pause between two readings of an idle device; a phone cools by about 1 °C in this time."""
    rung_s: float = 2.0
    """Pause between a rung of the recovery ladder and the check whether it helped."""
    boot_look_s: float = BOOT_LOOK_S
    claim_s: float = 0.5
    """Timeout for claiming a device that a manual run may hold."""


class DriverServices(msgspec.Struct, frozen=True):
    """Functions of the agent that a driver calls."""

    backends: DeviceBackends
    clean: Callable[[AttachedDevice, Connection], list[str]]
    """Removes what earlier runs left; returns a description of each thing removed."""
    self_test: Callable[[str], Path | None] = lambda _: None
    """Finds the self-test program for an ABI."""
    request_heartbeat: Callable[[], None] = lambda: None
    """Requests a heartbeat at once."""


class DeviceDriver:
    """Drives one device. Its own thread calls `run`; others call `entry`, `take_reply` and `leave`."""

    def __init__(
        self,
        device: AttachedDevice,
        lane: Lane,
        services: DriverServices,
        leaving: threading.Event,
        intervals: DriverIntervals | None = None,
    ) -> None:
        self.device, self.lane = device, lane
        self._services, self._leaving = services, leaving
        self._intervals = intervals or DriverIntervals()
        self._report = HeartbeatReport()
        self._stop = Stop()
        self._episode = health.HealthEpisode()
        self._silence_ladder = Ladder()
        self._failed_check: HealthCheck | None = None
        self._order: DeviceOrder | None = None
        self._last_look_s = self._last_reading_s = float("-inf")
        self._leftovers_removed = False
        """A health check sets this too, because it removes leftovers."""
        self._blocked_by: frozenset[str] = frozenset()
        self._unread: dict[str, list[str]] = {}
        """The output of each command's last run that is not understood."""
        self._internal_error: FindingEntry | None = None
        """The internal error of the last turn, if it had one."""

    # --- what other threads call ---

    def entry(self) -> dict[str, Any]:
        """Return this device's entry in a heartbeat."""
        link, facts, serial = self.device.link, self.device.facts, self.device.serial
        reason, advice = (
            fit_for_wire(link.reason or "") or None,
            fit_for_wire(link.advice or "") or None,
        )
        entry: dict[str, Any] = {
            "kind": "device",
            "serial": serial,
            "name": facts.name(serial),
            "factors": facts.factors,
            "fingerprint": facts.fingerprint,
            "simulated": self.device.simulated,
            "connection": {
                "state": link.state,
                "reason": reason,
                "advice": advice,
                "route": fit_for_wire(str(self.device.route or "")) or None,
            },
            **self._report.entry(),
        }
        entry["preflight"] = [*self._own_findings(), *entry["preflight"]]
        if self.device.boot_id:
            entry["boot_id"] = self.device.boot_id
        return entry

    @property
    def is_announced(self) -> bool:
        """Return whether heartbeats include the device.

        A device that is known only by a route's name is left out until the agent has looked for it, and also if
        another device answered at that route.
        """
        link = self.device.link
        return self.device.is_known or not (
            link == connection_state.NOT_LOOKED_FOR or link.by_wrong_device
        )

    def _own_findings(self) -> list[FindingEntry]:
        """Return the findings that do not come from readings of the device."""
        findings = [self._internal_error] if self._internal_error is not None else []
        findings += twin_findings(self.device)
        if self.device.is_known and not self.device.survives_restart:
            advice = "Plug it in by USB, or set persist.adb.tcp.port on a device whose shell is root."
            findings.append(
                finding_entry("restart_loses_it", LOST_BY_RESTART, advice, level="info")
            )
        return findings

    def take_reply(self, reply: TargetReply) -> None:
        self._report.take_reply(reply)

    def look_now(self) -> None:
        """Make the driver look for the device now, because its routes changed."""
        self._last_look_s = float("-inf")
        self._report.wake.set()

    def leave(self) -> None:
        """Make the driver end after the current job; end every wait at once."""
        self._stop.set(StopReason.SHUTDOWN)
        self._report.wake.set()

    # --- the thread ---

    def run(self) -> None:
        """Take turns until the agent leaves or `leave` is called."""
        while not self._leaving.is_set() and self._stop.reason is None:
            self.take_turn_safely()
        self.device.disconnect()

    def take_turn_safely(self) -> None:
        """Take one turn and raise nothing. An internal error is reported in every heartbeat until a turn succeeds."""
        try:
            self.turn()
        except AdbError as error:
            self._note_loss(error)
        except Exception as error:
            log.exception("device %s: a turn failed", self.device.serial)
            self._internal_error = agent_error_finding(error)
            self._services.request_heartbeat()
            self._pause(self._intervals.retry_s)
        else:
            self._internal_error = None

    def turn(self) -> None:
        """Do the next thing this device needs."""
        online = self._look()
        if self._report.driven_by is not None:
            self._stand_by()
        elif self._report.reply is None:
            self._pause(self._intervals.retry_s)  # another agent may be measuring on it
        elif self._episode.state == "recovering":
            self._recover()
        elif not online:
            self._recover_silent_device()
        elif (order := self._report.order) is not None and self._order is None:
            self._carry_out(order)
        elif self._check_is_due():
            self._check()
        elif not self._leftovers_removed and self._episode.state == "idle":
            self._remove_leftovers()  # after a due check, which must see and report them
        elif not self._refresh_readings() or not self._may_lease():
            self._pause(self._intervals.retry_s)
        else:
            self._lease()

    # --- connection ---

    def _look(self) -> bool:
        now = time.monotonic()
        pause_s = (
            self._intervals.look_s
            if self._report.driven_by is None
            else self._intervals.others_s
        )
        if self.device.link.state == "online" and now - self._last_look_s < pause_s:
            return True
        before = self.device.link.state
        if before == "online" and self._is_taken():
            self._last_look_s = now
            return True
        online = self.device.look()
        self._last_look_s = time.monotonic()
        if self.device.link.state != before:
            self._services.request_heartbeat()
        if online:
            self._silence_ladder = Ladder()
            if self.device.restarted:
                self.device.restarted = False
                self._episode = health.next_episode(
                    self._episode, health.CheckDue("it restarted")
                )
                self._last_reading_s = float("-inf")
        return online

    def _stand_by(self) -> None:
        """Leave the device to the agent that drives it now: drop pending checks, recovery and readings,
        which would be outdated when this agent drives it again."""
        if (
            self._episode != health.HealthEpisode()
            or self._report.readings != IdleReadings()
            or self._order is not None
        ):
            log.info(
                "device %s: driven by the agent %s",
                self.device.serial,
                self._report.driven_by,
            )
        self._episode, self._silence_ladder = health.HealthEpisode(), Ladder()
        self._failed_check = self._order = None
        self._blocked_by, self._last_reading_s, self._leftovers_removed = (
            frozenset(),
            float("-inf"),
            False,
        )
        self._report.forget()
        self._pause(self._intervals.retry_s)

    def _recover_silent_device(self) -> None:
        """Try to recover a device that is attached but silent. A device in use on this host is left alone,
        because a rung would disturb its user."""
        rung = next_rung(self._silence_ladder, self._capabilities())
        if self.device.link.state == "offline" and rung is not Rung.GIVE_UP:
            with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
                outcome = self._try_rung(rung) if claimed else None
            if outcome is not None:
                self._silence_ladder = self._silence_ladder.with_tried(rung)
                self._report.note_rung(rung, outcome.ok, outcome.text)
        self._pause(self._intervals.retry_s)

    def _is_taken(self) -> bool:
        """Return whether another process on this host holds the device and may be measuring on it."""
        with self.device.claim(self._stop, 0.0) as claimed:
            return not claimed

    def _try_rung(self, rung: Rung, why: str = "") -> RecoveryOutcome:
        backends, look_s = self._services.backends, self._intervals.boot_look_s
        return try_rung(
            rung, self.device, backends, self._stop, why=why, boot_look_s=look_s
        )

    def _capabilities(self) -> RecoveryCapabilities:
        by_server = any(route.kind == "server" for route in self.device.routes)
        device = self.device
        return RecoveryCapabilities(
            by_server,
            device.link.state == "online",
            device.reboots.left,
            device.survives_restart,
        )

    def _note_loss(self, error: AdbError) -> None:
        self.device.note(connection_state.event_of(error))
        self.device.disconnect()
        self._services.request_heartbeat()
        self._pause(self._intervals.rung_s)

    # --- orders ---

    def _carry_out(self, order: DeviceOrder) -> None:
        log.info("device %s: %s, ordered by a person", self.device.serial, order.kind)
        if order.kind == "reboot":
            self._restart(order)
        elif order.kind == "check":
            self._order = order
            self._episode = health.next_episode(
                self._episode, health.CheckDue("a person asked")
            )
        else:
            self._refuse(
                order, f"This agent knows no order of kind {order.kind}; update it."
            )

    def _refuse(self, order: DeviceOrder, why: str) -> None:
        log.warning(
            "device %s: %s is not carried out: %s", self.device.serial, order.kind, why
        )
        self._report.refuse(order, why)
        self._services.request_heartbeat()

    def _restart(self, order: DeviceOrder) -> None:
        """Restart the device as ordered. A request that did not reach it is repeated until the order
        expires."""
        with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
            outcome = (
                reboot(self.device, "a person", self._stop, self._intervals.boot_look_s)
                if claimed
                else None
            )
        if outcome is not None and outcome.final:
            self._refuse(order, outcome.text)
            return
        if outcome is None or not outcome.requested:
            why = outcome.text if outcome else "it is in use"
            log.warning("device %s: not restarted: %s", self.device.serial, why)
            self._last_look_s = float("-inf")
            self._pause(self._intervals.retry_s)
            return
        self._report.note_rung(Rung.REBOOT, outcome.ok, outcome.text, order)
        self._report.note_done(order)
        self._episode = health.next_episode(
            self._episode, health.CheckDue("it was restarted")
        )
        self._services.request_heartbeat()

    # --- health ---

    def _check_is_due(self) -> bool:
        if self._report.check_due:
            self._episode = health.next_episode(
                self._episode, health.CheckDue("the server asked")
            )
        return self._episode.state == "checking"

    def _check(self) -> None:
        with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
            if not claimed:
                self._pause(self._intervals.retry_s)
                return
            result = run_check(self.device.connection, self._check_context())
        check = result.check
        self._leftovers_removed |= any(
            step.name == "stale_runs" and step.ok for step in check.steps
        )
        if result.reading is not None:
            self._note_readings(result.reading)
        self._episode = health.next_episode(self._episode, _event_of(check))
        if self._episode.state == "recovering":
            log.warning(
                "device %s: health check failed: %s", self.device.serial, check.text
            )
            self._failed_check = check
        else:
            self._close_episode(check)

    def _remove_leftovers(self) -> None:
        with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
            if not claimed:
                self._pause(self._intervals.retry_s)
                return
            try:
                for cleaned in self._services.clean(
                    self.device, self.device.connection
                ):
                    log.info("device %s: %s", self.device.serial, cleaned)
            except (
                LeftOverError
            ) as error:  # the check reports what stays, and the ladder may help
                log.warning("device %s: %s", self.device.serial, error.text)
                self._episode = health.next_episode(
                    self._episode,
                    health.CheckDue("what an earlier run left cannot be removed"),
                )
                return
        self._leftovers_removed = True

    def _check_context(self) -> CheckContext:
        device = self.device
        abi = device.facts.abi
        return CheckContext(
            workdir=device.workdir,
            observer=self._observer(),
            blocked_by=self._blocked_by,
            clean=lambda connection: self._services.clean(device, connection),
            verify=device.verify,
            self_test=self._services.self_test(abi) if abi else None,
        )

    def _recover(self) -> None:
        rung = next_rung(self._episode.ladder, self._capabilities())
        if rung is Rung.GIVE_UP and self.device.link.state != "online":
            self._pause(self._intervals.retry_s)  # silence is no reason for quarantine
            return
        with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
            if not claimed:
                self._pause(self._intervals.retry_s)
                return
            outcome = self._try_rung(rung, self._episode.why)
        if outcome.requested:
            self._report.note_rung(rung, outcome.ok, outcome.text)
        self._episode = health.next_episode(self._episode, health.RungTried(rung))
        if rung is Rung.GIVE_UP and self._failed_check is not None:
            self._close_episode(self._failed_check)
        else:
            self._pause(self._intervals.rung_s)

    def _close_episode(self, check: HealthCheck) -> None:
        """End the episode and report its last check to the server."""
        self._failed_check = None
        self._report.note_check(check)
        if self._order is not None:
            self._report.note_done(self._order)
            self._order = None
        self._services.request_heartbeat()

    # --- readings ---

    def _observer(self) -> DeviceConditions:
        facts, device = self.device.facts, self.device
        return DeviceConditions(
            facts.props, workdir=device.workdir, simulated=device.simulated
        )

    def _refresh_readings(self) -> bool:
        """Read the conditions when the last reading is old; False when another process holds the device."""
        if time.monotonic() - self._last_reading_s < self._intervals.readings_s:
            return True
        with self.device.claim(self._stop, self._intervals.claim_s) as claimed:
            if claimed:
                self._note_readings(
                    self._observer().read(self.device.connection, full=False)
                )
        return claimed

    def _note_readings(self, reading: DeviceReading) -> None:
        # A short reading leaves out commands: what they printed last is still not understood.
        unread = self._unread | reading.unread
        reading = msgspec.structs.replace(reading, unread=unread)
        counts = {source: len(texts) for source, texts in unread.items() if texts}
        if counts != {
            source: len(texts) for source, texts in self._unread.items() if texts
        }:
            text = unread_text(unread) or "All of its texts are understood now."
            log.warning("device %s: %s", self.device.serial, text)
        self._unread = unread
        before, inputs = self._report.readings, reading.seen
        now = idle_readings(reading, self._blocked_by)
        self._blocked_by = frozenset(
            check.name
            for check in readiness.check_readiness(inputs, self._blocked_by)
            if check.blocks
        )
        self._report.note_readings(now)
        self._last_reading_s = time.monotonic()
        if (before.refuses, before.configuration) != (now.refuses, now.configuration):
            self._services.request_heartbeat()

    # --- work ---

    def _may_lease(self) -> bool:
        reply = self._report.reply
        fit = self._report.readings.refuses is None
        return (
            reply is not None and fit and health.may_lease(self._episode, reply.health)
        )

    def _lease(self) -> None:
        reply = self._report.reply
        if reply is not None and self.lane.take(reply.target_id):
            # The job has heated the device, and the device may be lost: read everything again.
            self._last_look_s = self._last_reading_s = float("-inf")

    def _pause(self, seconds: float) -> None:
        """Wait; end early when the server replies, a route appears or the agent leaves."""
        self._report.wake.wait(seconds)
        self._report.wake.clear()


def _event_of(check: HealthCheck) -> health.Event:
    if check.ok:
        return health.CheckPassed()
    return (
        health.CheckFailed(check.text)
        if check.infrastructure
        else health.DeviceUnfit(check.text)
    )
