"""Decides whether a device is fit to measure on: gates before a job, and named configuration errors.

The health check and every job ask before they measure; the server judges by the same names afterwards
(`stats/voids.py`). Pure: takes what was read. Each gate has two limits, so that a device near one does not
flicker: a gate that closed at the outer limit opens at the inner one. With neither a thermal status nor a
temperature the thermal gate holds, because unknown is not cool. A run suppresses a configuration error by its
name.

    battery:      35 °C holds ──────▶ 32 °C lets go        charge:  below 30 % holds ──▶ 35 % lets go
    thermal:      2 (moderate) holds ──▶ 0 lets go         space:   below what a job needs holds
    sensors, where neither is known: 60 °C holds ──▶ 50 °C lets go
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
"""Of the battery: it follows the case within a minute and does not jump as the cores' sensors do. 35 °C is
where vendors begin to slow charging and clocks."""
HOT_SENSOR_C, COOL_SENSOR_C = 60.0, 50.0
"""Of the hottest sensor, which is a core's: 30 to 50 °C in a cool idle phone, 80 °C when it throttles."""
LOW_PERCENT, CHARGED_PERCENT = 30.0, 35.0
THROTTLING, CALM = 2, 0
"""PowerManager.THERMAL_STATUS_MODERATE voids a job (STATISTICS §1); NONE ends the wait."""
MINIMUM_BATTERY_PERCENT = 25.0
"""androidx.benchmark's LOW-BATTERY: below it devices save power, on a charger too."""
FREE_BYTES_NEEDED = 512 << 20
"""For a run's binaries, its corpus and its output, with the room Android itself wants."""

UNKNOWN = Battery()

GateName = Literal["booted", "thermal", "hot", "battery", "space"]
ConfigurationError = Literal[
    "emulator", "debuggable", "unlocked_clocks", "low_battery", "simulated"
]


class GateInputs(msgspec.Struct, frozen=True):
    """The values that gates judge; None: the device does not tell.

    `hottest_c`: of all its sensors, judged only when neither a thermal status nor the battery's own
    temperature is told.
    """

    thermal_status: int | None = None
    battery: Battery = UNKNOWN
    hottest_c: float | None = None
    free_bytes: int | None = None
    booted: bool | None = None


class Gate(msgspec.Struct, frozen=True):
    """The state of one gate. `holds`: no job may start; `known` False: its reading is missing."""

    name: GateName
    holds: bool
    known: bool
    text: str
    advice: str = ""


class ConfigurationProblem(msgspec.Struct, frozen=True):
    """One configuration error: a job on such a device is void unless its run suppresses the name."""

    name: ConfigurationError
    text: str
    advice: str


def evaluate_gates(
    inputs: GateInputs,
    held: Collection[str] = (),
    free_bytes_needed: int = FREE_BYTES_NEEDED,
) -> list[Gate]:
    """The state of every gate, in a fixed order. `held`: names of gates that held at the last reading; they
    let go at the inner limit."""
    return [
        _booted(inputs),
        _thermal(inputs, "thermal" in held),
        _hot(inputs, "hot" in held),
        _battery(inputs, "battery" in held),
        _space(inputs, free_bytes_needed),
    ]


def heartbeat_values(inputs: GateInputs) -> dict[str, float | int | bool | None]:
    """For the heartbeat's `gates`: null is unknown."""
    return {
        "battery_c": inputs.battery.celsius,
        "battery_percent": inputs.battery.percent,
        "charging": inputs.battery.powered,
        "thermal_status": inputs.thermal_status,
        "free_bytes": inputs.free_bytes,
    }


def _booted(inputs: GateInputs) -> Gate:
    if inputs.booted is False:
        return Gate(
            "booted",
            True,
            True,
            "It has not finished starting.",
            "Wait; its screen may need a PIN.",
        )
    return Gate("booted", False, inputs.booted is not None, "It has started.")


def _thermal(inputs: GateInputs, held: bool) -> Gate:
    status = inputs.thermal_status
    if status is not None:
        limit = CALM + 1 if held else THROTTLING
        text = f"Its thermal status is {status}, measuring starts below {limit}."
        return Gate(
            "thermal",
            status >= limit,
            True,
            text,
            "Let it cool; take it off fast charging.",
        )
    if inputs.battery.celsius is None and inputs.hottest_c is None:
        return Gate(
            "thermal",
            True,
            False,
            "It tells neither a thermal status nor any temperature, and unknown is not cool.",
            "See the raw text of its conditions: was `dumpsys` refused?",
        )
    return Gate(
        "thermal",
        False,
        False,
        "It tells no thermal status; only its temperature is looked at.",
    )


def _hot(inputs: GateInputs, held: bool) -> Gate:
    limit = COOL_C if held else HOT_C
    celsius = inputs.battery.celsius
    if (
        celsius is None
        and inputs.thermal_status is None
        and inputs.hottest_c is not None
    ):
        limit = COOL_SENSOR_C if held else HOT_SENSOR_C
        over = inputs.hottest_c > limit if held else inputs.hottest_c >= limit
        text = f"Its hottest sensor is at {inputs.hottest_c:.1f} °C, measuring starts at {limit:g} °C or below."
        return Gate("hot", over, True, text, "Let it cool.")
    if celsius is None:
        return Gate("hot", False, False, "Its battery tells no temperature.")
    text = f"Its battery is at {celsius:.1f} °C, measuring starts at {limit:g} °C or below."
    return Gate(
        "hot", celsius > limit if held else celsius >= limit, True, text, "Let it cool."
    )


def _battery(inputs: GateInputs, held: bool) -> Gate:
    limit = CHARGED_PERCENT if held else LOW_PERCENT
    percent = inputs.battery.percent
    if percent is None:
        return Gate("battery", False, False, "It tells no charge.")
    text = f"Its battery is at {percent:g} %, measuring starts at {limit:g} %."
    return Gate("battery", percent < limit, True, text, "Charge it.")


def _space(inputs: GateInputs, needed: int) -> Gate:
    if inputs.free_bytes is None:
        return Gate("space", False, False, "It does not tell its free space.")
    text = f"{inputs.free_bytes >> 20} MiB are free, {needed >> 20} MiB are needed."
    return Gate(
        "space", inputs.free_bytes < needed, True, text, "Remove files or apps."
    )


def configuration_errors(
    props: Mapping[str, str],
    policies: Collection[Policy] = (),
    battery: Battery = UNKNOWN,
    *,
    simulated: bool = False,
) -> list[ConfigurationProblem]:
    """What androidx.benchmark would refuse to measure on, by our names for it, in a fixed order.

    Clocks count as unlocked only where the shell is root: who cannot lock them made no mistake
    (fixed-performance mode is what such devices have).
    """
    problems: list[ConfigurationProblem] = []
    if simulated:
        text = "It is simulated: its commands run on the host."
        problems.append(ConfigurationProblem("simulated", text, "Measure on a device."))
    if is_emulator(props):
        text = "It is an emulator: its timings are the host's."
        problems.append(ConfigurationProblem("emulator", text, "Measure on a device."))
    if marks := slow_by_debugging(props):
        text = f"It checks more than a person's phone does: {', '.join(marks)}."
        problems.append(
            ConfigurationProblem(
                "debuggable", text, "Use a user build without debugging properties."
            )
        )
    moving = [policy for policy in policies if policy.locked is False]
    if moving and is_root_shell(props):
        cpus = ", ".join(str(cpu) for policy in moving for cpu in policy.cpus)
        text = f"Its shell is root, and yet the clocks of CPUs {cpus} move."
        problems.append(
            ConfigurationProblem(
                "unlocked_clocks",
                text,
                "Lock them, as androidx.benchmark's lockClocks.",
            )
        )
    if battery.percent is not None and battery.percent < MINIMUM_BATTERY_PERCENT:
        text = f"Its battery is at {battery.percent:g} %: below {MINIMUM_BATTERY_PERCENT:g} % it saves power."
        problems.append(ConfigurationProblem("low_battery", text, "Charge it."))
    return problems
