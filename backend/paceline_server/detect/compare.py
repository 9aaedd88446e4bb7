"""Judges every arm of a job against its reference and keeps the evidence (I16).

Both sides of a pair come from the same job (I11); the evidence holds every number of
the verdict. Checks and void conditions are applied later, in `analyse`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from paceline_contract.manifest import Manifest

from paceline_server.detect.audits import Audits, GroupAudit
from paceline_server.detect.facts import CaseIndex, JobRequest, Look
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import ComparisonOut
from paceline_server.detect.unavailable import UnavailableArms
from paceline_server.stats import plain_words
from paceline_server.stats.blocks import PairedBlocks, WarmPolicy, pair_blocks
from paceline_server.stats.noise import NoiseFloor
from paceline_server.stats.paired import (
    METHOD,
    PairPolicy,
    PairVerdict,
    control_run,
    judge_pair,
)
from paceline_server.stats.samples import CaseSamples, median
from paceline_server.stats.summary import probably_optimised_away


@dataclass(frozen=True)
class Pair:
    """One arm and its reference in one group, and what was found."""

    group: Group
    metric: str
    arm: str
    reference: str
    policy: PairPolicy
    warm: WarmPolicy
    found: PairVerdict
    direction: str
    unit: str
    window: Mapping[str, Any] = field(default_factory=dict)
    primary: bool = True
    family: tuple[float, ...] = ()
    audit: GroupAudit | None = None
    sides: Literal["arms", "revisions"] = "arms"
    """`revisions` compares `arm` at head with `arm` at base; `reference` then names the base."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Additional evidence that is stored with the finding."""
    floor: NoiseFloor | None = None
    """The smallest effect the target can resolve; set for A/A jobs only."""

    @property
    def shown(self) -> str:
        """The verdict as pages show it; for revisions `head 6.1 % slower than base (…)`."""
        return (
            self.words()
            if self.sides == "arms"
            else f"head {self.words(self.reference)}"
        )

    def words(self, reference: str | None = None) -> str:
        """`12.6 % slower (99.8 % interval: …)`; names the reference when given."""
        found = self.found
        level = self.policy.confidence
        return plain_words.describe_comparison(
            found.ratio,
            found.lower,
            found.upper,
            level,
            unit=self.unit,
            reference=reference,
        )


EMPTY = PairedBlocks.nothing()


@dataclass(frozen=True)
class Circumstances:
    """What is known of a job beside its samples: what was asked, which look this is, its audits, and what it
    could not run."""

    asked: JobRequest
    look: Look
    audits: Audits
    unavailable: UnavailableArms


def compare(
    manifest: Manifest, groups: Sequence[Group], index: CaseIndex, known: Circumstances
) -> list[Pair]:
    """Judge every arm of every group against its reference, metric by metric, then control the run's
    errors. A pair that does not apply on this target is left out of the error control. `manifest` is the one of
    the target's kind."""
    return control_false_discoveries(
        [pair for group in groups for pair in _pairs(manifest, group, index, known)],
        known.look,
    )


def control_false_discoveries(pairs: list[Pair], look: Look) -> list[Pair]:
    """Limit the false discoveries over all pairs of a run, then withdraw what an audit contradicts."""
    pairs = list(pairs)
    judged = [
        at for at, pair in enumerate(pairs) if pair.found.verdict != "not_applicable"
    ]
    p_values = [_p_value(pairs[at].found) for at in judged]
    others = [*look.other_p_values, *([1.0] * (len(judged) * look.unjudged_jobs))]
    held = control_run([pairs[at].found for at in judged], others)
    for place, (at, found) in enumerate(zip(judged, held, strict=True)):
        family = (*p_values[:place], *p_values[place + 1 :], *others)
        pairs[at] = _withdraw_defective(replace(pairs[at], found=found, family=family))
    return pairs


def at_sides(arm: str) -> tuple[str, str]:
    """(head, base) of one arm, as audits and reasons name them."""
    return f"{arm} at head", f"{arm} at base"


def _withdraw_defective(pair: Pair) -> Pair:
    """A defect of the protocol takes the verdict back, whatever the numbers say (I12)."""
    names = (pair.arm, pair.reference) if pair.sides == "arms" else at_sides(pair.arm)
    why = None if pair.audit is None else pair.audit.why_not(*names)
    if why is None:
        return pair
    found = replace(pair.found, verdict="inconclusive", reason=why, extendable=False)
    return replace(pair, found=found)


def _p_value(found: PairVerdict) -> float:
    return 1.0 if found.p_slow is None or found.insufficient else found.p_slow


def _pairs(
    manifest: Manifest, group: Group, index: CaseIndex, known: Circumstances
) -> Iterator[Pair]:
    benchmark = manifest.benchmarks[group.benchmark]
    policy = PairPolicy(margin_percent=benchmark.margin_percent)
    warm = WarmPolicy()
    for metric, declared in benchmark.metrics.items():
        primary = metric == benchmark.primary_metric
        reference = index.get(
            group.benchmark, group.params, metric, benchmark.reference
        )
        for arm in benchmark.other_arms:
            case = index.get(group.benchmark, group.params, metric, arm)
            shown = (
                primary
                or manifest.rule_for(group.benchmark, arm, metric, group.params)
                is not None
            )
            if not shown and (case is None or reference is None):
                continue
            blocks = EMPTY
            if case is not None and reference is not None:
                blocks = pair_blocks(case, reference, declared.direction, warm)
            found = extend_if_unsteady(
                judge_pair(blocks, known.look.number, policy), blocks
            )
            found = withdraw_unmeasured(
                found, case, reference, (arm, benchmark.reference), blocks
            )
            missing = known.unavailable.why(group, arm, benchmark.reference)
            if missing is not None:
                found = replace(
                    found,
                    verdict="not_applicable",
                    reason=missing,
                    extendable=False,
                    insufficient=False,
                )
            audited = (
                known.audits.of(group)
                if case is not None and reference is not None
                else None
            )
            if found.insufficient and known.asked.is_quick_look(policy):
                found = replace(found, extendable=False)
            yield Pair(
                group,
                metric,
                arm,
                benchmark.reference,
                policy,
                warm,
                found,
                declared.direction,
                declared.unit,
                window_of(blocks, case, reference),
                primary,
                audit=audited,
            )


def extend_if_unsteady(found: PairVerdict, blocks: PairedBlocks) -> PairVerdict:
    """Ask for more launches when a launch never settled (STATISTICS §1, "extend once, else flag").

    Only at the first look, and even if the remaining blocks decide the pair. A launch that is still
    unsteady afterwards is flagged in the evidence."""
    settled = found.look > 0 or not blocks.unsteady
    return (
        found if settled or found.verdict != "pass" else replace(found, extendable=True)
    )


def withdraw_unmeasured(
    found: PairVerdict,
    case: CaseSamples | None,
    reference: CaseSamples | None,
    names: tuple[str, str],
    blocks: PairedBlocks,
) -> PairVerdict:
    """Withdraw a verdict if an arm was not measured, or so fast that it was probably optimised away."""
    for name, samples, value in zip(
        names,
        (case, reference),
        (blocks.arm_value, blocks.reference_value),
        strict=True,
    ):
        if samples is None:
            return replace(
                found,
                verdict="inconclusive",
                reason=f"{name} was not measured",
                extendable=False,
            )
        if value.size and probably_optimised_away(samples.unit, median(value)):
            reason = f"{name} takes {median(value):.3g} ns per operation: probably optimised away"
            return replace(
                found, verdict="inconclusive", reason=reason, extendable=False
            )
    return found


def window_of(
    blocks: PairedBlocks, case: CaseSamples | None, reference: CaseSamples | None
) -> dict[str, Any]:
    """The data window (I16): every launch looked at, the rounds kept of it, and what was left out by
    reason."""
    launches = []
    seen = [samples.launch for samples in (case, reference) if samples is not None]
    for number in np.unique(np.concatenate(seen)) if seen else ():
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


def comparison_out(pair: Pair, demonstration: bool) -> ComparisonOut:
    """The wire shape, with its words."""
    found = pair.found
    return ComparisonOut(
        benchmark=pair.group.benchmark,
        params=dict(pair.group.params),
        metric=pair.metric,
        arm=pair.arm,
        reference=pair.reference,
        launches=found.launches,
        blocks=found.blocks,
        ratio=found.ratio,
        lower=found.lower,
        upper=found.upper,
        share_slower=found.share_slower,
        verdict=found.verdict,
        reason=found.reason,
        words=pair.shown,
        margin_percent=pair.policy.margin_percent,
        launch_ratios=list(found.launch_ratios),
        demonstration=demonstration,
        sides=pair.sides,
    )


def evidence_of(pair: Pair) -> dict[str, Any]:
    """Everything a stored comparison needs to be explained and made again, as plain JSON."""
    found = pair.found
    return {
        "words": pair.shown,
        "margin_percent": pair.policy.margin_percent,
        "launch_ratios": list(found.launch_ratios),
        "method": METHOD,
        "parameters": {
            "policy": pair.policy.as_dict(),
            "warm": asdict(pair.warm),
            "look": found.look,
            "direction": pair.direction,
            "family_p_values": list(pair.family),
        },
        "statistic": {
            "p_slow": found.p_slow,
            "above_margin": found.above_margin,
            "launches_above": found.launches_above,
        },
        "filters": [asdict(check) for check in found.filters],
        "window": dict(pair.window),
        "audit": None if pair.audit is None else pair.audit.evidence(),
        "primary": pair.primary,
        **pair.notes,
    }


def rederive(
    evidence: Mapping[str, Any], arm: CaseSamples, reference: CaseSamples
) -> PairVerdict:
    """Judge stored samples again with the numbers stored beside the verdict, not with today's constants
    (I16)."""
    parameters = evidence["parameters"]
    policy = PairPolicy.from_dict(parameters["policy"])
    launches = [
        evidence_row["launch"] for evidence_row in evidence["window"]["launches"]
    ]
    blocks = pair_blocks(
        _of_launches(arm, launches),
        _of_launches(reference, launches),
        parameters["direction"],
        WarmPolicy(**parameters["warm"]),
    )
    found = judge_pair(blocks, int(parameters["look"]), policy)
    return control_run([found], parameters["family_p_values"], policy)[0]


def _of_launches(case: CaseSamples, launches: Sequence[int]) -> CaseSamples:
    return case.only(np.isin(case.launch, launches))
