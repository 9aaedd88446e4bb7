"""Parses `dumpsys thermalservice` and the kernel's thermal zones: how hot a device is.

Only the block after "Current temperatures from HAL:" is read; the cached one is stale. A status of 0 counts only
if that block has values, because a service without sensors reports 0 too. An implausible temperature is
unknown, not clipped.
Sources: AOSP ThermalManagerService.dumpInternal, android.hardware.thermal TemperatureType.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from paceline.devices.parsers.text_values import integer, lines_of, number

SKIN, BATTERY = 3, 2
NO_TEMPERATURES = frozenset({6, 7, 8})
"""TemperatureType BCL_VOLTAGE, BCL_CURRENT and BCL_PERCENTAGE: millivolts, milliamperes, percent."""
UNKNOWN_TYPE = -1
"""The type of a vendor's other sensors, such as differences between sensors, and switches."""
COLDEST_C, HOTTEST_C = -40.0, 125.0
"""Limits that no running phone reaches. Unconnected sensors report -40, -99.9, 125 or 200."""
MILLI_FROM = 1000.0
"""Larger readings are in thousandths of a degree; values between HOTTEST_C and this are invalid."""
WORST_STATUS = 6
"""PowerManager.THERMAL_STATUS_SHUTDOWN; THERMAL_STATUS_NONE is 0."""

_TEMPERATURE = re.compile(
    r"Temperature\{mValue=([^,{}]*), mType=(-?\d{1,9}), mName=(.*), mStatus=(-?\d{1,9})\}\s*$"
)
_COOLING = re.compile(
    r"CoolingDevice\{mValue=(-?\d{1,9}), mType=(-?\d{1,9}), mName=(.*)\}\s*$"
)
_STATUS = re.compile(r"Thermal Status:\s*(\d+)\s*$")


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

    @property
    def celsius(self) -> dict[str, float]:
        """Temperatures by sensor; the hotter of two with the same name. Sensors of unknown type are left out,
        because they may report differences."""
        by_sensor: dict[str, float] = {}
        for sensor in self.temperatures:
            if sensor.celsius is not None and sensor.type != UNKNOWN_TYPE:
                by_sensor[sensor.name] = max(
                    sensor.celsius, by_sensor.get(sensor.name, -math.inf)
                )
        return by_sensor

    @property
    def throttling(self) -> dict[str, int]:
        """Statuses above 0 by sensor of any type, because a drooping voltage throttles too."""
        return {
            sensor.name: sensor.status for sensor in self.temperatures if sensor.status
        }


def thermal(text: str) -> Thermal:
    """Reads a dump of any version and vendor. All values of a refused or empty one are unknown."""
    reported: int | None = None
    overridden, ready = False, None
    blocks: dict[str, list[str]] = {}
    block: list[str] | None = None
    for raw in lines_of(text):
        line = raw.strip()
        if line.endswith("from HAL:"):
            block = blocks.setdefault(line, [])
        elif line.startswith(
            ("Temperature{", "TemperatureThreshold{", "CoolingDevice{")
        ):
            if block is not None:
                block.append(line)
        elif line:
            block = None
            if (status := _STATUS.match(line)) is not None and reported is None:
                reported = integer(status.group(1))
            overridden = overridden or line == "IsStatusOverride: true"
            if line.startswith("HAL Ready:") or line.endswith("connected: no"):
                ready = line.endswith("true")
    temperatures = _temperatures(blocks.get("Current temperatures from HAL:", []))
    return Thermal(
        status=_status(reported, overridden, ready, temperatures),
        reported=reported,
        overridden=overridden,
        ready=ready,
        temperatures=temperatures,
        cooling=[
            Cooling(match.group(3), int(match.group(2)), int(match.group(1)))
            for line in blocks.get("Current cooling devices from HAL:", [])
            if (match := _COOLING.match(line)) is not None
        ],
    )


def _status(
    reported: int | None,
    overridden: bool,
    ready: bool | None,
    temperatures: Sequence[Temperature],
) -> int | None:
    """The worse of the service's status and the skin sensors' statuses; the sensors' may be more recent."""
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


def _temperatures(lines: Sequence[str]) -> list[Temperature]:
    temperatures: list[Temperature] = []
    for line in lines:
        if (split := _TEMPERATURE.match(line)) is not None:
            kind, status = int(split.group(2)), int(split.group(4))
            value = None if kind in NO_TEMPERATURES else celsius(number(split.group(1)))
            if (
                kind == BATTERY and value == 0.0
            ):  # a second cell that is missing (SUBBAT)
                value = None
            temperatures.append(
                Temperature(
                    split.group(3),
                    kind,
                    value,
                    status if 0 <= status <= WORST_STATUS else None,
                )
            )
    return temperatures


def celsius(value: float | None) -> float | None:
    """Converts a reading in °C or thousandths of a degree to °C; None when it is neither."""
    if value is None:
        return None
    if abs(value) >= MILLI_FROM:
        value /= 1000.0
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
    """Temperatures in °C by zone, from the kernel's `thermal_zone*/type` and `temp` (thousandths; whole degrees
    on old kernels). Zones with the same name get their number. Unreadable zones and those that measure something
    else are absent."""
    return {
        name: value
        for name, text in _numbered_sensors(files, _ZONE, "temp")
        if _NO_TEMPERATURE.search(name) is None
        and (value := celsius(number(text))) is not None
    }


def cooling_levels(files: Mapping[str, str]) -> dict[str, int]:
    """The level of each of the kernel's cooling devices; 0 is not in use."""
    return {
        name: level
        for name, text in _numbered_sensors(files, _DEVICE, "cur_state")
        if (level := integer(text)) is not None
    }


def _numbered_sensors(
    files: Mapping[str, str], shape: re.Pattern[str], content: str
) -> list[tuple[str, str]]:
    """Returns (unique name, text of the file `content`) in the order of their numbers."""
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
