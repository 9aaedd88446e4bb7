"""Estimates how long a run on this host will take, from how long past runs took.

Past runs are kept in one small file per suite that the caller names. A selection that was never run is scaled
from others by its number of samples; without any past run only the minimum that the selection implies is
given. Of a harness every round is a start of its tool, and these are counted as well. A file that cannot be read or written costs the estimate, never the measurement. Runs on a server are
estimated by its `/runs/estimate`.
"""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import msgspec
from paceline_contract.estimates import (
    Work,
    repeat_past_runs,
    scale_durations,
    scale_past_runs,
    state_least_time,
)
from paceline_contract.tool_starts import count_tool_starts

from paceline.harnesses import find_harness
from paceline.manifest import Manifest
from paceline.selection import Selection

KEPT = 20
BASED_ON = 5
"""Past runs that an estimate uses, so that one slow first build does not decide."""


class PastRun(msgspec.Struct, frozen=True):
    """A finished run. `choice` is equal for equal selections; `seconds` include the build."""

    choice: str
    samples: int
    seconds: float
    stop_when_sure: bool = False
    """Whether it may have measured less than its samples."""
    tool_starts: int = 0
    """How often it started the tools of harnesses."""


def estimate(manifest: Manifest, selection: Selection, path: Path | None) -> str:
    """Return a phrase such as `about 1 min 40 s, as the last 3 runs of the same choice took 1 min 30 s to 2 min`."""
    past = [] if path is None else _read(path)
    same = [run.seconds for run in past if run.choice == _choice(selection)][-BASED_ON:]
    if same:
        return repeat_past_runs(same)
    work = _count_work(manifest, selection)
    least_s = work.samples * selection.min_time_ns / 1e9
    comparable = [
        (run.seconds, Work(run.samples, run.tool_starts))
        for run in past
        if run.samples and (selection.stop_when_sure or not run.stop_when_sure)
    ][-BASED_ON:]
    if comparable:
        estimate_s = max(scale_durations(comparable, work), least_s)
        return scale_past_runs(estimate_s, len(comparable))
    least = state_least_time(least_s, selection.launches, [work.tool_starts])
    return f"not known yet, because no run of this suite here is recorded; {least}"


def remember(
    manifest: Manifest, selection: Selection, path: Path, seconds: float
) -> None:
    """Add a finished run."""
    work = _count_work(manifest, selection)
    run = PastRun(
        _choice(selection),
        work.samples,
        seconds,
        selection.stop_when_sure,
        work.tool_starts,
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(msgspec.json.encode([*_read(path), run][-KEPT:]))
        new.replace(path)


def _read(path: Path) -> list[PastRun]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[PastRun])
    except (OSError, msgspec.DecodeError):
        return []


def _choice(selection: Selection) -> str:
    """Return the selection without the parts that do not change the amount of work."""
    same = msgspec.structs.replace(
        selection, seed=0, first_launch=0, benchmarks=sorted(selection.benchmarks)
    )
    return msgspec.json.encode(same, order="deterministic").decode()


def _count_work(manifest: Manifest, selection: Selection) -> Work:
    cases = 0
    for name in selection.benchmarks:
        benchmark = manifest.benchmarks[name]
        values = [
            selection.params.get(key) or param.values
            for key, param in benchmark.params.items()
        ]
        cases += len(benchmark.arms) * math.prod(map(len, values))
    starts = count_tool_starts(
        manifest,
        selection.benchmarks,
        selection.rounds,
        selection.warmup_rounds,
        lambda harness: find_harness(harness).can_filter,
    )
    return Work(
        cases * selection.launches * selection.rounds, starts * selection.launches
    )
