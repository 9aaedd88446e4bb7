"""Wire shapes of suites, benchmarks, arms, params and metrics, as `suite.toml` declares them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from paceline_contract.events import Direction, ParamValue
from paceline_contract.locations import MAX_LOCATION
from paceline_contract.units import Unit
from pydantic import Field, model_validator

from paceline_server.kernel.wire import Request, Response


class MetricOut(Response):
    name: str
    unit: Unit
    direction: Direction


class ParamOut(Response):
    """A param with its declared values in order. A run measures all combinations unless it selects some."""

    name: str
    kind: Literal["int", "enum", "regex"]
    values: list[ParamValue]
    unit: str | None = None
    description: str | None = None
    minimum: int | None = None
    maximum: int | None = None


class BenchmarkOut(Response):
    """A benchmark. Arms are compared with `reference` on hosts and with `device_reference` on devices, each
    with its margin."""

    name: str
    title: str
    description: str | None = None
    workload: str
    arms: list[str]
    reference: str
    device_reference: str
    params: list[ParamOut]
    metrics: list[MetricOut]
    margin_percent: float
    device_margin_percent: float


class KnobOut(Response):
    """A workload option that is not a param. `demonstration` marks options that change the work on purpose, to show
    what an alert looks like."""

    name: str
    kind: Literal["int", "enum"]
    default: ParamValue
    minimum: int | None = None
    maximum: int | None = None
    values: list[str] | None = None
    demonstration: bool
    description: str


class PresetOut(Response):
    """A named selection for runs. If `benchmarks` is null, it selects all."""

    name: str
    title: str
    description: str | None = None
    benchmarks: list[str] | None = None
    params: dict[str, list[ParamValue]]
    launches: int | None = None
    rounds: int | None = None


class SuiteRefusedOut(Response):
    """An announced suite that was refused; `reason` says why and what to do. The agent's other suites are accepted."""

    suite: str
    reason: str


class SuiteOut(Response):
    """A suite. Where `imported`, no agent announced it: its benchmarks are those of its newest imports, and it has neither
    a repository nor a manifest and cannot be run."""

    name: str
    title: str
    description: str | None
    imported: bool
    repository: str | None
    manifest_path: str | None
    manifest_hash: str | None
    benchmarks: list[BenchmarkOut]
    knobs: list[KnobOut]
    presets: list[PresetOut]
    updated_at: datetime
    last_run_at: datetime | None
    """When its newest run was requested. Pages without a selected suite open with the suite that ran last."""


class SuiteAnnounceIn(Request):
    """An agent's announcement of a suite that it can run, from the head of an allowed repository.

    `repository` is the agent's name for the repository, `location` its URL or absolute path. Older agents send no
    `location`, which is accepted only with a grant of every repository. `suite` and `digest` identify the manifest; an
    agent sends the manifest itself, as JSON, when `manifests_wanted` of a reply has the digest."""

    repository: str = Field(min_length=1, max_length=200)
    location: str | None = Field(default=None, min_length=1, max_length=MAX_LOCATION)
    manifest_path: str = Field(min_length=1, max_length=500)
    suite: str | None = Field(default=None, min_length=1, max_length=200)
    digest: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the manifest's canonical JSON (`paceline_contract.announcements`)."""
    manifest: dict[str, Any] | None = None
    commit: str = Field(pattern=r"^[0-9a-f]{7,64}$")
    branch: str | None = Field(default=None, max_length=255)

    @model_validator(mode="after")
    def _name_the_manifest(self) -> Self:
        if self.manifest is None and (self.suite is None or self.digest is None):
            raise ValueError("expected the manifest, or suite and digest")
        return self
