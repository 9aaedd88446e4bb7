"""Assesses a suite's usage policies: from which value on an arm pays off, and after how much warm-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from paceline_contract.events import ParamValue
from paceline_contract.manifest import Manifest, Policy
from paceline_contract.params import params_key

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.facts import CaseIndex
from paceline_server.detect.groups import Group
from paceline_server.stats import coldness as coldness_stats
from paceline_server.stats import constants
from paceline_server.stats import policy as policy_stats
from paceline_server.stats.blocks import PairedBlocks, pair_blocks
from paceline_server.stats.coldness import Coldness, find_coldness
from paceline_server.stats.policy import (
    Crossover,
    MinimumVerdict,
    find_crossover,
    judge_minimum,
)
from paceline_server.stats.samples import CaseSamples


@dataclass(frozen=True)
class PolicyInForce:
    """The policy in force, with its knobs resolved."""

    minimum: int
    warmup_rounds: int | None


@dataclass(frozen=True)
class PolicyAssessment:
    """A policy with one combination of the other params: the advice, and whether the policy in force holds.

    `suffices`: whether its warm-up rounds suffice; None if that is undecided or it names none.
    """

    policy: Policy
    params: Mapping[str, ParamValue]
    unit: str | None
    margin_percent: float
    in_force: PolicyInForce
    warm: Crossover
    cold: Crossover | None
    coldness: Coldness
    minimum: MinimumVerdict
    cold_minimum: MinimumVerdict | None
    suffices: bool | None

    @property
    def holds(self) -> bool | None:
        """False if any part is wrong, else None if any is undecided."""
        parts = [self.minimum.holds]
        if self.in_force.warmup_rounds is not None:
            parts.append(self.suffices)
        if self.cold_minimum is not None:
            parts.append(self.cold_minimum.holds)
        return False if False in parts else None if None in parts else True


@dataclass(frozen=True)
class _PolicySamples:
    """The samples and circumstances of the advice. `blockers`: why the job must not be judged."""

    index: CaseIndex
    circumstances: Circumstances
    blockers: Sequence[str]

    def case(self, policy: Policy, group: Group, arm: str) -> CaseSamples | None:
        return self.index.get(group.benchmark, group.params, policy.metric, arm)

    def why_not(self, policy: Policy, groups: Sequence[Group]) -> str | None:
        """Return why the samples give no advice; None if they do."""
        witnesses = self.circumstances.witnesses
        never_ran = (
            witnesses.why_not(group, policy.arm, policy.reference) for group in groups
        )
        return next(filter(None, (*self.blockers, *never_ran)), None)

    def has_any(self, policy: Policy, groups: Sequence[Group]) -> bool:
        return any(self.case(policy, group, policy.arm) is not None for group in groups)


def assess_policies(
    manifest: Manifest,
    groups: Sequence[Group],
    index: CaseIndex,
    circumstances: Circumstances,
    blockers: Sequence[str] = (),
) -> list[PolicyAssessment]:
    """Assess every measured policy, with each combination of the params that it does not decide by."""
    assessments: list[PolicyAssessment] = []
    measured = _PolicySamples(index, circumstances, blockers)
    for policy in manifest.policies:
        own_groups = [
            group
            for group in groups
            if group.benchmark == policy.benchmark and group.matches(policy.params)
        ]
        for other_params, members in _points(policy, own_groups):
            if not measured.has_any(policy, members):
                continue
            if any(
                circumstances.unavailable.why(member, policy.arm, policy.reference)
                for member in members
            ):
                continue
            cold = _cold_groups(manifest, policy, groups, other_params)
            assessments.append(
                _assess_policy(
                    manifest, policy, (other_params, members, cold), measured
                )
            )
    return assessments


def _points(
    policy: Policy, groups: Sequence[Group]
) -> Iterator[tuple[dict[str, ParamValue], list[Group]]]:
    points: dict[str, tuple[dict[str, ParamValue], list[Group]]] = {}
    for group in groups:
        other_params = {
            name: value for name, value in group.params.items() if name != policy.param
        }
        points.setdefault(params_key(other_params), (other_params, []))[1].append(group)
    yield from points.values()


def _cold_groups(
    manifest: Manifest,
    policy: Policy,
    groups: Sequence[Group],
    other_params: Mapping[str, ParamValue],
) -> list[Group]:
    """Return the groups of the cold benchmark with the same values of the params that it has."""
    if policy.cold_benchmark is None:
        return []
    params = manifest.benchmarks[policy.cold_benchmark].params
    selector = {name: value for name, value in other_params.items() if name in params}
    return [
        group
        for group in groups
        if group.benchmark == policy.cold_benchmark and group.matches(selector)
    ]


def _assess_policy(
    manifest: Manifest,
    policy: Policy,
    groups: tuple[Mapping[str, ParamValue], Sequence[Group], Sequence[Group]],
    measured: _PolicySamples,
) -> PolicyAssessment:
    other_params, members, cold_members = groups
    benchmark = manifest.benchmarks[policy.benchmark]
    margin = benchmark.margin_percent
    in_force = _in_force(manifest, policy, measured.circumstances.request.knobs)
    warm = _crossover(policy, members, margin, measured)
    cold_policy = msgspec.structs.replace(policy, arm=policy.cold_arm or policy.arm)
    cold = None
    if measured.has_any(cold_policy, cold_members):
        cold = _crossover(cold_policy, cold_members, margin, measured)
    coldness = _coldness(policy, members, margin, measured)
    first_is_cold = in_force.warmup_rounds == 0 and cold is not None
    return PolicyAssessment(
        policy=policy,
        params=other_params,
        unit=benchmark.params[policy.param].unit,
        margin_percent=margin,
        in_force=in_force,
        warm=warm,
        cold=cold,
        coldness=coldness,
        minimum=judge_minimum(warm, in_force.minimum, margin),
        cold_minimum=judge_minimum(cold, in_force.minimum, margin)
        if cold and first_is_cold
        else None,
        suffices=warmup_suffices(coldness, in_force.warmup_rounds),
    )


def _in_force(
    manifest: Manifest, policy: Policy, knobs: Mapping[str, ParamValue]
) -> PolicyInForce:
    def number(value: int | str) -> int:
        return (
            value
            if isinstance(value, int)
            else int(knobs.get(value, manifest.knobs[value].default))
        )

    rounds = policy.in_force.warmup_rounds
    return PolicyInForce(
        number(policy.in_force.minimum), None if rounds is None else number(rounds)
    )


def _coldness(
    policy: Policy, members: Sequence[Group], margin: float, measured: _PolicySamples
) -> Coldness:
    if (refused := measured.why_not(policy, members)) is not None:
        return Coldness(None, reason=refused)
    pairs = [
        (
            measured.case(policy, member, policy.arm),
            measured.case(policy, member, policy.reference),
        )
        for member in members
    ]
    return find_coldness([(arm, base) for arm, base in pairs if arm and base], margin)


def _crossover(
    policy: Policy, members: Sequence[Group], margin: float, measured: _PolicySamples
) -> Crossover:
    if (refused := measured.why_not(policy, members)) is not None:
        return Crossover("unknown", reason=refused)
    blocks: list[tuple[int, PairedBlocks]] = []
    for group in members:
        value = group.params[policy.param]
        arm, reference = (
            measured.case(policy, group, name)
            for name in (policy.arm, policy.reference)
        )
        if arm is None or reference is None:
            missing = policy.arm if arm is None else policy.reference
            return Crossover(
                "unknown",
                reason=f"{missing} was not measured at {policy.param}={value}",
            )
        defect = measured.circumstances.audits.why_not(
            group, policy.arm, policy.reference
        )
        if defect is not None:
            return Crossover("unknown", reason=defect)
        if isinstance(value, int) and value > 0:
            blocks.append((value, pair_blocks(arm, reference, arm.direction)))
    return find_crossover(blocks, margin)


def evidence_of(assessment: PolicyAssessment) -> dict[str, Any]:
    """Return the methods and parameters of the advice as plain JSON (I16)."""
    return {
        "methods": [policy_stats.METHOD, coldness_stats.METHOD],
        "parameters": {
            "margin_percent": assessment.margin_percent,
            "confidence": constants.POLICY_CONFIDENCE,
            "winner_confidence": constants.DERIVED_CONFIDENCE,
            "launch_share": constants.LAUNCH_SHARE,
            "min_blocks": constants.MIN_BLOCKS,
            "min_launches": constants.MIN_LAUNCHES,
            "warmup_rounds": constants.POLICY_WARMUP_ROUNDS,
            "replicates": constants.BOOTSTRAP_REPLICATES,
            "seed": constants.BOOTSTRAP_SEED,
        },
        "policy": msgspec.to_builtins(assessment.policy),
    }


def warmup_suffices(coldness: Coldness, rounds: int | None) -> bool | None:
    """Return whether so many warm-up rounds of the product suffice; None if undecided.

    A benchmark's round may be many calls, so the needed number is known only to within a round."""
    if rounds is None:
        return None
    calls = coldness.calls_per_round or 1
    if (
        coldness.lower is not None
        and coldness.lower > 0
        and rounds < (coldness.lower - 1) * calls + 1
    ):
        return False
    if coldness.rounds is None:
        return None
    enough = coldness.rounds == 0 or rounds >= coldness.rounds * calls
    return True if enough else None
