"""The garbage collector of a long-lived server process.

Place: called once by every entry point when all code is loaded, before the first request or message. Python's
defaults look through everything that lives after each 700 new containers; what is loaded here never becomes
garbage, and an answer of thousands of rows makes as many containers: half of its time went into looking
(`backend/benchmarks/history.py --pages`). Decides nothing of what is freed, only how often is looked.
"""

from __future__ import annotations

import gc

YOUNG = 10_000
"""containers before the youngest are looked at: about one large page of rows; larger gains nothing more."""


def settle() -> None:
    """Never look again at what is loaded, and look less often at what is new. Once per process."""
    gc.collect()
    gc.freeze()
    _, middle, old = gc.get_threshold()
    gc.set_threshold(YOUNG, middle, old)
