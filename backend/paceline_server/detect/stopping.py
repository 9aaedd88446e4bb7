"""Says which benchmarks of a job are worth another launch.

A benchmark stops when each of its required comparisons has a verdict; where none is required, each comparison of it. In
a confirmation or bisection it must be each one that an alert may be about, required or not. A required gate on it must
be as far from its level as a comparison from its margin. Usage policies are made of all planned launches, so that a
benchmark which one of them reads runs to the end. How certain a verdict must be before all planned launches ran is in
`stats.stopping`.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline_server.detect.analyse import Analysis, is_certain, pairs_by_benchmark
from paceline_server.detect.schemas import GateOut
from paceline_server.stats.constants import EARLY_EXTRA_PERCENT


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
    read_to_the_end = {
        *(
            gate.benchmark
            for gate in analysis.report.gates
            if gate.level == "required" and not _is_clear(gate)
        ),
        *(assessed.policy.benchmark for assessed in analysis.policies),
        *(assessed.policy.cold_benchmark for assessed in analysis.policies),
    }
    return [
        name
        for name in benchmarks
        if name in read_to_the_end
        or not is_certain(pairs.get(name, ()), thorough=thorough)
    ]


def _is_clear(gate: GateOut) -> bool:
    """Check whether a gate does not apply, or lies beyond its level by what a verdict demands before all launches ran."""
    if gate.verdict == "not_applicable":
        return True
    if gate.verdict == "inconclusive" or gate.target <= 0.0:
        return False
    extra = 1.0 + EARLY_EXTRA_PERCENT / 100.0
    is_above = gate.lower is not None and gate.lower > gate.target * extra
    return is_above or (gate.upper is not None and gate.upper < gate.target / extra)
