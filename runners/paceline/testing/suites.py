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
