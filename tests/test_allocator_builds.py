"""What is special to the allocator suite's builds for devices: a program per arm, each with its own malloc.

Place: beside `test_device_builds.py`, which looks at the programs of every suite and launches them.
Invariant: whose malloc a program has is asked of the program itself, not of what it was built from.
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from device_programs import (
    OWN,
    Abi,
    Workload,
    events,
    for_every_abi,
    parts,
    program,
    under_qemu,
)
from paceline_contract.events import CaseEvent, DoneEvent, SamplesEvent

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles for two ABIs, on a busy host too."""
ALLOCATORS = Workload("allocator", "allocators")
LINKED = {"bound", "mimalloc", "mimalloc2", "paceline", "rpmalloc", "snmalloc"}


def greeting(abi: Abi, path: Path) -> str:
    """What a subject says first: the provider of its malloc."""
    command = [str(path), "random_mixed", "--slots", "64"]
    if platform.machine() != abi.processor:
        command = [*under_qemu(abi), *command]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout


@for_every_abi(ALLOCATORS)
def test_every_arm_that_can_be_linked_has_a_program_whose_malloc_is_its_own(
    abi: Abi,
) -> None:
    folder = program(ALLOCATORS, abi).parent
    linked = {
        path.name.removeprefix("subject-"): path
        for path in parts(ALLOCATORS, abi)
        if "-" in path.name
    }
    found = {
        name: path for name, path in linked.items() if path.parent == folder / "direct"
    }
    assert set(found) == LINKED
    assert {greeting(abi, path) for path in found.values()} == {"ready subject\n"}
    assert greeting(abi, folder / "subject") == "ready libc.a\n", (
        "the system's is musl's, and says so"
    )
    assert "musl" in (folder / "lib" / "system.version").read_text()


@for_every_abi(ALLOCATORS)
def test_what_cannot_be_linked_says_why_and_every_trace_is_sent(abi: Abi) -> None:
    folder = program(ALLOCATORS, abi).parent
    benchmark = ALLOCATORS.manifest.benchmarks["replay"]
    why = {path.stem for path in (folder / "lib").glob("*.why")}
    assert why | LINKED | {"system", "paceline_hardened"} == set(benchmark.arms)
    assert not why & LINKED
    sent = {path.stem for path in (folder / "traces").iterdir()}
    assert sent == set(benchmark.params["trace"].values)


def test_where_arms_would_be_preloaded_none_is_there_and_each_says_so() -> None:
    asked = ["--params", "working_set=64", "--params", "mode=compat", "--rounds", "1"]
    path = program(ALLOCATORS, OWN)
    launch = events(
        OWN, path, "--benchmark", "random_mixed", "--params", "setup=preload", *asked
    )
    cases = [event for event in launch if isinstance(event, CaseEvent)]
    assert {case.arm for case in cases} == set(
        ALLOCATORS.manifest.benchmarks["random_mixed"].arms
    )
    assert all(
        case.unavailable and "static program" in case.unavailable for case in cases
    )
    assert not [event for event in launch if isinstance(event, SamplesEvent)]
    assert isinstance(launch[-1], DoneEvent)
