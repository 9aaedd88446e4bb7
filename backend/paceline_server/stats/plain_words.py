"""Describes ratios, intervals, durations and quantities in words for people (I17).

A measured difference is never rounded to "0 %".
"""

from __future__ import annotations

import math

TIMES = "\u00d7"
"""The multiplication sign, escaped because it looks like a letter."""


def percent(fraction: float) -> str:
    """Write a fraction in percent: `0.126` → "12.6 %", `0.00034` → "0.034 %", with more decimals for small values."""
    value = abs(fraction) * 100.0
    if value == 0.0:
        return "0 %"
    decimals = 1 - math.floor(math.log10(value)) if value < 1.0 else int(value < 99.95)
    return f"{value:.{decimals}f} %"


SPEEDS = frozenset({"ns", "op/s", "bytes/s"})
"""Units of speed, worded as slower or faster; others are worse or better."""


def direction_words(unit: str) -> tuple[str, str]:
    """Return the words for (higher, lower) cost of a metric in `unit`."""
    return ("slower", "faster") if unit in SPEEDS else ("worse", "better")


def describe_ratio(ratio: float, unit: str) -> str:
    """Describe a cost ratio: `1.126` → "12.6 % slower" or, for bytes, "12.6 % worse"; 1 → "exactly as fast"."""
    if ratio == 1.0:
        return "exactly as fast" if unit in SPEEDS else "exactly the same"
    return f"{percent(ratio - 1.0)} {direction_words(unit)[ratio < 1.0]}"


def describe_interval(lower: float, upper: float, unit: str) -> str:
    """Describe an interval of cost ratios: "11.9 % to 13.3 % slower"; with both directions if it includes 1."""
    bad, good = direction_words(unit)
    if lower > 1.0:
        return f"{percent(lower - 1)} to {percent(upper - 1)} {bad}"
    if upper < 1.0:
        return f"{percent(upper - 1)} to {percent(lower - 1)} {good}"
    return f"{describe_ratio(lower, unit)} to {describe_ratio(upper, unit)}"


def describe_multiple(ratio: float) -> str:
    """Describe a large time ratio as a multiple: `0.53` → "1.89× faster", `2.0` → "2× slower"."""
    if ratio <= 1.0:
        return f"{1.0 / ratio:.3g}{TIMES} faster"
    return f"{ratio:.3g}{TIMES} slower"


def describe_comparison(
    ratio: float | None,
    lower: float | None,
    upper: float | None,
    confidence: float,
    *,
    unit: str,
    reference: str | None = None,
) -> str:
    """Describe the cost ratio of an arm to its reference (named if given), with its interval."""
    if ratio is None:
        return "nothing to compare"
    sentence = describe_ratio(ratio, unit)
    if reference is not None:
        sentence += f" {'as' if ratio == 1.0 else 'than'} {reference}"
    if lower is None or upper is None:
        return f"{sentence} (too few blocks for an interval)"
    level = f"{confidence * 100:g} %"
    if lower == upper:
        return f"{sentence} ({level} interval: every block the same)"
    return f"{sentence} ({level} interval: {describe_interval(lower, upper, unit)})"
