"""Decides why a series moved (I15): the code, the target's environment, or this target
alone.

Pure. Identical artifacts are never the code; every cause names its evidence; without
evidence the cause is `code`, and the text says so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from paceline_server.alerts.changes.change_facts import ChangeFacts
from paceline_server.series.environments import describe_switch, differences
from paceline_server.stats.plain_words import describe_ratio as change_words
from paceline_server.store.tables.history import SeriesPoint

SIBLING_POINTS = 3
"""Points a sibling needs either side before it may say that it did not move: the median of three outlives
one disturbed run."""
STAYED = 0.5
"""Share of the shift below which a sibling did not follow it: half way there is nearer to neither."""


@dataclass(frozen=True)
class SiblingTarget:
    """The same measurement on another target, over the same commits. `ratio` above 1: it got worse there."""

    target: str
    ratio: float
    n_before: int
    n_after: int
    moved: bool


@dataclass(frozen=True)
class Cause:
    """`because` is one sentence; `evidence` what it rests on, as plain JSON."""

    cause: Literal["code", "environment", "target"]
    because: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def stored(self) -> dict[str, Any]:
        """For `Finding.numbers`."""
        return {"cause": self.cause, "because": self.because, **self.evidence}


def environment_cause_of(
    fact: ChangeFacts, factors: Mapping[str, Mapping[str, Any]]
) -> Cause | None:
    """Whether the target's surroundings explain a change, judged by its own points: the same artifact on both
    sides, another fingerprint, or an incident that detection found."""
    old, new = (
        fact.points[fact.edges.certain_before],
        fact.points[fact.edges.certain_after],
    )
    if old.artifact_hash is not None and old.artifact_hash == new.artifact_hash:
        return Cause(
            "environment",
            f"the same artifact ({old.artifact_hash[:12]}) was measured before and after: not the code",
            {"artifacts": [old.artifact_hash, new.artifact_hash]},
        )
    if old.fingerprint != new.fingerprint:
        before, after = factors.get(old.fingerprint), factors.get(new.fingerprint)
        return Cause(
            "environment",
            f"the target itself changed in between: {describe_switch(before, after)}",
            {
                "fingerprints": [old.fingerprint, new.fingerprint],
                "factors": [
                    difference._asdict()
                    for difference in differences(before or {}, after or {})
                ],
            },
        )
    incident = fact.change.evidence.get("incident")
    if incident:
        said = incident.get("text") or "many series of this target moved together"
        return Cause("environment", str(said), {"incident": dict(incident)})
    return None


def siblings_of(
    fact: ChangeFacts,
    old_commits: frozenset[str],
    new_commits: frozenset[str],
    points: Sequence[tuple[str, SeriesPoint]],
) -> list[SiblingTarget]:
    """What the same measurement did elsewhere over the same commits; targets with points on one side only
    are left out. A commit measured on both sides of the change says nothing."""
    old: dict[str, list[float]] = defaultdict(list)
    new: dict[str, list[float]] = defaultdict(list)
    for target, point in points:
        if point.commit in new_commits - old_commits:
            new[target].append(point.value)
        elif point.commit in old_commits - new_commits:
            old[target].append(point.value)
    found = []
    shift = math.log(fact.ratio)
    for target in sorted(old.keys() & new.keys()):
        raw = median(new[target]) / median(old[target])
        ratio = raw if fact.series.direction == "lower" else 1.0 / raw
        moved = math.log(ratio) / shift >= STAYED if shift else False
        found.append(
            SiblingTarget(target, ratio, len(old[target]), len(new[target]), moved)
        )
    return found


def code_or_target(
    fact: ChangeFacts, target_name: str, siblings: Sequence[SiblingTarget]
) -> Cause:
    """`target` when every other target that measured enough of the same commits stayed where it was."""
    told = [
        sibling
        for sibling in siblings
        if min(sibling.n_before, sibling.n_after) >= SIBLING_POINTS
    ]
    artifacts, unit = _artifacts(fact), fact.series.unit
    evidence = {
        "siblings": [asdict(sibling) for sibling in siblings],
        "artifacts": artifacts,
    }
    moved = [sibling for sibling in told if sibling.moved]
    if moved:
        names = ", ".join(
            f"{comparison.target} ({change_words(comparison.ratio, unit)})"
            for comparison in moved
        )
        return Cause(
            "code",
            f"another artifact, and other targets moved with it: {names}",
            evidence,
        )
    if told:
        names = ", ".join(
            f"{sibling.target} ({change_words(sibling.ratio, unit)})"
            for sibling in told
        )
        because = (
            f"only {target_name} moved; with the same commits these did not: {names}"
        )
        return Cause("target", because, evidence)
    unknown = None in artifacts
    built = (
        "which artifacts were measured is not known"
        if unknown
        else "the artifact is another one"
    )
    reason = "no other target measured enough of the same commits to compare with"
    return Cause("code", f"{built}; {reason}", evidence)


def _artifacts(fact: ChangeFacts) -> list[str | None]:
    old, new = (
        fact.points[fact.edges.certain_before],
        fact.points[fact.edges.certain_after],
    )
    return [old.artifact_hash, new.artifact_hash]
