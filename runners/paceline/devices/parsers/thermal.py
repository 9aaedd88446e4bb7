"""Parses `dumpsys thermalservice` and the kernel's thermal zones: how hot a device is.

Only the block of temperatures from the HAL is read; the cached one is stale. A status of 0 counts only if that block
has values, because a service without sensors reports 0 too. An implausible temperature is unknown, not clipped, and so
is exactly 0, which switched-off sensors report. What is not understood is listed beside the values (`unread`).
Sources: AOSP ThermalManagerService.dumpInternal, android.hardware.thermal TemperatureType.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from paceline.devices.parsers.text_values import (
    first_line,
    integer,
    is_complaint,
    lines_of,
    number,
    quantity,
)

SKIN, BATTERY = 3, 2
NO_TEMPERATURES = frozenset({6, 7, 8})
"""TemperatureType BCL_VOLTAGE, BCL_CURRENT and BCL_PERCENTAGE: millivolts, milliamperes, percent."""
UNKNOWN_TYPE = -1
"""The type of a vendor's other sensors, such as differences between sensors, and switches."""
COLDEST_C, HOTTEST_C = -40.0, 125.0
"""Limits that no running phone reaches. Unconnected sensors report -40, -99.9, 125 or 200."""
MILLI_FROM, MICRO_FROM = 1000.0, 1e7
"""Larger readings are in thousandths or millionths of a degree; values between HOTTEST_C and MILLI_FROM are invalid."""
WORST_STATUS = 6
"""PowerManager.THERMAL_STATUS_SHUTDOWN; THERMAL_STATUS_NONE is 0."""

TYPES = [
    "CPU",
    "GPU",
    "BATTERY",
    "SKIN",
    "USB_PORT",
    "POWER_AMPLIFIER",
    "BCL_VOLTAGE",
    "BCL_CURRENT",
    "BCL_PERCENTAGE",
    "NPU",
    "TPU",
    "DISPLAY",
    "MODEM",
    "SOC",
    "WIFI",
    "CAMERA",
    "FLASHLIGHT",
    "SPEAKER",
    "AMBIENT",
    "POGO",
]
"""TemperatureType from 0 on."""
STATUSES = ["NONE", "LIGHT", "MODERATE", "SEVERE", "CRITICAL", "EMERGENCY", "SHUTDOWN"]
"""ThrottlingSeverity from 0 on."""

_BLOCK = re.compile(
    r"(?!.*threshold)(?:current\s+)?(temperature|cooling device)s?\b.*\bHAL\b.*:$",
    re.IGNORECASE,
)
_AOSP = re.compile(
    r"(?:Temperature|CoolingDevice)\{mValue=(?P<value>[^{}]*?), mType=(?P<type>[^,{}]*), "
    r"mName=(?P<name>.*?)(?:, mStatus=(?P<status>[^,{}]*))?\}$"
)
_ENTRY = re.compile(r"(?:Temperature|CoolingDevice)\s?\{(.*)\}$")
_FIELD = re.compile(r"(?:^|,)\s*(?:m(?=[A-Z]))?([A-Za-z]\w*)\s*[=:]\s*")
_STATUS = re.compile(r"(?:current )?m?Thermal\s?Status\s*[:=]\s*(\S.*)$", re.IGNORECASE)


class Temperature(msgspec.Struct, frozen=True):
    """One sensor. `celsius` None: unknown, or the sensor does not measure a temperature."""

    name: str
    type: int
    celsius: float | None
    status: int | None


class Cooling(msgspec.Struct, frozen=True):
    """One cooling device. `level` 0: not in use."""

    name: str
    type: int
    level: int


class Thermal(msgspec.Struct, frozen=True):
    """The thermal service's report. `status` None: unknown, which is not cool.

    `overridden`: a person set the service's status, so `status` comes from the sensors.
    """

    status: int | None
    reported: int | None
    overridden: bool
    ready: bool | None
    temperatures: list[Temperature]
    cooling: list[Cooling]
    unread: list[str] = []

    @property
    def celsius(self) -> dict[str, float]:
        """Return temperatures by sensor; of two with the same name, the hotter one. Sensors of unknown type are left
        out, because they may report differences."""
        by_sensor: dict[str, float] = {}
        for sensor in self.temperatures:
            if sensor.celsius is not None and sensor.type != UNKNOWN_TYPE:
                by_sensor[sensor.name] = max(
                    sensor.celsius, by_sensor.get(sensor.name, -math.inf)
                )
        return by_sensor

    @property
    def throttling(self) -> dict[str, int]:
        """Return statuses above 0 by sensor of any type, because a drooping voltage throttles too."""
        return {
            sensor.name: sensor.status for sensor in self.temperatures if sensor.status
        }


def thermal(text: str) -> Thermal:
    """Read a dump of any version and vendor. All values of a refused or empty one are unknown."""
    dump = _Dump()
    for line in lines_of(text):
        dump.read_line(line.strip())
    if dump.reported is None and not dump.temperatures and not dump.unread:
        dump.unread += filter(None, [first_line(text)])
    return Thermal(
        status=_status(dump.reported, dump.overridden, dump.ready, dump.temperatures),
        reported=dump.reported,
        overridden=dump.overridden,
        ready=dump.ready,
        temperatures=dump.temperatures,
        cooling=dump.cooling,
        unread=dump.unread,
    )


class _Dump:
    """Collects what the lines state, one after another. `block`: the block that the current line is in; "": none that is known."""

    def __init__(self) -> None:
        self.reported: int | None = None
        self.overridden = False
        self.ready: bool | None = None
        self.temperatures: list[Temperature] = []
        self.cooling: list[Cooling] = []
        self.unread: list[str] = []
        self.block = ""

    def read_line(self, line: str) -> None:
        if line.startswith(("Temperature{", "Temperature {")):
            if self.block == "temperature":
                _read_temperature(line, self.temperatures, self.unread)
            elif not self.block:
                self.unread.append(line)
        elif line.startswith(("CoolingDevice{", "CoolingDevice {")):
            if self.block == "cooling device":
                _read_cooling(line, self.cooling, self.unread)
        elif is_complaint(line):
            self.unread.append(line)
        elif line and not line.startswith("TemperatureThreshold"):
            self._read_other_line(line)

    def _read_other_line(self, line: str) -> None:
        """Read a line that is no entry, and so ends the block before it."""
        heading = _BLOCK.match(line)
        cached = "cached" if line.lower().startswith("cached") else ""
        self.block = heading[1].lower() if heading else cached
        if (status := _STATUS.match(line)) is not None and self.reported is None:
            self.reported = _number_of_name(status[1], STATUSES)
            if self.reported is None:
                self.unread.append(line)
        self.overridden = self.overridden or line == "IsStatusOverride: true"
        if line.startswith("HAL Ready:") or line.endswith("connected: no"):
            self.ready = line.endswith("true")


def _status(
    reported: int | None,
    overridden: bool,
    ready: bool | None,
    temperatures: Sequence[Temperature],
) -> int | None:
    """Return the worse of the service's status and the skin sensors' statuses; the sensors' may be more recent."""
    known = [sensor for sensor in temperatures if sensor.status is not None]
    skin = max(
        (sensor.status or 0 for sensor in known if sensor.type == SKIN), default=0
    )
    real = (
        reported
        if reported is not None and reported <= WORST_STATUS and not overridden
        else None
    )
    worst = max(skin, real or 0)
    if worst > 0:
        return worst
    has_values = ready is not False and any(
        sensor.celsius is not None and sensor.type != UNKNOWN_TYPE
        for sensor in temperatures
    )
    stated = real is not None or (
        overridden and any(sensor.type == SKIN for sensor in known)
    )
    return 0 if has_values and stated else None


def _read_temperature(
    line: str, temperatures: list[Temperature], unread: list[str]
) -> None:
    """Add the sensor of a line, whatever the order of its fields, and the line to `unread` where a value is none."""
    fields = _fields(line)
    kind = _number_of_name(fields.get("type", ""), TYPES)
    if kind is None and fields.get("type", "").upper() in ("-1", "UNKNOWN"):
        kind = UNKNOWN_TYPE
    status = _number_of_name(fields.get("status", ""), STATUSES)
    if "name" not in fields or kind is None:
        unread.append(line)
        return
    text = fields.get("value", "")
    value = None if kind in NO_TEMPERATURES else sensor_celsius(text)
    temperatures.append(
        Temperature(
            fields["name"],
            kind,
            value,
            status if status is not None and 0 <= status <= WORST_STATUS else None,
        )
    )
    if (value is None and _should_be_temperature(text, kind)) or status is None:
        unread.append(line)


def _should_be_temperature(text: str, kind: int) -> bool:
    """Return whether `text` is none of the forms in which the HAL says that it does not know a temperature."""
    return (
        kind not in {*NO_TEMPERATURES, UNKNOWN_TYPE}
        and text.lower() not in ("nan", "infinity", "")
        and number(text) != 0
    )


def _read_cooling(line: str, cooling: list[Cooling], unread: list[str]) -> None:
    fields = _fields(line)
    level, kind = integer(fields.get("value")), integer(fields.get("type"))
    if level is None or "name" not in fields:
        unread.append(line)
    else:
        cooling.append(
            Cooling(fields["name"], UNKNOWN_TYPE if kind is None else kind, level)
        )


def _fields(line: str) -> dict[str, str]:
    """Return the fields of an entry by the names `value`, `type`, `name` and `status`, in any order. In AOSP's order a
    name may hold commas and what looks like a field."""
    known = _AOSP.match(line)
    if known is not None:
        return {
            name: text for name, text in known.groupdict().items() if text is not None
        }
    entry = _ENTRY.match(line)
    fields: dict[str, str] = {}
    if entry is not None:
        parts = _FIELD.split(entry[1])
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            fields.setdefault(name.lower().removeprefix("throttling"), text.strip())
    return fields


def _number_of_name(text: str, names: Sequence[str]) -> int | None:
    """Return the number in `3`, `SKIN`, `3 (SKIN)` or `SKIN (3)`; None for any other text."""
    words = re.findall(r"-?\w+", text)
    numbers = [value for word in words if (value := integer(word)) is not None]
    if numbers:
        return numbers[0]
    known = [names.index(word.upper()) for word in words if word.upper() in names]
    return known[0] if len(words) == 1 and known else None


_SCALES = {
    "": (1.0, 0.0),
    "c": (1.0, 0.0),
    "degc": (1.0, 0.0),
    "mc": (0.001, 0.0),
    "mdegc": (0.001, 0.0),
    "f": (1 / 1.8, 32.0),
    "k": (1.0, 273.15),
}
"""Degrees and the zero of each unit."""


def sensor_celsius(text: str) -> float | None:
    """Return a sensor's temperature in °C from a text in °C, °F, kelvin, thousandths or millionths of a degree; None
    when it is none of them, and for exactly 0."""
    value, unit = quantity(text) or (0.0, "")
    if value == 0 or unit not in _SCALES:
        return None
    if not unit:
        return celsius(value)
    factor, zero = _SCALES[unit]
    return _plausible((value - zero) * factor)


def celsius(value: float) -> float | None:
    """Convert a reading in °C, thousandths or millionths of a degree to °C; None when it is none of them."""
    if abs(value) >= MICRO_FROM:
        value /= 1e6
    elif abs(value) >= MILLI_FROM:
        value /= 1000.0
    return _plausible(value)


def _plausible(value: float) -> float | None:
    return round(value, 3) if COLDEST_C < value < HOTTEST_C else None


_ZONE = re.compile(r"/thermal_zone(\d{1,9})/(type|temp)$")
_DEVICE = re.compile(r"/cooling_device(\d{1,9})/(type|cur_state)$")

_NO_TEMPERATURE = re.compile(
    r"^(soc|socd)(\.\d+)?$|[-_](ibat|vbat|bcl|vph)([-_.]|$)|^(ibat|vbat|bcl)|cycle|smpl|ocp|batoilo|vdroop",
    re.IGNORECASE | re.ASCII,
)
"""Zones that are not temperatures: vendors report charge (`soc` is percent), voltage and current as zones too.
`soc_therm` and `soc-thermal`, of a chip, are temperatures."""


def zones(files: Mapping[str, str]) -> dict[str, float]:
    """Return temperatures in °C by zone, from the kernel's `thermal_zone*/type` and `temp` (thousandths; whole degrees
    on old kernels). Zones with the same name get their number. Unreadable zones and those that measure something
    else are absent."""
    return {
        name: value
        for name, text in _temperature_zones(files)
        if (value := sensor_celsius(text)) is not None
    }


def unread_zones(files: Mapping[str, str]) -> list[str]:
    """Return the zones whose text is no temperature that a phone can have, nor the 0 of a sensor that is off."""
    return [
        f"{name}: {text}"
        for name, text in _temperature_zones(files)
        if sensor_celsius(text) is None and number(text) != 0
    ]


def _temperature_zones(files: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (name, text)
        for name, text in _numbered_sensors(files, _ZONE, "temp")
        if _NO_TEMPERATURE.search(name) is None
    ]


def cooling_levels(files: Mapping[str, str]) -> dict[str, int]:
    """Return the level of each of the kernel's cooling devices; 0 is not in use."""
    return {
        name: level
        for name, text in _numbered_sensors(files, _DEVICE, "cur_state")
        if (level := integer(text)) is not None
    }


def _numbered_sensors(
    files: Mapping[str, str], shape: re.Pattern[str], content: str
) -> list[tuple[str, str]]:
    """Return (unique name, text of the file `content`) in the order of their numbers."""
    zones: dict[int, dict[str, str]] = {}
    for path, text in files.items():
        if (split := shape.search(path)) is not None:
            zones.setdefault(int(split.group(1)), {})[split.group(2)] = text.strip()
    whole = [
        (index, texts) for index, texts in sorted(zones.items()) if content in texts
    ]
    named = [(index, texts.get("type", ""), texts[content]) for index, texts in whole]
    repeated = {
        name for _, name, _ in named if sum(other == name for _, other, _ in named) > 1
    }
    return [
        (f"{name}.{index}" if name in repeated or not name else name, text)
        for index, name, text in named
    ]
