"""Defines the types of change-point detection: change points, segments and parameters.

A `Segmentation` holds every constant it was computed with, so that it can be recomputed (I16). Positions are
indexes into the given list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from paceline_server.stats import constants

Confidence = Literal["suspect", "confirmed"]
"""suspect: too few points after the change to alert anyone; confirmed: enough."""


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """A condition that every candidate must meet, with its value and limit."""

    name: str
    value: float
    limit: float
    passed: bool


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of a series' level. Levels are medians of the segments on either side, in the given unit.

    `index` is the first point of the new segment; `location` bounds the plausible indexes, both included;
    `interval` is the 99 % interval of `effect`, which is level_after / level_before − 1.
    """

    index: int
    confidence: Confidence
    level_before: float
    level_after: float
    effect: float
    interval: tuple[float, float]
    location: tuple[int, int]
    p_value: float
    n_before: int
    n_after: int
    filters: tuple[ChangeFilter, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """Points `start` … `stop` − 1 at one level; `sigma` is the scatter of their logarithms."""

    start: int
    stop: int
    level: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The result of detection. `rejected` are the candidates that failed a filter.

    `unusable` says why nothing was decided (too few points, values without a logarithm), else it is empty.
    `dependence` is the number of points that inform as much as one independent point, at least 1.
    """

    changes: tuple[ChangePoint, ...]
    suspects: tuple[ChangePoint, ...]
    rejected: tuple[ChangePoint, ...]
    segments: tuple[Segment, ...]
    method: str
    parameters: Mapping[str, float]
    unusable: str = ""
    dependence: float = 1.0


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every number of a decision; `constants` has the defaults and their reasons."""

    min_points: float = constants.HISTORY_MIN_POINTS
    max_points: float = constants.HISTORY_MAX_POINTS
    points_a_side: float = constants.HISTORY_POINTS_A_SIDE
    confirm_points: float = constants.HISTORY_CONFIRM_POINTS
    min_effect: float = constants.HISTORY_MIN_EFFECT
    min_probability: float = constants.HISTORY_MIN_PROBABILITY
    edge_points: float = constants.HISTORY_EDGE_POINTS
    edge_probability: float = constants.HISTORY_EDGE_PROBABILITY
    edge_max_p: float = constants.HISTORY_EDGE_MAX_P
    max_p: float = constants.HISTORY_MAX_P
    min_shift_sigma: float = constants.HISTORY_MIN_SHIFT_SIGMA
    side_points: float = constants.HISTORY_SIDE_POINTS
    window: float = constants.HISTORY_WINDOW
    location_mass: float = constants.HISTORY_LOCATION_MASS
    confidence: float = constants.HISTORY_CONFIDENCE
    change_rate: float = constants.HISTORY_CHANGE_RATE
    min_step: float = constants.HISTORY_MIN_STEP
    scale_floor: float = constants.HISTORY_SCALE_FLOOR
    tempering: float = constants.HISTORY_TEMPERING
    first_tempering: float = constants.HISTORY_FIRST_TEMPERING
    small_sample: float = constants.HISTORY_SMALL_SAMPLE
    dependence_lags: float = constants.HISTORY_DEPENDENCE_LAGS
    fits: float = constants.HISTORY_FITS
    noise_prior_points: float = constants.HISTORY_NOISE_PRIOR_POINTS

    def to_mapping(self) -> dict[str, float]:
        """Return the numbers by name, as stored with a finding."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_mapping(cls, stored: Mapping[str, float]) -> Parameters:
        """Return the parameters of a stored finding; unknown names are ignored, missing ones get the default."""
        return cls(
            **{
                field.name: float(stored[field.name])
                for field in fields(cls)
                if field.name in stored
            }
        )


DEFAULT = Parameters()
