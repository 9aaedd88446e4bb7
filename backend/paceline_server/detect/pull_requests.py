"""Judges a pull request by one job: head against base, the head's gates, and its arms against their references.

All three questions are answered from the same interleaved launches, and their tests are one family, so that asking
more does not make a false alarm likelier. A case that was asked for and did not arrive keeps the job from passing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
from paceline_contract.manifest import Benchmark, Gate, Manifest
from paceline_contract.names import SidePairing
from paceline_contract.params import params_key

from paceline_server.detect.analyse import (
    Analysis,
    JudgedPair,
    MeasuredRevision,
    held_sentence,
    with_stopped,
    with_suppressed,
)
from paceline_server.detect.compare import control_false_discoveries
from paceline_server.detect.facts import JobIdentity, JobRequest, Look
from paceline_server.detect.reasons import join_reasons, reasons_of, verdict_of
from paceline_server.detect.revisions import ComparedRevisions, Revision
from paceline_server.detect.schemas import JobReportOut
from paceline_server.detect.unavailable import list_some

WITNESS_OF_BASE = "head declares another witness, and base's counts"


def analyse_pull_request(
    manifest: Manifest,
    base: Revision,
    head: Revision,
    identity: JobIdentity,
    *,
    request: JobRequest | None = None,
    look: Look | None = None,
) -> Analysis:
    """Judge the head by itself and against the base."""
    request, look = request or JobRequest(), look or Look()
    declared = manifest
    if base.manifest is not None:
        manifest = hold_to_base(manifest, base.manifest)
    compared = ComparedRevisions.of(manifest, base, head, request, look)
    # What blocks a verdict about one side blocks the whole job.
    alone = replace(
        MeasuredRevision.of(manifest, head.facts, request, look),
        blockers=compared.blockers,
    )
    pairs = control_false_discoveries([*compared.pairs, *alone.pairs], look)
    of_revisions = compared.rule(pairs[: len(compared.pairs)])
    of_arms = alone.rule(pairs[len(compared.pairs) :])
    report = _join_reports(
        compared.report(identity, of_revisions),
        alone.report(identity, of_arms),
        missing_sentence(alone),
    )
    report = _name_held_witnesses(report, declared, manifest)
    ruled = (*of_revisions, *of_arms)
    reasons = reasons_of(report)
    verdict = verdict_of(reasons)
    if verdict == "pass":
        _, slower = compared.verdict(report, of_revisions)
        reason = "; ".join(filter(None, (slower, _held(of_arms, report))))
    else:
        differing = "" if compared.blockers else compared.differences.sentence()
        reason = "; ".join(filter(None, (join_reasons(reasons, verdict), differing)))
    report, reason = with_stopped(report, reason, ruled, request, compared.cases)
    is_open = any(judged.decides and judged.pair.outcome.extendable for judged in ruled)
    return Analysis(
        report,
        ruled,
        verdict,
        with_suppressed(reason, report.suppressed),
        verdict == "inconclusive" and not compared.blockers and is_open,
        compared.blockers,
        compared.voids,
        compared.disturbance,
    )


def hold_to_base(head: Manifest, base: Manifest) -> Manifest:
    """Return head's manifest with the gates, rules, margins and witnesses of base beside its own, so that a pull request cannot
    loosen what it is judged by. What head does not have any more is left out."""
    pairing = SidePairing.of(base, head)
    gates = [_in_head(gate, pairing) for gate in base.gates]
    subjects = {gate.subject for gate in gates}
    # Of gates on one subject, the one with the most requirements applies: a new one must not take base's place.
    own_gates = [
        gate
        for gate in head.gates
        if gate in gates or not gate.requires or gate.subject not in subjects
    ]
    rules = [
        msgspec.structs.replace(
            rule,
            benchmark=pairing.benchmark_in_head(rule.benchmark),
            arms=[pairing.in_head(rule.benchmark, arm)[1] for arm in rule.arms],
        )
        for rule in base.arm_rules()
    ]
    return msgspec.structs.replace(
        head,
        gates=[
            *own_gates,
            *(
                gate
                for gate in gates
                if gate not in own_gates and _has_subject(head, gate)
            ),
        ],
        rules=[
            *(rule for rule in rules if rule.benchmark in head.benchmarks),
            *head.arm_rules(),
        ],
        benchmarks={
            name: _hold_benchmark(
                name, benchmark, base.benchmarks[pairing.benchmarks[name]], pairing
            )
            if name in pairing.benchmarks
            else benchmark
            for name, benchmark in head.benchmarks.items()
        },
    )


def _hold_benchmark(
    name: str, head: Benchmark, base: Benchmark, pairing: SidePairing
) -> Benchmark:
    """Return head's benchmark with the smaller margin, and with base's witnesses in the place of its own."""
    of_base = {
        arm: base.witnesses[pairing.in_base(name, arm)[1]]
        for arm in head.arms
        if pairing.in_base(name, arm)[1] in base.witnesses
    }
    margin = head.declared_margin_percent
    if base.margin_percent < head.margin_percent:
        margin = base.margin_percent
    return msgspec.structs.replace(
        head,
        declared_margin_percent=margin,
        witnesses={**head.witnesses, **of_base},
    )


def _name_held_witnesses(
    report: JobReportOut, head: Manifest, held: Manifest
) -> JobReportOut:
    """Return the report, saying of the arms whose witness head changed that base's counts. `held` is head's manifest
    held to base."""

    def is_changed(benchmark: str, arm: str) -> bool:
        own = head.benchmarks[benchmark].witnesses.get(arm)
        return own not in (None, held.benchmarks[benchmark].witnesses[arm])

    witnesses = [
        row.model_copy(update={"words": f"{row.words}; {WITNESS_OF_BASE}"})
        if is_changed(row.benchmark, row.arm)
        else row
        for row in report.witnesses
    ]
    return report.model_copy(update={"witnesses": witnesses})


def _in_head(gate: Gate, pairing: SidePairing) -> Gate:
    """Return a gate of base by the names of head."""
    if gate.benchmark is None or gate.arm is None:
        return gate
    benchmark, arm = pairing.in_head(gate.benchmark, gate.arm)
    return msgspec.structs.replace(gate, benchmark=benchmark, arm=arm)


def _has_subject(manifest: Manifest, gate: Gate) -> bool:
    """Return whether a manifest declares what a gate limits."""
    if gate.derived is not None:
        return any(
            derived.name == gate.derived
            and (gate.arm is None or gate.arm in derived.every_arm)
            for derived in manifest.derived
        )
    benchmark = manifest.benchmarks.get(gate.benchmark or "")
    return (
        benchmark is not None
        and gate.arm in benchmark.arms
        and gate.metric in benchmark.metrics
        and gate.params.keys() <= benchmark.params.keys()
    )


def missing_sentence(measured: MeasuredRevision) -> str | None:
    """Describe the cases that were asked for and are neither measured nor unavailable here; None without any."""
    there = {
        (case.benchmark, params_key(case.params), case.arm)
        for case in measured.facts.cases
        if case.value.size
    }
    asked_for = [
        (group, arm)
        for group in measured.groups
        for arm in measured.manifest.benchmarks[group.benchmark].arms
    ]
    missing = [
        f"{group.words()} {arm}"
        for group, arm in asked_for
        if (group.benchmark, params_key(group.params), arm) not in there
        and measured.circumstances.unavailable.why(group, arm) is None
    ]
    if not missing:
        return None
    return f"{len(missing)} of {len(asked_for)} cases not measured at head: {list_some(missing)}"


def _join_reports(
    compared: JobReportOut, alone: JobReportOut, missing: str | None
) -> JobReportOut:
    return compared.model_copy(
        update={
            "comparisons": [*compared.comparisons, *alone.comparisons],
            "derived": alone.derived,
            "gates": alone.gates,
            "audits": [*compared.audits, *alone.audits],
            "missing": missing,
        }
    )


def _held(of_arms: Sequence[JudgedPair], report: JobReportOut) -> str:
    """Describe how many comparisons of arms and gates hold; empty if the suite has neither rule nor gate."""
    deciding = [judged.pair for judged in of_arms if judged.decides]
    required = [gate for gate in report.gates if gate.level == "required"]
    return held_sentence(deciding, required) if deciding or required else ""
