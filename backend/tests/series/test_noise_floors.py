"""A series' noise band: from its target's A/A job, or estimated from its own scatter before there is one."""

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


@pytest.fixture
def nights(
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


def test_without_an_aa_job_the_band_is_estimated_from_the_points(
    nights: NightlyJobs,
) -> None:
    jobs = nights.stream(scatter(40, 0.01))
    noise_band = band()
    assert noise_band is not None
    assert (noise_band.basis, noise_band.job_id) == ("history", jobs[-1])
    assert 0.015 < noise_band.mde < 0.035
    assert "no A/A job has measured the noise floor yet" in noise_band.words
    assert noise_band.lower is not None
    assert noise_band.upper is not None
    assert noise_band.lower * noise_band.upper == pytest.approx(1000.0**2, rel=0.02)


def test_an_aa_job_replaces_the_estimate(nights: NightlyJobs) -> None:
    nights.stream(scatter(40, 0.01))
    a_a_floor(0.05)
    a_a_floor(0.031)
    noise_band = band()
    assert noise_band is not None
    assert (noise_band.basis, noise_band.mde, noise_band.job_id) == (
        "a_a",
        0.031,
        "job_1",
    )
    assert noise_band.words == "effects below 3.1 % are not resolved here"


def test_a_short_history_has_no_band_and_other_environments_do_not_count(
    nights: NightlyJobs,
) -> None:
    nights.stream(scatter(11, 0.01))
    assert band() is None
    nights.stream(
        scatter(5, 0.01),
        fingerprint="e",
        factors={**nightly_jobs.FACTORS, "kernel": "6.1.0-13"},
    )
    assert band() is None
