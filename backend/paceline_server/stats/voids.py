"""Finds the conditions that void a measurement, and those that only make its verdicts harder (§1, §2).

A void attempt makes its job inconclusive. A condition with a `strength` is a disturbance, which `disturbance` turns
into an extra margin: it widens the noise of both arms of a pair and hardly favours one. What a target cannot report
voids nothing, but a thermal status that it stops reporting does. Attempts are judged separately, as a target may
restart or cool down between them.

Keys of a reading's `values` that are judged, all optional:
    thermal_status          int, Android PowerManager 0…6
    throttle_count          int: how often the cores throttled since boot
    cpu_frequency_cap_mhz   number, or list/object of numbers per core: the highest frequency allowed
    boot_id                 text
    calibration_ns          number: time of a fixed kernel, measured before and after
    steal_percent           number: share of CPU time the hypervisor took since the last reading
    workload_wait_percent   number: share of the time since the last reading in which a measuring thread
                            waited for a CPU. It replaces psi_cpu_percent, which also counts tasks that waited
                            while the workload ran undisturbed
    psi_cpu_percent, psi_memory_percent
                            number: share of the time since the last reading in which some task waited.
                            I/O is not judged, because benchmarks of durable storage cause it themselves
    others_cpu_percent      number: how long processes that are not the job's ran since the last reading, as a
                            share of that time. Only so much of psi_cpu_percent counts: in the rest, processes
                            of the job waited for one another
    cpus_online             int (how many), or list of cores
    unknown                 list of names of keys that the target did not report
    configuration           list of names of configuration errors, of a device (see `configuration.py`)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paceline_contract.units import quantity

from paceline_server.stats import configuration, constants


@dataclass(frozen=True)
class Reading:
    """The conditions of the target at `at_ms`, by the agent's clock."""

    phase: str
    at_ms: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Void:
    """A condition beyond its limit: why a job's timings do not count, or count less."""

    code: str
    value: float | None
    limit: float | None
    text: str
    strength: float | None = None
    """It disturbed by this share; None if it voids the job."""
    observed: str = ""
    """The text of a pressure without its limit, used where it is so strong that another limit counts."""


@dataclass(frozen=True)
class VoidLimits:
    """The limits up to which a condition counts for nothing. An operator may raise two of them for shared targets:
    pairing keeps verdicts valid under even load, with less power."""

    thermal_status: int = constants.THERMAL_STATUS_LIMIT
    calibration_drift: float = constants.CALIBRATION_DRIFT
    pressure_percent: float = constants.PRESSURE_PERCENT

    @classmethod
    def of_operator(
        cls, pressure_percent: float | None, drift_percent: float | None
    ) -> VoidLimits:
        """Return the limits of stats/README.md §1, or those that an operator set (in percent)."""
        return cls(
            pressure_percent=constants.PRESSURE_PERCENT
            if pressure_percent is None
            else pressure_percent,
            calibration_drift=constants.CALIBRATION_DRIFT
            if drift_percent is None
            else drift_percent / 100,
        )


_OPERATORS_LIMIT = {
    "steal": ("PACELINE_PRESSURE_LIMIT_PERCENT", "--pressure-limit-percent"),
    "pressure": ("PACELINE_PRESSURE_LIMIT_PERCENT", "--pressure-limit-percent"),
    "memory_pressure": ("PACELINE_PRESSURE_LIMIT_PERCENT", "--pressure-limit-percent"),
    "calibration": ("PACELINE_DRIFT_LIMIT_PERCENT", "--drift-limit-percent"),
}
"""The setting and the option of `judge` that raise the limit of a condition, by the condition's code."""


def advise(void: Void, target_kind: Literal["host", "device"]) -> str:
    """Explain what to do next about a condition."""
    configuration_errors = configuration.CONFIGURATION_ERRORS.keys()
    if void.code in configuration_errors or void.code not in _PHYSICAL:
        return configuration.describe_error(void.code).advice
    if target_kind == "device":
        return (
            "Let the device rest and cool down, then repeat; its page shows its checks."
        )
    raising = _OPERATORS_LIMIT.get(void.code)
    if raising is None:
        return "Repeat on a host that stays as it is; `paceline doctor` says what disturbs this one."
    if void.strength is None:
        return (
            "`paceline doctor` says what disturbs this host; repeat when it is less busy. Up to the limit of "
            f"{void.limit:g} % verdicts are harder, not void: docs/ci.md, “Shared hosts”."
        )
    variable, option = raising
    return (
        "`paceline doctor` says what disturbs this host; repeat when it is quiet. Where it is always shared, raise "
        f"{variable} (`judge {option}`): docs/ci.md, “Shared hosts”."
    )


_PHYSICAL = frozenset(
    {
        *_OPERATORS_LIMIT,
        "thermal",
        "thermal_unknown",
        "warm",
        "frequency_cap",
        "boot_id",
        "core_offline",
    }
)
"""Conditions that are no configuration error; those have a name that their agent chose."""


def find_voids(
    readings: Sequence[Reading],
    limits: VoidLimits | None = None,
    suppress: Collection[str] = (),
) -> list[Void]:
    """Find the void conditions in an attempt's readings, given in order of time; configuration errors are last.

    `suppress` names configuration errors to leave out; nothing else can be suppressed."""
    limits = limits or VoidLimits()
    during = [reading for reading in readings if reading.phase == "during"]
    checks = (
        _check_thermal_status(readings, limits),
        _check_unknown_thermal_status(readings),
        _check_frequency_cap(readings),
        _check_boot_id(readings),
        _check_calibration(readings, limits),
        _check_pressure(
            _read_numbers(during, "steal_percent"),
            limits,
            "steal",
            "the hypervisor took the CPU",
        ),
        _check_cpu_pressure(during, limits),
        _check_pressure(
            _read_numbers(during, "psi_memory_percent"),
            limits,
            "memory_pressure",
            "some task waited for memory",
        ),
        _check_cores(readings),
    )
    misconfigured = configuration.list_errors(reading.values for reading in readings)
    return [
        *(void for void in checks if void is not None),
        *(_configuration_void(name) for name in misconfigured if name not in suppress),
    ]


def _configuration_void(name: str) -> Void:
    error = configuration.describe_error(name)
    return Void(name, None, None, f"configuration error {name}: {error.text}")


def _read_numbers(readings: Iterable[Reading], key: str) -> list[float]:
    values = (reading.values.get(key) for reading in readings)
    return [
        float(value)
        for value in values
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]


def _check_thermal_status(
    readings: Sequence[Reading], limits: VoidLimits
) -> Void | None:
    worst = max(_read_numbers(readings, "thermal_status"), default=0.0)
    if worst >= constants.THERMAL_STATUS_VOID:
        text = f"the target was throttling: thermal status {worst:g}, limit below {limits.thermal_status}"
        return Void("thermal", worst, limits.thermal_status, text)
    counts = _read_numbers(readings, "throttle_count")
    if counts and counts[-1] > counts[0]:
        times = counts[-1] - counts[0]
        return Void(
            "thermal",
            times,
            0.0,
            f"its cores throttled {times:g} times while measuring",
        )
    if worst >= limits.thermal_status:
        text = f"the target was warm: thermal status {worst:g}, limit below {limits.thermal_status}"
        return Void("warm", worst, limits.thermal_status, text, constants.WARM_SLOWDOWN)
    return None


def _check_unknown_thermal_status(readings: Sequence[Reading]) -> Void | None:
    """Find a thermal status that the target stopped reporting."""
    first_known = next(
        (
            index
            for index, reading in enumerate(readings)
            if _read_numbers([reading], "thermal_status")
        ),
        None,
    )
    if first_known is None:
        return None
    later = readings[first_known + 1 :]
    silent = sum(_is_unknown(reading, "thermal_status") for reading in later)
    if not silent:
        return None
    text = (
        f"its thermal status was reported, and then unknown in {silent} of {len(later)} readings, limit 0: "
        "unknown is not cool"
    )
    return Void("thermal_unknown", float(silent), 0.0, text)


def _is_unknown(reading: Reading, key: str) -> bool:
    unknown = reading.values.get("unknown")
    return isinstance(unknown, list) and key in unknown and key not in reading.values


def _read_caps(value: Any) -> dict[str, float]:
    """Return the highest frequencies by group of cores, from any reported shape."""
    named: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        named = ((str(key), value[key]) for key in sorted(value))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        named = (
            (f"core {number}", frequency) for number, frequency in enumerate(value)
        )
    elif isinstance(value, (int, float)):
        named = (("", value),)
    return {
        name: float(frequency)
        for name, frequency in named
        if isinstance(frequency, (int, float)) and not isinstance(frequency, bool)
    }


def _check_frequency_cap(readings: Sequence[Reading]) -> Void | None:
    caps_by_reading = [
        caps
        for caps in (
            _read_caps(reading.values.get("cpu_frequency_cap_mhz"))
            for reading in readings
        )
        if caps
    ]
    for caps in caps_by_reading[1:]:
        before = caps_by_reading[0]
        if len(before) != len(caps):
            text = f"the highest frequency allowed was known of {len(before)} groups of cores, then of {len(caps)}"
            return Void("frequency_cap", float(len(caps)), float(len(before)), text)
        same_groups = caps.keys() == before.keys()
        after = caps if same_groups else dict(zip(before, caps.values(), strict=True))
        changed = [name for name in before if after[name] != before[name]]
        if changed:
            return _cap_void(changed, before, after)
    return None


def _cap_void(
    changed: Sequence[str], before: Mapping[str, float], after: Mapping[str, float]
) -> Void:
    """Return the void condition of the group of cores whose cap changed most."""
    worst = max(
        changed,
        key=lambda name: abs(after[name] - before[name]) / max(before[name], 1.0),
    )
    group = f" of {worst}" if worst else ""
    others = f" (and of {len(changed) - 1} more)" if len(changed) > 1 else ""
    text = f"the highest CPU frequency allowed{group} changed from {before[worst]:g} to {after[worst]:g} MHz{others}"
    slowest, fastest = sorted((before[worst], after[worst]))
    strength = fastest / slowest - 1.0 if slowest > 0 else None
    return Void("frequency_cap", after[worst], before[worst], text, strength)


def _check_boot_id(readings: Sequence[Reading]) -> Void | None:
    boots = {
        reading.values["boot_id"]
        for reading in readings
        if isinstance(reading.values.get("boot_id"), str)
    }
    if len(boots) < 2:
        return None
    return Void(
        "boot_id", float(len(boots)), 1.0, "the target restarted while it was measuring"
    )


def _check_calibration(readings: Sequence[Reading], limits: VoidLimits) -> Void | None:
    before = _read_numbers(
        (reading for reading in readings if reading.phase == "before"), "calibration_ns"
    )
    after = _read_numbers(
        (reading for reading in readings if reading.phase == "after"), "calibration_ns"
    )
    if not before or not after or min(before[0], after[-1]) <= 0:
        return None
    drift = abs(after[-1] / before[0] - 1.0)
    if drift <= limits.calibration_drift:
        return None
    text = (
        f"the calibration kernel took {quantity(before[0], 'ns')} before and {quantity(after[-1], 'ns')} after: "
        f"a drift of {drift * 100:.1f} %, limit {limits.calibration_drift * 100:g} %"
    )
    # Becoming twice as fast is as much as becoming half as fast.
    strength = max(after[-1] / before[0], before[0] / after[-1]) - 1.0
    return Void("calibration", drift, limits.calibration_drift, text, strength)


def _check_cpu_pressure(during: Sequence[Reading], limits: VoidLimits) -> Void | None:
    """Judge the CPU pressure on the workload, or if unknown, so much of the whole system's as others can have caused."""
    if shares := _read_numbers(during, "workload_wait_percent"):
        return _check_pressure(
            shares, limits, "pressure", "the workload waited for a CPU"
        )
    for reading in during:
        if pressure := _read_numbers([reading], "psi_cpu_percent"):
            others = _read_numbers([reading], "others_cpu_percent")
            shares.append(min(pressure + others))
    return _check_pressure(shares, limits, "pressure", "some task waited for a CPU")


def _check_pressure(
    shares: Sequence[float], limits: VoidLimits, code: str, sufferer: str
) -> Void | None:
    """Judge the mean while measuring, because interleaving compensates short bursts."""
    if not shares:
        return None
    mean = sum(shares) / len(shares)
    if mean <= limits.pressure_percent:
        return None
    limit, observed = limits.pressure_percent, f"{sufferer} {mean:.1f} % of the time"
    text = f"{observed}, limit {limit:g} %"
    return Void(code, mean, limit, text, mean / 100.0, observed)


def _check_cores(readings: Sequence[Reading]) -> Void | None:
    reported = (reading.values.get("cpus_online") for reading in readings)
    counts = [
        len(value) if isinstance(value, list) else value
        for value in reported
        if isinstance(value, (int, list)) and not isinstance(value, bool)
    ]
    if not counts or min(counts) >= counts[0]:
        return None
    text = f"a core went offline: {min(counts)} of {counts[0]} were left"
    return Void("core_offline", float(min(counts)), float(counts[0]), text)
