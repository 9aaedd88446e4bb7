"""Estimates how long a run would take, and what a demonstration needs to show an effect.

Estimates are based on the duration of past runs. Without past runs the answer says so, and gives the least time that
the request implies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from paceline_contract.estimates import (
    Work,
    repeat_past_runs,
    scale_durations,
    scale_past_runs,
    state_least_time,
)
from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest, Slows
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_text
from paceline_contract.tool_starts import count_tool_starts
from sqlalchemy.orm import Session

from paceline_server.detect.facts import JobRequest
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import RunIn
from paceline_server.reports import queries
from paceline_server.reports.completeness import requested_cases
from paceline_server.reports.queries import PastJobRow
from paceline_server.reports.schemas import (
    RunEstimateOut,
    SlowdownOut,
    TargetEstimateOut,
)
from paceline_server.store.tables.fleet import Target

PAST_JOBS = 200
"""At most this many past jobs are read for a request, the newest of all its targets."""
BASED_ON = 5
"""An estimate is based on this many past jobs, enough that one slow build does not decide."""


@dataclass(frozen=True)
class BatchSize:
    """The amount of work in one batch of a job."""

    cases: int
    launches: int
    sides: int
    rounds: int
    min_time_ns: int
    stop_when_sure: bool
    starts_per_launch: tuple[int, int] = (0, 0)
    """How often a launch starts the tools of harnesses, at least and at most: agents know whether arms share a start."""

    @property
    def samples(self) -> int:
        return self.cases * self.launches * self.sides * self.rounds

    @property
    def tool_starts(self) -> list[int]:
        """The least and the most starts of the tools of harnesses."""
        launches = self.launches * self.sides
        return [starts * launches for starts in self.starts_per_launch]

    @property
    def work(self) -> Work:
        """What durations are scaled by."""
        return Work(self.samples, self.tool_starts[0])

    @property
    def least_s(self) -> float:
        """The time of the samples alone, each of which takes at least `min_time_ns`."""
        return self.samples * self.min_time_ns / 1e9


def estimate(session: Session, spec: RunIn) -> RunEstimateOut:
    """Return how long a request would take now. Raises as `jobs.preview_run` does."""
    preview = jobs.preview_run(session, spec)
    commit = spec.head or spec.commit or preview.suite.commit
    stops = jobs.stops_when_sure(spec, commit)
    spec = spec.model_copy(update={"stop_when_sure": stops})
    manifest = read_manifest(preview.suite.manifest)
    request = JobRequest(preview.selection.benchmarks, preview.selection.params)
    past = queries.past_jobs(
        session, spec.suite, [target.id for target in preview.targets], PAST_JOBS
    )
    estimates = [
        _on_target(
            manifest,
            spec,
            request,
            target,
            [past_job for past_job in past if past_job.target_id == target.id],
        )
        for target in preview.targets
    ]
    return RunEstimateOut(
        words=_estimate_sentence(
            estimates, _batch_size(manifest, spec, request, "host", spec.launches or 5)
        ),
        targets=estimates,
        slowdowns=_slowdowns(session, manifest, spec, request, preview.targets),
    )


def _batch_size(
    manifest: Manifest, spec: RunIn, request: JobRequest, kind: str, launches: int
) -> BatchSize:
    two = spec.has_base or spec.trigger == "a_a"
    cases = sum(1 for _ in requested_cases(manifest, request, kind))
    return BatchSize(
        cases,
        launches,
        2 if two else 1,
        spec.rounds,
        spec.min_time_ns,
        spec.stop_when_sure is True,
        _count_starts(manifest, request, kind, spec.rounds),
    )


def _count_starts(
    manifest: Manifest, request: JobRequest, kind: str, rounds: int
) -> tuple[int, int]:
    """Return the least and the most starts of the tools of harnesses in a launch; devices have none."""
    if kind != "host":
        return 0, 0
    names = request.benchmarks or manifest.benchmarks
    declared = [name for name in names if name in manifest.benchmarks]

    def count(*, arms_start_alone: bool) -> int:
        return count_tool_starts(
            manifest, declared, rounds, None, lambda _: arms_start_alone
        )

    return count(arms_start_alone=False), count(arms_start_alone=True)


def _on_target(
    manifest: Manifest,
    spec: RunIn,
    request: JobRequest,
    target: Target,
    past: Sequence[PastJobRow],
) -> TargetEstimateOut:
    size = _batch_size(
        manifest,
        spec,
        request,
        target.kind,
        spec.launches or jobs.default_launches(target),
    )
    same = [
        past_job for past_job in past if _is_same_selection(past_job, size, request)
    ][:BASED_ON]
    # A job that stopped when sure may have measured less, which says nothing about one that measures all.
    comparable = [
        past_job
        for past_job in past
        if size.stop_when_sure or not past_job.stop_when_sure
    ]
    used = same or comparable[:BASED_ON]
    took = [
        (past_job.finished_at - past_job.leased_at).total_seconds() for past_job in used
    ]
    seconds: float | None = None
    if same:
        seconds = median(took)
    elif used:
        works = [_past_size(manifest, past_job, target.kind).work for past_job in used]
        scaled_s = scale_durations(list(zip(took, works, strict=True)), size.work)
        # A figure scaled from a cheaper choice may be less than the samples alone take.
        seconds = max(scaled_s, size.least_s)
    return TargetEstimateOut(
        target_id=target.id,
        target_name=target.name,
        cases=size.cases,
        seconds=seconds,
        least_s=size.least_s,
        based_on=len(used),
        same_choice=bool(same),
        words=_target_sentence(target.name, seconds, size, took, same=bool(same)),
    )


def _past_size(manifest: Manifest, past_job: PastJobRow, kind: str) -> BatchSize:
    request = JobRequest(past_job.benchmarks, past_job.params)
    cases = sum(1 for _ in requested_cases(manifest, request, kind))
    return BatchSize(
        cases,
        past_job.launches,
        2 if past_job.two_revisions else 1,
        past_job.rounds,
        past_job.min_time_ns,
        past_job.stop_when_sure,
        _count_starts(manifest, request, kind, past_job.rounds),
    )


def _is_same_selection(
    past_job: PastJobRow, size: BatchSize, request: JobRequest
) -> bool:
    return (
        sorted(past_job.benchmarks) == sorted(request.benchmarks or ())
        and _values(past_job.params) == _values(request.params)
        and (past_job.launches, past_job.rounds, past_job.min_time_ns)
        == (size.launches, size.rounds, size.min_time_ns)
        and past_job.two_revisions == (size.sides == 2)
        and past_job.stop_when_sure == size.stop_when_sure
    )


def _values(params: Mapping[str, Sequence[ParamValue]]) -> dict[str, list[str]]:
    return {name: sorted(map(repr, values)) for name, values in params.items()}


def _target_sentence(
    name: str,
    seconds: float | None,
    size: BatchSize,
    took: Sequence[float],
    *,
    same: bool,
) -> str:
    if seconds is None:
        return f"{name}: not known yet, nothing of this suite was judged there; {_least_time(size)}"
    estimated = repeat_past_runs(took) if same else scale_past_runs(seconds, len(took))
    return f"{name}: {estimated}"


def _least_time(size: BatchSize) -> str:
    return state_least_time(size.least_s, size.launches * size.sides, size.tool_starts)


def _estimate_sentence(
    estimates: Sequence[TargetEstimateOut], on_host: BatchSize
) -> str:
    if not estimates:
        return (
            "How long it takes is not known: no target that can run it is online. On a host "
            f"{_least_time(on_host)}."
        )
    text = "; ".join(row.words for row in estimates)
    longer = any(row.seconds is not None for row in estimates)
    return text + (
        ". Up to three times that where a verdict stays open." if longer else "."
    )


def _slowdowns(
    session: Session,
    manifest: Manifest,
    spec: RunIn,
    request: JobRequest,
    targets: Sequence[Target],
) -> list[SlowdownOut]:
    slowdowns: list[SlowdownOut] = []
    for name, knob in manifest.knobs.items():
        if knob.slows is None or knob.slows.benchmark not in (request.benchmarks or ()):
            continue
        for target in targets:
            ratios = _ratios(
                session, manifest, request, knob.slows, (spec.suite, target)
            )
            benchmark = manifest.benchmarks[knob.slows.benchmark].on(target.kind)
            unknown = SlowdownOut(
                knob=name,
                target_id=target.id,
                target_name=target.name,
                percent=None,
                everywhere_percent=None,
                words="",
            )
            slowdowns.append(
                _slowdown_needed(
                    unknown, benchmark, knob.slows.arm, ratios, spec.knobs.get(name)
                )
            )
    return slowdowns


def _ratios(
    session: Session,
    manifest: Manifest,
    request: JobRequest,
    slows: Slows,
    where: tuple[str, Target],
) -> dict[str, float]:
    """Return the newest ratio of the arm to its reference at each requested point that a rule watches."""
    suite, target = where
    metric = manifest.benchmarks[slows.benchmark].primary_metric
    return {
        params_text(row.params): row.ratio
        for row in queries.newest_comparisons(
            session, suite, slows.benchmark, metric, target.id
        )
        if row.arm == slows.arm
        and not row.demonstration
        and row.ratio is not None
        and _is_requested(row.params, request)
        and manifest.rule_for(slows.benchmark, slows.arm, metric, row.params)
        is not None
    }


def _slowdown_needed(
    unknown: SlowdownOut,
    benchmark: Benchmark,
    arm: str,
    ratios: Mapping[str, float],
    chosen: ParamValue | None,
) -> SlowdownOut:
    """Return `unknown`, completed with the percentages from which `arm` is slower than the margin allows."""
    if not ratios:
        words = (
            f"{unknown.target_name}: not known yet, no run has compared {arm} with {benchmark.reference} there; "
            "run it once without a knob"
        )
        return unknown.model_copy(update={"words": words})
    limit = 1.0 + benchmark.margin_percent / 100.0
    needed = {
        at: max(0, math.ceil((limit / ratio - 1.0) * 100.0))
        for at, ratio in ratios.items()
    }
    at = min(needed, key=needed.__getitem__)
    everywhere = max(needed.values())
    where = f" at {at}" if at else ""
    if needed[at] == 0:
        words = f"{unknown.target_name}: {arm} is slower than {benchmark.reference}{where} already"
    else:
        faster = f"{1 / ratios[at]:.2g} times as fast as {benchmark.reference}{where}"
        words = f"{unknown.target_name}: {arm} was {faster} last; more than {needed[at]} % makes it slower there"
    if everywhere > needed[at]:
        words += f", more than {everywhere} % at every point"
    if isinstance(chosen, int) and 0 < chosen <= needed[at]:
        words += f". {chosen} % will show nothing"
    return unknown.model_copy(
        update={"percent": needed[at], "everywhere_percent": everywhere, "words": words}
    )


def _is_requested(params: dict[str, ParamValue], request: JobRequest) -> bool:
    return all(
        value in request.params.get(name, [value]) for name, value in params.items()
    )
