"""Judges two revisions measured in one job: head against base, case by case.

Cases are decided by the same rule and margin as arms (stats/README.md §2), once the checks of both sides passed (I1).
Arms, derived metrics and gates are judged in ordinary runs, whose baselines never include this data (I13), and in
runs of pull requests (`pull_requests.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from paceline_contract.events import Direction
from paceline_contract.manifest import Manifest
from paceline_contract.names import SidePairing
from paceline_contract.params import params_key

from paceline_server.detect.analyse import (
    Analysis,
    JudgedPair,
    blocked_pair,
    blockers_of,
    conditions_of,
    disturbance_sentences,
    judge_report,
    next_steps_of,
    nothing_measured,
    suppressed_of,
    with_stopped,
    with_suppressed,
)
from paceline_server.detect.audits import GroupAudit
from paceline_server.detect.checks import check_rows
from paceline_server.detect.compare import (
    WARM,
    Pair,
    at_sides,
    comparison_out,
    control_false_discoveries,
    judge_samples,
    judge_with_launch_noise,
    policy_under,
    window_of,
    withdraw_verdict,
    witnessed_pair,
)
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.groups import Group, expected_groups
from paceline_server.detect.measure import WarmSamples, measurements, summarise_tracks
from paceline_server.detect.schemas import (
    AuditOut,
    BaseOut,
    CheckOut,
    JobReportOut,
    MeasurementOut,
)
from paceline_server.detect.side_differences import (
    NEW,
    SideDifferences,
    request_at_base,
)
from paceline_server.detect.unavailable import (
    UnavailableArms,
    list_some,
    no_arm_sentence,
)
from paceline_server.detect.witnesses import Witnesses
from paceline_server.jobs.schemas import Verdict
from paceline_server.series.declarations import Declaration, incomparable
from paceline_server.stats.audit import AuditFinding, AuditPolicy, audit
from paceline_server.stats.blocks import PairedBlocks, pair_blocks
from paceline_server.stats.disturbance import Disturbance
from paceline_server.stats.noise import NoiseFloor, noise_floor
from paceline_server.stats.paired import PairPolicy, judge_pair
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import Void

BASE, HEAD = "base", "head"
SAME_ARTIFACT = "both sides are the same artifact"


@dataclass(frozen=True)
class Revision:
    """A side with its build and facts. Conditions and faults of the whole job are in the head's facts."""

    commit: str
    artifact_hash: str | None
    facts: JobFacts
    manifest: Manifest | None = None
    """The manifest of the base; None if it is that of the head."""


@dataclass(frozen=True)
class _RevisionSamples:
    """The samples and unavailable arms of a side."""

    index: CaseIndex
    unavailable: UnavailableArms
    cases: frozenset[tuple[str, str, str]]
    """(benchmark, params key, arm), announced or measured."""
    declared: Mapping[tuple[str, str, str, str], Declaration]
    """By (benchmark, params key, arm, metric), as announced."""

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
            {
                (
                    case.benchmark,
                    params_key(case.params),
                    case.arm,
                    metric,
                ): Declaration(
                    unit, direction, case.items_per_iteration, case.bytes_per_iteration
                )
                for case in facts.announced
                for metric, unit, direction in case.metrics
            },
        )


@dataclass(frozen=True)
class ComparedRevisions:
    """Two revisions with their pairs before false discoveries are controlled."""

    manifest: Manifest
    base: Revision
    head: Revision
    request: JobRequest
    look: Look
    groups: Sequence[Group]
    checks: list[CheckOut]
    voids: tuple[Void, ...]
    disturbance: Disturbance
    blockers: tuple[str, ...]
    sides: tuple[_RevisionSamples, _RevisionSamples]
    """Head, then base."""
    differences: SideDifferences
    same_artifact: bool
    pairs: list[Pair]
    witnesses: Witnesses
    """Of the head."""

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        base: Revision,
        head: Revision,
        request: JobRequest,
        look: Look,
    ) -> ComparedRevisions:
        """Judge each pair by itself. `manifest` is that of every kind of target."""
        manifest = manifest.on(request.target_kind)
        at_base = (base.manifest or manifest).on(request.target_kind)
        checks = [
            *_checks(at_base, request_at_base(at_base, manifest, request), base, BASE),
            *_checks(manifest, request, head),
        ]
        base = replace(
            base, facts=base.facts.named_as_head(SidePairing.of(at_base, manifest))
        )
        differences = SideDifferences.of(at_base, manifest, request)
        facts = replace(head.facts, cases=[*head.facts.cases, *base.facts.cases])
        groups = [
            group
            for group in expected_groups(manifest, request, facts)
            if not differences.is_removed(group)
        ]
        voids, disturbance = conditions_of(head.facts, request, look, "revisions")
        sides = _RevisionSamples.of(head.facts), _RevisionSamples.of(base.facts)
        blockers = (
            *blockers_of(checks, voids, head.facts),
            *_reasons_nothing_measured(manifest, groups, (head, base), sides),
        )
        same = (
            head.artifact_hash is not None and head.artifact_hash == base.artifact_hash
        )
        pairs = judge_with_launch_noise(
            lambda launch_noise: [
                pair
                for group in groups
                for pair in _pairs(
                    manifest,
                    group,
                    (sides, differences),
                    (request, look, disturbance, launch_noise),
                    same,
                )
            ]
        )
        if base.commit == head.commit and not blockers and not disturbance.conditions:
            pairs = [
                replace(pair, floor=_measure_floor(pair, sides, request))
                for pair in pairs
            ]
        return cls(
            manifest=manifest,
            base=base,
            head=head,
            request=request,
            look=look,
            groups=groups,
            checks=checks,
            voids=voids,
            disturbance=disturbance,
            blockers=blockers,
            sides=sides,
            differences=differences,
            same_artifact=same,
            pairs=pairs,
            witnesses=Witnesses.of(manifest, groups, head.facts),
        )

    def rule(self, controlled: Sequence[Pair]) -> tuple[JudgedPair, ...]:
        """Return the pairs, of which those of primary metrics and of metrics with a rule decide."""
        return tuple(
            JudgedPair(
                blocked_pair(witnessed_pair(pair, self.witnesses), self.blockers),
                None,
                demanded=_decides_job(self.manifest, pair),
            )
            for pair in controlled
        )

    def report(
        self, identity: JobIdentity, ruled: Sequence[JudgedPair]
    ) -> JobReportOut:
        """Return the report of a job that only compared the revisions."""
        return JobReportOut(
            suite=identity.suite,
            revision=identity.revision,
            artifact_hash=identity.artifact_hash,
            target=identity.target,
            started_at=identity.started_at,
            checks=self.checks,
            measurements=[
                *_measurement_rows(self.manifest, self.groups, self.base, "base"),
                *_measurement_rows(self.manifest, self.groups, self.head, "head"),
            ],
            comparisons=[
                comparison_out(judged.pair, self.request.demonstration, judged.decides)
                for judged in ruled
            ],
            derived=[],
            gates=[],
            audits=_audit_rows(ruled),
            unavailable=self.sides[0].unavailable.rows(self.manifest, self.groups),
            witnesses=self.witnesses.rows(),
            base=BaseOut(
                revision=self.base.commit,
                artifact_hash=self.base.artifact_hash,
                same_artifact=self.same_artifact,
            ),
            blockers=list(self.blockers),
            disturbances=disturbance_sentences(self.disturbance),
            next_steps=next_steps_of(self.voids, self.disturbance, self.request),
            method=self.look.method,
            gate_method=self.look.gate_method,
            suppressed=suppressed_of(self.head.facts, self.request),
            conditions=summarise_tracks(self.head.facts.conditions),
            added=list(self.differences.added),
            removed=list(self.differences.removed),
        )

    def verdict(
        self, report: JobReportOut, ruled: Sequence[JudgedPair]
    ) -> tuple[Verdict, str]:
        """Judge whether the head is slower than the base, and why."""
        verdict, reason = judge_report(report, self.held_sentence(ruled))
        if self.blockers:
            return verdict, reason
        never_ran = any(row.verdict == "fail" for row in report.witnesses)
        if verdict == "fail" and self.same_artifact and not never_ran:
            reason += f"; {SAME_ARTIFACT}: the environment differs, not the code"
        uncompared = (
            ""
            if verdict == "fail"
            else _uncompared_sentence(self.manifest, self.groups, ruled, self.sides)
        )
        parts = (reason, uncompared, self.differences.sentence())
        return verdict, "; ".join(filter(None, parts))

    @property
    def cases(self) -> list[CaseSamples]:
        """Return the samples of both sides, by the names of head."""
        return [*self.head.facts.cases, *self.base.facts.cases]

    def held_sentence(self, ruled: Sequence[JudgedPair]) -> str:
        """Return the reason of a pass: in how many comparisons the head is not slower."""
        count = sum(
            judged.decides and judged.pair.outcome.verdict != "not_applicable"
            for judged in ruled
        )
        text = f"head is not slower than base in {count} comparison{'' if count == 1 else 's'}"
        return f"{text}; {SAME_ARTIFACT}" if self.same_artifact else text


def analyse_revisions(
    manifest: Manifest,
    base: Revision,
    head: Revision,
    identity: JobIdentity,
    *,
    request: JobRequest | None = None,
    look: Look | None = None,
    thorough: bool = False,
) -> Analysis:
    """Judge the head against the base.

    A `thorough` job (a confirmation or bisection) is extended until every comparison is decided; otherwise the
    first failure ends it.
    """
    request, look = request or JobRequest(), look or Look()
    compared = ComparedRevisions.of(manifest, base, head, request, look)
    blockers = compared.blockers
    ruled = compared.rule(control_false_discoveries(compared.pairs, look))
    report = compared.report(identity, ruled)
    verdict, reason = compared.verdict(report, ruled)
    report, reason = with_stopped(report, reason, ruled, request, compared.cases)
    reason = with_suppressed(reason, report.suppressed)
    awaited = [judged for judged in ruled if thorough or judged.decides]
    has_open_pair = not blockers and any(
        judged.pair.outcome.extendable for judged in awaited
    )
    extendable = has_open_pair and (thorough or verdict == "inconclusive")
    return Analysis(
        report,
        ruled,
        verdict,
        reason,
        extendable,
        blockers,
        compared.voids,
        compared.disturbance,
    )


def _checks(
    manifest: Manifest, request: JobRequest, side: Revision, side_name: str = ""
) -> list[CheckOut]:
    """Return the checks of a side; `side_name` prefixes their names."""
    rows = check_rows(manifest, request, side.facts.checks)
    return (
        [row.model_copy(update={"name": f"{side_name}: {row.name}"}) for row in rows]
        if side_name
        else rows
    )


def _decides_job(manifest: Manifest, pair: Pair) -> bool:
    """Return whether a pair decides the job: that of the primary metric, or of a metric that a rule names."""
    rule = manifest.rule_for(
        pair.group.benchmark, pair.arm, pair.metric, pair.group.params
    )
    return pair.primary or rule is not None


def _pairs(
    manifest: Manifest,
    group: Group,
    sides_and_differences: tuple[
        tuple[_RevisionSamples, _RevisionSamples], SideDifferences
    ],
    circumstances: tuple[JobRequest, Look, Disturbance, Mapping[str, float]],
    same_artifact: bool,
) -> Iterator[Pair]:
    sides, differences = sides_and_differences
    request, look, disturbance, launch_noise = circumstances
    head_side, base_side = sides
    benchmark = manifest.benchmarks[group.benchmark]
    for metric, declared in benchmark.metrics.items():
        whole = policy_under(
            disturbance, benchmark.margin_percent, launch_noise.get(metric, 0.0)
        )
        for arm in benchmark.arms:
            head = head_side.index.get(group.benchmark, group.params, metric, arm)
            base = base_side.index.get(group.benchmark, group.params, metric, arm)
            primary = metric == benchmark.primary_metric
            if not primary and (head is None or base is None):
                continue
            changed = _changed_declaration(group, arm, metric, sides)
            if changed is not None:
                # Their figures mean nothing together.
                head = base = None
            policy = request.policy_of(whole, (head, base))
            blocks, outcome = judge_samples(
                (head, base),
                at_sides(arm),
                declared.direction,
                policy,
                missing=NEW
                if differences.is_new(group, arm, metric)
                else _not_applicable(group, arm, sides),
                request=request,
                look=look,
            )
            if changed is not None:
                outcome = withdraw_verdict(outcome, changed)
            if same_artifact and outcome.verdict == "fail":
                outcome = replace(outcome, reason=f"{outcome.reason}; {SAME_ARTIFACT}")
            yield Pair(
                group,
                metric,
                arm,
                BASE,
                policy,
                WARM,
                outcome,
                declared.direction,
                declared.unit,
                window_of(blocks, head, base),
                primary,
                audit=_audit(
                    group,
                    arm,
                    (head, base),
                    request.audit_policy_of((head, base)),
                    benchmark.witness_counters,
                ),
                sides="revisions",
                notes={
                    "same_artifact": same_artifact,
                    "faster": _is_faster(blocks, look, policy),
                },
            )


def _measure_floor(
    pair: Pair, sides: tuple[_RevisionSamples, _RevisionSamples], request: JobRequest
) -> NoiseFloor | None:
    """Estimate the noise floor of a case with the requested launches of a batch."""
    head, base = (
        side.index.get(pair.group.benchmark, pair.group.params, pair.metric, pair.arm)
        for side in sides
    )
    if head is None or base is None or pair.outcome.verdict == "not_applicable":
        return None
    blocks = pair_blocks(head, base, cast(Direction, pair.direction), pair.warm)
    return noise_floor(blocks, request.launches or pair.outcome.launches, pair.policy)


def _is_faster(blocks: PairedBlocks, look: Look, policy: PairPolicy) -> bool:
    """Return whether the head is faster by more than the margin. It decides nothing, so it is outside the run's family
    of tests."""
    reversed_blocks = replace(blocks, d=-blocks.d)
    return judge_pair(reversed_blocks, look.number, policy).verdict == "fail"


def _changed_declaration(
    group: Group,
    arm: str,
    metric: str,
    sides: tuple[_RevisionSamples, _RevisionSamples],
) -> str | None:
    """Explain why the sides cannot be compared, if they declare the metric differently."""
    key = (group.benchmark, params_key(group.params), arm, metric)
    head, base = (side.declared.get(key) for side in sides)
    if head is None or base is None:
        return None
    return incomparable(metric, base, head)


def _not_applicable(
    group: Group, arm: str, sides: tuple[_RevisionSamples, _RevisionSamples]
) -> str | None:
    """Explain why an arm cannot be compared: a side cannot run it here, or does not have it."""
    reasons = [side.unavailable.why(group, arm) for side in sides]
    if None not in reasons:
        return reasons[0]
    for reason, name in zip(reasons, (HEAD, BASE), strict=True):
        if reason is not None:
            return f"at {name}, {reason}"
    key = (group.benchmark, params_key(group.params), arm)
    head, base = (key in side.cases for side in sides)
    if head == base or not (sides[0].cases and sides[1].cases):
        return None
    return f"only the {'head' if head else 'base'} has {arm} of {group.words()}"


def _reasons_nothing_measured(
    manifest: Manifest,
    groups: Sequence[Group],
    revisions: tuple[Revision, Revision],
    sides: tuple[_RevisionSamples, _RevisionSamples],
) -> list[str]:
    """Explain why nothing was measured: one reason if it is the same for both sides, else one per side."""
    arguments = [
        (
            revision.facts,
            groups,
            side.unavailable.unavailable_benchmarks(manifest, groups),
        )
        for revision, side in zip(revisions, sides, strict=True)
    ]
    head, base = (nothing_measured(*side) for side in arguments)
    if head == base:
        return head
    return [
        reason
        for side, name in zip(arguments, (HEAD, BASE), strict=True)
        for reason in nothing_measured(*side, f" at {name}")
    ]


def _uncompared_sentence(
    manifest: Manifest,
    groups: Sequence[Group],
    ruled: Sequence[JudgedPair],
    sides: tuple[_RevisionSamples, _RevisionSamples],
) -> str:
    """Name the benchmarks of which nothing was compared; empty without any."""
    deciding = [judged.pair for judged in ruled if judged.decides]
    compared = {
        pair.group.benchmark
        for pair in deciding
        if pair.outcome.verdict != "not_applicable"
    }
    uncompared = {
        pair.group.benchmark: pair.outcome.reason for pair in reversed(deciding)
    }
    uncompared = {
        name: reason
        for name, reason in uncompared.items()
        if name not in compared and reason != NEW
    }
    at_head, at_base = (
        side.unavailable.unavailable_benchmarks(manifest, groups) for side in sides
    )
    unavailable = {
        name: reasons
        for name, reasons in at_head.items()
        if name in uncompared and name in at_base
    }
    others = [
        name
        for name in manifest.benchmarks
        if name in uncompared and name not in unavailable
    ]
    sentences = [no_arm_sentence(unavailable)] if unavailable else []
    if others:
        sentences.append(
            f"nothing of {list_some(others)} was compared: {uncompared[others[0]]}"
        )
    return "; ".join(sentences)


def _audit(
    group: Group,
    arm: str,
    sides: tuple[CaseSamples | None, CaseSamples | None],
    policy: AuditPolicy,
    witnesses: frozenset[str],
) -> GroupAudit | None:
    """Audit both sides. Positions are not audited, because both sides run their rounds in the same order."""
    head, base = sides
    if head is None or base is None:
        return None
    names = at_sides(arm)
    cases = [
        replace(case, arm=name) for case, name in zip((head, base), names, strict=True)
    ]
    findings: list[AuditFinding] = [
        finding
        for finding in audit(cases, names[1], policy=policy, witnesses=witnesses)
        if finding.name != "order_unbalanced"
    ]
    return GroupAudit(group, names[1], tuple(findings), {}, None, policy, witnesses)


def _audit_rows(ruled: Sequence[JudgedPair]) -> list[AuditOut]:
    """Return the audits of the deciding comparisons."""
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
