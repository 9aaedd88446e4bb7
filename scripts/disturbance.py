"""Measures real interleaved pairs beside busy neighbours, judges windows of them, and prints tables of the outcomes.

Every launch is a process that runs eight arms a round in a balanced random order: the reference, the same work again,
and work that takes 1.02 to 2 times as long. Windows of 5 different launches are drawn from the recorded ones, with their
rounds as measured, and judged as a job is, with the conditions that were read during them. Which of the two equal arms
is the reference is drawn for each launch: they are exchangeable, so their true ratio is 1 however few launches there
are. A second table says how far neighbours move the ratio of unequal work; a third simulates drift of up to 30 %, a
fourth launches that differ, in jobs of one pair and of many.
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from disturbance_launch import BYTES, EFFECTS, WARMUP
from disturbance_stopping import report_stopping
from paceline.conditions import HostConditions
from paceline.cpu_wait import WorkloadWait
from paceline_server.detect.compare import policy_under
from paceline_server.stats.blocks import Dropped, PairedBlocks, pair_blocks
from paceline_server.stats.constants import LOOK_ALPHA
from paceline_server.stats.disturbance import Disturbance, separate_disturbances
from paceline_server.stats.paired import (
    METHOD,
    SHARE_METHOD,
    PairPolicy,
    PairVerdict,
    control_run,
    judge_pair,
    pool_launch_noise,
)
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import Reading, VoidLimits, find_voids
from paceline_server.testing.simulated_jobs import BIASED_SHARE, job_cases

LAUNCHES = 5
MARGIN_PERCENT = 2.0
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
"""Kinds of neighbours, each with its number of processes."""
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
NOISES = (0.0, 0.01, 0.02, 0.03)
NOISE_WINDOWS = 200
PAIRS = (1, 20)
METHODS = (SHARE_METHOD, METHOD)


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


@dataclass(frozen=True)
class Outcome:
    """The verdict of a window as a job gets it, the extra margin that it had to clear, in percent, its verdict without
    one, and its ln ratio."""

    verdict: str
    extra: float
    plain: str
    bias: float


def judge_window(
    cases: tuple[CaseSamples, CaseSamples], readings: Sequence[Reading], method: str
) -> Outcome:
    """Judge a window by a method, as an arm at two revisions: equal work runs the same code."""
    voids, disturbance = separate_disturbances(
        find_voids(readings), "host", method, "revisions"
    )
    blocks = pair_blocks(*cases, "lower")
    outcome = _judge(blocks, policy_under(disturbance, MARGIN_PERCENT))
    plain = outcome
    if outcome.extra_percent:
        undisturbed = Disturbance(method=method)
        plain = _judge(blocks, policy_under(undisturbed, MARGIN_PERCENT))
    return Outcome(
        "void" if voids else outcome.verdict,
        outcome.extra_percent,
        plain.verdict,
        abs(float(np.median(blocks.d))),
    )


def _judge(blocks: PairedBlocks, policy: PairPolicy, look: int = 0) -> PairVerdict:
    (outcome,) = control_run([judge_pair(blocks, look, policy)], policy=policy)
    return outcome


def window_cases(
    drawn: Sequence[dict[str, Any]],
    kernel: str,
    effect: float,
    rng: np.random.Generator,
) -> tuple[CaseSamples, CaseSamples]:
    """Return the samples of an arm with this effect, and of its reference, in the drawn launches."""
    recorded = np.array([launch["ns"][kernel] for launch in drawn], dtype=np.float64)
    launches, rounds, _ = recorded.shape
    references = rng.integers(0, 2, launches)
    arms = (
        1 - references
        if effect == 1.0
        else np.full(launches, 1 + EFFECTS.index(effect))
    )
    at = np.arange(launches)
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
        recorded[at, :, arms].ravel(),
        number < WARMUP,
    )
    return base, replace(
        base, arm="reference", value=recorded[at, :, references].ravel()
    )


def window_readings(drawn: Sequence[dict[str, Any]]) -> list[Reading]:
    """Return the conditions of the drawn launches, as an agent reports them."""
    return [
        Reading("before", 0, drawn[0]["before"]),
        *(
            Reading("during", 1000 * place, launch["during"])
            for place, launch in enumerate(drawn)
        ),
        Reading("after", 9000, drawn[-1]["before"]),
    ]


def report_neighbours(recorded: Sequence[dict[str, Any]], method: str) -> int:
    """Print the outcomes by neighbour, and return how many verdicts on equal arms were false."""
    window_rng = random.Random(20261128)  # noqa: S311 - windows, not secrets
    rng = np.random.default_rng(20261128)
    _say(
        f"\n`{method}`\n\n"
        "| neighbours | waiting | extra | worst ratio of equal arms | false: equal slower | without the extra "
        "| false: +3 % passes | equal decided | +5 % | +10 % | 1.5 | 2 |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    false_verdicts = 0
    for row in recorded:
        launches = row["launches"]
        verdicts: dict[float, Counter[str]] = {}
        equal: list[Outcome] = []
        for effect in (1.0, 1.03, 1.05, 1.1, 1.5, 2.0):
            outcomes = []
            for window in range(AA_WINDOWS if effect == 1.0 else POWER_WINDOWS):
                drawn = window_rng.sample(launches, LAUNCHES)
                kernel = tuple(BYTES)[window % len(BYTES)]
                cases = window_cases(drawn, kernel, effect, rng)
                outcomes.append(judge_window(cases, window_readings(drawn), method))
            verdicts[effect] = Counter(outcome.verdict for outcome in outcomes)
            equal = outcomes if effect == 1.0 else equal
        false_verdicts += verdicts[1.0]["fail"]
        waits = [
            launch["during"].get("workload_wait_percent", 0.0) for launch in launches
        ]
        decided = verdicts[1.0]["pass"] + verdicts[1.0]["fail"]
        name = f"{row['number']} {row['kind']}" if row["number"] else "none"
        cells = [
            f"{name}, {'pinned' if row['pinned'] else 'free'}",
            f"{sum(waits) / len(waits):.0f} %",
            f"{sum(outcome.extra for outcome in equal) / AA_WINDOWS:.1f} %",
            f"{100 * max(outcome.bias for outcome in equal):.1f} %",
            f"{verdicts[1.0]['fail']} of {AA_WINDOWS}",
            f"{sum(outcome.plain == 'fail' for outcome in equal)}",
            f"{verdicts[1.03]['pass']} of {POWER_WINDOWS}",
            f"{100 * decided / AA_WINDOWS:.0f} %",
            *(
                f"{100 * verdicts[effect]['fail'] / POWER_WINDOWS:.0f} %"
                for effect in (1.05, 1.1, 1.5, 2.0)
            ),
        ]
        _say(f"| {' | '.join(cells)} |")
    return false_verdicts


def report_drift(method: str) -> int:
    """Print the outcomes under a simulated drift of both arms, and of one alone, and return how many verdicts were
    false."""
    rng = np.random.default_rng(20261128)
    _say(
        f"\n`{method}`\n\n| drift | of | extra | false: equal slower | equal arms pass | +5 % | +10 % | 1.5 | 2 |"
        "\n|---|---|---|---|---|---|---|---|---|"
    )
    false_verdicts = 0
    for drift in DRIFTS:
        readings = [
            Reading("before", 0, {"calibration_ns": 1e6}),
            Reading("after", 1, {"calibration_ns": 1e6 * (1 + drift)}),
        ]
        for suffers in ("both arms", "one arm"):
            counts: dict[tuple[float, str], int] = Counter()
            extras = []
            for effect in (1.0, 1.05, 1.1, 1.5, 2.0):
                for _ in range(DRIFT_WINDOWS):
                    arm, reference = job_cases(rng, effect - 1.0)
                    at = np.linspace(0.0, 1.0, arm.value.size)
                    slower = 1.0 + drift * at
                    arm = replace(arm, value=arm.value * slower)
                    if suffers == "both arms":
                        reference = replace(reference, value=reference.value * slower)
                    outcome = judge_window((arm, reference), readings, method)
                    counts[effect, outcome.verdict] += 1
                    extras.append(outcome.extra)
            false_verdicts += counts[1.0, "fail"]
            shares = [
                f"{100 * counts[effect, 'fail'] / DRIFT_WINDOWS:.0f} %"
                for effect in (1.05, 1.1, 1.5, 2.0)
            ]
            cells = [
                f"{100 * drift:.0f} %",
                suffers,
                f"{sum(extras) / len(extras):.1f} %",
                f"{counts[1.0, 'fail']} of {DRIFT_WINDOWS}",
                f"{counts[1.0, 'pass']} of {DRIFT_WINDOWS}",
                *shares,
            ]
            _say(f"| {' | '.join(cells)} |")
    return false_verdicts


def report_unequal(recorded: Sequence[dict[str, Any]]) -> None:
    """Print how far neighbours move the ratio of hashing to copying, with its standard error by launches."""
    _say("\n| neighbours | waiting | hashing to copying moves by |\n|---|---|---|")
    quiet: dict[bool, tuple[float, float]] = {}
    for row in recorded:
        logs = [
            float(np.median(np.log(ns["hash"]) - np.log(ns["copy"])))
            for ns in (
                {
                    kernel: np.array(launch["ns"][kernel])[WARMUP:, :2]
                    for kernel in BYTES
                }
                for launch in row["launches"]
            )
        ]
        middle = float(np.median(logs))
        scatter = 1.4826 * float(np.median(np.abs(np.array(logs) - middle)))
        error = 1.2533 * scatter / len(logs) ** 0.5
        quiet.setdefault(row["pinned"], (middle, error))
        moved = np.expm1(middle - quiet[row["pinned"]][0])
        waits = [
            launch["during"].get("workload_wait_percent", 0.0)
            for launch in row["launches"]
        ]
        name = f"{row['number']} {row['kind']}" if row["number"] else "none"
        _say(
            f"| {name}, {'pinned' if row['pinned'] else 'free'} | {np.mean(waits):.0f} % "
            f"| {100 * moved:+.1f} % (± {100 * np.hypot(error, quiet[row['pinned']][1]):.1f}) |"
        )


def report_launches() -> None:
    """Print the outcomes of jobs of up to three batches whose launches differ. No target was disturbed, so that it has
    no part in the exit status."""
    rng = np.random.default_rng(20261128)
    _say(
        f"\n`{METHOD}`\n\n| launch noise | biased launches | pairs | false: equal slower | +1 % slower | false: +3 % passes "
        "| equal pass, first batch | equal pass | +3 % | +5 % | +10 % |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for biased in (0.0, BIASED_SHARE):
        for noise in NOISES:
            for pairs in PAIRS if noise and not biased else PAIRS[:1]:
                counts: dict[tuple[float, str], int] = Counter()
                for effect in (0.0, 0.01, 0.03, 0.05, 0.1):
                    windows = NOISE_WINDOWS * (10 if effect in (0.0, 0.03) else 1)
                    for _ in range(windows // pairs):
                        for verdict, look in _judge_noisy_launches(
                            rng, effect, (noise, biased), pairs
                        ):
                            counts[effect, verdict] += 1
                            if look == 0:
                                counts[effect, f"{verdict} at once"] += 1
                all_windows = 10 * NOISE_WINDOWS
                cells = [
                    f"{100 * noise:.0f} %",
                    f"{100 * biased:.1f} %",
                    f"{pairs}",
                    f"{counts[0.0, 'fail']} of {all_windows}",
                    f"{counts[0.01, 'fail']} of {NOISE_WINDOWS}",
                    f"{counts[0.03, 'pass']} of {all_windows}",
                    f"{100 * counts[0.0, 'pass at once'] / all_windows:.1f} %",
                    f"{100 * counts[0.0, 'pass'] / all_windows:.1f} %",
                    f"{100 * counts[0.03, 'fail'] / all_windows:.1f} %",
                    f"{100 * counts[0.05, 'fail'] / NOISE_WINDOWS:.1f} %",
                    f"{100 * counts[0.1, 'fail'] / NOISE_WINDOWS:.1f} %",
                ]
                _say(f"| {' | '.join(cells)} |")


def _judge_noisy_launches(
    rng: np.random.Generator,
    effect: float,
    noise_and_biased: tuple[float, float],
    pairs: int,
) -> list[tuple[str, int]]:
    """Return the verdicts on the pairs of a job whose launches differ, each with the look that ended it."""
    noise, biased = noise_and_biased
    undisturbed = Disturbance()
    looks = len(LOOK_ALPHA)
    measured = []
    for _ in range(pairs):
        cases = job_cases(rng, effect, launches=LAUNCHES * looks, biased_share=biased)
        blocks = pair_blocks(*cases, "lower")
        shifts = rng.normal(0.0, noise, LAUNCHES * looks)
        measured.append(replace(blocks, d=blocks.d + shifts[blocks.launch]))
    verdicts: dict[int, tuple[str, int]] = {}
    for look in range(looks):
        batches = [_take_launches(blocks, LAUNCHES * (look + 1)) for blocks in measured]
        policy = policy_under(undisturbed, MARGIN_PERCENT)
        outcomes = [_judge(batch, policy, look) for batch in batches]
        policy = policy_under(undisturbed, MARGIN_PERCENT, pool_launch_noise(outcomes))
        if policy.knows_noisy_launches:
            outcomes = [_judge(batch, policy, look) for batch in batches]
        for pair, outcome in enumerate(outcomes):
            if pair not in verdicts and not outcome.extendable:
                verdicts[pair] = outcome.verdict, look
        if len(verdicts) == pairs:
            break
    return list(verdicts.values())


def _take_launches(blocks: PairedBlocks, launches: int) -> PairedBlocks:
    taken = blocks.launch < launches
    return replace(
        blocks,
        d=blocks.d[taken],
        launch=blocks.launch[taken],
        round=blocks.round[taken],
        arm_value=blocks.arm_value[taken],
        reference_value=blocks.reference_value[taken],
        dropped=Dropped(),
    )


def main() -> int:
    """Measure or replay, and print the tables by the former method and by this one. Exit status 1 if more than 1 in 1,000
    equal pairs were called slower, the error rate that the looks of a job share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=7.0)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--stopping", nargs="*", type=Path)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--undisturbed", action="store_true")
    options = parser.parse_args()
    if options.stopping is not None:
        limits = VoidLimits()
        if options.undisturbed:
            limits = VoidLimits.of_operator(100.0, 100_000.0)
        return report_stopping(options.jobs, options.stopping, limits)
    if options.replay is not None:
        recorded = json.loads(options.replay.read_text(encoding="utf-8"))
    else:
        recorded = measure(options.seconds)
    if options.record is not None:
        options.record.write_text(json.dumps(recorded), encoding="utf-8")
    false_verdicts = 0
    report_unequal(recorded)
    for method in METHODS:
        false_verdicts = report_neighbours(recorded, method) + report_drift(method)
    report_launches()
    _say(f"\n{false_verdicts} verdicts on equal arms were false by `{METHOD}`.")
    return 1 if false_verdicts > AA_WINDOWS * len(recorded) / 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
