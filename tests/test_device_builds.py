"""What the hashing suite builds for Android devices: static programs, for any kernel of their ABI.

Place: before a device is there. Invariants: built by the manifest's own steps; what is not this machine's own
runs under qemu, for correctness and never for speed; what cannot be run is read from the file. Cargo keeps
what is built in its target directory, so that only a change of sources costs a build.
"""

from __future__ import annotations

import functools
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
from paceline.git import SourceError
from paceline.manifest import load
from paceline.protocol import StreamReader
from paceline.source import prepare_in_place
from paceline.stop import Stop

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles for two ABIs, on a busy host too."""
ROOT = Path(__file__).resolve().parents[1]
HASHING = ROOT / "native" / "hashing"
MANIFEST = load(HASHING / "suite.toml")

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


WORKLOADS = pytest.mark.parametrize("workload", ["engines", "piece"])


@functools.cache
def program(workload: str, abi: Abi) -> Path:
    """The program of a workload, built as an agent would."""
    (declared,) = [item for item in MANIFEST.workloads if item.name == workload]
    build = build_for(declared, Destination("device", (abi.name,)))
    for argv in build.build:
        subprocess.run(argv, cwd=HASHING, check=True, stdin=subprocess.DEVNULL)
    (found,) = [item for item in build.artifacts if build.run == [f"{{artifacts}}/{Path(item).name}"]]
    return HASHING / found


def run(abi: Abi, path: Path, *arguments: str, cpu: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it: as it is on a machine of its own kind, else (or to have a certain CPU) under qemu."""
    command = [str(path), *arguments]
    if cpu is not None or platform.machine() != abi.processor:
        qemu = shutil.which(f"qemu-{abi.processor}-static") or shutil.which(f"qemu-{abi.processor}")
        if qemu is None:
            pytest.skip(f"this machine has no qemu for a CPU of kind {abi.processor} (qemu-user-static)")
        command = [qemu, *(["-cpu", cpu] if cpu else []), *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def events(abi: Abi, path: Path, *arguments: str) -> list[Event]:
    done = run(abi, path, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout[-500:]
    reader = StreamReader()
    return [*reader.feed(done.stdout.encode()), *reader.close()]


def self_test(abi: Abi, cpu: str | None = None) -> dict[str, Any]:
    done = run(abi, program("engines", abi), "--self-test", cpu=cpu)
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
    shutil.copy(HASHING / "android.sh", hashing)
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
@WORKLOADS
def test_a_program_for_a_device_needs_nothing_but_the_kernel(workload: str, abi: Abi) -> None:
    data = program(workload, abi).read_bytes()
    assert struct.unpack_from("<H", data, 18) == (abi.machine,)
    found = segments(data)
    kinds = {segment.kind for segment in found}
    assert INTERPRETER not in kinds, "a musl loader is on no device"
    assert DYNAMIC not in kinds, "no library, and nothing to relocate"
    assert not [each for each in found if each.flags & WRITABLE and each.flags & EXECUTABLE]
    assert [each.flags & EXECUTABLE for each in found if each.kind == STACK] == [0]


@ABIS
@WORKLOADS
def test_segments_fit_kernels_of_every_page_size(workload: str, abi: Abi) -> None:
    loads = [each for each in segments(program(workload, abi).read_bytes()) if each.kind == LOAD]
    assert loads
    for each in loads:
        assert each.alignment >= SEGMENT_ALIGNMENT
        assert (each.address - each.offset) % SEGMENT_ALIGNMENT == 0
    pages = [(each.address // SEGMENT_ALIGNMENT, each.flags) for each in loads]
    assert len({page for page, _ in pages}) == len(pages), "no page of 64 KiB begins two segments"


@ABIS
@WORKLOADS
def test_a_program_for_a_device_names_no_folder_of_this_machine(workload: str, abi: Abi) -> None:
    data = program(workload, abi).read_bytes()
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    found = [folder for folder in (ROOT, cargo) if str(folder).encode() in data]
    assert found == [], "equal sources, equal artifacts (I15)"


@ABIS
def test_hardware_sha_is_in_the_program(abi: Abi) -> None:
    own = "objdump" if platform.machine() == abi.processor else None
    tool = shutil.which(abi.objdump) or (own and shutil.which(own))
    if tool is None:
        pytest.skip(f"this machine has no disassembler for a CPU of kind {abi.processor} ({abi.objdump})")
    listing = subprocess.run(
        [tool, "--disassemble", "--no-show-raw-insn", str(program("engines", abi))],
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
def test_the_self_test_arrives_at_known_digests(abi: Abi) -> None:
    answer = self_test(abi)
    assert (answer["self_test"], answer["ok"], answer["wrong"]) == (1, True, [])
    assert answer["arch"] == abi.processor
    assert answer["sha256"] == digest_of_digests("sha256")
    assert answer["sha1"] == digest_of_digests("sha1")


@ABIS
def test_a_calibration_is_one_line_with_a_time(abi: Abi) -> None:
    (engines,) = [item for item in MANIFEST.workloads if item.name == "engines"]
    first, *options = build_for(engines, Destination("device", (abi.name,))).calibrate
    path = program("engines", abi)
    assert first == f"{{artifacts}}/{path.name}", "an agent finds it beside what it launches"
    done = run(abi, path, *options)
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
    abi: Abi, cpu: str, hardware: bool, engines: list[str]
) -> None:
    answer = self_test(abi, cpu)
    assert answer["ok"], "without the instructions the digests are right, too"
    assert (answer["hardware_sha"], answer["engines"]) == (hardware, engines)


@ABIS
def test_a_launch_passes_its_checks_and_measures_what_the_manifest_declares(abi: Abi) -> None:
    path = program("engines", abi)
    listed = json.loads(run(abi, path, "--list").stdout)["cases"]
    own = {name for name, item in MANIFEST.benchmarks.items() if item.workload == "engines"}
    assert {case["benchmark"] for case in listed} == own
    params = ["--params", "batch=100", "--params", "message=150"]
    launch = events(
        abi, path, "--benchmark", "sha256_batch", *params, "--rounds", "2", "--min-time-ns", "1000"
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


PIECE_ARMS = {name: item.arms for name, item in MANIFEST.benchmarks.items() if item.workload == "piece"}


@ABIS
def test_without_a_jvm_piece_lists_every_case_its_manifest_declares(abi: Abi) -> None:
    listed = json.loads(run(abi, program("piece", abi), "--list").stdout)["cases"]
    found: dict[str, list[str]] = {}
    for case in listed:
        found.setdefault(case["benchmark"], []).append(case["arm"])
    assert found == PIECE_ARMS


@ABIS
@pytest.mark.parametrize(
    ("benchmark", "param", "native"),
    [
        (
            "piece",
            "piece_bytes=65536",
            ["native", "native_multi_8", "native_multi_16", "native_multi", "async_native"],
        ),
        (
            "piece_stream",
            "pieces=3",
            ["native_multi", "native_multi_pool", "async_native", "async_native_pool"],
        ),
        ("piece_unverified", "pieces=2", ["skip_verification"]),
        ("piece_instrumentation", "piece_bytes=1024", []),
    ],
)
def test_piece_measures_what_needs_no_kotlin_and_says_so_of_the_rest(
    abi: Abi, benchmark: str, param: str, native: list[str]
) -> None:
    options = ["--params", param, "--rounds", "2", "--warmup-rounds", "1", "--min-time-ns", "1000"]
    launch = events(abi, program("piece", abi), "--benchmark", benchmark, *options)
    assert isinstance(launch[-1], Done)
    checks = {event.name: event.ok for event in launch if isinstance(event, Check)}
    assert all(checks.values()), [event for event in launch if isinstance(event, Check)]
    (declared,) = [item["checks"] for item in MANIFEST.raw["workloads"] if item["name"] == "piece"]
    assert set(declared) <= set(checks)
    cases = {event.case: event for event in launch if isinstance(event, Case)}
    away = {case.arm for case in cases.values() if case.unavailable and "Kotlin" in case.unavailable}
    assert away == set(PIECE_ARMS[benchmark]) - set(native)
    samples = [event for event in launch if isinstance(event, Samples) and event.phase == "measure"]
    assert {cases[event.case].arm for event in samples} == set(native)
    reference = MANIFEST.benchmarks[benchmark].device_reference
    assert reference is None or reference in native, "what others are judged against is measured"


def without_zig(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the script outside of the clone, and an environment in which nobody finds a zig."""
    (tmp_path / "hashing").mkdir()
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    named = ("zig", "python-zig")
    path = [str(folder) for folder in folders if not any((folder / name).exists() for name in named)]
    own = {"PATH": os.pathsep.join(path), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    return Path(shutil.copy(HASHING / "android.sh", tmp_path / "hashing")), os.environ | own


def test_without_zig_the_build_says_in_one_sentence_how_to_get_it(tmp_path: Path) -> None:
    script, environment = without_zig(tmp_path)
    argv = ["sh", str(script), "piece", "x86_64"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    (pinned,) = re.findall(
        r"^ziglang==\S+", (ROOT / "scripts" / "pins" / "zig.txt").read_text(), re.MULTILINE
    )
    assert "scripts/setup devices" in line
    assert pinned in line, "the version that set-up installs"


def test_an_agent_on_a_host_without_zig_says_at_once_what_is_missing_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make run` installs none; a phone may be plugged in later."""
    _, environment = without_zig(tmp_path)
    monkeypatch.setenv("PATH", environment["PATH"])
    suite = tmp_path / "hashing"
    for name in ("suite.toml", "build.sh"):
        shutil.copy(HASHING / name, suite)
    steps: list[str] = []
    with pytest.raises(SourceError) as caught:
        prepare_in_place(
            MANIFEST,
            suite / "suite.toml",
            revision="as it stands",
            workloads=["piece"],
            out=tmp_path / "out",
            log=steps.extend,
            stop=Stop(),
            destination=Destination("device", ("x86_64",)),
        )
    assert caught.value.cause == "build_failed"
    assert caught.value.text.startswith("This host lacks what the suite builds with: `zig version` could not")
    assert "run 'scripts/setup devices' at the root" in caught.value.advice
    assert len([line for line in steps if line.startswith("$ ")]) == 1, "nothing else is compiled before"


def test_zig_keeps_its_caches_in_the_build_and_not_in_the_home(tmp_path: Path) -> None:
    script, environment = without_zig(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    out = tmp_path / "target" / "x86_64-unknown-linux-musl" / "release"
    out.mkdir(parents=True)
    (out / "paceline-hashing-piece").touch()
    for name, body in (("zig", "exit 0"), ("cargo", f"env >'{tmp_path}/told'")):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    argv = ["sh", str(script), "piece", "x86_64"]
    subprocess.run(argv, env=environment, check=True, stdin=subprocess.DEVNULL, timeout=60)
    told = dict(line.partition("=")[::2] for line in (tmp_path / "told").read_text().splitlines())
    for cache in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        assert Path(told[cache]).is_relative_to(tmp_path / "target")
    assert told["CC_x86_64_unknown_linux_musl"] == "zig cc -target x86_64-linux-musl"
