"""Drives hyperfine and reads its JSON. A plain command needs no hyperfine: `plain.py` times it the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.harnesses.port import (
    DriveRequest,
    Finished,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    has_option,
    program_of,
    read_document,
    refuse_duplicates,
    sample_of,
)

RESULTS = "results.json"
NANO = 1e9


class Hyperfine:
    name = "hyperfine"
    title = "hyperfine"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return program_of(command) == "hyperfine"

    def command(self, request: DriveRequest) -> Invocation:
        argv = [*request.command, "--export-json", str(request.output / RESULTS)]
        options = ("-r", "--runs", "-m", "--min-runs", "-M", "--max-runs")
        if not has_option(argv, *options):
            argv += ["--runs", str(max(request.repetitions, 2))]
        return Invocation(argv)

    def read(self, finished: Finished) -> Reading:
        return read_json(finished.file(RESULTS))


def read_json(data: bytes) -> Reading:
    """Read a file of `--export-json`. Raises HarnessError."""
    _, entries = read_document(data, "hyperfine", "results")
    return Reading(refuse_duplicates(_case(entry) for entry in entries))


def _case(entry: Any) -> MeasuredCase:
    name = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name:
        raise HarnessError('expected every result to have a "command"')
    codes = entry.get("exit_codes") or []
    if bad := [code for code in codes if code != 0]:
        return MeasuredCase(name, name, None, [], f"it exited with status {bad[0]}")
    times = entry.get("times")
    if not isinstance(times, list) or not times:
        raise HarnessError(f"{name}: expected every run in times")
    metrics = [_time(name, times)]
    peaks = entry.get("memory_usage_byte")
    if isinstance(peaks, list) and peaks and all(peaks):
        taken = [sample_of(peak, 1, f"the memory of {name}") for peak in peaks]
        metrics.append(MeasuredMetric("peak_memory", "bytes", "lower", taken))
    return MeasuredCase(name, name, None, metrics)


def _time(name: str, times: list[Any]) -> MeasuredMetric:
    samples = [
        sample_of(
            each * NANO if isinstance(each, float | int) else each,
            1,
            f"a run of {name}",
        )
        for each in times
    ]
    return MeasuredMetric("time", "ns", "lower", samples)
