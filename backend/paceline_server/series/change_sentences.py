"""Writes sentences about the size and direction of a change (I17)."""

from __future__ import annotations

from paceline_contract.units import quantity

from paceline_server.stats.plain_words import direction_words, percent


def worsening(effect: float, better: str) -> float:
    """Return an effect as a fraction that is positive if things got worse.

    A throughput is converted to time per piece of work, as between arms: 90 after 100 is 11.1 % worse."""
    return effect if better == "lower" else 1.0 / (1.0 + effect) - 1.0


def direction_word(effect: float, unit: str, better: str) -> str:
    """Return slower or faster for times and speeds, worse or better for other units."""
    worse = effect > 0.0 if better == "lower" else effect < 0.0
    return direction_words(unit)[not worse]


def change_sentence(
    effect: float, before: float, after: float, unit: str, better: str
) -> str:
    """Return a change in words, such as `14.2 % slower: 1.2 ms → 1.37 ms`."""
    size = percent(worsening(effect, better))
    direction = direction_word(effect, unit, better)
    return f"{size} {direction}: {quantity(before, unit)} → {quantity(after, unit)}"


def interval_sentence(lower: float, upper: float, unit: str, better: str) -> str:
    """Return an effect's interval in words: `4.9 % to 8.8 % slower`, or `8.8 % faster to 4.9 % slower` if it includes
    0."""
    if lower * upper > 0.0:
        near, far = sorted(
            (worsening(lower, better), worsening(upper, better)), key=abs
        )
        return (
            f"{percent(near)} to {percent(far)} {direction_word(lower, unit, better)}"
        )
    return f"{_bound(lower, unit, better)} to {_bound(upper, unit, better)}"


def _bound(effect: float, unit: str, better: str) -> str:
    if not effect:
        return "unchanged"
    size = percent(worsening(effect, better))
    return f"{size} {direction_word(effect, unit, better)}"
