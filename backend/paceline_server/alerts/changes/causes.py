"""Decides why a series moved (I15): the code, the target's environment, or this target alone.

If the artifacts are identical, the code is never the cause. Every cause names its evidence; without evidence the cause
is `code`, and the text says so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from sqlalchemy.orm import Session

from paceline_server.alerts.changes import queries
from paceline_server.alerts.changes.change_facts import ChangeFacts, surest_change
from paceline_server.series import service as history
from paceline_server.series.environments import describe_switch, differences
from paceline_server.stats.plain_words import describe_ratio
from paceline_server.store.tables.history import TARGET_SHIFT, SeriesPoint

SIBLING_POINTS = 3
"""A sibling counts only with this many points on either side: the median of three survives one disturbed run."""
WINDOW_POINTS = 30
"""Points on either side whose commits are looked up on siblings; the rank test uses as many (§4.4)."""
STAYED = 0.5
"""A sibling that moved by less than this share of the shift counts as having stayed."""


@dataclass(frozen=True)
class SiblingTarget:
    """The same measurement on another target, over the same commits; `ratio` above 1 is worse."""

    target: str
    ratio: float
    n_before: int
    n_after: int
    moved: bool


@dataclass(frozen=True)
class Cause:
    """Why a series moved: `because` is one sentence, `evidence` its grounds as plain JSON."""

    cause: Literal["code", "environment", "target"]
    because: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def stored(self) -> dict[str, Any]:
        """Return the cause as `Finding.numbers` has it."""
        return {"cause": self.cause, "because": self.because, **self.evidence}


def environment_cause_of(
    fact: ChangeFacts, factors: Mapping[str, Mapping[str, Any]]
) -> Cause | None:
    """Return the environment as the cause, if the points of a change show it: the same artifact on both sides, another
    fingerprint, or a shift of the whole target that detection found."""
    old, new = fact.certain_before, fact.certain_after
    if fact.has_same_artifact:
        return Cause(
            "environment",
            f"the same artifact ({str(old.artifact_hash)[:12]}) was measured before and after: not the code",
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
    shift = fact.change.evidence.get(TARGET_SHIFT)
    if shift:
        because = shift.get("text") or "many series of this target moved together"
        return Cause("environment", str(because), {TARGET_SHIFT: dict(shift)})
    return None


def siblings_of(
    fact: ChangeFacts,
    old_commits: frozenset[str],
    new_commits: frozenset[str],
    points: Sequence[tuple[str, SeriesPoint]],
) -> list[SiblingTarget]:
    """Return how the same measurement moved on other targets over the same commits. Targets with points on one side
    only are left out, and so are commits measured on both sides of the change."""
    old: dict[str, list[float]] = defaultdict(list)
    new: dict[str, list[float]] = defaultdict(list)
    for target, point in points:
        if not fact.means_the_same(point):
            continue
        if point.commit in new_commits - old_commits:
            new[target].append(point.value)
        elif point.commit in old_commits - new_commits:
            old[target].append(point.value)
    siblings = []
    shift = math.log(fact.ratio)
    for target in sorted(old.keys() & new.keys()):
        raw = median(new[target]) / median(old[target])
        ratio = raw if fact.declaration.direction == "lower" else 1.0 / raw
        moved = math.log(ratio) / shift >= STAYED if shift else False
        siblings.append(
            SiblingTarget(target, ratio, len(old[target]), len(new[target]), moved)
        )
    return siblings


def code_or_target(
    fact: ChangeFacts, target_name: str, siblings: Sequence[SiblingTarget]
) -> Cause:
    """Return `target` if other targets measured enough of the same commits and none of them moved; else `code`."""
    comparable = [
        sibling
        for sibling in siblings
        if min(sibling.n_before, sibling.n_after) >= SIBLING_POINTS
    ]
    unit = fact.declaration.unit
    artifacts = [fact.certain_before.artifact_hash, fact.certain_after.artifact_hash]
    evidence = {
        "siblings": [asdict(sibling) for sibling in siblings],
        "artifacts": artifacts,
    }
    moved = [sibling for sibling in comparable if sibling.moved]
    if moved:
        names = ", ".join(
            f"{sibling.target} ({describe_ratio(sibling.ratio, unit)})"
            for sibling in moved
        )
        return Cause(
            "code",
            f"another artifact, and other targets moved with it: {names}",
            evidence,
        )
    if comparable:
        names = ", ".join(
            f"{sibling.target} ({describe_ratio(sibling.ratio, unit)})"
            for sibling in comparable
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


def environment_cause(session: Session, fact: ChangeFacts) -> Cause | None:
    """Return the environment as the cause of a change, judged with the stored factors of both fingerprints."""
    hashes = {point.fingerprint for point in fact.points.values()}
    return environment_cause_of(
        fact, history.fingerprints(session, hashes) if len(hashes) > 1 else {}
    )


def determine_cause(
    session: Session, facts: Sequence[ChangeFacts], target_name: str
) -> Cause:
    """Return why the changes of a group happened (I15): by their own points, or else by the surest one's siblings."""
    lead = surest_change(facts)
    for fact in (lead, *facts):
        cause = environment_cause(session, fact)
        if cause is not None:
            return cause
    old, new = queries.points_around(session, lead, WINDOW_POINTS)
    old_commits, new_commits = ({point.commit for point in side} for side in (old, new))
    elsewhere = queries.sibling_points(session, lead.series, old_commits | new_commits)
    siblings = siblings_of(
        lead, frozenset(old_commits), frozenset(new_commits), elsewhere
    )
    return code_or_target(lead, target_name, siblings)
