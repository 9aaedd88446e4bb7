"""Tests that fifty random kills of connections, agents and processes on the device leave nothing on the device.
One seed decides what is killed and at which step, so that a failure can be repeated.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from paceline.adb.port import Connection
from paceline.devices import leftovers
from paceline.devices.leftovers import RunJournal
from paceline.executors.base import LaunchSpec, Session, SessionWork
from paceline.outcome import Outcome
from paceline.stop import Stop
from paceline_contract.events import AnyEvent, CaseEvent, SamplesEvent
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S

from .phone import Phone, Through
from .phone_jobs import wait_until
from .test_executors import CASE, DONE, START, Recorder, lines

SEED = 20_261_121
CUTS, WORKLOAD_KILLS, AGENT_KILLS = 27, 14, 9
CUTS_IN_A_SESSION = 9
LAUNCHES = 2
ROUNDS = 60
USES = 40
"""Uses of its connections that a session of LAUNCHES makes at least; more are made after a cut."""
WORKLOAD = f"""
cat head
i=0
while [ "$i" -lt {ROUNDS} ]; do
  echo '{{"type":"samples","case":0,"metric":"time","launch":0,"round":'"$i"',"position":0,"phase":"measure",\
"iterations":2,"values":[10],"t_ns":5}}'
  if [ "$i" -eq "$1" ]; then until [ -e "$TMPDIR/$2" ]; do sleep 0.01; done; fi
  i=$((i + 1))
done
cat foot
"""
"""Waits after round $1 for a file $2."""


@pytest.fixture
def built(tmp_path: Path) -> Path:
    directory = tmp_path / "built"
    directory.mkdir()
    for name, data in (
        ("head", lines(START, CASE)),
        ("foot", lines(DONE)),
        ("run.sh", WORKLOAD.encode()),
    ):
        (directory / name).write_bytes(data)
    return directory


class Rounds(Recorder):
    """`then` is called at round `at`."""

    def __init__(self, at: int = -1, then: object = None) -> None:
        super().__init__()
        self._at, self._then = at, then

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        super().event(event, case)
        if (
            isinstance(event, SamplesEvent)
            and event.round == self._at
            and callable(self._then)
        ):
            self._then()

    @property
    def complete(self) -> bool:
        events = [
            event.round for event, _ in self.events if isinstance(event, SamplesEvent)
        ]
        return events == list(range(ROUNDS))


def launch(
    session: Session, built: Path, number: int, sink: Recorder, wait_after: int = -1
) -> Outcome:
    there = session.location(built)
    argv = ["sh", str(there / "run.sh"), str(wait_after), f"go-{number}"]
    return session.execute(
        LaunchSpec("w", number, argv, there, session.environment({}), WITHIN_S),
        sink,
        Stop(),
    )


def test_cut_connections_cost_no_sample_and_leave_nothing(
    device: Phone, built: Path
) -> None:
    draw = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    for number in range(CUTS // CUTS_IN_A_SESSION):
        at = set(draw.sample(range(USES), CUTS_IN_A_SESSION))
        used = iter(range(10_000))

        def cut(_: Connection, at: set[int] = at, used: Iterator[int] = used) -> None:
            if next(used) in at:
                device.peer.cut()

        device.wrap = lambda inner: inner
        executor = device.executor()
        device.wrap = lambda inner, cut=cut: Through(inner, called=cut)  # type: ignore[misc]
        device.let_go()
        with executor.session(
            SessionWork(f"cut-{number}", [built]), lambda _: None, Stop()
        ) as session:
            for each in range(LAUNCHES):
                sink = Rounds()
                outcome = launch(session, built, each, sink)
                assert outcome.ok, outcome.detail
                assert sink.complete
        assert next(used) > max(at), "every cut was made"
        assert not device.left(), f"after cuts at {sorted(at)}"


def test_killed_processes_of_a_launch_fail_it_and_leave_nothing(
    device: Phone, built: Path
) -> None:
    """The kind of process decides about blame: a killed watcher of ours is never a crash of the benchmark. Each kind is
    killed in every other launch, for which of its processes there are at a moment is chance."""
    draw = random.Random(SEED + 1)  # noqa: S311 - as above
    kinds = ("its own", "ours")
    killed: list[str] = []

    def kill() -> None:
        mine = [pid for pid in device.peer.processes() if device.of_a_run(pid)]
        for pid in draw.sample(mine, len(mine)):
            with contextlib.suppress(
                psutil.NoSuchProcess
            ):  # a small one that had just ended
                whose = (
                    "its own"
                    if "run.sh" in " ".join(psutil.Process(pid).cmdline()[1:3])
                    else "ours"
                )
                if whose == kinds[number % 2]:
                    psutil.Process(pid).kill()
                    killed.append(whose)
                    break
        (device.workdir / "killed" / "tmp" / f"go-{number}").touch()

    with device.executor().session(
        SessionWork("killed", [built]), lambda _: None, Stop()
    ) as session:
        for number in range(WORKLOAD_KILLS):
            at = draw.randrange(ROUNDS - 1)
            sink = Rounds(at, kill)
            outcome = launch(session, built, number, sink, at)
            fault = {"its own": "workload_crashed", "ours": "device_lost"}[killed[-1]]
            assert outcome.cause in (None, fault), (killed[-1], outcome.detail)
            assert sink.complete or not outcome.ok
            assert not [pid for pid in device.peer.processes() if device.of_a_run(pid)]
    assert len(killed) == WORKLOAD_KILLS
    assert set(kinds) == set(killed)
    assert not device.left()


def test_processes_of_no_run_are_found_too(
    device: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`left()` must see them, or an empty list would prove nothing."""
    with device.attached().connection.stream(["logcat"]):
        monkeypatch.setattr("tests.phone.CLOSING_S", 0.1)
        wait_until(
            lambda: any(
                item.startswith("stray") and "logcat" in item for item in device.left()
            )
        )
    monkeypatch.undo()
    assert not device.left()


NURSERY = """
import json, os, signal, sys
from pathlib import Path
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import Route
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.reconnecting import SessionTimeouts
from paceline.executors.android import AndroidExecutor
from paceline.executors.base import LaunchSpec, SessionWork
from paceline.executors.claim import TargetClaim
from paceline.stop import Stop
sys.path.insert(0, {tests!r})
from phone import Through

class Quiet:
    def raw(self, data): pass
    def event(self, event, case): pass
    def stderr(self, lines): pass
    def tick(self): pass

def agent(name, last):
    uses = iter(range(10_000))
    def used(inner):
        if next(uses) == last:
            os.kill(os.getpid(), signal.SIGKILL)
    state = Path({state!r})
    key = AgentKey.load_or_create(state / "key")
    def opened(route):
        return Through(DirectConnection(route.address, key), called=used)
    routes = [Route("tcp", {address!r})]
    device = AttachedDevice({serial!r}, state / "device", opened, routes, simulated=True, locks=state)
    assert device.look()
    executor = AndroidExecutor(device, TargetClaim("host", state), state, pace=SessionTimeouts(look_s=0.03))
    built = Path({built!r})
    with executor.claim(Stop()), executor.session(SessionWork(name, [built]), lambda _: None, Stop()) as session:
        there = session.location(built)
        for number in range({launches}):
            argv = ["sh", str(there / "run.sh"), "-1", "go"]
            spec = LaunchSpec("w", number, argv, there, session.environment({{}}), 60.0)
            session.execute(spec, Quiet(), Stop())

for line in sys.stdin:
    name, last = json.loads(line)
    child = os.fork()
    if child == 0:
        agent(name, last)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Agents to kill: forked by a process that has loaded all they need, and no thread."""


def test_kill_9_of_the_agent_leaves_nothing_once_its_next_life_has_looked(
    device: Phone, built: Path
) -> None:
    draw = random.Random(SEED + 2)  # noqa: S311 - as above
    code = NURSERY.format(
        tests=str(Path(__file__).parent),
        state=str(device.state),
        serial=device.peer.serial,
        address=device.peer.address,
        built=str(built),
        launches=LAUNCHES,
    )
    lasts = [*draw.sample(range(9, USES), AGENT_KILLS)]
    result = 0
    with ChildProcess[str](
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for number, last in enumerate(lasts):
            nursery.stdin.write(json.dumps([f"agent-{number}", last]) + "\n")
            nursery.stdin.flush()
            assert nursery.stdout.readline().strip() == str(-signal.SIGKILL), (
                f"killed at use {last}"
            )
            attached = device.attached()
            with attached.claim(Stop(), timeout_s=WITHIN_S) as ours:
                assert ours, "the lock died with its holder"
                journal = RunJournal(device.state, attached.serial)
                result += bool(
                    leftovers.clean(attached.connection, journal, attached.workdir)
                )
            assert not device.left(), f"killed at use {last}"
            assert not journal.notes
    assert result > AGENT_KILLS // 2, "most of them had left something"
