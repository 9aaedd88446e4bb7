#!/usr/bin/env python3
"""Real programs under two allocators: ratios of time, page faults, peak memory and instructions.

    programs.py OURS OTHER [--rounds=10] [--only=TEXT] [--percent=100] [--instructions]

OURS and OTHER are shared libraries, preloaded in turn, round after round and first in every second round, so
that a busy machine slows both alike. A figure is the median over rounds of ours divided by other's, and for
time also the least of ours by the least of other's, which a busy machine disturbs less; user and system time
of the program and what it started, by wait4. Programs and their inputs are those of the suite's benchmark
`programs` (bench/programs/prepare.sh), which measures four arms and has a judge; here any two libraries are.
With --instructions callgrind counts the user's instructions once for each, and nothing else is measured. The
last line is the geometric mean, of the least times.

It deliberately does not judge outputs (preload.sh does) and keeps no times: they are of the machine.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PREPARE = Path(__file__).resolve().parents[1] / "bench" / "programs" / "prepare.sh"


def programs(work: Path, percent: str) -> dict[str, list[str]]:
    """Name to command; each is repeatable and says little."""
    subprocess.run(
        ["sh", PREPARE, work, percent], check=True, stdout=subprocess.DEVNULL
    )
    lines = [line.split("\t") for line in (work / "commands").read_text().splitlines()]
    return {
        name: command for name, *command in lines if name != "redis"
    }  # a server, no command


def environment(library: str) -> dict[str, str]:
    return {
        **os.environ,
        "LD_PRELOAD": library,
        "PYTHONMALLOC": "malloc",
        "PYTHONHASHSEED": "0",
    }


def measure(command: list[str], library: str) -> tuple[float, float, float]:
    """Seconds of processor, page faults and KiB at most, of one run."""
    with Path(os.devnull).open("wb") as nothing:
        child = subprocess.Popen(command, env=environment(library), stdout=nothing)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        sys.exit(f"{command[0]} ended with status {status:#x} under {library}")
    return used.ru_utime + used.ru_stime, used.ru_minflt, used.ru_maxrss


def instructions(command: list[str], library: str) -> int:
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    done = subprocess.run(
        tool + command,
        check=False,
        env=environment(library),
        capture_output=True,
        text=True,
    )
    counts = [line for line in done.stderr.splitlines() if "Collected" in line]
    if done.returncode != 0 or not counts:
        sys.exit(f"{command[0]} under callgrind and {library}: {done.stderr[-2000:]}")
    return int(counts[-1].split(":")[1])


def compare(name: str, command: list[str], ours: str, other: str, rounds: int) -> float:
    """Prints the line of a program; answers the ratio of the least times."""
    rows, times = [], []
    for number in range(rounds):
        first, second = (ours, other) if number % 2 == 0 else (other, ours)
        pair = {library: measure(command, library) for library in (first, second)}
        rows.append(tuple(a / b for a, b in zip(pair[ours], pair[other], strict=True)))
        times.append((pair[ours][0], pair[other][0]))
    time, faults, peak = (
        statistics.median(column) for column in zip(*rows, strict=True)
    )
    spread = sorted(row[0] for row in rows)
    least = min(a for a, _ in times) / min(b for _, b in times)
    within = f"({spread[0]:.3f}, {spread[-1]:.3f})"
    say(f"{name:14} {least:.3f}  {time:.3f} {within} {faults:7.3f} {peak:8.3f}")
    return least


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    options = dict(
        word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--")
    )
    libraries = [
        str(Path(word).resolve()) for word in sys.argv[1:] if not word.startswith("--")
    ]
    if len(libraries) != 2:
        sys.exit(__doc__)
    ours, other = libraries
    means = []
    with tempfile.TemporaryDirectory() as folder:
        say(
            "instructions"
            if "instructions" in options
            else "program      least  median (from, to)  faults  peak memory"
        )
        for name, command in programs(
            Path(folder), options.get("percent", "100")
        ).items():
            if options.get("only", "") not in name:
                continue
            if "instructions" in options:
                means.append(instructions(command, ours) / instructions(command, other))
                say(f"{name:14} {means[-1]:.3f}")
                continue
            means.append(
                compare(name, command, ours, other, int(options.get("rounds", "10")))
            )
    say(f"geometric mean {math.exp(statistics.fmean(map(math.log, means))):.3f}")


if __name__ == "__main__":
    main()
