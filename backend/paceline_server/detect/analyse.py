"""Computes the report of a job; the server and `judge` share this analysis.

A failed or missing check (I1), void conditions or a broken launch make every verdict inconclusive. Conditions that
only disturb demand an extra margin of ratios, and leave levels unjudged. A job passes only if every rule and every
required gate passes, and fails if one of them fails (I12).

    blocked? ──yes──▶ inconclusive (the blockers are the reasons)
       │no
    a rule or a required gate fails ──▶ fail (final: no further batch, even if others are inconclusive)
    one of them inconclusive ─────────▶ inconclusive, extended if another batch may decide it
    else ─────────────────────────────▶ pass
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paceline_contract.manifest import Manifest, Rule
from paceline_contract.params import params_key

from paceline_server.detect.audits import audit_groups
from paceline_server.detect.checks import check_rows
from paceline_server.detect.compare import (
    Circumstances,
    Pair,
    arm_pairs,
    comparison_out,
    control_false_discoveries,
    withdraw_verdict,
    witnessed_pair,
)
from paceline_server.detect.derive import DerivedSources, derived_rows
from paceline_server.detect.early_gates import EarlyGates
from paceline_server.detect.facts import (
    CaseIndex,
    CpuFeatures,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.gates import gate_rows, with_engine
from paceline_server.detect.groups import Group, expected_groups, unannounced_value
from paceline_server.detect.measure import WarmSamples, measurements, summarise_tracks
from paceline_server.detect.policies.advise import PolicyAssessment, assess_policies
from paceline_server.detect.reasons import join_reasons, reasons_of, verdict_of
from paceline_server.detect.saved_launches import count_saved_launches
from paceline_server.detect.schemas import CheckOut, GateOut, JobReportOut
from paceline_server.detect.unavailable import UnavailableArms, no_arm_sentence
from paceline_server.detect.witnesses import Witnesses, witnessed_gate
from paceline_server.jobs.schemas import Verdict
from paceline_server.stats.configuration import list_suppressed
from paceline_server.stats.disturbance import (
    Disturbance,
    Sides,
    separate_disturbances,
)
from paceline_server.stats.paired import VOIDING_METHOD
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import Reading, Void, advise, find_voids


@dataclass(frozen=True)
class JudgedPair:
    """A pair and the rule that applies to it. Without a rule it is shown, but does not decide the job.

    `demanded`: the A/B job was requested for this comparison, which therefore decides without a rule."""

    pair: Pair
    rule: Rule | None
    demanded: bool = False

    @property
    def decides(self) -> bool:
        return self.demanded or (self.rule is not None and self.rule.fails_run)

    @property
    def is_watched(self) -> bool:
        """Whether an alert may be about it: a rule watches it, even if it fails no run, or it compares revisions."""
        return self.rule is not None or self.pair.sides == "revisions"


@dataclass(frozen=True)
class Analysis:
    """A job's report and verdict. `extendable`: another batch may decide an inconclusive job."""

    report: JobReportOut
    ruled: tuple[JudgedPair, ...]
    verdict: Verdict
    reason: str
    extendable: bool
    blockers: tuple[str, ...]
    voids: tuple[Void, ...]
    disturbance: Disturbance = field(default_factory=Disturbance)
    policies: tuple[PolicyAssessment, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """What another tool calls the benchmarks whose names have a digest, for tables; by name."""


@dataclass(frozen=True)
class MeasuredRevision:
    """The results of one revision, with its pairs before false discoveries are controlled."""

    manifest: Manifest
    facts: JobFacts
    request: JobRequest
    look: Look
    index: CaseIndex
    groups: Sequence[Group]
    checks: list[CheckOut]
    voids: tuple[Void, ...]
    blockers: tuple[str, ...]
    circumstances: Circumstances
    unavailable_benchmarks: Mapping[str, Sequence[str]]
    pairs: list[Pair]

    @classmethod
    def of(
        cls, manifest: Manifest, facts: JobFacts, request: JobRequest, look: Look
    ) -> MeasuredRevision:
        """Judge each pair by itself. `manifest` is that of every kind of target."""
        manifest = manifest.on(request.target_kind)
        index = CaseIndex.of(facts.cases)
        groups = expected_groups(manifest, request, facts)
        checks = check_rows(manifest, request, facts.checks)
        voids, disturbance = conditions_of(facts, request, look, "arms")
        unavailable = UnavailableArms.of(facts)
        unavailable_benchmarks = unavailable.unavailable_benchmarks(manifest, groups)
        circumstances = Circumstances(
            request,
            look,
            audit_groups(manifest, groups, index, facts, request),
            unavailable,
            CpuFeatures.of(facts.conditions),
            disturbance,
            facts.announced,
            Witnesses.of(manifest, groups, facts),
        )
        return cls(
            manifest=manifest,
            facts=facts,
            request=request,
            look=look,
            index=index,
            groups=groups,
            checks=checks,
            voids=voids,
            blockers=(
                *blockers_of(checks, voids, facts),
                *nothing_measured(facts, groups, unavailable_benchmarks),
            ),
            circumstances=circumstances,
            unavailable_benchmarks=unavailable_benchmarks,
            pairs=arm_pairs(manifest, groups, index, circumstances),
        )

    def rule(self, controlled: Sequence[Pair]) -> tuple[JudgedPair, ...]:
        """Return the pairs with the rules that apply to them."""
        return tuple(
            JudgedPair(
                blocked_pair(
                    witnessed_pair(pair, self.circumstances.witnesses), self.blockers
                ),
                self.manifest.rule_for(
                    pair.group.benchmark, pair.arm, pair.metric, pair.group.params
                ),
            )
            for pair in controlled
        )

    def report(
        self, identity: JobIdentity, ruled: Sequence[JudgedPair]
    ) -> JobReportOut:
        """Return the report of a job that measured this revision alone."""
        warm = WarmSamples(self.index)
        derived = derived_rows(
            self.manifest,
            self.groups,
            DerivedSources.of(
                self.index, warm, self.facts.announced, self.circumstances
            ),
        )
        early = EarlyGates.of(
            self.manifest, self.groups, self.facts, self.circumstances
        )
        undecided_gates = gate_rows(
            self.manifest, self.groups, warm, derived, self.circumstances, early=early
        )
        return JobReportOut(
            suite=identity.suite,
            revision=identity.revision,
            artifact_hash=identity.artifact_hash,
            target=identity.target,
            started_at=identity.started_at,
            checks=self.checks,
            measurements=measurements(
                self.manifest, self.groups, self.index, warm, self.facts.announced
            ),
            comparisons=[
                comparison_out(judged.pair, self.request.demonstration, judged.decides)
                for judged in ruled
            ],
            derived=[row.out() for row in derived],
            gates=[self._finish_gate(gate) for gate in undecided_gates],
            audits=self.circumstances.audits.rows(),
            unavailable=self.circumstances.unavailable.rows(self.manifest, self.groups),
            witnesses=self.circumstances.witnesses.rows(),
            blockers=list(self.blockers),
            disturbances=disturbance_sentences(self.circumstances.disturbance),
            next_steps=next_steps_of(
                self.voids, self.circumstances.disturbance, self.request
            ),
            method=self.look.method,
            gate_method=self.look.gate_method,
            suppressed=suppressed_of(self.facts, self.request),
            conditions=summarise_tracks(self.facts.conditions),
        )

    def _finish_gate(self, gate: GateOut) -> GateOut:
        """Return a gate with its witnesses, its blocker and the engine that its arm chose."""
        base_arm = next(
            (
                derived.base_arm
                for derived in self.manifest.derived
                if derived.name == gate.derived
            ),
            None,
        )
        gate = witnessed_gate(gate, self.circumstances.witnesses, base_arm)
        return with_engine(_blocked_gate(gate, self.blockers), self.facts.builds)


def analyse(
    manifest: Manifest,
    facts: JobFacts,
    identity: JobIdentity,
    request: JobRequest | None = None,
    look: Look | None = None,
) -> Analysis:
    """Judge everything that a job measured."""
    request, look = request or JobRequest(), look or Look()
    measured = MeasuredRevision.of(manifest, facts, request, look)
    blockers = measured.blockers
    ruled = measured.rule(control_false_discoveries(measured.pairs, look))
    report = measured.report(identity, ruled)
    required = [gate for gate in report.gates if gate.level == "required"]
    deciding = [judged.pair for judged in ruled if judged.decides]
    verdict, reason = judge_report(report, held_sentence(deciding, required))
    if not blockers and not measured.groups:
        verdict = "inconclusive"
        reason = "none of the requested benchmarks is in the suite"
    if verdict == "pass" and measured.unavailable_benchmarks:
        reason = f"{reason}; {no_arm_sentence(measured.unavailable_benchmarks)}"
    report, reason = with_stopped(report, reason, ruled, request, facts.cases)
    reason = with_suppressed(reason, report.suppressed)
    has_open_pair = any(
        judged.decides and judged.pair.outcome.extendable for judged in ruled
    )
    extendable = verdict == "inconclusive" and not blockers and has_open_pair
    policies = tuple(
        assess_policies(
            measured.manifest,
            measured.groups,
            measured.index,
            measured.circumstances,
            (*blockers, *report.disturbances),
        )
    )
    return Analysis(
        report,
        ruled,
        verdict,
        reason,
        extendable,
        blockers,
        measured.voids,
        measured.circumstances.disturbance,
        policies,
    )


def conditions_of(
    facts: JobFacts,
    request: JobRequest,
    look: Look,
    sides: Sides,
) -> tuple[tuple[Void, ...], Disturbance]:
    """Return what voids a job, and what only disturbs the comparisons of its arms or revisions, by the method of the
    look."""
    conditions = tuple(_list_conditions(facts, request, look))
    if look.method == VOIDING_METHOD:
        return conditions, Disturbance(method=look.method)
    return separate_disturbances(conditions, request.target_kind, look.method, sides)


def _list_conditions(
    facts: JobFacts, request: JobRequest, look: Look
) -> Iterator[Void]:
    """Yield the conditions of each attempt beyond their limits, then those that the server itself knows of the target.

    Attempts are judged separately, because no sample spans two of them. Suppressed configuration errors are
    left out."""
    suppressed = (*request.suppress, *facts.configuration)
    for number in sorted({condition.attempt for condition in facts.conditions}):
        conditions = [
            condition for condition in facts.conditions if condition.attempt == number
        ]
        readings = [
            Reading(reading.phase, reading.at_ms, reading.values)
            for reading in conditions
        ]
        yield from find_voids(readings, look.limits, suppressed)
    yield from find_voids(
        [Reading("before", 0, facts.known_conditions())], look.limits, request.suppress
    )


def disturbance_sentences(disturbance: Disturbance) -> list[str]:
    """Describe what disturbed a job, one sentence per condition."""
    return [f"disturbed: {condition.text}" for condition in disturbance.conditions]


def next_steps_of(
    voids: Sequence[Void], disturbance: Disturbance, request: JobRequest
) -> dict[str, str]:
    """Explain what to do next, by the sentence of a void condition or disturbance."""
    sentences = [
        *((_void_sentence(void), void) for void in voids),
        *zip(disturbance_sentences(disturbance), disturbance.conditions, strict=True),
    ]
    return {text: advise(void, request.target_kind) for text, void in sentences}


def _void_sentence(void: Void) -> str:
    return f"conditions void: {void.text}"


def suppressed_of(facts: JobFacts, request: JobRequest) -> list[str]:
    """Return the names of the configuration errors of the target that the request suppressed."""
    return list_suppressed(
        (
            facts.known_conditions(),
            *(condition.values for condition in facts.conditions),
        ),
        request.suppress,
    )


def with_suppressed(reason: str, names: Sequence[str]) -> str:
    """Return a verdict's reason with the suppressed configuration errors."""
    return f"{reason} (suppressed: {', '.join(names)})" if names else reason


def pairs_by_benchmark(ruled: Sequence[JudgedPair]) -> dict[str, list[JudgedPair]]:
    """Return the pairs that apply on this target."""
    pairs: dict[str, list[JudgedPair]] = {}
    for judged in ruled:
        if judged.pair.outcome.verdict != "not_applicable":
            pairs.setdefault(judged.pair.group.benchmark, []).append(judged)
    return pairs


def is_certain(pairs: Sequence[JudgedPair], *, thorough: bool = False) -> bool:
    """Check whether everything that a benchmark has to decide is decided: its required comparisons, in a `thorough` job
    all that an alert may be about, or, without any, all. Nothing to decide is not certain."""
    required = [
        judged for judged in pairs if judged.decides or (thorough and judged.is_watched)
    ]
    return bool(pairs) and all(
        judged.pair.outcome.verdict in ("pass", "fail")
        and not judged.pair.outcome.extendable
        for judged in required or pairs
    )


def with_stopped(
    report: JobReportOut,
    reason: str,
    ruled: Sequence[JudgedPair],
    request: JobRequest,
    cases: Sequence[CaseSamples],
) -> tuple[JobReportOut, str]:
    """Return a report and its verdict's reason with how many benchmarks stopped because they were certain, when, and what
    that saved. `cases`: the samples of both sides."""
    if not request.stop_when_sure or request.launches is None:
        return report, reason
    pairs = pairs_by_benchmark(ruled)
    launches = {
        name: max(len(judged.pair.window["launches"]) for judged in of_benchmark)
        for name, of_benchmark in pairs.items()
    }
    early = [
        name
        for name, number in launches.items()
        if number < request.launches and is_certain(pairs[name])
    ]
    if not early:
        return report, reason
    saved = count_saved_launches(launches, early, request.launches, cases)
    numbers = sorted(launches[name] for name in early)
    first, last = numbers[0], numbers[-1]
    after = f"{first}" if first == last else f"{first} to {last}"
    reason = (
        f"{reason}; {len(early)} of {_count(len(pairs), 'benchmark')} stopped when certain, after {after} of "
        f"{request.launches} launches"
    )
    return report.model_copy(update={"saved": saved}), reason


def blockers_of(
    checks: Sequence[CheckOut], voids: Sequence[Void], facts: JobFacts
) -> list[str]:
    """Explain why the job must not be judged, most important first."""
    failed = [
        f"check {check.name} failed: {check.detail or 'no detail'}"
        for check in checks
        if not check.ok
    ]
    return [
        *failed,
        *facts.broken,
        *map(_void_sentence, voids),
    ]


def nothing_measured(
    facts: JobFacts,
    groups: Sequence[Group],
    unavailable_benchmarks: Mapping[str, Sequence[str]],
    at: str = "",
) -> list[str]:
    """Return a blocker if nothing was measured, even if no arm is available. `at` names the side: ` at base`."""
    if any(case.value.size for case in facts.cases):
        return []
    differences = (unannounced_value(group, facts.announced) for group in groups)
    difference = next((text for text in differences if text is not None), None)
    if difference is not None:
        return [f"nothing was measured{at}: {difference}"]
    if unavailable_benchmarks and {group.benchmark for group in groups} == set(
        unavailable_benchmarks
    ):
        return [f"nothing was measured{at}: {no_arm_sentence(unavailable_benchmarks)}"]
    return [f"nothing was measured{at}"]


def blocked_pair(pair: Pair, blockers: Sequence[str]) -> Pair:
    """Return a pair that a blocker leaves undecided; the pair itself without one."""
    if not blockers or pair.outcome.verdict == "not_applicable":
        return pair
    return replace(pair, outcome=withdraw_verdict(pair.outcome, blockers[0]))


def _blocked_gate(gate: GateOut, blockers: Sequence[str]) -> GateOut:
    if not blockers or gate.verdict == "not_applicable":
        return gate
    return gate.model_copy(update={"verdict": "inconclusive", "reason": blockers[0]})


def judge_report(report: JobReportOut, held: str) -> tuple[Verdict, str]:
    """Return the verdict of a report, with every reason in one line. `held` is the reason of a pass."""
    reasons = reasons_of(report)
    verdict = verdict_of(reasons)
    return verdict, held if verdict == "pass" else join_reasons(reasons, verdict)


def held_sentence(deciding: Sequence[Pair], required: Sequence[GateOut]) -> str:
    """Return the reason of a pass: how much holds, and how much does not apply on this target."""
    return _passed(
        sum(pair.outcome.verdict == "pass" for pair in deciding),
        sum(gate.verdict == "pass" for gate in required),
        sum(pair.outcome.verdict == "not_applicable" for pair in deciding)
        + len(_select_inapplicable(required)),
    )


def _select_inapplicable(required: Sequence[GateOut]) -> list[GateOut]:
    """Select the gates that do not apply, one per subject of which no other level applies here."""

    def subject(gate: GateOut) -> tuple[object, ...]:
        case = (gate.benchmark, gate.arm, params_key(gate.params), gate.metric)
        return (*case, gate.derived, gate.statistic, gate.op, gate.absolute)

    judged = {subject(gate) for gate in required if gate.verdict != "not_applicable"}
    inapplicable = {
        subject(gate): gate for gate in required if subject(gate) not in judged
    }
    return [*inapplicable.values()]


def _passed(comparisons: int, gates: int, not_applicable: int) -> str:
    sentence = " and ".join(
        _count(number, noun)
        for number, noun in ((comparisons, "comparison"), (gates, "required gate"))
        if number
    )
    if sentence:
        sentence += " holds" if comparisons + gates == 1 else " hold"
    elif not not_applicable:
        return "measured; the suite has no rule and no required gate for it"
    if not_applicable == 1:
        remark = "1 comparison or gate does not apply here"
    else:
        remark = f"{not_applicable} comparisons or gates do not apply here"
    return "; ".join(
        part for part in (sentence, remark if not_applicable else "") if part
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
