"""Judges a job of two revisions that left out the benchmarks which are the same on both sides.

Such a benchmark has one digest at base and at head: its built files, command, environment and declarations are equal,
so that it cannot have become slower. It is no missing case, its gates are not judged, and the report names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import msgspec
from paceline_contract.manifest import Expected, Manifest

from paceline_server.detect.analyse import Analysis, with_suppressed
from paceline_server.detect.facts import JobRequest
from paceline_server.detect.reasons import reasons_of, verdict_of
from paceline_server.detect.revisions import Revision
from paceline_server.detect.schemas import UnaffectedOut
from paceline_server.detect.unavailable import list_some

NAMED = 20
"""Benchmarks that the sentence names; a suite may have 500."""
WHY = "built files, command, environment and declarations have the digest of base"


def analyse_affected(
    manifest: Manifest,
    sides: tuple[Revision, Revision],
    request: JobRequest,
    unaffected: Mapping[str, str],
    analyse: Callable[[Manifest, Revision, JobRequest], Analysis],
    *,
    judges_gates: bool,
) -> Analysis:
    """Judge with `analyse` what was measured, and add what did not have to be. `sides`: base and head. `unaffected`:
    digests by the names of head, whose manifest this is."""
    base, head = sides
    at_base = base.manifest or manifest
    requested = (
        dict.fromkeys([*manifest.benchmarks, *at_base.benchmarks])
        if request.benchmarks is None
        else request.benchmarks
    )
    left_out = {name: unaffected[name] for name in requested if name in unaffected}
    if not left_out:
        return analyse(manifest, base, request)
    rest = [name for name in requested if name not in left_out]
    judged = manifest
    if _workloads(manifest, left_out) - _workloads(manifest, rest):
        # A check of the whole suite that neither side reported belongs to a workload that was not launched.
        reported = {check.name for side in (base, head) for check in side.facts.checks}
        judged = _expecting(manifest, reported)
        base = replace(base, manifest=_expecting(at_base, reported))
    analysis = analyse(judged, base, replace(request, benchmarks=rest))
    gates = _count_gates(manifest, left_out) if judges_gates else 0
    changes: dict[str, object] = {"unaffected": _describe(left_out, gates)}
    is_all = not set(rest).intersection(manifest.benchmarks_on(request.target_kind))
    if is_all:
        # Without a launch there are no checks, and nothing to hold against the job.
        changes |= {"checks": [], "blockers": []}
    report = analysis.report.model_copy(update=changes)
    verdict = verdict_of(reasons_of(report))
    if is_all or verdict != analysis.verdict:
        only = ("new in head", report.added), ("removed in head", report.removed)
        parts = [f"nothing slower: {_count(left_out)}"]
        parts += [f"{what}: {list_some(names)}" for what, names in only if names]
        reason = with_suppressed("; ".join(parts), report.suppressed)
    else:
        reason = f"{analysis.reason}; {_count(left_out)}"
    return replace(
        analysis,
        report=report,
        verdict=verdict,
        reason=reason,
        blockers=tuple(report.blockers),
        extendable=analysis.extendable and verdict == "inconclusive",
    )


def _workloads(manifest: Manifest, names: Iterable[str]) -> set[str]:
    return {
        manifest.benchmarks[name].workload
        for name in names
        if name in manifest.benchmarks
    }


def _expecting(manifest: Manifest, checks: set[str]) -> Manifest:
    kept = [name for name in manifest.expected.checks if name in checks]
    return msgspec.structs.replace(manifest, expected=Expected(kept))


def _count(names: Mapping[str, str]) -> str:
    noun = "benchmark is" if len(names) == 1 else "benchmarks are"
    return f"{len(names)} {noun} not affected and not measured again"


def _count_gates(manifest: Manifest, names: Mapping[str, str]) -> int:
    derived = {item.name for item in manifest.derived if item.benchmark in names}
    return sum(
        gate.benchmark in names or gate.derived in derived for gate in manifest.gates
    )


def _describe(digests: Mapping[str, str], gates: int) -> UnaffectedOut:
    names = list(digests)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    whose = "its" if len(names) == 1 else "their"
    listed = f"{', '.join(names[:NAMED])}{more}"
    words = f"Not measured again, because {whose} {WHY}: {listed}."
    if gates:
        noun = "gate is" if gates == 1 else "gates are"
        words += f" {whose.capitalize()} {gates} {noun} not judged: unchanged."
    return UnaffectedOut(words=words, digests=dict(digests), gates=gates)
