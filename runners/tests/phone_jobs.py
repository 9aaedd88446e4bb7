"""A workload that waits half-way and its launch, for tests of jobs on devices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from paceline.devices.reconnecting import SessionTimeouts
from paceline.executors.base import LaunchSpec, Session, SessionWork
from paceline.outcome import Outcome
from paceline.stop import Stop
from paceline_contract.events import AnyEvent, CaseEvent, SamplesEvent
from paceline_contract.testing.waiting import WITHIN_S

from .phone import PACE, Phone
from .test_executors import CASE, DONE, START, Recorder, lines

ROUNDS = 300
HALF = 100
WORKLOAD = f"""
cat head
i=0
while [ "$i" -lt {ROUNDS} ]; do
  if [ "$i" -eq {HALF} ]; then until [ -e "$TMPDIR/go" ]; do sleep 0.01; done; fi
  echo '{{"type":"samples","case":0,"metric":"time","launch":0,"round":'"$i"',"position":0,"phase":"measure",\
"iterations":2,"values":[10],"t_ns":5}}'
  i=$((i + 1))
done
cat foot
echo > "$TMPDIR/said"
"""


IMPATIENT = SessionTimeouts(patience_s=0.2, farewell_s=0.0, look_s=0.03)


def build(directory: Path) -> Path:
    """The workload as a build would leave it."""
    directory.mkdir()
    (directory / "workload.sh").write_text(WORKLOAD)
    (directory / "head").write_bytes(lines(START, CASE))
    (directory / "foot").write_bytes(lines(DONE))
    return directory


class Half(Recorder):
    """Does something when half of the samples have arrived."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self._then = then

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        super().event(event, case)
        if isinstance(event, SamplesEvent) and event.round == HALF - 1:
            self._then()

    @property
    def rounds(self) -> list[int]:
        return [
            event.round for event, _ in self.events if isinstance(event, SamplesEvent)
        ]


def launch(
    session: Session, built: Path, number: int = 0, timeout_s: float = WITHIN_S
) -> LaunchSpec:
    there = session.location(built)
    argv = ["sh", str(there / "workload.sh")]
    return LaunchSpec("w", number, argv, there, session.environment({}), timeout_s)


def on_device(device: Phone, name: str) -> Path:
    """A file of the run's directory, from outside."""
    (run,) = device.workdir.iterdir()
    return run / "tmp" / name


def recorded(device: Phone, name: str) -> Path:
    """The files in the launch's directory on the device."""
    return on_device(device, "").parent / "launch-1" / name


def let_workload_continue(device: Phone) -> None:
    on_device(device, "go").touch()


def wait_until(condition: Callable[[], bool]) -> None:
    end, waiter = time.monotonic() + WITHIN_S, threading.Event()
    while not condition():
        assert time.monotonic() < end
        waiter.wait(0.01)


def measured(
    device: Phone,
    built: Path,
    sink: Recorder,
    stop: Stop | None = None,
    *,
    timeout_s: float = WITHIN_S,
    pace: SessionTimeouts = PACE,
) -> Outcome:
    """Runs one launch in a session of its own."""
    stop = stop or Stop()
    with device.executor(pace=pace).session(
        SessionWork("job:1-1", [built]), lambda _: None, stop
    ) as session:
        return session.execute(launch(session, built, timeout_s=timeout_s), sink, stop)
