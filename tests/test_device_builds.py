"""What the hashing suite builds for Android devices: static programs, for any kernel of their ABI.

Place: before a device is there. Invariants: built by the manifest's own steps; what is not this machine's own
runs under qemu, for correctness and never for speed; what cannot be run is read from the file. Cargo keeps
what is built in its target directory, so that only a change of sources costs a build.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from paceline.destination import Destination, build_for
from paceline.events import Case, Check, Done, Event, Samples
from paceline.manifest import load
from paceline.protocol import StreamReader

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles for two ABIs, on a busy host too."""
ROOT = Path(__file__).resolve().parents[1]
MANIFEST = load(ROOT / "native" / "hashing" / "suite.toml")

SEGMENT_ALIGNMENT = 65_536
"""Bytes: the largest page of an AArch64 kernel; Android has kernels of 4 KiB and of 16 KiB pages."""


class Abi(NamedTuple):
    """An ABI: what the ELF header calls its machine, how programs of it are read and run here."""

    name: str
    machine: int
    processor: str
    objdump: str
    sha_instructions: str


ARM64 = Abi(
    "arm64-v8a", 183, "aarch64", "aarch64-linux-gnu-objdump",
    "sha1c sha1p sha1m sha1h sha1su0 sha1su1 sha256h sha256h2 sha256su0 sha256su1",
)  # fmt: skip
X86_64 = Abi(
    "x86_64", 62, "x86_64", "x86_64-linux-gnu-objdump",
    "sha1rnds4 sha1nexte sha1msg1 sha1msg2 sha256rnds2 sha256msg1 sha256msg2",
)  # fmt: skip
ABIS = pytest.mark.parametrize("abi", [ARM64, X86_64], ids=lambda abi: abi.name)


@pytest.fixture(scope="session")
def programs(request: pytest.FixtureRequest) -> dict[str, Path]:
    """ABI → the program of the workload `engines`, built as an agent would."""
    (engines,) = [item for item in MANIFEST.workloads if item.name == "engines"]
    found = {}
    for abi in (ARM64.name, X86_64.name):
        build = build_for(engines, Destination("device", (abi,)))
        for argv in build.build:
            subprocess.run(argv, cwd=ROOT / "native" / "hashing", check=True, stdin=subprocess.DEVNULL)
        (artifact,) = build.artifacts
        assert build.run == [f"{{artifacts}}/{Path(artifact).name}"]
        found[abi] = ROOT / "native" / "hashing" / artifact
    return found


def run(abi: Abi, program: Path, *arguments: str, cpu: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it: as it is on a machine of its own kind, else (or to have a certain CPU) under qemu."""
    command = [str(program), *arguments]
    if cpu is not None or platform.machine() != abi.processor:
        qemu = shutil.which(f"qemu-{abi.processor}-static") or shutil.which(f"qemu-{abi.processor}")
        if qemu is None:
            pytest.skip(f"this machine has no qemu for a CPU of kind {abi.processor} (qemu-user-static)")
        command = [qemu, *(["-cpu", cpu] if cpu else []), *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def events(abi: Abi, program: Path, *arguments: str) -> list[Event]:
    done = run(abi, program, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout[-500:]
    reader = StreamReader()
    return [*reader.feed(done.stdout.encode()), *reader.close()]


def self_test(abi: Abi, program: Path, cpu: str | None = None) -> dict[str, Any]:
    done = run(abi, program, "--self-test", cpu=cpu)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


class Segment(NamedTuple):
    kind: int
    flags: int
    offset: int
    address: int
    alignment: int


LOAD, DYNAMIC, INTERPRETER, STACK = 1, 2, 3, 0x6474E551
EXECUTABLE, WRITABLE = 1, 2


def segments(data: bytes) -> list[Segment]:
    """The program headers of a 64-bit little-endian ELF file (System V ABI, "Program Header")."""
    assert data[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    heads = [struct.unpack_from("<IIQQQQQQ", data, start + size * each) for each in range(count)]
    return [Segment(kind, flags, offset, at, aligned) for kind, flags, offset, at, _, _, _, aligned in heads]


LINGERING_CARGO = """#!/bin/sh
sleep 300 >/dev/null 2>&1 </dev/null &
echo $! >"$CARGO_TARGET_DIR/daemon"
mkdir -p "$CARGO_TARGET_DIR/x86_64-unknown-linux-musl/release"
: >"$CARGO_TARGET_DIR/x86_64-unknown-linux-musl/release/paceline-hashing-engines"
"""


@pytest.mark.skipif(shutil.which("flock") is None, reason="flock is a Linux service")
def test_a_daemon_that_a_build_started_does_not_hold_the_next_one_up(tmp_path: Path) -> None:
    target, tools, hashing = (tmp_path / name for name in ("target", "tools", "hashing"))
    for folder in (target, tools, hashing):
        folder.mkdir()
    shutil.copy(ROOT / "native" / "hashing" / "android.sh", hashing)
    (tools / "cargo").write_text(LINGERING_CARGO)
    (tools / "cargo").chmod(0o755)
    own = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "CARGO_TARGET_DIR": str(target)}
    argv = ["sh", str(hashing / "android.sh"), "engines", "x86_64"]
    subprocess.run(argv, env=os.environ | own, check=True, stdin=subprocess.DEVNULL, timeout=60)
    try:
        lock = str(hashing / "build" / ".lock")
        free = subprocess.run(["flock", "--nonblock", lock, "true"], check=False, timeout=60)
        assert free.returncode == 0, "the lock is free as soon as the build has ended"
    finally:
        os.kill(int((target / "daemon").read_text()), signal.SIGKILL)


@ABIS
def test_a_program_for_a_device_needs_nothing_but_the_kernel(programs: dict[str, Path], abi: Abi) -> None:
    data = programs[abi.name].read_bytes()
    assert struct.unpack_from("<H", data, 18) == (abi.machine,)
    found = segments(data)
    kinds = {segment.kind for segment in found}
    assert INTERPRETER not in kinds, "a musl loader is on no device"
    assert DYNAMIC not in kinds, "no library, and nothing to relocate"
    assert not [each for each in found if each.flags & WRITABLE and each.flags & EXECUTABLE]
    assert [each.flags & EXECUTABLE for each in found if each.kind == STACK] == [0]


@ABIS
def test_segments_fit_kernels_of_every_page_size(programs: dict[str, Path], abi: Abi) -> None:
    loads = [each for each in segments(programs[abi.name].read_bytes()) if each.kind == LOAD]
    assert loads
    for each in loads:
        assert each.alignment >= SEGMENT_ALIGNMENT
        assert (each.address - each.offset) % SEGMENT_ALIGNMENT == 0
    pages = [(each.address // SEGMENT_ALIGNMENT, each.flags) for each in loads]
    assert len({page for page, _ in pages}) == len(pages), "no page of 64 KiB begins two segments"


@ABIS
def test_a_program_for_a_device_names_no_folder_of_this_machine(programs: dict[str, Path], abi: Abi) -> None:
    assert str(ROOT).encode() not in programs[abi.name].read_bytes(), "equal sources, equal artifacts (I15)"


@ABIS
def test_hardware_sha_is_in_the_program(programs: dict[str, Path], abi: Abi) -> None:
    own = "objdump" if platform.machine() == abi.processor else None
    tool = shutil.which(abi.objdump) or (own and shutil.which(own))
    if tool is None:
        pytest.skip(f"this machine has no disassembler for a CPU of kind {abi.processor} ({abi.objdump})")
    listing = subprocess.run(
        [tool, "--disassemble", "--no-show-raw-insn", str(programs[abi.name])],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    count = Counter(re.findall(r"^\s*[0-9a-f]+:\s+(sha\w+)", listing, re.MULTILINE))
    missing = [name for name in abi.sha_instructions.split() if not count[name]]
    assert not missing, f"found {dict(count)}"


def digest_of_digests(name: str) -> str:
    """What `engines/src/self_test.rs` says it computes, by another implementation."""
    data = bytes(place % 251 for place in range(2**20))
    pieces = [data[start : start + 2**16] for start in range(0, 2**20, 2**16)]
    return hashlib.new(name, b"".join(hashlib.new(name, piece).digest() for piece in pieces)).hexdigest()


@ABIS
def test_the_self_test_arrives_at_known_digests(programs: dict[str, Path], abi: Abi) -> None:
    answer = self_test(abi, programs[abi.name])
    assert (answer["self_test"], answer["ok"], answer["wrong"]) == (1, True, [])
    assert answer["arch"] == abi.processor
    assert answer["sha256"] == digest_of_digests("sha256")
    assert answer["sha1"] == digest_of_digests("sha1")


@ABIS
def test_a_calibration_is_one_line_with_a_time(programs: dict[str, Path], abi: Abi) -> None:
    (engines,) = [item for item in MANIFEST.workloads if item.name == "engines"]
    program, *options = build_for(engines, Destination("device", (abi.name,))).calibrate
    assert program == f"{{artifacts}}/{programs[abi.name].name}", "an agent finds it beside what it launches"
    done = run(abi, programs[abi.name], *options)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    assert list(answer) == ["calibration_ns"]
    assert isinstance(answer["calibration_ns"], int)
    assert answer["calibration_ns"] > 1000, "64 KiB take longer than a microsecond"


@pytest.mark.parametrize(
    ("abi", "cpu", "hardware", "engines"),
    [
        (ARM64, "cortex-a53", True, ["scalar", "armv8_ce"]),
        (X86_64, "qemu64", False, ["scalar"]),
    ],
    ids=["cortex-a53 has it", "qemu64 has not"],
)
def test_hardware_sha_is_used_only_on_a_cpu_that_has_it(
    programs: dict[str, Path], abi: Abi, cpu: str, hardware: bool, engines: list[str]
) -> None:
    answer = self_test(abi, programs[abi.name], cpu)
    assert answer["ok"], "without the instructions the digests are right, too"
    assert (answer["hardware_sha"], answer["engines"]) == (hardware, engines)


@ABIS
def test_a_launch_passes_its_checks_and_measures_what_the_manifest_declares(
    programs: dict[str, Path], abi: Abi
) -> None:
    program = programs[abi.name]
    listed = json.loads(run(abi, program, "--list").stdout)["cases"]
    own = {name for name, item in MANIFEST.benchmarks.items() if item.workload == "engines"}
    assert {case["benchmark"] for case in listed} == own
    params = ["--params", "batch=100", "--params", "message=150"]
    launch = events(
        abi, program, "--benchmark", "sha256_batch", *params, "--rounds", "2", "--min-time-ns", "1000"
    )
    assert isinstance(launch[-1], Done)
    checks = {event.name: event.ok for event in launch if isinstance(event, Check)}
    assert all(checks.values()), checks
    (away,) = [event.unavailable for event in launch if isinstance(event, Case) and event.arm == "openssl"]
    assert away is not None
    assert "static" in away, "what is not there says why"
    (declared,) = [item["checks"] for item in MANIFEST.raw["workloads"] if item["name"] == "engines"]
    assert set(declared) <= set(checks)
    measured = {event.case for event in launch if isinstance(event, Samples) and event.phase == "measure"}
    arms = {event.arm for event in launch if isinstance(event, Case) and event.case in measured}
    assert {"scalar", "best"} <= arms
