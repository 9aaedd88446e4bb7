"""Tests of the health check: each step fails with its reason, and nothing is left on the device."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from paceline.adb.port import CommandResult, Connection
from paceline.devices import check
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.check import (
    CheckContext,
    CheckResult,
    CheckStep,
    HealthCheck,
    known_digest,
    run_check,
    self_test_step,
)
from paceline.devices.conditions import DeviceConditions
from paceline.devices.leftovers import LeftOverError
from paceline.devices.self_test import PROGRAM, find_self_test
from paceline.testing.fake_device import FakeDevice
from paceline.testing.fake_device_shell import Execution

from .support import TOOLS, Clock, attached, battery, free, phone, thermal

STEPS = [
    "round_trip",
    "identity",
    "tools",
    "stale_runs",
    "free_space",
    "push_hash",
    "self_test",
    "calibration",
    "readiness",
]


def clean(_: Connection) -> list[str]:
    return []


def check_device(there: FakeDevice, root: Path, **changes: object) -> CheckResult:
    device = attached(there, root)
    device.look()
    asked = {
        "workdir": device.workdir,
        "observer": DeviceConditions(device.facts.props, workdir=device.workdir),
        "blocked_by": frozenset(),
        "clean": clean,
        "verify": device.verify,
    }
    return run_check(device.connection, CheckContext(**{**asked, **changes}))  # type: ignore[arg-type]


def failed(health_check: HealthCheck) -> list[str]:
    return [step.name for step in health_check.steps if step.ok is False]


def test_a_good_phone_passes_every_step_with_values_and_raw_texts(
    tmp_path: Path,
) -> None:
    there = phone()
    result = check_device(there, tmp_path).check
    assert [step.name for step in result.steps] == STEPS
    assert result.ok, result.text
    assert not result.infrastructure
    values = {step.name: step.value for step in result.steps}
    assert (values["calibration"], values["free_space"]) == (4.0, 40 << 30)
    units = {step.name: step.unit for step in result.steps if step.unit}
    assert units == {
        "round_trip": "ms",
        "stale_runs": "leftovers",
        "free_space": "bytes",
        "push_hash": "MiB/s",
        "calibration": "ms",
    }
    asked = [raw.command for raw in result.raw]
    assert any("dumpsys battery" in command for command in asked)
    assert any("sha256sum" in command for command in asked)


def test_nothing_is_left_on_the_device(tmp_path: Path) -> None:
    there = phone()
    check_device(there, tmp_path)
    assert not [path for path in there.files if path.startswith("/data/local/tmp")]


class Corrupting(FakeDevice):
    """A device whose storage returns other bytes than were written."""

    def execute(self, argv: Sequence[str]) -> Execution:
        return (
            CommandResult(0, b"0" * 64 + b"  blob\n")
            if argv[0] == "sha256sum"
            else super().execute(argv)
        )


def test_what_arrives_otherwise_than_it_was_pushed_fails_as_infrastructure(
    tmp_path: Path,
) -> None:
    result = check_device(phone(kind=Corrupting), tmp_path).check
    assert failed(result) == ["push_hash"]
    assert result.infrastructure


def test_a_device_that_is_lost_in_a_step_ends_the_check_there(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    device.look()

    def lose(connection: Connection) -> list[str]:
        there.cut()
        return clean(connection)

    observer = DeviceConditions(device.facts.props)
    asked = CheckContext(device.workdir, observer, frozenset(), lose, device.verify)
    result = run_check(device.connection, asked).check
    assert [step.name for step in result.steps] == [
        "round_trip",
        "identity",
        "tools",
        "stale_runs",
        "free_space",
    ]
    assert failed(result) == ["free_space"]
    assert result.infrastructure


def test_a_check_has_a_limit_and_says_where_it_ended(tmp_path: Path) -> None:
    device = attached(phone(), tmp_path)
    device.look()
    clock = Clock()

    def slow(_: Connection) -> list[str]:
        clock.now_s += check.LIMIT_S + 1
        return []

    asked = CheckContext(
        device.workdir,
        DeviceConditions(device.facts.props),
        frozenset(),
        slow,
        device.verify,
    )
    result = run_check(device.connection, asked, clock).check
    assert [step.name for step in result.steps] == [
        "round_trip",
        "identity",
        "tools",
        "stale_runs",
        "free_space",
    ]
    assert failed(result) == ["free_space"]
    assert result.infrastructure
    assert "took 61 s" in result.text


def test_a_device_without_a_tool_is_unfit_names_it_and_is_asked_nothing_more(
    tmp_path: Path,
) -> None:
    """Recovery cannot add a tool, and a job would fail without it and blame the workload."""
    there = phone()
    there.answers[TOOLS] = "dd\nsha256sum\n"
    result = check_device(there, tmp_path).check
    assert failed(result) == ["tools"]
    assert "has no dd and no sha256sum" in result.text
    assert not result.infrastructure
    assert [step.name for step in result.steps] == ["round_trip", "identity", "tools"]


def test_what_stays_of_an_earlier_run_fails_its_step_and_the_rest_is_asked(
    tmp_path: Path,
) -> None:
    def stays(_: Connection) -> list[str]:
        raise LeftOverError(
            "Processes of run x cannot be killed.", "Restart the device."
        )

    result = check_device(phone(), tmp_path, clean=stays).check
    assert failed(result) == ["stale_runs"]
    assert [step.name for step in result.steps] == STEPS
    assert result.infrastructure


def test_digits_of_a_shells_warning_are_no_rounds(tmp_path: Path) -> None:
    there = phone()
    there.answers[check.CALIBRATION] = CommandResult(
        0, b"5000000\n4000000\n", b"sh: line 1 : odd\n"
    )
    step = next(
        step
        for step in check_device(there, tmp_path).check.steps
        if step.name == "calibration"
    )
    assert step.value == 4.0


def test_a_round_of_endless_digits_is_none(tmp_path: Path) -> None:
    there = phone()
    there.answers[check.CALIBRATION] = CommandResult(0, b"9" * 400 + b"\n")
    step = next(
        step
        for step in check_device(there, tmp_path).check.steps
        if step.name == "calibration"
    )
    assert (step.ok, step.value) == (None, None)


def test_a_stranger_at_the_route_fails_identity(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    device.look()
    there.props["ro.serialno"] = "OTHER"
    asked = CheckContext(
        device.workdir, DeviceConditions({}), frozenset(), clean, device.verify
    )
    result = run_check(device.connection, asked).check
    assert failed(result) == ["identity"]
    assert "OTHER" in result.text


@pytest.mark.parametrize(
    ("change", "step", "word"),
    [
        (lambda there: battery(there, 80, 36.0), "readiness", "°C"),
        (lambda there: battery(there, 20, 29.0), "readiness", "%"),
        (lambda there: thermal(there, 3), "readiness", "thermal status"),
        (lambda there: free(there, 1000), "free_space", "MiB"),
        (
            lambda there: setattr(there.faults, "no_space_after", 10),
            "push_hash",
            "space",
        ),
    ],
)
def test_hot_empty_and_full_are_states_not_infrastructure(
    tmp_path: Path, change: object, step: str, word: str
) -> None:
    there = phone()
    assert callable(change)
    change(there)
    result = check_device(there, tmp_path).check
    assert failed(result) == [step]
    assert not result.infrastructure
    assert word in result.text


def test_gates_that_held_let_go_at_their_inner_limit_only(tmp_path: Path) -> None:
    there = phone()
    battery(there, 80, 33.5)
    assert check_device(there, tmp_path).check.ok
    assert failed(
        check_device(there, tmp_path, blocked_by=frozenset({"hot"})).check
    ) == ["readiness"]


def test_leftovers_of_earlier_runs_are_counted_and_named(tmp_path: Path) -> None:
    result = check_device(
        phone(), tmp_path, clean=lambda _: ["run-1 removed", "2 processes ended"]
    ).check
    step = next(step for step in result.steps if step.name == "stale_runs")
    assert (step.ok, step.value) == (True, 2.0)
    assert "run-1 removed" in step.text


GOOD = {
    "self_test": 1,
    "ok": True,
    "wrong": [],
    "arch": "aarch64",
    "sha256": known_digest("sha256"),
    "sha1": known_digest("sha1"),
    "hardware_sha": True,
    "engines": ["scalar", "armv8_ce"],
}


def test_the_self_test_tells_hardware_by_what_was_used() -> None:
    step = self_test_step(0, f"noise\n{json.dumps(GOOD)}\n")
    assert (step.ok, step.value) == (True, 1.0)
    assert "with SHA instructions" in step.text
    assert "armv8_ce" in step.text
    soft = self_test_step(0, json.dumps({**GOOD, "hardware_sha": False}))
    assert (soft.ok, soft.value) == (True, 0.0)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, json.dumps({**GOOD, "sha256": "0" * 64})),
        (0, json.dumps({**GOOD, "sha1": ""})),
        (1, json.dumps({**GOOD, "ok": False})),
        (0, json.dumps({**GOOD, "wrong": ["armv8_ce"]})),
        (139, ""),
        (None, "{"),
        (0, json.dumps({"ok": True})),
    ],
)
def test_a_wrong_digest_or_a_crash_fails_the_self_test(
    status: int | None, text: str
) -> None:
    assert not self_test_step(status, text).ok


def test_the_self_test_is_pushed_and_run_on_the_device(tmp_path: Path) -> None:
    there, binary = phone(), tmp_path / "self-test"
    binary.write_text(f"echo '{json.dumps(GOOD)}'")
    result = check_device(there, tmp_path, self_test=binary).check
    assert result.ok, result.text
    assert any(call[-1] == "--self-test" for call in there.calls)


def test_without_a_self_test_it_is_said_and_not_called_good(tmp_path: Path) -> None:
    result = check_device(phone(), tmp_path, self_test=tmp_path / "missing").check
    step = next(step for step in result.steps if step.name == "self_test")
    assert (step.ok, step.value) == (None, None)
    assert "Not checked" in step.text
    assert result.ok  # neither passed nor failed


def elf(path: Path, machine: int, age: int) -> Path:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + machine.to_bytes(2, "little"))
    os.utime(path, (1_000 - age, 1_000 - age))
    return path


def test_the_self_test_is_the_newest_that_a_job_has_left_for_the_abi(
    tmp_path: Path,
) -> None:
    old = elf(tmp_path / "a" / PROGRAM, 183, age=20)
    new = elf(tmp_path / "b" / PROGRAM, 183, age=10)
    other = elf(tmp_path / "c" / PROGRAM, 62, age=0)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / PROGRAM).write_text("#!/bin/sh\n")
    assert find_self_test(None, tmp_path, "arm64-v8a") == new
    assert find_self_test(None, tmp_path, "x86_64") == other
    assert find_self_test(None, tmp_path, "armeabi-v7a") is None
    assert find_self_test("own/{abi}/test", tmp_path, "arm64-v8a") == Path(
        "own/arm64-v8a/test"
    )
    new.unlink()
    assert find_self_test(None, tmp_path, "arm64-v8a") == old


def test_the_known_digests_are_those_the_self_test_prints() -> None:
    """The digests were printed by `paceline-hashing-engines --self-test` here and under qemu-aarch64-static."""
    assert (
        known_digest("sha256")
        == "dbfaf0aa57c1a21fdc00a674871d39cb18f95572b1f3262364ea51f056126118"
    )
    assert known_digest("sha1") == "41ae57247fbd68a27f591abca3a8e67c0bea1823"


def test_a_clock_without_nanoseconds_leaves_the_calibration_out(tmp_path: Path) -> None:
    there = phone()
    there.answers[check.CALIBRATION] = CommandResult(1, b"date: bad format\n")
    result = check_device(there, tmp_path).check
    assert result.ok
    assert (
        CheckStep(
            "calibration",
            None,
            "Not checked: the device's clock has no nanoseconds.",
        )
        in result.steps
    )


def test_of_builds_no_discovery_is_needed_for_a_hand_check(tmp_path: Path) -> None:
    there = phone("SER7")
    device = AttachedDevice.of(there.connection, "SER7", tmp_path)
    assert device.look()
    asked = CheckContext(
        device.workdir,
        DeviceConditions(device.facts.props),
        frozenset(),
        clean,
        device.verify,
    )
    assert run_check(device.connection, asked).check.ok
