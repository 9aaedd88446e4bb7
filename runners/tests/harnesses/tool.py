"""A stand-in for a program that is linked with Google Benchmark: it takes its options and writes its JSON.

Its times are declared in `times.json` beside it, so that an effect can be planted exactly; each start varies them a
little, the same way on both sides. `mode.txt` says how it misbehaves.
"""

from __future__ import annotations

TOOL = '''\
"""import google_benchmark"""
import json, os, re, sys, time
from pathlib import Path

here = Path(__file__).parent
mode = (here / "mode.txt").read_text().strip() if (here / "mode.txt").exists() else ""
times = json.loads((here / "times.json").read_text())
options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
print("[==========] progress 50 %")
print("{ not json")
if mode == "forever":
    time.sleep(3600)
if mode == "asks":
    input("Overwrite former results? ")
wanted = re.compile(options.get("--benchmark_filter", "."))
counter = Path(os.environ.get("TOOL_COUNTER", "/dev/null"))
starts = len(counter.read_text().splitlines()) if counter.is_file() else 0
if counter.is_file():
    with counter.open("a") as file:
        file.write(options.get("--benchmark_filter", "all") + "\\n")
if "TOOL_LAYOUTS" in os.environ:
    with open(os.environ["TOOL_LAYOUTS"], "a") as file:
        file.write(str(len(os.environ["PACELINE_LAYOUT"])) + "\\n")
benchmarks = []
for name, each in times.items():
    if not wanted.search(name):
        continue
    jitter = 1 + 0.001 * ((len(name) * 7 + starts * 3) % 5)
    for index in range(int(options["--benchmark_repetitions"])):
        entry = {"name": name, "run_type": "iteration", "repetition_index": index, "iterations": 1000, "time_unit": "us"}
        if isinstance(each, str):
            entry |= {"error_occurred": True, "error_message": each}
        else:
            entry |= {"real_time": each * jitter, "cpu_time": each * jitter}
            if mode == "first without" and not starts:
                entry["cpu_time"] = 0.0
        benchmarks.append(entry)
    if mode == "twice":
        benchmarks.append(benchmarks[-1])
if mode == "not a number":
    benchmarks[0]["real_time"] = float("nan")
document = {"context": {"library_version": "1.9.5"}, "benchmarks": benchmarks}
if mode != "no results":
    Path(options["--benchmark_out"]).write_text(json.dumps(document))
if mode == "fails":
    print("assertion failed: heap is corrupt", file=sys.stderr)
    sys.exit(3)
'''
