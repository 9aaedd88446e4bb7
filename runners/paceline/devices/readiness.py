"""Decides whether a device is fit to measure on: readiness before a job, and named configuration errors.

Pure. The server judges by the same names afterwards (`stats/voids.py`). Each check blocks from an outer limit on
until an inner one, so that a device near a limit does not flicker. Without a thermal status and without any
temperature the thermal check blocks, because unknown is not cool.

    battery:      blocks from 35 °C ─────▶ ready at 32 °C    charge:  blocks below 30 % ──▶ ready at 35 %
    thermal:      blocks from 2 (moderate) ──▶ ready at 0    space:   blocks below what a job needs
    sensors, where neither is known: blocks from 60 °C ──▶ ready at 50 °C
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from paceline.devices.parsers.battery import Battery
from paceline.devices.parsers.frequencies import Policy
from paceline.devices.parsers.properties import (
    is_emulator,
    is_root_shell,
    slow_by_debugging,
)

HOT_C, COOL_C = 35.0, 32.0
"""Temperatures of the battery, which follows the case within a minute and does not jump like a core's sensor.
From 35 °C on vendors slow charging and clocks."""
HOT_SENSOR_C, COOL_SENSOR_C = 60.0, 50.0
"""Temperatures of the hottest sensor, a core's: 30 to 50 °C in a cool idle phone, 80 °C when it throttles."""
LOW_PERCENT, CHARGED_PERCENT = 30.0, 35.0
THROTTLING, CALM = 2, 0
"""PowerManager.THERMAL_STATUS_MODERATE voids a job (stats/README.md §1); NONE ends the wait."""
MINIMUM_BATTERY_PERCENT = 25.0
"""androidx.benchmark's LOW-BATTERY: below it devices save power, even on a charger."""
FREE_BYTES_NEEDED = 512 << 20
"""Space for a run's binaries, corpus and output, and for Android itself."""

UNKNOWN = Battery()

ReadinessName = Literal["booted", "thermal", "hot", "battery", "space"]
ConfigurationError = Literal[
    "emulator", "debuggable", "unlocked_clocks", "low_battery", "simulated"
]


class ReadinessInputs(msgspec.Struct, frozen=True):
    """The values that readiness checks judge; None: the device does not report it.

    `hottest_c`: the hottest of all sensors, judged only when neither a thermal status nor the battery's
    temperature is known.
    """

    thermal_status: int | None = None
    battery: Battery = UNKNOWN
    hottest_c: float | None = None
    free_bytes: int | None = None
    booted: bool | None = None


class ReadinessCheck(msgspec.Struct, frozen=True):
    """What one check found. `blocks`: no job may start; `known` False: its reading is missing."""

    name: ReadinessName
    blocks: bool
    known: bool
    text: str
    advice: str = ""


class ConfigurationProblem(msgspec.Struct, frozen=True):
    """One configuration error: a job on such a device is void unless its run suppresses the name."""

    name: ConfigurationError
    text: str
    advice: str


def check_readiness(
    inputs: ReadinessInputs,
    blocked_by: Collection[str] = (),
    free_bytes_needed: int = FREE_BYTES_NEEDED,
) -> list[ReadinessCheck]:
    """Return what every check finds, in a fixed order. `blocked_by`: names of the checks that blocked at the last
    reading, which end at their inner limit."""
    return [
        _booted(inputs),
        _thermal(inputs, "thermal" in blocked_by),
        _hot(inputs, "hot" in blocked_by),
        _battery(inputs, "battery" in blocked_by),
        _space(inputs, free_bytes_needed),
    ]


def heartbeat_values(inputs: ReadinessInputs) -> dict[str, float | int | bool | None]:
    """Return the values of a heartbeat's field `gates`; None is unknown."""
    return {
        "battery_c": inputs.battery.celsius,
        "battery_percent": inputs.battery.percent,
        "charging": inputs.battery.powered,
        "thermal_status": inputs.thermal_status,
        "free_bytes": inputs.free_bytes,
    }


def _booted(inputs: ReadinessInputs) -> ReadinessCheck:
    if inputs.booted is False:
        return ReadinessCheck(
            "booted",
            True,
            True,
            "It has not finished starting.",
            "Wait; its screen may need a PIN.",
        )
    return ReadinessCheck("booted", False, inputs.booted is not None, "It has started.")


def _thermal(inputs: ReadinessInputs, blocked: bool) -> ReadinessCheck:
    status = inputs.thermal_status
    if status is not None:
        limit = CALM + 1 if blocked else THROTTLING
        text = f"Its thermal status is {status}, measuring starts below {limit}."
        return ReadinessCheck(
            "thermal",
            status >= limit,
            True,
            text,
            "Let it cool; take it off fast charging.",
        )
    if inputs.battery.celsius is None and inputs.hottest_c is None:
        return ReadinessCheck(
            "thermal",
            True,
            False,
            "It reports neither a thermal status nor any temperature, and unknown is not cool.",
            "Check in the raw text of its conditions whether `dumpsys` was refused.",
        )
    return ReadinessCheck(
        "thermal",
        False,
        False,
        "It reports no thermal status; only its temperature is checked.",
    )


def _hot(inputs: ReadinessInputs, blocked: bool) -> ReadinessCheck:
    limit = COOL_C if blocked else HOT_C
    celsius = inputs.battery.celsius
    if (
        celsius is None
        and inputs.thermal_status is None
        and inputs.hottest_c is not None
    ):
        limit = COOL_SENSOR_C if blocked else HOT_SENSOR_C
        over = inputs.hottest_c > limit if blocked else inputs.hottest_c >= limit
        text = f"Its hottest sensor is at {inputs.hottest_c:.1f} °C, measuring starts at {limit:g} °C or below."
        return ReadinessCheck("hot", over, True, text, "Let it cool.")
    if celsius is None:
        return ReadinessCheck(
            "hot", False, False, "Its battery reports no temperature."
        )
    text = f"Its battery is at {celsius:.1f} °C, measuring starts at {limit:g} °C or below."
    return ReadinessCheck(
        "hot",
        celsius > limit if blocked else celsius >= limit,
        True,
        text,
        "Let it cool.",
    )


def _battery(inputs: ReadinessInputs, blocked: bool) -> ReadinessCheck:
    limit = CHARGED_PERCENT if blocked else LOW_PERCENT
    percent = inputs.battery.percent
    if percent is None:
        return ReadinessCheck("battery", False, False, "It does not report its charge.")
    text = f"Its battery is at {percent:g} %, measuring starts at {limit:g} %."
    return ReadinessCheck("battery", percent < limit, True, text, "Charge it.")


def _space(inputs: ReadinessInputs, needed: int) -> ReadinessCheck:
    if inputs.free_bytes is None:
        return ReadinessCheck(
            "space", False, False, "It does not report its free space."
        )
    text = f"{inputs.free_bytes >> 20} MiB are free, {needed >> 20} MiB are needed."
    return ReadinessCheck(
        "space", inputs.free_bytes < needed, True, text, "Remove files or apps."
    )


def configuration_errors(
    props: Mapping[str, str],
    policies: Collection[Policy] = (),
    battery: Battery = UNKNOWN,
    *,
    simulated: bool = False,
) -> list[ConfigurationProblem]:
    """Return the reasons for which androidx.benchmark would refuse to measure, in a fixed order.

    Clocks count as unlocked only where the shell is root, because nobody could lock them otherwise.
    """
    problems: list[ConfigurationProblem] = []
    if simulated:
        text = "It is simulated: its commands run on the host."
        problems.append(ConfigurationProblem("simulated", text, "Measure on a device."))
    if is_emulator(props):
        text = "It is an emulator: its timings are the host's."
        problems.append(ConfigurationProblem("emulator", text, "Measure on a device."))
    if marks := slow_by_debugging(props):
        text = f"It has debugging checks that slow it down: {', '.join(marks)}."
        problems.append(
            ConfigurationProblem(
                "debuggable", text, "Use a user build without debugging properties."
            )
        )
    moving = [policy for policy in policies if policy.locked is False]
    if moving and is_root_shell(props):
        cpus = ", ".join(str(cpu) for policy in moving for cpu in policy.cpus)
        text = f"Its shell is root, but the clocks of CPUs {cpus} are not locked."
        problems.append(
            ConfigurationProblem(
                "unlocked_clocks",
                text,
                "Lock them, as androidx.benchmark's lockClocks does.",
            )
        )
    if battery.percent is not None and battery.percent < MINIMUM_BATTERY_PERCENT:
        text = f"Its battery is at {battery.percent:g} %: below {MINIMUM_BATTERY_PERCENT:g} % it saves power."
        problems.append(ConfigurationProblem("low_battery", text, "Charge it."))
    return problems
