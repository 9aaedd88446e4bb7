"""Audits the protocol of every group of a job and withdraws verdicts it invalidates.

The findings are stored with the comparisons of their group, complete enough to be
computed again from stored samples (I16). The rules of an audit are in `stats.audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from paceline_contract.manifest import Manifest

from paceline_server.detect.facts import CaseIndex, JobFacts
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import AuditFindingOut, AuditOut
from paceline_server.ingest.cases import params_key
from paceline_server.stats import plain_words
from paceline_server.stats.audit import (
    METHOD,
    AuditFinding,
    AuditPolicy,
    audit,
    mean_ratio,
)
from paceline_server.stats.samples import CaseSamples


@dataclass(frozen=True)
class GroupAudit:
    """What was found in one group, with what it takes to find it again."""

    group: Group
    reference: str
    findings: tuple[AuditFinding, ...]
    items: Mapping[str, int]
    naive: str | None
    policy: AuditPolicy = field(default_factory=AuditPolicy)

    def defects(self, *arms: str) -> list[AuditFinding]:
        """The decisive findings that touch a figure made from these arms.

        Work is compared with the reference's. Of two other arms, one that did other work than the reference
        did other work than the second, too, or nobody knows: their figure is touched as well.
        """
        found = [
            finding
            for finding in self.findings
            if finding.decisive and finding.concerns(*arms)
        ]
        if len(arms) > 1 and self.reference not in arms:
            unequal = [
                finding
                for finding in self.findings
                if finding.name == "unequal_work" and finding not in found
            ]
            found += [
                finding for finding in unequal if not set(finding.arms).isdisjoint(arms)
            ]
        return found

    def too_few(self, *arms: str) -> str | None:
        """Why there is too little to decide about a figure made from these arms."""
        few = (
            finding
            for finding in self.findings
            if finding.name == "too_few" and finding.concerns(*arms)
        )
        return next((f"insufficient: {finding.text}" for finding in few), None)

    def why_not(self, *arms: str) -> str | None:
        """Why a figure made from these arms decides nothing, by name (the findings themselves are shown once,
        with the group); None when nothing speaks against it."""
        found = self.defects(*arms)
        if not found:
            return None
        names = list(dict.fromkeys(finding.name for finding in found))
        return f"the protocol has defects: {', '.join(names)}"

    def evidence(self) -> dict[str, Any]:
        """What a stored comparison keeps of it, as plain JSON."""
        return {
            "method": METHOD,
            "parameters": {"policy": asdict(self.policy), "items": dict(self.items)},
            "findings": [finding.as_dict() for finding in self.findings],
        }

    def out(self) -> AuditOut:
        return AuditOut(
            benchmark=self.group.benchmark,
            params=dict(self.group.params),
            findings=[
                AuditFindingOut(
                    name=finding.name,
                    arms=list(finding.arms),
                    text=finding.text,
                    decisive=finding.decisive,
                )
                for finding in self.findings
            ],
            naive=self.naive,
        )


@dataclass(frozen=True)
class Audits:
    """The audits of a job by group."""

    by_group: Mapping[tuple[str, str], GroupAudit]

    def of(self, group: Group) -> GroupAudit | None:
        """The audit of a group, None where nothing was measured."""
        return self.by_group.get((group.benchmark, params_key(group.params)))

    def why_not(self, group: Group, *arms: str) -> str | None:
        """As `GroupAudit.why_not`, for a group that may have none."""
        found = self.of(group)
        return None if found is None else found.why_not(*arms)

    def too_few(self, group: Group, *arms: str) -> str | None:
        """As `GroupAudit.too_few`, for a group that may have none."""
        found = self.of(group)
        return None if found is None else found.too_few(*arms)

    def rows(self) -> list[AuditOut]:
        """Groups in which something was found."""
        return [
            group_audit.out()
            for group_audit in self.by_group.values()
            if group_audit.findings
        ]


def audit_groups(
    manifest: Manifest, groups: Sequence[Group], index: CaseIndex, facts: JobFacts
) -> Audits:
    """Audit the primary metric of every group that was measured."""
    items: dict[tuple[str, str], dict[str, int]] = {}
    for case in facts.announced:
        if case.items_per_iteration is not None:
            key = (case.benchmark, params_key(case.params))
            items.setdefault(key, {})[case.arm] = case.items_per_iteration
    found: dict[tuple[str, str], GroupAudit] = {}
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        metric = benchmark.primary_metric
        found_of = [
            index.get(group.benchmark, group.params, metric, arm)
            for arm in benchmark.arms
        ]
        cases = [samples for samples in found_of if samples is not None]
        if not cases:
            continue
        key = (group.benchmark, params_key(group.params))
        meant = items.get(key, {})
        findings = tuple(audit(cases, benchmark.reference, meant))
        naive = (
            _naive(cases, benchmark.reference)
            if any(finding.decisive for finding in findings)
            else None
        )
        found[key] = GroupAudit(group, benchmark.reference, findings, meant, naive)
    return Audits(found)


def _naive(cases: Sequence[CaseSamples], reference: str) -> str | None:
    """`native 1.9× faster than fallback`, of every arm against the reference."""
    base = next((case for case in cases if case.arm == reference), None)
    if base is None:
        return None
    ratios = [
        (case.arm, mean_ratio(case, base)) for case in cases if case.arm != reference
    ]
    said = [
        f"{arm} {plain_words.describe_multiple(ratio)}"
        for arm, ratio in ratios
        if ratio is not None
    ]
    return f"{', '.join(said)} than {reference}" if said else None
