"""States how long a run will take: by what past runs took, or by the least time of its samples.

`paceline run` says it of runs on its own host, the server of runs on its targets, both in these words.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Work(NamedTuple):
    """The amount of work in a run: its samples, and how often it starts the tool of a harness."""

    samples: int
    tool_starts: int = 0


def scale_durations(took: Sequence[tuple[float, Work]], work: Work) -> float:
    """Return the seconds that `work` takes, by what other work took. They grow with the samples or with the starts,
    whichever makes it longer: how much of a start's time its samples are, nobody knows before."""
    by_kind: list[float] = []
    for kind, amount in enumerate(work):
        rates = [seconds / past[kind] for seconds, past in took if past[kind]]
        by_kind.append(median(rates) * amount if rates else 0.0)
    return max(by_kind)


def repeat_past_runs(took_s: Sequence[float]) -> str:
    """Return the estimate by past runs of the same choice, the newest last."""
    low, high = format_duration(min(took_s)), format_duration(max(took_s))
    spread = low if low == high else f"{low} to {high}"
    return f"about {format_duration(median(took_s))}, as {_last_runs(len(took_s))} of the same choice took {spread}"


def scale_past_runs(seconds: float, runs: int) -> str:
    """Return the estimate that was scaled from past runs of other choices."""
    return f"roughly {format_duration(seconds)}, scaled from {_last_runs(runs)} of other choices"


def state_least_time(
    least_s: float, launches: int, tool_starts: Sequence[int] = ()
) -> str:
    """Return the least time of the samples, and a note of what comes on top, which is most of a small run's time. Of
    harnesses, `tool_starts` are the least and the most starts of their tools."""
    least = (
        "under a second" if least_s < 1.0 else f"at least {format_duration(least_s)}"
    )
    times = " to ".join(str(count) for count in sorted({*tool_starts} - {0}))
    in_them = f" and in them the tool {times} times" if times else ""
    return (
        f"its samples alone take {least}; building, starting {launches} launches{in_them}, calibration and warm-up come on top, "
        "and arms slower than the fastest take longer"
    )


def format_duration(seconds: float) -> str:
    """Format seconds for people: `8.2` → "8 s", `200` → "3 min 20 s", `3900` → "1 h 5 min"; below a second "under 1 s"."""
    total_s = round(seconds)
    if total_s < 1:
        return "under 1 s"
    if total_s < 60:
        return f"{total_s} s"
    if total_s < 3600:
        minutes, rest_s = divmod(total_s, 60)
        return f"{minutes} min {rest_s} s" if rest_s else f"{minutes} min"
    hours, rest_min = divmod(round(total_s / 60), 60)
    return f"{hours} h {rest_min} min" if rest_min else f"{hours} h"


def _last_runs(count: int) -> str:
    return "the last run" if count == 1 else f"the last {count} runs"
