"""Tests of describing how a process ended, and of attributing it to lack of memory."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paceline.executors.process import GuardedProcess, inherited_environment
from paceline.exit_descriptions import (
    MemoryKills,
    count_memory_kills,
    describe_signal,
    describe_status,
    memory_sentence,
)

VERSION_2 = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 3\noom_group_kill 0\n"


def test_a_signal_is_said_by_name_and_in_words() -> None:
    assert (
        describe_signal(signal.SIGSEGV)
        == "SIGSEGV (it accessed memory that is not its own)"
    )
    assert describe_signal(199) == "signal 199"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (1, "exited with status 1"),
        (127, "exited with status 127 (a command was not found)"),
        (126, "exited with status 126 (a command was found but may not be executed)"),
        (
            139,
            "exited with status 139 (what it ran was killed by SIGSEGV "
            "(it accessed memory that is not its own))",
        ),
        (255, "exited with status 255"),
    ],
)
def test_a_status_that_a_shell_gives_a_meaning_is_said_with_it(
    status: int, words: str
) -> None:
    assert describe_status(status) == words


def kernel(root: Path, cgroups: str, files: dict[str, str], system: int) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroups)
    (root / "proc/vmstat").write_text(
        f"nr_free_pages 1\noom_kill {system}\nswap_ra 0\n"
    )
    for name, text in files.items():
        (root / "sys/fs/cgroup" / name).mkdir(parents=True)
        file = (
            "memory.events" if "oom_kill_disable" not in text else "memory.oom_control"
        )
        (root / "sys/fs/cgroup" / name / file).write_text(text)
    return root


def test_both_versions_of_cgroups_are_read(tmp_path: Path) -> None:
    second = kernel(
        tmp_path / "2",
        "0::/user.slice/agent.service\n",
        {"user.slice/agent.service": VERSION_2},
        7,
    )
    assert count_memory_kills(second) == MemoryKills(3, 7)
    first = kernel(
        tmp_path / "1",
        "8:pids:/\n4:cpu,memory:/agent\n0::/\n",
        {"memory/agent": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
        2,
    )
    assert count_memory_kills(first) == MemoryKills(2, 2)
    assert count_memory_kills(tmp_path / "nothing") == MemoryKills(None, None)


def test_lack_of_memory_is_said_only_when_the_kernel_counted_a_kill_meanwhile() -> None:
    assert memory_sentence(MemoryKills(3, 7), MemoryKills(3, 7)) is None
    assert memory_sentence(MemoryKills(None, None), MemoryKills(None, None)) is None
    limit = memory_sentence(MemoryKills(3, 7), MemoryKills(4, 8))
    assert limit is not None
    assert "limit of the agent's cgroup" in limit
    host = memory_sentence(MemoryKills(3, 7), MemoryKills(3, 8))
    assert host is not None
    assert "kernel killed a process for lack of memory" in host


@pytest.fixture
def tight_cgroup() -> Iterator[Path]:
    """A memory cgroup of 24 MB. Version 1 or 2, wherever this machine lets us make one."""
    for base, limit in (("memory", "memory.limit_in_bytes"), (".", "memory.max")):
        group = Path("/sys/fs/cgroup", base, f"paceline-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(24 << 20))
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("needs a memory cgroup this user may make")


def test_a_real_kill_for_lack_of_memory_is_said(
    tight_cgroup: Path, tmp_path: Path
) -> None:
    code = "x = bytearray(200 << 20); print(len(x))"
    enter = f"echo $$ >{tight_cgroup}/cgroup.procs && exec {sys.executable} -c '{code}'"
    with GuardedProcess(
        ["sh", "-c", enter], tmp_path, inherited_environment()
    ) as process:
        end = None
        while end is None:
            end = process.poll(1.0)
    assert end.signal_number == signal.SIGKILL
    assert end.memory is not None
    assert "lack of memory" in end.memory


def test_a_process_that_was_killed_otherwise_is_not_said_to_have_lacked_memory(
    tmp_path: Path,
) -> None:
    argv = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    with GuardedProcess(argv, tmp_path, inherited_environment()) as process:
        end = None
        while end is None:
            end = process.poll(1.0)
    assert end.signal_number == 9
    assert end.memory is None
    assert end.memory_is_watched == (count_memory_kills() != MemoryKills(None, None))
