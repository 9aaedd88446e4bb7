"""Decides which benchmark and arm of one manifest is which of another, by their names and aliases.

History, A/B jobs and comparisons of runs all ask here, so that a renamed benchmark is the same one everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_rules import value_problem


@dataclass(frozen=True)
class NewestNames:
    """Newest names by old names; those of arms by (newest benchmark, old arm)."""

    benchmarks: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest) -> NewestNames:
        """Read a manifest's `aliases` and `arm_aliases`."""
        return cls(
            {
                old: name
                for name, benchmark in manifest.benchmarks.items()
                for old in benchmark.aliases
            },
            {
                (name, old): arm
                for name, benchmark in manifest.benchmarks.items()
                for arm, olds in benchmark.arm_aliases.items()
                for old in olds
            },
        )

    def benchmark(self, name: str) -> str:
        """Return the newest name of a benchmark."""
        return self.benchmarks.get(name, name)

    def newest(self, benchmark: str, arm: str) -> tuple[str, str]:
        """Return the newest names of a benchmark and its arm."""
        name = self.benchmark(benchmark)
        return name, self.arms.get((name, arm), arm)

    @property
    def old_benchmarks(self) -> set[str]:
        """Return the benchmarks whose series may have to be renamed."""
        return {*self.benchmarks, *(benchmark for benchmark, _ in self.arms)}


@dataclass(frozen=True)
class SidePairing:
    """The benchmarks and arms that base and head have in common.

    A name that both sides declare means the same on both; for other names the aliases of either side decide. A name in
    neither mapping is new in head, or was removed there.
    """

    benchmarks: Mapping[str, str]
    """Head's name → base's name."""
    arms: Mapping[tuple[str, str], str]
    """(Head's benchmark, head's arm) → base's arm."""

    @classmethod
    def of(cls, base: Manifest, head: Manifest) -> SidePairing:
        """Pair what two manifests declare."""
        benchmarks = _pair(
            base.benchmarks,
            head.benchmarks,
            {name: benchmark.aliases for name, benchmark in base.benchmarks.items()},
            {name: benchmark.aliases for name, benchmark in head.benchmarks.items()},
        )
        arms = {
            (name, arm): base_arm
            for name, base_name in benchmarks.items()
            for arm, base_arm in _pair(
                base.benchmarks[base_name].arms,
                head.benchmarks[name].arms,
                base.benchmarks[base_name].arm_aliases,
                head.benchmarks[name].arm_aliases,
            ).items()
        }
        return cls(benchmarks, arms)

    def in_head(self, benchmark: str, arm: str) -> tuple[str, str]:
        """Return the names that head has for a benchmark and an arm of base; base's own where head has none."""
        name = self.benchmark_in_head(benchmark)
        arms_in_head = {
            base_arm: head_arm
            for (benchmark_name, head_arm), base_arm in self.arms.items()
            if benchmark_name == name
        }
        return name, arms_in_head.get(arm, arm)

    def in_base(self, benchmark: str, arm: str) -> tuple[str, str]:
        """Return the names that base has for a benchmark and an arm of head; head's own where base has none."""
        return (
            self.benchmarks.get(benchmark, benchmark),
            self.arms.get((benchmark, arm), arm),
        )

    def benchmark_in_head(self, benchmark: str) -> str:
        """Return the name that head has for a benchmark of base; base's own where head has none."""
        for head, base in self.benchmarks.items():
            if base == benchmark:
                return head
        return benchmark


def _pair(
    base: Iterable[str],
    head: Iterable[str],
    base_aliases: Mapping[str, Collection[str]],
    head_aliases: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """Return base's name by head's name. No name is used twice."""
    at_base, at_head = dict.fromkeys(base), dict.fromkeys(head)
    paired = {name: name for name in at_head if name in at_base}
    for name in at_head:
        if name in paired:
            continue
        for old in at_base:
            is_former = old in head_aliases.get(name, ())
            is_later = name in base_aliases.get(old, ())
            if (is_former or is_later) and old not in paired.values():
                paired[name] = old
                break
    return paired


Values = Mapping[str, Sequence[ParamValue]]
"""Param → the requested values."""


def declared_params(
    manifest: Manifest, names: Sequence[str], params: Values
) -> dict[str, list[ParamValue]]:
    """Return those of `params` that a benchmark of `names` has in this manifest."""
    declared = {param for name in names for param in manifest.benchmarks[name].params}
    return {
        param: list(values) for param, values in params.items() if param in declared
    }


def select_at_base(
    base: Manifest, head: Manifest, at_head: Sequence[str], params: Values
) -> tuple[list[str], dict[str, list[ParamValue]]]:
    """Return what the base of an A/B job measures of these benchmarks of its head: its own names, and the values it
    permits."""
    pairing = SidePairing.of(base, head)
    names = [pairing.benchmarks[name] for name in at_head if name in pairing.benchmarks]
    selected = {}
    for key, values in declared_params(base, names, params).items():
        with_param = [name for name in names if key in base.benchmarks[name].params]
        permitted = [
            value
            for value in values
            if any(
                value_problem(base.benchmarks[name].params[key], value) is None
                for name in with_param
            )
        ]
        if permitted:
            selected[key] = permitted
        else:
            names = [name for name in names if name not in with_param]
    return names, declared_params(base, names, selected)
