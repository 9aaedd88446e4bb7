"""Verdicts of a run as the renderers get them."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.detect.schemas import CheckOut, ComparisonOut, GateOut
from paceline_server.jobs.schemas import ExcerptLineOut, FailureOut, Judged
from paceline_server.publish.schemas import SCHEMA, JobVerdictsOut, VerdictsOut
from paceline_server.reports.history_schemas import MissingGroupOut


def comparison(
    arm: str, verdict: Judged, ratio: float = 1.1, **changes: Any
) -> ComparisonOut:
    values: dict[str, Any] = {
        "benchmark": "ledger",
        "params": {"size": 1000},
        "metric": "time",
        "arm": arm,
        "reference": "kotlin",
        "launches": 5,
        "blocks": 100,
        "ratio": ratio,
        "lower": ratio * 0.99,
        "upper": ratio * 1.01,
        "share_slower": 1.0,
        "verdict": verdict,
        "reason": f"because of {arm}",
        "words": f"{ratio:g} times {arm}",
        "margin_percent": 2.0,
        "launch_ratios": [ratio] * 5,
        "decides": True,
    }
    return ComparisonOut(**{**values, **changes})


def gate(name: str, verdict: Judged, **changes: Any) -> GateOut:
    values: dict[str, Any] = {
        "name": name,
        "benchmark": "ledger",
        "arm": "native",
        "params": {},
        "metric": "time",
        "statistic": "median",
        "op": "<=",
        "level": "required",
        "target": 10.0,
        "actual": 12.0,
        "verdict": verdict,
        "reason": "12 <= 10 does not hold; interval [11, 13]",
    }
    return GateOut(**{**values, **changes})


def job(target: str = "lab-1", **changes: Any) -> JobVerdictsOut:
    values: dict[str, Any] = {
        "job_id": "job_1",
        "target": target,
        "outcome": "fail",
        "reason": "native is slower",
        "reasons": [],
        "failure": None,
        "blockers": [],
        "checks": [CheckOut(name="digests", ok=True, detail="")],
        "comparisons": [],
        "gates": [],
    }
    return JobVerdictsOut(**{**values, **changes})


def failed_job(target: str = "lab-2") -> JobVerdictsOut:
    failure = FailureOut(
        title="The build failed",
        sentence="cargo exited with status 101.",
        excerpt=[
            ExcerptLineOut(text="error[E0425]: cannot find `hash`", is_error=True),
            ExcerptLineOut(text="``` fenced ```", is_error=False),
        ],
        is_recognised=True,
        advice="Run the failed step by hand.",
    )
    return job(target, outcome="failed", failure=failure, checks=[])


def verdicts(*jobs: JobVerdictsOut, **changes: Any) -> VerdictsOut:
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "run_id": "run_1",
        "url": "https://paceline.example.org/runs/run_1",
        "suite": "hashing",
        "commit": "0123456789abcdef",
        "base_commit": None,
        "base_branch": None,
        "pull_request": None,
        "branch": "main",
        "outcome": "fail",
        "reason": "lab-1: native is slower",
        "reasons": [],
        "demonstration": False,
        "completeness": "24 of 48 cases missing",
        "missing": [
            MissingGroupOut(
                reason="build",
                words="24 cases: build failed",
                count=24,
                text="the build failed on lab-2",
                targets=[],
            )
        ],
        "jobs": list(jobs),
    }
    return VerdictsOut(**{**values, **changes})


@pytest.fixture
def mixed() -> VerdictsOut:
    """A failing, an undecided, a passing and an unwatched comparison, two gates, and a job that failed."""
    return verdicts(
        job(
            comparisons=[
                comparison("even", "pass", 0.9),
                comparison("unwatched", "fail", 3.0, decides=False),
                comparison("unsure", "inconclusive", 1.01),
                comparison("native", "fail", 1.2),
                comparison("slowest", "fail", 1.5),
            ],
            gates=[
                gate("tail", "fail"),
                gate("stretched", "fail", level="stretch"),
                gate("elsewhere", "not_applicable", reason="needs avx512bw"),
            ],
        ),
        failed_job(),
    )
