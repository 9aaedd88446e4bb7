"""What the agent costs the workload it measures (target: at most 1.02 times). Run by hand, on a quiet host:

    python runners/benchmarks/overhead.py [--groups 12] [--rounds 300]

Place in the journey: outside of it; measures `HostExecutor` with the guard, the spool and the sampler of
conditions, as a job has them. What it leaves out: HTTP (delivery sends what is in the spool, in batches).
Method: a fixed amount of work — always the same hashing, never calibrated to a time, since a calibrated
sample would shrink with the overhead it suffers. Each group launches it three times, twice by hand and once
through the agent, in an order that goes through all permutations. Ratios are formed within a group: the agent
against the mean of the two by hand; and the second by hand against the first, which shows what this host's
noise alone does. "work" is the time the workload itself measures in its timed regions; "launch" is the whole
process, its start and end included, as its parent sees it.
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

import msgspec
import psutil
from paceline.conditions import Conditions, Sampler
from paceline.executors.base import LaunchSpec
from paceline.executors.host import HostExecutor
from paceline.executors.process import inherited_environment
from paceline.spool import Attempt, AttemptSpool, Spool
from paceline.stop import Stop
from paceline.stream import ItemSink
from paceline_contract.events import AnyEvent, CaseEvent, SamplesEvent

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
    """Of one launch, in seconds."""

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
    """As from a shell with its output in a file."""
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
    """As in a job."""

    def keep(seen: Conditions) -> None:
        spool.append([{"kind": "conditions", **msgspec.to_builtins(seen)}])

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
    groups: int, rounds: int, directory: Path, said: Callable[[str], None]
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
    found = []
    with ExitStack() as held:
        held.enter_context(executor.claim(Stop()))
        for group in range(groups):
            found.append({name: how[name]() for name in next(orders)})
            said(
                f"group {group + 1} of {groups}: "
                + str({k: round(t.work, 3) for k, t in found[-1].items()})
            )
    return found


def summary(found: list[dict[str, Times]]) -> list[str]:
    """A line per comparison: median and range of the ratios within groups."""
    lines = []
    for field in Times._fields:
        of = [
            {name: getattr(times, field) for name, times in group.items()}
            for group in found
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
        found = measure(
            chosen.groups,
            chosen.rounds,
            Path(directory),
            lambda text: tell(sys.stderr, text),
        )
    load = f"load {before:.2f} before, {psutil.getloadavg()[0]:.2f} after, {os.cpu_count()} CPUs"
    for line in (f"{chosen.groups} groups, {load}", *summary(found)):
        tell(sys.stdout, line)


def tell(where: TextIO, text: str) -> None:
    where.write(text + "\n")
    where.flush()


if __name__ == "__main__":
    main()
