"""Tests that no text makes a parser raise: truncated, of another command, or unknown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline.adb.props import properties
from paceline.devices.parsers import resources, storage, top
from paceline.devices.parsers.battery import battery
from paceline.devices.parsers.frequencies import policies, time_in_state
from paceline.devices.parsers.processors import cpu_parts, parse_cores
from paceline.devices.parsers.text_values import files_of
from paceline.devices.parsers.thermal import cooling_levels, thermal, zones

from .test_battery import PLAIN
from .test_processors import EIGHT, PHONE
from .test_small_texts import BUSYBOX, DF, GETPROP, TOOLBOX, TOYBOX
from .test_thermal import dump, line

PARSERS: list[Callable[[str], object]] = [
    properties,
    parse_cores,
    cpu_parts,
    time_in_state,
    thermal,
    battery,
    resources.load,
    resources.stalled_us,
    resources.uptime_s,
    resources.boot_id,
    resources.memory_bytes,
    storage.spaces,
    storage.free_bytes,
    top.busiest,
    files_of,
    lambda text: policies(files_of(text)),
    lambda text: zones(files_of(text)),
    lambda text: cooling_levels(files_of(text)),
]
REAL = [
    GETPROP,
    PLAIN,
    EIGHT,
    TOYBOX,
    TOOLBOX,
    BUSYBOX,
    *DF.values(),
    dump(line(41.0), line("NaN", 3, "SKIN", 2)),
    "".join(f"{path}:{text}" for path, text in PHONE.items()),
    "some avg10=1.53 avg60=0.87 avg300=0.20 total=7893421\n",
    "3.27 2.90 2.81 2/1854 21345\n",
    "/system/bin/sh: dumpsys: inaccessible or not found\n",
    "cat: /proc/x: Permission denied\n",
]


@settings(max_examples=150)
@given(
    st.sampled_from(REAL),
    st.integers(0, 4000),
    st.integers(0, 4000),
    st.text(max_size=12),
)
def test_a_text_cut_or_spoiled_anywhere_raises_in_no_parser(
    text: str, start: int, cut: int, put: str
) -> None:
    spoiled = text[start % len(text) :] + put + text[: cut % len(text)]
    for parser in PARSERS:
        parser(spoiled)


ZONE = "/sys/class/thermal/thermal_zone0/type:cpu\n/sys/class/thermal/thermal_zone0/temp:41200\n"


@pytest.mark.parametrize(
    "text", [*REAL, ZONE, ZONE.replace("thermal_zone", "cooling_device")]
)
def test_a_number_without_end_raises_in_no_parser(text: str) -> None:
    """Python turns no text of more than 4,300 digits into a number. All at once, and each of the first."""
    endless, runs = "9" * 5000, list(re.finditer(r"\d+", text))
    spoiled = [re.sub(r"\d+", endless, text)]
    spoiled += [text[: run.start()] + endless + text[run.end() :] for run in runs[:60]]
    for parser in PARSERS:
        for item in spoiled:
            parser(item)


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_unknown_text_raises_in_no_parser(text: str) -> None:
    for parser in PARSERS:
        parser(text)


@settings(max_examples=100)
@given(st.text("0123456789.-+eENaInf ", max_size=12))
def test_every_temperature_is_finite_and_one_a_phone_can_have(value: str) -> None:
    for celsius in thermal(dump(line(value))).celsius.values():
        assert math.isfinite(celsius)
        assert -40.0 < celsius < 125.0


@pytest.mark.parametrize("text", REAL)
def test_a_text_of_another_command_says_nothing_of_heat_or_charge(text: str) -> None:
    if text is not PLAIN:
        assert battery(text).percent is None
    if "Thermal Status" not in text:
        assert thermal(text).status is None
