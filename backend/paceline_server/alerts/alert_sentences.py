"""Words alerts about arms from stored evidence (I16, I17). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from paceline_contract.params import params_text

from paceline_server.store.tables.decisions import Alert, Comparison, Finding

ArmEvidence = tuple[Finding, Comparison]


def title(comparison: Comparison, target_name: str) -> str:
    """`native slower than fallback: ledger_batch on host-1`."""
    demonstration = " (demonstration)" if comparison.demonstration else ""
    return (
        f"{comparison.arm} slower than {comparison.reference}: {comparison.benchmark} on {target_name}"
        f"{demonstration}"
    )


def headline(failing: Sequence[Comparison], of: int) -> str:
    """The worst of the failing comparisons, and how many of all points of the params fail."""
    worst = worst_comparison(failing)
    where = params_text(worst.params)
    text = str(worst.evidence["words"]) + (f" at {where}" if where else "")
    return text if of <= 1 else f"{text}; {len(failing)} of {of} points fail"


def worst_comparison(comparisons: Sequence[Comparison]) -> Comparison:
    """The slowest; of equal ones, that with the greatest id. `comparisons` must not be empty."""
    return max(
        comparisons, key=lambda comparison: (comparison.ratio or 0.0, comparison.id)
    )


def arm_explanation(
    alert: Alert, target_name: str, evidence: Sequence[ArmEvidence]
) -> str:
    """One paragraph: what was found, how sure it is, whether it was confirmed, and on what grounds."""
    by_role = {
        role: [comparison for finding, comparison in evidence if finding.role == role]
        for role in ("candidate", "confirmation", "recovery")
    }
    if not by_role["candidate"]:
        return f"{alert.title}: {alert.words}."
    parts = [
        _found_sentence(alert, target_name, worst_comparison(by_role["candidate"])),
        _rule_sentence(alert),
    ]
    if alert.demonstration:
        parts.append("The run was a demonstration: a knob changed the work on purpose.")
    parts.append(_confirmation_sentence(alert, by_role["confirmation"]))
    if by_role["recovery"]:
        last = by_role["recovery"][-1]
        parts.append(
            f"In a later run {alert.arm} was {last.evidence['words']} and the alert was closed."
        )
    return " ".join(parts)


def _found_sentence(alert: Alert, target_name: str, worst: Comparison) -> str:
    where = params_text(worst.params)
    at = f" at {where}" if where else ""
    statistic = worst.evidence["statistic"]
    p = statistic["p_slow"]
    return (
        f"On {target_name}, {alert.arm} took longer than {alert.reference} in {alert.benchmark}{at}: "
        f"{worst.evidence['words']}. {statistic['above_margin']} of {worst.blocks} paired blocks in "
        f"{worst.launches} launches were more than {worst.evidence['margin_percent']:g} % slower "
        f"(exact sign test p = {p:.2g}), and so were {statistic['launches_above']} of {worst.launches} "
        "launch medians."
    )


def _rule_sentence(alert: Alert) -> str:
    return f"Rule {alert.rule['name']}: {alert.rule['text']}"


def _confirmation_sentence(alert: Alert, confirmation: Sequence[Comparison]) -> str:
    failing = [
        comparison for comparison in confirmation if comparison.verdict == "fail"
    ]
    if failing:
        worst = worst_comparison(failing)
        return f"A second run in a new session, after a pause, confirmed it: {worst.evidence['words']}."
    texts: dict[str, str] = {
        "suspected": "It is not confirmed yet: the same revision is measured again in a new session.",
        "unconfirmed": "A second run in a new session did not confirm it.",
        "inconclusive": "A second run in a new session could not decide.",
    }
    return texts.get(alert.state, "It was not confirmed by a second run.")
