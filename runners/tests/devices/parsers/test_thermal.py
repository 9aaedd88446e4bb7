"""Tests of parsing temperatures: the thermal service, kernel zones, and every kind of unknown value."""

from __future__ import annotations

import pytest
from paceline.devices.parsers.text_values import files_of
from paceline.devices.parsers.thermal import (
    cooling_levels,
    thermal,
    unread_zones,
    zones,
)

HEAD = """\
IsStatusOverride: false
ThermalEventListeners:
\tcallbacks: 2
Thermal Status: {status}
Cached temperatures:
\tTemperature{{mValue=91.5, mType=0, mName=CPU7, mStatus=3}}
\tTemperature{{mValue=44.0, mType=3, mName=SKIN, mStatus=3}}
HAL Ready: true
HAL connection:
\tThermalHAL 2.0 connected: yes
Current temperatures from HAL:
"""
TAIL = """\
Current cooling devices from HAL:
\tCoolingDevice{mValue=0, mType=2, mName=thermal-cpufreq-0}
\tCoolingDevice{mValue=3, mType=2, mName=thermal cpufreq 4}
Temperature static thresholds from HAL:
\tTemperatureThreshold{mType=3, mName=SKIN, mHotThrottlingThresholds=[NaN, NaN, 39.0, 41.0, 43.0, 46.0, 52.0]}
\tTemperatureThreshold{mType=0, mName=CPU, mHotThrottlingThresholds=[NaN, NaN, NaN, NaN, NaN, NaN, 110.0], \
mColdThrottlingThresholds=[NaN, NaN, NaN, NaN, NaN, NaN, -20.0]}
"""


def line(
    value: object,
    kind: int = 0,
    name: str = "CPU0",
    status: int = 0,
    indent: str = "\t",
) -> str:
    return f"{indent}Temperature{{mValue={value}, mType={kind}, mName={name}, mStatus={status}}}\n"


def dump(*lines: str, status: int = 0) -> str:
    return HEAD.format(status=status) + "".join(lines) + TAIL


def test_only_the_block_of_the_hal_is_read_and_the_cached_one_is_not() -> None:
    result = thermal(dump(line(41.2), line(33.0, 3, "SKIN")))
    assert result.celsius == {"CPU0": 41.2, "SKIN": 33.0}
    assert (result.status, result.reported, result.ready) == (0, 0, True)


def test_a_status_of_0_with_an_empty_block_is_unknown_and_not_cool() -> None:
    result = thermal(dump())
    assert (result.status, result.reported) == (None, 0)
    assert result.celsius == {}


def test_a_status_above_0_counts_even_where_no_sensor_tells_why() -> None:
    assert thermal(dump(status=3)).status == 3


def test_a_skin_sensor_that_is_worse_than_the_status_wins() -> None:
    assert thermal(dump(line(43.1, 3, "SKIN", 2), status=1)).status == 2
    assert thermal(dump(line(95.0, 0, "CPU0", 4), status=1)).status == 1


def test_a_throttling_sensor_of_any_kind_is_named() -> None:
    result = thermal(
        dump(
            line(95.0, 0, "CPU0", 4),
            line(1050.0, 6, "vdroop1", 1),
            line(30.0, 3, "SKIN"),
        )
    )
    assert result.throttling == {"CPU0": 4, "vdroop1": 1}


@pytest.mark.parametrize("kind", [6, 7, 8])
def test_millivolts_milliamperes_and_percent_are_no_temperatures(kind: int) -> None:
    result = thermal(dump(line(37.0, kind, "battery_cycle")))
    assert result.celsius == {}
    assert result.status is None


@pytest.mark.parametrize(
    ("said", "celsius"),
    [
        (34351.0, 34.351),
        ("-5.25", -5.25),
        ("28.000002", 28.0),
        ("4.1E1", 41.0),
        ("0.0", None),
        ("34,5", 34.5),
        ("41.5 C", 41.5),
        ("41.5°C", 41.5),
        ("41500 mC", 41.5),
        ("104 F", 40.0),
        ("41500000", 41.5),
        ("2147483647", None),
        ("41.5 X", None),
        ("41.5 41.6", None),
        ("-1500.0", -1.5),
        ("NaN", None),
        ("-99.9", None),
        ("-99900", None),
        ("-40.0", None),
        ("125.0", None),
        ("300.0", None),
        ("Infinity", None),
        ("", None),
        ("-274000.0", None),
    ],
)
def test_a_reading_has_a_known_unit_or_it_is_unknown_and_exactly_0_is_a_sensor_that_is_off(
    said: object, celsius: float | None
) -> None:
    (sensor,) = thermal(dump(line(said))).temperatures
    assert sensor.celsius == celsius


def test_a_sensor_that_fits_no_type_is_kept_but_not_called_a_temperature() -> None:
    """Vendors put differences between sensors and switches there."""
    result = thermal(dump(line(-1.8, -1, "USB2-MINUS-QI"), line(51.0, 13, "soc-a")))
    assert [sensor.type for sensor in result.temperatures] == [-1, 13]
    assert result.celsius == {"soc-a": 51.0}


@pytest.mark.parametrize("indent", ["\t", "  ", "", "\t\t"])
def test_names_with_blanks_and_commas_and_any_indent_are_read(indent: str) -> None:
    names = ["pm8550 temp alarm", "a, mType=9, b", "VIRTUAL-SKIN (back)"]
    result = thermal(
        dump(*(line(30.0 + at, 0, name, 0, indent) for at, name in enumerate(names)))
    )
    assert list(result.celsius) == names


def test_blank_lines_inside_the_block_end_nothing_and_other_words_do() -> None:
    result = thermal(
        dump(
            line(30.0),
            "\n",
            line(31.0, name="B"),
            "Some vendor's words:\n",
            line(99.0, name="C"),
        )
    )
    assert result.celsius == {"CPU0": 30.0, "B": 31.0}


def test_of_two_sensors_with_one_name_the_hotter_counts() -> None:
    assert thermal(dump(line(30.0), line(44.0), line(41.0))).celsius == {"CPU0": 44.0}


def test_cooling_in_use_is_told_from_cooling_at_rest() -> None:
    result = thermal(dump(line(30.0)))
    assert [(item.name, item.level) for item in result.cooling] == [
        ("thermal-cpufreq-0", 0),
        ("thermal cpufreq 4", 3),
    ]


def test_a_status_that_a_person_set_says_nothing_of_the_device() -> None:
    text = dump(line(33.0, 3, "SKIN", 1), status=4).replace(
        "Override: false", "Override: true"
    )
    result = thermal(text)
    assert (result.overridden, result.reported, result.status) == (True, 4, 1)
    calm = dump(line(33.0, 0, "CPU"), status=0).replace(
        "Override: false", "Override: true"
    )
    assert thermal(calm).status is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/system/bin/sh: dumpsys: inaccessible or not found\n",
        "Can't find service: thermalservice\n",
        "Permission Denial: can't dump ThermalManagerService from pid=1, uid=2000\n",
        "Thermal Status: 0\n",
        "Thermal Status: high\nCurrent temperatures from HAL:\n\tTemperature{mValue=3\n",
        dump(line(30.0)).replace("HAL Ready: true", "HAL Ready: false"),
        dump(line(30.0)).replace("connected: yes", "connected: no"),
        dump(line(30.0)).replace("Thermal Status: 0", "Thermal Status: 99"),
    ],
)
def test_what_is_refused_cut_or_not_ready_is_unknown(text: str) -> None:
    assert thermal(text).status is None


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Thermal Status: 2", 2),
        ("Thermal Status: MODERATE", 2),
        ("Thermal Status: 2 (MODERATE)", 2),
        ("mThermalStatus=2", 2),
        ("Current thermal status: moderate", 2),
        ("Thermal Status: warm", None),
    ],
)
def test_a_status_is_read_as_a_number_or_by_its_name(
    said: str, status: int | None
) -> None:
    result = thermal(dump(line(33.0, 3, "SKIN")).replace("Thermal Status: 0", said))
    assert (result.status, result.reported) == (status, status)
    assert result.unread == ([] if status else [said])


@pytest.mark.parametrize(
    "sensor",
    [
        "Temperature{mValue=44.5, mType=SKIN, mName=back, mStatus=LIGHT}",
        "Temperature{value=44.5, type=3, name=back, throttlingStatus=1}",
        "Temperature {type: SKIN, name: back, value: 44.5, throttlingStatus: LIGHT}",
        "Temperature{mName=back, mType=3, mStatus=1, mValue=44,5, mNew=7}",
    ],
)
def test_a_sensor_is_read_whatever_the_order_and_the_names_of_its_fields(
    sensor: str,
) -> None:
    result = thermal(dump(f"\t{sensor}\n", line(30.0)))
    assert result.celsius == {"back": 44.5, "CPU0": 30.0}
    assert (result.throttling, result.unread) == ({"back": 1}, [])


@pytest.mark.parametrize(
    "sensor",
    [
        "Temperature{mValue=44.0",
        "Temperature{mValue=warm, mType=3, mName=back, mStatus=0}",
        "Temperature{mValue=-99.9, mType=3, mName=back, mStatus=0}",
        "Temperature{mValue=31.0, mType=HOLE, mName=back, mStatus=0}",
        "Temperature{31.0 back}",
        "CoolingDevice{fan at full speed}",
        "Error: the HAL does not answer",
        "Temperature{mValue=31.0, mType=3, mStatus=0}",
    ],
)
def test_a_line_that_is_not_understood_is_listed_and_hides_no_other(
    sensor: str,
) -> None:
    text = dump(line(30.0)).replace(
        "CoolingDevice{mValue=3", f"{sensor}\n\tCoolingDevice{{mValue=3"
    )
    if not sensor.startswith("CoolingDevice"):
        text = dump(f"\t{sensor}\n", line(30.0))
    result = thermal(text)
    assert result.unread == [sensor]
    assert result.celsius == {"CPU0": 30.0}
    assert [device.level for device in result.cooling] == [0, 3]
    assert thermal(dump(line("NaN"), line(0.0))).unread == []


@pytest.mark.parametrize(
    "heading",
    ["Temperatures from HAL:", "current temperatures (from HAL, AIDL 3):"],
)
def test_the_block_of_the_hal_is_known_by_its_words(heading: str) -> None:
    text = dump(line(41.0)).replace("Current temperatures from HAL:", heading)
    assert thermal(text) == thermal(dump(line(41.0)))


def test_temperatures_of_a_block_nobody_knows_are_listed() -> None:
    text = dump(line(41.0)).replace("Current temperatures from HAL:", "Sensors:")
    assert (thermal(text).status, thermal(text).celsius) == (None, {})
    assert thermal(text).unread == [line(41.0).strip()]


def test_carriage_returns_of_old_transports_change_nothing() -> None:
    text = dump(line(41.0), line(33.0, 3, "SKIN", 1))
    assert thermal(text.replace("\n", "\r\n")) == thermal(text)


def test_zones_of_the_kernel_are_thousandths_and_may_be_refused() -> None:
    text = """\
/sys/class/thermal/thermal_zone0/type:cpu-0-0
/sys/class/thermal/thermal_zone1/type:battery
/sys/class/thermal/thermal_zone10/type:cpu-0-0
/sys/class/thermal/thermal_zone2/type:pm8550
/sys/class/thermal/thermal_zone3/type:modem
grep: /sys/class/thermal/thermal_zone3/temp: Permission denied
/sys/class/thermal/thermal_zone0/temp:41200
/sys/class/thermal/thermal_zone1/temp:29
/sys/class/thermal/thermal_zone10/temp:43100
/sys/class/thermal/thermal_zone2/temp:-274000
/sys/class/thermal/cooling_device0/type:cpufreq-cpu0
/sys/class/thermal/cooling_device0/cur_state:0
/sys/class/thermal/cooling_device1/type:gpu
/sys/class/thermal/cooling_device1/cur_state:2
"""
    files = files_of(text)
    assert zones(files) == {"cpu-0-0.0": 41.2, "battery": 29.0, "cpu-0-0.10": 43.1}
    assert cooling_levels(files) == {"cpufreq-cpu0": 0, "gpu": 2}


def test_zones_with_units_are_read_and_what_is_no_temperature_is_listed() -> None:
    files = files_of(
        zone("a", "41.5 C", 1)
        + zone("b", "41500 mC", 2)
        + zone("c", "unavailable", 3)
        + zone("d", -274000, 4)
        + zone("e", "", 5)
        + zone("off", 0, 6)
        + zone("soc", "high", 7)
    )
    assert zones(files) == {"a": 41.5, "b": 41.5}
    assert unread_zones(files) == ["c: unavailable", "d: -274000", "e: "]


def zone(kind: str, value: int | str, number: int = 0) -> str:
    where = f"/sys/class/thermal/thermal_zone{number}"
    return f"{where}/type:{kind}\n{where}/temp:{value}\n"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("soc", 72),
        ("socd", 28),
        ("pm8150b-vbat-lvl0", 3986),
        ("pm8150b-bcl-lvl0", 0),
        ("ibat-high", 21),
        ("vbat_low", 3986),
        ("pmi632-ibat-lvl1", 41),
        ("pm8150l-vph-lvl0", 0),
        ("pm8998_bcl", 12),
        ("PM8150B-VBAT-LVL0", 3986),
        ("battery_cycle", 37),
        ("smpl_gm", 50),
        ("soft_ocp_cpu1", 30),
        ("batoilo", 50),
        ("vdroop2", 50),
    ],
)
def test_a_zone_of_charge_voltage_or_current_is_no_temperature(
    kind: str, value: int
) -> None:
    both = zone(kind, value) + zone(kind, value, 1)
    assert zones(files_of(zone(kind, value))) == zones(files_of(both)) == {}


@pytest.mark.parametrize(
    "kind",
    [
        "soc_therm",
        "soc-thermal",
        "battery",
        "pm8150b_tz",
        "cpu-0-0-usr",
        "xo-therm-adc",
        "socket",
    ],
)
def test_a_zone_that_only_looks_like_one_of_charge_is_a_temperature(kind: str) -> None:
    assert zones(files_of(zone(kind, 41200))) == {kind: 41.2}


def test_sensors_of_no_known_type_alone_make_a_status_of_0_no_cool_one() -> None:
    assert thermal(dump(line(33.0, -1, "quiet therm"))).status is None
    assert (
        thermal(dump(line(33.0, -1, "quiet therm"), line(33.0, 3, "SKIN"))).status == 0
    )


def test_a_battery_sensor_of_exactly_0_is_not_fitted() -> None:
    result = thermal(dump(line("0.0", 2, "SUBBAT"), line(29.0, 2, "BATTERY")))
    assert result.celsius == {"BATTERY": 29.0}
    assert thermal(dump(line("0.0", 2, "SUBBAT"))).status is None
    assert thermal(dump(line("0.1", 2, "BATTERY"))).celsius == {"BATTERY": 0.1}
