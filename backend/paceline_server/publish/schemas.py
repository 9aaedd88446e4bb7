"""Defines the verdicts of a run as one document, for other programs and for the renderers of this package."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paceline_server.detect.schemas import (
    CheckOut,
    ComparisonOut,
    GateOut,
    ReasonOut,
    UnaffectedOut,
    WitnessOut,
)
from paceline_server.jobs.schemas import FailureOut, Outcome, PullRequestOut
from paceline_server.kernel.wire import Response
from paceline_server.reports.history_schemas import MissingGroupOut

DocumentFormat = Literal["json", "junit", "markdown"]
SCHEMA: Literal["paceline.verdicts/1"] = "paceline.verdicts/1"


class JobVerdictsOut(Response):
    """The verdicts of one target's job. If it has no verdict, `failure` says why and the lists are empty."""

    job_id: str | None
    target: str
    outcome: Outcome
    reason: str
    reasons: list[ReasonOut]
    failure: FailureOut | None
    blockers: list[str]
    unaffected: UnaffectedOut | None = None
    """What was not measured again, because base and head have it in common; null if everything was measured."""
    checks: list[CheckOut]
    comparisons: list[ComparisonOut]
    gates: list[GateOut]
    witnesses: list[WitnessOut] = Field(default_factory=list)
    """Whether the arms that declare a witness ran their own code."""


class VerdictsOut(Response):
    """The outcome of a run with everything on which it is based. `run_id` and `url` are null for a directory that was
    judged offline; `url` is also null if the server has no public address."""

    schema_name: Literal["paceline.verdicts/1"] = Field(SCHEMA, alias="schema")
    run_id: str | None
    url: str | None
    suite: str
    commit: str
    base_commit: str | None
    base_branch: str | None
    pull_request: PullRequestOut | None
    branch: str | None
    outcome: Outcome
    reason: str
    reasons: list[ReasonOut]
    """Why it did not simply pass, the most important reason first; with the target's name if there are several."""
    demonstration: bool
    completeness: str | None
    """How many of the requested cases arrived, in words; null offline."""
    missing: list[MissingGroupOut]
    jobs: list[JobVerdictsOut]
