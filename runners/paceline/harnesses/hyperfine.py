"""Drives hyperfine and reads its JSON. A plain command needs no hyperfine: `plain.py` times it the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.harnesses.port import (
    NS_PER_S,
    DriveRequest,
    FinishedStart,
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
    without_options,
)


class Hyperfine:
    name = "hyperfine"
    title = "hyperfine"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return program_of(command) == "hyperfine"

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "--export-json")
        argv += ["--export-json", str(request.results)]
        options = ("-r", "--runs", "-m", "--min-runs", "-M", "--max-runs")
        if not has_option(argv, *options):
            argv += ["--runs", str(max(request.repetitions, 2))]
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Reading:
        return read_json(finished.read_results())


def read_json(data: bytes) -> Reading:
    """Read a file of `--export-json`. Raises HarnessError."""
    _, entries = read_document(data, "hyperfine", "results")
    return Reading(refuse_duplicates(_case_of(entry) for entry in entries))


def _case_of(entry: Any) -> MeasuredCase:
    name = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name:
        raise HarnessError('expected every result to have a "command"')
    codes = entry.get("exit_codes") or []
    if failures := [code for code in codes if code != 0]:
        failure = f"it exited with status {failures[0]}"
        return MeasuredCase(name, name, None, [], failure)
    times = entry.get("times")
    if not isinstance(times, list) or not times:
        raise HarnessError(f"{name}: expected every run in times")
    metrics = [_time_metric(name, times)]
    peaks = entry.get("memory_usage_byte")
    if isinstance(peaks, list) and peaks and all(peaks):
        samples = [sample_of(peak, 1, f"the memory of {name}") for peak in peaks]
        metrics.append(MeasuredMetric("peak_memory", "bytes", "lower", samples))
    return MeasuredCase(name, name, None, metrics)


def _time_metric(name: str, times: list[Any]) -> MeasuredMetric:
    samples = [sample_of(time, 1, f"a run of {name}", NS_PER_S) for time in times]
    return MeasuredMetric("time", "ns", "lower", samples)
