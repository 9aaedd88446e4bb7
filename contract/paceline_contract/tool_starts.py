"""Counts how often a run starts the tools of its harnesses.

Each round is a start of the tool, and where the tool can run the cases of one arm alone, of each arm. Which tools can,
only agents know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from paceline_contract.manifest import Manifest


def default_warmups(rounds: int) -> int:
    """Return how many warm-up rounds a launch of a harness has, as every workload: so many are not judged. A launch of one
    round needs none (`stats/README.md` §1), and has the one that lists its cases."""
    return 1 if rounds == 1 else max(5, -(-rounds // 10))


def count_tool_starts(
    manifest: Manifest,
    benchmarks: Iterable[str],
    rounds: int,
    warmup_rounds: int | None,
    can_filter: Callable[[str], bool],
) -> int:
    """Return how often one launch of each workload of `benchmarks` starts a tool; 0 without a harness. `can_filter` says of
    a harness whether each arm is a start. The start that lists the cases is the first warm-up round."""
    warmups = default_warmups(rounds) if warmup_rounds is None else warmup_rounds
    harnesses = {
        workload.name: workload.host.harness
        for workload in manifest.workloads
        if workload.host is not None
    }
    arms_by_workload: dict[str, set[str]] = {}
    for name in benchmarks:
        benchmark = manifest.benchmarks[name]
        arms = arms_by_workload.setdefault(benchmark.workload, set())
        arms.update(benchmark.arms)
    starts = 0
    for workload, arms in arms_by_workload.items():
        harness = harnesses.get(workload)
        if harness is not None:
            starts_per_round = len(arms) if can_filter(harness) else 1
            starts += 1 + (max(warmups - 1, 0) + rounds) * starts_per_round
    return starts
