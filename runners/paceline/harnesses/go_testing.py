"""Drives benchmarks of Go's package `testing` and reads the text that they print (Go's benchmark data format).

Lines that are no results are left out: packages print progress and logs between them. A skipped benchmark prints
nothing, and so is not there. Repetitions are lines of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from paceline_contract.events import Direction
from paceline_contract.units import Unit

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    Sample,
    has_option,
    join_name,
    program_of,
    sample_of,
    split_name,
    time_unit_ns,
)

_RESULT = re.compile(r"(Benchmark\S*)\s+(\d{1,18})\s+(\S.*)")
_FACT = re.compile(r"(goos|goarch|pkg|cpu): (.+)")
_PROCS = re.compile(r"-(\d+)\Z")
_METRICS: dict[str, tuple[str, Unit, Direction]] = {
    "B/op": ("allocated", "bytes", "lower"),
    "allocs/op": ("allocations", "count", "lower"),
    "MB/s": ("throughput", "bytes/s", "higher"),
}
MEGA = 1_000_000
LEAST_RATE = 1000
"""Rates below this, in whole units, would lose digits."""


class GoTesting:
    name = "go"
    title = "Go's package testing"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        if program_of(command) == "go" and "test" in command[1:2]:
            return True
        return has_option(command, "-test.bench")

    def make_invocation(self, request: DriveRequest) -> Invocation:
        prefix = "-" if program_of(request.command) == "go" else "-test."
        argv = list(request.command)

        def add_default(name: str, value: str) -> None:
            if not has_option(argv, f"-{name}", f"--{name}", f"-test.{name}"):
                # Before the packages and `-args`, where the command has its own options.
                argv.insert(2 if prefix == "-" else 1, f"{prefix}{name}={value}")

        add_default("bench", ".")
        add_default("run", "^$")
        add_default("count", str(request.repetitions))
        add_default("benchtime", f"{request.min_time_ns}ns")
        if not has_option(argv, "-benchmem", "--benchmem", "-test.benchmem"):
            argv.insert(2 if prefix == "-" else 1, f"{prefix}benchmem")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Reading:
        return read_text(finished.stdout)


def read_text(data: bytes) -> Reading:
    """Read what `go test -bench` printed. Raises HarnessError."""
    facts: dict[str, str] = {}
    results: list[tuple[str, str, list[tuple[float, str]], int]] = []
    package = ""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if fact := _FACT.fullmatch(line.strip()):
            facts[fact[1]] = fact[2]
            package = fact[2] if fact[1] == "pkg" else package
        elif result := _RESULT.fullmatch(line.strip()):
            where = f"line {number}"
            figures = _parse_figures(result[3], where)
            results.append((package, result[1], figures, int(result[2])))
    if facts.pop("pkg", None) and len({package for package, *_ in results}) == 1:
        facts["package"] = results[0][0]
    return Reading(_collect_cases(results), facts)


def _parse_figures(text: str, where: str) -> list[tuple[float, str]]:
    words = text.split()
    if len(words) % 2:
        raise HarnessError(
            f"{where}: expected pairs of a number and a unit, found {text!r}"
        )
    figures = []
    for number, unit in zip(words[::2], words[1::2], strict=True):
        try:
            figures.append((float(number), unit))
        except ValueError:
            raise HarnessError(
                f"{where}: expected a number, found {number!r}"
            ) from None
    return figures


def _collect_cases(
    results: list[tuple[str, str, list[tuple[float, str]], int]],
) -> list[MeasuredCase]:
    several = len({package for package, *_ in results}) > 1
    suffixes = {
        match[0] if (match := _PROCS.search(name)) else "" for _, name, *_ in results
    }
    common = suffixes.pop() if len(suffixes) == 1 else ""
    samples: dict[str, dict[tuple[str, Unit, Direction], list[Sample]]] = {}
    named: dict[str, tuple[str, str | None]] = {}
    for package, printed, figures, iterations in results:
        benchmark, value = split_name(printed.removesuffix(common))
        benchmark = f"{package}.{benchmark}" if several else benchmark
        name = join_name(benchmark, value)
        named[name] = benchmark, value
        for figure, unit in figures:
            metric, scale = _metric_of(unit)
            where = f"{unit} of {name}"
            sample = (
                Sample(iterations, sample_of(figure, 1, where, scale).total)
                if metric[1].endswith("/s")
                else sample_of(figure, iterations, where, scale)
            )
            samples.setdefault(name, {}).setdefault(metric, []).append(sample)
    return [
        MeasuredCase(
            name,
            *named[name],
            [
                MeasuredMetric(*metric, taken_samples)
                for metric, taken_samples in metrics.items()
                if metric[0] == "time" or _are_meaningful(metric[1], taken_samples)
            ],
        )
        for name, metrics in samples.items()
    ]


def _are_meaningful(unit: Unit, samples: list[Sample]) -> bool:
    """Check that no sample is nothing, or a rate so low that whole units lose its digits."""
    least = LEAST_RATE if unit.endswith("/s") else 1
    return all(sample.total >= least for sample in samples)


def _metric_of(unit: str) -> tuple[tuple[str, Unit, Direction], float]:
    """Return the metric of a unit, and its factor to the base unit. A unit that a benchmark made itself is a count."""
    if unit.endswith("s/op") and unit.removesuffix("/op") in ("ns", "us", "ms", "s"):
        return ("time", "ns", "lower"), time_unit_ns(unit.removesuffix("/op"), unit)
    if unit in _METRICS:
        return _METRICS[unit], MEGA if unit == "MB/s" else 1
    name = re.sub(r"[^a-z0-9]+", "_", unit.lower()).strip("_")
    higher = unit.endswith("/s")
    return (
        f"unit_{name}"[:64],
        "op/s" if higher else "count",
        "higher" if higher else "lower",
    ), 1
