"""Evaluates the points of a series: its environments, its levels and its change points.

Pure: the same points give the same bits. Steps are searched only inside the newest
environment, so that a new kernel is never reported as a slower program. Excluded points
never get here.

    points   ▁▁▁▁▁▁▁▁▁▁▁▅▅▅▅▅▅▅▅▅▂▂▂▂▂▂▂▂▂▂▂▄▄▄▄▄▄
             └─ environment 0 ─┘└─ environment 1 ─┘     newest: looked at with `changepoint.detect`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paceline_server.series.environments import (
    EnvironmentStretch,
    cut_into_environments,
)
from paceline_server.stats import changepoint
from paceline_server.stats.history import DEFAULT, ChangePoint, Parameters, Segmentation


@dataclass(frozen=True)
class Window:
    """The last counting points of a series, oldest first; lists share one index. `whole`: no older point was
    left out."""

    series_id: str
    job_ids: Sequence[str]
    values: Sequence[float]
    fingerprints: Sequence[str]
    whole: bool

    def __len__(self) -> int:
        return len(self.job_ids)


@dataclass(frozen=True)
class Evaluation:
    """What detection says of a window. Indexes of `found` count from the start of the newest environment,
    whose points are `own_jobs`."""

    window: Window
    environments: tuple[EnvironmentStretch, ...]
    segmentation: Segmentation

    @property
    def offset(self) -> int:
        """Where the newest environment starts in the window."""
        return self.environments[-1].start

    @property
    def own_jobs(self) -> Sequence[str]:
        """The jobs of the newest environment, oldest first."""
        return self.window.job_ids[self.offset :]

    @property
    def found(self) -> tuple[ChangePoint, ...]:
        """Changes and suspects, oldest first."""
        both = (*self.segmentation.changes, *self.segmentation.suspects)
        return tuple(sorted(both, key=lambda one: one.index))


def evaluate(
    windows: Sequence[Window], parameters: Parameters = DEFAULT
) -> list[Evaluation]:
    """Look at windows of at least one point each; together takes half the time and says the same."""
    cuts = [tuple(cut_into_environments(window.fingerprints)) for window in windows]
    own = [
        np.asarray(window.values[cut[-1].start :], dtype=np.float64)
        for window, cut in zip(windows, cuts, strict=True)
    ]
    found = changepoint.detect_each(own, parameters=parameters)
    return [Evaluation(*each) for each in zip(windows, cuts, found, strict=True)]
