"""Writes sentences about comparisons, distributions, false alarms and audit entries (I17)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from paceline_contract.manifest import Benchmark, Rule
from paceline_contract.units import quantity

from paceline_server.detect.schemas import ComparisonOut
from paceline_server.reports.schemas import (
    ArmDistributionOut,
    FalseAlarmsOut,
    SinceList,
)
from paceline_server.stats import constants
from paceline_server.stats.plain_words import (
    describe_ratio,
    direction_words,
    percent,
)

LEAST_OPENED = 5
"""No share is given of fewer alerts than this, because it would reflect chance."""
TARGETS_NAMED = 3
"""A sentence names at most this many targets."""


def rule_text(rules: Sequence[Rule], benchmark: Benchmark) -> str:
    """Return the text of the rules, and the decision rule with its numbers."""
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
        f"{constants.LAUNCH_SHARE * 100:g} % of the launches, or where launches differ much their effect; it passes when "
        f"the whole {constants.INTERVAL_CONFIDENCE * 100:g} % interval is inside that margin."
    )


def _both(host: str, device: str) -> str:
    """Return both limits in words, such as `2 % (on devices 3 %)`, or one if they are equal."""
    return host if host == device else f"{host} (on devices {device})"


def arms_summary(
    comparisons: Sequence[ComparisonOut],
    unit: str,
    simulated: Collection[str] = frozenset(),
) -> str:
    """Return a summary such as `On host-1 native is faster than fallback at all 4 points (42.1 % to 66.2 % faster).`
    All comparisons are of one metric in `unit`. Targets in `simulated` are left out unless all are simulated."""
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

    def place(comparison: ComparisonOut) -> tuple[str, str]:
        return comparison.target_name or "", comparison.arm

    for (target, arm), rows in groupby(sorted(comparisons, key=place), key=place):
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
    slower = [
        comparison
        for comparison in group
        if comparison.verdict == "fail" and comparison.witness != "fail"
    ]
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
    for comparisons, word in ((slower, bad), (faster, good), (same, f"no {bad}")):
        if comparisons:
            spread = "" if comparisons is same else _span(comparisons, word, unit)
            parts.append(
                f"{word} than {reference} at {_count(len(comparisons), len(group))}{spread}"
            )
    inconclusive = len(group) - len(slower) - len(faster) - len(same) - len(elsewhere)
    if inconclusive:
        parts.append(f"inconclusive at {_count(inconclusive, len(group))}")
    if elsewhere:
        parts.append(f"not available at {_count(len(elsewhere), len(group))}")
    return "is " + ", ".join(parts)


def _count(number: int, of: int) -> str:
    if number == of:
        return {1: "its one point", 2: "both points"}.get(of, f"all {of} points")
    return f"{number} of {of} points"


def _span(comparisons: Sequence[ComparisonOut], word: str, unit: str) -> str:
    """Return the smallest and largest difference from 1 in words."""
    ratios = sorted(
        comparison.ratio for comparison in comparisons if comparison.ratio is not None
    )
    if not ratios:
        return ""
    if len(ratios) == 1:
        return f" ({describe_ratio(ratios[0], unit)})"
    low, high = sorted(abs(ratio - 1.0) for ratio in (ratios[0], ratios[-1]))
    return f" ({percent(low)} to {percent(high)} {word})"


def false_alarms(
    days: int, since: datetime, states: Mapping[str, int]
) -> FalseAlarmsOut:
    """Return the false alarms of a period, from the states of the alerts that opened in it."""
    opened = sum(states.values())
    vanished, invalid = states.get("vanished", 0), states.get("invalid", 0)
    wrong = vanished + invalid
    share = wrong / opened if opened >= LEAST_OPENED else None
    if not opened:
        words = f"No alert was opened in the last {days} days; demonstrations and simulated targets do not count."
    else:
        rate = f" ({percent(share)})" if share is not None else ", too few for a share"
        words = (
            f"{wrong} of {opened} alerts opened in the last {days} days were false{rate}: {vanished} "
            f"vanished, {invalid} called invalid."
        )
    return FalseAlarmsOut(
        days=days,
        since=since,
        opened=opened,
        vanished=vanished,
        invalid=invalid,
        share=share,
        words=words,
    )


_NEW = {
    "changes": ("change", "changes"),
    "flips": ("flipped verdict", "flipped verdicts"),
    "alerts": ("new alert", "new alerts"),
    "runs": ("failed run", "failed runs"),
}


def since_sentence(counts: Mapping[SinceList, int], more: Collection[SinceList]) -> str:
    """Return a summary such as `2 changes, 1 flipped verdict, no new alerts, 20 or more failed runs.`"""
    if not any(counts.values()):
        return "No changes, no flipped verdicts, no new alerts, no failed runs."
    parts = []
    for name, count in counts.items():
        one, several = _NEW[name]
        number = f"{count} or more" if name in more else str(count or "no")
        parts.append(f"{number} {one if count == 1 else several}")
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


_DONE = {
    "set": "gave {} a role",
    "change": "changed {}",
    "remove": "removed {}",
    "grant": "shared {} with the project",
    "withdraw": "took {} from the project",
    "disable": "disabled {}",
    "enable": "enabled {}",
    "invite": "invited {}",
    "revoke_invitation": "withdrew the invitation of {}",
    "sign_in": "signed in as {}",
    "end_sessions": "ended sessions of {}",
    "set_password": "set the password of {}",
    "reset_link": "made a link that sets the password of {}",
    "promote": "made {} an admin of the installation",
    "demote": "made {} an admin of the installation no more",
    "break_glass": "let in {} from the server's shell",
    "save": "saved {}",
    "delete": "deleted {}",
    "mute": "muted {}",
    "unmute": "ended the mute of {}",
    "create": "made {}",
    "revoke": "revoked {}",
    "enrol": "let in {}",
    "rotate": "asked for a new credential of {}",
    "rotated": "replaced the credential of {}",
    "regrant": "changed what is granted to {}",
    "limit_silence": "changed how long {} may be silent",
    "claim.move": "moved {} to another agent",
    "claim.dismiss": "kept {} with its agent",
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
    "suite.claim_refused": "refused the name of {} to another repository",
    "schedule.create": "made {}",
    "schedule.change": "changed {}",
    "schedule.remove": "removed {}",
    "target.maintenance_on": "put {} into maintenance",
    "target.maintenance_off": "gave {} free again",
    "target.quarantine": "put {} into quarantine",
    "target.release": "released {} from quarantine",
    "import.create": "stored {}",
    "import.remove": "forgot {}",
    "rotate_key": "gave {} a new key",
    "test": "sent a test to {}",
    "redeliver": "asked for another delivery to {}",
    "bisect": "asked for the commit behind {}",
    "target.recheck": "asked for a check of {}",
    "target.reboot": "asked for a restart of {}",
}


def audit_sentence(actor: str, action: str, object_kind: str, name: str) -> str:
    """Return an audit entry in words, such as `Ada muted rule ledger.`"""
    what = f"{object_kind.replace('_', ' ')} {name}"
    return f"{actor} {_DONE.get(action, action + ' {}').format(what)}."


def distribution_summary(
    arms: Sequence[ArmDistributionOut],
    unit: str,
    bounds: Mapping[str, tuple[float, float]],
    reference: str,
) -> str:
    """Return a sentence with the medians of the arms and whether their samples overlap; `bounds` is the range of each
    arm's samples without the outer 1 %."""
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
