"""Manifests for tests: a complete one, and a real two-arm Python workload in a repository of its own."""

from __future__ import annotations

MANIFEST = """\
schema = 1

[suite]
name = "mine"
title = "Mine"

[[workloads]]
name = "sorts"
[workloads.host]
build = []
artifacts = ["sorts.py"]
run = ["python3", "{artifacts}/sorts.py"]
launch_timeout_s = 60
toolchain = [["python3", "--version"]]

[benchmarks.sort]
title = "Sorting a list"
workload = "sorts"
arms = ["merge", "builtin"]
reference = "merge"

[benchmarks.sort.params.n]
kind = "int"
values = [100, 200]
minimum = 1
maximum = 1000

[benchmarks.sort.metrics.time]
unit = "ns"
direction = "lower"

[knobs.slow_percent]
kind = "int"
minimum = 0
maximum = 400
default = 0
demonstration = true
description = "Slows the builtin arm on purpose."

[[derived]]
name = "growth"
kind = "ratio_across_param"
benchmark = "sort"
metric = "time"
arm = "builtin"
param = "n"
from = 100
to = 200

[[gates]]
benchmark = "sort"
arm = "builtin"
metric = "time"
op = "<"
required = 1e9
stretch = 1e8

[[rules]]
name = "builtin-slower-than-merge"
kind = "arm_slower"
benchmark = "sort"
arms = ["builtin"]
text = "The builtin sort should win."

[expected]
checks = ["sorted"]
"""

WORKLOAD = '''\
"""A two-arm workload in another language, written from the contract's prose alone."""
import argparse, json, random, sys, time

options = argparse.ArgumentParser()
options.add_argument("--list", action="store_true")
options.add_argument("--launch", type=int, default=0)
options.add_argument("--rounds", type=int, default=20)
options.add_argument("--warmup-rounds", type=int)
options.add_argument("--min-time-ns", type=int, default=1_000_000)
options.add_argument("--seed", type=int, default=0)
options.add_argument("--benchmark", action="append")
options.add_argument("--params", action="append", default=[])
options.add_argument("--knob", action="append", default=[])
chosen = options.parse_args()
sizes = [100, 200]
for item in chosen.params:
    name, _, values = item.partition("=")
    sizes = [int(value) for value in values.split("|")]
knobs = dict(item.split("=") for item in chosen.knob)
slow = int(knobs.get("slow_percent", 0))
METRIC = {"name": "time", "unit": "ns", "direction": "lower"}


def say(type_, **fields):
    print(json.dumps({"type": type_, **fields}), flush=True)


def merge(values):
    if len(values) < 2:
        return values
    half = len(values) // 2
    left, right, out = merge(values[:half]), merge(values[half:]), []
    while left and right:
        out.append((left if left[0] <= right[0] else right).pop(0))
    return out + left + right


def builtin(values):
    for _ in range(1 + slow // 100):
        out = sorted(values)
    return out


ARMS = {"merge": merge, "builtin": builtin}
if chosen.list:
    pairs = [(n, arm) for n in sizes for arm in ARMS]
    cases = [{"benchmark": "sort", "arm": arm, "params": {"n": n}, "metrics": [METRIC]} for n, arm in pairs]
    print(json.dumps({"suite": "mine", "workload": "sorts", "cases": cases}))
    sys.exit(0)
clock = {"name": "perf_counter_ns", "resolution_ns": 40, "overhead_ns": 60}
who = {"suite": "mine", "workload": "sorts", "launch": chosen.launch, "seed": chosen.seed}
say("start", v=1, **who, build={}, clock=clock)
print("a word for people", file=sys.stderr)
rng = random.Random(chosen.seed)
warm = chosen.warmup_rounds if chosen.warmup_rounds is not None else max(5, -(-chosen.rounds // 10))
case = 0
for n in sizes:
    data = [rng.random() for _ in range(n)]
    ids = {}
    for arm in ARMS:
        ids[arm] = case
        say("case", case=case, benchmark="sort", arm=arm, params={"n": n}, metrics=[METRIC])
        case += 1
    loops = 1
    while True:
        times = []
        for arm in ARMS.values():
            begin = time.perf_counter_ns()
            for _ in range(loops):
                arm(data)
            times.append(time.perf_counter_ns() - begin)
        if min(times) >= chosen.min_time_ns:
            break
        loops *= 2
    for round_ in range(warm + chosen.rounds):
        order = list(ARMS)
        rng.shuffle(order)
        for position, arm in enumerate(order):
            begin = time.perf_counter_ns()
            for _ in range(loops):
                ARMS[arm](data)
            end = time.perf_counter_ns()
            phase = "warmup" if round_ < warm else "measure"
            where = {"launch": chosen.launch, "round": round_, "position": position, "phase": phase}
            what = {"case": ids[arm], "metric": "time", "iterations": loops}
            say("samples", **what, **where, values=[end - begin], t_ns=end)
say("check", name="sorted", ok=merge([3, 1, 2]) == builtin([3, 1, 2]), detail="against the builtin")
if slow:
    say("warning", code="demonstration", text="the builtin arm is slowed on purpose")
say("done")
'''
