"""Wire shapes of criterion's documents: what `paceline import --format criterion` writes, and what is told.

Place: the edge of the feature. Invariants: names, iterations and times are read, nothing that follows from
them: medians and outliers are counted here (I17); a time is one that a clock gave, in a unit that says so.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from paceline_server.catalog.parts import Name
from paceline_server.catalog.schemas import ParamValue
from paceline_server.kernel.wire import Response

MAX_SERIES = 10_000
MAX_SAMPLES = 1_000_000
NS_PER = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
"""Nanoseconds of the units that measure time; criterion's files say none and mean ns."""

LONGEST_NS = 1e18
"""What an iteration may take: thirty years, and far from where a double overflows."""

Label = Annotated[str, Field(min_length=1, max_length=200)]
Iterations = Annotated[int, Field(ge=1, lt=2**63)]
Time = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SeriesIn(BaseModel):
    """One benchmark of one baseline: `times[i]` of `iterations[i]` iterations together, in `unit`."""

    model_config = ConfigDict(extra="ignore", strict=True)

    benchmark: Label
    arm: Label | None = None
    value: Annotated[str, Field(max_length=200)] | None = None
    baseline: Label
    unit: str | None = None
    iterations: Annotated[list[Iterations], Field(min_length=1, max_length=MAX_SAMPLES)]
    times: Annotated[list[Time], Field(min_length=1, max_length=MAX_SAMPLES)]

    @model_validator(mode="after")
    def _measured(self) -> Self:
        if len(self.times) != len(self.iterations):
            raise ValueError("expected as many times as iterations")
        if self.unit is not None and self.unit not in NS_PER:
            raise ValueError(
                f"{self.unit!r} is no unit of time: only what a clock measured is stored, so leave this out"
            )
        scale = NS_PER[self.unit or "ns"]
        each = zip(self.times, self.iterations, strict=True)
        if any(time * scale / count > LONGEST_NS for time, count in each):
            raise ValueError(
                "an iteration of over thirty years is no measurement: look at its unit"
            )
        return self


class CriterionIn(BaseModel):
    """What `paceline import` stores as import.json."""

    model_config = ConfigDict(extra="ignore", strict=True)

    v: Literal[1]
    format: Literal["criterion"]
    file: Annotated[str, Field(max_length=200)]
    bytes: Annotated[int, Field(ge=0, lt=2**63)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    why_no_verdict: Annotated[str, Field(max_length=2_000)]
    series: Annotated[list[SeriesIn], Field(min_length=1, max_length=MAX_SERIES)]


class MeasuredOnIn(BaseModel):
    """Where it was measured. `suite`: an announced one, whose gates it is held against where the names of
    benchmarks are the same; `on`: what the machine is called; `commit`: what was measured."""

    model_config = ConfigDict(extra="forbid", strict=True)

    suite: Name | None = None
    on: Annotated[str, Field(min_length=1, max_length=100)] = "imported"
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None


class ImportedSeriesOut(Response):
    """One benchmark of an imported run. `outliers_*`: samples beyond Tukey's fences at 1.5 and 3
    interquartile ranges; they are counted and kept."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    samples: int
    median_ns: float
    outliers_mild: int
    outliers_severe: int


class ImportedRunOut(Response):
    """A run that was made of one baseline. A saved one is the `branch` of its series; `new`, criterion's last
    run, has none and so no series."""

    run_id: str
    job_id: str
    baseline: str
    series: list[ImportedSeriesOut]
