"""Parses `dumpsys battery`: charge, power and temperature.

Only the service's own block is read, and the first value of a key, because vendors add event logs and
sentences. A last line without a line end is ignored, because part of a number is another number. An
implausible value is unknown, and so is every value of an absent battery.
Source: AOSP BatteryService.dumpInternal; BatteryManager's constants.
"""

from __future__ import annotations

import re

import msgspec

from paceline.devices.parsers.text_values import integer, lines_of

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

_HEADER = re.compile(r"Current .{0,40}[Ss]ervice state:")
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


def battery(text: str) -> Battery:
    """Reads a dump. All values of a refused or empty one are unknown."""
    values, faked = _read_block(text)
    level, scale = integer(values.get("level")), integer(values.get("scale", "100"))
    percent = None
    if level is not None and scale and 0 <= level <= scale:
        percent = round(100.0 * level / scale, 1)
    tenths, millivolts = (
        integer(values.get("temperature")),
        integer(values.get("voltage")),
    )
    present = {"true": True, "false": False}.get(values.get("present", ""))
    if present is False or (tenths == 0 and millivolts == 0):
        # A board without a battery prints these zeros.
        percent = tenths = millivolts = None
    celsius = None if tenths is None else tenths / 10.0
    if millivolts is not None and millivolts >= MICROVOLTS_FROM:
        millivolts //= 1000
    sources = {values[key] for key in values if key.endswith(" powered")}
    return Battery(
        percent=percent,
        celsius=celsius
        if celsius is not None and COLDEST_C < celsius < HOTTEST_C
        else None,
        millivolts=millivolts if millivolts is not None and millivolts > 0 else None,
        powered=True if "true" in sources else False if sources == {"false"} else None,
        state=STATES.get(integer(values.get("status")) or 0),
        health=HEALTHS.get(integer(values.get("health")) or 0),
        present=present,
        faked=faked,
    )


def _read_block(text: str) -> tuple[dict[str, str], bool]:
    """Returns the first value of each key (in lower case), and whether updates were stopped."""
    values: dict[str, str] = {}
    inside, indented, faked = False, False, False
    for line in lines_of(text)[:-1]:
        if not inside:
            inside = _HEADER.match(line.strip()) is not None
            continue
        stripped = line.strip()
        if _LOG.match(stripped) or _HEADER.match(stripped):
            break
        faked = faked or "UPDATES STOPPED" in stripped
        match = _KEY.fullmatch(stripped)
        if match is None:
            continue
        is_indented = line[:1] in (" ", "\t")
        if indented and not is_indented:
            break
        indented = indented or is_indented
        values.setdefault(match.group(1).lower(), match.group(2).strip())
    return values, faked
