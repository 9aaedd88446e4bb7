"""Audits the protocol of every group of a job and withdraws verdicts it invalidates.

The findings are stored with the comparisons of their group, so that they can be recomputed from stored
samples (I16). The rules of an audit are in `stats.audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from paceline_contract.manifest import Manifest
from paceline_contract.params import params_key

from paceline_server.detect.facts import CaseIndex, JobFacts, JobRequest
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import AuditFindingOut, AuditOut
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
    """The audit findings of a group, with everything needed to recompute them."""

    group: Group
    reference: str
    findings: tuple[AuditFinding, ...]
    items: Mapping[str, int]
    naive: str | None
    policy: AuditPolicy = field(default_factory=AuditPolicy)
    witnesses: frozenset[str] = frozenset()
    """Counters that show what ran, on which arms need not agree."""

    def defects(self, *arms: str) -> list[AuditFinding]:
        """Return the decisive findings about these arms.

        Work is compared with the reference's only. If one of two other arms did different work than the
        reference, the two may differ as well, so the finding counts against both.
        """
        findings = [
            finding
            for finding in self.findings
            if finding.decisive and finding.concerns(*arms)
        ]
        if len(arms) > 1 and self.reference not in arms:
            unequal = [
                finding
                for finding in self.findings
                if finding.name == "unequal_work" and finding not in findings
            ]
            findings += [
                finding for finding in unequal if not set(finding.arms).isdisjoint(arms)
            ]
        return findings

    def too_few(self, *arms: str) -> str | None:
        """Return why there are too few samples to decide about these arms; None if there are enough."""
        few = (
            finding
            for finding in self.findings
            if finding.name == "too_few" and finding.concerns(*arms)
        )
        return next((f"insufficient: {finding.text}" for finding in few), None)

    def why_not(self, *arms: str) -> str | None:
        """Return why a figure of these arms decides nothing; None without defects. The findings are shown with the
        group."""
        names = list(dict.fromkeys(defect.name for defect in self.defects(*arms)))
        if not names:
            return None
        return f"the protocol has defects: {', '.join(names)}"

    def evidence(self) -> dict[str, Any]:
        """Return the audit as plain JSON, for a stored comparison."""
        return {
            "method": METHOD,
            "parameters": {
                "policy": asdict(self.policy),
                "items": dict(self.items),
                "witnesses": sorted(self.witnesses),
            },
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
        """Return the audit of a group; None if nothing was measured."""
        return self.by_group.get((group.benchmark, params_key(group.params)))

    def why_not(self, group: Group, *arms: str) -> str | None:
        """Return `GroupAudit.why_not` of a group that may have no audit."""
        audited = self.of(group)
        return None if audited is None else audited.why_not(*arms)

    def too_few(self, group: Group, *arms: str) -> str | None:
        """Return `GroupAudit.too_few` of a group that may have no audit."""
        audited = self.of(group)
        return None if audited is None else audited.too_few(*arms)

    def rows(self) -> list[AuditOut]:
        """Return groups with findings."""
        return [
            group_audit.out()
            for group_audit in self.by_group.values()
            if group_audit.findings
        ]


def audit_groups(
    manifest: Manifest,
    groups: Sequence[Group],
    index: CaseIndex,
    facts: JobFacts,
    request: JobRequest,
) -> Audits:
    """Audit the primary metric of every measured group."""
    items: dict[tuple[str, str], dict[str, int]] = {}
    for case in facts.announced:
        if case.items_per_iteration is not None:
            key = (case.benchmark, params_key(case.params))
            items.setdefault(key, {})[case.arm] = case.items_per_iteration
    audits: dict[tuple[str, str], GroupAudit] = {}
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        metric = benchmark.primary_metric
        samples_by_arm = [
            index.get(group.benchmark, group.params, metric, arm)
            for arm in benchmark.arms
        ]
        cases = [samples for samples in samples_by_arm if samples is not None]
        if not cases:
            continue
        key = (group.benchmark, params_key(group.params))
        expected_items = items.get(key, {})
        policy = request.audit_policy_of(cases)
        witnesses = benchmark.witness_counters
        findings = tuple(
            audit(
                cases, benchmark.reference, expected_items, policy, witnesses=witnesses
            )
        )
        naive = (
            _naive(cases, benchmark.reference)
            if any(finding.decisive for finding in findings)
            else None
        )
        audits[key] = GroupAudit(
            group,
            benchmark.reference,
            findings,
            expected_items,
            naive,
            policy,
            witnesses,
        )
    return Audits(audits)


def _naive(cases: Sequence[CaseSamples], reference: str) -> str | None:
    """Return the ratios of the means, as a naive protocol reports them: `native 1.9× faster than fallback`."""
    base = next((case for case in cases if case.arm == reference), None)
    if base is None:
        return None
    ratios = [
        (case.arm, mean_ratio(case, base)) for case in cases if case.arm != reference
    ]
    speeds = [
        f"{arm} {plain_words.describe_multiple(ratio)}"
        for arm, ratio in ratios
        if ratio is not None
    ]
    return f"{', '.join(speeds)} than {reference}" if speeds else None
