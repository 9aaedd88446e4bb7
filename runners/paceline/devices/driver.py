"""Drives one device: connects, carries out orders, checks health, recovers, and leases jobs.

    connected? ─▶ another agent's? wait ─▶ recovering? a rung ─▶ silent? a rung ─▶ order ─▶ check due
               ─▶ gates ─▶ job

One thread per device does one of these at a time, so that nothing runs beside a measurement. A device that
another agent drives, or whose driver the server has not named yet, is only asked for its serial. A job is
requested only when the device answers, the server calls it good and no gate holds. A failed turn is logged
and does not end the thread.
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
from paceline.devices import connection_state as axis
from paceline.devices import gates, health
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import DeviceBackends
from paceline.devices.check import CheckContext, HealthCheck, run_check
from paceline.devices.conditions import DeviceConditions, DeviceReading
from paceline.devices.heartbeat_report import (
    FindingEntry,
    HeartbeatReport,
    IdleReadings,
    agent_error_finding,
    finding_entry,
    fit_for_wire,
    idle_readings,
)
from paceline.devices.ladder import Ladder, RecoveryCapabilities, Rung, next_rung
from paceline.devices.leftovers import LeftOverError
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
    """How often an agent turns to its devices; tests shorten them."""

    discover_s: float = 10.0
    """Between two passes over all routes: the longest time until a plugged-in phone shows up."""
    connect_s: float = CONNECT_TIMEOUT_S
    """Timeout for a route without a known device in such a pass; a person may be answering its prompt."""
    look_s: float = 15.0
    """Between two checks that an idle device still answers; shorter keeps it awake, and so warm."""
    others_s: float = 60.0
    """The same for a device that another agent drives and may be measuring on."""
    retry_s: float = 5.0
    """Between two tries to reach a silent device."""
    readings_s: float = 60.0
    """Between two readings of an idle device's gates; a phone cools by about 1 °C in this time."""
    rung_s: float = 2.0
    """Between a rung of the recovery ladder and the check whether it helped."""
    boot_look_s: float = BOOT_LOOK_S
    claim_s: float = 0.5
    """Timeout for claiming a device that a manual run may hold."""


class DriverServices(msgspec.Struct, frozen=True):
    """What a driver uses of the agent. `clean` removes what earlier runs left and says what it removed."""

    ways: DeviceBackends
    clean: Callable[[AttachedDevice, Connection], list[str]]
    self_test: Callable[[str], Path | None] = lambda _: None
    """Finds the self-test program for an ABI."""
    request_heartbeat: Callable[[], None] = lambda: None
    """Requests a heartbeat at once."""


class DeviceDriver:
    """One device and its lane. `run` is called by its thread; `entry`, `take_reply` and `leave` by others."""

    def __init__(
        self,
        device: AttachedDevice,
        lane: Lane,
        tools: DriverServices,
        leaving: threading.Event,
        pace: DriverIntervals | None = None,
    ) -> None:
        self.device, self.lane = device, lane
        self._tools, self._leaving, self._pace = (
            tools,
            leaving,
            pace or DriverIntervals(),
        )
        self._report = HeartbeatReport()
        self._quit = Stop()
        self._duty = health.HealthEpisode()
        self._silence = Ladder()
        self._failed: HealthCheck | None = None
        self._order: DeviceOrder | None = None
        self._looked_s = self._read_s = float("-inf")
        self._tidied = False
        """Leftovers of earlier runs are removed; a health check does so, too."""
        self._held: frozenset[str] = frozenset()
        self._trouble: FindingEntry | None = None
        """The internal error of the last turn."""

    # --- what other threads call ---

    def entry(self) -> dict[str, Any]:
        """This device's entry in a heartbeat."""
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
        """Whether heartbeats include it. A device known only by a route's name is left out until it was
        looked for, and when another one was found there."""
        link = self.device.link
        return self.device.is_known or not (
            link == axis.NOT_LOOKED_FOR or link.by_wrong_device
        )

    def _own_findings(self) -> list[FindingEntry]:
        """Findings that are no readings of the device."""
        findings = [self._trouble] if self._trouble is not None else []
        if self.device.is_known and not self.device.survives_restart:
            advice = "Plug it in by USB, or set persist.adb.tcp.port on a device whose shell is root."
            findings.append(
                finding_entry("restart_loses_it", LOST_BY_RESTART, advice, level="info")
            )
        return findings

    def take_reply(self, reply: TargetReply) -> None:
        self._report.take_reply(reply)

    def nudge(self) -> None:
        """Tries to reach the device now, because its routes changed."""
        self._looked_s = float("-inf")
        self._report.wake.set()

    def leave(self) -> None:
        """Ends after the current job; ends every wait at once."""
        self._quit.set(StopReason.SHUTDOWN)
        self._report.wake.set()

    # --- the thread ---

    def run(self) -> None:
        """Takes turns until the agent leaves or `leave` is called."""
        while not self._leaving.is_set() and self._quit.reason is None:
            self.safe_turn()
        self.device.let_go()

    def safe_turn(self) -> None:
        """One turn that raises nothing; an internal error is reported in every heartbeat until a turn
        succeeds."""
        try:
            self.turn()
        except AdbError as error:
            self._lost(error)
        except Exception as error:
            log.exception("device %s: a turn failed", self.device.serial)
            self._trouble = agent_error_finding(error)
            self._tools.request_heartbeat()
            self._pause(self._pace.retry_s)
        else:
            self._trouble = None

    def turn(self) -> None:
        """Does the next thing this device needs."""
        online = self._look()
        if self._report.driven_by is not None:
            self._stand_by()
        elif self._report.reply is None:
            self._pause(self._pace.retry_s)  # it may be another agent's, and measuring
        elif self._duty.state == "recovering":
            self._recover()
        elif not online:
            self._break_silence()
        elif (order := self._report.order) is not None and self._order is None:
            self._carry_out(order)
        elif self._check_is_due():
            self._check()
        elif not self._tidied and self._duty.state == "idle":
            self._tidy()  # a check that is due comes before, because it tells what was left
        elif not self._read() or not self._may_lease():
            self._pause(self._pace.retry_s)
        else:
            self._lease()

    # --- connection ---

    def _look(self) -> bool:
        now = time.monotonic()
        pause_s = (
            self._pace.look_s if self._report.driven_by is None else self._pace.others_s
        )
        if self.device.link.state == "online" and now - self._looked_s < pause_s:
            return True
        before = self.device.link.state
        if before == "online" and self._is_taken():
            self._looked_s = now
            return True
        online = self.device.look()
        self._looked_s = time.monotonic()
        if self.device.link.state != before:
            self._tools.request_heartbeat()
        if online:
            self._silence = Ladder()
            if self.device.restarted:
                self.device.restarted = False
                self._duty = health.next_episode(
                    self._duty, health.CheckDue("it restarted")
                )
                self._read_s = float("-inf")
        return online

    def _stand_by(self) -> None:
        """Leaves the device to the agent that drives it now: drops pending checks, recovery and readings,
        which would be outdated when this agent drives it again."""
        if (
            self._duty != health.HealthEpisode()
            or self._report.readings != IdleReadings()
            or self._order is not None
        ):
            log.info(
                "device %s: driven by the agent %s",
                self.device.serial,
                self._report.driven_by,
            )
        self._duty, self._silence, self._failed, self._order = (
            health.HealthEpisode(),
            Ladder(),
            None,
            None,
        )
        self._held, self._read_s, self._tidied = frozenset(), float("-inf"), False
        self._report.forget()
        self._pause(self._pace.retry_s)

    def _break_silence(self) -> None:
        """Tries to recover a device that is there but silent: rungs that need no check, then waiting. A
        device that is in use on this host is left alone, because a rung would disturb its user."""
        rung = next_rung(self._silence, self._means())
        if self.device.link.state == "offline" and rung is not Rung.GIVE_UP:
            with self.device.claim(self._quit, self._pace.claim_s) as claimed:
                how = self._climbed(rung) if claimed else None
            if how is not None:
                self._silence = self._silence.climbed(rung)
                self._report.tried(rung, how.ok, how.text)
        self._pause(self._pace.retry_s)

    def _is_taken(self) -> bool:
        """Whether somebody else on this host holds it and may be measuring; then it gets no command."""
        with self.device.claim(self._quit, 0.0) as claimed:
            return not claimed

    def _climbed(self, rung: Rung, why: str = "") -> RecoveryOutcome:
        backends, look_s = self._tools.ways, self._pace.boot_look_s
        return try_rung(
            rung, self.device, backends, self._quit, why=why, boot_look_s=look_s
        )

    def _means(self) -> RecoveryCapabilities:
        by_server = any(route.kind == "server" for route in self.device.routes)
        device = self.device
        return RecoveryCapabilities(
            by_server,
            device.link.state == "online",
            device.reboots.left,
            device.survives_restart,
        )

    def _lost(self, error: AdbError) -> None:
        self.device.note(axis.event_of(error))
        self.device.let_go()
        self._tools.request_heartbeat()
        self._pause(self._pace.rung_s)

    # --- orders ---

    def _carry_out(self, order: DeviceOrder) -> None:
        log.info("device %s: %s, ordered by a person", self.device.serial, order.kind)
        if order.kind == "reboot":
            self._restart(order)
        elif order.kind == "check":
            self._order = order
            self._duty = health.next_episode(
                self._duty, health.CheckDue("a person asked")
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
        self._tools.request_heartbeat()

    def _restart(self, order: DeviceOrder) -> None:
        """Restarts the device as ordered. A request that did not reach it is repeated until the server lets
        the order expire."""
        with self.device.claim(self._quit, self._pace.claim_s) as claimed:
            how = (
                reboot(self.device, "a person", self._quit, self._pace.boot_look_s)
                if claimed
                else None
            )
        if how is not None and how.final:
            self._refuse(order, how.text)
            return
        if how is None or not how.asked:
            log.warning(
                "device %s: not restarted: %s",
                self.device.serial,
                how.text if how else "it is in use",
            )
            self._looked_s = float("-inf")
            self._pause(self._pace.retry_s)
            return
        self._report.tried(Rung.REBOOT, how.ok, how.text, order)
        self._report.done(order)
        self._duty = health.next_episode(
            self._duty, health.CheckDue("it was restarted")
        )
        self._tools.request_heartbeat()

    # --- health ---

    def _check_is_due(self) -> bool:
        if self._report.check_due:
            self._duty = health.next_episode(
                self._duty, health.CheckDue("the server asked")
            )
        return self._duty.state == "checking"

    def _check(self) -> None:
        with self.device.claim(self._quit, self._pace.claim_s) as claimed:
            if not claimed:
                self._pause(self._pace.retry_s)
                return
            observer = self._observer()
            looked = run_check(self.device.connection, self._asked(observer))
        self._tidied |= any(
            step.name == "stale_runs" and step.ok for step in looked.check.steps
        )
        if looked.reading is not None:
            self._note_readings(looked.reading)
        check = looked.check
        self._duty = health.next_episode(self._duty, _event_of(check))
        if self._duty.state == "recovering":
            log.warning(
                "device %s: health check failed: %s", self.device.serial, check.text
            )
            self._failed = check
        else:
            self._close(check)

    def _tidy(self) -> None:
        with self.device.claim(self._quit, self._pace.claim_s) as claimed:
            if not claimed:
                self._pause(self._pace.retry_s)
                return
            try:
                for cleaned in self._tools.clean(self.device, self.device.connection):
                    log.info("device %s: %s", self.device.serial, cleaned)
            except LeftOverError as error:  # it answers: the check tells what stays, and the ladder may help
                log.warning("device %s: %s", self.device.serial, error.text)
                self._duty = health.next_episode(
                    self._duty,
                    health.CheckDue("what an earlier run left cannot be removed"),
                )
                return
        self._tidied = True

    def _asked(self, observer: DeviceConditions) -> CheckContext:
        device = self.device
        abi = device.facts.abi
        return CheckContext(
            workdir=device.workdir,
            observer=observer,
            held_gates=self._held,
            clean=lambda connection: self._tools.clean(device, connection),
            verify=device.verify,
            self_test=self._tools.self_test(abi) if abi else None,
        )

    def _recover(self) -> None:
        rung = next_rung(self._duty.ladder, self._means())
        if rung is Rung.GIVE_UP and self.device.link.state != "online":
            self._pause(
                self._pace.retry_s
            )  # silence is the connection's, not a reason for quarantine
            return
        with self.device.claim(self._quit, self._pace.claim_s) as claimed:
            if not claimed:
                self._pause(self._pace.retry_s)
                return
            how = self._climbed(rung, self._duty.why)
        if how.asked:
            self._report.tried(rung, how.ok, how.text)
        self._duty = health.next_episode(self._duty, health.RungTried(rung))
        if rung is Rung.GIVE_UP and self._failed is not None:
            self._close(self._failed)
        else:
            self._pause(self._pace.rung_s)

    def _close(self, check: HealthCheck) -> None:
        """Ends the episode and reports its last check to the server."""
        self._failed = None
        self._report.checked(check)
        if self._order is not None:
            self._report.done(self._order)
            self._order = None
        self._tools.request_heartbeat()

    # --- readings ---

    def _observer(self) -> DeviceConditions:
        facts, device = self.device.facts, self.device
        return DeviceConditions(
            facts.props, workdir=device.workdir, simulated=device.simulated
        )

    def _read(self) -> bool:
        """Reads the gates when the last reading is old; False when somebody else holds the device."""
        if time.monotonic() - self._read_s < self._pace.readings_s:
            return True
        with self.device.claim(self._quit, self._pace.claim_s) as claimed:
            if claimed:
                self._note_readings(
                    self._observer().read(self.device.connection, full=False)
                )
        return claimed

    def _note_readings(self, reading: DeviceReading) -> None:
        before, inputs = self._report.readings, reading.seen
        now = idle_readings(reading, self._held)
        self._held = frozenset(
            gate.name for gate in gates.evaluate_gates(inputs, self._held) if gate.holds
        )
        self._report.read(now)
        self._read_s = time.monotonic()
        if (before.refuses, before.configuration) != (now.refuses, now.configuration):
            self._tools.request_heartbeat()

    # --- work ---

    def _may_lease(self) -> bool:
        reply = self._report.reply
        fit = self._report.readings.refuses is None
        return reply is not None and fit and health.may_lease(self._duty, reply.health)

    def _lease(self) -> None:
        reply = self._report.reply
        if reply is not None and self.lane.take(reply.target_id):
            self._looked_s = self._read_s = float(
                "-inf"
            )  # a job heats; and who knows how it ended

    def _pause(self, seconds: float) -> None:
        """Waits; ends early when the server replies, a route appears or the agent leaves."""
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
