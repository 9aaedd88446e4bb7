"""The band of a series: from its target's A/A job, before there was one from its own scatter, saying so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paceline_server.kernel.clock import FrozenClock
from paceline_server.series import noise_floors as noise
from paceline_server.series import service
from paceline_server.series.schemas import NoiseBandOut
from paceline_server.store.session import read_scope, session_scope
from paceline_server.testing import nightly_jobs
from paceline_server.testing.nightly_jobs import NightlyJobs

pytestmark = pytest.mark.plain_sql


@pytest.fixture
def past(
    database: object, enrolled: Callable[..., Any], clock: FrozenClock
) -> NightlyJobs:
    return NightlyJobs(enrolled().target_id)


def scatter(count: int, sigma: float, level: float = 1000.0) -> list[float]:
    return [
        float(x)
        for x in level * np.exp(np.random.default_rng(5).normal(0.0, sigma, count))
    ]


def band() -> NoiseBandOut | None:
    (series,) = nightly_jobs.series()
    with read_scope() as session:
        return service.series_page(session, series.id).noise


def a_a_floor(mde: float) -> None:
    (series,) = nightly_jobs.series()
    key = (
        series.benchmark,
        series.arm,
        series.params,
        series.params_key,
        series.metric,
    )
    measured = noise.MeasuredFloor(key, mde, 0.99, 1.01, 100, 5, {})
    with session_scope() as session:
        noise.record_floors(
            session,
            target_id=series.target_id,
            suite=series.suite,
            run_id="run_1",
            job_id="job_1",
            floors=[measured],
        )


def test_before_any_a_a_job_the_band_is_estimated_from_the_points_and_says_so(
    past: NightlyJobs,
) -> None:
    jobs = past.stream(scatter(40, 0.01))
    found = band()
    assert found is not None
    assert (found.basis, found.job_id) == ("history", jobs[-1])
    assert 0.015 < found.mde < 0.035
    assert "no A/A job has measured the noise floor yet" in found.words
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower * found.upper == pytest.approx(1000.0**2, rel=0.02)


def test_an_a_a_job_takes_over_from_the_estimate(past: NightlyJobs) -> None:
    past.stream(scatter(40, 0.01))
    a_a_floor(0.05)
    a_a_floor(0.031)
    found = band()
    assert found is not None
    assert (found.basis, found.mde, found.job_id) == ("a_a", 0.031, "job_1")
    assert found.words == "effects below 3.1 % are not resolved here"


def test_a_short_past_has_no_band_and_another_environment_is_not_its_past(
    past: NightlyJobs,
) -> None:
    past.stream(scatter(11, 0.01))
    assert band() is None
    past.stream(
        scatter(5, 0.01),
        fingerprint="e",
        factors={**nightly_jobs.FACTORS, "kernel": "6.1.0-13"},
    )
    assert band() is None
