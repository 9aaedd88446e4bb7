"""Computes the report of a job; the server and `judge` share this analysis.

A failed or missing check (I1), void conditions or a broken launch make every verdict inconclusive. A job passes
only if every rule and every required gate passes, and fails if one of them fails (I12).

    blocked? ──yes──▶ inconclusive (the first blocker is the reason)
       │no
    a rule or a required gate fails ──▶ fail (final: no further batch, even if others are inconclusive)
    one of them inconclusive ─────────▶ inconclusive, extended if another batch may decide it
    else ─────────────────────────────▶ pass
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paceline_contract.manifest import Manifest, Rule
from paceline_contract.params import params_key, params_text

from paceline_server.detect.audits import audit_groups
from paceline_server.detect.checks import check_rows
from paceline_server.detect.compare import (
    Circumstances,
    Pair,
    arm_pairs,
    comparison_out,
    control_false_discoveries,
)
from paceline_server.detect.condition_tracks import summarise_tracks
from paceline_server.detect.cpu_features import CpuFeatures
from paceline_server.detect.derive import DerivedSources, derived_rows
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.gates import gate_rows, with_engine
from paceline_server.detect.groups import Group, expected_groups
from paceline_server.detect.measure import WarmSamples, measurements
from paceline_server.detect.policies.advise import PolicyAssessment, assess_policies
from paceline_server.detect.schemas import CheckOut, GateOut, JobReportOut
from paceline_server.detect.unavailable import UnavailableArms, no_arm_sentence
from paceline_server.jobs.schemas import Verdict
from paceline_server.stats.configuration import list_suppressed
from paceline_server.stats.voids import (
    Reading,
    Void,
    advise_on_shared_host,
    find_voids,
)


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
    policies: tuple[PolicyAssessment, ...] = ()


@dataclass(frozen=True)
class MeasuredRevision:
    """What one revision measured, with its pairs before false discoveries are controlled."""

    manifest: Manifest
    facts: JobFacts
    request: JobRequest
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
        voids = tuple(voids_of(facts, request, look))
        unavailable = UnavailableArms.of(facts)
        unavailable_benchmarks = unavailable.unavailable_benchmarks(manifest, groups)
        circumstances = Circumstances(
            request,
            look,
            audit_groups(manifest, groups, index, facts),
            unavailable,
            CpuFeatures.of(facts.conditions),
        )
        return cls(
            manifest=manifest,
            facts=facts,
            request=request,
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
        """The pairs with the rules that apply to them."""
        return tuple(
            JudgedPair(
                blocked_pair(pair, self.blockers),
                self.manifest.rule_for(
                    pair.group.benchmark, pair.arm, pair.metric, pair.group.params
                ),
            )
            for pair in controlled
        )

    def report(
        self, identity: JobIdentity, ruled: Sequence[JudgedPair]
    ) -> JobReportOut:
        """The report of a job that measured this revision alone."""
        warm = WarmSamples(self.index)
        derived = derived_rows(
            self.manifest,
            self.groups,
            DerivedSources.of(
                self.index, warm, self.facts.announced, self.circumstances
            ),
        )
        undecided_gates = gate_rows(
            self.manifest, self.groups, warm, derived, self.circumstances
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
            gates=[
                with_engine(_blocked_gate(gate, self.blockers), self.facts.builds)
                for gate in undecided_gates
            ],
            audits=self.circumstances.audits.rows(),
            unavailable=self.circumstances.unavailable.rows(self.manifest, self.groups),
            blockers=list(self.blockers),
            advice=advice_of(self.voids, self.request),
            suppressed=suppressed_of(self.facts, self.request),
            conditions=summarise_tracks(self.facts.conditions),
        )


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
    verdict, reason = _verdict(ruled, report.gates, blockers, measured.groups)
    if verdict == "pass" and measured.unavailable_benchmarks:
        reason = f"{reason}; {no_arm_sentence(measured.unavailable_benchmarks)}"
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
            blockers,
        )
    )
    return Analysis(
        report, ruled, verdict, reason, extendable, blockers, measured.voids, policies
    )


def voids_of(facts: JobFacts, request: JobRequest, look: Look) -> Iterator[Void]:
    """Void conditions of each attempt, then those that the server itself knows of the target.

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


def advice_of(voids: Sequence[Void], request: JobRequest) -> str | None:
    """What to do about a void job; a device shares its CPU with nobody we could name."""
    return advise_on_shared_host(voids) if request.target_kind == "host" else None


def suppressed_of(facts: JobFacts, request: JobRequest) -> list[str]:
    """Configuration errors of the target that the request suppressed."""
    return list_suppressed(
        (
            facts.known_conditions(),
            *(condition.values for condition in facts.conditions),
        ),
        request.suppress,
    )


def with_suppressed(reason: str, names: Sequence[str]) -> str:
    """A verdict's reason with the suppressed configuration errors."""
    return f"{reason} (suppressed: {', '.join(names)})" if names else reason


def blockers_of(
    checks: Sequence[CheckOut], voids: Sequence[Void], facts: JobFacts
) -> list[str]:
    """Why the job must not be judged, most important first."""
    failed = [
        f"check {check.name} failed: {check.detail or 'no detail'}"
        for check in checks
        if not check.ok
    ]
    return [
        *failed,
        *facts.broken,
        *(f"conditions void: {void.text}" for void in voids),
    ]


def nothing_measured(
    facts: JobFacts,
    groups: Sequence[Group],
    unavailable_benchmarks: Mapping[str, Sequence[str]],
    at: str = "",
) -> list[str]:
    """A blocker if nothing was measured, even if no arm is available. `at` names the side: ` at base`."""
    if any(case.value.size for case in facts.cases):
        return []
    if unavailable_benchmarks and {group.benchmark for group in groups} == set(
        unavailable_benchmarks
    ):
        return [f"nothing was measured{at}: {no_arm_sentence(unavailable_benchmarks)}"]
    return [f"nothing was measured{at}"]


def blocked_pair(pair: Pair, blockers: Sequence[str]) -> Pair:
    if not blockers or pair.outcome.verdict == "not_applicable":
        return pair
    outcome = replace(
        pair.outcome, verdict="inconclusive", reason=blockers[0], extendable=False
    )
    return replace(pair, outcome=outcome)


def _blocked_gate(gate: GateOut, blockers: Sequence[str]) -> GateOut:
    if not blockers or gate.verdict == "not_applicable":
        return gate
    return gate.model_copy(update={"verdict": "inconclusive", "reason": blockers[0]})


def _verdict(
    ruled: Sequence[JudgedPair],
    gates: Sequence[GateOut],
    blockers: Sequence[str],
    groups: Sequence[Group],
) -> tuple[Verdict, str]:
    if blockers:
        return "inconclusive", with_count_of_others(blockers[0], len(blockers))
    required = [gate for gate in gates if gate.level == "required"]
    deciding = [judged.pair for judged in ruled if judged.decides]
    for verdict in ("fail", "inconclusive"):
        pairs = sorted(
            (pair for pair in deciding if pair.outcome.verdict == verdict),
            key=lambda pair: -(pair.outcome.ratio or 0.0),
        )
        sentences = [_pair_sentence(pair, verdict) for pair in pairs]
        sentences += [
            gate_sentence(gate) for gate in required if gate.verdict == verdict
        ]
        if sentences:
            return verdict, with_count_of_others(sentences[0], len(sentences))
    if not groups:
        return "inconclusive", "none of the requested benchmarks is in the suite"
    return "pass", held_sentence(deciding, required)


def held_sentence(deciding: Sequence[Pair], required: Sequence[GateOut]) -> str:
    """The reason of a pass: how much holds, and how much does not apply on this target."""
    return _passed(
        sum(pair.outcome.verdict == "pass" for pair in deciding),
        sum(gate.verdict == "pass" for gate in required),
        sum(pair.outcome.verdict == "not_applicable" for pair in deciding)
        + len(_select_inapplicable(required)),
    )


def _select_inapplicable(required: Sequence[GateOut]) -> list[GateOut]:
    """Gates that do not apply, one per subject of which no other level applies here."""

    def subject(gate: GateOut) -> tuple[object, ...]:
        case = (gate.benchmark, gate.arm, params_key(gate.params), gate.metric)
        return (*case, gate.derived, gate.statistic, gate.op, gate.absolute)

    judged = {subject(gate) for gate in required if gate.verdict != "not_applicable"}
    others = {subject(gate): gate for gate in required if subject(gate) not in judged}
    return [*others.values()]


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
        rest = "1 comparison or gate does not apply here"
    else:
        rest = f"{not_applicable} comparisons or gates do not apply here"
    return "; ".join(
        part for part in (sentence, rest if not_applicable else "") if part
    )


def _pair_sentence(pair: Pair, verdict: str) -> str:
    if verdict == "fail":
        finding = f"is {pair.words(pair.reference)}"
    else:
        finding = f"- {pair.outcome.reason}"
    return f"{pair.group.words()}: {pair.arm} {finding}"


def gate_sentence(gate: GateOut) -> str:
    """`sort_batch: gate median of native time: 12 <= 10 does not hold`."""
    params = params_text(gate.params, " ")
    where = " ".join(part for part in (gate.benchmark, params) if part)
    return f"{where}: gate {gate.statistic} of {gate.arm} {gate.metric}: {gate.reason}"


def with_count_of_others(first: str, count: int) -> str:
    return first if count == 1 else f"{first} (and {count - 1} more)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
