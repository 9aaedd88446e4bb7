"""Tests the programs that suites build for Android devices: static, and for any kernel of their ABI.

Every workload with builds for devices is covered; programs that cannot run here are checked as files.
`test_hashing_builds.py` has what is special to hashing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from device_programs import (
    ABIS,
    FOR_EVERY_PROGRAM,
    NATIVE,
    ROOT,
    WORKLOADS,
    Abi,
    Workload,
    calibrator,
    events,
    manifests,
    parts,
    program,
    run,
    startable,
)
from paceline.destination import Destination
from paceline.git import SourceError
from paceline.source import prepare_in_place
from paceline.stop import Stop
from paceline_contract.events import CaseEvent, CheckEvent, DoneEvent, SamplesEvent
from paceline_contract.testing.waiting import WITHIN_S

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles the programs, on a busy host too."""
HASHING = NATIVE / "hashing"

SEGMENT_ALIGNMENT = 65_536
"""Bytes: the largest page of an AArch64 kernel; Android has kernels of 4 KiB and of 16 KiB pages."""


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
    heads = [
        struct.unpack_from("<IIQQQQQQ", data, start + size * each)
        for each in range(count)
    ]
    return [
        Segment(kind, flags, offset, at, aligned)
        for kind, flags, offset, at, _, _, _, aligned in heads
    ]


LINGERING_CARGO = """#!/bin/sh
sleep 300 >/dev/null 2>&1 </dev/null &
echo $! >"$CARGO_TARGET_DIR/daemon"
mkdir -p "$CARGO_TARGET_DIR/x86_64-unknown-linux-musl/release"
: >"$CARGO_TARGET_DIR/x86_64-unknown-linux-musl/release/paceline-hashing-engines"
"""


@pytest.mark.skipif(shutil.which("flock") is None, reason="flock is a Linux service")
def test_a_daemon_left_by_a_build_does_not_delay_the_next_build(
    tmp_path: Path,
) -> None:
    target, tools, hashing = (
        tmp_path / name for name in ("target", "tools", "hashing")
    )
    for folder in (target, tools, hashing):
        folder.mkdir()
    for shared in ("android.sh", "crates.sh"):
        shutil.copy(NATIVE / shared, tmp_path)
    shutil.copy(HASHING / "android.sh", hashing)
    (tools / "cargo").write_text(LINGERING_CARGO)
    (tools / "cargo").chmod(0o755)
    own = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(target),
    }
    argv = ["sh", str(hashing / "android.sh"), "engines", "x86_64"]
    subprocess.run(
        argv,
        env=os.environ | own,
        check=True,
        stdin=subprocess.DEVNULL,
        timeout=WITHIN_S,
    )
    try:
        lock = str(hashing / "build" / ".lock")
        free = subprocess.run(
            ["flock", "--nonblock", lock, "true"], check=False, timeout=WITHIN_S
        )
        assert free.returncode == 0, "the lock is free as soon as the build has ended"
    finally:
        os.kill(int((target / "daemon").read_text()), signal.SIGKILL)


@FOR_EVERY_PROGRAM
def test_a_program_for_a_device_needs_nothing_but_the_kernel(
    workload: Workload, abi: Abi
) -> None:
    for path in parts(workload, abi):
        data = path.read_bytes()
        assert struct.unpack_from("<H", data, 18) == (abi.machine,)
        loaded = segments(data)
        kinds = {segment.kind for segment in loaded}
        assert INTERPRETER not in kinds, "a musl loader is on no device"
        assert DYNAMIC not in kinds, "no library, and nothing to relocate"
        assert not [
            each for each in loaded if each.flags & WRITABLE and each.flags & EXECUTABLE
        ]
        assert [each.flags & EXECUTABLE for each in loaded if each.kind == STACK] == [0]


@FOR_EVERY_PROGRAM
def test_segments_fit_kernels_of_every_page_size(workload: Workload, abi: Abi) -> None:
    for path in parts(workload, abi):
        loads = [
            segment for segment in segments(path.read_bytes()) if segment.kind == LOAD
        ]
        assert loads
        for load in loads:
            assert load.alignment >= SEGMENT_ALIGNMENT
            assert (load.address - load.offset) % SEGMENT_ALIGNMENT == 0
        pages = [(load.address // SEGMENT_ALIGNMENT, load.flags) for load in loads]
        assert len({page for page, _ in pages}) == len(pages), (
            "no page of 64 KiB begins two segments"
        )


@FOR_EVERY_PROGRAM
def test_a_program_for_a_device_names_no_folder_of_this_machine(
    workload: Workload, abi: Abi
) -> None:
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    for path in parts(workload, abi):
        data = path.read_bytes()
        folders = [folder for folder in (ROOT, cargo) if str(folder).encode() in data]
        assert folders == [], "equal sources, equal artifacts (I15)"


@FOR_EVERY_PROGRAM
def test_a_calibration_is_one_line_with_a_time(workload: Workload, abi: Abi) -> None:
    """An agent finds this program beside the workload."""
    path, *options = calibrator(workload, abi)
    done = run(abi, Path(path), *options)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    assert list(answer) == ["calibration_ns"]
    assert isinstance(answer["calibration_ns"], int)
    assert answer["calibration_ns"] > 1000, "64 KiB take longer than a microsecond"


@FOR_EVERY_PROGRAM
def test_a_program_for_a_device_lists_every_case_its_manifest_declares(
    workload: Workload, abi: Abi
) -> None:
    listed = json.loads(run(abi, program(workload, abi), "--list").stdout)["cases"]
    found: dict[str, list[str]] = {}
    for case in listed:
        arms = found.setdefault(case["benchmark"], [])
        arms += [] if case["arm"] in arms else [case["arm"]]
    own = workload.manifest.benchmarks.items()
    assert found == {
        name: item.arms for name, item in own if item.workload == workload.name
    }


class Launch(NamedTuple):
    """A small launch. `away`: the arms a static program has not, and a word of the reason each gives."""

    suite: str
    workload: str
    benchmark: str
    params: str
    away: str = ""
    reason: str = "static"

    def __str__(self) -> str:
        return f"{self.suite}.{self.benchmark}"


NOT_LINKED = "mimalloc343 jemalloc tcmalloc gperftools"
WITH_KOTLIN = "raw seed noslice reuse direct batch_8 batch_16 async"
LAUNCHES = [
    Launch(
        "allocator",
        "allocators",
        "random_mixed",
        "working_set=64 mode=compat setup=direct",
        NOT_LINKED,
    ),
    Launch("hashing", "engines", "sha256_batch", "batch=100 message=150", "openssl"),
    Launch("hashing", "piece", "piece", "piece_bytes=65536", WITH_KOTLIN, "Kotlin"),
    Launch("hashing", "piece", "piece_stream", "pieces=3", "seed direct", "Kotlin"),
    Launch("hashing", "piece", "piece_unverified", "pieces=2", "seed", "Kotlin"),
    Launch(
        "hashing",
        "piece",
        "piece_instrumentation",
        "piece_bytes=1024",
        "off on lines",
        "Kotlin",
    ),
    Launch("checkpoint", "bands", "detect", "bands=8 filesystem=here"),
    Launch("checkpoint", "bands", "dirty", "dirty=1 band_kib=64 filesystem=here"),
    Launch("crypto", "attestation", "keygen", "", "aws_lc"),
    Launch("crypto", "attestation", "sign", "message=32", "ring aws_lc_rs aws_lc"),
    Launch(
        "crypto",
        "attestation",
        "verify",
        "message=32",
        "ring aws_lc_rs dalek_ifma aws_lc",
    ),
    Launch(
        "crypto",
        "attestation",
        "batch",
        "batch=8 keys=1",
        "dalek_ifma zebra_ifma aws_lc",
    ),
    Launch(
        "crypto",
        "attestation",
        "batch_thresholds",
        "batch=8 keys=1",
        "dalek_ifma zebra_ifma",
    ),
    Launch("crypto", "finality", "finality_check", "blocks=10"),
    Launch("crypto", "finality", "finality_ffi", "blocks=1000", "empty_call ffi"),
]


SMALL_LAUNCHES = [(small, abi) for small in LAUNCHES for abi in ABIS]


def test_every_workload_with_builds_for_devices_is_launched() -> None:
    assert {(launch.suite, launch.workload) for launch in LAUNCHES} == {
        tuple(one) for one in WORKLOADS
    }


@pytest.mark.parametrize(
    ("small", "abi"),
    SMALL_LAUNCHES,
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_launch_passes_its_checks_and_measures_every_available_arm(
    small: Launch,
    abi: Abi,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = Workload(small.suite, small.workload)
    path = startable(workload, abi, tmp_path_factory.mktemp("artifacts"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    params = [word for param in small.params.split() for word in ("--params", param)]
    short = ["--rounds", "2", "--warmup-rounds", "1", "--min-time-ns", "1000"]
    launch = events(abi, path, "--benchmark", small.benchmark, *params, *short)
    assert isinstance(launch[-1], DoneEvent)
    checks = [event for event in launch if isinstance(event, CheckEvent)]
    assert [event for event in checks if not event.ok] == []
    raw = next(
        item
        for item in workload.manifest.raw["workloads"]
        if item["name"] == small.workload
    )
    assert set(raw["checks"]) <= {event.name for event in checks}
    cases = {event.case: event for event in launch if isinstance(event, CaseEvent)}
    benchmark = workload.manifest.benchmarks[small.benchmark]
    assert {case.arm for case in cases.values()} == set(benchmark.arms)
    reasons = {
        case.arm: case.unavailable for case in cases.values() if case.unavailable
    }
    assert {arm for arm, reason in reasons.items() if small.reason in reason} == set(
        small.away.split()
    )
    measured = {
        event.case
        for event in launch
        if isinstance(event, SamplesEvent) and event.phase == "measure"
    }
    assert {cases[case].arm for case in measured} == set(benchmark.arms) - set(reasons)
    assert benchmark.device_reference not in reasons, (
        "what others are judged against is measured"
    )
    assert list(tmp_path.iterdir()) == [], "nothing is left on a device"


def without_zig(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the script outside of the clone, with an environment without zig."""
    (tmp_path / "hashing").mkdir()
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    named = ("zig", "python-zig")
    path = [
        str(folder)
        for folder in folders
        if not any((folder / name).exists() for name in named)
    ]
    own = {"PATH": os.pathsep.join(path), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    for shared in ("android.sh", "zig.sh", "crates.sh"):
        shutil.copy(NATIVE / shared, tmp_path)
    return Path(
        shutil.copy(HASHING / "android.sh", tmp_path / "hashing")
    ), os.environ | own


def test_without_zig_the_build_says_in_one_sentence_how_to_get_it(
    tmp_path: Path,
) -> None:
    script, environment = without_zig(tmp_path)
    argv = ["sh", str(script), "piece", "x86_64"]
    done = subprocess.run(
        argv,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    (pinned,) = re.findall(
        r"^ziglang==\S+",
        (ROOT / "scripts" / "pins" / "zig.txt").read_text(),
        re.MULTILINE,
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
            manifests()["hashing"],
            suite / "suite.toml",
            revision="as it stands",
            workloads=["piece"],
            out=tmp_path / "out",
            log=steps.extend,
            stop=Stop(),
            destination=Destination("device", ("x86_64",)),
        )
    assert caught.value.cause == "build_failed"
    assert caught.value.text.startswith(
        "This host lacks what the suite builds with: `zig version` could not"
    )
    assert "run 'scripts/setup devices' at the root" in caught.value.advice
    assert len([line for line in steps if line.startswith("$ ")]) == 1, (
        "nothing else is compiled before"
    )


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
    subprocess.run(
        argv, env=environment, check=True, stdin=subprocess.DEVNULL, timeout=WITHIN_S
    )
    reported = dict(
        line.partition("=")[::2]
        for line in (tmp_path / "told").read_text().splitlines()
    )
    for cache in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        assert Path(reported[cache]).is_relative_to(tmp_path / "target")
    assert (
        reported["CC_x86_64_unknown_linux_musl"] == "zig cc -target x86_64-linux-musl"
    )
