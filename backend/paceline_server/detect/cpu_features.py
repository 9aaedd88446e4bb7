"""Says which of a suite's gates apply to the CPU that a job ran on.

A level may be demanded of CPUs with some features only. Where the features are not known no such gate is judged,
and none passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paceline_contract.gate_levels import (
    applicable_gates,
    feature_dependent_gates,
    requirements_text,
    unmet_requirements,
)
from paceline_contract.manifest import Manifest

from paceline_server.ingest.cases import Conditions
from paceline_server.stats.gates import GateVerdict
from paceline_server.stats.samples import Interval

KEY = "cpu_features"
"""The name of the features among the values of a reading; they are names of `/proc/cpuinfo`."""
NOTHING = Interval(None, None)
UNKNOWN = (
    "not judged: which level applies depends on the CPU's features, and no reading of this job names them; "
    "update the agent, or measure on Linux"
)
DIFFERENT = (
    "not judged: which level applies depends on the CPU's features, and the job's attempts ran on CPUs with "
    "different ones"
)


@dataclass(frozen=True)
class CpuFeatures:
    """`names` None: they are not known, and `why` says why not."""

    names: frozenset[str] | None = None
    why: str = UNKNOWN

    @classmethod
    def of(cls, conditions: Sequence[Conditions]) -> CpuFeatures:
        """The features on which the readings before each attempt agree."""
        features_by_attempt = {
            reading.attempt: _names(reading.values)
            for reading in conditions
            if reading.phase == "before" and KEY in reading.values
        }
        if not features_by_attempt or any(
            reading.attempt not in features_by_attempt for reading in conditions
        ):
            return cls()
        names = {*features_by_attempt.values()}
        return cls(names.pop()) if len(names) == 1 else cls(why=DIFFERENT)


@dataclass(frozen=True)
class GatesOnCpu:
    """The gates of a manifest on one CPU. `refused`: by index, why a gate is not judged there; `other_levels`: in
    whose place a gate for CPUs with more features is."""

    refused: Mapping[int, GateVerdict]
    other_levels: frozenset[int]

    @classmethod
    def of(cls, manifest: Manifest, features: CpuFeatures) -> GatesOnCpu:
        gates = manifest.gates
        if features.names is None:
            undecided = GateVerdict("inconclusive", features.why, None, NOTHING)
            return cls(
                dict.fromkeys(feature_dependent_gates(gates), undecided), frozenset()
            )
        refused, applicable = {}, applicable_gates(gates, features.names)
        for index, gate in enumerate(gates):
            if lacking := unmet_requirements(gate, features.names):
                reason = f"not for this CPU (needs {requirements_text(lacking)})"
                refused[index] = GateVerdict("not_applicable", reason, None, NOTHING)
        others = frozenset(range(len(gates))) - applicable - refused.keys()
        return cls(refused, others)


def _names(values: Mapping[str, object]) -> frozenset[str]:
    names = values[KEY]
    return (
        frozenset(map(str, names)) if isinstance(names, list | tuple) else frozenset()
    )
