"""Tests the hashing suite's builds for devices: the CPU's SHA instructions, and the self-test.

Instructions are counted in the file, and must be used only on a CPU that has them. `test_device_builds.py` tests what
all suites share.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
from collections import Counter
from typing import Any

import pytest
from device_programs import (
    ABIS,
    ARM64,
    FOR_EVERY_ABI,
    X86_64,
    Abi,
    Workload,
    program,
    run,
)
from paceline_contract.testing.waiting import WITHIN_S

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles the program, on a busy host too."""
ENGINES = Workload("hashing", "engines")


def self_test(abi: Abi, cpu: str | None = None) -> dict[str, Any]:
    done = run(abi, program(ENGINES, abi), "--self-test", cpu=cpu)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


@FOR_EVERY_ABI
def test_hardware_sha_is_in_the_program(abi: Abi) -> None:
    own = "objdump" if platform.machine() == abi.processor else None
    tool = shutil.which(abi.objdump) or (own and shutil.which(own))
    if tool is None:
        pytest.skip(
            f"this machine has no disassembler for a CPU of kind {abi.processor} ({abi.objdump})"
        )
    listing = subprocess.run(
        [tool, "--disassemble", "--no-show-raw-insn", str(program(ENGINES, abi))],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    ).stdout
    count = Counter(re.findall(r"^\s*[0-9a-f]+:\s+(sha\w+)", listing, re.MULTILINE))
    missing = [name for name in abi.sha_instructions.split() if not count[name]]
    assert not missing, f"found {dict(count)}"


def digest_of_digests(name: str) -> str:
    """The digest that `engines/src/self_test.rs` documents, by another implementation."""
    data = bytes(place % 251 for place in range(2**20))
    pieces = [data[start : start + 2**16] for start in range(0, 2**20, 2**16)]
    return hashlib.new(
        name, b"".join(hashlib.new(name, piece).digest() for piece in pieces)
    ).hexdigest()


@FOR_EVERY_ABI
def test_the_self_test_computes_known_digests(abi: Abi) -> None:
    answer = self_test(abi)
    assert (answer["self_test"], answer["ok"], answer["wrong"]) == (1, True, [])
    assert answer["arch"] == abi.processor
    assert answer["sha256"] == digest_of_digests("sha256")
    assert answer["sha1"] == digest_of_digests("sha1")


CPUS = [
    pytest.param(
        ARM64, "cortex-a53", True, ["scalar", "armv8_ce"], id="cortex-a53 has it"
    ),
    pytest.param(X86_64, "qemu64", False, ["scalar"], id="qemu64 has not"),
]


@pytest.mark.parametrize(
    ("abi", "cpu", "hardware", "engines"),
    [cpu for cpu in CPUS if cpu.values[0] in ABIS],
)
def test_hardware_sha_is_used_only_on_a_cpu_that_has_it(
    abi: Abi, cpu: str, hardware: bool, engines: list[str]
) -> None:
    answer = self_test(abi, cpu)
    assert answer["ok"], "without the instructions the digests are right, too"
    assert (answer["hardware_sha"], answer["engines"]) == (hardware, engines)
