"""Parses `dumpsys battery`: charge, power and temperature.

Only the service's own block is read, and the first value of a key, because vendors add event logs and
sentences. A last line without a line end is ignored, because part of a number is another number. An
implausible value is unknown, and so is every value of an absent battery. What is not understood is listed beside the
values (`unread`).
Source: AOSP BatteryService.dumpInternal; BatteryManager's constants.
"""

from __future__ import annotations

import re

import msgspec

from paceline.devices.parsers.text_values import (
    first_line,
    integer,
    is_complaint,
    lines_of,
    quantity,
    truth,
)
from paceline.devices.parsers.thermal import sensor_celsius

STATES = {2: "charging", 3: "discharging", 4: "not charging", 5: "full"}
"""BatteryManager.BATTERY_STATUS_*; 1 is its own "unknown"."""
HEALTHS = {
    2: "good",
    3: "overheat",
    4: "dead",
    5: "over voltage",
    6: "failure",
    7: "cold",
}
COLDEST_C, HOTTEST_C = -40.0, 100.0
"""Temperatures between which a lithium cell works."""
MICROVOLTS_FROM = 100_000
"""Larger values are microvolts, because no phone's battery has 100 V."""
THOUSANDTHS_FROM = 10_000
"""Larger whole temperatures are thousandths of a degree: as tenths they would be 1,000 °C."""

_HEADER = re.compile(
    r"Current .{0,40}service state:|(?:\w+ )?battery service (?:state|status|info)\w*:?$",
    re.IGNORECASE,
)
_KEY = re.compile(r"([A-Za-z][\w ./()-]{0,60}?)\s*[:=]\s*(\S.*|)$", re.ASCII)
_LOG = re.compile(r"\[|\d\d-\d\d |\d{4}-\d\d-\d\d ")


class Battery(msgspec.Struct, frozen=True):
    """The state of a battery. `powered`: a charger is connected; `faked`: a person set or froze these values
    (`dumpsys battery set`)."""

    percent: float | None = None
    celsius: float | None = None
    millivolts: int | None = None
    powered: bool | None = None
    state: str | None = None
    health: str | None = None
    present: bool | None = None
    faked: bool = False
    unread: list[str] = []


def battery(text: str) -> Battery:
    """Read a dump. All values of a refused or empty one are unknown."""
    values, faked, complaints = _read_block(text)
    percent, present = _percent(values), truth(values.get("present"))
    temperature, voltage = values.get("temperature"), values.get("voltage")
    celsius, millivolts = _celsius(temperature), _millivolts(voltage)
    sources = {key: values[key] for key in values if key.endswith(" powered")}
    powered = {truth(source) for source in sources.values()}
    unread = complaints + [
        f"{key}: {source}" for key, source in sources.items() if truth(source) is None
    ]
    if "present" in values and present is None:
        unread.append(f"present: {values['present']}")
    if present is False or (integer(temperature) == 0 and integer(voltage) == 0):
        # A board without a battery prints these zeros.
        percent = celsius = millivolts = None
    else:
        read = {"level": percent, "temperature": celsius, "voltage": millivolts}
        unread += [
            f"{key}: {values[key]}"
            for key in read
            if key in values and read[key] is None
        ]
    if not values and first_line(text):
        unread.append(first_line(text))
    return Battery(
        percent=percent,
        celsius=celsius,
        millivolts=millivolts,
        powered=True if True in powered else False if powered == {False} else None,
        state=STATES.get(integer(values.get("status")) or 0),
        health=HEALTHS.get(integer(values.get("health")) or 0),
        present=present,
        faked=faked,
        unread=unread,
    )


def _percent(values: dict[str, str]) -> float | None:
    """Return the charge: a level on its scale, or a level in percent."""
    level, scale = quantity(values.get("level")), integer(values.get("scale", "100"))
    if level is None or level[1] not in ("", "%"):
        return None
    whole = 100 if level[1] else scale
    return (
        round(100.0 * level[0] / whole, 1) if whole and 0 <= level[0] <= whole else None
    )


def _celsius(text: str | None) -> float | None:
    """Return the temperature: whole tenths of a degree, as Android prints it; thousandths; or degrees with a unit or a
    decimal point."""
    tenths = integer(text)
    if tenths is not None and abs(tenths) < THOUSANDTHS_FROM:
        value: float | None = tenths / 10.0
    else:
        value = sensor_celsius(text or "")
    return value if value is not None and COLDEST_C < value < HOTTEST_C else None


def _millivolts(text: str | None) -> int | None:
    """Return the voltage from volts, millivolts or microvolts."""
    value, unit = quantity(text) or (0.0, "")
    if unit == "v" or (not unit and "." in (text or "") and value < 100):
        value *= 1000
    elif unit not in ("", "mv", "uv", "µv"):
        return None
    elif value >= MICROVOLTS_FROM:
        value /= 1000
    return int(value) if value > 0 else None


def _read_block(text: str) -> tuple[dict[str, str], bool, list[str]]:
    """Return the first value of each key (in lower case), whether updates were stopped, and lines about errors."""
    values: dict[str, str] = {}
    complaints: list[str] = []
    inside, indented, faked = False, False, False
    for line in lines_of(text)[:-1]:
        if not inside:
            inside = _HEADER.match(line.strip()) is not None
            continue
        stripped = line.strip()
        if _LOG.match(stripped) or _HEADER.match(stripped):
            break
        if is_complaint(stripped):
            complaints.append(stripped)
            continue
        faked = faked or "UPDATES STOPPED" in stripped
        match = _KEY.fullmatch(stripped)
        if match is None:
            continue
        is_indented = line[:1] in (" ", "\t")
        if indented and not is_indented:
            break
        indented = indented or is_indented
        values.setdefault(match.group(1).lower(), match.group(2).strip())
    return values, faked, complaints
