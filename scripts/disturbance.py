"""Measures real interleaved pairs beside busy neighbours, judges windows of them, and prints tables of the outcomes.

Every launch is a process that runs eight arms a round in a balanced random order: the reference, the same work again,
and work that takes 1.02 to 2 times as long. Windows of 5 different launches are drawn from the recorded ones, with
their rounds resampled, and judged as a job is, with the conditions that were read during them. A second table simulates
drift of up to 30 %.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from disturbance_launch import BYTES, EFFECTS, WARMUP
from paceline.conditions import HostConditions
from paceline.cpu_wait import WorkloadWait
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.disturbance import separate_disturbances
from paceline_server.stats.paired import PairPolicy, control_run, judge_pair
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import Reading, find_voids
from paceline_server.testing.simulated_jobs import job_cases

LAUNCHES = 5
LAUNCH = str(Path(__file__).with_name("disturbance_launch.py"))
NEIGHBOURS = (
    ("quiet", 0),
    ("cpu", 2),
    ("cpu", 4),
    ("cpu", 8),
    ("memory", 1),
    ("memory", 2),
    ("memory", 4),
    ("cache", 2),
    ("cache", 4),
    ("io", 2),
    ("fork", 2),
    ("fork", 4),
)
"""Each is a kind and a number of processes."""
STRESSORS = {
    "cpu": "--cpu",
    "memory": "--stream",
    "cache": "--cache",
    "io": "--hdd",
    "fork": "--fork",
}
LOOPS = {
    "cpu": "while True: pass",
    "memory": "b = bytearray(64_000_000)\nwhile True: b[:32_000_000] = b[32_000_000:]",
    "cache": "b = bytearray(1_000_000)\nwhile True: b[::64] = b[::64]",
    "io": "import os, tempfile\nf = tempfile.TemporaryFile()\n"
    "while True: f.seek(0); f.write(bytes(4_000_000)); f.flush(); os.fsync(f.fileno())",
    "fork": "import os\nwhile True:\n if os.fork() == 0: os._exit(0)\n os.wait()",
}
"""These run instead of stress-ng where that is not installed."""
_PIN = "taskset -c 0"
AA_WINDOWS, POWER_WINDOWS = 2000, 200
DRIFTS = (0.0, 0.05, 0.1, 0.2, 0.3)
DRIFT_WINDOWS = 200


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def neighbours(kind: str, number: int) -> Iterator[None]:
    """Run so many neighbours of a kind."""
    processes: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as scratch:
        if number and shutil.which("stress-ng"):
            size = ["--hdd-bytes", "32M"] if kind == "io" else []
            command = ["stress-ng", STRESSORS[kind], str(number), *size]
            processes.append(
                _start_neighbour([*command, "--temp-path", scratch, "--quiet"])
            )
        else:
            processes += [
                _start_neighbour([sys.executable, "-c", LOOPS[kind]])
                for _ in range(number)
            ]
        try:
            yield
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def _start_neighbour(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def measure(seconds: float) -> list[dict[str, Any]]:
    """Record launches beside each kind and number of neighbours, pinned to a core and not."""
    recorded = []
    host, seed = HostConditions(), 0
    for kind, number in NEIGHBOURS:
        for pinned in (False, True):
            launches: list[dict[str, Any]] = []
            with neighbours(kind, number):
                until = time.monotonic() + seconds
                time.sleep(0.3)
                while time.monotonic() < until or len(launches) < LAUNCHES:
                    seed += 1
                    before = host.read(full=True)
                    # A shell stands where the agent does: the waiting of its descendants is read.
                    script = f'{_PIN if pinned else ""} "$@"; true'
                    launch = [sys.executable, "-E", "-S", LAUNCH]
                    process = subprocess.Popen(
                        ["sh", "-c", script, "sh", *launch, str(seed)],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                    )
                    waiting = WorkloadWait(process.pid)
                    waiting.read()
                    assert process.stdout is not None  # noqa: S101 - it is piped
                    assert process.stdin is not None  # noqa: S101 - it is piped
                    text = process.stdout.readline()
                    during = host.read(full=False)
                    during.pop("workload_wait_percent", None)
                    during.update(waiting.read())
                    process.stdin.close()
                    process.wait()
                    launches.append(
                        {"ns": json.loads(text), "before": before, "during": during}
                    )
            freedom = "pinned" if pinned else "free"
            sys.stderr.write(f"{kind} {number} {freedom}: {len(launches)} launches\n")
            recorded.append(
                {"kind": kind, "number": number, "pinned": pinned, "launches": launches}
            )
    return recorded


def judge_window(
    cases: tuple[CaseSamples, CaseSamples], readings: Sequence[Reading]
) -> tuple[str, float, float]:
    """Return the verdict of a window as a job gets it, the extra margin it had to clear, in percent, and its ln
    ratio."""
    voids, disturbance = separate_disturbances(find_voids(readings), "host")
    policy = PairPolicy(
        extra_percent=disturbance.extra_percent, disturbed=disturbance.phrase
    )
    blocks = pair_blocks(*cases, "lower")
    (outcome,) = control_run([judge_pair(blocks, 0, policy)], policy=policy)
    verdict = "void" if voids else outcome.verdict
    return verdict, policy.extra_percent, abs(float(np.median(blocks.d)))


def window_cases(
    drawn: Sequence[dict[str, Any]],
    kernel: str,
    arm: int,
    reference: int,
    rng: np.random.Generator,
) -> tuple[CaseSamples, CaseSamples]:
    """Return the samples of two arms in launches that were drawn."""
    recorded = np.array([launch["ns"][kernel] for launch in drawn], dtype=np.float64)
    launches, rounds, _ = recorded.shape
    # Launches are drawn once each, as a job has them, and their measured rounds with replacement.
    chosen = rng.integers(WARMUP, rounds, (launches, rounds))
    chosen[:, :WARMUP] = np.arange(WARMUP)
    values = recorded[np.arange(launches)[:, None], chosen]
    launch, number = np.indices((launches, rounds)).reshape(2, -1)
    base = CaseSamples(
        "b",
        "arm",
        {},
        "time",
        "ns",
        "lower",
        launch,
        number,
        np.zeros(launch.size, dtype=np.int64),
        values[:, :, arm].ravel(),
        number < WARMUP,
    )
    return base, replace(base, arm="reference", value=values[:, :, reference].ravel())


def window_readings(drawn: Sequence[dict[str, Any]]) -> list[Reading]:
    """Return the conditions of launches that were drawn, as an agent reports them."""
    return [
        Reading("before", 0, drawn[0]["before"]),
        *(
            Reading("during", 1000 * place, launch["during"])
            for place, launch in enumerate(drawn)
        ),
        Reading("after", 9000, drawn[-1]["before"]),
    ]


def report_neighbours(recorded: Sequence[dict[str, Any]]) -> int:
    """Print the outcomes by neighbour, and return how many verdicts on equal arms were false."""
    window_rng = random.Random(20261128)  # noqa: S311 - windows, not secrets
    rng = np.random.default_rng(20261128)
    _say(
        "| neighbours | waiting | extra | worst ratio of equal arms | false: equal slower | false: +3 % passes "
        "| equal decided | +5 % | +10 % | 1.5 | 2 |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    false_verdicts = 0
    for row in recorded:
        launches = row["launches"]
        outcomes: dict[float, Counter[str]] = {}
        extras, biases, waits = [], [], []
        for effect in (1.0, 1.03, 1.05, 1.1, 1.5, 2.0):
            counts: Counter[str] = Counter()
            for window in range(AA_WINDOWS if effect == 1.0 else POWER_WINDOWS):
                drawn = window_rng.sample(launches, LAUNCHES)
                kernel = tuple(BYTES)[window % len(BYTES)]
                arms = (1 + EFFECTS.index(effect), 0)
                if effect == 1.0 and window % 4 >= 2:
                    arms = (0, 1)
                verdict, extra, bias = judge_window(
                    window_cases(drawn, kernel, *arms, rng), window_readings(drawn)
                )
                counts[verdict] += 1
                if effect == 1.0:
                    extras.append(extra)
                    biases.append(bias)
                    waits += [
                        launch["during"].get("workload_wait_percent", 0.0)
                        for launch in drawn
                    ]
            outcomes[effect] = counts
        false_verdicts += outcomes[1.0]["fail"]
        shares = [
            f"{100 * outcomes[effect]['fail'] / POWER_WINDOWS:.0f} %"
            for effect in (1.05, 1.1, 1.5, 2.0)
        ]
        decided = outcomes[1.0]["pass"] + outcomes[1.0]["fail"]
        name = f"{row['number']} {row['kind']}" if row["number"] else "none"
        cells = [
            f"{name}, {'pinned' if row['pinned'] else 'free'}",
            f"{sum(waits) / len(waits):.0f} %",
            f"{sum(extras) / len(extras):.1f} %",
            f"{100 * max(biases):.1f} %",
            f"{outcomes[1.0]['fail']} of {AA_WINDOWS}",
            f"{outcomes[1.03]['pass']} of {POWER_WINDOWS}",
            f"{100 * decided / AA_WINDOWS:.0f} %",
            *shares,
        ]
        _say(f"| {' | '.join(cells)} |")
    return false_verdicts


def report_drift() -> int:
    """Print the outcomes under a simulated drift of both arms, and of one alone, and return how many verdicts were
    false."""
    rng = np.random.default_rng(20261128)
    _say(
        "\n| drift | of | false: equal slower | equal arms pass | +10 % | 1.5 | 2 |"
        "\n|---|---|---|---|---|---|---|"
    )
    false_verdicts = 0
    for drift in DRIFTS:
        readings = [
            Reading("before", 0, {"calibration_ns": 1e6}),
            Reading("after", 1, {"calibration_ns": 1e6 * (1 + drift)}),
        ]
        for suffers in ("both arms", "one arm"):
            counts: dict[tuple[float, str], int] = Counter()
            for effect in (1.0, 1.1, 1.5, 2.0):
                for _ in range(DRIFT_WINDOWS):
                    arm, reference = job_cases(rng, effect - 1.0)
                    at = np.linspace(0.0, 1.0, arm.value.size)
                    slower = 1.0 + drift * at
                    arm = replace(arm, value=arm.value * slower)
                    if suffers == "both arms":
                        reference = replace(reference, value=reference.value * slower)
                    verdict, _, _ = judge_window((arm, reference), readings)
                    counts[effect, verdict] += 1
            false_verdicts += counts[1.0, "fail"]
            shares = [
                f"{100 * counts[effect, 'fail'] / DRIFT_WINDOWS:.0f} %"
                for effect in (1.1, 1.5, 2.0)
            ]
            cells = [
                f"{100 * drift:.0f} %",
                suffers,
                f"{counts[1.0, 'fail']} of {DRIFT_WINDOWS}",
                f"{counts[1.0, 'pass']} of {DRIFT_WINDOWS}",
                *shares,
            ]
            _say(f"| {' | '.join(cells)} |")
    return false_verdicts


def main() -> int:
    """Measure or replay, and print both tables. Exit status 1 if more than 1 in 1,000 equal pairs were called slower,
    which is what the looks of a job may spend."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=11.0)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--replay", type=Path)
    options = parser.parse_args()
    if options.replay is not None:
        recorded = json.loads(options.replay.read_text(encoding="utf-8"))
    else:
        recorded = measure(options.seconds)
    if options.record is not None:
        options.record.write_text(json.dumps(recorded), encoding="utf-8")
    false_verdicts = report_neighbours(recorded) + report_drift()
    _say(f"\n{false_verdicts} verdicts on equal arms were false.")
    return 1 if false_verdicts > AA_WINDOWS * len(recorded) / 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
