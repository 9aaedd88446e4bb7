"""Lists the configuration errors of devices, which make timings untrustworthy.

Agents report them by name; each voids a job unless the request suppresses it, even a name that this server does
not know. List and behaviour follow androidx.benchmark (`ConfigurationError`, `suppressErrors`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class ConfigurationError:
    """What is wrong and what to do about it, for people."""

    text: str
    advice: str


def _suppress(name: str) -> str:
    return f"suppress this error: `paceline submit --suppress {name}`, or “Errors to suppress” of a new run"


CONFIGURATION_ERRORS: Final[Mapping[str, ConfigurationError]] = {
    "emulator": ConfigurationError(
        "it is an emulator, whose timings say nothing about a phone's",
        f"Measure on a phone, or {_suppress('emulator')}.",
    ),
    "debuggable": ConfigurationError(
        "its system is a debuggable build (userdebug or eng), which runs slower and checks more",
        f"Use a device with a user build, or {_suppress('debuggable')}.",
    ),
    "unlocked_clocks": ConfigurationError(
        "its clocks are not held: neither fixed-performance mode nor locked frequencies",
        "Use a device that has fixed-performance mode, lock its clocks, or "
        f"{_suppress('unlocked_clocks')}.",
    ),
    "low_battery": ConfigurationError(
        "its battery is so low that it may save power by its clocks",
        f"Charge it, or {_suppress('low_battery')}.",
    ),
    "simulated": ConfigurationError(
        "it is simulated: no phone measured this",
        "Measure on a phone. On simulated targets it is expected and named in the verdict.",
    ),
}
"""The errors known to this server, by name."""


def describe_error(name: str) -> ConfigurationError:
    """Return the error with this name; for an unknown name, one made of the name."""
    known = CONFIGURATION_ERRORS.get(name)
    if known is not None:
        return known
    description = name.replace("_", " ")
    return ConfigurationError(
        f"its agent found: {description}", f"Correct that, or {_suppress(name)}."
    )


def list_errors(values: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the sorted names of the configuration errors in these readings; malformed values are ignored."""
    errors: set[str] = set()
    for value in values:
        names = value.get("configuration")
        if isinstance(names, list):
            errors.update(name for name in names if isinstance(name, str) and name)
    return sorted(errors)


def list_suppressed(
    values: Iterable[Mapping[str, Any]], suppress: Collection[str]
) -> list[str]:
    """Return the sorted names of the reported configuration errors that are suppressed."""
    return [name for name in list_errors(values) if name in suppress]
