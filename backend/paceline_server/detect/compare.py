"""Judges every arm of a job against its reference and keeps the evidence (I16).

Both sides of a pair come from the same job (I11); the evidence holds every number of the verdict. Checks and
void conditions are applied in `analyse`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from paceline_contract.events import Direction
from paceline_contract.manifest import Manifest

from paceline_server.detect.audits import Audits, GroupAudit
from paceline_server.detect.facts import CaseIndex, CpuFeatures, JobRequest, Look
from paceline_server.detect.groups import Group, unannounced_value
from paceline_server.detect.schemas import ComparisonOut
from paceline_server.detect.unavailable import UnavailableArms
from paceline_server.detect.witnesses import Witnesses
from paceline_server.ingest.cases import Case
from paceline_server.stats import constants, plain_words
from paceline_server.stats.blocks import PairedBlocks, WarmPolicy, pair_blocks
from paceline_server.stats.constants import MIN_LAUNCHES
from paceline_server.stats.disturbance import Disturbance, Sides
from paceline_server.stats.noise import NoiseFloor
from paceline_server.stats.paired import (
    METHOD,
    PairPolicy,
    PairVerdict,
    Verdict,
    control_run,
    judge_pair,
    pool_launch_noise,
)
from paceline_server.stats.samples import CaseSamples, median
from paceline_server.stats.summary import probably_optimised_away


@dataclass(frozen=True)
class Pair:
    """An arm and its reference in a group, with the outcome of their comparison."""

    group: Group
    metric: str
    arm: str
    reference: str
    policy: PairPolicy
    warm: WarmPolicy
    outcome: PairVerdict
    direction: str
    unit: str
    window: Mapping[str, Any] = field(default_factory=dict)
    primary: bool = True
    family: tuple[float, ...] = ()
    audit: GroupAudit | None = None
    sides: Sides = "arms"
    """`revisions` compares `arm` at head with `arm` at base; `reference` then names the base."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Additional evidence that is stored with the finding."""
    floor: NoiseFloor | None = None
    """The noise floor; set for A/A jobs only."""
    witness: Literal["pass", "fail", "inconclusive"] | None = None
    """What the witnesses of its arms make of it; None where none is declared."""

    @property
    def shown(self) -> str:
        """The verdict as pages show it; for revisions `head 6.1 % slower than base (…)`."""
        words = (
            self.words()
            if self.sides == "arms"
            else f"head {self.words(self.reference)}"
        )
        return f"{words}{self.disturbed}"

    @property
    def disturbed(self) -> str:
        """`, on a busy host` of a decided pair; else empty."""
        is_decided = self.outcome.verdict in ("pass", "fail")
        return (
            f", {self.policy.disturbed}" if is_decided and self.policy.disturbed else ""
        )

    def words(self, reference: str | None = None) -> str:
        """Return `12.6 % slower (99.8 % interval: …)`; names the reference when given."""
        return plain_words.describe_comparison(
            self.outcome.ratio,
            self.outcome.lower,
            self.outcome.upper,
            self.policy.confidence,
            unit=self.unit,
            reference=reference,
        )


WARM = WarmPolicy()


@dataclass(frozen=True)
class Circumstances:
    """Facts about a job other than its samples."""

    request: JobRequest
    look: Look
    audits: Audits
    unavailable: UnavailableArms
    cpu: CpuFeatures
    disturbance: Disturbance = field(default_factory=Disturbance)
    announced: Sequence[Case] = ()
    witnesses: Witnesses = field(default_factory=Witnesses)


def arm_pairs(
    manifest: Manifest,
    groups: Sequence[Group],
    index: CaseIndex,
    circumstances: Circumstances,
) -> list[Pair]:
    """Judge every arm against its reference. `manifest` is that of the target's kind."""
    return judge_with_launch_noise(
        lambda launch_noise: [
            pair
            for group in groups
            for pair in _pairs(manifest, group, index, circumstances, launch_noise)
        ]
    )


def judge_with_launch_noise(
    judge: Callable[[Mapping[str, float]], list[Pair]],
) -> list[Pair]:
    """Return the pairs that `judge` makes; `judge` takes how much launches differ, by metric.

    The launches of one pair say little about how much launches differ, those of all pairs of a metric more. Where they
    say that launches differ much against the margin of one, they are judged again knowing it."""
    pairs = judge({})
    outcomes: dict[str, list[PairVerdict]] = {}
    for pair in pairs:
        outcomes.setdefault(pair.metric, []).append(pair.outcome)
    launch_noise = {
        metric: pool_launch_noise(of_metric) for metric, of_metric in outcomes.items()
    }
    knows_more = any(pair.policy.is_noisy(launch_noise[pair.metric]) for pair in pairs)
    return judge(launch_noise) if knows_more else pairs


def control_false_discoveries(pairs: list[Pair], look: Look) -> list[Pair]:
    """Limit the false discoveries over all pairs of a run, then withdraw what an audit contradicts.

    Pairs that do not apply on this target take no part."""
    pairs = list(pairs)
    judged = [
        index
        for index, pair in enumerate(pairs)
        if pair.outcome.verdict != "not_applicable"
    ]
    p_values = [_p_value(pairs[index].outcome) for index in judged]
    others = [*look.other_p_values, *([1.0] * (len(judged) * look.unjudged_jobs))]
    outcomes = control_run([pairs[index].outcome for index in judged], others)
    for position, (index, outcome) in enumerate(zip(judged, outcomes, strict=True)):
        family = (*p_values[:position], *p_values[position + 1 :], *others)
        pairs[index] = _withdraw_defective(
            replace(pairs[index], outcome=outcome, family=family)
        )
    return pairs


def at_sides(arm: str) -> tuple[str, str]:
    """Name an arm at (head, base), for audits and reasons."""
    return f"{arm} at head", f"{arm} at base"


def _withdraw_defective(pair: Pair) -> Pair:
    """Make a pair inconclusive if its audit has a decisive finding (I12)."""
    names = (pair.arm, pair.reference) if pair.sides == "arms" else at_sides(pair.arm)
    why = None if pair.audit is None else pair.audit.why_not(*names)
    if why is None:
        return pair
    return replace(pair, outcome=withdraw_verdict(pair.outcome, why))


def withdraw_verdict(
    outcome: PairVerdict, reason: str, verdict: Verdict = "inconclusive"
) -> PairVerdict:
    """Return the outcome with another verdict than the samples gave, which no number of launches changes."""
    return replace(
        outcome,
        verdict=verdict,
        reason=reason,
        extendable=False,
        launches_needed=None,
    )


def witnessed_pair(pair: Pair, witnesses: Witnesses) -> Pair:
    """Return a pair with what the witnesses of its arms make of it; of revisions, that of the arm at head."""
    group = pair.group
    other = pair.reference if pair.sides == "arms" else None
    state = witnesses.of_row(group.benchmark, group.params, pair.arm, other)
    if state is None or pair.outcome.verdict == "not_applicable":
        return pair
    if state.verdict == "pass":
        return replace(pair, witness="pass")
    return replace(
        pair,
        floor=None,
        witness=state.verdict,
        outcome=withdraw_verdict(pair.outcome, state.words, state.verdict),
    )


def _p_value(outcome: PairVerdict) -> float:
    return 1.0 if outcome.p_slow is None or outcome.insufficient else outcome.p_slow


def _pairs(
    manifest: Manifest,
    group: Group,
    index: CaseIndex,
    circumstances: Circumstances,
    launch_noise: Mapping[str, float],
) -> Iterator[Pair]:
    benchmark = manifest.benchmarks[group.benchmark]
    for metric, declared in benchmark.metrics.items():
        whole = policy_under(
            circumstances.disturbance,
            benchmark.margin_percent,
            launch_noise.get(metric, 0.0),
        )
        primary = metric == benchmark.primary_metric
        reference = index.get(
            group.benchmark, group.params, metric, benchmark.reference
        )
        for arm in benchmark.other_arms:
            case = index.get(group.benchmark, group.params, metric, arm)
            watched = (
                primary
                or manifest.rule_for(group.benchmark, arm, metric, group.params)
                is not None
            )
            if not watched and (case is None or reference is None):
                continue
            policy = circumstances.request.policy_of(whole, (case, reference))
            blocks, outcome = judge_samples(
                (case, reference),
                (arm, benchmark.reference),
                declared.direction,
                policy,
                missing=circumstances.unavailable.why(group, arm, benchmark.reference),
                request=circumstances.request,
                look=circumstances.look,
            )
            difference = unannounced_value(group, circumstances.announced)
            if case is None and reference is None and difference is not None:
                outcome = replace(outcome, reason=difference)
            audited = (
                circumstances.audits.of(group)
                if case is not None and reference is not None
                else None
            )
            yield Pair(
                group,
                metric,
                arm,
                benchmark.reference,
                policy,
                WARM,
                outcome,
                declared.direction,
                declared.unit,
                window_of(blocks, case, reference),
                primary,
                audit=audited,
            )


def policy_under(
    disturbance: Disturbance, margin_percent: float, launch_noise: float = 0.0
) -> PairPolicy:
    """Return the policy of a pair that was measured under a disturbance, by the method that this is of."""
    is_former = disturbance.method != METHOD
    return PairPolicy(
        margin_percent=margin_percent,
        launch_certainty=None if is_former else constants.LAUNCH_CERTAINTY,
        launch_noise=0.0 if is_former else launch_noise,
        extra_percent=disturbance.extra_percent,
        drift_percent=disturbance.drift_percent,
        disturbed=disturbance.phrase,
    )


def judge_samples(
    samples: tuple[CaseSamples | None, CaseSamples | None],
    names: tuple[str, str],
    direction: Direction,
    policy: PairPolicy,
    *,
    missing: str | None,
    request: JobRequest,
    look: Look,
) -> tuple[PairedBlocks, PairVerdict]:
    """Judge an arm's samples against those of its reference; `missing`: why the pair does not apply here."""
    case, reference = samples
    blocks = PairedBlocks.nothing()
    if case is not None and reference is not None:
        blocks = pair_blocks(case, reference, direction, WARM)
    outcome = _extend_if_unsteady(judge_pair(blocks, look.number, policy), blocks)
    outcome = _extend_if_incomplete(outcome, policy)
    outcome = _withdraw_unmeasured(outcome, samples, names, blocks)
    if missing is not None:
        outcome = withdraw_verdict(outcome, missing, "not_applicable")
    elif outcome.insufficient and request.is_quick_look(policy):
        outcome = replace(outcome, extendable=False)
    return blocks, outcome


def _extend_if_unsteady(outcome: PairVerdict, blocks: PairedBlocks) -> PairVerdict:
    """Ask for more launches if a launch never settled (stats/README.md §1, "extend once, else flag").

    Only at the first look, and even if the remaining blocks pass. A launch that is still unsteady afterwards
    is flagged in the evidence."""
    if outcome.look == 0 and blocks.unsteady and outcome.verdict == "pass":
        return replace(outcome, extendable=True)
    return outcome


def _extend_if_incomplete(outcome: PairVerdict, policy: PairPolicy) -> PairVerdict:
    """Ask for more launches where some of those planned are missing and the rest is not certain: the extra margin that
    this demands ends with it."""
    is_incomplete = policy.min_launches < MIN_LAUNCHES
    if is_incomplete and outcome.verdict == "inconclusive":
        has_more_looks = outcome.look + 1 < len(policy.look_alpha)
        return replace(outcome, extendable=has_more_looks)
    return outcome


def _withdraw_unmeasured(
    outcome: PairVerdict,
    samples: tuple[CaseSamples | None, CaseSamples | None],
    names: tuple[str, str],
    blocks: PairedBlocks,
) -> PairVerdict:
    """Withdraw a verdict if an arm was not measured, or so fast that it was probably optimised away."""
    values = blocks.arm_value, blocks.reference_value
    for name, case, value in zip(names, samples, values, strict=True):
        if case is None:
            reason = f"{name} was not measured"
        elif value.size and probably_optimised_away(case.unit, median(value)):
            reason = f"{name} takes {median(value):.3g} ns per operation: probably optimised away"
        else:
            continue
        return withdraw_verdict(outcome, reason)
    return outcome


def window_of(
    blocks: PairedBlocks, case: CaseSamples | None, reference: CaseSamples | None
) -> dict[str, Any]:
    """Return the data window (I16): the rounds used of every launch, and the dropped blocks by reason."""
    launches = []
    launch_numbers = [
        samples.launch for samples in (case, reference) if samples is not None
    ]
    for number in np.unique(np.concatenate(launch_numbers)) if launch_numbers else ():
        rounds = blocks.round[blocks.launch == number]
        launches.append(
            {
                "launch": int(number),
                "first_round": int(rounds.min()) if rounds.size else None,
                "last_round": int(rounds.max()) if rounds.size else None,
                "blocks": int(rounds.size),
            }
        )
    return {
        "launches": launches,
        "dropped": blocks.dropped.as_dict(),
        "unsteady": list(blocks.unsteady),
    }


def comparison_out(pair: Pair, demonstration: bool, decides: bool) -> ComparisonOut:
    """Return the wire shape of a pair."""
    outcome = pair.outcome
    return ComparisonOut(
        benchmark=pair.group.benchmark,
        params=dict(pair.group.params),
        metric=pair.metric,
        arm=pair.arm,
        reference=pair.reference,
        launches=outcome.launches,
        blocks=outcome.blocks,
        ratio=outcome.ratio,
        lower=outcome.lower,
        upper=outcome.upper,
        share_slower=outcome.share_slower,
        verdict=outcome.verdict,
        reason=outcome.reason,
        words=pair.shown,
        margin_percent=pair.policy.margin_percent,
        launch_ratios=list(outcome.launch_ratios),
        demonstration=demonstration,
        sides=pair.sides,
        decides=decides,
        extra_percent=outcome.extra_percent,
        launches_needed=launches_needed_by(pair),
        witness=pair.witness,
    )


def launches_needed_by(pair: Pair) -> int | None:
    """Return how many launches would decide an inconclusive pair."""
    outcome = pair.outcome
    return outcome.launches_needed if outcome.verdict == "inconclusive" else None


def evidence_of(pair: Pair) -> dict[str, Any]:
    """Return everything needed to explain and recompute a stored comparison, as plain JSON."""
    outcome = pair.outcome
    return {
        "words": pair.shown,
        "margin_percent": pair.policy.margin_percent,
        "launch_ratios": list(outcome.launch_ratios),
        "launches_needed": launches_needed_by(pair),
        "extra_percent": outcome.extra_percent,
        "method": METHOD,
        "parameters": {
            "policy": pair.policy.as_dict(),
            "warm": asdict(pair.warm),
            "look": outcome.look,
            "direction": pair.direction,
            "family_p_values": list(pair.family),
        },
        "statistic": {
            "p_slow": outcome.p_slow,
            "above_margin": outcome.above_margin,
            "launches_above": outcome.launches_above,
        },
        "filters": [asdict(check) for check in outcome.filters],
        "window": dict(pair.window),
        "audit": None if pair.audit is None else pair.audit.evidence(),
        "primary": pair.primary,
        "witness": pair.witness,
        **pair.notes,
    }


def rederive(
    evidence: Mapping[str, Any], arm: CaseSamples, reference: CaseSamples
) -> PairVerdict:
    """Judge stored samples again with the stored parameters instead of today's constants (I16)."""
    parameters = evidence["parameters"]
    policy = PairPolicy.from_dict(parameters["policy"])
    launches = [launch["launch"] for launch in evidence["window"]["launches"]]
    blocks = pair_blocks(
        _of_launches(arm, launches),
        _of_launches(reference, launches),
        parameters["direction"],
        WarmPolicy(**parameters["warm"]),
    )
    outcome = judge_pair(blocks, int(parameters["look"]), policy)
    return control_run([outcome], parameters["family_p_values"], policy)[0]


def _of_launches(case: CaseSamples, launches: Sequence[int]) -> CaseSamples:
    return case.only(np.isin(case.launch, launches))
