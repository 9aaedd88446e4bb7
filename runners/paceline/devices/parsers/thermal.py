"""Parses `dumpsys thermalservice` and the kernel's thermal zones: how hot a device is.

`conditions.py` makes `thermal_status` and `temperature_c` of it, which void jobs (STATISTICS §1). Only the
block after "Current temperatures from HAL:" is read; the cached one is stale. A status of 0 counts only where
that block has values, because an empty one with "connected: yes" is a service without sensors; a higher
status always counts. A value that is no plausible temperature in °C is unknown, not clipped.
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
"""What a vendor's sensor is when it fits no type: differences between sensors and switches among them."""
COLDEST_C, HOTTEST_C = -40.0, 125.0
"""Neither is reached by a phone that runs: -40, -99.9, 125 and 200 are what unconnected sensors say."""
MILLI_FROM = 1000.0
"""From here on a reading is in thousandths of a degree; between HOTTEST_C and this it is nothing."""
WORST_STATUS = 6
"""Of PowerManager.THERMAL_STATUS_NONE (0) … THERMAL_STATUS_SHUTDOWN (6)."""

_TEMPERATURE = re.compile(
    r"Temperature\{mValue=([^,{}]*), mType=(-?\d{1,9}), mName=(.*), mStatus=(-?\d{1,9})\}\s*$"
)
_COOLING = re.compile(
    r"CoolingDevice\{mValue=(-?\d{1,9}), mType=(-?\d{1,9}), mName=(.*)\}\s*$"
)
_STATUS = re.compile(r"Thermal Status:\s*(\d+)\s*$")


class Temperature(msgspec.Struct, frozen=True):
    """One sensor. `celsius` None: the sensor does not know, or measures no temperature."""

    name: str
    type: int
    celsius: float | None
    status: int | None


class Cooling(msgspec.Struct, frozen=True):
    """One means of cooling; `level` 0 is at rest."""

    name: str
    type: int
    level: int


class Thermal(msgspec.Struct, frozen=True):
    """What the thermal service says. `status` None: unknown, which is not cool.

    `overridden`: a person set the status, so it says nothing of the device and `status` is the sensors' own.
    """

    status: int | None
    reported: int | None
    overridden: bool
    ready: bool | None
    temperatures: list[Temperature]
    cooling: list[Cooling]

    @property
    def celsius(self) -> dict[str, float]:
        """Temperatures by sensor; of two with one name the hotter. Sensors of no known type are left out:
        theirs may be differences."""
        by_sensor: dict[str, float] = {}
        for sensor in self.temperatures:
            if sensor.celsius is not None and sensor.type != UNKNOWN_TYPE:
                by_sensor[sensor.name] = max(
                    sensor.celsius, by_sensor.get(sensor.name, -math.inf)
                )
        return by_sensor

    @property
    def throttling(self) -> dict[str, int]:
        """Statuses above 0 by sensor, of whatever kind: a drooping voltage throttles too."""
        return {
            sensor.name: sensor.status for sensor in self.temperatures if sensor.status
        }


def thermal(text: str) -> Thermal:
    """Reads a dump, of whatever age and vendor; a refused or empty one is all unknown."""
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
    """The framework's status is the worst of the skin's; a fresher and worse one of the skin wins."""
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
            ):  # a second cell that is not fitted (SUBBAT)
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
    """A reading in °C or thousandths of it, in °C; None for what can be neither."""
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
"""Zones that are none: vendors trip on charge (`soc` is percent), voltage and current through the same files.
A chip's own (`soc_therm`, `soc-thermal`) are temperatures."""


def zones(files: Mapping[str, str]) -> dict[str, float]:
    """Temperatures in °C by zone, from the kernel's `thermal_zone*/type` and `temp` (thousandths; old
    kernels whole degrees). Zones of one name get their number; a zone that cannot be read, or whose type
    says that it measures something else, is absent."""
    return {
        name: value
        for name, text in _numbered(files, _ZONE, "temp")
        if _NO_TEMPERATURE.search(name) is None
        and (value := celsius(number(text))) is not None
    }


def cooling_levels(files: Mapping[str, str]) -> dict[str, int]:
    """How far each of the kernel's means of cooling is in use; 0 is at rest."""
    return {
        name: level
        for name, text in _numbered(files, _DEVICE, "cur_state")
        if (level := integer(text)) is not None
    }


def _numbered(
    files: Mapping[str, str], shape: re.Pattern[str], content: str
) -> list[tuple[str, str]]:
    """(name, content of `wanted`), in the order of their numbers; names made unique."""
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
