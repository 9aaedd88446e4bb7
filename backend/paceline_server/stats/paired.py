"""Judges whether an arm is slower than its reference (stats/README.md §2).

A verdict rests on paired blocks of a single job (I11); an inconclusive one says why (I12). Exact sign test (Conover
§3.4), order-statistic interval (David & Nagaraja §7.1), Benjamini & Hochberg 1995 over a run, Bonferroni over
looks. Checks and conditions are applied in `detect/analyse.py`.

              blocks < 30 or launches < 3 ──────────────────────────▶ inconclusive (insufficient)
              p ≤ alpha(look) and launches say so as well ──────┬────▶ fail ── survives BH? ─no─▶ inconclusive
                    (above: beyond the margin and the extra)    │yes: fail
              upper < ln(1 + margin) − ln(1 + extra) ───────────▶ pass      (upper: of blocks, and of launches)
              else ─────────────────────────────────────────────▶ inconclusive (extendable if a look is left)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from paceline_contract.manifest import DEFAULT_MARGIN_PERCENT

from paceline_server.stats import constants
from paceline_server.stats.binomial import quantile_interval, upper_tail
from paceline_server.stats.blocks import PairedBlocks
from paceline_server.stats.launch_effect import LaunchEffect, median_variance
from paceline_server.stats.plain_words import (
    describe_ratio,
    direction_words,
    percent,
)
from paceline_server.stats.ranktests import benjamini_hochberg, shift_interval
from paceline_server.stats.samples import Interval, median

Verdict = Literal["pass", "fail", "inconclusive", "not_applicable"]
"""`not_applicable`: the target cannot run one of the arms."""
METHOD = "paired-sign-test/4"
SHARE_METHOD = "paired-sign-test/3"
"""The method before the noise between launches was estimated: four fifths of them had to agree, however they differed."""
BOUNDING_METHOD = "paired-sign-test/2"
"""The method before a pair's own blocks said how far a drift had parted its arms: all of the drift was demanded, and twice
as much for waiting."""
VOIDING_METHOD = "paired-sign-test/1"
"""The method before disturbances demanded an extra margin: they voided the job."""


@dataclass(frozen=True)
class PairPolicy:
    """Every number of a decision; stored with the finding so that it can be recomputed (I16)."""

    margin_percent: float = DEFAULT_MARGIN_PERCENT
    confidence: float = constants.INTERVAL_CONFIDENCE
    look_alpha: tuple[float, ...] = constants.LOOK_ALPHA
    launch_share: float = constants.LAUNCH_SHARE
    launch_certainty: float | None = constants.LAUNCH_CERTAINTY
    """None by a former method, for which only a share of the launches had to agree."""
    noisy_launch_certainty: float = constants.NOISY_LAUNCH_CERTAINTY
    launch_noise_share: float = constants.LAUNCH_NOISE_SHARE
    launch_effect_share: float = constants.LAUNCH_EFFECT_SHARE
    far_percent: float = constants.EARLY_EXTRA_PERCENT
    """Launches that all lie this far beyond the margin, or inside it, are sure whatever they differ by."""
    launch_noise: float = 0.0
    """How much launches differ by the job's pairs of this metric, a standard deviation in log units; 0: unknown."""
    min_blocks: int = constants.MIN_BLOCKS
    min_launches: int = constants.MIN_LAUNCHES
    false_discovery_q: float = constants.FALSE_DISCOVERY_Q
    unusable_share: float = constants.UNUSABLE_SHARE
    extra_percent: float = 0.0
    """The extra margin that a disturbance of the target demands, on both sides (`disturbance`)."""
    drift_percent: float = 0.0
    """The part of `extra_percent` that a drift demands: a pair whose arms did not drift apart need not clear it."""
    drift_confidence: float = constants.DRIFT_CONFIDENCE
    disturbed: str = ""
    """Such as `on a busy host`; empty without a disturbance."""

    @property
    def slower_from(self) -> float:
        """The log-ratio beyond which a block is slower."""
        return math.log1p(self.margin_percent / 100.0) + math.log1p(
            self.extra_percent / 100.0
        )

    @property
    def holds_below(self) -> float:
        """The whole interval of a pair that holds lies below this log-ratio."""
        return math.log1p(self.margin_percent / 100.0) - math.log1p(
            self.extra_percent / 100.0
        )

    @property
    def knows_noisy_launches(self) -> bool:
        """Whether launches differ much against the margin, by the other pairs of the job."""
        return self.is_noisy(self.launch_noise)

    def is_noisy(self, launch_noise: float) -> bool:
        """Check whether so much noise between launches dominates what a pair can say."""
        return launch_noise >= self.noisy_from

    @property
    def noisy_from(self) -> float:
        """How much launches may differ, in log units, before they dominate what a pair can say."""
        return self.launch_noise_share * math.log1p(self.margin_percent / 100.0)

    @property
    def slower_at_all_from(self) -> float:
        """The log-ratio beyond which the launches must be as sure of an effect as a look demands, where they decide."""
        part = self.launch_effect_share * math.log1p(self.margin_percent / 100.0)
        return part + math.log1p(self.extra_percent / 100.0)

    @property
    def margin_words(self) -> str:
        """`the 2 % margin`, with what a disturbance demands beyond it."""
        margin = f"the {self.margin_percent:g} % margin"
        if not self.extra_percent:
            return margin
        extra = f"{percent(self.extra_percent / 100.0)} more"
        return f"{margin} and the {extra} that are demanded {self.disturbed}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "look_alpha": list(self.look_alpha)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> PairPolicy:
        """Return the policy of a stored finding; unknown keys are ignored."""
        known = {"launch_certainty": None} | {
            name: stored[name] for name in cls.__dataclass_fields__ if name in stored
        }
        return cls(
            **{
                **known,
                "look_alpha": tuple(known.get("look_alpha", constants.LOOK_ALPHA)),
            }
        )


@dataclass(frozen=True)
class PairFilter:
    """A filter of the decision with its value and limit."""

    name: str
    value: float | None
    limit: float | None
    passed: bool
    text: str


@dataclass(frozen=True)
class PairVerdict:
    """The verdict on a pair. `ratio`, `lower` and `upper` are arm time ÷ reference time; `share_slower` is the
    fraction of blocks in which the arm took longer.

    `launch_noise`: how much its launches differ, a standard deviation in log units, None where that was not asked of
    them; `p_slow`: of the blocks, or of the launches where that is larger and they decide. `extra_percent`: what it had
    to clear beyond the margin; `extendable`: another batch may decide it; `insufficient`: too few blocks or launches
    for a verdict; `launches_needed`: how many launches would decide an inconclusive one, None where that is unknown or
    too many.
    """

    verdict: Verdict
    reason: str
    ratio: float | None
    lower: float | None
    upper: float | None
    share_slower: float | None
    p_slow: float | None
    launches: int
    blocks: int
    above_margin: int
    launches_above: int
    launch_ratios: tuple[float, ...]
    look: int
    insufficient: bool = False
    extendable: bool = False
    launches_needed: int | None = None
    extra_percent: float = 0.0
    launch_noise: float | None = None
    filters: tuple[PairFilter, ...] = field(default=())


def sign_test(d: np.ndarray[Any, Any], log_margin: float) -> tuple[int, float]:
    """Return (#{d > ln(1+m)}, P[Bin(N, ½) ≥ that number]); blocks exactly at the margin count as not slower."""
    above = int(np.count_nonzero(d > log_margin))
    return above, upper_tail(above, int(d.size))


def launch_medians(blocks: PairedBlocks) -> np.ndarray[Any, Any]:
    """Return the median log-ratio per launch, by launch number, shape (K,)."""
    return np.array(
        [
            median(blocks.d[blocks.launch == number])
            for number in np.unique(blocks.launch)
        ]
    )


def judge_pair(
    blocks: PairedBlocks, look: int = 0, policy: PairPolicy | None = None
) -> PairVerdict:
    """Judge a pair at a look (0, 1, 2) from all blocks so far; `control_run` then applies Benjamini–Hochberg."""
    policy = _spare_shared_drift(policy or PairPolicy(), blocks)
    n = int(blocks.d.size)
    medians = launch_medians(blocks)
    above, p_blocks = sign_test(blocks.d, policy.slower_from)
    launches = _LaunchEvidence.of(blocks, medians, policy)
    interval = launches.widen()
    facts = PairVerdict(
        verdict="inconclusive",
        reason="",
        ratio=math.exp(median(blocks.d)) if n else None,
        lower=None if interval.lower is None else math.exp(interval.lower),
        upper=None if interval.upper is None else math.exp(interval.upper),
        share_slower=float(np.count_nonzero(blocks.d > 0) / n) if n else None,
        p_slow=max(p_blocks, launches.p_decisive(policy)) if n else None,
        launches=int(medians.size),
        blocks=n,
        above_margin=above,
        launches_above=int(np.count_nonzero(medians > policy.slower_from)),
        launch_ratios=tuple(float(x) for x in np.exp(medians)),
        look=look,
        extra_percent=policy.extra_percent,
        launch_noise=launches.own_noise,
    )
    filters = (
        *_block_filters(facts, p_blocks, blocks, policy),
        *_launch_filters(facts, launches, blocks.unit, policy),
    )
    return _decide(
        replace(facts, filters=filters), interval, policy, blocks.unit, launches
    )


@dataclass(frozen=True)
class _LaunchEvidence:
    """What the launches of a pair say. Without an `effect` (by a former method, and of too few launches) only the share
    of launches that agree counts."""

    effect: LaunchEffect | None
    agree: bool
    """Whether enough of them are beyond the margin by their medians: four fifths; where they differ much all, and as surely
    as noisy launches must be, or far beyond it."""
    are_far: bool
    """Whether all of them lie on one side of the margin, farther from it than any bias of a launch that was measured."""
    pass_certainty: float
    by_blocks: Interval
    """The interval that the blocks alone give."""

    @classmethod
    def of(
        cls, blocks: PairedBlocks, medians: np.ndarray[Any, Any], policy: PairPolicy
    ) -> _LaunchEvidence:
        above = int(np.count_nonzero(medians > policy.slower_from))
        needed = _launches_that_must_agree(int(medians.size), policy)
        agree = 0 < needed <= above
        by_blocks = quantile_interval(blocks.d, 0.5, policy.confidence)
        if policy.launch_certainty is None or medians.size < policy.min_launches:
            return cls(None, agree, False, 0.0, by_blocks)
        far = math.log1p(policy.far_percent / 100.0)
        are_beyond = float(medians.min()) > policy.slower_from + far
        are_far = are_beyond or float(medians.max()) < policy.holds_below - far
        known = policy.knows_noisy_launches
        effect = LaunchEffect(
            medians[None, :],
            np.array([median_variance(blocks.d, blocks.launch, medians)]),
            policy.launch_noise if known else 0.0,
        )
        if policy.is_noisy(float(effect.noise[0])):
            p_inside = effect.p_at_most(policy.slower_from)
            is_sure = p_inside <= 1.0 - policy.noisy_launch_certainty
            agree = are_beyond or (above == medians.size and is_sure)
        return cls(
            effect,
            agree,
            are_far,
            policy.noisy_launch_certainty if known else policy.launch_certainty,
            by_blocks,
        )

    @property
    def own_noise(self) -> float | None:
        return None if self.effect is None else float(self.effect.own_noise[0])

    @property
    def noise(self) -> float:
        return 0.0 if self.effect is None else float(self.effect.noise[0])

    def p_decisive(self, policy: PairPolicy) -> float:
        """Return the probability, by the launches, that the arm is hardly slower; 0 where it is enough that so many of
        them agree."""
        if self.effect is None or self.agree:
            return 0.0
        return self.effect.p_at_most(policy.slower_at_all_from)

    def widen(self) -> Interval:
        """Return the interval of the blocks, at least as wide as that of the launches, unless those are far."""
        interval = self.by_blocks
        if self.effect is None or self.are_far:
            return interval
        if interval.lower is None or interval.upper is None:
            return interval
        middle = float(self.effect.middle[0])
        half = float(self.effect.half_width(self.pass_certainty)[0])
        return Interval(
            min(interval.lower, middle - half), max(interval.upper, middle + half)
        )


def _spare_shared_drift(policy: PairPolicy, blocks: PairedBlocks) -> PairPolicy:
    """Return the policy without the extra margin for a drift that both arms shared.

    Arms are measured within moments of each other in random order, so a drift of the target biases their ratio only as
    far as it parts them, and then their ratio moves during the job: by twice what its halves differ, if steadily. What
    comes in the middle and goes again leaves the halves alike, and parts the middle from both ends."""
    if not policy.drift_percent or blocks.d.size < policy.min_blocks:
        return policy
    d = blocks.d[np.lexsort((blocks.round, blocks.launch))]
    n = d.size
    middle = np.zeros(n, dtype=bool)
    middle[n // 4 : n - n // 4] = True
    parted = 2.0 * max(
        abs(end)
        for before, after in ((d[: n // 2], d[n // 2 :]), (d[~middle], d[middle]))
        for end in shift_interval(before, after, policy.drift_confidence)
    )
    drift = math.log1p(policy.drift_percent / 100.0)
    extra = math.log1p(policy.extra_percent / 100.0) - drift + min(drift, parted)
    return replace(policy, extra_percent=100.0 * math.expm1(extra))


def _block_filters(
    facts: PairVerdict, p_blocks: float, blocks: PairedBlocks, policy: PairPolicy
) -> tuple[PairFilter, ...]:
    """Return the filters of a decision; `passed` if the condition for judging, or for a slower verdict, holds."""
    alpha = _alpha(facts.look, policy)
    total = facts.blocks + blocks.dropped.unusable
    unusable_share = blocks.dropped.unusable / total if total else 0.0
    margin, bad = _limit_text(policy), direction_words(blocks.unit)[0]
    return (
        PairFilter(
            "blocks",
            facts.blocks,
            policy.min_blocks,
            facts.blocks >= policy.min_blocks,
            f"{facts.blocks} blocks were compared; a verdict needs {policy.min_blocks}.",
        ),
        PairFilter(
            "launches",
            facts.launches,
            policy.min_launches,
            facts.launches >= policy.min_launches,
            f"{facts.launches} launches were compared; a verdict needs {policy.min_launches}.",
        ),
        PairFilter(
            "unusable_share",
            unusable_share,
            policy.unusable_share,
            unusable_share <= policy.unusable_share,
            f"{blocks.dropped.unusable} of {total} blocks had a value that is not positive.",
        ),
        PairFilter(
            "sign_test",
            p_blocks if facts.blocks else None,
            alpha,
            facts.blocks > 0 and p_blocks <= alpha,
            f"{facts.above_margin} of {facts.blocks} blocks were more than {margin} {bad}; by chance "
            f"that happens with p = {_p(p_blocks if facts.blocks else None)}; at most {alpha:g} is called {bad} after {facts.look + 1} of {len(policy.look_alpha)} batches.",
        ),
    )


def _launch_filters(
    facts: PairVerdict, launches: _LaunchEvidence, unit: str, policy: PairPolicy
) -> Iterator[PairFilter]:
    """Yield what the launches must say for a slower verdict: where they differ little, or by a former method, that so
    many of them agree; else that there is an effect at all, as surely as the look demands. And the margin, less
    surely."""
    margin, bad = _limit_text(policy), direction_words(unit)[0]
    alpha, p_launches = _alpha(facts.look, policy), launches.p_decisive(policy)
    is_noisy = policy.is_noisy(launches.noise)
    needed = _launches_that_must_agree(facts.launches, policy)
    # Of launches that agree to the bit, so many as must say so; their effect has no error.
    weighs = is_noisy or 0.0 < p_launches <= alpha
    if launches.effect is None or launches.agree or not weighs:
        yield PairFilter(
            "launch_medians",
            facts.launches_above,
            needed,
            0 < needed <= facts.launches_above,
            f"{facts.launches_above} of {facts.launches} launches were more than {margin} {bad} by their "
            f"median; {needed} must be.",
        )
    else:
        yield PairFilter(
            "launch_effect",
            p_launches,
            alpha,
            p_launches <= alpha,
            f"As much as {facts.launches} launches differ, by {_noise_words(launches)}, it is at most "
            f"{percent(math.expm1(policy.slower_at_all_from))} {bad} with p = {_p(p_launches)}; at most {alpha:g} is "
            f"called {bad} after {facts.look + 1} of {len(policy.look_alpha)} batches.",
        )
    if launches.effect is None or launches.are_far or policy.launch_certainty is None:
        return
    certain = 1.0 - launches.effect.p_at_most(policy.slower_from)
    yield PairFilter(
        "launch_margin",
        certain,
        policy.launch_certainty,
        certain >= policy.launch_certainty,
        f"As much as its launches differ, by {_noise_words(launches)}, it is more than {margin} {bad} with a certainty of "
        f"{100.0 * certain:.3g} %; {100.0 * policy.launch_certainty:g} % are needed.",
    )


def _noise_words(launches: _LaunchEvidence) -> str:
    return percent(math.expm1(launches.noise))


def _p(p: float | None) -> str:
    return "n/a" if p is None else f"{p:.2g}"


def _alpha(look: int, policy: PairPolicy) -> float:
    """Return the alpha of a look; 0 beyond the last."""
    return policy.look_alpha[look] if look < len(policy.look_alpha) else 0.0


def _launches_that_must_agree(launches: int, policy: PairPolicy) -> int:
    return math.ceil(policy.launch_share * launches - 1e-9)


def _limit_text(policy: PairPolicy) -> str:
    """Return in words the ratio beyond which a block is slower: `2 %`, or `4.8 %` with the extra margin of a
    disturbance."""
    if not policy.extra_percent:
        return f"{policy.margin_percent:g} %"
    return percent(math.expm1(policy.slower_from))


def _decide(
    facts: PairVerdict,
    interval: Interval,
    policy: PairPolicy,
    unit: str,
    launches: _LaunchEvidence,
) -> PairVerdict:
    passed = {check.name: check.passed for check in facts.filters}
    has_more_looks = facts.look + 1 < len(policy.look_alpha)
    if not passed["unusable_share"]:
        return replace(
            facts,
            reason=next(
                check.text for check in facts.filters if check.name == "unusable_share"
            ),
        )
    if not (passed["blocks"] and passed["launches"]):
        return replace(
            facts,
            reason=_insufficient(facts, policy),
            insufficient=True,
            extendable=has_more_looks,
            launches_needed=_launches_for_enough(facts, policy),
        )
    bad = direction_words(unit)[0]
    disturbed = f", {policy.disturbed}" if policy.disturbed else ""
    launches_say_so = all(
        check.passed for check in facts.filters if check.name.startswith("launch_")
    )
    if passed["sign_test"] and launches_say_so:
        reason = (
            f"{bad}: {facts.above_margin} of {facts.blocks} blocks and {facts.launches_above} of "
            f"{facts.launches} launches are beyond {policy.margin_words} (p = {_p(facts.p_slow)})"
        )
        return replace(facts, verdict="fail", reason=reason)
    if interval.upper is not None and interval.upper < policy.holds_below:
        bound = describe_ratio(math.exp(interval.upper), unit)
        margin = f"the {policy.margin_percent:g} % margin"
        return replace(
            facts,
            verdict="pass",
            reason=f"not {bad}: at worst {bound}, inside {margin}{disturbed}",
        )
    if passed["sign_test"] and not passed.get("launch_medians", True):
        needed = _launches_that_must_agree(facts.launches, policy)
        reason = (
            f"only {facts.launches_above} of {facts.launches} launches are beyond {policy.margin_words}, "
            f"{needed} are needed"
        )
        launches_needed = _worth_naming(2 * facts.launches)
    else:
        upper = launches.by_blocks.upper
        if passed["sign_test"] or (upper is not None and upper < policy.holds_below):
            reason = (
                f"its launches differ too much to tell it from {policy.margin_words}"
            )
        elif policy.extra_percent:
            reason = f"the interval is not clear of {policy.margin_words}"
        else:
            reason = f"the interval crosses {policy.margin_words}"
        launches_needed = _launches_to_clear(facts, interval, policy, launches)
        if policy.extra_percent and launches_needed is None:
            # No launch undoes what a disturbance may have done.
            has_more_looks = False
    return replace(
        facts,
        reason=reason,
        extendable=has_more_looks,
        launches_needed=launches_needed,
    )


def _launches_for_enough(facts: PairVerdict, policy: PairPolicy) -> int | None:
    """Return how many launches have enough blocks; None if no block of any was usable."""
    if not facts.launches or not facts.blocks:
        return None
    per_launch = facts.blocks / facts.launches
    return _worth_naming(
        max(policy.min_launches, math.ceil(policy.min_blocks / per_launch))
    )


def _launches_to_clear(
    facts: PairVerdict,
    interval: Interval,
    policy: PairPolicy,
    launches: _LaunchEvidence,
) -> int | None:
    """Return how many launches make the interval clear its margin, and where the launches decide theirs, if they narrow
    by their square root around the ratio found.

    None where no number of launches decides: the ratio lies between the two bounds, or the launches disagree."""
    if facts.ratio is None or interval.lower is None or interval.upper is None:
        return None
    log_ratio = math.log(facts.ratio)
    if log_ratio > policy.slower_from:
        if (
            launches.effect is None
            and facts.launches_above < policy.launch_share * facts.launches
        ):
            # Its launches disagree, and more of them would as well.
            return None
        shares = [
            (log_ratio - interval.lower) / (log_ratio - policy.slower_from),
        ]
        if launches.effect is not None and not launches.agree:
            half = launches.effect.half_width(
                1.0 - policy.look_alpha[0], batches=len(policy.look_alpha)
            )
            shares.append(float(half[0]) / (log_ratio - policy.slower_at_all_from))
    elif log_ratio < policy.holds_below:
        shares = [(interval.upper - log_ratio) / (policy.holds_below - log_ratio)]
    else:
        return None
    times = max(1.0, *(share**2 for share in shares))
    return _worth_naming(math.ceil(constants.LAUNCHES_RESERVE * times * facts.launches))


def _worth_naming(launches: int) -> int | None:
    return launches if launches <= constants.LAUNCHES_WORTH_NAMING else None


def _insufficient(facts: PairVerdict, policy: PairPolicy) -> str:
    """Describe what was measured and what is missing."""
    missing = []
    if facts.blocks < policy.min_blocks:
        missing.append(_counted(policy.min_blocks - facts.blocks, "more block"))
    if facts.launches < policy.min_launches:
        missing.append(
            _counted(policy.min_launches - facts.launches, "more launch", "es")
        )
    measured = f"{_counted(facts.blocks, 'block')} in {_counted(facts.launches, 'launch', 'es')}"
    return (
        f"insufficient: {measured}; a verdict needs at least "
        f"{policy.min_blocks} blocks in {policy.min_launches} launches ({' and '.join(missing)})"
    )


def _counted(number: int, noun: str, ending: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else ending}"


def pool_launch_noise(outcomes: Sequence[PairVerdict]) -> float:
    """Return how much launches differ by the pairs of a metric, their median, in log units; 0 where too few say so.

    A median of few launches says little of how much they differ, but that of many pairs does. Pairs that stopped before
    all planned launches do not say it."""
    noises = [
        outcome.launch_noise for outcome in outcomes if outcome.launch_noise is not None
    ]
    return (
        float(np.median(noises)) if len(noises) >= constants.LAUNCH_NOISE_PAIRS else 0.0
    )


def control_run(
    verdicts: Sequence[PairVerdict],
    other_p_values: Sequence[float] = (),
    policy: PairPolicy | None = None,
) -> list[PairVerdict]:
    """Control the false discoveries of a run: a `fail` that does not survive BH becomes inconclusive.

    `other_p_values` are those of pairs in the run's other jobs, 1.0 for pairs that are not measured yet.
    """
    policy = policy or PairPolicy()
    p_values = [
        1.0 if verdict.p_slow is None or verdict.insufficient else verdict.p_slow
        for verdict in verdicts
    ]
    family = np.array([*p_values, *other_p_values], dtype=np.float64)
    discoveries = benjamini_hochberg(family, policy.false_discovery_q)
    largest = (
        float(family[discoveries].max())
        if discoveries.any()
        else policy.false_discovery_q / max(1, family.size)
    )
    controlled = []
    for verdict, survives in zip(verdicts, discoveries, strict=False):
        text = (
            f"Among the {family.size} pairs of this run, p ≤ {largest:.2g} keeps the expected share of false "
            f"verdicts at {policy.false_discovery_q:g}."
        )
        discovery_filter = PairFilter(
            "false_discovery", verdict.p_slow, largest, bool(survives), text
        )
        controlled_verdict = replace(
            verdict, filters=(*verdict.filters, discovery_filter)
        )
        if verdict.verdict == "fail" and not survives:
            has_more_looks = verdict.look + 1 < len(policy.look_alpha)
            controlled_verdict = replace(
                controlled_verdict,
                verdict="inconclusive",
                reason=f"it does not stand out among the {family.size} pairs of this run",
                extendable=has_more_looks,
                launches_needed=_worth_naming(2 * verdict.launches),
            )
        controlled.append(controlled_verdict)
    return controlled
