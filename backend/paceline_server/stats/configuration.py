"""Configuration errors: settings of a device that make its timings untrustworthy.

Read from the names the agent reports (`values["configuration"]` of a reading); `voids`
reads thermals and clocks. Each error voids a job unless the request suppressed it by
name; suppressions are recorded, and a name this server does not know voids as well.
List and behaviour follow androidx.benchmark (`ConfigurationError`, `suppressErrors`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class ConfigurationError:
    """In words for people: what is wrong, and what to do about it."""

    text: str
    advice: str


CONFIGURATION_ERRORS: Final[Mapping[str, ConfigurationError]] = {
    "emulator": ConfigurationError(
        "it is an emulator, whose timings say nothing about a phone's",
        "Measure on a phone, or suppress emulator to try things out.",
    ),
    "debuggable": ConfigurationError(
        "its system is a debuggable build (userdebug or eng), which runs slower and checks more",
        "Use a device with a user build, or suppress debuggable.",
    ),
    "unlocked_clocks": ConfigurationError(
        "its clocks are not held: neither fixed-performance mode nor locked frequencies",
        "Use a device that has fixed-performance mode, lock its clocks, or suppress unlocked_clocks.",
    ),
    "low_battery": ConfigurationError(
        "its battery is so low that it may save power by its clocks",
        "Charge it, or suppress low_battery.",
    ),
    "simulated": ConfigurationError(
        "it is simulated: no phone measured this",
        "Suppress simulated to try the whole loop without a phone.",
    ),
}
"""Those this server has words for, by name."""


def describe_error(name: str) -> ConfigurationError:
    """What a name means; one that is not known here is repeated as it came."""
    known = CONFIGURATION_ERRORS.get(name)
    if known is not None:
        return known
    said = name.replace("_", " ")
    return ConfigurationError(
        f"its agent found: {said}", f"Correct that, or suppress {name}."
    )


def found_in(values: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the configuration errors in any of these readings' values, sorted; what is no list of texts
    is ignored."""
    found: set[str] = set()
    for value in values:
        names = value.get("configuration")
        if isinstance(names, list):
            found.update(name for name in names if isinstance(name, str) and name)
    return sorted(found)


def suppressed_in(
    values: Iterable[Mapping[str, Any]], suppress: Collection[str]
) -> list[str]:
    """Those that were found and are suppressed by name: what a verdict must say of itself."""
    return [name for name in found_in(values) if name in suppress]
