"""Sentences about changes (I17). Pure."""

from __future__ import annotations

from paceline_server.stats.words import percent, quantity

TIME = "ns"


def direction_word(effect: float, unit: str, better: str) -> str:
    """slower or faster of a time, worse or better of everything else; `better`: lower or higher."""
    worse = effect > 0.0 if better == "lower" else effect < 0.0
    if unit == TIME:
        return "slower" if worse else "faster"
    return "worse" if worse else "better"


def change_words(direction: str, effect: float, before: float, after: float, unit: str) -> str:
    """`14.2 % slower: 1.2 ms → 1.37 ms`."""
    return f"{percent(effect)} {direction}: {quantity(before, unit)} → {quantity(after, unit)}"
