"""Estimates how long a run would take, and what a demonstration needs to show an effect.

Both are answered before the run is requested, from how long past runs took. Where
nothing is known the answer says so and gives the least time that the request's own
numbers imply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest, Slows
from paceline_contract.manifest_reader import read_manifest
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
from paceline_server.stats.plain_words import duration
from paceline_server.store.tables.fleet import Target

PAST_JOBS = 200
"""Looked at, newest first, over all targets of a request."""
BASED_ON = 5
"""Past jobs an estimate rests on: enough that one slow build does not decide."""


@dataclass(frozen=True)
class BatchSize:
    """How much one batch of a job measures."""

    cases: int
    launches: int
    sides: int
    rounds: int
    min_time_ns: int

    @property
    def samples(self) -> int:
        return self.cases * self.launches * self.sides * self.rounds

    @property
    def least_s(self) -> float:
        """The timed part alone: no sample is shorter than `min_time_ns`."""
        return self.samples * self.min_time_ns / 1e9


def estimate(session: Session, spec: RunIn) -> RunEstimateOut:
    """What a request would take now. Raises as `jobs.preview_run`."""
    wanted = jobs.preview_run(session, spec)
    manifest = read_manifest(wanted.suite.manifest)
    asked = JobRequest(wanted.selection.benchmarks, wanted.selection.params)
    past = queries.past_jobs(
        session, spec.suite, [target.id for target in wanted.targets], PAST_JOBS
    )
    estimates = [
        _on_target(
            manifest,
            spec,
            asked,
            target,
            [past_job for past_job in past if past_job.target_id == target.id],
        )
        for target in wanted.targets
    ]
    return RunEstimateOut(
        words=_estimate_sentence(
            estimates, _batch_size(manifest, spec, asked, "host", spec.launches or 5)
        ),
        targets=estimates,
        slowdowns=_slowdowns(session, manifest, spec, asked, wanted.targets),
    )


def _batch_size(
    manifest: Manifest, spec: RunIn, asked: JobRequest, kind: str, launches: int
) -> BatchSize:
    two = spec.base_commit is not None or spec.trigger == "a_a"
    cases = sum(1 for _ in requested_cases(manifest, asked, kind))
    return BatchSize(cases, launches, 2 if two else 1, spec.rounds, spec.min_time_ns)


def _on_target(
    manifest: Manifest,
    spec: RunIn,
    asked: JobRequest,
    target: Target,
    past: Sequence[PastJobRow],
) -> TargetEstimateOut:
    size = _batch_size(
        manifest,
        spec,
        asked,
        target.kind,
        spec.launches or jobs.default_launches(target),
    )
    same = [past_job for past_job in past if _is_same_selection(past_job, size, asked)][
        :BASED_ON
    ]
    used = same or past[:BASED_ON]
    took = [
        (past_job.finished_at - past_job.leased_at).total_seconds() for past_job in used
    ]
    seconds: float | None = None
    if same:
        seconds = median(took)
    elif used:
        amounts = [
            _past_size(manifest, past_job, target.kind).samples for past_job in used
        ]
        rate = median(
            each / max(amount, 1) for each, amount in zip(took, amounts, strict=True)
        )
        # Measuring alone cannot take less, which a scaled figure of a cheaper choice could claim.
        seconds = max(rate * size.samples, size.least_s)
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


def _past_size(manifest: Manifest, one: PastJobRow, kind: str) -> BatchSize:
    cases = sum(
        1
        for _ in requested_cases(manifest, JobRequest(one.benchmarks, one.params), kind)
    )
    return BatchSize(
        cases, one.launches, 2 if one.two_revisions else 1, one.rounds, one.min_time_ns
    )


def _is_same_selection(one: PastJobRow, size: BatchSize, asked: JobRequest) -> bool:
    return (
        sorted(one.benchmarks) == sorted(asked.benchmarks or ())
        and _values(one.params) == _values(asked.params)
        and (one.launches, one.rounds, one.min_time_ns)
        == (size.launches, size.rounds, size.min_time_ns)
        and one.two_revisions == (size.sides == 2)
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
        return (
            f"{name}: not known yet, nothing of this suite was judged there; measuring alone takes "
            f"{_least_time_sentence(size)}, building and warm-up come on top"
        )
    jobs_said = "its last run" if len(took) == 1 else f"its last {len(took)} runs"
    if same:
        low, high = duration(min(took)), duration(max(took))
        spread = low if low == high else f"{low} to {high}"
        return f"{name}: about {duration(seconds)}, as {jobs_said} of the same choice took {spread}"
    return (
        f"{name}: roughly {duration(seconds)}, scaled from {jobs_said} of other choices"
    )


def _least_time_sentence(size: BatchSize) -> str:
    return (
        f"at least {duration(size.least_s)}"
        if size.least_s >= 1.0
        else "less than a second at best"
    )


def _estimate_sentence(
    estimates: Sequence[TargetEstimateOut], on_host: BatchSize
) -> str:
    if not estimates:
        return (
            "How long it takes is not known: no target that can run it is online. On a host measuring alone "
            f"takes {_least_time_sentence(on_host)}."
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
    asked: JobRequest,
    targets: Sequence[Target],
) -> list[SlowdownOut]:
    found: list[SlowdownOut] = []
    for name, knob in manifest.knobs.items():
        if knob.slows is None or knob.slows.benchmark not in (asked.benchmarks or ()):
            continue
        for target in targets:
            ratios = _ratios(session, manifest, asked, knob.slows, (spec.suite, target))
            benchmark = manifest.benchmarks[knob.slows.benchmark].on(target.kind)
            said = SlowdownOut(
                knob=name,
                target_id=target.id,
                target_name=target.name,
                percent=None,
                everywhere_percent=None,
                words="",
            )
            found.append(
                _crossing(said, benchmark, knob.slows.arm, ratios, spec.knobs.get(name))
            )
    return found


def _ratios(
    session: Session,
    manifest: Manifest,
    asked: JobRequest,
    slows: Slows,
    where: tuple[str, Target],
) -> dict[str, float]:
    """Of the arm to its reference at each point that is asked for and watched by a rule, newest."""
    suite, target = where
    metric = manifest.benchmarks[slows.benchmark].primary_metric
    return {
        _point_text(row.params): row.ratio
        for row in queries.newest_comparisons(
            session, suite, slows.benchmark, metric, target.id
        )
        if row.arm == slows.arm
        and not row.demonstration
        and row.ratio is not None
        and _is_requested(row.params, asked)
        and manifest.rule_for(slows.benchmark, slows.arm, metric, row.params)
        is not None
    }


def _crossing(
    said: SlowdownOut,
    benchmark: Benchmark,
    arm: str,
    ratios: Mapping[str, float],
    chosen: ParamValue | None,
) -> SlowdownOut:
    """`said`, with the percentages that make `arm` slower than the reference by more than its margin."""
    if not ratios:
        words = (
            f"{said.target_name}: not known yet, no run has compared {arm} with {benchmark.reference} there; "
            "run it once without a knob"
        )
        return said.model_copy(update={"words": words})
    limit = 1.0 + benchmark.margin_percent / 100.0
    needed = {
        at: max(0, math.ceil((limit / ratio - 1.0) * 100.0))
        for at, ratio in ratios.items()
    }
    at = min(needed, key=needed.__getitem__)
    everywhere = max(needed.values())
    where = f" at {at}" if at else ""
    if needed[at] == 0:
        words = f"{said.target_name}: {arm} is slower than {benchmark.reference}{where} already"
    else:
        faster = f"{1 / ratios[at]:.2g} times as fast as {benchmark.reference}{where}"
        words = f"{said.target_name}: {arm} was {faster} last; more than {needed[at]} % makes it slower there"
    if everywhere > needed[at]:
        words += f", more than {everywhere} % at every point"
    if isinstance(chosen, int) and 0 < chosen <= needed[at]:
        words += f". {chosen} % will show nothing"
    return said.model_copy(
        update={"percent": needed[at], "everywhere_percent": everywhere, "words": words}
    )


def _point_text(params: dict[str, ParamValue]) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items())


def _is_requested(params: dict[str, ParamValue], asked: JobRequest) -> bool:
    return all(
        value in asked.params.get(name, [value]) for name, value in params.items()
    )
