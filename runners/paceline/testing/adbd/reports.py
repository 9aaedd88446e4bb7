"""Writes the output of `dumpsys` and `top` for the simulated device, from its present conditions.

The format is that of real devices, with what misleads parsers: a block of stale, cached temperatures before the current
ones, and sensors of other kinds between the temperatures. The tests of parsers have texts of their own.
"""

from __future__ import annotations

from paceline.testing.adbd.scenarios import SKIN_LIMITS_C, Conditions

CPU, GPU, BATTERY, SKIN, VOLTAGE, CURRENT = 0, 1, 2, 3, 6, 7
"""mType of android.hardware.thermal."""

STALE_SKIN_C = 24.25
"""The temperature in the cached block. It is never the true one, so that the test of a parser that reads it fails."""


def thermalservice(conditions: Conditions) -> str:
    """Return the output of `dumpsys thermalservice` of Android 14."""
    status = conditions.thermal_status
    skin = ", ".join(map(str, SKIN_LIMITS_C))
    return "\n".join(
        [
            "IsStatusOverride: false",
            *_listeners("ThermalEventListeners", 3),
            *_listeners("ThermalStatusListeners", 1),
            f"Thermal Status: {status}",
            "Cached temperatures:",
            *_temperatures(STALE_SKIN_C, STALE_SKIN_C, 0),
            "HAL Ready: true",
            "HAL connection:",
            "\tThermalHAL AIDL 1  connected: yes",
            "Current temperatures from HAL:",
            *_temperatures(conditions.skin_c, conditions.battery_c, status),
            "Current cooling devices from HAL:",
            f"\tCoolingDevice{{mValue={0 if status < 2 else 4}, mType=1, mName=thermal-cpufreq-0}}",
            f"\tCoolingDevice{{mValue={0 if status < 2 else 6}, mType=1, mName=thermal-cpufreq-2}}",
            "Temperature static thresholds from HAL:",
            "\tTemperatureThreshold{mType=3, mName=VIRTUAL-SKIN, "
            f"mHotThrottlingThresholds=[NaN, {skin}], "
            "mColdThrottlingThresholds=[NaN, NaN, NaN, NaN, NaN, NaN, NaN]}",
            "",
        ]
    )


def _listeners(name: str, callbacks: int) -> list[str]:
    return [
        f"{name}:",
        f"\tcallbacks: {callbacks}",
        "\tkilled: false",
        "\tbroadcasts count: -1",
    ]


def _temperatures(skin_c: float, battery_c: float, status: int) -> list[str]:
    sensors = [
        (skin_c + 14.5, CPU, "BIG", status),
        (1150.0, VOLTAGE, "vdroop1", 0),
        (skin_c + 9.0, CPU, "LITTLE", 0),
        (7200.0, CURRENT, "soft_ocp_cpu1", 0),
        (skin_c + 6.25, GPU, "G3D", 0),
        (-0.35, -1, "USB2-MINUS-QI", 0),
        (battery_c, BATTERY, "battery", 0),
        (skin_c, SKIN, "VIRTUAL-SKIN", status),
        (skin_c - 1.5, -1, "quiet therm", 0),
    ]
    return [
        f"\tTemperature{{mValue={round(value, 3)}, mType={kind}, mName={name}, mStatus={state}}}"
        for value, kind, name, state in sensors
    ]


def battery(conditions: Conditions) -> str:
    """Return the output of `dumpsys battery`, whose temperature is in tenths of a degree."""
    return "\n".join(
        [
            "Current Battery Service state:",
            "  AC powered: false",
            f"  USB powered: {str(conditions.charging).lower()}",
            "  Wireless powered: false",
            "  Dock powered: false",
            "  Max charging current: 500000",
            "  Max charging voltage: 5000000",
            f"  Charge counter: {conditions.battery_percent * 43_000}",
            f"  status: {2 if conditions.charging else 3}",
            "  health: 2",
            "  present: true",
            f"  level: {conditions.battery_percent}",
            "  scale: 100",
            f"  voltage: {3500 + conditions.battery_percent * 8}",
            f"  temperature: {round(conditions.battery_c * 10)}",
            "  technology: Li-ion",
            "",
        ]
    )


TOP = """\
Tasks: 4 total,   1 running,   3 sleeping,   0 stopped,   0 zombie
  Mem:  7.6G total,  6.9G used,  693M free,   12M buffers
 Swap:  3.8G total,  1.1G used,  2.7G free,  2.9G cached
800%cpu   9%user   0%nice  14%sys 777%idle   0%iow   0%irq   0%sirq   0%host
  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS
  512 system       18  -2  17G 312M 214M S  6.4   4.0  12:41.07 system_server
  803 system       -2  -8  13G  71M  39M S  3.2   0.9   4:10.55 surfaceflinger
 1204 radio        20   0  14G  96M  71M S  0.6   1.2   0:31.20 com.android.phone
 2011 shell        20   0  10G 4.1M 3.2M R  0.3   0.0   0:00.05 top -b -n 1
"""
"""`top -b -n 1` of toybox."""
