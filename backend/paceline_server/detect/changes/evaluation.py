"""Evaluates the points of a series: its environments, its levels and its change points.

Changes are searched only in the newest environment, so that a new kernel or another unit is never reported as a slower
program.
The same points give bit-identical results.

    points   ▁▁▁▁▁▁▁▁▁▁▁▅▅▅▅▅▅▅▅▅▂▂▂▂▂▂▂▂▂▂▂▄▄▄▄▄▄
             └─ environment 0 ─┘└─ environment 1 ─┘     newest: searched with `changepoint.detect`
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
    """The last counted points of a series, oldest first; the lists share an index. `whole`: there are no older
    points."""

    series_id: str
    job_ids: Sequence[str]
    values: Sequence[float]
    fingerprints: Sequence[str]
    whole: bool
    declarations: Sequence[str | None] = ()
    """What each number means; empty if no point says so."""

    def __len__(self) -> int:
        return len(self.job_ids)


@dataclass(frozen=True)
class Evaluation:
    """The segmentation of a window. Indexes of `changes` are relative to the newest environment, whose jobs are
    `own_jobs`."""

    window: Window
    environments: tuple[EnvironmentStretch, ...]
    segmentation: Segmentation

    @property
    def offset(self) -> int:
        """The index in the window at which the newest environment starts."""
        return self.environments[-1].start

    @property
    def own_jobs(self) -> Sequence[str]:
        """The jobs of the newest environment, oldest first."""
        return self.window.job_ids[self.offset :]

    @property
    def changes(self) -> tuple[ChangePoint, ...]:
        """Changes and suspects, oldest first."""
        changes = (*self.segmentation.changes, *self.segmentation.suspects)
        return tuple(sorted(changes, key=lambda change: change.index))


def evaluate(
    windows: Sequence[Window], parameters: Parameters = DEFAULT
) -> list[Evaluation]:
    """Evaluate windows of at least one point each. Together they take half the time of one by one."""
    environments = [
        tuple(cut_into_environments(window.fingerprints, window.declarations))
        for window in windows
    ]
    newest_values = [
        np.asarray(window.values[stretches[-1].start :], dtype=np.float64)
        for window, stretches in zip(windows, environments, strict=True)
    ]
    segmentations = changepoint.detect_each(newest_values, parameters=parameters)
    return [
        Evaluation(*parts)
        for parts in zip(windows, environments, segmentations, strict=True)
    ]
