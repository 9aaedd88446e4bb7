"""Adds numbers in two ways. A commit of the journey changes `REPEAT`, which makes that arm slower.

It measures CPU time, so that the verdict does not depend on other load during a journey.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence

REPEAT = 1

options = argparse.ArgumentParser()
for name, default in (
    ("--launch", 0),
    ("--rounds", 20),
    ("--min-time-ns", 1_000_000),
    ("--seed", 0),
):
    options.add_argument(name, type=int, default=default)
options.add_argument("--warmup-rounds", type=int, default=5)
chosen = options.parse_known_args()[0]


def say(kind: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def plain(numbers: Sequence[int]) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


def built_in(numbers: Sequence[int]) -> int:
    for _ in range(REPEAT):
        total = sum(numbers)
    return total


ARMS = {"plain": plain, "sum": built_in}
numbers = list(range(2000))
clock = {"name": "thread_time_ns", "resolution_ns": 40, "overhead_ns": 60}
who = {
    "suite": "revisions",
    "workload": "spin",
    "launch": chosen.launch,
    "seed": chosen.seed,
}
say("start", v=1, **who, build={}, clock=clock)
for case, arm in enumerate(ARMS):
    metric = {"name": "time", "unit": "ns", "direction": "lower"}
    say("case", case=case, benchmark="spin", arm=arm, params={}, metrics=[metric])
order = list(enumerate(ARMS.values()))
if chosen.seed % 2:
    order.reverse()
for round_ in range(chosen.warmup_rounds + chosen.rounds):
    order.reverse()  # two arms: balanced over every two rounds
    phase = "warmup" if round_ < chosen.warmup_rounds else "measure"
    for position, (case, function) in enumerate(order):
        loops = 20
        begin = time.thread_time_ns()
        for _ in range(loops):
            function(numbers)
        end = time.thread_time_ns()
        where = {
            "launch": chosen.launch,
            "round": round_,
            "position": position,
            "phase": phase,
        }
        say(
            "samples",
            case=case,
            metric="time",
            iterations=loops,
            values=[end - begin],
            t_ns=end,
            **where,
        )
say(
    "check",
    name="adds_up",
    ok=plain(numbers) == built_in(numbers) == 1_999_000,
    detail="",
)
say("done")
