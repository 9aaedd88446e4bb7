"""Audits how a group of arms was measured: may its figures be compared at all?

Runs before a verdict is believed; `detect/audits.py` runs it per (benchmark, params)
and stores the result. Pure and independent of the order of rows. Every finding carries
its numbers and states its effect in one sentence. A decisive finding makes the
comparisons it concerns inconclusive (I12). Clock values are used for steadiness only: a
protocol is defective whatever it measured.

    order_unbalanced      per launch, an arm stood more often in one position than an incomplete square allows
    warmup_in_timer       no warm-up rounds came first, or more items were processed than were meant
    preparation_in_timer  inputs were built inside the timed region
    unequal_work          an arm counted other work per iteration than the arm it is compared with
    too_few, unsteady     not decisive: the verdict itself says insufficient, or keeps the steady half
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """Every number of an audit; stored with it, so that it can be made again (I16)."""

    min_blocks: int = constants.MIN_BLOCKS
    min_launches: int = constants.MIN_LAUNCHES
    position_excess: int = constants.POSITION_EXCESS
    work_tolerance: float = constants.WORK_TOLERANCE
    warm: WarmPolicy = field(default_factory=WarmPolicy)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> AuditPolicy:
        """The policy a stored audit was made with."""
        return cls(**{**stored, "warm": WarmPolicy(**stored["warm"])})


@dataclass(frozen=True)
class AuditFinding:
    """One defect. `arms`: whose figures it touches, sorted; `numbers`: what was counted."""

    name: Name
    arms: tuple[str, ...]
    numbers: Mapping[str, float]
    text: str

    @property
    def decisive(self) -> bool:
        """Whether comparisons it concerns are inconclusive."""
        return self.name in DECISIVE

    def concerns(self, *arms: str) -> bool:
        """Whether it touches a figure made from these arms; unequal work touches a pair, not an arm."""
        if self.name == "unequal_work":
            return set(self.arms) <= set(arms)
        return not set(self.arms).isdisjoint(arms)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "arms": list(self.arms)}


@dataclass(frozen=True)
class _Rounds:
    """The measured rounds of one arm, one row per (launch, round), ascending. Arrays have shape (n,)."""

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
        """Counter per iteration by (launch, round), where it was counted."""
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
) -> list[AuditFinding]:
    """Audit the arms of one (benchmark, params): `cases` are one metric's, one per arm.

    `items_per_iteration`: by arm, what one iteration is meant to process, where the workload said so.
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
        *_unequal(rounds, reference, policy),
        *_unsteady(cases, policy),
    ]


def _order(rounds: Sequence[_Rounds], policy: AuditPolicy) -> Iterator[AuditFinding]:
    """One finding for all launches: it names the arms, and the worst place."""
    if len(rounds) < 2:
        return
    places = 1 + max(int(round_.position.max()) for round_ in rounds)
    worst: tuple[int, str, int, int, int, int] | None = None
    arms: set[str] = set()
    for round_ in rounds:
        for launch in np.unique(round_.launch).tolist():
            here = np.bincount(
                round_.position[round_.launch == launch], minlength=places
            )
            excess = int(here.max() - here.min())
            if excess > policy.position_excess:
                arms.add(round_.arm)
                found = (
                    excess,
                    round_.arm,
                    launch,
                    int(here.argmax()),
                    int(here.max()),
                    int(here.sum()),
                )
                worst = found if worst is None or excess > worst[0] else worst
    if worst is None:
        return
    excess, arm, launch, position, times, total = worst
    text = (
        f"{arm} ran at position {position + 1} in {times} of {total} rounds of launch {launch}; balanced are "
        f"{total / places:g}. What drifts inside a round is counted for or against it."
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
    short: list[tuple[int, int, str]] = []
    for round_ in rounds:
        blocks, launches = int(round_.launch.size), int(np.unique(round_.launch).size)
        if blocks < policy.min_blocks or launches < policy.min_launches:
            short.append((blocks, launches, round_.arm))
    if not short:
        return
    blocks, launches, _ = min(short)
    text = (
        f"{blocks} blocks in {launches} {'launch' if launches == 1 else 'launches'}; a verdict needs "
        f"{policy.min_blocks} in {policy.min_launches}. With fewer, chance and one process's memory layout "
        "decide."
    )
    numbers = {"blocks": blocks, "launches": launches}
    yield AuditFinding(
        "too_few", tuple(sorted(arm for *_, arm in short)), numbers, text
    )


def _no_warmup(cases: Sequence[CaseSamples]) -> Iterator[AuditFinding]:
    """Launches of several measured rounds that no warm-up round preceded. A metric read once per launch has
    no warm-up."""
    cold: dict[str, list[int]] = {}
    for case in cases:
        for launch in np.unique(case.launch[case.measured()]).tolist():
            here = case.launch == launch
            measured = np.unique(case.round[here & case.measured()])
            warm = case.round[here & case.warmup]
            if measured.size > 1 and not (warm.size and warm.min() < measured.min()):
                cold.setdefault(case.arm, []).append(launch)
    if not cold:
        return
    launches = sorted({launch for found in cold.values() for launch in found})
    text = (
        f"No warm-up rounds came before the measured ones in {_launches(launches)}: cold code and cold "
        "caches are part of the figures."
    )
    yield AuditFinding(
        "warmup_in_timer", tuple(sorted(cold)), {"launches": len(launches)}, text
    )


def _launches(numbers: Sequence[int]) -> str:
    return f"launch {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} launches"


def _more_items(
    rounds: Sequence[_Rounds], meant: Mapping[str, int], policy: AuditPolicy
) -> Iterator[AuditFinding]:
    for round_ in rounds:
        rates = round_.rates(ITEMS)
        limit = meant.get(round_.arm)
        if limit is None or not rates:
            continue
        most = max(rates.values())
        if most > limit * (1.0 + policy.work_tolerance):
            text = (
                f"{round_.arm} processed {most:g} items per iteration where {limit} were meant: warm-up or "
                "repeated work inside the timer is counted as its time."
            )
            yield AuditFinding(
                "warmup_in_timer", (round_.arm,), {"items": most, "meant": limit}, text
            )


def _preparation(rounds: Sequence[_Rounds]) -> Iterator[AuditFinding]:
    built = {
        round_.arm: max(round_.rates(PREPARED).values(), default=0.0)
        for round_ in rounds
    }
    arms = tuple(sorted(arm for arm, count in built.items() if count > 0))
    if arms:
        most = max(built.values())
        text = (
            f"{' and '.join(arms)} built {most:g} inputs per iteration inside the timer: that time is in "
            "both sides of a ratio and pulls it towards 1, or in one side only."
        )
        yield AuditFinding("preparation_in_timer", arms, {"prepared": most}, text)


def _unequal(
    rounds: Sequence[_Rounds], reference: str, policy: AuditPolicy
) -> Iterator[AuditFinding]:
    """Each arm against the reference, or against the first arm where the reference was not measured."""
    base = next((round_ for round_ in rounds if round_.arm == reference), rounds[0])
    for round_ in rounds:
        differing = {}
        for counter in sorted((set(round_.work) & set(base.work)) - {PREPARED}):
            ours, theirs = round_.rates(counter), base.rates(counter)
            for block in sorted(set(ours) & set(theirs)):
                a, b = ours[block], theirs[block]
                if abs(a - b) > policy.work_tolerance * max(abs(a), abs(b)):
                    differing[counter] = (a, b)
                    break
        if differing:
            said = ", ".join(
                f"{a:g} {counter} against {b:g}"
                for counter, (a, b) in differing.items()
            )
            text = (
                f"Per iteration {round_.arm} counted {said} of {base.arm}: they did not do the same work, so "
                "their times do not compare."
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
        _, moving = warm_samples(case, policy.warm)
        if moving:
            of = int(np.unique(case.launch).size)
            text = (
                f"{case.arm} was still moving in the second half of {len(moving)} of {of} launches: what is "
                "reported of it depends on when one looks."
            )
            yield AuditFinding(
                "unsteady", (case.arm,), {"launches": len(moving), "of": of}, text
            )


def mean_ratio(arm: CaseSamples, reference: CaseSamples) -> float | None:
    """Mean ÷ mean of everything timed, as a time ratio: what a protocol of means alone would report."""
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
