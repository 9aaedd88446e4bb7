"""Measures what the agent costs the workload it measures (target: at most 1.02 times). Run by hand, on a quiet host:

    python runners/benchmarks/overhead.py [--groups 12] [--rounds 300]

A group launches the same workload three times, twice directly and once through `HostExecutor` with guard, spool and
conditions, in an order that goes through all permutations. HTTP is not included. The workload hashes a fixed amount,
because a calibrated sample would shrink with the overhead.

Ratios are formed within a group: the agent against the mean of the two direct launches, and one direct launch
against the other, which shows the host's noise. "work" is the time in timed regions, as the workload measures it;
"launch" is the whole process, as its parent sees it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TextIO

import psutil
from paceline.conditions import Sampler
from paceline.executors.base import LaunchSpec
from paceline.executors.host import HostExecutor
from paceline.executors.process import inherited_environment
from paceline.spool import Attempt, AttemptSpool, Spool
from paceline.stop import Stop
from paceline.stream import ItemSink
from paceline_contract.events import AnyEvent, CaseEvent, SamplesEvent
from paceline_contract.items import Conditions, ConditionsItem

WORKLOAD = """
import hashlib, json, sys, time
def say(type, **rest): print(json.dumps({"type": type, **rest}), flush=True)
say("start", v=1, suite="overhead", workload="hash", launch=0, seed=1, build={},
    clock={"name": "perf_counter_ns", "resolution_ns": 1, "overhead_ns": 50})
say("case", case=0, benchmark="hash", arm="only", params={},
    metrics=[{"name": "time", "unit": "ns", "direction": "lower"}])
block = bytes(1 << 16)
for round in range(int(sys.argv[1])):
    started = time.perf_counter_ns()
    for _ in range(150):
        hashlib.sha256(block).digest()
        sum(range(1000))
    ended = time.perf_counter_ns()
    say("samples", case=0, metric="time", launch=0, round=round, position=0, phase="measure",
        iterations=150, values=[ended - started], t_ns=ended)
say("done")
"""


class Times(NamedTuple):
    """Times of one launch, in seconds."""

    work: float
    launch: float


class CountingSink(ItemSink):
    """The agent's own sink; adds up the samples on the way."""

    total_ns = 0

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        if isinstance(event, SamplesEvent):
            self.total_ns += sum(event.values)
        super().event(event, case)


def by_hand(argv: list[str], directory: Path) -> Times:
    """Launch it directly, as from a shell with its output in a file."""
    path = directory / "out.jsonl"
    started = time.perf_counter()
    with path.open("wb") as out:
        subprocess.run(
            argv, stdout=out, cwd=directory, env=inherited_environment(), check=True
        )
    took = time.perf_counter() - started
    events = [json.loads(line) for line in path.read_bytes().splitlines()]
    return Times(sum(sum(event.get("values", [])) for event in events) / 1e9, took)


def by_agent(
    argv: list[str], directory: Path, executor: HostExecutor, spool: AttemptSpool
) -> Times:
    """Launch it through the agent, as in a job."""

    def keep(seen: Conditions) -> None:
        spool.append([ConditionsItem.of(seen)])

    sink = CountingSink(0, spool.append)
    spec = LaunchSpec("hash", 0, argv, directory, inherited_environment(), 600.0)
    with Sampler(keep):
        started = time.perf_counter()
        outcome = executor.execute(spec, sink, Stop())
        took = time.perf_counter() - started
    sink.close()
    if not outcome.ok:
        raise SystemExit(f"the launch does not count: {outcome.detail}")
    return Times(sink.total_ns / 1e9, took)


def measure(
    groups: int, rounds: int, directory: Path, output: Callable[[str], None]
) -> list[dict[str, Times]]:
    """`groups` of one launch each of "hand", "again" (by hand, too) and "agent"."""
    argv = [sys.executable, "-I", "-S", "-c", WORKLOAD, str(rounds)]
    spool = Spool(directory / "spool").create(Attempt("overhead", 1, "none"))
    executor = HostExecutor("overhead", lock_dir=directory)
    how: dict[str, Callable[[], Times]] = {
        "hand": lambda: by_hand(argv, directory),
        "again": lambda: by_hand(argv, directory),
        "agent": lambda: by_agent(argv, directory, executor, spool),
    }
    for launch in how.values():  # warm: caches, page cache, clock frequency
        launch()
    orders = itertools.cycle(itertools.permutations(how))
    result = []
    with ExitStack() as held:
        held.enter_context(executor.claim(Stop()))
        for group in range(groups):
            result.append({name: how[name]() for name in next(orders)})
            output(
                f"group {group + 1} of {groups}: "
                + str({k: round(t.work, 3) for k, t in result[-1].items()})
            )
    return result


def summary(result: list[dict[str, Times]]) -> list[str]:
    """A line per comparison: median and range of the ratios within groups."""
    lines = []
    for field in Times._fields:
        of = [
            {name: getattr(times, field) for name, times in group.items()}
            for group in result
        ]
        for title, ratios in (
            (
                "agent / by hand",
                [2 * group["agent"] / (group["hand"] + group["again"]) for group in of],
            ),
            (
                "by hand / by hand (noise)",
                [group["again"] / group["hand"] for group in of],
            ),
        ):
            middle, low, high = statistics.median(ratios), min(ratios), max(ratios)
            lines.append(
                f"{field:<7} {title:<26} median {middle:.4f}  min {low:.4f}  max {high:.4f}"
            )
    return lines


def main() -> None:
    options = argparse.ArgumentParser(
        description="Measures what the agent costs the workload."
    )
    options.add_argument(
        "--groups", type=int, default=12, help="of three launches each (multiple of 6)"
    )
    options.add_argument(
        "--rounds", type=int, default=300, help="of fixed work in each launch"
    )
    chosen = options.parse_args()
    before = psutil.getloadavg()[0]
    with tempfile.TemporaryDirectory() as directory:
        result = measure(
            chosen.groups,
            chosen.rounds,
            Path(directory),
            lambda text: tell(sys.stderr, text),
        )
    load = f"load {before:.2f} before, {psutil.getloadavg()[0]:.2f} after, {os.cpu_count()} CPUs"
    for line in (f"{chosen.groups} groups, {load}", *summary(result)):
        tell(sys.stdout, line)


def tell(where: TextIO, text: str) -> None:
    where.write(text + "\n")
    where.flush()


if __name__ == "__main__":
    main()
