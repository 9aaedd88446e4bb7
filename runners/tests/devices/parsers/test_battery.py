"""Tests of parsing `dumpsys battery`, with the additions of vendors."""

from __future__ import annotations

import pytest
from paceline.devices.parsers.battery import Battery, battery

PLAIN = """\
Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Max charging current: 500000
  Charge counter: 3270000
  status: 2
  health: 2
  present: true
  level: 87
  scale: 100
  voltage: 4211
  temperature: 293
  technology: Li-ion
"""


def test_a_plain_dump_is_read_with_its_units() -> None:
    assert battery(PLAIN) == Battery(
        percent=87.0,
        celsius=29.3,
        millivolts=4211,
        powered=True,
        state="charging",
        health="good",
        present=True,
    )


@pytest.mark.parametrize("indent", ["\t", "    ", ""])
def test_any_indent_and_carriage_returns_read_the_same(indent: str) -> None:
    assert battery(PLAIN.replace("  ", indent).replace("\n", "\r\n")) == battery(PLAIN)


def test_the_first_value_of_the_services_block_wins() -> None:
    text = PLAIN + "  level: 12\n  voltage: 9\n  mSavedBatteryAsoc: 88\n"
    assert (battery(text).percent, battery(text).millivolts) == (87.0, 4211)


def test_an_event_log_behind_the_block_adds_nothing_that_was_missing() -> None:
    short = PLAIN.replace("  temperature: 293\n", "")
    log = "[EventLogBuffer]\n08-11 18:34:14.721  Sending: level:72, temperature:345\n  temperature: 345\n"
    assert battery(short + log).celsius is None
    assert (
        battery(short + "08-11 18:34:14.721 changed\n  temperature: 345\n").celsius
        is None
    )
    assert battery(short + "SecBattery:\n  temperature: 345\n").celsius is None


def test_sentences_between_the_lines_are_passed_over() -> None:
    text = PLAIN.replace(
        "  level", "  Battery charging is limited, protect battery is on\n  level"
    )
    assert battery(text) == battery(PLAIN)


def test_figures_a_person_froze_are_called_so() -> None:
    text = PLAIN.replace("  AC", "  (UPDATES STOPPED -- use 'reset' to restart)\n  AC")
    assert battery(text).faked
    assert not battery(PLAIN).faked


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ("scale: 100", "scale: 1000", "percent", 8.7),
        ("scale: 100", "scale: 0", "percent", None),
        ("level: 87", "level: -1", "percent", None),
        ("level: 87", "level: 120", "percent", None),
        ("level: 87", "level: full", "percent", None),
        ("  scale: 100\n", "", "percent", 87.0),
        ("temperature: 293", "temperature: -52", "celsius", -5.2),
        ("temperature: 293", "temperature: 0", "celsius", 0.0),
        ("temperature: 293", "temperature: -2147483648", "celsius", None),
        ("temperature: 293", "temperature: 2930", "celsius", None),
        ("voltage: 4211", "voltage: 4211000", "millivolts", 4211),
        ("voltage: 4211", "voltage: 0", "millivolts", None),
        ("USB powered: true", "USB powered: false", "powered", False),
        ("status: 2", "status: 1", "state", None),
        ("health: 2", "health: 3", "health", "overheat"),
        ("technology", "Dock powered: true\n  technology", "powered", True),
    ],
)
def test_an_impossible_figure_is_unknown(
    old: str, new: str, field: str, value: object
) -> None:
    assert old in PLAIN
    assert getattr(battery(PLAIN.replace(old, new)), field) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Can't find service: battery\n",
        "  level: 40\n",
        "Permission Denial: can't dump battery\n",
    ],
)
def test_a_refused_command_leaves_values_unknown(text: str) -> None:
    assert battery(text) == Battery(unread=text.splitlines() and [text.strip()])


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ("level: 87", "level: 87%", "percent", 87.0),
        ("level: 87", "Level = 87 %", "percent", 87.0),
        ("temperature: 293", "temperature: 29300", "celsius", 29.3),
        ("temperature: 293", "temperature: 29.3", "celsius", 29.3),
        ("temperature: 293", "temperature: 29,3 °C", "celsius", 29.3),
        ("temperature: 293", "temperature: 302.45 K", "celsius", 29.3),
        ("temperature: 293", "temperature: -5.5", "celsius", -5.5),
        ("voltage: 4211", "voltage: 4.211", "millivolts", 4211),
        ("voltage: 4211", "voltage: 4211 mV", "millivolts", 4211),
        ("USB powered: true", "USB powered: yes", "powered", True),
        ("Current Battery Service state:", "Battery Service status", "percent", 87.0),
    ],
)
def test_other_units_and_words_of_vendors_are_read(
    old: str, new: str, field: str, value: object
) -> None:
    assert old in PLAIN
    result = battery(PLAIN.replace(old, new))
    assert (getattr(result, field), result.unread) == (value, [])


@pytest.mark.parametrize(
    ("old", "new", "unread"),
    [
        ("temperature: 293", "temperature: warm", "temperature: warm"),
        ("temperature: 293", "temperature: 29.3 X", "temperature: 29.3 X"),
        ("temperature: 293", "temperature: -2147483648", "temperature: -2147483648"),
        ("level: 87", "level: ?", "level: ?"),
        ("USB powered: true", "USB powered: maybe", "usb powered: maybe"),
        ("temperature: 293\n", "\nError: no sensor\n", "Error: no sensor"),
    ],
)
def test_a_value_that_is_not_understood_is_listed_and_hides_no_other(
    old: str, new: str, unread: str
) -> None:
    result = battery(PLAIN.replace(old, new))
    assert result.unread == [unread]
    known = (result.percent, result.celsius, result.powered)
    assert sum(value is None for value in known) == 1
    assert battery(PLAIN).unread == []
    assert battery(NO_BATTERY).unread == []


def test_power_without_a_line_is_unknown() -> None:
    assert battery("Current Battery Service state:\n  level: 40\n").powered is None


ZEROS = PLAIN.replace("level: 87", "level: 0").replace(
    "temperature: 293", "temperature: 0"
)
NO_BATTERY = ZEROS.replace("present: true", "present: false").replace(
    "voltage: 4211", "voltage: 0"
)


@pytest.mark.parametrize(
    "text",
    [
        NO_BATTERY,
        ZEROS.replace("present: true", "present: false"),
        ZEROS.replace("voltage: 4211", "voltage: 0"),
    ],
)
def test_a_board_without_a_battery_has_none_that_is_cold_and_empty(text: str) -> None:
    result = battery(text)
    assert (result.percent, result.celsius, result.millivolts) == (None, None, None)
    assert result.powered is True


def test_a_battery_that_is_empty_or_at_0_degrees_is_one() -> None:
    result = battery(ZEROS)
    assert (result.percent, result.celsius, result.millivolts) == (0.0, 0.0, 4211)


@pytest.mark.parametrize("end", ["", "\r"])
def test_a_number_that_was_cut_off_is_unknown(end: str) -> None:
    cut = PLAIN[: PLAIN.index("temperature: 293") + len("temperature: 29")]
    assert battery(cut + end) == battery(PLAIN[: PLAIN.index("  temperature")])
    assert battery(cut + "\n").celsius == 2.9
