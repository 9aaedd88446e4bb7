"""Times a command that is no harness as a process: wall clock, CPU time and peak memory of one start.

Its guard process takes the times, so that nothing of ours runs beside it. Peak memory is what the kernel counts: a
process inherits the peak of its parent, so no peak below about 8 MB is reported.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
)
from paceline_contract.units import Unit

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
)

CPU_RESOLUTION_NS = 1_000
"""The kernel gives CPU times in microseconds."""


class PlainCommand:
    """Times any command. It is one case, even if base and head name the command differently."""

    name = "command"
    title = "a plain command, timed as a process"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return True

    def make_invocation(self, request: DriveRequest) -> Invocation:
        return Invocation(request.command, discards_stdout=True)

    def read(self, finished: FinishedStart) -> Result:
        end, overhead = finished.end, finished.overhead
        if end.wall_ns is None:
            raise ResultError("processes can be timed on Linux and macOS only")
        figures: list[tuple[str, Unit, int]] = [
            ("time", "ns", end.wall_ns - overhead.wall_ns),
            ("user_time", "ns", _above_zero(end.user_ns, overhead.user_ns)),
            ("system_time", "ns", _above_zero(end.system_ns, overhead.system_ns)),
            ("peak_memory", "bytes", end.rss_peak_bytes or 0),
        ]
        if figures[0][2] <= 0:
            raise ResultError(
                "the command takes no longer than a shell that does nothing: leave out --shell"
            )
        name = shlex.join(finished.request.command)
        metrics = [
            MeasuredMetric(metric, unit, "lower", [Sample(1, figure)])
            for metric, unit, figure in figures
            if figure > 0
        ]
        return Result(self.name, [MeasuredCase(name, name, metrics=metrics)])


def _above_zero(measured_ns: int | None, overhead_ns: int) -> int:
    """Return a CPU time without the shell's. Less than the kernel can tell counts as the least that it can, because every
    start has the same metrics, and 0 has no ratio."""
    return max((measured_ns or 0) - overhead_ns, CPU_RESOLUTION_NS)
