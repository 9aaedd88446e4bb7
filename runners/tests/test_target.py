"""Tests of a host's environment, conditions and preflight findings."""

from __future__ import annotations

import platform
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from paceline import environment, preflight
from paceline.conditions import HostConditions, Sampler
from paceline.config import RepositoryConfig
from paceline.cpu_features import cpu_features
from paceline.preflight import Code, Finding, HostState
from paceline_contract.items import Conditions
from paceline_contract.testing.waiting import WITHIN_S


def test_the_fingerprint_depends_on_the_factors_alone() -> None:
    item = environment.observe()
    assert item.fingerprint == environment.observe().fingerprint
    assert item.fingerprint == environment.fingerprint(
        dict(reversed(item.factors.items()))
    )
    assert item.fingerprint != environment.fingerprint(
        {**item.factors, "kernel": "other"}
    )
    assert len(item.factors) <= 64


def test_the_fingerprint_holds_no_hostname_and_no_clock() -> None:
    factors = environment.observe().factors
    assert platform.node() not in [
        value for value in factors.values() if isinstance(value, str)
    ]
    assert not any("mhz" in key or "freq" in key for key in factors)


def test_the_serial_is_stable(tmp_path: Path) -> None:
    first = environment.serial(tmp_path / "a")
    assert first == environment.serial(tmp_path / "a")
    assert first.startswith("host-")


def test_a_job_is_observed_before_during_and_after() -> None:
    seen: list[Conditions] = []
    enough = threading.Event()

    def take(conditions: Conditions) -> None:
        seen.append(conditions)
        if sum(item.phase == "during" for item in seen) >= 3:
            enough.set()

    with Sampler(take, period_s=0.01):
        assert enough.wait(WITHIN_S)
    phases = [item.phase for item in seen]
    assert phases[0] == "before"
    assert phases[-1] == "after"
    assert set(phases[1:-1]) == {"during"}
    assert [item.at_ms for item in seen] == sorted(item.at_ms for item in seen)
    assert "boot_id" in seen[0].values
    told = ["cpu_features" in item.values for item in seen]
    if sys.platform == "linux":
        assert told == [True] + [False] * (len(seen) - 1)


X86 = """\
processor\t: 0
model name\t: AMD EPYC
flags\t\t: fpu sha_ni avx2 avx512bw
bugs\t\t: sysret_ss_attrs

processor\t: 1
flags\t\t: fpu avx2 sha_ni
vmx flags\t: vnmi
"""
ARM = """\
processor\t: 0
BogoMIPS\t: 38.40
Features\t: fp asimd aes sha1 sha2 atomics sha512
CPU implementer\t: 0x41
"""


def test_the_features_of_a_cpu_are_those_all_of_its_cores_have() -> None:
    assert cpu_features(X86) == ["avx2", "fpu", "sha_ni"]
    assert cpu_features(ARM)[-2:] == ["sha2", "sha512"]
    assert cpu_features("processor\t: 0\nhart\t: 0\n") == []


def test_what_cannot_be_read_is_absent() -> None:
    values = HostConditions().read()
    assert "memory_available_bytes" in values
    assert None not in values.values()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these files")
def test_a_file_that_is_not_understood_is_listed_and_hides_no_other_value(
    tmp_path: Path,
) -> None:
    for number, current in enumerate(("<unsupported>\n", "1200000\n", "", "2 GHz\r\n")):
        core = tmp_path / f"cpu{number}"
        for name, text in {
            "cpufreq/scaling_cur_freq": current,
            "cpufreq/scaling_max_freq": "2400000\n",
            "thermal_throttle/core_throttle_count": "many" if number else "3\n",
        }.items():
            (core / name).parent.mkdir(parents=True, exist_ok=True)
            (core / name).write_text(text)
    (tmp_path / "cpu4").mkdir()  # offline
    host = HostConditions(tmp_path)
    values = host.read()
    assert values["cpu_frequency_mhz"] == [1200.0, 2000.0]
    assert values["cpu_frequency_cap_mhz"] == [2400.0] * 4
    assert values["throttle_count"] == 3
    assert values["cpus_online"]
    assert sorted(path.removeprefix(f"{tmp_path}/") for path in host.unread) == [
        "cpu0/cpufreq/scaling_cur_freq",
        "cpu1/thermal_throttle/core_throttle_count",
        "cpu2/cpufreq/scaling_cur_freq",
        "cpu2/thermal_throttle/core_throttle_count",
        "cpu3/thermal_throttle/core_throttle_count",
    ]
    found = finding(Code.NOT_UNDERSTOOD, unread=host.unread)
    assert found.text.startswith("5 texts are not understood")
    assert not any(item.code == Code.NOT_UNDERSTOOD for item in preflight.judge(GOOD))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these files")
@pytest.mark.parametrize(
    ("text", "turbo", "smt"),
    [
        ("0\n", True, False),
        ("1\r\n", False, True),
        ("", None, None),
        ("on\n", None, None),
        ("<unsupported>\n", None, None),
    ],
)
def test_a_switch_that_is_not_understood_is_not_taken_for_off(
    tmp_path: Path, text: str, turbo: bool | None, smt: bool | None
) -> None:
    for name in ("intel_pstate/no_turbo", "smt/active"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    state = preflight.observe(tmp_path, 0, tmp_path)
    assert (state.turbo, state.smt) == (turbo, smt)


def test_unknown_power_is_not_taken_for_external_power() -> None:
    plugged = finding(Code.BATTERY, battery_percent=50.0, on_battery=None)
    assert "does not tell whether external power" in plugged.text
    charge = finding(Code.BATTERY, on_battery=True)
    assert "does not tell the battery's charge" in charge.text


GOOD = HostState(
    governor="performance",
    turbo=False,
    smt=False,
    cores=8,
    load_1m=0.1,
    hottest_c=40.0,
    disk_free_bytes=10 << 30,
    disk_needed_bytes=1 << 30,
    memory_available_bytes=8 << 30,
)


def finding(code: Code, **changes: object) -> Finding:
    seen = msgspec.structs.replace(GOOD, **changes)
    return next(item for item in preflight.judge(seen) if item.code == code)


def test_a_good_host_has_nothing_to_warn_about() -> None:
    assert {item.level for item in preflight.judge(GOOD)} == {"info"}


@pytest.mark.parametrize(
    ("code", "changes", "level"),
    [
        (Code.GOVERNOR, {"governor": "powersave"}, "warning"),
        (Code.TURBO, {"turbo": True}, "warning"),
        (Code.SMT, {"smt": True}, "warning"),
        (Code.VIRTUALISATION, {"virtualisation": "kvm"}, "warning"),
        (Code.LOAD, {"load_1m": 4.0}, "warning"),
        (Code.BATTERY, {"on_battery": True, "battery_percent": 50.0}, "warning"),
        (Code.THERMAL, {"hottest_c": 91.0}, "warning"),
        (Code.DISK, {"disk_free_bytes": 1 << 20}, "blocker"),
        (Code.CORES, {"cores": 1}, "warning"),
        (Code.MEMORY, {"memory_available_bytes": 1 << 20}, "warning"),
    ],
)
def test_every_concern_comes_with_advice(
    code: Code, changes: dict[str, object], level: str
) -> None:
    result = finding(code, **changes)
    assert result.level == level
    assert result.advice
    assert len(result.text) <= 500
    assert len(result.advice) <= 500


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("https://example.org/a.git", "https://example.org/a", True),
        ("git@example.org:a.git", "ssh://git@example.org/a", True),
        ("/src/a", "/src/a", True),
        ("/src/a", "/src/b", False),
    ],
)
def test_a_repository_with_two_names_is_found_out(
    first: str, second: str, is_one: bool
) -> None:
    found = list(
        preflight.repeated_repositories(
            {
                name: RepositoryConfig(["suite.toml"], url=location)
                for name, location in (("one", first), ("other", second))
            }
        )
    )
    assert [item.code for item in found] == [Code.REPOSITORY] * is_one
    if is_one:
        assert "[repositories.one], [repositories.other]" in found[0].text
        assert found[0].advice


def test_the_worst_finding_comes_first() -> None:
    findings = preflight.judge(
        msgspec.structs.replace(GOOD, disk_free_bytes=0, smt=True)
    )
    assert [item.level for item in findings][:2] == ["blocker", "warning"]
