"""The input of an analysis: everything one job measured, and what it was asked.

`service` fills it from the store, `judge` from raw streams. Equal facts give equal
reports: nothing here depends on a clock or a database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from paceline_server.ingest.cases import (
    Case,
    Check,
    Conditions,
    ParamValue,
    Warned,
    params_key,
)
from paceline_server.stats.paired import PairPolicy
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import VoidLimits


@dataclass(frozen=True)
class JobIdentity:
    """What was measured where; copied into the report."""

    suite: str
    revision: str
    artifact_hash: str | None
    target: str
    started_at: datetime | None


@dataclass(frozen=True)
class JobRequest:
    """What the job was asked to measure. `benchmarks` None: all; `params`: restricted values by name.

    `launches`, `rounds`: per batch; a job asked for fewer than a verdict needs is a quick look and is never
    extended.
    """

    benchmarks: Sequence[str] | None = None
    params: Mapping[str, Sequence[ParamValue]] = field(default_factory=dict)
    launches: int | None = None
    rounds: int | None = None
    demonstration: bool = False
    knobs: Mapping[str, ParamValue] = field(default_factory=dict)
    target_kind: Literal["host", "device"] = "host"
    """On what kind of target; it has a say in the margin and in the reference."""
    suppress: Sequence[str] = ()
    """Names of configuration errors that void nothing here."""

    def is_quick_look(self, policy: PairPolicy) -> bool:
        """Whether even one whole batch would be too little for a verdict."""
        if self.launches is None or self.rounds is None:
            return False
        return (
            self.launches < policy.min_launches
            or self.launches * self.rounds < policy.min_blocks
        )


@dataclass(frozen=True)
class JobFacts:
    """Everything one job said. `announced`: every case a launch spoke of, with or without samples; `broken`:
    why launches are missing or incomplete, one sentence each; `configuration`: names of the configuration
    errors that the server itself knows its target to have, whatever the agent says."""

    cases: Sequence[CaseSamples]
    checks: Sequence[Check] = ()
    warnings: Sequence[Warned] = ()
    conditions: Sequence[Conditions] = ()
    broken: Sequence[str] = ()
    announced: Sequence[Case] = ()
    configuration: Sequence[str] = ()
    builds: Sequence[Mapping[str, str]] = ()
    """What the workloads of each launch said about themselves (`start.build`)."""

    def known(self) -> dict[str, object]:
        """What the server knows of the target, as a reading would have it."""
        return {"configuration": list(self.configuration)}


@dataclass(frozen=True)
class Look:
    """Which look of the sequential verdict this is, and what else its run judged (for the false-discovery
    rate).

    `other_p_values`: one per pair of the run's other jobs; `unjudged_jobs`: how many of them have no verdict
    yet. Their pairs (as many as this job's) count as p = 1, so a verdict never depends on luck of the order
    in a way that could make it bolder.
    """

    number: int = 0
    other_p_values: tuple[float, ...] = ()
    unjudged_jobs: int = 0
    limits: VoidLimits = field(default_factory=VoidLimits)


@dataclass(frozen=True)
class CaseIndex:
    """The samples by (benchmark, params key, metric, arm)."""

    by_key: Mapping[tuple[str, str, str, str], CaseSamples]

    @classmethod
    def of(cls, cases: Sequence[CaseSamples]) -> CaseIndex:
        return cls(
            {
                (case.benchmark, params_key(case.params), case.metric, case.arm): case
                for case in cases
            }
        )

    def get(
        self, benchmark: str, params: Mapping[str, ParamValue], metric: str, arm: str
    ) -> CaseSamples | None:
        """The samples of one case, None when it has none."""
        found = self.by_key.get((benchmark, params_key(params), metric, arm))
        return found if found is not None and found.value.size else None
