"""Finds the arms a target cannot run: announced with a reason and without samples.

Samples win: an arm that one launch called unavailable and another measured counts as
measured. Rules and gates about an unavailable arm do not apply; it is neither missing,
nor a defect, nor passed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paceline_contract.manifest import Manifest

from paceline_server.detect.facts import JobFacts
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import UnavailableOut
from paceline_server.ingest.cases import params_key

NAMED = 3
"""Benchmarks that a reason names before it counts: it is read on one line, and stands once per target in a
run's."""


def list_some(names: Collection[str]) -> str:
    """`parse, print, scan (and 4 more)`: all names where they are few."""
    return f"{', '.join(list(names)[:NAMED])}{_and_more(len(names) - NAMED)}"


def no_arm_sentence(nowhere: Mapping[str, Sequence[str]]) -> str:
    """`no arm of parse, print is available here: no JVM (and 1 more)`."""
    reasons = list(dict.fromkeys(reason for own in nowhere.values() for reason in own))
    return f"no arm of {list_some(nowhere)} is available here: {reasons[0]}{_and_more(len(reasons) - 1)}"


def _and_more(number: int) -> str:
    return f" (and {number} more)" if number > 0 else ""


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
        said = {
            (case.benchmark, params_key(case.params), case.arm): case.unavailable
            for case in facts.announced
            if case.unavailable is not None
        }
        return cls({key: reason for key, reason in said.items() if key not in measured})

    def why(self, group: Group, *arms: str) -> str | None:
        """Why the first of `arms` that cannot run here cannot, in a sentence's words; None when all can."""
        for arm in arms:
            reason = self.reasons.get((group.benchmark, params_key(group.params), arm))
            if reason is not None:
                return f"{arm} is not available here: {reason}"
        return None

    def nowhere(
        self, manifest: Manifest, groups: Sequence[Group]
    ) -> dict[str, list[str]]:
        """The reasons, each once, of every benchmark of which no arm can run here at any of its points."""
        told: dict[str, list[str]] = {}
        for name, benchmark in manifest.benchmarks.items():
            own = [group for group in groups if group.benchmark == name]
            found = [
                self.reasons.get((name, params_key(group.params), arm))
                for group in own
                for arm in benchmark.arms
            ]
            if found and None not in found:
                told[name] = [
                    reason for reason in dict.fromkeys(found) if reason is not None
                ]
        return told

    def rows(self, manifest: Manifest, groups: Sequence[Group]) -> list[UnavailableOut]:
        """One row per arm and reason: for all points at once where they agree, else one per point."""
        rows: list[UnavailableOut] = []
        for name, benchmark in manifest.benchmarks.items():
            own = [group for group in groups if group.benchmark == name]
            for arm in benchmark.arms:
                found = [
                    (group, self.reasons.get((name, params_key(group.params), arm)))
                    for group in own
                ]
                reasons = {reason for _, reason in found}
                everywhere = len(reasons) == 1
                for group, reason in found[:1] if everywhere else found:
                    if reason is not None:
                        params = {} if everywhere else dict(group.params)
                        rows.append(
                            UnavailableOut(
                                benchmark=name, params=params, arm=arm, reason=reason
                            )
                        )
        return rows
