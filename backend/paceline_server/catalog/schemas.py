"""Wire shapes of suites, benchmarks, arms, params and metrics (from `suite.toml`, validated by the agent)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit
from pydantic import Field

from paceline_server.kernel.wire import Request, Response


class MetricOut(Response):
    name: str
    unit: Unit
    direction: Direction


class ParamOut(Response):
    """`values` are the declared values in order; a benchmark runs their cross product unless a run
    selects."""

    name: str
    kind: Literal["int", "enum", "regex"]
    values: list[ParamValue]
    unit: str | None = None
    description: str | None = None
    minimum: int | None = None
    maximum: int | None = None


class BenchmarkOut(Response):
    """`reference`, `margin_percent`: what the arm rule compares with on hosts; `device_…`: on devices."""

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
    """A workload option that is no param. `demonstration` marks one made to show an alert (a slowed arm)."""

    name: str
    kind: Literal["int", "enum"]
    default: ParamValue
    minimum: int | None = None
    maximum: int | None = None
    values: list[str] | None = None
    demonstration: bool
    description: str


class PresetOut(Response):
    """What may be asked of a run at once; `benchmarks` null: all."""

    name: str
    title: str
    description: str | None = None
    benchmarks: list[str] | None = None
    params: dict[str, list[ParamValue]]
    launches: int | None = None
    rounds: int | None = None


class SuiteRefusedOut(Response):
    """A suite that was announced and not taken, and what to do about it. Its agent's others are taken."""

    suite: str
    reason: str


class SuiteOut(Response):
    name: str
    title: str
    description: str | None
    repository: str
    manifest_path: str
    manifest_hash: str
    benchmarks: list[BenchmarkOut]
    knobs: list[KnobOut]
    presets: list[PresetOut]
    updated_at: datetime
    last_run_at: datetime | None
    """When its newest run was requested; pages that are not told a suite open on the newest of all."""


class SuiteAnnounceIn(Request):
    """An agent's announcement of a suite it can run: the parsed manifest, as JSON, of its allow-listed
    repository."""

    repository: str = Field(min_length=1, max_length=200)
    manifest_path: str = Field(min_length=1, max_length=500)
    manifest: dict[str, Any]
    commit: str = Field(pattern=r"^[0-9a-f]{7,64}$")
    branch: str | None = Field(default=None, max_length=255)
