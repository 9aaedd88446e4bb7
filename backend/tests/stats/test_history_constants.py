"""Tests that every constant of history matters: doubled or halved, it changes decisions about a fixed set of series.

Decisions are steps, suspects, refusals, locations, intervals and dependence. A constant without any effect should not
exist.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from paceline_server.stats import constants
from paceline_server.stats.changepoint import (
    DEFAULT,
    STAND_WITHIN,
    Parameters,
    detect,
    is_standing,
)
from paceline_server.stats.target_shifts import find_target_shifts, stands_in_round
from paceline_server.testing import histories

Answer = tuple[object, ...]


def _edges() -> list[list[float]]:
    """Series that stand at a limit each: lengths, points a side, young steps, sizes."""
    rng = np.random.default_rng(12)
    quiet = rng.normal(0.0, 0.004, 1500)
    segmentations: list[list[float]] = []
    for n in (8, 12, 18, 30):
        segmentations.append([100.0] * (n // 2) + [130.0] * (n - n // 2))
    for place in (2, 3, 4, 6, 7, 9):
        for tail in (False, True):
            x = quiet[:60].copy()
            x[60 - place if tail else place :] += 0.5
            segmentations.append(np.exp(x).tolist())
    old = quiet.copy()
    old[300:] += 0.2
    old[800:] += 0.2
    old[1200:] += 0.2
    segmentations.append(np.exp(old).tolist())
    for effect in (0.008, 0.011, 0.014, 0.017, 0.02, 0.025, 0.03, 0.035, 0.05):
        x = quiet[200:260].copy()
        x[30:] += effect
        segmentations.append(np.exp(x).tolist())
    return segmentations


AT_A_LIMIT = (
    ("two_modes", 200, 2),
    ("two_modes", 201, 15),
    ("two_modes", 203, 17),
    ("rounded", 205, 6),
    ("two_modes", 211, 0),
)
"""(family, seed, which): noise on which a filter was just passed or just failed, found by search."""


@cache
def battery() -> tuple[tuple[float, ...], ...]:
    drawn = [
        history.values
        for family in ("disturbed", "heavy", "autocorrelated", "rounded")
        for history in histories.stepped(family, 12, seed=71, lengths=(60, 120, 300))
    ]
    close = [
        histories.stepped(family, 20, seed, (60, 120))[k].values
        for family, seed, k in AT_A_LIMIT
    ]
    return tuple(tuple(values) for values in [*_edges(), *drawn, *close])


def answers(parameters: Parameters) -> list[Answer]:
    segmentations = [detect(values, parameters=parameters) for values in battery()]
    return [
        (
            [
                (c.index, c.confidence, c.location, c.interval)
                for c in (*f.changes, *f.suspects)
            ],
            [
                (c.index, [x.name for x in c.filters if not x.passed])
                for c in f.rejected
            ],
            f.dependence,
            f.unusable == "",
        )
        for f in segmentations
    ]


@cache
def usual() -> list[Answer]:
    return answers(DEFAULT)


PROBABILITIES = {"min_probability", "edge_probability", "location_mass", "confidence"}
"""Doubled they would leave 0…1, so their complement is halved instead."""


def mutants() -> list[tuple[str, float]]:
    segmentations = []
    for field in fields(Parameters):
        value = getattr(DEFAULT, field.name)
        more = (1.0 + value) / 2.0 if field.name in PROBABILITIES else 2.0 * value
        segmentations += [(field.name, value / 2.0), (field.name, more)]
    return segmentations


@pytest.mark.parametrize(("name", "value"), mutants())
def test_a_constant_twice_or_half_as_large_changes_an_answer(
    name: str, value: float
) -> None:
    assert answers(replace(DEFAULT, **{name: value})) != usual()


def test_every_constant_of_history_is_a_parameter_or_a_rule_below() -> None:
    named = {name for name in vars(constants) if name.startswith("HISTORY_")}
    assert named - {
        f"HISTORY_{field.name.upper()}" for field in fields(Parameters)
    } == {
        "HISTORY_FALSE_DISCOVERY_Q",
        "HISTORY_EVALUATIONS",  # the caller's memory: series/detection
    }


def test_the_rules_over_many_series_turn_where_their_constants_say() -> None:
    assert [
        bool(find_target_shifts({str(k): [40] for k in range(m)}, 20))
        for m in (3, 5, 6, 12)
    ] == [
        False,
        False,
        True,
        True,
    ]
    near = [
        bool(find_target_shifts({"a": [40], "b": [40 + gap]}, 2))
        for gap in (1, 2, 3, 4)
    ]
    assert near == [True, True, False, False]
    assert [stands_in_round([p, 1.0])[0] for p in (0.012, 0.024, 0.026, 0.05)] == [
        True,
        True,
        False,
        False,
    ]
    assert [is_standing([10], [10 + gap]) != () for gap in (1, STAND_WITHIN, 3, 4)] == [
        True,
        True,
        False,
        False,
    ]


def test_the_battery_is_not_answered_by_silence() -> None:
    assert sum(len(detect(values).changes) for values in battery()) > 50
