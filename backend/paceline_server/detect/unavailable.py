"""Finds the arms that a target cannot run: announced with a reason and without samples.

Rules and gates do not apply to an unavailable arm. An arm that one launch called unavailable and another
measured counts as measured.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paceline_contract.manifest import Manifest
from paceline_contract.params import params_key

from paceline_server.detect.facts import JobFacts
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import UnavailableOut

NAMED = 3
"""Benchmarks, cases or reasons that a sentence names; the others are counted, so that it fits on a line."""


def list_some(names: Collection[str], most: int = NAMED) -> str:
    """Return `parse, print, scan (and 4 more)`."""
    more = f" (and {len(names) - most} more)" if len(names) > most else ""
    return f"{', '.join(list(names)[:most])}{more}"


def no_arm_sentence(reasons_by_benchmark: Mapping[str, Sequence[str]]) -> str:
    """Return `no arm of parse, print is available here: no JVM, no clang`; of many reasons it says where all are."""
    reasons = list(
        dict.fromkeys(
            reason
            for own_reasons in reasons_by_benchmark.values()
            for reason in own_reasons
        )
    )
    rest = (
        ", listed under the report's unavailable arms" if len(reasons) > NAMED else ""
    )
    return f"no arm of {list_some(reasons_by_benchmark)} is available here: {list_some(reasons)}{rest}"


@dataclass(frozen=True)
class UnavailableArms:
    """Reasons by (benchmark, params key, arm)."""

    reasons: Mapping[tuple[str, str, str], str]

    @classmethod
    def of(cls, facts: JobFacts) -> UnavailableArms:
        measured = {
            (case.benchmark, params_key(case.params), case.arm)
            for case in facts.cases
            if case.value.size
        }
        reasons = {
            (case.benchmark, params_key(case.params), case.arm): case.unavailable
            for case in facts.announced
            if case.unavailable is not None
        }
        return cls(
            {key: reason for key, reason in reasons.items() if key not in measured}
        )

    def why(self, group: Group, *arms: str) -> str | None:
        """Return why the first unavailable arm of `arms` cannot run here; None if all can."""
        for arm in arms:
            reason = self.reasons.get((group.benchmark, params_key(group.params), arm))
            if reason is not None:
                return f"{arm} is not available here: {reason}"
        return None

    def unavailable_benchmarks(
        self, manifest: Manifest, groups: Sequence[Group]
    ) -> dict[str, list[str]]:
        """Return reasons by benchmark, for the benchmarks of which no arm can run here with any params."""
        reasons_by_benchmark: dict[str, list[str]] = {}
        for name, benchmark in manifest.benchmarks.items():
            own_groups = [group for group in groups if group.benchmark == name]
            reasons = [
                self.reasons.get((name, params_key(group.params), arm))
                for group in own_groups
                for arm in benchmark.arms
            ]
            if reasons and None not in reasons:
                reasons_by_benchmark[name] = [
                    reason for reason in dict.fromkeys(reasons) if reason is not None
                ]
        return reasons_by_benchmark

    def rows(self, manifest: Manifest, groups: Sequence[Group]) -> list[UnavailableOut]:
        """Return one row per arm if its reason is the same with all params, else one row per group."""
        rows: list[UnavailableOut] = []
        for name, benchmark in manifest.benchmarks.items():
            own_groups = [group for group in groups if group.benchmark == name]
            for arm in benchmark.arms:
                reason_by_group = [
                    (group, self.reasons.get((name, params_key(group.params), arm)))
                    for group in own_groups
                ]
                reasons = {reason for _, reason in reason_by_group}
                everywhere = len(reasons) == 1
                for group, reason in (
                    reason_by_group[:1] if everywhere else reason_by_group
                ):
                    if reason is not None:
                        params = {} if everywhere else dict(group.params)
                        rows.append(
                            UnavailableOut(
                                benchmark=name, params=params, arm=arm, reason=reason
                            )
                        )
        return rows
