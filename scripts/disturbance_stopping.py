"""Prints how often stopping when sure errs on gates, when it stops, and what it saves of recorded jobs.

Both designs see the same simulated jobs: ratios of two arms whose blocks have heavy tails and whose launches differ. The
recordings are directories of `paceline run --all-launches`, judged again after two launches, three and so on.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from paceline_server.detect.analyse import Analysis, is_certain, pairs_by_benchmark
from paceline_server.detect.judge import RecordedRun, analyse_recorded, read_directory
from paceline_server.detect.saved_launches import count_saved_launches
from paceline_server.detect.stopping import list_undecided
from paceline_server.stats.binomial import quantile_ranks
from paceline_server.stats.constants import DERIVED_CONFIDENCE, EARLY_MIN_LAUNCHES
from paceline_server.stats.launch_effect import widen_by_launches
from paceline_server.stats.samples import Floats, Interval, Ints
from paceline_server.stats.stopping import level_extra_percent
from paceline_server.stats.voids import VoidLimits
from paceline_server.testing.simulated_jobs import BIASED_SHARE

BLOCKS = 20
PLANNED = (5, 10)
NOISES = (0.0, 0.01, 0.03)
NEAR = (0.0, 0.5, 1.0, 2.0, 3.0)
FAR = (3.0, 5.0, 8.0, 11.0, 15.0, 20.0, 50.0)
SLICE = 5000


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class _Ratios:
    """Ratios of W jobs whose true one is 1. `lower` and `upper`: the interval of all launches, shape (W,); of each launch by
    itself in `by_launch`, shape (2, W, K)."""

    lower: Floats
    upper: Floats
    by_launch: Floats

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        shape: tuple[int, int],
        noise: float,
        biased_share: float,
    ) -> _Ratios:
        """Draw (W, K) launches with as much noise between them."""
        logs = np.zeros((*shape, BLOCKS))
        sigma = rng.uniform(0.003, 0.015, (shape[0], 1, 1)) / np.sqrt(3.0)
        for sign in (1.0, -1.0):
            spikes = rng.random(logs.shape) < 0.03
            tails = sigma * rng.standard_t(3, logs.shape)
            logs += sign * (tails + spikes * rng.exponential(0.25, logs.shape))
        biased = rng.random((*shape, 1)) < biased_share
        bias = rng.choice([-1.0, 1.0], (*shape, 1)) * rng.uniform(
            0.025, 0.118, (*shape, 1)
        )
        logs += rng.normal(0.0, noise, (*shape, 1)) + np.log1p(biased * bias)
        ratios = np.exp(logs)
        whole = ratios.reshape(shape[0], -1)
        by_samples = _interval(whole)
        medians = np.median(ratios, axis=2)
        spans = [
            widen_by_launches(Interval(float(low), float(high)), float(value), of_job)
            for low, high, value, of_job in zip(
                *by_samples, np.median(whole, axis=1), medians.tolist(), strict=True
            )
        ]
        bounds = np.array([(span.lower, span.upper) for span in spans], dtype=float)
        return cls(bounds[:, 0], bounds[:, 1], _interval(ratios))

    def judge(self, level: float) -> Ints:
        """Return 1 where `>= level` holds by all launches, -1 where it does not, 0 where that is undecided."""
        return _compare(self.lower, self.upper, level, level)

    def judge_early(self, level: float) -> tuple[Ints, Ints]:
        """Return the same by a job that stops when sure, and after how many launches it stops."""
        planned = self.by_launch.shape[2]
        verdict, taken = self.judge(level), np.full(self.lower.size, planned)
        for launches in reversed(range(EARLY_MIN_LAUNCHES, planned)):
            extra = 1.0 + (level_extra_percent(launches) or 0.0) / 100.0
            lower, upper = self.by_launch[:, :, :launches]
            early = _compare(
                lower.min(axis=1), upper.max(axis=1), level * extra, level / extra
            )
            verdict = np.where(early, early, verdict)
            taken = np.where(early, launches, taken)
        return verdict, taken


def _interval(values: Floats) -> Floats:
    """Return the bounds of the median of the last axis, shape (2, …)."""
    lower, upper = quantile_ranks(values.shape[-1], 0.5, DERIVED_CONFIDENCE)
    ordered = np.sort(values, axis=-1)
    return np.stack([ordered[..., (lower or 1) - 1], ordered[..., (upper or 0) - 1]])


def _compare(lower: Floats, upper: Floats, above: float, below: float) -> Ints:
    return np.where(lower >= above, 1, np.where(upper < below, -1, 0))


def report_errors(jobs: int) -> int:
    """Print the wrong verdicts of both designs, and return how many more stopping when sure has."""
    rng = np.random.default_rng(20261129)
    cells = " | ".join(f"{distance:g} %" for distance in NEAR)
    _say(
        f"\nWrong verdicts on gates of {jobs:,} jobs, all launches → stopping when sure, by the distance of the true "
        f"ratio from the level\n\n| launches | launch noise | biased launches | {cells} |\n"
        f"|---|---|---{'|---' * len(NEAR)}|"
    )
    more = 0
    for planned in PLANNED:
        for biased_share in (0.0, BIASED_SHARE):
            for noise in NOISES:
                fixed: Counter[float] = Counter()
                sure: Counter[float] = Counter()
                for start in range(0, jobs, SLICE):
                    shape = min(SLICE, jobs - start), planned
                    ratios = _Ratios.draw(rng, shape, noise, biased_share)
                    for distance in NEAR:
                        level = 1.0 / (1.0 + distance / 100.0)
                        fixed[distance] += _count_wrong(ratios.judge(level), distance)
                        verdict, _ = ratios.judge_early(level)
                        sure[distance] += _count_wrong(verdict, distance)
                more += sum(sure.values()) - sum(fixed.values())
                row = [
                    f"{planned}",
                    f"{100 * noise:.0f} %",
                    f"{100 * biased_share:.1f} %",
                    *(f"{fixed[at]} → {sure[at]}" for at in NEAR),
                ]
                _say(f"| {' | '.join(row)} |")
    return more


def _count_wrong(verdicts: Ints, distance: float) -> int:
    """Count the verdicts on the wrong side; at the level itself either verdict is."""
    return int(np.count_nonzero(verdicts if distance == 0.0 else verdicts < 0))


def report_launches(jobs: int) -> None:
    """Print after what share of five launches a gate is decided."""
    rng = np.random.default_rng(20261129)
    heads = " | ".join(f"{100 * noise:.0f} %: median, worst decile" for noise in NOISES)
    _say(
        f"\nLaunches until a gate is sure, as a share of {PLANNED[0]}, by launch noise; {100 * BIASED_SHARE:.1f} % of the "
        f"launches are biased\n\n| beyond the level | {heads} |\n|---{'|---' * len(NOISES)}|"
    )
    drawn = [
        _Ratios.draw(rng, (min(jobs, SLICE), PLANNED[0]), noise, BIASED_SHARE)
        for noise in NOISES
    ]
    for distance in FAR:
        shares = [
            ratios.judge_early(1.0 / (1.0 + distance / 100.0))[1] / PLANNED[0]
            for ratios in drawn
        ]
        cells = [f"{np.median(of):.2f}, {np.quantile(of, 0.9):.2f}" for of in shares]
        _say(f"| {distance:g} % | {' | '.join(cells)} |")


def report_recordings(directories: Sequence[Path], limits: VoidLimits) -> None:
    """Print what stopping when sure would have saved of recorded jobs, and what kept each benchmark running."""
    _say(
        "\n| recording | benchmark | launches | kept running by | device time of the job |\n|---|---|---|---|---|"
    )
    for directory in directories:
        recorded = read_directory(directory, None, None)
        planned = recorded.request.launches
        if planned is None:
            _say(f"| {directory.name} | says no number of launches |||| ")
            continue
        taken, keepers = _replay(recorded, planned, limits)
        early = [name for name, launches in taken.items() if launches < planned]
        cases = [
            case.only(case.launch < taken.get(case.benchmark, planned))
            for case in recorded.facts.cases
        ]
        saved = count_saved_launches(taken, early, planned, cases).saved_percent
        share = "unknown" if saved is None else f"{1.0 - saved / 100.0:.2f}"
        for name, launches in taken.items():
            _say(
                f"| {directory.name} | {name} | {launches} of {planned} | {keepers[name]} | {share} |"
            )


def _replay(
    recorded: RecordedRun, planned: int, limits: VoidLimits
) -> tuple[dict[str, int], dict[str, str]]:
    """Return after how many launches each benchmark stops, and what was undecided at the look before."""
    going = [*(recorded.request.benchmarks or recorded.manifest.benchmarks)]
    taken, keepers = dict.fromkeys(going, planned), dict.fromkeys(going, "nothing")
    request = replace(recorded.request, stop_when_sure=True)
    for done in range(EARLY_MIN_LAUNCHES, planned):
        whole = recorded.facts
        facts = replace(
            whole,
            cases=[case.only(case.launch < done) for case in whole.cases],
            builds=[build for build in whole.builds if build.launch < done],
            checks=[check for check in whole.checks if check.launch < done],
        )
        analysis = analyse_recorded(
            replace(recorded, facts=facts, request=request), limits
        )
        undecided = list_undecided(analysis, going, batch_is_over=False)
        for name in going:
            if name in undecided:
                keepers[name] = _describe_undecided(analysis, name)
            else:
                taken[name] = done
        going = undecided
    return taken, keepers


def _describe_undecided(analysis: Analysis, benchmark: str) -> str:
    """Describe what of a benchmark is not certain: comparisons, and gates by their kind."""
    kinds = {row.name: row.kind for row in analysis.report.derived}
    pairs = pairs_by_benchmark(analysis.ruled).get(benchmark, [])
    required = [judged for judged in pairs if judged.decides] or pairs
    counts = Counter(
        kinds.get(gate.derived or "", gate.statistic)
        for gate in analysis.report.gates
        if gate.benchmark == benchmark
        and gate.level == "required"
        and gate.verdict == "inconclusive"
    )
    comparisons = sum(not is_certain([judged]) for judged in required)
    parts = [f"{comparisons} of {len(required)} comparisons"] if comparisons else []
    parts += [f"{number} gates on {kind}" for kind, number in counts.items()]
    if not parts:
        parts = ["a usage policy"] if pairs else ["no comparison"]
    return ", ".join(parts)


def report_stopping(jobs: int, directories: Sequence[Path], limits: VoidLimits) -> int:
    """Print all tables; recordings are judged by `limits`. Exit status 1 where stopping when sure errs in more than 1 in 1,000 jobs more."""
    more = report_errors(jobs)
    report_launches(jobs)
    if directories:
        report_recordings(directories, limits)
    cells = len(PLANNED) * len(NOISES) * 2 * len(NEAR)
    _say(f"\n{more} more verdicts were wrong in {cells * jobs:,} jobs.")
    return 1 if more > cells * jobs / 1000 else 0
