"""Tests that conditions are read as values with their raw text, and that unknown values are listed as unknown."""

from __future__ import annotations

from typing import Any

import pytest
from paceline.adb.port import CommandResult, LostError
from paceline.devices import conditions
from paceline.devices.conditions import DeviceConditions, DeviceReading, calibration_ns
from paceline.devices.readiness import check_readiness
from paceline.testing.fake_device import FakeDevice

from .parsers.test_battery import NO_BATTERY, PLAIN
from .parsers.test_processors import EIGHT, PHONE
from .parsers.test_small_texts import DF, TOYBOX
from .parsers.test_thermal import dump, line, zone

BOOT = "7c1e6f0a-93d2-4d0b-8a57-0f6f2f0a5b11"
ZONE = "/sys/class/thermal/thermal_zone0"
CALIBRATE = ("/data/local/tmp/paceline/selftest", "--calibrate")


def kernel_text(cpu_us: int = 1000, memory_us: int = 0, online: str = "0-7") -> str:
    return f"""\
/proc/sys/kernel/random/boot_id:{BOOT}
/proc/uptime:5321.5 30000.1
/proc/loadavg:1.50 1.20 1.10 2/900 1234
/proc/meminfo:MemTotal: 8000000 kB
/proc/meminfo:MemAvailable: 4000000 kB
/proc/meminfo:SwapTotal: 2000 kB
/proc/meminfo:SwapFree: 500 kB
/proc/pressure/cpu:some avg10=1.00 avg60=1.00 avg300=1.00 total={cpu_us}
/proc/pressure/memory:some avg10=0.00 avg60=0.00 avg300=0.00 total={memory_us}
grep: /proc/pressure/io: Permission denied
/sys/devices/system/cpu/online:{online}
"""


def clocks_text(files: dict[str, str] | None = None) -> str:
    return "".join(
        f"{path}:{text}" for path, text in (PHONE if files is None else files).items()
    )


class Clock:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def device() -> FakeDevice:
    phone = FakeDevice("PHONE1")
    phone.answers |= {
        conditions.KERNEL: kernel_text(),
        conditions.CLOCKS: clocks_text(),
        conditions.THERMAL: dump(line(41.0, 0, "CPU0"), line(33.0, 3, "SKIN")),
        conditions.BATTERY: PLAIN,
        conditions.ZONES: f"{ZONE}/type:modem\n{ZONE}/temp:38000\n",
        conditions.TOP: TOYBOX,
        ("df", "-k", "/data/local/tmp"): DF["toybox"],
        CALIBRATE: '{"v":1,"calibration_ns":123456}\n',
    }
    return phone


def make_observer(**options: Any) -> DeviceConditions:
    props = {"ro.build.type": "user", "sys.boot_completed": "1"}
    return DeviceConditions(props, calibrate=CALIBRATE, **options)


def read(
    device: FakeDevice, full: bool = True, observer: DeviceConditions | None = None
) -> DeviceReading:
    return (observer or make_observer()).read(device.connection(), full)


def test_a_full_look_has_the_keys_that_verdicts_look_at(device: FakeDevice) -> None:
    values = read(device).values
    assert values["boot_id"] == BOOT
    assert (
        values["thermal_status"],
        values["cpus_online"],
        values["calibration_ns"],
    ) == (0, 8, 123456)
    assert values["cpu_frequency_cap_mhz"] == {
        "cpu0-3": 1804.8,
        "cpu4-6": 2419.2,
        "cpu7": 3187.2,
    }
    assert (values["battery_c"], values["battery_percent"], values["on_battery"]) == (
        29.3,
        87.0,
        0,
    )
    assert values["temperature_c"] == {
        "modem": 38.0,
        "CPU0": 41.0,
        "SKIN": 33.0,
        "battery": 29.3,
    }
    assert values["cooling"] == {"thermal cpufreq 4": 3.0}
    assert (values["load_1m"], values["memory_available_bytes"]) == (
        1.5,
        4000000 * 1024,
    )
    assert (values["swap_used_bytes"], values["free_bytes"]) == (
        1500 * 1024,
        49243476 * 1024,
    )
    assert values["top"][0] == "37.9 % system_server (1234)"  # type: ignore[index]
    assert (values["configuration"], values["unknown"]) == ([], [])


def test_a_look_between_launches_asks_five_commands_and_nothing_slow(
    device: FakeDevice,
) -> None:
    reading = read(device, full=False)
    assert [tuple(call) for call in device.calls] == [
        conditions.KERNEL,
        conditions.CLOCKS,
        conditions.THERMAL,
        conditions.BATTERY,
        ("df", "-k", "/data/local/tmp"),
    ]
    assert "top" not in reading.values


def test_the_raw_text_of_every_command_stands_beside_the_values(
    device: FakeDevice,
) -> None:
    device.answers[conditions.THERMAL] = CommandResult(
        20, b"", b"Permission Denial: can't dump\n"
    )
    observer = make_observer(clock=(clock := Clock()))
    clock.s = 2.5
    raw = {raw.command: raw for raw in read(device, observer=observer).raw}
    denied = raw["dumpsys thermalservice"]
    assert (denied.status, denied.text) == (20, "Permission Denial: can't dump\n")
    assert (denied.at_ms, denied.took_ms) == (2500, 0)
    assert raw["dumpsys battery"].text == PLAIN
    assert len(raw) == 9


def test_what_a_command_complains_of_is_kept_and_not_read(device: FakeDevice) -> None:
    output, complaint = (
        PLAIN.replace("  temperature: 293\n", ""),
        "  temperature: 450\n",
    )
    device.answers[conditions.BATTERY] = CommandResult(
        0, output.encode(), complaint.encode()
    )
    reading = read(device)
    assert "battery_c" not in reading.values
    assert (
        next(raw for raw in reading.raw if raw.command == "dumpsys battery").text
        == output + complaint
    )


def test_a_long_text_is_read_whole_and_kept_cut(device: FakeDevice) -> None:
    text = "a vendor's line\n" * 5000 + dump(line(33.0, 3, "SKIN", 2))
    device.answers[conditions.THERMAL] = text
    reading = read(device)
    assert reading.values["thermal_status"] == 2
    kept = next(
        raw for raw in reading.raw if raw.command == "dumpsys thermalservice"
    ).text
    assert kept == text[: conditions.MAX_TEXT]


def test_a_board_without_a_battery_is_neither_cold_nor_empty_and_unknown_is_not_cool(
    device: FakeDevice,
) -> None:
    device.answers[conditions.BATTERY] = NO_BATTERY
    reading = read(device)
    assert reading.values["unknown"] == ["battery_c", "battery_percent"]
    assert reading.configuration == []
    assert [check.name for check in check_readiness(reading.seen) if check.blocks] == []
    device.answers[conditions.THERMAL] = dump()
    device.answers[conditions.ZONES] = zone("soc", 72) + zone(
        "pm8150b-vbat-lvl0", 3986, 1
    )
    blocking = [check for check in check_readiness(read(device).seen) if check.blocks]
    assert [(check.name, check.known) for check in blocking] == [("thermal", False)]


def test_what_the_device_does_not_tell_is_absent_and_listed_as_unknown(
    device: FakeDevice,
) -> None:
    for argv in (
        conditions.THERMAL,
        conditions.BATTERY,
        conditions.KERNEL,
        conditions.CLOCKS,
    ):
        device.answers[argv] = CommandResult(1, b"Permission denied\n")
    reading = read(device)
    assert reading.values["unknown"] == list(conditions.WANTED)
    assert not set(conditions.WANTED) & set(reading.values)
    assert reading.seen.thermal_status is None


def test_thermal_unknown_is_not_written_as_cool(device: FakeDevice) -> None:
    device.answers[conditions.THERMAL] = dump()
    values = read(device).values
    assert "thermal_status" not in values
    assert values["unknown"] == ["thermal_status"]


def test_what_each_command_says_that_is_not_understood_is_listed_by_its_source(
    device: FakeDevice,
) -> None:
    assert set(read(device).unread) == {
        "/proc",
        "cpufreq",
        "dumpsys thermalservice",
        "dumpsys battery",
        "thermal zones",
        "df",
    }
    assert not any(read(device).unread.values())
    device.answers |= {
        conditions.KERNEL: kernel_text(online="all").replace("1.50 1.20", "n/a"),
        conditions.CLOCKS: clocks_text().replace("1804800\n", "<unsupported>\n", 1),
        conditions.THERMAL: CommandResult(1, b"Error: HAL is not ready\n"),
        conditions.BATTERY: "Error: no battery\n",
        conditions.ZONES: zone("modem", "?"),
        ("df", "-k", "/data/local/tmp"): "Dateisystem 1K-Bloecke\n/data 1 1\n",
    }
    reading = read(device)
    assert {source: len(texts) for source, texts in reading.unread.items()} == {
        "/proc": 2,
        "cpufreq": 1,
        "dumpsys thermalservice": 1,
        "dumpsys battery": 1,
        "thermal zones": 1,
        "df": 1,
    }
    unknown = reading.values["unknown"]
    assert unknown == ["thermal_status", "battery_c", "battery_percent", "cpus_online"]


def test_pressure_is_the_share_since_the_look_before(device: FakeDevice) -> None:
    observer = make_observer(clock=(clock := Clock()))
    first = read(device, observer=observer).values
    assert "psi_cpu_percent" not in first
    assert first["unknown"] == []
    clock.s += 10
    device.answers[conditions.KERNEL] = kernel_text(
        cpu_us=1000 + 800_000, memory_us=50_000
    )
    values = read(device, False, observer).values
    assert (values["psi_cpu_percent"], values["psi_memory_percent"]) == (8.0, 0.5)
    clock.s += 10
    device.answers[conditions.KERNEL] = kernel_text(cpu_us=5)
    assert "psi_cpu_percent" not in read(device, False, observer).values


def test_time_in_state_between_looks_becomes_a_mean_frequency(
    device: FakeDevice,
) -> None:
    observer = make_observer()
    state = "/sys/devices/system/cpu/cpufreq/policy4/stats/time_in_state"
    device.answers[conditions.CLOCKS] = (
        clocks_text() + f"{state}:300000 10\n{state}:2419200 0\n"
    )
    assert "cpu_mean_mhz" not in read(device, observer=observer).values
    device.answers[conditions.CLOCKS] = (
        clocks_text() + f"{state}:300000 10\n{state}:2419200 500\n"
    )
    values = read(device, False, observer).values
    assert values["cpu_mean_mhz"] == {"cpu4-6": 2419.2}
    assert values["cpu_at_top_percent"] == {"cpu4-6": 100.0}


def test_a_cap_that_can_not_be_read_again_is_unknown_and_not_a_changed_cap(
    device: FakeDevice,
) -> None:
    observer = make_observer()
    read(device, observer=observer)
    remaining_files = {
        path: text
        for path, text in PHONE.items()
        if "policy7/scaling_max_freq" not in path
    }
    device.answers[conditions.CLOCKS] = clocks_text(remaining_files)
    values = read(device, False, observer).values
    assert "cpu_frequency_cap_mhz" not in values
    assert values["unknown"] == ["cpu_frequency_cap_mhz"]


def test_a_battery_that_a_person_faked_is_unknown(device: FakeDevice) -> None:
    device.answers[conditions.BATTERY] = PLAIN.replace(
        "  AC", "  (UPDATES STOPPED -- use reset)\n  AC"
    )
    reading = read(device)
    assert reading.values["unknown"] == ["battery_c", "battery_percent"]
    assert reading.seen.battery.percent is None


def test_configuration_errors_are_named_with_every_look(device: FakeDevice) -> None:
    device.answers[conditions.BATTERY] = PLAIN.replace("level: 87", "level: 20")
    reading = read(device, observer=make_observer(simulated=True))
    assert reading.values["configuration"] == ["simulated", "low_battery"]
    assert "20 %" in reading.configuration[1].text


def test_events_of_the_log_are_handed_out_once(device: FakeDevice) -> None:
    waiting = [["10-31 10:00:00.000 thermal: …"], []]
    observer = make_observer(events=lambda: waiting.pop(0))
    assert read(device, False, observer).values["events"] == [
        "10-31 10:00:00.000 thermal: …"
    ]
    assert "events" not in read(device, False, observer).values


def test_a_slow_or_refused_command_is_a_fact_and_a_lost_device_an_error(
    device: FakeDevice,
) -> None:
    device.faults.refuse_shell = True
    reading = read(device)
    assert {raw.status for raw in reading.raw} == {None}
    assert all("refuses" in raw.text for raw in reading.raw)
    device.faults.refuse_shell = False
    device.faults.lost_after = 2
    with pytest.raises(LostError):
        read(device)


def test_a_job_begins_with_what_the_cpu_can_do_and_says_it_once(
    device: FakeDevice,
) -> None:
    features = "processor : 0\nFeatures : fp asimd aes sha1 sha2\nCPU part : 0xd46\n"
    observer = make_observer()
    device.answers[conditions.CPUINFO] = "processor : 0\nCPU part : 0xd46\n"
    assert "cpu_features" not in read(device, observer=observer).values
    device.answers[conditions.CPUINFO] = features
    values = read(device, observer=observer).values
    assert values["cpu_features"] == ["aes", "asimd", "fp", "sha1", "sha2"]
    assert "cpu_features" not in read(device, observer=observer).values


def test_clusters_are_read_with_two_commands(device: FakeDevice) -> None:
    device.answers[conditions.CPUINFO] = EIGHT
    result = conditions.read_clusters(device.connection())
    assert [item.mask for item in result] == ["f", "70", "80"]


def test_a_calibration_that_says_nothing_is_absent() -> None:
    for text in (
        "",
        "not found",
        "{}",
        '{"calibration_ns":0}',
        '{"calibration_ns":true}',
        '{"calibration_ns":',
    ):
        assert calibration_ns(text) is None
    assert calibration_ns('warming up\n{"calibration_ns":77}\n') == 77


def test_the_scripts_for_a_device_use_no_brace_expansion_and_no_tr() -> None:
    for script in (conditions.CLOCKS[2], conditions.ZONES[2], conditions.TOP[2]):
        assert "{" not in script
        assert " tr " not in script
