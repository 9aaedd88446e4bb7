"""Runs the health check of a device: nine steps, each with a result and sometimes a measured value.

A lost device or a missing program ends the check. A failure is either infrastructure (recovery may help) or
the state of the device (hot, empty, full or without a program: waiting or a person helps). The check leaves
nothing on the device.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import re
import shlex
import statistics
import time
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from paceline_contract.items import CommandOutput

from paceline.adb.port import (
    AdbError,
    Connection,
    RefusedError,
    SlowError,
    TransferError,
)
from paceline.devices import readiness, scripts
from paceline.devices.conditions import DeviceConditions, DeviceReading
from paceline.devices.leftovers import LeftOverError

ROUND_TRIPS = 5
SLOWEST_ROUND_TRIP_MS = 2000.0
"""Median of an `echo`: 5 to 60 ms over USB and Wi-Fi. A device that needs seconds would time out in jobs."""
PUSHED_BYTES = 1 << 20
PUSH_TIMEOUT_S = 20.0
"""1 MiB at 50 KiB/s; a slower device is of no use for a run."""
SELF_TEST_TIMEOUT_S = 20.0
SELF_TEST_MESSAGE_BYTES, SELF_TEST_MESSAGES, SELF_TEST_PERIOD = 1 << 16, 16, 251
"""The input of `paceline-hashing-engines --self-test`: each engine hashes these messages, then their digests
(native/hashing/engines/src/self_test.rs).
"""


@cache
def known_digest(algorithm: str) -> str:
    """Return the digest that the self-test must print, computed by Python's hashlib."""
    size = SELF_TEST_MESSAGE_BYTES
    data = bytes(range(SELF_TEST_PERIOD)) * (
        SELF_TEST_MESSAGES * size // SELF_TEST_PERIOD + 1
    )
    total = hashlib.new(algorithm, usedforsecurity=False)
    for start in range(0, SELF_TEST_MESSAGES * size, size):
        message = data[start : start + size]
        total.update(hashlib.new(algorithm, message, usedforsecurity=False).digest())
    return total.hexdigest()


COUNT = 5_000
CALIBRATION = (
    "sh",
    "-c",
    "for r in 1 2 3; do a=$(date +%s%N); i=0; while [ $i -lt "
    + str(COUNT)
    + " ]; do i=$((i+1)); done; "
    "b=$(date +%s%N); echo $((b-a)); done",
)
"""A loop in the device's shell, three times; the shortest counts. 5 to 50 ms each."""
_NANOSECONDS = re.compile(r"\d{1,12}", re.ASCII)
LIMIT_S = 60.0
"""No step begins after this time. A healthy phone needs 5 to 30 s for all steps."""
RAW_CHARACTERS = 4000
"""Most characters kept of one command's output."""

Blame = Literal["infrastructure", "state"]


class CheckStep(msgspec.Struct, frozen=True):
    """The result of one step. `ok` None: not checked; `value` is a measured value in `unit`."""

    name: str
    ok: bool | None
    text: str
    value: float | None = None
    unit: str | None = None


class HealthCheck(msgspec.Struct, frozen=True):
    """A finished check. `started_s`: monotonic; `infrastructure`: whether such a step failed."""

    id: str
    started_s: float
    took_ms: float
    ok: bool
    infrastructure: bool
    steps: list[CheckStep]
    raw: list[CommandOutput]

    @property
    def text(self) -> str:
        """Return the failed steps in one line; empty when none failed."""
        return "; ".join(
            f"{step.name}: {step.text}" for step in self.steps if step.ok is False
        )


class CheckContext(msgspec.Struct, frozen=True):
    """The input of the check besides the device's connection."""

    workdir: str
    observer: DeviceConditions
    blocked_by: frozenset[str]
    """Names of the readiness checks that blocked at the last reading."""
    clean: Callable[[Connection], list[str]]
    """Removes what earlier runs left and returns descriptions of it."""
    verify: Callable[[], None]
    self_test: Path | None = None


class CheckResult(msgspec.Struct, frozen=True):
    """A check and its reading of the conditions, None when it ended before that step."""

    check: HealthCheck
    reading: DeviceReading | None


def run_check(
    connection: Connection,
    context: CheckContext,
    clock: Callable[[], float] = time.monotonic,
) -> CheckResult:
    """Run the check. An AdbError becomes a failed step."""
    return _CheckRun(connection, context, clock).run()


class _CheckRun:
    """One check while it runs."""

    def __init__(
        self, connection: Connection, context: CheckContext, clock: Callable[[], float]
    ) -> None:
        self._connection, self._context, self._clock = connection, context, clock
        self._id = f"chk_{uuid.uuid4().hex}"
        self._directory = f"{context.workdir}/{self._id}"
        self._began = clock()
        self._steps: list[CheckStep] = []
        self._blamed: set[Blame] = set()
        self._raw: list[CommandOutput] = []
        self._reading: DeviceReading | None = None

    def run(self) -> CheckResult:
        try:
            lost = not self._run_steps()
        finally:
            with contextlib.suppress(AdbError):
                self._connection.run(["rm", "-rf", self._directory])
        return CheckResult(self._build_check(lost), self._reading)

    def _run_steps(self) -> bool:
        """Run the steps in order; False when the device was lost or the time limit was reached."""
        for name, blame, step in self._plan():
            if not self._run_step(name, blame, step):
                return False
            if name == "tools" and self._steps[-1].ok is False:
                break  # without them the other steps would fail, or seem to pass
        return True

    def _plan(self) -> list[tuple[str, Blame, Callable[[], CheckStep]]]:
        return [
            ("round_trip", "infrastructure", self._round_trip),
            ("identity", "infrastructure", self._identity),
            ("tools", "state", self._tools),
            ("stale_runs", "infrastructure", self._stale_runs),
            ("free_space", "state", self._free_space),
            ("push_hash", "infrastructure", self._push_hash),
            ("self_test", "infrastructure", self._self_test),
            ("calibration", "infrastructure", self._calibration),
            ("readiness", "state", self._check_readiness),
        ]

    def _run_step(self, name: str, blame: Blame, step: Callable[[], CheckStep]) -> bool:
        """Run one step; False when the device was lost or the time limit was reached."""
        if (took_s := self._clock() - self._began) > LIMIT_S:
            text = f"Not started: earlier steps took {took_s:.0f} s of the {LIMIT_S:.0f} s for all steps."
            self._add(CheckStep(name, False, text), "infrastructure")
            return False
        try:
            self._add(step(), blame)
        except TransferError as error:
            self._add(
                CheckStep(name, False, error.text),
                "state" if error.no_space else "infrastructure",
            )
        except (RefusedError, SlowError, LeftOverError) as error:
            self._add(CheckStep(name, False, error.text), "infrastructure")
        except AdbError as error:
            self._add(CheckStep(name, False, error.text), "infrastructure")
            return False
        return True

    def _add(self, step: CheckStep, blame: Blame) -> None:
        self._steps.append(step)
        if step.ok is False:
            self._blamed.add(blame)

    def _build_check(self, lost: bool) -> HealthCheck:
        took_ms = (self._clock() - self._began) * 1000
        raw = [*self._raw, *(self._reading.raw if self._reading else [])]
        infrastructure = lost or "infrastructure" in self._blamed
        return HealthCheck(
            self._id,
            self._began,
            took_ms,
            not self._blamed,
            infrastructure,
            self._steps,
            raw,
        )

    # --- steps ---

    def _round_trip(self) -> CheckStep:
        durations_ms = []
        for number in range(ROUND_TRIPS):
            word = f"{self._id}-{number}"
            began = self._clock()
            done = self._connection.run(["echo", word])
            durations_ms.append((self._clock() - began) * 1000)
            if done.rc != 0 or done.text.strip() != word:
                text = (
                    f"echo answered {done.text.strip()[:80]!r} with status {done.rc}."
                )
                return CheckStep("round_trip", False, text)
        median = round(statistics.median(durations_ms), 2)
        return CheckStep(
            "round_trip",
            median < SLOWEST_ROUND_TRIP_MS,
            f"{median:g} ms.",
            median,
            "ms",
        )

    def _identity(self) -> CheckStep:
        self._context.verify()
        return CheckStep("identity", True, "The same device answers.")

    def _tools(self) -> CheckStep:
        done = self._run(scripts.argv("tools", *scripts.tools()))
        missing = done.text.split()
        if done.status != 0:
            return CheckStep(
                "tools",
                False,
                f"Its shell cannot search for programs: it exited with status {done.status}.",
            )
        if missing:
            text = f"The device has no {' and no '.join(missing)}, which jobs need."
            return CheckStep("tools", False, text)
        return CheckStep("tools", True, "It has every program that jobs need.")

    def _stale_runs(self) -> CheckStep:
        done = self._context.clean(self._connection)
        text = "; ".join(done) or "Earlier runs left nothing."
        return CheckStep("stale_runs", True, text, float(len(done)), "leftovers")

    def _free_space(self) -> CheckStep:
        self._reading = self._context.observer.read(self._connection)
        free = self._reading.seen.free_bytes
        if free is None:
            return CheckStep("free_space", None, "It does not report its free space.")
        needed = readiness.FREE_BYTES_NEEDED
        text = f"{free >> 20} MiB are free, {needed >> 20} MiB are needed."
        return CheckStep("free_space", free >= needed, text, float(free), "bytes")

    def _push_hash(self) -> CheckStep:
        data = random.Random(self._id).randbytes(PUSHED_BYTES)  # noqa: S311 - no secret, new every time
        remote = f"{self._directory}/blob"
        self._run(["mkdir", "-p", self._directory])
        began = self._clock()
        self._connection.push(data, remote, timeout_s=PUSH_TIMEOUT_S)
        rate = round(PUSHED_BYTES / 2**20 / max(self._clock() - began, 1e-9), 2)
        done = self._run(["sha256sum", remote])
        digest = (
            done.text.split()[0] if done.status == 0 and done.text.split() else None
        )
        if digest is None:  # before Android 6 there is no sha256sum
            digest = hashlib.sha256(
                self._connection.pull(remote, timeout_s=PUSH_TIMEOUT_S)
            ).hexdigest()
        if digest != hashlib.sha256(data).hexdigest():
            text = "The pushed file arrived damaged: the digests differ."
            return CheckStep("push_hash", False, text, rate, "MiB/s")
        return CheckStep(
            "push_hash", True, f"1 MiB arrived whole, at {rate:g} MiB/s.", rate, "MiB/s"
        )

    def _self_test(self) -> CheckStep:
        binary = self._context.self_test
        if binary is None or not binary.is_file():
            hint = (
                f" at {binary}" if binary else "; a job of hashing's engines builds it"
            )
            return CheckStep(
                "self_test",
                None,
                f"Not checked: no self-test is built for this ABI{hint}.",
            )
        remote = f"{self._directory}/self-test"
        self._connection.push(binary, remote, 0o755, PUSH_TIMEOUT_S)
        done = self._run([remote, "--self-test"], SELF_TEST_TIMEOUT_S)
        return self_test_step(done.status, done.text)

    def _calibration(self) -> CheckStep:
        done = self._run(list(CALIBRATION))
        lines = done.text.split("\n")
        rounds = [
            int(line) for line in lines if _NANOSECONDS.fullmatch(line)
        ]  # not a warning's digits
        if done.status != 0 or not rounds:  # a shell whose `date` has no %N
            return CheckStep(
                "calibration",
                None,
                "Not checked: the device's clock has no nanoseconds.",
            )
        shortest = min(rounds) / 1e6
        return CheckStep(
            "calibration",
            True,
            f"{COUNT} iterations of a loop in {shortest:g} ms.",
            shortest,
            "ms",
        )

    def _check_readiness(self) -> CheckStep:
        if self._reading is None:
            return CheckStep("readiness", False, "Its conditions could not be read.")
        shut = [
            check
            for check in readiness.check_readiness(
                self._reading.seen, self._context.blocked_by
            )
            if check.blocks and check.name != "space"
        ]
        text = " ".join(f"{check.text} {check.advice}".strip() for check in shut)
        return CheckStep("readiness", not shut, text or "Cool and charged.")

    def _run(self, argv: list[str], timeout_s: float = 10.0) -> CommandOutput:
        """Run a command and keep its output as evidence."""
        began = self._clock()
        done = self._connection.run(argv, timeout_s)
        text = done.text + done.stderr.decode("utf-8", "replace")
        at_ms = int((began - self._began) * 1000)
        took_ms = int((self._clock() - began) * 1000)
        printable = text[:RAW_CHARACTERS].replace("\0", "\ufffd")
        raw = CommandOutput(shlex.join(argv), at_ms, took_ms, printable, done.rc)
        self._raw.append(raw)
        return raw


class SelfTest(msgspec.Struct, frozen=True):
    """The line that the self-test prints. `wrong`: engines whose digests differ from the others'."""

    ok: bool
    sha256: str
    sha1: str
    hardware_sha: bool
    arch: str = ""
    engines: list[str] = []
    wrong: list[str] = []


def self_test_step(status: int | None, text: str) -> CheckStep:
    """Judge a self-test that printed `text` and exited with `status`. Pure."""
    line = next((line for line in text.splitlines() if line.startswith("{")), "")
    try:
        report = msgspec.json.decode(line, type=SelfTest)
    except msgspec.DecodeError:
        return CheckStep(
            "self_test",
            False,
            f"It exited with status {status} and printed {text.strip()[:200]!r}.",
        )
    known = (report.sha256, report.sha1) == (
        known_digest("sha256"),
        known_digest("sha1"),
    )
    if not known or report.wrong or not report.ok or status != 0:
        about = (
            "not the known digests"
            if not known
            else f"from {', '.join(report.wrong) or 'the self-test as a whole'}"
        )
        return CheckStep(
            "self_test",
            False,
            f"The device computes wrong results: {about} (status {status}).",
        )
    instructions = "with" if report.hardware_sha else "without"
    text = (
        f"Digests are right on {report.arch or 'this CPU'}, {instructions} SHA instructions:"
        f" {', '.join(report.engines)}."
    )
    return CheckStep(
        "self_test", True, text, float(report.hardware_sha), "hardware_sha"
    )
