"""Tests that `METHOD` names one model: tables and grids that are not stored with a finding.

A change of any of them needs a new name, because stored findings could no longer be recomputed (I16).
"""

from __future__ import annotations

import math

import numpy as np
from paceline_server.stats import changepoint, levels, residuals


def test_the_method_s_name_stands_for_this_shape_of_the_model() -> None:
    assert changepoint.METHOD == "level-posterior/1"
    assert (changepoint.STAND_WITHIN, changepoint.NEARER) == (2, 0.02)
    assert (
        levels.CELLS_PER_SCALE,
        levels.MAX_LEVELS,
        levels.COARSE,
        levels.RENORMALISE,
    ) == (6, 240, 8.0, 32)
    assert (levels.SCORE_CLIP, levels.MAX_DEPENDENCE, levels.LANES) == (2.0, 4.0, 8)
    assert (residuals.STEPS_PER_SCALE, residuals.REACH, residuals.FIT_ROUNDS) == (
        12,
        24,
        15,
    )
    assert residuals.WIDTHS == (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    assert residuals.START == (0.02, 0.05, 0.10, 0.40, 0.20, 0.10, 0.06, 0.04, 0.03)
    assert (residuals.BUMP_WIDTH, residuals.BUMP_START, residuals.FLOOR) == (
        0.6,
        0.05,
        1e-4,
    )


def test_the_method_s_name_stands_for_these_answers() -> None:
    """A wave that no generator of random numbers has to draw again, with steps of 3 and 2.5 %. Rounded,
    because sums of another processor's vectors may differ in the last bits."""
    values = [
        1000.0
        * (1.03 if at >= 40 else 1.0)
        * (1.025 if at >= 80 else 1.0)
        * (
            1.0
            + 0.03
            * math.sin(at * 12.9898)
            * math.cos(at * 4.1414)
            * math.cos(at * 0.7717)
        )
        for at in range(120)
    ]
    (posterior,) = levels.posteriors([np.log(values)], changepoint.DEFAULT)
    near = [round(float(probability), 6) for probability in posterior.step[36:45]]
    assert near == [
        8.2e-05,
        0.000764,
        0.009026,
        0.040758,
        0.42153,
        0.032548,
        0.459445,
        0.032154,
        0.003573,
    ]
    changes = changepoint.detect(values).changes
    summaries = [
        (
            change.index,
            change.location,
            round(change.effect, 6),
            change.filters[2].value,
        )
        for change in changes
    ]
    assert summaries == [(41, (39, 42), 0.02972, 1.0), (80, (77, 81), 0.025109, 0.9696)]
