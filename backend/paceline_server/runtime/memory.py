"""Tunes the garbage collector of a long-lived server process.

By default it runs after each 700 new containers, and a response of thousands of rows makes as many: it took half of
their time (`backend/benchmarks/history.py --pages`).
"""

from __future__ import annotations

import gc

YOUNG = 10_000
"""New containers before a collection: about a large page of rows. More gains nothing."""


def tune_collector() -> None:
    """Exempt the objects that exist now, and collect less often. Call it once, when all code is loaded."""
    gc.collect()
    gc.freeze()
    _, middle, old = gc.get_threshold()
    gc.set_threshold(YOUNG, middle, old)
