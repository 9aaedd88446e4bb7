"""Tunes the garbage collector of a long-lived server process.

By default it runs after every 700 new containers, and a response has thousands of rows: collecting took half of the
time of such a response (`backend/benchmarks/history.py --pages`).
"""

from __future__ import annotations

import gc

YOUNG = 10_000
"""New containers before a collection, about as many as a large page of rows has. More gains nothing."""


def tune_collector() -> None:
    """Exempt the objects that exist now, and collect less often. It is called once, when all code is loaded."""
    gc.collect()
    gc.freeze()
    _, middle, old = gc.get_threshold()
    gc.set_threshold(YOUNG, middle, old)
