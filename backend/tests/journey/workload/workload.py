"""A two-arm workload with faults on request, which writes the bench stream with the standard library alone."""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

LINE = b"x" * 65536 + b"\n"


def loop(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def builtin(n: int) -> int:
    return sum(range(n))


ARMS = (("loop", loop), ("builtin", builtin))


def emit(**event: Any) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def timed(work: Callable[[int], int], n: int, iterations: int) -> tuple[int, int]:
    start = time.perf_counter_ns()
    for _ in range(iterations):
        work(n)
    end = time.perf_counter_ns()
    return end - start, end


def announce(options: argparse.Namespace, n: int) -> None:
    clock = {"name": "perf_counter", "resolution_ns": 1, "overhead_ns": 50}
    emit(
        type="start",
        v=1,
        suite="misbehaving",
        workload="sums",
        launch=options.launch,
        seed=options.seed,
        build={"python": sys.version.split()[0], "mode": options.mode},
        clock=clock,
    )
    metrics = [{"name": "time", "unit": "ns", "direction": "lower"}]
    for case, (arm, _) in enumerate(ARMS):
        emit(
            type="case",
            case=case,
            benchmark="sum",
            arm=arm,
            params={"n": n},
            metrics=metrics,
        )
    emit(
        type="check",
        name="sums_agree",
        ok=loop(n) == builtin(n),
        detail="loop equals builtin",
    )


def measure(options: argparse.Namespace, n: int) -> None:
    order = random.Random(options.seed * 1000 + options.launch)
    elapsed, _ = timed(loop, n, 10)
    iterations = max(1, 10 * options.min_time_ns // max(elapsed, 1))
    warmup = max(5, options.rounds // 10)
    total = warmup + options.rounds
    arms = list(enumerate(ARMS))
    for number in range(total):
        if (number - warmup) % 2:  # the order of before, the other way round
            arms.reverse()
        else:
            order.shuffle(arms)
        taken = [
            (case, position, *timed(work, n, iterations))
            for position, (case, (_, work)) in enumerate(arms)
        ]
        for case, position, value, t_ns in taken:
            phase = "warmup" if number < warmup else "measure"
            where = {
                "case": case,
                "metric": "time",
                "launch": options.launch,
                "round": number,
            }
            how = {"position": position, "phase": phase, "iterations": iterations}
            emit(type="samples", **where, **how, values=[value], t_ns=t_ns)
        emit(type="progress", done=number + 1, total=total)
        if options.mode == "slow":
            time.sleep(0.1)


def misbehave(mode: str) -> None:
    if mode == "garbage":
        print("Segment 7 of 9: 12.5 ms", flush=True)
    elif mode == "hang":
        threading.Event().wait()
    elif mode == "flood":
        for _ in range((1 << 30) // len(LINE)):
            sys.stdout.buffer.write(LINE)
    elif mode == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--launch", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--min-time-ns", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    for repeated in ("--case", "--benchmark", "--params", "--knob"):
        parser.add_argument(repeated, action="append", default=[])
    options = parser.parse_args()
    chosen = dict(pair.split("=", 1) for pair in options.knob)
    options.mode = chosen.get("mode", "good")
    n = int(dict(pair.split("=", 1) for pair in options.params).get("n", "2000"))
    if options.list:
        metrics = [{"name": "time", "unit": "ns", "direction": "lower"}]
        cases = [
            {"benchmark": "sum", "arm": arm, "params": {"n": n}, "metrics": metrics}
            for arm, _ in ARMS
        ]
        print(json.dumps({"suite": "misbehaving", "workload": "sums", "cases": cases}))
        return
    announce(options, n)
    if options.mode == "silent":
        return
    misbehave(options.mode)
    measure(options, n)
    emit(type="done")


if __name__ == "__main__":
    main()
