"""The arm verdict: is one implementation slower than its reference? (STATISTICS §2)

I11, I12: decided from paired blocks of one job only; three values, and an undecided
verdict says why and what it would need. Exact sign test (Conover §3.4), order-statistic
interval (David & Nagaraja §7.1), Benjamini & Hochberg 1995 over a run, Bonferroni over
looks. Checks and conditions are applied in `detect/analyse.py`.

              blocks < 30 or launches < 3 ──────────────────────────▶ inconclusive (insufficient)
              p ≤ alpha(look) and ≥ ceil(0.8·K) launches above ─┬────▶ fail ── survives BH? ─no─▶ inconclusive
                                                                │yes: fail
              upper < ln(1 + margin) ───────────────────────────▶ pass
              else ─────────────────────────────────────────────▶ inconclusive (extendable while a look is
              left)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from paceline_contract.manifest import DEFAULT_MARGIN_PERCENT

from paceline_server.stats import constants
from paceline_server.stats.binomial import quantile_interval, upper_tail
from paceline_server.stats.blocks import PairedBlocks
from paceline_server.stats.plain_words import describe_ratio, direction_words
from paceline_server.stats.ranktests import benjamini_hochberg
from paceline_server.stats.samples import median

Verdict = Literal["pass", "fail", "inconclusive", "not_applicable"]
"""`not_applicable`: the target cannot run one of the arms; neither a defect nor a reason to doubt."""
METHOD = "paired-sign-test/1"


@dataclass(frozen=True)
class PairPolicy:
    """Every number of one decision; stored with the finding, so that it can be made again (I16)."""

    margin_percent: float = DEFAULT_MARGIN_PERCENT
    confidence: float = constants.INTERVAL_CONFIDENCE
    look_alpha: tuple[float, ...] = constants.LOOK_ALPHA
    launch_share: float = constants.LAUNCH_SHARE
    min_blocks: int = constants.MIN_BLOCKS
    min_launches: int = constants.MIN_LAUNCHES
    false_discovery_q: float = constants.FALSE_DISCOVERY_Q
    unusable_share: float = constants.UNUSABLE_SHARE

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "look_alpha": list(self.look_alpha)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> PairPolicy:
        """The policy a stored finding was made with; unknown keys are ignored."""
        known = {
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
    """One filter of the decision with its number and limit."""

    name: str
    value: float | None
    limit: float | None
    passed: bool
    text: str


@dataclass(frozen=True)
class PairVerdict:
    """`ratio`, `lower`, `upper` = arm time ÷ reference time. `share_slower`: blocks in which the arm took
    longer.

    `extendable`: another batch may decide it; `insufficient`: fewer blocks or launches than any verdict
    needs.
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
    filters: tuple[PairFilter, ...] = field(default=())


def sign_test(d: np.ndarray[Any, Any], log_margin: float) -> tuple[int, float]:
    """(#{d > ln(1+m)}, P[Bin(N, ½) ≥ that]); blocks exactly at the margin count as not slower."""
    above = int(np.count_nonzero(d > log_margin))
    return above, upper_tail(above, int(d.size))


def launch_medians(blocks: PairedBlocks) -> np.ndarray[Any, Any]:
    """Median log-ratio per launch, ascending launch number, shape (K,)."""
    return np.array(
        [
            median(blocks.d[blocks.launch == number])
            for number in np.unique(blocks.launch)
        ]
    )


def judge_pair(
    blocks: PairedBlocks, look: int = 0, policy: PairPolicy | None = None
) -> PairVerdict:
    """Judge one pair at one look (0, 1, 2) from all blocks gathered so far; BH follows in `control_run`."""
    policy = policy or PairPolicy()
    n = int(blocks.d.size)
    log_margin = math.log1p(policy.margin_percent / 100.0)
    medians = launch_medians(blocks)
    above, p_slow = sign_test(blocks.d, log_margin)
    interval = quantile_interval(blocks.d, 0.5, policy.confidence)
    facts = PairVerdict(
        verdict="inconclusive",
        reason="",
        ratio=math.exp(median(blocks.d)) if n else None,
        lower=None if interval.lower is None else math.exp(interval.lower),
        upper=None if interval.upper is None else math.exp(interval.upper),
        share_slower=float(np.count_nonzero(blocks.d > 0) / n) if n else None,
        p_slow=p_slow if n else None,
        launches=int(medians.size),
        blocks=n,
        above_margin=above,
        launches_above=int(np.count_nonzero(medians > log_margin)),
        launch_ratios=tuple(float(x) for x in np.exp(medians)),
        look=look,
    )
    facts = replace(facts, filters=_filters(facts, blocks, policy))
    return _decide(facts, interval.upper, log_margin, policy, blocks.unit)


def _filters(
    facts: PairVerdict, blocks: PairedBlocks, policy: PairPolicy
) -> tuple[PairFilter, ...]:
    """The numbers beside their limits; `passed` = the condition for a slower verdict (or for judging)
    holds."""
    alpha = _alpha(facts.look, policy)
    needed = _launches_needed(facts.launches, policy)
    total = facts.blocks + blocks.dropped.unusable
    lost = blocks.dropped.unusable / total if total else 0.0
    margin, bad = f"{policy.margin_percent:g} %", direction_words(blocks.unit)[0]
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
            lost,
            policy.unusable_share,
            lost <= policy.unusable_share,
            f"{blocks.dropped.unusable} of {total} blocks had a value that is not positive.",
        ),
        PairFilter(
            "sign_test",
            facts.p_slow,
            alpha,
            facts.p_slow is not None and facts.p_slow <= alpha,
            f"{facts.above_margin} of {facts.blocks} blocks were more than {margin} {bad}; by chance "
            f"that happens with p = {_p(facts.p_slow)}, and look {facts.look + 1} may spend {alpha:g}.",
        ),
        PairFilter(
            "launch_medians",
            facts.launches_above,
            needed,
            0 < needed <= facts.launches_above,
            f"{facts.launches_above} of {facts.launches} launches were more than {margin} {bad} by their "
            f"median; {needed} must be.",
        ),
    )


def _p(p: float | None) -> str:
    return "n/a" if p is None else f"{p:.2g}"


def _alpha(look: int, policy: PairPolicy) -> float:
    """What this look may spend; a look beyond the last has nothing left."""
    return policy.look_alpha[look] if look < len(policy.look_alpha) else 0.0


def _launches_needed(launches: int, policy: PairPolicy) -> int:
    return math.ceil(policy.launch_share * launches - 1e-9)


def _decide(
    facts: PairVerdict,
    log_upper: float | None,
    log_margin: float,
    policy: PairPolicy,
    unit: str,
) -> PairVerdict:
    held = {check.name: check.passed for check in facts.filters}
    more = facts.look + 1 < len(policy.look_alpha)
    if not held["unusable_share"]:
        return replace(
            facts,
            reason=next(f.text for f in facts.filters if f.name == "unusable_share"),
        )
    if not (held["blocks"] and held["launches"]):
        return replace(
            facts,
            reason=_insufficient(facts, policy),
            insufficient=True,
            extendable=more,
        )
    margin, bad = f"{policy.margin_percent:g} %", direction_words(unit)[0]
    if held["sign_test"] and held["launch_medians"]:
        reason = (
            f"{bad}: {facts.above_margin} of {facts.blocks} blocks and {facts.launches_above} of "
            f"{facts.launches} launches are beyond the {margin} margin (p = {_p(facts.p_slow)})"
        )
        return replace(facts, verdict="fail", reason=reason)
    if log_upper is not None and log_upper < log_margin:
        bound = describe_ratio(math.exp(log_upper), unit)
        return replace(
            facts,
            verdict="pass",
            reason=f"not {bad}: at worst {bound}, inside the {margin} margin",
        )
    if held["sign_test"]:
        reason = (
            f"undecided: only {facts.launches_above} of {facts.launches} launches are beyond the {margin} "
            f"margin, {_launches_needed(facts.launches, policy)} are needed"
        )
    else:
        reason = f"undecided: the interval crosses the {margin} margin"
    reason += "; another batch may decide" if more else " after the last look"
    return replace(facts, reason=reason, extendable=more)


def _insufficient(facts: PairVerdict, policy: PairPolicy) -> str:
    """Names what is there and what is missing."""
    missing = []
    if facts.blocks < policy.min_blocks:
        missing.append(f"{policy.min_blocks - facts.blocks} more blocks")
    if facts.launches < policy.min_launches:
        missing.append(f"{policy.min_launches - facts.launches} more launches")
    return (
        f"insufficient: {facts.blocks} blocks in {facts.launches} launches; a verdict needs at least "
        f"{policy.min_blocks} blocks in {policy.min_launches} launches ({' and '.join(missing)})"
    )


def control_run(
    verdicts: Sequence[PairVerdict],
    other_p_values: Sequence[float] = (),
    policy: PairPolicy | None = None,
) -> list[PairVerdict]:
    """Hold the false discoveries of a whole run: a `fail` that does not survive BH becomes inconclusive.

    `other_p_values`: of the run's pairs judged elsewhere (other jobs); give 1.0 for those not measured yet.
    """
    policy = policy or PairPolicy()
    own = [1.0 if v.p_slow is None or v.insufficient else v.p_slow for v in verdicts]
    family = np.array([*own, *other_p_values], dtype=np.float64)
    found = benjamini_hochberg(family, policy.false_discovery_q)
    largest = (
        float(family[found].max())
        if found.any()
        else policy.false_discovery_q / max(1, family.size)
    )
    controlled = []
    for verdict, survives in zip(verdicts, found, strict=False):
        text = (
            f"Among the {family.size} pairs of this run, p ≤ {largest:.2g} keeps the expected share of false "
            f"verdicts at {policy.false_discovery_q:g}."
        )
        one = PairFilter(
            "false_discovery", verdict.p_slow, largest, bool(survives), text
        )
        kept = replace(verdict, filters=(*verdict.filters, one))
        if verdict.verdict == "fail" and not survives:
            more = verdict.look + 1 < len(policy.look_alpha)
            p = _p(verdict.p_slow)
            reason = f"undecided: p = {p} does not stand out among {family.size} pairs of this run"
            kept = replace(kept, verdict="inconclusive", reason=reason, extendable=more)
        controlled.append(kept)
    return controlled
