"""Tests of each void condition, alone and at its limit, and of missing values, which void nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from paceline_server.stats.voids import (
    Reading,
    Void,
    VoidLimits,
    advise,
    find_voids,
)

CLONE = Path(__file__).resolve().parents[3]


def _readings(
    before: dict[str, Any], during: list[dict[str, Any]], after: dict[str, Any]
) -> list[Reading]:
    rows = [
        ("before", before),
        *(("during", values) for values in during),
        ("after", after),
    ]
    return [
        Reading(phase, at * 1000, values) for at, (phase, values) in enumerate(rows)
    ]


FIT: dict[str, Any] = {
    "thermal_status": 1,
    "throttle_count": 7,
    "cpu_frequency_cap_mhz": [3000, 3000],
    "boot_id": "a",
    "calibration_ns": 1000.0,
    "steal_percent": 0.5,
    "psi_cpu_percent": 2.0,
    "cpus_online": 8,
}


def test_a_healthy_target_and_one_without_readings_void_nothing() -> None:
    assert find_voids(_readings(FIT, [FIT, FIT], FIT)) == []
    assert find_voids(_readings({}, [{}], {})) == []
    assert find_voids([]) == []


def _counters(change: dict[str, Any]) -> dict[str, Any]:
    """A counter that rose stays up."""
    return {key: value for key, value in change.items() if key.endswith("_count")}


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("thermal", {"thermal_status": 3}),
        ("warm", {"thermal_status": 2}),
        ("thermal", {"throttle_count": 12}),
        ("memory_pressure", {"psi_memory_percent": 40.0}),
        ("frequency_cap", {"cpu_frequency_cap_mhz": [3000, 2400]}),
        ("boot_id", {"boot_id": "b"}),
        ("steal", {"steal_percent": 16.0}),
        ("pressure", {"psi_cpu_percent": 17.0}),
        ("core_offline", {"cpus_online": 7}),
    ],
)
def test_each_condition_voids_alone_and_names_its_number(
    code: str, change: dict[str, Any]
) -> None:
    voids = find_voids(
        _readings(FIT, [FIT, {**FIT, **change}, FIT], {**FIT, **_counters(change)})
    )
    assert [void.code for void in voids] == [code]
    assert voids[0].text


def test_calibration_drift_is_measured_from_before_to_after() -> None:
    assert find_voids(_readings(FIT, [], {**FIT, "calibration_ns": 1049.0})) == []
    voids = find_voids(_readings(FIT, [], {**FIT, "calibration_ns": 940.0}))
    assert [void.code for void in voids] == ["calibration"]
    assert "6.0 %" in voids[0].text


def test_pressure_is_a_mean_while_measuring_so_one_burst_voids_nothing() -> None:
    calm = {"psi_cpu_percent": 0.0}
    burst = {"psi_cpu_percent": 60.0}
    assert find_voids(_readings({}, [calm] * 19 + [burst], {})) == []
    assert find_voids(_readings(burst, [calm] * 3, burst)) == []


def test_pressure_on_the_workload_outweighs_pressure_on_the_host() -> None:
    undisturbed = {"psi_cpu_percent": 40.0, "workload_wait_percent": 0.4}
    starved = {"psi_cpu_percent": 40.0, "workload_wait_percent": 30.0}
    assert find_voids(_readings({}, [undisturbed] * 3, {})) == []
    voids = find_voids(_readings({}, [starved] * 3, {}))
    assert [(void.code, void.value) for void in voids] == [("pressure", 30.0)]


@pytest.mark.parametrize(
    ("others", "judged"), [(1.0, []), (30.0, [30.0]), (90.0, [40.0])]
)
def test_of_the_pressure_on_the_host_only_what_others_can_have_caused_counts(
    others: float, judged: list[float]
) -> None:
    reading = {"psi_cpu_percent": 40.0, "others_cpu_percent": others}
    voids = find_voids(_readings({}, [reading] * 3, {}))
    assert [void.value for void in voids] == judged


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        ("pressure", "host", "PACELINE_PRESSURE_LIMIT_PERCENT"),
        ("steal", "host", "PACELINE_PRESSURE_LIMIT_PERCENT"),
        ("calibration", "host", "(`judge --drift-limit-percent`)"),
        ("boot_id", "host", "`paceline doctor`"),
        ("warm", "device", "cool down"),
        ("emulator", "device", "`paceline submit --suppress emulator`"),
        ("rooted_by_vendor", "device", "--suppress rooted_by_vendor"),
    ],
)
def test_each_condition_has_a_next_step(
    code: str, kind: Literal["host", "device"], says: str
) -> None:
    assert says in advise(Void(code, 48.0, 5.0, "", 0.48), kind)


def test_the_document_that_a_next_step_names_is_there() -> None:
    assert "“Shared hosts”" in advise(Void("steal", 48.0, 5.0, ""), "host")
    assert "## Shared hosts" in (CLONE / "docs" / "ci.md").read_text()


def test_what_only_disturbs_has_a_strength_and_what_breaks_the_design_has_none() -> (
    None
):
    changes: list[dict[str, Any]] = [
        {"thermal_status": 3},
        {"throttle_count": 12},
        {"boot_id": "b"},
        {"cpus_online": 7},
        {"configuration": ["emulator"]},
        {"thermal_status": 2},
        {"cpu_frequency_cap_mhz": [3000, 2400]},
        {"steal_percent": 19.5},
    ]
    strengths = {
        void.code: void.strength
        for change in changes
        for void in find_voids(
            _readings(FIT, [FIT, {**FIT, **change}], {**FIT, **_counters(change)})
        )
    }
    assert strengths.pop("warm") == 0.30
    assert strengths.pop("frequency_cap") == 0.25
    assert strengths.pop("steal") == pytest.approx(0.1)
    assert set(strengths.values()) == {None}
    assert strengths.keys() == {"thermal", "boot_id", "core_offline", "emulator"}


def test_half_as_fast_and_twice_as_fast_are_the_same_drift() -> None:
    for before, after in ((1000.0, 2000.0), (2000.0, 1000.0)):
        (void,) = find_voids(
            _readings({"calibration_ns": before}, [], {"calibration_ns": after})
        )
        assert void.strength == 1.0
    (drift,) = find_voids(
        _readings({"calibration_ns": 33_640.0}, [], {"calibration_ns": 38_400.0})
    )
    assert drift.text == (
        "the calibration kernel took 33.64 µs before and 38.4 µs after: a drift of 14.1 %, limit 5 %"
    )


def test_an_operator_may_raise_the_pressure_limit_of_a_shared_target() -> None:
    busy = _readings({}, [{"psi_cpu_percent": 40.0}], {})
    assert find_voids(busy)
    assert find_voids(busy, VoidLimits(pressure_percent=50.0)) == []


def _cap(mhz: Any) -> dict[str, Any]:
    return {"cpu_frequency_cap_mhz": mhz}


PHONE = {"cpu0-3": 1800, "cpu4-6": 2400, "cpu7": 2850}


@pytest.mark.parametrize(
    ("before", "after", "value", "limit", "says"),
    [
        (
            PHONE,
            PHONE | {"cpu4-6": 1200},
            1200,
            2400,
            "allowed of cpu4-6 changed from 2400 to 1200 MHz",
        ),
        (
            PHONE,
            PHONE | {"cpu0-3": 1700, "cpu7": 1000},
            1000,
            2850,
            "allowed of cpu7 changed from 2850 to 1000 MHz (and of 1 more)",
        ),
        (
            [3000, 3000],
            [3000, 2400],
            2400,
            3000,
            "allowed of core 1 changed from 3000 to 2400 MHz",
        ),
        (
            3000,
            2400,
            2400,
            3000,
            "the highest CPU frequency allowed changed from 3000 to 2400 MHz",
        ),
        (PHONE, {"cpu0-3": 1800}, 1, 3, "was known of 3 groups of cores, then of 1"),
    ],
)
def test_a_cap_names_the_cores_that_were_capped(
    before: Any, after: Any, value: float, limit: float, says: str
) -> None:
    (void,) = find_voids(
        _readings(_cap(before), [_cap(before), _cap(after)], _cap(before))
    )
    assert (void.code, void.value, void.limit) == ("frequency_cap", value, limit)
    assert says in void.text


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("steal_percent", "the hypervisor took the CPU 40.0 % of the time, limit 5 %"),
        (
            "workload_wait_percent",
            "the workload waited for a CPU 40.0 % of the time, limit 5 %",
        ),
        ("psi_cpu_percent", "some task waited for a CPU 40.0 % of the time, limit 5 %"),
        (
            "psi_memory_percent",
            "some task waited for memory 40.0 % of the time, limit 5 %",
        ),
    ],
)
def test_pressure_names_the_resource_that_was_waited_for(key: str, says: str) -> None:
    (void,) = find_voids(_readings({}, [{key: 40.0}], {}))
    assert void.text == says


def test_a_cap_that_is_the_same_in_another_shape_is_no_change() -> None:
    shapes: list[Any] = [
        {"cpu_frequency_cap_mhz": {"0": 1.0, "1": 2.0}},
        {"cpu_frequency_cap_mhz": [1, 2]},
    ]
    assert find_voids(_readings(shapes[0], [shapes[1]], {})) == []


def test_a_list_of_cores_counts_like_a_number() -> None:
    voids = find_voids(
        _readings({"cpus_online": [0, 1, 2, 3]}, [{"cpus_online": [0, 1, 3]}], {})
    )
    assert [void.code for void in voids] == ["core_offline"]


COOL: dict[str, Any] = {"thermal_status": 0, "unknown": []}
SILENT: dict[str, Any] = {"unknown": ["battery_c", "thermal_status"]}


def test_a_thermal_status_that_becomes_unknown_voids() -> None:
    (void,) = find_voids(_readings(COOL, [COOL, SILENT, SILENT], COOL))
    assert (void.code, void.value, void.limit) == ("thermal_unknown", 2.0, 0.0)
    assert "unknown in 2 of 4 readings, limit 0" in void.text
    assert [void.code for void in find_voids(_readings(COOL, [], SILENT))] == [
        "thermal_unknown"
    ]


@pytest.mark.parametrize(
    ("before", "during", "after"),
    [
        (SILENT, SILENT, SILENT),  # a target that never reports it
        (SILENT, COOL, COOL),  # a target that begins to report it
        (COOL, {"unknown": ["battery_c"]}, COOL),  # a reading without it
        (COOL, {}, COOL),
        (COOL, {"unknown": None}, COOL),
        (COOL, {"thermal_status": 1, "unknown": ["thermal_status"]}, COOL),
    ],
)
def test_a_thermal_status_that_was_never_lost_voids_nothing(
    before: dict[str, Any], during: dict[str, Any], after: dict[str, Any]
) -> None:
    assert find_voids(_readings(before, [during], after)) == []


def test_throttling_and_then_silence_are_two_reasons() -> None:
    voids = find_voids(_readings({**COOL, "thermal_status": 3}, [SILENT], SILENT))
    assert [void.code for void in voids] == ["thermal", "thermal_unknown"]
