"""Executes launches on an Android device and leaves the device as it was.

    claim ─▶ session: clean ─▶ note ─▶ place files ─▶ settings on ─▶ follow its log ─▶ conditions before
                 ─▶ (launch ─▶ conditions during)… ─▶ conditions after ─▶ clean

While a launch runs, no command is sent to the device; only the launch's output and the device's log are
followed, on other cores. A session leaves nothing on the device, or a note on the agent's disk by which the
next start, check or session cleans up. Readiness and health are checked before the lease, not here.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath, PurePosixPath

from paceline_contract.attempts import MAX_DETAIL
from paceline_contract.items import Conditions, Observed

from paceline.adb.logcat import DEVICE_TIME, DeviceLog, LogFollower
from paceline.adb.port import AdbError, Connection
from paceline.destination import Destination
from paceline.devices import leftovers, placing, scripts
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.conditions import DeviceConditions, read_clusters
from paceline.devices.leftovers import RunJournal, RunNote
from paceline.devices.reconnecting import ReconnectingDevice, SessionTimeouts
from paceline.devices.topology import choose_cluster
from paceline.executors.base import LaunchSpec, Session, SessionWork, Sink, TargetError
from paceline.executors.claim import SOMEBODY, Claimant, TargetClaim
from paceline.executors.detached import DetachedLaunch, RemotePaths
from paceline.executors.job_conditions import JobConditions
from paceline.executors.launch import LaunchMonitor, Limits
from paceline.log_reports import LogReporter
from paceline.outcome import Outcome
from paceline.stop import Stop

log = logging.getLogger("paceline.devices")

FOLLOWING_S = 10.0
"""Timeout for following the log before the first launch; well under 1 s, unless the device refuses it."""
WATCHING_NICENESS = "10"
"""Niceness of the commands that follow a launch on the device."""


class AndroidExecutor:
    """Runs launches on `device`.

    `host` is a claim of this host, held while it builds; not shared, because a lock object is re-entrant.
    `journals` is the directory with the notes of all devices.
    """

    def __init__(
        self,
        device: AttachedDevice,
        host: TargetClaim,
        journals: Path,
        *,
        pace: SessionTimeouts | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._device, self._host = device, host
        self._journal = RunJournal(journals, device.serial)
        self._pace, self._limits = pace or SessionTimeouts(), limits or Limits()

    @property
    def destination(self) -> Destination:
        return Destination("device", tuple(self._device.facts.abis))

    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> AbstractContextManager[bool]:
        return self._device.claim(stop, timeout_s, by)

    def building(
        self, stop: Stop, by: Claimant = SOMEBODY
    ) -> AbstractContextManager[bool]:
        return self._host.claim(stop, by=by)

    def fingerprint(self) -> str:
        return self._device.facts.fingerprint

    @contextmanager
    def session(
        self, work: SessionWork, take: Callable[[Conditions], None], stop: Stop
    ) -> Iterator[Session]:
        device, persistent = (
            self._device,
            ReconnectingDevice(self._device, stop, self._pace),
        )
        session = AndroidSession(
            device, persistent, work, journal=self._journal, limits=self._limits
        )
        with contextlib.ExitStack() as following:
            follower: LogFollower | None = None
            try:
                with self._hold_device(persistent):
                    session.prepare()
                    follower = LogFollower(
                        device.open_second_connection,
                        session.device_log.take,
                        prefix=session.watching,
                    )
                    following.enter_context(follower)
                    session.begin(follower, take)
                    yield session
                    session.conclude()
            finally:
                if follower is not None:
                    follower.finish()
                self._tidy()

    @contextmanager
    def _hold_device(self, persistent: ReconnectingDevice) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            persistent.ask(lambda _: held.enter_context(self._device.hold()))
            yield

    def _tidy(self) -> None:
        """Clean the device. Raises nothing; what remains is noted for the next session or check."""
        device = self._device
        try:
            try:
                leftovers.clean(device.connection, self._journal, device.workdir)
            except AdbError:
                if not device.regain(Stop(), self._pace.farewell_s):
                    raise
                leftovers.clean(device.connection, self._journal, device.workdir)
        except AdbError as error:
            text = (
                "device %s could not be cleaned and will be when it is seen again: %s"
            )
            log.warning(text, device.serial, error)


class AndroidSession:
    """A device during one job; used by one thread."""

    def __init__(
        self,
        device: AttachedDevice,
        persistent: ReconnectingDevice,
        work: SessionWork,
        *,
        journal: RunJournal,
        limits: Limits,
    ) -> None:
        self._device, self._persistent, self._journal = device, persistent, journal
        self._limits, self._calibration = limits, work.calibration
        self._reporting = (
            None if work.listening is None else LogReporter(work.listening)
        )
        self.device_log = DeviceLog(
            None if self._reporting is None else self._reporting.take
        )
        """Takes every line of the device's log."""
        self._name = re.sub(r"[^A-Za-z0-9._-]", "_", work.name).lstrip(".") or "run"
        self._run = PurePosixPath(device.workdir) / self._name
        self._locations = placing.locations(work.directories, self._run)
        self._job_conditions: JobConditions | None = None
        self._follower: LogFollower | None = None
        self._state: dict[str, Observed] = {}
        self._pinned: list[str] = []
        self.watching: list[str] = []
        """Prefix for commands that follow a launch: keeps them off the launches' cores."""
        self._launches = 0
        self._failed = False

    def location(self, directory: Path) -> PurePath:
        return self._locations[directory]

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Return the given variables, and a directory for temporary files that is removed afterwards."""
        return {"TMPDIR": str(self._run / "tmp"), **extra}

    def prepare(self) -> None:
        """Clean the device and put everything in place. Raises TargetError."""
        self._persistent.ask(self._clean)
        changed = [leftovers.FIXED_PERFORMANCE]
        names = [setting.name for setting in changed]
        try:
            self._journal.note(RunNote(self._name, names))
        except OSError as error:
            raise TargetError(
                "disk_full", f"The note about the device cannot be written: {error}"
            ) from error
        placing.make_directories(self._persistent, [str(self._run / "tmp")])
        noted = "".join(f"{name}\n" for name in names).encode()
        self._persistent.push(noted, str(self._run / "settings"), 0o644)
        self._persistent.push(
            scripts.text("launch").encode(), str(self._script), placing.MODE
        )
        sent = placing.place_files(self._persistent, self._locations)
        log.info(
            "device %s: %d bytes sent for %s", self._device.serial, sent, self._name
        )
        for setting in changed:
            self._state[setting.name] = int(self._persistent.run(setting.on).rc == 0)
        self._pin()

    def begin(self, follower: LogFollower, take: Callable[[Conditions], None]) -> None:
        """Take the first reading once the log is followed, or cannot be. Raises TargetError."""
        device = self._device
        observer = DeviceConditions(
            device.facts.props,
            workdir=device.workdir,
            simulated=device.simulated,
            calibrate=self._calibrate(),
            events=self.device_log.drain,
        )
        self._follower = follower
        self._job_conditions = JobConditions(
            self._persistent,
            observer,
            take,
            state=self._state,
            gaps=lambda: follower.gaps,
        )
        follower.wait(FOLLOWING_S)
        self._job_conditions.observe("before")

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        """Run a launch with nothing beside it, then read the conditions."""
        conditions, follower = self._job_conditions, self._follower
        if conditions is None or follower is None:
            raise RuntimeError("the session has not begun")
        try:
            self._launches += 1
            launch = LaunchMonitor(spec, sink, stop, self._limits)
            directory = self._run / f"launch-{self._launches}"
            place = RemotePaths(
                self._name, directory, self._script, self._pinned, self.watching
            )
            with follower.hold():
                if self._reporting is not None:
                    self._reporting.note_launch_begin(
                        spec.launch, spec.side, self._clock()
                    )
                conditions.note_launch_begin()
                outcome = DetachedLaunch(
                    self._persistent, spec, launch, place, self._record_launch_end
                ).run()
            conditions.observe("during")
            return outcome
        except TargetError as error:
            self._failed = True
            return Outcome(error.cause, str(error)[:MAX_DETAIL])

    def conclude(self) -> None:
        """Take the last reading, which decides whether the samples are void. Raises TargetError."""
        if not self._failed and self._job_conditions is not None:
            self._job_conditions.observe("after")
            self._read_rest_of_log()

    def _read_rest_of_log(self) -> None:
        """Read the rest of the log. A failure is only noted, because the samples are complete without it."""
        reporting, follower = self._reporting, self._follower
        if reporting is None or follower is None:
            return
        try:
            is_whole = self._persistent.ask(follower.read_rest)
        except TargetError as error:
            reporting.note(f"The end of the device's log could not be read: {error}")
            return
        if not is_whole:
            reporting.note("The device's log could not be read to its end.")

    def _record_launch_end(self) -> None:
        if self._job_conditions is not None:
            self._job_conditions.note_launch_end()
        if self._reporting is not None:
            self._reporting.note_launch_end(self._clock())

    def _clock(self) -> str:
        return self._persistent.run(DEVICE_TIME).text

    @property
    def _script(self) -> PurePosixPath:
        return self._run / "launch.sh"

    def _clean(self, connection: Connection) -> None:
        if cleaned := leftovers.clean(connection, self._journal, self._device.workdir):
            log.warning(
                "device %s: an earlier run had left %s", self._device.serial, cleaned
            )

    def _pin(self) -> None:
        """Choose the cores for launches, and other cores for the commands that follow them."""
        clusters = self._persistent.ask(read_clusters)
        best = choose_cluster(clusters)
        if best is None or self._persistent.run(["taskset", best.mask, "true"]).rc != 0:
            log.warning(
                "device %s: launches are not pinned to a cluster", self._device.serial
            )
            return
        self._pinned = ["taskset", best.mask]
        self._state["affinity"] = best.mask
        if (slowest := clusters[0]) is not best and slowest.online:
            self.watching = ["taskset", slowest.mask, "nice", "-n", WATCHING_NICENESS]

    def _calibrate(self) -> list[str]:
        """Return the command of the suite's calibration program, on the launches' cores."""
        calibration = self._calibration
        if calibration is None:
            return []
        directory = str(self._locations[calibration.directory])
        return [
            *self._pinned,
            *(part.replace("{artifacts}", directory) for part in calibration.argv),
        ]
