"""Renames the series of a benchmark or arm whose name changed, so that they keep their
history.

Old names come from the aliases of the suite's newest manifest. Points arrive under the
newest name whatever their job called them. A series of an old name is renamed, or
joined with the series of the new name: no point is lost and none counts twice. Stored
comparisons keep the names they were measured under.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from paceline_server.catalog.manifest import Manifest
from paceline_server.series.points import queries


@dataclass(frozen=True)
class NewestNames:
    """Old names → newest ones. `arms` by (newest benchmark, old arm)."""

    benchmarks: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest) -> NewestNames:
        """What the manifest's `aliases` and `arm_aliases` say."""
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
        """What a benchmark is called now."""
        return self.benchmarks.get(name, name)

    def newest(self, benchmark: str, arm: str) -> tuple[str, str]:
        """What (benchmark, arm) is called now."""
        now = self.benchmark(benchmark)
        return now, self.arms.get((now, arm), arm)

    @property
    def old_benchmarks(self) -> set[str]:
        """Benchmarks of which a series may have to change its name."""
        return {*self.benchmarks, *(benchmark for benchmark, _ in self.arms)}


def adopt_newest_names(session: Session, suite: str, names: NewestNames) -> int:
    """Give every series of an old name its newest one; returns how many were renamed or joined."""
    if not names.old_benchmarks:
        return 0
    changed = 0
    for row in queries.series_named(session, suite, sorted(names.old_benchmarks)):
        benchmark, arm = names.newest(row.benchmark, row.arm)
        if (benchmark, arm) == (row.benchmark, row.arm):
            continue
        other = queries.same_series(session, row, benchmark, arm)
        if other is None:
            row.benchmark, row.arm = benchmark, arm
            session.flush()
        else:
            queries.join_series(session, row.id, other.id)
        changed += 1
    for old, new in names.benchmarks.items():
        queries.rename_floors(session, suite, old, new)
    for (benchmark, old_arm), new_arm in names.arms.items():
        queries.rename_floors_of_arm(session, suite, benchmark, old_arm, new_arm)
    return changed
