"""Computes the report of one job; the server and `judge` share this analysis.

Pure, and run before anything is stored. What must stay true:
- I1: a failed or missing expected check makes every verdict inconclusive and names it;
- void conditions and broken launches do the same;
- I12: a job passes only when every rule and every required gate passes, fails when one
  of them fails, and is inconclusive otherwise.

    blocked? ──yes──▶ inconclusive (the first blocker is the reason)
       │no
    a rule or a required gate fails ──▶ fail (final: whatever else is undecided, no batch reopens it)
    one of them undecided ────────────▶ inconclusive, extendable while another batch may decide it
    else ─────────────────────────────▶ pass
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paceline_contract.manifest import Manifest, Rule

from paceline_server.detect.audits import audit_groups
from paceline_server.detect.checks import check_rows
from paceline_server.detect.compare import Circumstances, Pair, compare, comparison_out
from paceline_server.detect.condition_tracks import summarise_tracks
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
from paceline_server.stats.configuration import suppressed_in
from paceline_server.stats.voids import Reading, Void, find_voids


@dataclass(frozen=True)
class JudgedPair:
    """A pair and the rule that watches it. With neither a rule nor a demand it is shown, and decides nothing.

    `demanded`: an A/B job was asked for exactly this comparison; no rule is needed to judge it."""

    pair: Pair
    rule: Rule | None
    demanded: bool = False

    @property
    def decides(self) -> bool:
        return self.demanded or (self.rule is not None and self.rule.fails_run)


@dataclass(frozen=True)
class Analysis:
    """A job's report with what decided it. `extendable`: another batch may decide what this one could not."""

    report: JobReportOut
    ruled: tuple[JudgedPair, ...]
    verdict: Verdict
    reason: str
    extendable: bool
    blockers: tuple[str, ...]
    voids: tuple[Void, ...]
    policies: tuple[PolicyAssessment, ...] = ()


def analyse(
    manifest: Manifest,
    facts: JobFacts,
    identity: JobIdentity,
    asked: JobRequest | None = None,
    look: Look | None = None,
) -> Analysis:
    """Judge everything one job measured."""
    asked, look = asked or JobRequest(), look or Look()
    manifest = manifest.on(asked.target_kind)
    index = CaseIndex.of(facts.cases)
    groups = expected_groups(manifest, asked, facts)
    checks = check_rows(manifest, asked, facts.checks)
    voids = tuple(voids_of(facts, asked, look))
    unavailable = UnavailableArms.of(facts)
    nowhere = unavailable.nowhere(manifest, groups)
    blockers = (
        *blockers_of(checks, voids, facts),
        *nothing_measured(facts, groups, nowhere),
    )
    known = Circumstances(
        asked, look, audit_groups(manifest, groups, index, facts), unavailable
    )
    pairs = [
        blocked_pair(pair, blockers) for pair in compare(manifest, groups, index, known)
    ]
    ruled = tuple(
        JudgedPair(
            pair,
            manifest.rule_for(
                pair.group.benchmark, pair.arm, pair.metric, pair.group.params
            ),
        )
        for pair in pairs
    )
    warm = WarmSamples(index)
    derived = derived_rows(
        manifest, groups, DerivedSources.of(index, warm, facts.announced, known)
    )
    rows = gate_rows(manifest, groups, warm, derived, known)
    gates = [with_engine(_blocked_gate(gate, blockers), facts.builds) for gate in rows]
    report = JobReportOut(
        suite=identity.suite,
        revision=identity.revision,
        artifact_hash=identity.artifact_hash,
        target=identity.target,
        started_at=identity.started_at,
        checks=checks,
        measurements=measurements(manifest, groups, index, warm, facts.announced),
        comparisons=[
            comparison_out(judged.pair, asked.demonstration) for judged in ruled
        ],
        derived=[row.out() for row in derived],
        gates=gates,
        audits=known.audits.rows(),
        unavailable=known.unavailable.rows(manifest, groups),
        blockers=list(blockers),
        suppressed=suppressed_of(facts, asked),
        conditions=summarise_tracks(facts.conditions),
    )
    verdict, reason = _verdict(ruled, gates, blockers, groups)
    if verdict == "pass" and nowhere:
        reason = f"{reason}; {no_arm_sentence(nowhere)}"
    reason = with_suppressed(reason, report.suppressed)
    open_ended = any(
        judged.decides and judged.pair.found.extendable for judged in ruled
    )
    extendable = verdict == "inconclusive" and not blockers and open_ended
    policies = tuple(assess_policies(manifest, groups, index, known, blockers))
    return Analysis(
        report, ruled, verdict, reason, extendable, blockers, voids, policies
    )


def voids_of(facts: JobFacts, asked: JobRequest, look: Look) -> Iterator[Void]:
    """Attempt by attempt: what differs between two batches was not measured across, one void attempt voids
    the job. Without the configuration errors the request suppressed; what the server itself knows of the
    target comes last, and once."""
    said = (*asked.suppress, *facts.configuration)
    for number in sorted({condition.attempt for condition in facts.conditions}):
        own = [
            condition for condition in facts.conditions if condition.attempt == number
        ]
        readings = [
            Reading(reading.phase, reading.at_ms, reading.values) for reading in own
        ]
        yield from find_voids(readings, look.limits, said)
    yield from find_voids(
        [Reading("before", 0, facts.known())], look.limits, asked.suppress
    )


def suppressed_of(facts: JobFacts, asked: JobRequest) -> list[str]:
    """Configuration errors the target had, and the request suppressed by name: the report says so."""
    return suppressed_in(
        (facts.known(), *(condition.values for condition in facts.conditions)),
        asked.suppress,
    )


def with_suppressed(reason: str, names: Sequence[str]) -> str:
    """The reason of a verdict, with what was suppressed to reach it."""
    return f"{reason} (suppressed: {', '.join(names)})" if names else reason


def blockers_of(
    checks: Sequence[CheckOut], voids: Sequence[Void], facts: JobFacts
) -> list[str]:
    """Why nothing of this job may be judged, the most telling first."""
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
    nowhere: Mapping[str, Sequence[str]],
    at: str = "",
) -> list[str]:
    """Nothing passes of which nothing was measured, also where it is nobody's fault. `at`: ` at base`, where
    there is more than one side."""
    if any(case.value.size for case in facts.cases):
        return []
    if nowhere and {group.benchmark for group in groups} == set(nowhere):
        return [f"nothing was measured{at}: {no_arm_sentence(nowhere)}"]
    return [f"nothing was measured{at}"]


def blocked_pair(pair: Pair, blockers: Sequence[str]) -> Pair:
    if not blockers or pair.found.verdict == "not_applicable":
        return pair
    found = replace(
        pair.found, verdict="inconclusive", reason=blockers[0], extendable=False
    )
    return replace(pair, found=found)


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
    for wanted in ("fail", "inconclusive"):
        slow = sorted(
            (pair for pair in deciding if pair.found.verdict == wanted),
            key=lambda p: -(p.found.ratio or 0.0),
        )
        words = [_pair_words(pair, wanted) for pair in slow]
        words += [_gate_words(gate) for gate in required if gate.verdict == wanted]
        if words:
            return wanted, with_count_of_others(words[0], len(words))
    if not groups:
        return "inconclusive", "none of the benchmarks asked for is in the suite"
    return "pass", _passed(
        sum(pair.found.verdict == "pass" for pair in deciding),
        sum(gate.verdict == "pass" for gate in required),
        sum(pair.found.verdict == "not_applicable" for pair in deciding)
        + sum(gate.verdict == "not_applicable" for gate in required),
    )


def _passed(comparisons: int, gates: int, elsewhere: int) -> str:
    """What held, and how much of what was demanded does not apply on this target: never silently passed."""
    said = " and ".join(
        _count(number, noun)
        for number, noun in ((comparisons, "comparison"), (gates, "required gate"))
        if number
    )
    if said:
        said += " holds" if comparisons + gates == 1 else " hold"
    elif not elsewhere:
        return "measured; the suite has no rule and no required gate about it"
    one, many = "1 comparison or gate does", f"{elsewhere} comparisons or gates do"
    rest = f"{one if elsewhere == 1 else many} not apply here"
    return "; ".join(part for part in (said, rest if elsewhere else "") if part)


def _pair_words(pair: Pair, verdict: str) -> str:
    said = (
        f"is {pair.words(pair.reference)}"
        if verdict == "fail"
        else f"- {pair.found.reason}"
    )
    return f"{pair.group.words()}: {pair.arm} {said}"


def _gate_words(gate: GateOut) -> str:
    params = " ".join(f"{name}={value}" for name, value in gate.params.items())
    where = " ".join(part for part in (gate.benchmark, params) if part)
    return f"{where}: gate {gate.statistic} of {gate.arm} {gate.metric}: {gate.reason}"


def with_count_of_others(first: str, count: int) -> str:
    return first if count == 1 else f"{first} (and {count - 1} more)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
