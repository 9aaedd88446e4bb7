"""Audits the protocol of a group of arms: whether its figures can be compared at all.

A decisive finding makes the comparisons it concerns inconclusive (I12). Only `unsteady` depends on measured
values: a protocol is defective whatever it measured.

    order_unbalanced      per launch, an arm stood more often in one position than an incomplete square allows
    warmup_in_timer       no warm-up rounds came first, or more items were processed than declared
    preparation_in_timer  inputs were built inside the timed region
    unequal_work          an arm counted different work per iteration than the arm it is compared with
    too_few, unsteady     not decisive: the verdict says insufficient, or uses the steady half
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.blocks import WarmPolicy, warm_samples
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples, Floats, Ints

METHOD = "protocol-audit/1"
Name = Literal[
    "order_unbalanced",
    "too_few",
    "warmup_in_timer",
    "preparation_in_timer",
    "unequal_work",
    "unsteady",
]
DECISIVE: frozenset[Name] = frozenset(
    {"order_unbalanced", "warmup_in_timer", "preparation_in_timer", "unequal_work"}
)
ITEMS, PREPARED = "items", "prepared"


@dataclass(frozen=True)
class AuditPolicy:
    """Every number of an audit; stored with it so that it can be recomputed (I16)."""

    min_blocks: int = constants.MIN_BLOCKS
    min_launches: int = constants.MIN_LAUNCHES
    position_excess: int = constants.POSITION_EXCESS
    work_tolerance: float = constants.WORK_TOLERANCE
    warm: WarmPolicy = field(default_factory=WarmPolicy)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> AuditPolicy:
        """Return the policy of a stored audit."""
        return cls(**{**stored, "warm": WarmPolicy(**stored["warm"])})


@dataclass(frozen=True)
class AuditFinding:
    """A defect of the protocol. `arms`: the affected arms, sorted; `numbers`: what was counted."""

    name: Name
    arms: tuple[str, ...]
    numbers: Mapping[str, float]
    text: str

    @property
    def decisive(self) -> bool:
        """True if the comparisons that it concerns are inconclusive."""
        return self.name in DECISIVE

    def concerns(self, *arms: str) -> bool:
        """Return whether it affects a figure of these arms; unequal work affects pairs, not single arms."""
        if self.name == "unequal_work":
            return set(self.arms) <= set(arms)
        return not set(self.arms).isdisjoint(arms)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "arms": list(self.arms)}


@dataclass(frozen=True)
class _Rounds:
    """The measured rounds of an arm by (launch, round). Arrays have shape (n,)."""

    arm: str
    launch: Ints
    round: Ints
    position: Ints
    iterations: Ints | None
    work: Mapping[str, Ints]

    @classmethod
    def of(cls, case: CaseSamples) -> _Rounds:
        measured = case.only(case.measured())
        order = np.lexsort((measured.position, measured.round, measured.launch))
        keys = np.stack([measured.launch[order], measured.round[order]])
        fresh = np.ones(order.size, dtype=np.bool_)
        fresh[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        first = order[fresh]
        return cls(
            case.arm,
            measured.launch[first],
            measured.round[first],
            measured.position[first],
            None if measured.iterations is None else measured.iterations[first],
            {name: counts[first] for name, counts in measured.work.items()},
        )

    def rates(self, counter: str) -> dict[tuple[int, int], float]:
        """Return the counter per iteration by (launch, round), where reported."""
        counts = self.work.get(counter)
        if counts is None or self.iterations is None:
            return {}
        keys = zip(self.launch.tolist(), self.round.tolist(), strict=True)
        return {
            key: count / iterations
            for key, count, iterations in zip(
                keys, counts.tolist(), self.iterations.tolist(), strict=True
            )
            if count != NOT_COUNTED
        }


def audit(
    cases: Sequence[CaseSamples],
    reference: str,
    items_per_iteration: Mapping[str, int] | None = None,
    policy: AuditPolicy | None = None,
    *,
    witnesses: Collection[str] = (),
) -> list[AuditFinding]:
    """Audit the arms of a (benchmark, params): `cases` has a metric's samples, one case per arm.

    `items_per_iteration` has the declared items by arm, if the workload declares them. `witnesses` are counters that
    show what ran and count no work.
    """
    policy = policy or AuditPolicy()
    cases = sorted(cases, key=lambda case: case.arm)
    rounds = [
        arm_rounds for arm_rounds in map(_Rounds.of, cases) if arm_rounds.launch.size
    ]
    if not rounds:
        return []
    return [
        *_order(rounds, policy),
        *_too_few(rounds, policy),
        *_no_warmup(cases),
        *_more_items(rounds, items_per_iteration or {}, policy),
        *_preparation(rounds),
        *_unequal(rounds, reference, policy, witnesses),
        *_unsteady(cases, policy),
    ]


def _order(rounds: Sequence[_Rounds], policy: AuditPolicy) -> Iterator[AuditFinding]:
    """Return a finding about all unbalanced arms and the worst position."""
    if len(rounds) < 2:
        return
    position_count = 1 + max(int(round_.position.max()) for round_ in rounds)
    worst: tuple[int, str, int, int, int, int] | None = None
    arms: set[str] = set()
    for round_ in rounds:
        for launch in np.unique(round_.launch).tolist():
            counts = np.bincount(
                round_.position[round_.launch == launch], minlength=position_count
            )
            excess = int(counts.max() - counts.min())
            if excess > policy.position_excess:
                arms.add(round_.arm)
                imbalance = (
                    excess,
                    round_.arm,
                    launch,
                    int(counts.argmax()),
                    int(counts.max()),
                    int(counts.sum()),
                )
                worst = imbalance if worst is None or excess > worst[0] else worst
    if worst is None:
        return
    excess, arm, launch, position, times, total = worst
    text = (
        f"{arm} ran at position {position + 1} in {times} of {total} rounds of launch {launch}; balanced are "
        f"{total / position_count:g}. Drift inside a round is counted for or against it."
    )
    numbers = {
        "launch": launch,
        "position": position,
        "times": times,
        "rounds": total,
        "excess": excess,
    }
    yield AuditFinding("order_unbalanced", tuple(sorted(arms)), numbers, text)


def _too_few(rounds: Sequence[_Rounds], policy: AuditPolicy) -> Iterator[AuditFinding]:
    too_short: list[tuple[int, int, str]] = []
    for round_ in rounds:
        blocks, launches = int(round_.launch.size), int(np.unique(round_.launch).size)
        if blocks < policy.min_blocks or launches < policy.min_launches:
            too_short.append((blocks, launches, round_.arm))
    if not too_short:
        return
    blocks, launches, _ = min(too_short)
    text = (
        f"{blocks} blocks in {launches} {'launch' if launches == 1 else 'launches'}; a verdict needs "
        f"{policy.min_blocks} in {policy.min_launches}. With fewer, chance and one process's memory layout "
        "decide."
    )
    numbers = {"blocks": blocks, "launches": launches}
    yield AuditFinding(
        "too_few", tuple(sorted(arm for *_, arm in too_short)), numbers, text
    )


def _no_warmup(cases: Sequence[CaseSamples]) -> Iterator[AuditFinding]:
    """Return a finding about launches with several measured rounds but no warm-up round before them."""
    cold_by_arm: dict[str, list[int]] = {}
    for case in cases:
        for launch in np.unique(case.launch[case.measured()]).tolist():
            in_launch = case.launch == launch
            measured = np.unique(case.round[in_launch & case.measured()])
            warm = case.round[in_launch & case.warmup]
            if measured.size > 1 and not (warm.size and warm.min() < measured.min()):
                cold_by_arm.setdefault(case.arm, []).append(launch)
    if not cold_by_arm:
        return
    launches = sorted(
        {launch for cold_launches in cold_by_arm.values() for launch in cold_launches}
    )
    text = (
        f"No warm-up rounds came before the measured ones in {_launches(launches)}: cold code and cold "
        "caches are part of the figures."
    )
    yield AuditFinding(
        "warmup_in_timer", tuple(sorted(cold_by_arm)), {"launches": len(launches)}, text
    )


def _launches(numbers: Sequence[int]) -> str:
    return f"launch {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} launches"


def _more_items(
    rounds: Sequence[_Rounds], declared: Mapping[str, int], policy: AuditPolicy
) -> Iterator[AuditFinding]:
    for round_ in rounds:
        rates = round_.rates(ITEMS)
        limit = declared.get(round_.arm)
        if limit is None or not rates:
            continue
        most = max(rates.values())
        if most > limit * (1.0 + policy.work_tolerance):
            text = (
                f"{round_.arm} processed {most:g} items per iteration where {limit} were declared: warm-up or "
                "repeated work inside the timer is counted as its time."
            )
            yield AuditFinding(
                "warmup_in_timer", (round_.arm,), {"items": most, "meant": limit}, text
            )


def _preparation(rounds: Sequence[_Rounds]) -> Iterator[AuditFinding]:
    prepared_by_arm = {
        round_.arm: max(round_.rates(PREPARED).values(), default=0.0)
        for round_ in rounds
    }
    arms = tuple(sorted(arm for arm, count in prepared_by_arm.items() if count > 0))
    if arms:
        most = max(prepared_by_arm.values())
        text = (
            f"{' and '.join(arms)} built {most:g} inputs per iteration inside the timer: that time is in "
            "both sides of a ratio and pulls it towards 1, or in one side only."
        )
        yield AuditFinding("preparation_in_timer", arms, {"prepared": most}, text)


def _unequal(
    rounds: Sequence[_Rounds],
    reference: str,
    policy: AuditPolicy,
    witnesses: Collection[str],
) -> Iterator[AuditFinding]:
    """Compare each arm with the reference, or with the first arm without one."""
    left_out = {PREPARED, *witnesses}
    base = next((round_ for round_ in rounds if round_.arm == reference), rounds[0])
    for round_ in rounds:
        differing = {}
        for counter in sorted((set(round_.work) & set(base.work)) - left_out):
            ours, theirs = round_.rates(counter), base.rates(counter)
            for block in sorted(set(ours) & set(theirs)):
                a, b = ours[block], theirs[block]
                if abs(a - b) > policy.work_tolerance * max(abs(a), abs(b)):
                    differing[counter] = (a, b)
                    break
        if differing:
            differences = ", ".join(
                f"{a:g} {counter} against {b:g}"
                for counter, (a, b) in differing.items()
            )
            text = (
                f"Per iteration {round_.arm} counted {differences} of {base.arm}: they did not do the same work, so "
                "their times cannot be compared."
            )
            numbers = {
                f"{counter}.{round_.arm}": a for counter, (a, _) in differing.items()
            }
            numbers |= {
                f"{counter}.{base.arm}": b for counter, (_, b) in differing.items()
            }
            yield AuditFinding(
                "unequal_work", tuple(sorted({round_.arm, base.arm})), numbers, text
            )


def _unsteady(
    cases: Sequence[CaseSamples], policy: AuditPolicy
) -> Iterator[AuditFinding]:
    for case in cases:
        _, unsteady = warm_samples(case, policy.warm)
        if unsteady:
            launch_count = int(np.unique(case.launch).size)
            text = (
                f"{case.arm} was still unsteady in the second half of {len(unsteady)} of {launch_count} launches: its "
                "figures depend on when they are taken."
            )
            yield AuditFinding(
                "unsteady",
                (case.arm,),
                {"launches": len(unsteady), "of": launch_count},
                text,
            )


def mean_ratio(arm: CaseSamples, reference: CaseSamples) -> float | None:
    """Return the ratio of mean times over everything timed, as a protocol of means alone would report."""
    means = [
        float(_timed_rates(case).mean()) if _timed_rates(case).size else 0.0
        for case in (arm, reference)
    ]
    if not all(np.isfinite(mean) and mean > 0 for mean in means):
        return None
    ratio = means[0] / means[1]
    return ratio if arm.direction == "lower" else 1.0 / ratio


def _timed_rates(case: CaseSamples) -> Floats:
    return case.value[case.measured()]
