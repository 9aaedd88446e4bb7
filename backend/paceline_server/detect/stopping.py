"""Says which benchmarks of a job are worth another launch.

A benchmark stops when each of its required comparisons has a verdict; where none is required, each comparison of it. In
a confirmation or bisection it must be each one that an alert may be about, required or not. Each required gate on it
that anything measures must have a verdict as well, and of a usage policy the same arm must win at all of its values.
How certain a verdict must be before all planned launches ran is in `stats.stopping`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paceline_server.detect.analyse import (
    Analysis,
    JudgedPair,
    is_certain,
    pairs_by_benchmark,
)
from paceline_server.detect.policies.advise import PolicyAssessment
from paceline_server.detect.schemas import GateOut, JobReportOut
from paceline_server.stats.policy import Crossover, Winner

_VERDICT_WHERE_WINS: Mapping[Winner, str] = {
    "arm": "pass",
    "reference": "fail",
    "undecided": "",
}


def list_undecided(
    analysis: Analysis,
    benchmarks: Sequence[str],
    *,
    batch_is_over: bool,
    thorough: bool = False,
) -> list[str]:
    """Return those of `benchmarks` that more launches may decide: within a batch all that are not certain yet, after it
    those for which the job is extended. An alert waits for a `thorough` job."""
    pairs = pairs_by_benchmark(analysis.ruled)
    if batch_is_over:
        return [
            name
            for name in benchmarks
            if analysis.extendable
            and any(
                judged.decides and judged.pair.outcome.extendable
                for judged in pairs.get(name, ())
            )
        ]
    read_on = {
        *(
            gate.benchmark
            for gate in analysis.report.gates
            if gate.level == "required"
            and gate.verdict == "inconclusive"
            and _is_measured(gate, analysis.report)
        ),
        *_list_read_by_policies(analysis.policies, pairs),
    }
    return [
        name
        for name in benchmarks
        if name in read_on or not is_certain(pairs.get(name, ()), thorough=thorough)
    ]


def _is_measured(gate: GateOut, report: JobReportOut) -> bool:
    """Check whether the job measures what a gate is about; a crossover is measured where there is none, too."""
    return gate.actual is not None or any(
        row.answered
        for row in report.derived
        if (row.name, row.arm, row.params) == (gate.derived, gate.arm, gate.params)
    )


def _list_read_by_policies(
    policies: Sequence[PolicyAssessment],
    pairs: Mapping[str, Sequence[JudgedPair]],
) -> Iterator[str]:
    """Yield the benchmarks whose launches a usage policy still needs."""
    for assessed in policies:
        policy = assessed.policy
        read = [(policy.benchmark, policy.arm, assessed.warm)]
        if policy.cold_benchmark is not None and assessed.cold is not None:
            cold_arm = policy.cold_arm or policy.arm
            read.append((policy.cold_benchmark, cold_arm, assessed.cold))
        if assessed.holds is None or not all(
            _has_one_winner(assessed, crossover, arm, pairs.get(benchmark, ()))
            for benchmark, arm, crossover in read
        ):
            yield from (benchmark for benchmark, *_ in read)


def _has_one_winner(
    assessed: PolicyAssessment,
    crossover: Crossover,
    arm: str,
    pairs: Sequence[JudgedPair],
) -> bool:
    """Check whether the same side wins at every value of a policy, by comparisons that are certain."""
    verdicts = [
        judged.pair.outcome.verdict
        for judged in pairs
        if (judged.pair.arm, judged.pair.reference, judged.pair.metric)
        == (arm, assessed.policy.reference, assessed.policy.metric)
        and all(
            assessed.params.get(name, value) == value
            for name, value in judged.pair.group.params.items()
        )
    ]
    certain = {_VERDICT_WHERE_WINS[point.winner] for point in crossover.points}
    return (
        len(certain) == 1
        and certain == set(verdicts)
        and len(verdicts) == len(crossover.points)
    )
