"""Judges two revisions measured in one job: head against base, case by case.

Used for A/B and A/A jobs, confirmations and steps of a bisection. Blocks are (launch,
round): launch k of both sides ran one after the other with the same seed. What must
stay true:
- cases are decided by the same rule and margin as arms (STATISTICS §2);
- the checks of both sides pass before anything counts (I1);
- identical artifacts on both sides are reported, because then the code is not the cause
  (I15);
- arms against each other, derived metrics and gates are not judged here: they belong to
  the ordinary run of a revision, whose baselines this data never enters (I13).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from paceline_contract.manifest import Manifest

from paceline_server.detect.analyse import (
    Analysis,
    JudgedPair,
    blocked_pair,
    blockers_of,
    nothing_measured,
    suppressed_of,
    voids_of,
    with_count_of_others,
    with_suppressed,
)
from paceline_server.detect.audits import GroupAudit
from paceline_server.detect.checks import check_rows
from paceline_server.detect.compare import (
    EMPTY,
    Pair,
    at_sides,
    comparison_out,
    control_false_discoveries,
    extend_if_unsteady,
    window_of,
    withdraw_unmeasured,
)
from paceline_server.detect.condition_tracks import summarise_tracks
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.groups import Group, expected_groups
from paceline_server.detect.measure import WarmSamples, measurements
from paceline_server.detect.schemas import (
    AuditOut,
    BaseOut,
    CheckOut,
    JobReportOut,
    MeasurementOut,
)
from paceline_server.detect.unavailable import (
    UnavailableArms,
    list_some,
    no_arm_sentence,
)
from paceline_server.ingest.cases import params_key
from paceline_server.jobs.schemas import Verdict
from paceline_server.stats.audit import AuditFinding, audit
from paceline_server.stats.blocks import PairedBlocks, WarmPolicy, pair_blocks
from paceline_server.stats.noise import NoiseFloor, noise_floor
from paceline_server.stats.paired import PairPolicy, judge_pair
from paceline_server.stats.samples import CaseSamples, Direction

BASE, HEAD = "base", "head"
SAME_ARTIFACT = "both sides are the same artifact"


@dataclass(frozen=True)
class Revision:
    """One side: what was built of it, and what its launches said. Conditions and faults of the job as a whole
    are the head's."""

    commit: str
    artifact_hash: str | None
    facts: JobFacts


@dataclass(frozen=True)
class _RevisionSamples:
    """One side, looked up."""

    index: CaseIndex
    unavailable: UnavailableArms
    has: frozenset[tuple[str, str, str]]
    """(benchmark, params key, arm) announced or measured."""

    @classmethod
    def of(cls, facts: JobFacts) -> _RevisionSamples:
        announced = {
            (case.benchmark, params_key(case.params), case.arm)
            for case in facts.announced
        }
        measured = {
            (case.benchmark, params_key(case.params), case.arm) for case in facts.cases
        }
        return cls(
            CaseIndex.of(facts.cases),
            UnavailableArms.of(facts),
            frozenset(announced | measured),
        )


def analyse_revisions(
    manifest: Manifest,
    base: Revision,
    head: Revision,
    identity: JobIdentity,
    *,
    asked: JobRequest | None = None,
    look: Look | None = None,
    thorough: bool = False,
) -> Analysis:
    """Judge the head against the base.

    `thorough`: somebody waits for every comparison (a confirmation, a bisection), so the job goes on while
    any of them is open; else a first slower one ends it.
    """
    asked, look = asked or JobRequest(), look or Look()
    manifest = manifest.on(asked.target_kind)
    known = replace(head.facts, cases=[*head.facts.cases, *base.facts.cases])
    groups = expected_groups(manifest, asked, known)
    checks = [*_checks(manifest, asked, base, BASE), *_checks(manifest, asked, head)]
    voids = tuple(voids_of(head.facts, asked, look))
    blockers = tuple(blockers_of(checks, voids, head.facts))
    sides = _RevisionSamples.of(head.facts), _RevisionSamples.of(base.facts)
    blockers = (
        *blockers,
        *_reasons_nothing_measured(manifest, groups, (head, base), sides),
    )
    same = head.artifact_hash is not None and head.artifact_hash == base.artifact_hash
    a_a = base.commit == head.commit
    pairs = [
        pair
        for group in groups
        for pair in _pairs(manifest, group, sides, (asked, look), same)
    ]
    if a_a and not blockers:
        pairs = [replace(pair, floor=_floor(pair, sides, asked)) for pair in pairs]
    ruled = tuple(
        JudgedPair(
            blocked_pair(pair, blockers), None, demanded=_demanded(manifest, pair)
        )
        for pair in control_false_discoveries(pairs, look)
    )
    report = JobReportOut(
        suite=identity.suite,
        revision=identity.revision,
        artifact_hash=identity.artifact_hash,
        target=identity.target,
        started_at=identity.started_at,
        checks=checks,
        measurements=[
            *_measurement_rows(manifest, groups, base, "base"),
            *_measurement_rows(manifest, groups, head, "head"),
        ],
        comparisons=[
            comparison_out(judged.pair, asked.demonstration) for judged in ruled
        ],
        derived=[],
        gates=[],
        audits=_audit_rows(ruled),
        unavailable=sides[0].unavailable.rows(manifest, groups),
        base=BaseOut(
            revision=base.commit, artifact_hash=base.artifact_hash, same_artifact=same
        ),
        blockers=list(blockers),
        suppressed=suppressed_of(head.facts, asked),
        conditions=summarise_tracks(head.facts.conditions),
    )
    verdict, reason = _verdict(ruled, blockers, same=same)
    if (
        not blockers
        and verdict != "fail"
        and (left_out := _uncompared_sentence(manifest, groups, ruled, sides))
    ):
        reason = f"{reason}; {left_out}"
    reason = with_suppressed(reason, report.suppressed)
    waited_for = [judged for judged in ruled if thorough or judged.decides]
    still_open = not blockers and any(
        judged.pair.found.extendable for judged in waited_for
    )
    extendable = still_open and (thorough or verdict == "inconclusive")
    return Analysis(report, ruled, verdict, reason, extendable, blockers, voids)


def _checks(
    manifest: Manifest, asked: JobRequest, side: Revision, name: str = ""
) -> list[CheckOut]:
    """The checks a side owes; those of the base are named so."""
    rows = check_rows(manifest, asked, side.facts.checks)
    return (
        [row.model_copy(update={"name": f"{name}: {row.name}"}) for row in rows]
        if name
        else rows
    )


def _demanded(manifest: Manifest, pair: Pair) -> bool:
    """The primary metric decides, and whatever a rule of the suite watches."""
    watched = manifest.rule_for(
        pair.group.benchmark, pair.arm, pair.metric, pair.group.params
    )
    return pair.primary or watched is not None


def _pairs(
    manifest: Manifest,
    group: Group,
    sides: tuple[_RevisionSamples, _RevisionSamples],
    circumstances: tuple[JobRequest, Look],
    same: bool,
) -> Iterator[Pair]:
    (head_side, base_side), (asked, look) = sides, circumstances
    benchmark = manifest.benchmarks[group.benchmark]
    policy, warm = PairPolicy(margin_percent=benchmark.margin_percent), WarmPolicy()
    for metric, declared in benchmark.metrics.items():
        for arm in benchmark.arms:
            head = head_side.index.get(group.benchmark, group.params, metric, arm)
            base = base_side.index.get(group.benchmark, group.params, metric, arm)
            primary = metric == benchmark.primary_metric
            if not primary and (head is None or base is None):
                continue
            blocks = EMPTY
            if head is not None and base is not None:
                blocks = pair_blocks(head, base, declared.direction, warm)
            found = extend_if_unsteady(judge_pair(blocks, look.number, policy), blocks)
            found = withdraw_unmeasured(found, head, base, at_sides(arm), blocks)
            missing = _not_applicable(group, arm, sides)
            if missing is not None:
                found = replace(
                    found,
                    verdict="not_applicable",
                    reason=missing,
                    extendable=False,
                    insufficient=False,
                )
            elif found.insufficient and asked.is_quick_look(policy):
                found = replace(found, extendable=False)
            elif same and found.verdict == "fail":
                found = replace(found, reason=f"{found.reason}; {SAME_ARTIFACT}")
            yield Pair(
                group,
                metric,
                arm,
                BASE,
                policy,
                warm,
                found,
                declared.direction,
                declared.unit,
                window_of(blocks, head, base),
                primary,
                audit=_audit(group, arm, head, base),
                sides="revisions",
                notes={
                    "same_artifact": same,
                    "faster": _is_faster(blocks, look, policy),
                },
            )


def _floor(
    pair: Pair, sides: tuple[_RevisionSamples, _RevisionSamples], asked: JobRequest
) -> NoiseFloor | None:
    """What the target resolves of this case with as many launches as were asked for (one batch)."""
    head, base = (
        side.index.get(pair.group.benchmark, pair.group.params, pair.metric, pair.arm)
        for side in sides
    )
    if head is None or base is None or pair.found.verdict == "not_applicable":
        return None
    blocks = pair_blocks(head, base, cast(Direction, pair.direction), pair.warm)
    return noise_floor(blocks, asked.launches or pair.found.launches, pair.policy)


def _is_faster(blocks: PairedBlocks, look: Look, policy: PairPolicy) -> bool:
    """Whether the same rule, turned round, calls the base slower: a gain beyond the margin. Shown, never
    deciding, so it is not part of the run's family of tests."""
    turned = replace(blocks, d=-blocks.d)
    return judge_pair(turned, look.number, policy).verdict == "fail"


def _not_applicable(
    group: Group, arm: str, sides: tuple[_RevisionSamples, _RevisionSamples]
) -> str | None:
    """Why there is nothing to compare: one side cannot run it here, or does not have it."""
    whys = [side.unavailable.why(group, arm) for side in sides]
    if None not in whys:
        return whys[0]
    for why, name in zip(whys, (HEAD, BASE), strict=True):
        if why is not None:
            return f"at {name}, {why}"
    key = (group.benchmark, params_key(group.params), arm)
    head, base = (key in side.has for side in sides)
    if head == base or not (sides[0].has and sides[1].has):
        return None
    return f"only the {'head' if head else 'base'} has {arm} of {group.words()}"


def _reasons_nothing_measured(
    manifest: Manifest,
    groups: Sequence[Group],
    revisions: tuple[Revision, Revision],
    sides: tuple[_RevisionSamples, _RevisionSamples],
) -> list[str]:
    """Why there is nothing to judge: once where both sides say the same, else naming the side."""
    about = [
        (one.facts, groups, side.unavailable.nowhere(manifest, groups))
        for one, side in zip(revisions, sides, strict=True)
    ]
    both = [nothing_measured(*side) for side in about]
    if both[0] == both[1]:
        return both[0]
    named = zip(about, (HEAD, BASE), strict=True)
    return [
        said for one, name in named for said in nothing_measured(*one, f" at {name}")
    ]


def _uncompared_sentence(
    manifest: Manifest,
    groups: Sequence[Group],
    ruled: Sequence[JudgedPair],
    sides: tuple[_RevisionSamples, _RevisionSamples],
) -> str:
    """Names the benchmarks of which nothing was compared, as a job of one revision names those without any
    arm; empty where there is none."""
    deciding = [judged.pair for judged in ruled if judged.decides]
    compared = {
        pair.group.benchmark
        for pair in deciding
        if pair.found.verdict != "not_applicable"
    }
    left = {pair.group.benchmark: pair.found.reason for pair in reversed(deciding)}
    left = {name: reason for name, reason in left.items() if name not in compared}
    at_head, at_base = (side.unavailable.nowhere(manifest, groups) for side in sides)
    nowhere = {
        name: reasons
        for name, reasons in at_head.items()
        if name in left and name in at_base
    }
    others = [
        name for name in manifest.benchmarks if name in left and name not in nowhere
    ]
    said = [no_arm_sentence(nowhere)] if nowhere else []
    if others:
        said.append(f"nothing of {list_some(others)} was compared: {left[others[0]]}")
    return "; ".join(said)


def _audit(
    group: Group, arm: str, head: CaseSamples | None, base: CaseSamples | None
) -> GroupAudit | None:
    """Whether both sides did the same work, warm. Positions are not audited: both sides run their rounds in
    the same order, so a place in the round favours neither."""
    if head is None or base is None:
        return None
    names = at_sides(arm)
    cases = [
        replace(case, arm=name) for case, name in zip((head, base), names, strict=True)
    ]
    findings: list[AuditFinding] = [
        finding
        for finding in audit(cases, names[1])
        if finding.name != "order_unbalanced"
    ]
    return GroupAudit(group, names[1], tuple(findings), {}, None)


def _audit_rows(ruled: Sequence[JudgedPair]) -> list[AuditOut]:
    """Findings of the deciding comparisons, arm by arm."""
    audits = [judged.pair.audit for judged in ruled if judged.decides]
    return [
        group_audit.out()
        for group_audit in audits
        if group_audit is not None and group_audit.findings
    ]


def _measurement_rows(
    manifest: Manifest, groups: Sequence[Group], side: Revision, name: str
) -> list[MeasurementOut]:
    index = CaseIndex.of(side.facts.cases)
    rows = measurements(
        manifest, groups, index, WarmSamples(index), side.facts.announced
    )
    return [row.model_copy(update={"side": name}) for row in rows]


def _verdict(
    ruled: Sequence[JudgedPair], blockers: Sequence[str], *, same: bool
) -> tuple[Verdict, str]:
    if blockers:
        return "inconclusive", with_count_of_others(blockers[0], len(blockers))
    deciding = [
        judged.pair
        for judged in ruled
        if judged.decides and judged.pair.found.verdict != "not_applicable"
    ]
    if not deciding:
        return (
            "inconclusive",
            "the two revisions have nothing in common that was asked for",
        )
    environment = (
        f"; {SAME_ARTIFACT}: the environment differs, not the code" if same else ""
    )
    for wanted in ("fail", "inconclusive"):
        found = sorted(
            (pair for pair in deciding if pair.found.verdict == wanted),
            key=lambda p: -(p.found.ratio or 0.0),
        )
        if found:
            worst = found[0]
            said = (
                f"is {worst.words(BASE)}"
                if wanted == "fail"
                else f"- {worst.found.reason}"
            )
            text = with_count_of_others(
                f"{worst.group.words()}: {worst.arm} at head {said}", len(found)
            )
            return wanted, text + (environment if wanted == "fail" else "")
    count = len(deciding)
    text = (
        f"head is not slower than base in {count} comparison{'' if count == 1 else 's'}"
    )
    return "pass", text + (f"; {SAME_ARTIFACT}" if same else "")
