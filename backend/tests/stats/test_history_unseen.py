"""Tests the detector on noise that it was not chosen on, as docs/detection.md describes.

The bounds are those of stats/README.md §5 where they hold. Known weaknesses are asserted, too, so that the page is updated
when one disappears. Data and detector are deterministic.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paceline_server.stats.changepoint import detect
from paceline_server.testing import held_out_noise, histories
from paceline_server.testing.histories import History, Score


@cache
def sets() -> dict[str, list[dict[str, Any]]]:
    return held_out_noise.sets()


def score_of(name: str, families: set[str]) -> Score:
    chosen = [
        History(series["y"], series["truth"])
        for series in sets()[name]
        if series["meta"]["family"] in families
    ]
    return histories.score(
        chosen, lambda values: [change.index for change in detect(values).changes]
    )


SILENT = sorted(
    set(held_out_noise.FAMILIES) - {"sticky", "quantised", "wander", "weeks"}
)


@pytest.mark.parametrize("family", SILENT)
def test_six_of_ten_kinds_of_unseen_noise_give_no_alarm_at_all(family: str) -> None:
    assert score_of("semi_null", {family}).false_per_1000 == 0.0


def test_detections_on_unseen_noise_are_steps_unless_the_host_keeps_a_mode_for_days() -> (
    None
):
    score = score_of("semi_step", set(held_out_noise.FAMILIES) - {"sticky"})
    assert score.precision >= 0.95
    assert score.recall >= 0.75
    assert (
        score_of("semi_null", set(held_out_noise.FAMILIES) - {"sticky"}).false_per_1000
        <= 0.10
    )


def test_a_host_that_keeps_each_of_two_modes_for_days_gets_false_steps_as_the_page_admits() -> (
    None
):
    assert score_of("semi_null", {"sticky"}).false_per_1000 > 1.0
    assert score_of("semi_step", {"sticky"}).precision < 0.80


def test_the_sets_written_to_files_are_those_the_tests_use(
    tmp_path: Path,
) -> None:
    held_out_noise.write(tmp_path)
    for name, group in sets().items():
        assert (
            json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))[
                "series"
            ]
            == group
        )
