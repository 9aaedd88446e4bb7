"""Words a table of comparisons or a distribution in one sentence (I17). Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from paceline_contract.manifest import Benchmark, Rule

from paceline_server.detect.schemas import ComparisonOut
from paceline_server.reports.schemas import ArmDistributionOut, FalseAlarmsOut
from paceline_server.stats import constants
from paceline_server.stats.plain_words import (
    describe_ratio,
    direction_words,
    percent,
    quantity,
)

LEAST_OPENED = 5
"""alerts; a share of fewer says more about chance than about us."""
TARGETS_NAMED = 3
"""Targets a sentence names; more would not be read."""


def rule_text(rules: Sequence[Rule], benchmark: Benchmark) -> str:
    """The rule with its numbers."""
    head = " ".join(rule.text for rule in rules) or "No rule watches this benchmark."
    on_devices = benchmark.on("device")
    reference = _both(benchmark.reference, on_devices.reference)
    margin = _both(
        f"{benchmark.margin_percent:g} %", f"{on_devices.margin_percent:g} %"
    )
    return (
        f"{head} An arm is called slower than {reference} when so many of its paired blocks are "
        f"more than {margin} slower that chance explains it at most once in "
        f"{1 / sum(constants.LOOK_ALPHA):,.0f} jobs, and so are the medians of at least "
        f"{constants.LAUNCH_SHARE * 100:g} % of the launches; it passes when the whole "
        f"{constants.INTERVAL_CONFIDENCE * 100:g} % interval is inside that margin."
    )


def _both(host: str, device: str) -> str:
    """`2 % (on devices 3 %)`; one of them where they are the same."""
    return host if host == device else f"{host} (on devices {device})"


def arms_summary(
    comparisons: Sequence[ComparisonOut],
    unit: str,
    simulated: Collection[str] = frozenset(),
) -> str:
    """`On host-1 native is faster than fallback at all 4 points (42.1 % to 66.2 % faster).` All of one metric
    in `unit`. `simulated`: ids of simulated targets, of which nothing is said unless nothing real was
    compared."""
    if not comparisons:
        return "Nothing has been compared yet."
    real = [
        comparison
        for comparison in comparisons
        if comparison.target_id not in simulated
    ]
    if not real:
        return f"Only simulated targets were compared: {_arms_on(comparisons, unit)}."
    text = _arms_on(real, unit)
    return text[0].upper() + text[1:] + "."


def _arms_on(comparisons: Sequence[ComparisonOut], unit: str) -> str:
    clauses = []
    keyed = sorted(
        comparisons,
        key=lambda comparison: (comparison.target_name or "", comparison.arm),
    )
    for (target, arm), rows in groupby(
        keyed, key=lambda one: (one.target_name or "", one.arm)
    ):
        group = list(rows)
        clauses.append(f"on {target} {arm} {_clause(group[0].reference, group, unit)}")
    shown, rest = clauses[:TARGETS_NAMED], len(clauses) - TARGETS_NAMED
    return "; ".join(shown) + (f"; and {rest} more" if rest > 0 else "")


def _clause(reference: str, group: Sequence[ComparisonOut], unit: str) -> str:
    faster = [
        comparison
        for comparison in group
        if comparison.upper is not None
        and comparison.upper < 1.0
        and comparison.verdict == "pass"
    ]
    slower = [comparison for comparison in group if comparison.verdict == "fail"]
    same = [
        comparison
        for comparison in group
        if comparison.verdict == "pass" and comparison not in faster
    ]
    elsewhere = [
        comparison for comparison in group if comparison.verdict == "not_applicable"
    ]
    parts = []
    bad, good = direction_words(unit)
    for found, word in ((slower, bad), (faster, good), (same, f"no {bad}")):
        if found:
            spread = "" if found is same else _span(found, word, unit)
            parts.append(f"{word} than {reference} at {_points(found, group)}{spread}")
    undecided = len(group) - len(slower) - len(faster) - len(same) - len(elsewhere)
    if undecided:
        parts.append(f"undecided at {_count(undecided, len(group))}")
    if elsewhere:
        parts.append(f"not available at {_count(len(elsewhere), len(group))}")
    return "is " + ", ".join(parts)


def _points(found: Sequence[ComparisonOut], group: Sequence[ComparisonOut]) -> str:
    return _count(len(found), len(group))


def _count(number: int, of: int) -> str:
    if number == of:
        return "its one point" if of == 1 else f"all {of} points"
    return f"{number} of {of} points"


def _span(found: Sequence[ComparisonOut], word: str, unit: str) -> str:
    """The extremes of ratios on one side of 1, in words."""
    ratios = sorted(
        comparison.ratio for comparison in found if comparison.ratio is not None
    )
    if not ratios:
        return ""
    if len(ratios) == 1:
        return f" ({describe_ratio(ratios[0], unit)})"
    low, high = sorted(abs(ratio - 1.0) for ratio in (ratios[0], ratios[-1]))
    return f" ({percent(low)} to {percent(high)} {word})"


def false_alarms(days: int, states: Mapping[str, int]) -> FalseAlarmsOut:
    """Our own false alarms of a period, by the states of the alerts that were opened in it."""
    opened, vanished, invalid = (
        sum(states.values()),
        states.get("vanished", 0),
        states.get("invalid", 0),
    )
    wrong = vanished + invalid
    share = wrong / opened if opened >= LEAST_OPENED else None
    if not opened:
        words = f"No alert was opened in the last {days} days."
    else:
        rate = f" ({percent(share)})" if share is not None else ", too few for a share"
        words = (
            f"{wrong} of {opened} alerts opened in the last {days} days were false{rate}: {vanished} "
            f"vanished, {invalid} were called invalid."
        )
    return FalseAlarmsOut(
        days=days,
        opened=opened,
        vanished=vanished,
        invalid=invalid,
        share=share,
        words=words,
    )


_DID = {
    "save": "saved {}",
    "delete": "deleted {}",
    "mute": "muted {}",
    "unmute": "ended the mute of {}",
    "create": "made {}",
    "revoke": "revoked {}",
    "retire": "retired {}",
    "restore": "restored {}",
    "bulk": "decided about several alerts at once ({})",
    "undo": "took back {}",
    "acknowledge": "acknowledged {}",
    "reopen": "opened {} again",
    "note": "remarked on {}",
    "assign": "assigned {}",
    "due": "set the due date of {}",
    "issue": "linked an issue to {}",
    "fixed": "called {} fixed",
    "expected": "called {} expected",
    "invalid": "called {} invalid",
    "infra": "called {} infrastructure",
    "schedule.create": "made {}",
    "schedule.change": "changed {}",
    "schedule.remove": "removed {}",
    "target.maintenance_on": "put {} into maintenance",
    "target.maintenance_off": "gave {} free again",
    "target.quarantine": "put {} into quarantine",
    "target.release": "released {} from quarantine",
    "import.create": "stored {}",
    "import.remove": "forgot {}",
    "bisect": "asked for the commit behind {}",
    "target.recheck": "asked for a check of {}",
    "target.reboot": "asked for a restart of {}",
}


def audited(actor: str, action: str, object_kind: str, name: str) -> str:
    """`Ada muted rule ledger.`"""
    what = f"{object_kind.replace('_', ' ')} {name}"
    return f"{actor} {_DID.get(action, action + ' {}').format(what)}."


def distribution_summary(
    arms: Sequence[ArmDistributionOut],
    unit: str,
    bounds: Mapping[str, tuple[float, float]],
    reference: str,
) -> str:
    """Medians side by side, and whether the samples overlap; `bounds`: smallest and largest sample per
    arm."""
    if not arms:
        return "Nothing was measured here."
    parts = [
        f"half of {arm.arm}'s {arm.n} samples are at or below {quantity(arm.median, unit)}"
        for arm in arms
    ]
    text = " and ".join(parts) if len(parts) < 3 else "; ".join(parts)
    other = next((arm.arm for arm in arms if arm.arm != reference), None)
    if len(arms) == 2 and other is not None and reference in bounds:
        (low, high), (ref_low, ref_high) = bounds[other], bounds[reference]
        apart = high < ref_low or ref_high < low
        text += f"; the outer 1 % on each side aside, the two {'do not ' if apart else ''}overlap"
    return text[0].upper() + text[1:] + "."
