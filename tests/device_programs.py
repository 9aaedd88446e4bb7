"""Builds and runs the programs that suites build for Android devices, by the steps of their manifests.

Programs for another processor run under qemu, for correctness and never for speed. As a program (`scripts/test`) it
builds all of them. `make test` builds those for this machine's processor, with little optimising;
`make test-long` builds every program as an agent does.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from paceline.destination import Destination, build_for
from paceline.manifest import Manifest, load
from paceline_contract.events import AnyEvent
from paceline_contract.manifest import TargetBuild
from paceline_contract.stream import StreamReader

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "native"
SLOWEST_RUN_S = 300
"""Eight allocators checked under qemu take 20 seconds of a processor that others may want, too."""


class Abi(NamedTuple):
    """An ABI: its machine in the ELF header, and how its programs are inspected and run here."""

    name: str
    machine: int
    processor: str
    objdump: str
    sha_instructions: str


ARM64 = Abi(
    "arm64-v8a",
    183,
    "aarch64",
    "aarch64-linux-gnu-objdump",
    "sha1c sha1p sha1m sha1h sha1su0 sha1su1 sha256h sha256h2 sha256su0 sha256su1",
)
X86_64 = Abi(
    "x86_64",
    62,
    "x86_64",
    "x86_64-linux-gnu-objdump",
    "sha1rnds4 sha1nexte sha1msg1 sha1msg2 sha256rnds2 sha256msg1 sha256msg2",
)


class Workload(NamedTuple):
    """A workload that has builds for devices."""

    suite: str
    name: str

    def __str__(self) -> str:
        return f"{self.suite}.{self.name}"

    @property
    def room(self) -> Path:
        return NATIVE / self.suite

    @property
    def manifest(self) -> Manifest:
        return manifests()[self.suite]


@functools.cache
def manifests() -> dict[str, Manifest]:
    """The manifests of this repository, by their directory."""
    return {
        path.parent.name: load(path) for path in sorted(NATIVE.glob("*/suite.toml"))
    }


WORKLOADS = [
    Workload(suite, workload.name)
    for suite, manifest in manifests().items()
    for workload in manifest.workloads
    if workload.android is not None
]


LENGTH = "PACELINE_TEST_LENGTH"
"""`long` in `make test-long`; otherwise tests take their short length."""
LONG = os.environ.get(LENGTH) == "long"
QUICKLY = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
}
"""Most of a build's time is optimising, which the tests do not look at."""
SETTINGS = {} if LONG else QUICKLY
OWN = next(
    (abi for abi in (ARM64, X86_64) if abi.processor == platform.machine()), X86_64
)
"""An ABI that runs here without qemu, under which eight allocators take 20 seconds."""
ABIS = [ARM64, X86_64] if LONG else [OWN]
"""The ABIs that tests look at."""
FOR_EVERY_ABI = pytest.mark.parametrize("abi", ABIS, ids=lambda abi: abi.name)
"""Run a test with `abi`."""
PROGRAMS = [(workload, abi) for workload in WORKLOADS for abi in ABIS]
FOR_EVERY_PROGRAM = pytest.mark.parametrize(
    ("workload", "abi"),
    PROGRAMS,
    ids=[f"{workload}-{abi.name}" for workload, abi in PROGRAMS],
)
"""Run a test with `workload` and `abi`."""


def declared(workload: Workload, abi: Abi) -> TargetBuild:
    """How an agent would build and run it for a device of that ABI."""
    (found,) = [
        item for item in workload.manifest.workloads if item.name == workload.name
    ]
    return build_for(found, Destination("device", (abi.name,)))


@functools.cache
def sources() -> str:
    """A digest of all that programs are built from."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    compiler = subprocess.run(["rustc", "-vV"], capture_output=True, check=True)
    named = subprocess.run(listing, cwd=NATIVE, capture_output=True, check=True)
    digest = hashlib.sha256(compiler.stdout + named.stdout + repr(SETTINGS).encode())
    for name in sorted(set(named.stdout.split(b"\0")) - {b""}):
        path = NATIVE / os.fsdecode(name)
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


@functools.cache
def program(workload: Workload, abi: Abi) -> Path:
    """The program of a workload, built by the steps an agent takes.

    It is built once for equal sources, whichever process comes first: the others wait for it.
    """
    build = declared(workload, abi)
    folder = workload.room / "build" / abi.name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{workload.name}.built").open("a+") as built:
        fcntl.flock(built, fcntl.LOCK_EX)
        built.seek(0)
        exist = all((workload.room / item).exists() for item in build.artifacts)
        if not exist or built.read() != sources():
            built.truncate(0)
            for argv in build.build:
                subprocess.run(
                    argv,
                    cwd=workload.room,
                    check=True,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **SETTINGS},
                )
            built.write(sources())
    (found,) = [
        item
        for item in build.artifacts
        if build.run == [f"{{artifacts}}/{Path(item).name}"]
    ]
    return workload.room / found


def parts(workload: Workload, abi: Abi) -> list[Path]:
    """The programs that are sent to a device for a workload: its own and those it starts."""
    program(workload, abi)
    sent = [workload.room / item for item in declared(workload, abi).artifacts]
    below = [
        path
        for item in sent
        for path in ([item] if item.is_file() else sorted(item.rglob("*")))
    ]
    return [
        path for path in below if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
    ]


def startable(workload: Workload, abi: Abi, folder: Path) -> Path:
    """The program of a workload where it can start those beside it: under qemu, which the kernel does not
    start for them, they are scripts in `folder` that do."""
    path = program(workload, abi)
    others = [part for part in parts(workload, abi) if part != path]
    if platform.machine() == abi.processor or not others:
        return path
    for item in declared(workload, abi).artifacts:
        source = workload.room / item
        (shutil.copytree if source.is_dir() else shutil.copy)(
            source, folder / source.name
        )
    for part in others:
        script = folder / part.relative_to(path.parent)
        script.write_text(
            f'#!/bin/sh\nexec {shlex.join(under_qemu(abi))} {shlex.quote(str(part))} "$@"\n'
        )
    return folder / path.name


def calibrator(workload: Workload, abi: Abi) -> list[str]:
    """The calibration command, among the files that are sent to the device."""
    program(workload, abi)
    first, *options = declared(workload, abi).calibrate
    name = first.removeprefix("{artifacts}/")
    (found,) = [
        item for item in declared(workload, abi).artifacts if Path(item).name == name
    ]
    return [str(workload.room / found), *options]


def under_qemu(abi: Abi) -> list[str]:
    """The begin of a command on a machine of another kind."""
    qemu = shutil.which(f"qemu-{abi.processor}-static") or shutil.which(
        f"qemu-{abi.processor}"
    )
    if qemu is None:
        pytest.skip(
            f"this machine has no qemu for a CPU of kind {abi.processor} (qemu-user-static)"
        )
    return [qemu]


def run(
    abi: Abi, path: Path, *arguments: str, cpu: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command directly on a machine of its kind, else (or for a certain CPU) under qemu."""
    command = [str(path), *arguments]
    if cpu is not None or platform.machine() != abi.processor:
        command = [*under_qemu(abi), *(["-cpu", cpu] if cpu else []), *command]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SLOWEST_RUN_S, check=False
    )


def events(abi: Abi, path: Path, *arguments: str) -> list[AnyEvent]:
    done = run(abi, path, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout[-500:]
    reader = StreamReader()
    return [*reader.feed(done.stdout.encode()), *reader.close()]


def build_all() -> None:
    """Builds every program, with its time and CPU time; raises if one cannot be built."""
    for workload, abi in PROGRAMS:
        before = os.times()
        size = program(workload, abi).stat().st_size
        after = os.times()
        took = after.elapsed - before.elapsed
        cpu = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        sys.stdout.write(
            f"{workload} for {abi.name}: {size / 2**20:.1f} MiB, {took:.1f} s, {cpu:.1f} s of CPU\n"
        )


if __name__ == "__main__":
    build_all()
