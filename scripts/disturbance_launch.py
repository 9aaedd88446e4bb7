"""Measures one launch of `disturbance.py` and prints its nanoseconds: by kernel, round and arm.

It is a process of its own that imports little, as a workload is.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time

EFFECTS = (1.0, 1.02, 1.03, 1.05, 1.1, 1.5, 2.0)
"""How many times the reference's work each arm does; the reference is one more arm."""
BYTES = {"hash": 2_000_000, "copy": 8_000_000}
"""Bytes of a sample of the reference: about a millisecond, bound by the core or by the memory."""
ROUNDS, WARMUP = 20, 5


def measure_launch(seed: int) -> dict[str, list[list[int]]]:
    """Run every arm once a round in a drawn order; every other round mirrors the one before it."""
    order_rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    source, target = memoryview(bytearray(32_000_000)), bytearray(32_000_000)
    result: dict[str, list[list[int]]] = {}
    for kernel, base in BYTES.items():
        sizes = [base, *(round(base * effect) for effect in EFFECTS)]
        rounds = []
        order = list(range(len(sizes)))
        for number in range(WARMUP + ROUNDS):
            order = order[::-1] if number % 2 else order_rng.sample(order, len(order))
            elapsed = [0] * len(sizes)
            for arm in order:
                start = time.perf_counter_ns()
                if kernel == "hash":
                    hashlib.sha256(source[: sizes[arm]]).digest()
                else:
                    target[: sizes[arm]] = source[: sizes[arm]]
                elapsed[arm] = time.perf_counter_ns() - start
            rounds.append(elapsed)
        result[kernel] = rounds
    return result


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_launch(int(sys.argv[1]))) + "\n")
    sys.stdout.flush()
    # Its caller reads how long it waited for a CPU before it ends.
    sys.stdin.readline()
