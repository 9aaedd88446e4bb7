"""Tests the allocator suite's builds for devices: one program per arm, each with its own malloc.

Each program is asked which malloc it has. `test_device_builds.py` tests what all suites share.
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from device_programs import (
    FOR_EVERY_ABI,
    OWN,
    Abi,
    Workload,
    events,
    parts,
    program,
    under_qemu,
)
from paceline_contract.events import CaseEvent, DoneEvent, SamplesEvent

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles the programs, on a busy host too."""
ALLOCATORS = Workload("allocator", "allocators")
LINKED = {"bound", "mimalloc", "mimalloc2", "paceline", "rpmalloc", "snmalloc"}


def greeting(abi: Abi, path: Path) -> str:
    """The first line of a subject names the provider of its malloc."""
    command = [str(path), "random_mixed", "--slots", "64"]
    if platform.machine() != abi.processor:
        command = [*under_qemu(abi), *command]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout


@FOR_EVERY_ABI
def test_every_arm_that_can_be_linked_has_a_program_whose_malloc_is_its_own(
    abi: Abi,
) -> None:
    folder = program(ALLOCATORS, abi).parent
    linked = {
        path.name.removeprefix("subject-"): path
        for path in parts(ALLOCATORS, abi)
        if "-" in path.name
    }
    programs = {
        name: path for name, path in linked.items() if path.parent == folder / "direct"
    }
    assert set(programs) == LINKED
    assert {greeting(abi, path) for path in programs.values()} == {"ready subject\n"}
    assert greeting(abi, folder / "subject") == "ready libc.a\n", (
        "the system's is musl's, and says so"
    )
    assert "musl" in (folder / "lib" / "system.version").read_text()


@FOR_EVERY_ABI
def test_an_arm_that_cannot_be_linked_gives_its_reason_and_every_trace_is_sent(
    abi: Abi,
) -> None:
    folder = program(ALLOCATORS, abi).parent
    benchmark = ALLOCATORS.manifest.benchmarks["replay"]
    why = {path.stem for path in (folder / "lib").glob("*.why")}
    assert why | LINKED | {"system", "paceline_hardened"} == set(benchmark.arms)
    assert not why & LINKED
    sent = {path.stem for path in (folder / "traces").iterdir()}
    assert sent == set(benchmark.params["trace"].values)


def test_arms_that_need_preloading_are_unavailable_with_a_reason() -> None:
    options = ["--params", "working_set=64", "--params", "mode=compat", "--rounds", "1"]
    path = program(ALLOCATORS, OWN)
    launch = events(
        OWN, path, "--benchmark", "random_mixed", "--params", "setup=preload", *options
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
