"""Tests of all executors: one conformance suite, then failures that only real processes have."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import psutil
import pytest
from device_providers import DeviceProvider
from paceline.executors.base import Executor, LaunchSpec, Session, SessionWork
from paceline.executors.claim import Claimant
from paceline.executors.fake import FakeExecutor, LaunchScript
from paceline.executors.host import HostExecutor
from paceline.executors.launch import Limits
from paceline.executors.process import GuardedProcess
from paceline.first_error import first_error
from paceline.outcome import Outcome, detail
from paceline.stop import Stop, StopReason
from paceline_contract.attempts import MAX_DETAIL, AgentCause
from paceline_contract.events import AnyEvent, CaseEvent, DoneEvent, SamplesEvent
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S, wait_until

from .phone import phone

CLOCK = {"name": "c", "resolution_ns": 20, "overhead_ns": 10}
START = {
    "type": "start",
    "v": 1,
    "suite": "s",
    "workload": "w",
    "launch": 0,
    "seed": 1,
    "build": {},
    "clock": CLOCK,
}
METRIC = {"name": "time", "unit": "ns", "direction": "lower"}
CASE = {
    "type": "case",
    "case": 0,
    "benchmark": "b",
    "arm": "a",
    "params": {},
    "metrics": [METRIC],
}
SAMPLE = {
    "type": "samples",
    "case": 0,
    "metric": "time",
    "launch": 0,
    "round": 0,
    "position": 0,
    "phase": "measure",
    "iterations": 2,
    "values": [10],
    "t_ns": 5,
}
DONE = {"type": "done"}


def lines(*events: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


GOOD = lines(START, CASE, SAMPLE, DONE)


class Recorder:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.bytes = 0
        self.events: list[tuple[AnyEvent, CaseEvent | None]] = []
        self.errors: list[str] = []
        self.ticks = 0

    def raw(self, data: bytes) -> None:
        self.bytes += len(data)

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        self.events.append((event, case))

    def stderr(self, lines: list[str]) -> None:
        self.errors += lines

    def tick(self) -> None:
        self.ticks += 1


def host(tmp_path: Path, garbage_s: float = WITHIN_S) -> HostExecutor:
    limits = Limits(garbage_bytes=1 << 20, garbage_s=garbage_s, terminate_s=0.5)
    return HostExecutor("test", limits, lock_dir=tmp_path)


def spec(tmp_path: Path, code: str, timeout_s: float = WITHIN_S) -> LaunchSpec:
    return LaunchSpec(
        "w",
        0,
        [sys.executable, "-I", "-S", "-c", code],
        tmp_path,
        dict(os.environ),
        timeout_s,
    )


def program(script: LaunchScript) -> str:
    """A Python program that does what `script` says."""
    code = "import os, signal, sys, time\n"
    code += f"os.write(1, {script.stdout!r}); os.write(2, {script.stderr!r})\n"
    if script.hangs:
        code += "time.sleep(600)\n"
    if script.signal_number is not None:
        code += f"os.kill(os.getpid(), {script.signal_number})\n"
    return code + f"os._exit({script.exit_code or 0})\n"


Run = Callable[[LaunchScript, Recorder, Stop, float], Outcome]


@pytest.fixture(scope="module")
def on_phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One session for all launches of this module; other tests cover its begin and end."""
    with phone(
        tmp_path_factory.mktemp("phone"), DeviceProvider("simulated")
    ) as running:
        with running.executor().session(
            SessionWork("conformance", []), lambda _: None, Stop()
        ) as session:
            yield session
        assert not running.left()


@pytest.fixture(params=["fake", "host", "android"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    def execute(
        script: LaunchScript, sink: Recorder, stop: Stop, timeout_s: float
    ) -> Outcome:
        if request.param == "android":
            session = request.getfixturevalue("on_phone")
            argv = (
                ["no-such-program"]
                if script.start_error
                else ["sh", "-c", shell(script)]
            )
            job = LaunchSpec(
                "w", 0, argv, PurePosixPath("/"), session.environment({}), timeout_s
            )
            outcome: Outcome = session.execute(job, sink, stop)
            return outcome
        executor: Executor = (
            FakeExecutor(lambda _: script)
            if request.param == "fake"
            else host(tmp_path)
        )
        job = spec(tmp_path, program(script), timeout_s)
        if script.start_error:
            job = LaunchSpec(
                "w", 0, ["no-such-program"], tmp_path, dict(os.environ), timeout_s
            )
        with executor.session(
            SessionWork("conformance", [tmp_path]), lambda _: None, stop
        ) as session:
            return session.execute(job, sink, stop)

    return execute


def shell(script: LaunchScript) -> str:
    """The same workload for a device, which has no Python."""
    out, err = (shlex.quote(item.decode()) for item in (script.stdout, script.stderr))
    code = f"printf %s {out}; printf %s {err} >&2"
    code += "; sleep 600" if script.hangs else ""
    code += (
        f"; kill -{script.signal_number} $$" if script.signal_number is not None else ""
    )
    return f"{code}; exit {script.exit_code or 0}"


def test_a_good_launch_counts_and_its_events_arrive_in_order(run: Run) -> None:
    sink = Recorder()
    outcome = run(LaunchScript(GOOD, stderr=b"hello\nworld"), sink, Stop(), WITHIN_S)
    assert outcome.ok, outcome.detail
    assert [type(event).__name__ for event, _ in sink.events] == [
        "StartEvent",
        "CaseEvent",
        "SamplesEvent",
        "DoneEvent",
    ]
    sample, case = sink.events[2]
    assert isinstance(sample, SamplesEvent)
    assert case is not None
    assert case.arm == "a"
    assert sink.bytes == len(GOOD)
    assert sink.errors == ["hello", "world"]
    assert sink.ticks >= 1


@pytest.mark.parametrize(
    ("script", "cause", "words"),
    [
        (LaunchScript(lines(START) + b"garbage\n"), "stream_invalid", "line 2"),
        (LaunchScript(b""), "workload_no_terminal", "done"),
        (LaunchScript(lines(START, CASE)), "workload_no_terminal", "status 0"),
        (LaunchScript(lines(START), exit_code=3), "workload_crashed", "status 3"),
        (LaunchScript(GOOD, exit_code=3), "workload_crashed", "done"),
        (
            LaunchScript(
                lines(START),
                signal_number=signal.SIGSEGV,
                exit_code=None,
                stderr=b"core\n",
            ),
            "workload_crashed",
            "SIGSEGV",
        ),
        (
            LaunchScript(
                lines(
                    START, {"type": "error", "code": "no_case", "text": "choose one"}
                ),
                exit_code=1,
            ),
            "workload_error",
            "choose one",
        ),
        (
            LaunchScript(
                lines(
                    START,
                    {
                        "type": "check",
                        "name": "vectors",
                        "ok": False,
                        "detail": "row 3",
                    },
                    DONE,
                )
            ),
            "check_failed",
            "vectors: row 3",
        ),
        (
            LaunchScript(start_error="no-such-program: No such file or directory"),
            "workload_crashed",
            "Install",
        ),
        (LaunchScript(GOOD + b"{}\n"), "stream_invalid", "after_terminal"),
    ],
)
def test_each_fault_is_a_named_cause_a_person_can_act_on(
    run: Run, script: LaunchScript, cause: AgentCause, words: str
) -> None:
    outcome = run(script, Recorder(), Stop(), WITHIN_S)
    assert outcome.cause == cause, outcome.detail
    assert words in outcome.detail
    if script.stderr:
        assert "core" in outcome.detail


def test_a_hang_is_ended_and_named(run: Run) -> None:
    outcome = run(LaunchScript(lines(START), hangs=True), Recorder(), Stop(), 0.3)
    assert outcome.cause == "workload_hung"
    assert "launch_timeout_s" in outcome.detail


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (StopReason.CANCELLED, "cancelled"),
        (StopReason.LEASE_LOST, "lease_lost"),
        (StopReason.DISK_FULL, "disk_full"),
    ],
)
def test_a_stop_ends_the_launch_with_its_reason(
    run: Run, reason: StopReason, cause: AgentCause
) -> None:
    stop = Stop()
    threading.Timer(0.2, stop.set, [reason]).start()
    outcome = run(LaunchScript(lines(START), hangs=True), Recorder(), stop, WITHIN_S)
    assert outcome.cause == cause


def test_whoever_waits_for_a_target_is_told_who_holds_it_since_when(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    waiting = Claimant("job_2 of demo", told.append)
    holder = Claimant("paceline run of \x1b[31mdemo")
    with host(tmp_path).claim(Stop(), by=holder):
        for _ in range(2):
            with host(tmp_path).claim(Stop(), 0.25, waiting) as got:
                assert not got
    said = f"paceline run of demo (process {os.getpid()}) holds the lock since 20"
    assert len(told) == 2, "once per wait, however often it looks"
    assert all(text.startswith(said) and text.endswith(" UTC") for text in told)


@pytest.mark.parametrize("note", ["", "{", '{"purpose":"x","pid":0.5,"since":1}', None])
def test_a_holder_that_left_no_note_can_still_be_found(
    tmp_path: Path, note: str | None
) -> None:
    told: list[str] = []
    with host(tmp_path).claim(Stop()):
        (path,) = tmp_path.glob("*.holder")
        path.unlink()
        if note is None:
            path.symlink_to(tmp_path / "elsewhere")
        else:
            path.write_text(note)
        with host(tmp_path).claim(Stop(), 0.0, Claimant("mine", told.append)) as got:
            assert not got
    (lock,) = tmp_path.glob("*.lock")
    assert told == [f"another program holds the lock: `fuser {lock}` names it"]
    assert not (tmp_path / "elsewhere").exists()


def test_the_target_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    for first, second in (
        (host(tmp_path), host(tmp_path)),
        (fake := FakeExecutor(lambda _: LaunchScript()), fake),
    ):
        with first.claim(Stop()) as got:
            assert got
            with second.claim(Stop(), timeout_s=0.15) as other:
                assert not other
        with second.claim(Stop(), timeout_s=0.0) as later:
            assert later


# --- only real processes ---


def test_a_gigabyte_of_garbage_is_a_flood_in_bounded_memory(tmp_path: Path) -> None:
    code = "import os\nblock = b'rubbish\\n' * 8192\nfor _ in range(16384): os.write(1, block)\n"
    before = psutil.Process().memory_info().rss
    sink = Recorder()
    outcome = host(tmp_path).execute(spec(tmp_path, code), sink, Stop())
    assert outcome.cause == "workload_flooded"
    assert sink.bytes < 64 << 20
    assert psutil.Process().memory_info().rss - before < 64 << 20


def test_an_endless_line_is_a_flood(tmp_path: Path) -> None:
    code = "import os\nblock = b'x' * 65536\nwhile True: os.write(1, block)\n"
    outcome = host(tmp_path).execute(spec(tmp_path, code), Recorder(), Stop())
    assert outcome.cause == "workload_flooded"


def test_a_workload_that_goes_on_after_breaking_its_stream_is_ended(
    tmp_path: Path,
) -> None:
    code = "import time\nprint('garbage', flush=True)\ntime.sleep(600)\n"
    executor = host(tmp_path, garbage_s=0.5)
    outcome = executor.execute(spec(tmp_path, code), Recorder(), Stop())
    assert outcome.cause == "stream_invalid"
    assert "line 1" in outcome.detail


def test_a_workload_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n"
    outcome = host(tmp_path).execute(
        spec(tmp_path, code, timeout_s=0.3), Recorder(), Stop()
    )
    assert outcome.cause == "workload_hung"


def test_a_workload_that_left_its_process_group_is_ended_too(
    tmp_path: Path,
) -> None:
    code = "import os, time\nos.setpgid(0, os.getppid())\ntime.sleep(600)\n"
    outcome = host(tmp_path).execute(
        spec(tmp_path, code, timeout_s=0.5), Recorder(), Stop()
    )
    assert outcome.cause == "workload_hung"
    argv = [sys.executable, "-I", "-S", "-c", code]
    with GuardedProcess(argv, tmp_path, dict(os.environ)) as process:
        wait_until(
            "its number", lambda: process.poll(0.05) is None and process.pid is not None
        )
        pid = process.pid
    assert pid is not None
    assert not psutil.pid_exists(pid)


def cpu_ns_of(argv: list[str]) -> int:
    """Return the CPU time of a command that nothing of ours starts or watches."""
    pid = os.posix_spawn(argv[0], argv, os.environ)
    _, _, usage = os.wait4(pid, 0)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def cpu_ns_by_guard(argv: list[str], cwd: Path) -> int:
    with GuardedProcess(argv, cwd, dict(os.environ)) as process:
        while (end := process.poll(WITHIN_S)) is None:
            pass
    return (end.user_ns or 0) + (end.system_ns or 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells no CPU time")
def test_the_cpu_time_of_a_process_is_its_own(tmp_path: Path) -> None:
    """The copy of the guard that became the process counted, too: three times the time of a short command."""
    argv = [str(shutil.which("true"))]
    pairs = [(cpu_ns_of(argv), cpu_ns_by_guard(argv, tmp_path)) for _ in range(20)]
    alone, guarded = (min(times) for times in zip(*pairs, strict=True))
    assert guarded < 1.7 * alone


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no guard")
@pytest.mark.parametrize("is_polled", [True, False])
def test_a_process_whose_guard_was_killed_is_killed(
    is_polled: bool, tmp_path: Path
) -> None:
    code = "import os, time\nprint(os.getppid(), os.getpid(), flush=True)\ntime.sleep(600)\n"
    argv = [sys.executable, "-I", "-S", "-c", code]
    with GuardedProcess(argv, tmp_path, dict(os.environ)) as process:
        assert process.stdout is not None
        guard, pid = map(int, process.stdout.readline().split())
        os.kill(guard, signal.SIGKILL)
        if is_polled:
            wait_until("its end", lambda: process.poll(0.05) is not None)
    wait_until("its end", lambda: not psutil.pid_exists(pid))


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open({path!r}, "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists({path!r}) or not open({path!r}).read(): time.sleep(0.01)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="adopting orphans is a Linux service"
)
def test_processes_a_workload_leaves_behind_are_killed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    sink = Recorder()
    code = DAEMON.format(path=str(note)) + f"os.write(1, {GOOD!r})\n"
    outcome = host(tmp_path).execute(spec(tmp_path, code), sink, Stop())
    assert outcome.ok, outcome.detail
    assert not psutil.pid_exists(int(note.read_text()))
    assert any("left behind" in line for line in sink.errors)


AGENT = """
import os, sys
from pathlib import Path
from paceline.executors.base import LaunchSpec
from paceline.executors.host import HostExecutor
from paceline.stop import Stop
sys.path.insert(0, {tests!r})
class Quiet:
    def raw(self, data): pass
    def event(self, event, case): pass
    def stderr(self, lines): pass
    def tick(self): pass
spec = LaunchSpec("w", 0, [sys.executable, "-c", {code!r}], Path({cwd!r}), dict(os.environ), 600.0)
HostExecutor("orphan", lock_dir=Path({cwd!r})).execute(spec, Quiet(), Stop())
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="adopting orphans is a Linux service"
)
def test_kill_9_of_the_agent_leaves_no_process_of_the_workload(tmp_path: Path) -> None:
    daemon, main = tmp_path / "daemon", tmp_path / "main"
    code = (
        DAEMON.format(path=str(daemon))
        + f"open({str(main)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    agent = ChildProcess[bytes](
        [
            sys.executable,
            "-c",
            AGENT.format(tests=str(tmp_path), code=code, cwd=str(tmp_path)),
        ]
    )
    wait_until("its number", lambda: main.exists() and main.read_text())
    pids = [int(main.read_text()), int(daemon.read_text())]
    assert all(psutil.pid_exists(pid) for pid in pids)
    agent.kill()
    agent.wait(WITHIN_S)
    wait_until("their ends", lambda: not any(psutil.pid_exists(pid) for pid in pids))


HELPERS = """
import os, time
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        time.sleep(600)
    os.write(1, b"%d " % pid)
os.write(1, b"%d\\n" % os.getpid())
time.sleep(600)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="adopting orphans is a Linux service"
)
def test_when_the_agent_is_gone_no_helper_survives_however_often_it_is_tried(
    tmp_path: Path,
) -> None:
    """Leaving the context closes the control socket, as the end of the agent does."""
    survivors: list[int] = []
    for _ in range(30):
        argv = [sys.executable, "-I", "-S", "-c", HELPERS]
        with GuardedProcess(argv, tmp_path, dict(os.environ)) as process:
            assert process.stdout is not None
            output = b""
            while not output.endswith(b"\n"):
                output += os.read(process.stdout.fileno(), 4096)
        survivors += [pid for pid in map(int, output.split()) if psutil.pid_exists(pid)]
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert not survivors


@pytest.mark.parametrize("kind", ["host", "android"])
def test_a_program_sees_the_padding_of_its_launch_unless_its_suite_sets_it(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    session = host(tmp_path) if kind == "host" else request.getfixturevalue("on_phone")
    code = ["sh", "-c", 'echo "${#PACELINE_LAYOUT}" >&2']
    for declared in ({}, {"PACELINE_LAYOUT": "same"}):
        for size in (0, 16, 4080):
            sink = Recorder()
            environment = session.environment(declared)
            where = PurePosixPath("/")
            launch = LaunchSpec("w", 0, code, where, environment, 60.0, None, size)
            session.execute(launch, sink, Stop())
            assert sink.errors == [str(len("same") if declared else size)]


def test_the_workload_sees_no_secret_of_the_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from paceline.executors.process import inherited_environment  # noqa: PLC0415

    monkeypatch.setenv("PACELINE_TOKEN", "secret")
    environment = inherited_environment({"EXTRA": "1"})
    assert "PACELINE_TOKEN" not in environment
    assert environment["EXTRA"] == "1"
    assert "PATH" in environment


def test_events_arrive_while_the_workload_still_runs(tmp_path: Path) -> None:
    go = tmp_path / "go"

    class Releasing(Recorder):
        def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
            super().event(event, case)
            if isinstance(event, SamplesEvent):
                go.touch()

    code = (
        f"import os, time\nos.write(1, {lines(START, CASE, SAMPLE)!r})\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\nos.write(1, {lines(DONE)!r})\n"
    )
    sink = Releasing()
    assert host(tmp_path).execute(spec(tmp_path, code), sink, Stop()).ok
    assert isinstance(sink.events[-1][0], DoneEvent)


def test_the_workload_gets_exactly_its_argv_and_directory(tmp_path: Path) -> None:
    note = tmp_path / "seen"
    code = f"import json, os, sys; json.dump([sys.argv, os.getcwd()], open({str(note)!r}, 'w'))"
    odd = ["a b", "$HOME", "; rm -rf x", "--", "", "ü"]
    argv = [sys.executable, "-c", code, *odd]
    launch = LaunchSpec("w", 0, argv, tmp_path, dict(os.environ), WITHIN_S)
    host(tmp_path).execute(launch, Recorder(), Stop())
    assert json.loads(note.read_text()) == [["-c", *odd], str(tmp_path)]


def test_a_crash_shows_the_first_error_of_both_outputs(tmp_path: Path) -> None:
    """A JVM writes the reason of its crash to standard output, between the events or instead of them."""
    crash = b"#\n# A fatal error has been detected\n#\n#  SIGSEGV (0xb) at pc=0x1, pid=1, tid=2\n"
    code = (
        f"import os, signal\nos.write(1, {lines(START) + crash!r})\nos.write(2, b'shutting down\\n')\n"
        "os.kill(os.getpid(), signal.SIGABRT)\n"
    )
    outcome = host(tmp_path).execute(spec(tmp_path, code), Recorder(), Stop())
    assert outcome.cause == "workload_crashed"
    assert "SIGABRT (it gave up by itself" in outcome.detail
    assert "  > #  SIGSEGV (0xb) at pc=0x1" in outcome.detail
    assert "shutting down" not in outcome.detail


def test_a_detail_keeps_its_excerpt_and_advice_when_its_sentence_is_too_long() -> None:
    text = detail("x" * 10_000, "Do this.", first_error("a.c:1:1: error: bad\n"))
    assert len(text) <= MAX_DETAIL
    assert text.endswith("\n  > a.c:1:1: error: bad\nDo this.")
