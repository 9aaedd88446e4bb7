"""One attached device: its routes, its verified connection and its connection status.

Its lane's thread alone sends commands; any thread may read `link`, `facts` and `routes`, which are replaced
whole. No command goes to another serial: a route where another serial answers is dropped. Inside `hold` a
changed boot id raises; outside it is only recorded.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from paceline.adb.port import (
    AbsentError,
    AdbError,
    Connection,
    OfflineError,
    Route,
    TlsRequiredError,
    UnauthorizedError,
)
from paceline.devices import connection_state as axis
from paceline.devices import device_facts as facts_of
from paceline.devices.device_facts import WORKDIR, DeviceFacts
from paceline.devices.errors import RebootedError, WrongDeviceError
from paceline.devices.identity import Identity, VerifiedConnection
from paceline.devices.reboots import Reboots
from paceline.devices.routes import order_routes, route_survives_restart
from paceline.executors.claim import Claimant, TargetClaim
from paceline.stop import Stop

log = logging.getLogger("paceline.devices")
ITS_AGENT = Claimant("a check or recovery of the device by its agent")

REGAIN_FIRST_S, REGAIN_LONGEST_S = 0.2, 5.0
"""Pauses between tries to reach a device lost in a job: a re-enumerated cable is back in about a second."""


class AttachedDevice:
    """One device. `open_route` opens a new connection; `locks` is the directory of the claim's file lock."""

    def __init__(
        self,
        serial: str,
        state_dir: Path,
        open_route: Callable[[Route], Connection],
        routes: Iterable[Route],
        *,
        simulated: bool = False,
        locks: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.serial, self.state_dir, self.simulated = serial, state_dir, simulated
        self.reboots = Reboots(state_dir / "reboots.json")
        self.displaced_routes: dict[Route, str] = {}
        """Former routes of this device with the serial that answers there now. Discovery removes them."""
        self.twin: str | None = None
        """A sentence about another device with this serial number, if discovery has found one."""
        self._open, self._clock = open_route, clock
        self._claim = TargetClaim(serial, locks)
        self._lock = threading.Lock()
        self._routes = order_routes(routes)
        self._link = axis.NOT_LOOKED_FOR
        self._facts = _load_facts(state_dir / "device.json")
        self._identity: Identity | None = None
        self._pinned: str | None = None
        self._used: VerifiedConnection | None = None
        self.restarted = False
        """The device came back with another boot id; the driver resets this and requests a check."""

    @classmethod
    def of(
        cls, connect: Callable[[], Connection], serial: str, state_dir: Path
    ) -> AttachedDevice:
        """Return a device at one route, without discovery: for manual runs and tests."""
        route = Route("tcp", serial)
        return cls(serial, state_dir, lambda _: connect(), [route], locks=state_dir)

    # --- what any thread may read ---

    @property
    def link(self) -> axis.ConnectionStatus:
        return self._link

    @property
    def facts(self) -> DeviceFacts:
        return self._facts

    @property
    def boot_id(self) -> str:
        return self._identity.boot_id if self._identity else ""

    @property
    def routes(self) -> tuple[Route, ...]:
        return self._routes

    @property
    def route(self) -> Route | None:
        """Return the route in use, otherwise the first to try."""
        used = self._used
        return used.route if used else next(iter(self._routes), None)

    @property
    def workdir(self) -> str:
        return self._facts.own_workdir or WORKDIR if self.simulated else WORKDIR

    @property
    def is_known(self) -> bool:
        """Return whether a device with this serial has ever answered an agent with this state directory."""
        return self._identity is not None or bool(self._facts.factors)

    @property
    def survives_restart(self) -> bool:
        """Return whether the device can be reached after a restart without a person: by a cable, or because it
        always listens. After `adb tcpip 5555` or with wireless debugging a phone listens only until it restarts."""
        listens = self._facts.props.get("persist.adb.tcp.port", "")
        by_cable = any(route_survives_restart(route) for route in self._routes)
        return self.simulated or by_cable or (listens.isdecimal() and int(listens) > 0)

    def open_second_connection(self) -> VerifiedConnection:
        """Open another connection by the route in use, for another thread; the caller closes it.

        It accepts this serial only, and its errors do not change the connection status. Raises AbsentError.
        """
        route = self.route
        if route is None:
            raise AbsentError(f"No route leads to {self.serial}.", axis.CABLE)
        return VerifiedConnection(self._open(route), route, self._check_serial)

    def add_route(self, route: Route) -> None:
        with self._lock:
            self._routes = order_routes((*self._routes, route))
            self.displaced_routes.pop(route, None)

    def drop_route(self, route: Route) -> None:
        with self._lock:
            self._routes = tuple(known for known in self._routes if known != route)

    # --- the connection: for the lane's thread only ---

    @property
    def connection(self) -> VerifiedConnection:
        """Return the connection: opened on demand, verified before its first use and after every loss."""
        if self._used is None:
            if not self._routes:
                raise AbsentError(f"No route leads to {self.serial}.", axis.CABLE)
            self._used = self._open_verified(self._routes[0])
        return self._used

    def note(self, event: axis.Event) -> None:
        """Update the connection status and log a change of state."""
        before = self._link
        self._link = axis.next_status(before, event, self._clock())
        if before.state != self._link.state:
            reason = _reason_suffix(self._link)
            log.info("device %s: %s%s", self.serial, self._link.state, reason)

    def look(self) -> bool:
        """Return whether the device answers now: verifies the connection in use, otherwise tries every route."""
        failures: list[axis.Event] = []
        if self._used is not None:
            try:
                self._used.verify()
            except AdbError as error:
                # The wrong device's route was dropped, so the loop below cannot report it again.
                if isinstance(error, WrongDeviceError):
                    failures.append(axis.event_of(error))
                self.disconnect()
            else:
                return self._note_answer()
        for route in self._routes:
            failure = self._try_route(route)
            if failure is None:
                return self._note_answer()
            failures.append(failure)
        self.note(_most_actionable(failures) if failures else axis.NoRoute())
        return False

    def disconnect(self) -> None:
        """Close the connection; the next use opens a new one."""
        used, self._used = self._used, None
        if used is not None:
            with contextlib.suppress(AdbError):
                used.close()

    def verify(self) -> None:
        """Verify who answers. Raises WrongDeviceError, RebootedError and the port's errors."""
        self.connection.verify()

    @contextlib.contextmanager
    def hold(self) -> Iterator[Connection]:
        """Hold the device for one job: a changed boot id raises RebootedError meanwhile."""
        connection = self.connection
        connection.verify()
        self._pinned = self.boot_id
        try:
            yield connection
        finally:
            self._pinned = None

    def regain(self, stop: Stop, patience_s: float) -> bool:
        """Try every route after a loss in a job, until the same device answers in the same boot.

        Returns False when `stop` was set or `patience_s` have passed. Raises WrongDevice-, Rebooted-, Unauthorized-
        and TlsRequiredError, which waiting does not change.
        """
        deadline, pause_s = self._clock() + patience_s, REGAIN_FIRST_S
        while stop.reason is None:
            self.disconnect()
            for route in self._routes:
                try:
                    self._used = self._open_verified(route)
                    self._used.connect()
                    if self._note_answer():
                        return True
                except (UnauthorizedError, TlsRequiredError, RebootedError) as error:
                    self.note(axis.event_of(error))
                    raise
                except WrongDeviceError as error:
                    if not self._routes:
                        raise
                    log.warning("device %s: %s", self.serial, error.text)
                except AdbError as error:
                    self.note(axis.event_of(error))
            left_s = deadline - self._clock()
            if left_s <= 0 or stop.wait(min(pause_s, left_s)):
                return False
            pause_s = min(pause_s * 2, REGAIN_LONGEST_S)
        return False

    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = ITS_AGENT
    ) -> AbstractContextManager[bool]:
        """Claim the device for exclusive use on this host (I9)."""
        return self._claim.claim(stop, timeout_s, by)

    def reboot(self, by: str) -> None:
        """Count a restart, then request it. Raises AdbError, and OfflineError when none is left today."""
        if not self.reboots.left:
            text = f"{self.serial} was restarted twice in 24 hours already."
            raise OfflineError(
                text, "Examine it by hand: a third restart would hide what is wrong."
            )
        connection = self.connection
        connection.verify()
        self.reboots.record()
        connection.reboot()
        self.disconnect()
        self.note(axis.RestartRequested(by))

    # --- identity ---

    def _open_verified(self, route: Route) -> VerifiedConnection:
        return VerifiedConnection(self._open(route), route, self._accept)

    def _try_route(self, route: Route) -> axis.Event | None:
        """Connect by `route`; return why that failed, or None."""
        connection: VerifiedConnection | None = None
        try:
            connection = self._open_verified(route)
            connection.connect()
        except AdbError as error:
            failure = axis.event_of(error)
        else:
            self._used = connection
            return None
        if connection is not None:
            with contextlib.suppress(AdbError):
                connection.close()
        return failure

    def _check_serial(self, identity: Identity, route: Route) -> None:
        if identity.serial != self.serial:
            raise WrongDeviceError(self.serial, identity.serial, str(route))

    def _accept(self, identity: Identity, route: Route) -> None:
        """Check who answers by `route` and remember its identity. Every connection calls this before it is used."""
        if identity.serial != self.serial:
            self.drop_route(route)
            self.displaced_routes[route] = identity.serial
            raise WrongDeviceError(self.serial, identity.serial, str(route))
        before = self.boot_id
        changed = bool(before and identity.boot_id and before != identity.boot_id)
        self._identity = identity
        self.restarted |= changed
        if self._pinned and identity.boot_id and identity.boot_id != self._pinned:
            raise RebootedError(self.serial, self._pinned, identity.boot_id)

    def _note_answer(self) -> bool:
        """Record the last identification and read the facts of a new boot. Returns False while the device is not usable."""
        identity = self._identity
        if identity is None or not identity.booted:
            self.note(axis.DeviceAnswered(booted=False))
            return False
        if not self._facts.factors or self._facts.boot_id != identity.boot_id:
            try:
                self._facts = facts_of.read_facts(
                    self.connection,
                    identity.boot_id,
                    self._facts,
                    simulated=self.simulated,
                )
            except AdbError as error:
                self.note(axis.event_of(error))
                return False
            _save_facts(self.state_dir / "device.json", self._facts)
        self.note(axis.DeviceAnswered(booted=True))
        return True


def state_name(serial: str) -> str:
    """Return a directory name for `serial`, which the device chooses and may hold anything."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", serial).lstrip(".") or "_"


def _reason_suffix(link: axis.ConnectionStatus) -> str:
    return f": {link.reason} {link.advice or ''}".rstrip() if link.reason else ""


def _most_actionable(failures: list[axis.Event]) -> axis.Event:
    """Return the failure that a person can act on first."""
    order = (
        axis.KeyRejected,
        axis.TlsRequired,
        axis.DeviceSilent,
        axis.WrongDevice,
        axis.NoAnswer,
    )
    return min(failures, key=lambda failure: order.index(type(failure)))


def _load_facts(path: Path) -> DeviceFacts:
    try:
        return msgspec.json.decode(path.read_bytes(), type=DeviceFacts)
    except (OSError, msgspec.DecodeError):
        return DeviceFacts()


def _save_facts(path: Path, facts: DeviceFacts) -> None:
    """Keep the facts, so that a device that is absent at the agent's next start is announced correctly."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # With the process id, because `paceline devices` writes the file too.
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.write_bytes(msgspec.json.encode(facts))
        new.replace(path)
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error.strerror)
