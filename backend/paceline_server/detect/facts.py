"""Defines the input of an analysis: what a job was asked to measure, and everything it reported.

`service` reads it from the database, `judge` from raw streams. Equal facts give equal reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeVar

import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.names import SidePairing
from paceline_contract.params import params_key

from paceline_server.ingest.cases import Case, CaseWarning, Check, Conditions
from paceline_server.stats import gates
from paceline_server.stats.audit import AuditPolicy
from paceline_server.stats.constants import EARLY_MIN_LAUNCHES
from paceline_server.stats.paired import METHOD, PairPolicy
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.stopping import policy_after
from paceline_server.stats.voids import VoidLimits

Named = TypeVar("Named", Case, CaseSamples)
CPU_FEATURES = "cpu_features"
"""The name of the features among the values of a reading; they are names of `/proc/cpuinfo`."""
UNKNOWN_FEATURES = (
    "not judged: what applies depends on the CPU's features, and no reading of this job names them; "
    "update the agent, or measure on Linux"
)
DIFFERENT_FEATURES = (
    "not judged: what applies depends on the CPU's features, and the job's attempts ran on CPUs with "
    "different ones"
)


@dataclass(frozen=True)
class JobIdentity:
    """The measured revision and its target."""

    suite: str
    revision: str
    artifact_hash: str | None
    target: str
    started_at: datetime | None


@dataclass(frozen=True)
class JobRequest:
    """The requested measurement: `benchmarks` (None for all) at restricted values of `params`. `launches` and
    `rounds` are per batch. A job with too few of them for a verdict is a quick look and is never extended.
    """

    benchmarks: Sequence[str] | None = None
    params: Mapping[str, Sequence[ParamValue]] = field(default_factory=dict)
    launches: int | None = None
    rounds: int | None = None
    demonstration: bool = False
    knobs: Mapping[str, ParamValue] = field(default_factory=dict)
    target_kind: Literal["host", "device"] = "host"
    """The kind of target, which selects margin and reference."""
    suppress: Sequence[str] = ()
    """Names of configuration errors that must not void the job."""
    stop_when_sure: bool = False
    """Whether a benchmark whose verdict is certain was not launched again."""

    def is_quick_look(self, policy: PairPolicy) -> bool:
        """Return whether a whole batch is too little for a verdict."""
        if self.launches is None or self.rounds is None:
            return False
        return (
            self.launches < policy.min_launches
            or self.launches * self.rounds < policy.min_blocks
        )

    def policy_of(
        self, policy: PairPolicy, samples: Sequence[CaseSamples | None]
    ) -> PairPolicy:
        """Return the policy of a pair with these samples: a harder one where it stopped before its planned launches."""
        if not self.stop_when_sure or self.launches is None:
            return policy
        return policy_after(min(map(_count_launches, samples)), self.launches, policy)

    def audit_policy_of(self, samples: Sequence[CaseSamples | None]) -> AuditPolicy:
        """Return the numbers of the audit of a benchmark with these samples; one that stopped before its planned
        launches needs fewer."""
        planned = self.launches if self.stop_when_sure else None
        if planned is None or max(map(_count_launches, samples)) >= planned:
            return AuditPolicy()
        return AuditPolicy(min_launches=EARLY_MIN_LAUNCHES)


def _count_launches(case: CaseSamples | None) -> int:
    return 0 if case is None else int(np.unique(case.launch).size)


@dataclass(frozen=True)
class LaunchBuild:
    """What a launch of a workload says of its build (`start.build`)."""

    launch: int
    workload: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class JobFacts:
    """Everything a job reported. `announced`: every case of its launches, with or without samples. `broken`: why
    launches are missing or incomplete. `configuration`: configuration errors of the target that the server
    knows by itself."""

    cases: Sequence[CaseSamples]
    checks: Sequence[Check] = ()
    warnings: Sequence[CaseWarning] = ()
    conditions: Sequence[Conditions] = ()
    broken: Sequence[str] = ()
    announced: Sequence[Case] = ()
    configuration: Sequence[str] = ()
    builds: Sequence[LaunchBuild] = ()

    def named_as_head(self, pairing: SidePairing) -> JobFacts:
        """Return the facts of a base, with the names that its head has for the same benchmarks and arms."""

        def renamed(case: Named) -> Named:
            benchmark, arm = pairing.in_head(case.benchmark, case.arm)
            return replace(case, benchmark=benchmark, arm=arm)

        return replace(
            self,
            cases=[renamed(case) for case in self.cases],
            announced=[renamed(case) for case in self.announced],
        )

    def known_conditions(self) -> dict[str, object]:
        """Return the server's knowledge of the target, in the form of a reading."""
        return {"configuration": list(self.configuration)}


@dataclass(frozen=True)
class Look:
    """The look of the sequential test, and the run's other tests for the control of false discoveries.

    `other_p_values` has one entry per pair of the run's other jobs. Each of the `unjudged_jobs` counts as many
    pairs as this job with p = 1, so the order of jobs never makes a verdict less strict.
    """

    number: int = 0
    other_p_values: tuple[float, ...] = ()
    unjudged_jobs: int = 0
    limits: VoidLimits = field(default_factory=VoidLimits)
    method: str = METHOD
    """The method of the decision. By `VOIDING_METHOD` what only disturbs a job voids it."""
    gate_method: str = gates.METHOD
    """The method of the intervals of gates."""


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
        """Return the samples of a case; None without any."""
        case = self.by_key.get((benchmark, params_key(params), metric, arm))
        return case if case is not None and case.value.size else None


@dataclass(frozen=True)
class CpuFeatures:
    """The features of the CPU that a job ran on. `names` None: they are not known, and `why` says why not."""

    names: frozenset[str] | None = None
    why: str = UNKNOWN_FEATURES

    @classmethod
    def of(cls, conditions: Sequence[Conditions]) -> CpuFeatures:
        """Return the features on which the readings before each attempt agree."""
        features_by_attempt = {
            reading.attempt: _feature_names(reading.values)
            for reading in conditions
            if reading.phase == "before" and CPU_FEATURES in reading.values
        }
        if not features_by_attempt or any(
            reading.attempt not in features_by_attempt for reading in conditions
        ):
            return cls()
        names = {*features_by_attempt.values()}
        return cls(names.pop()) if len(names) == 1 else cls(why=DIFFERENT_FEATURES)


def _feature_names(values: Mapping[str, object]) -> frozenset[str]:
    names = values[CPU_FEATURES]
    return (
        frozenset(map(str, names)) if isinstance(names, list | tuple) else frozenset()
    )
