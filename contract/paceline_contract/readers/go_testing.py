"""Reads the text that benchmarks of Go's package `testing` print (Go's benchmark data format).

Lines that are no results are left out: packages print progress and logs between them. A skipped benchmark prints
nothing, and so is not there. Repetitions are lines of the same name.
"""

from __future__ import annotations

import re

from paceline_contract.events import Direction
from paceline_contract.readers.parsing import LEAST_RATE, check_document, read_sample
from paceline_contract.results import (
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
    join_name,
    make_params,
    refuse_duplicates,
    split_name,
)
from paceline_contract.units import GO_METRICS, NS_PER, MetricUnit, Unit

TOOL = "go"
_RESULT = re.compile(r"(Benchmark\S*)\s+(\d{1,18})\s+(\S.*)")
_FACT = re.compile(r"(goos|goarch|pkg|cpu): (.{1,500})")
"""A longer fact is none: a package is repeated in the name of each of its benchmarks."""
_PROCS = re.compile(r"-(\d+)\Z")
TIMES = ("ns", "us", "ms", "s")


def read_text(data: bytes) -> Result:
    """Read what `go test -bench` printed. Raises ResultError."""
    check_document(data, "Go")
    facts: dict[str, str] = {}
    results: list[tuple[str, str, list[tuple[float, str]], int]] = []
    package = ""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if fact := _FACT.fullmatch(line.strip()):
            facts[fact[1]] = fact[2]
            package = fact[2] if fact[1] == "pkg" else package
        elif result := _RESULT.fullmatch(line.strip()):
            where = f"line {number}"
            if len(result[1]) > MAX_TEXT:
                raise ResultError(
                    f"{where}: expected a name of at most {MAX_TEXT:,} characters"
                )
            figures = _parse_figures(result[3], where)
            results.append((package, result[1], figures, int(result[2])))
    is_one = facts.pop("pkg", None) and len({package for package, *_ in results}) == 1
    build = {"package": results[0][0]} if is_one else {}
    cases = refuse_duplicates(_collect_cases(results))
    return Result(TOOL, cases, build=build, target=facts)


def _parse_figures(text: str, where: str) -> list[tuple[float, str]]:
    words = text.split()
    if len(words) % 2:
        raise ResultError(
            f"{where}: expected pairs of a number and a unit, found {text!r}"
        )
    figures = []
    for number, unit in zip(words[::2], words[1::2], strict=True):
        try:
            figures.append((float(number), unit))
        except ValueError:
            raise ResultError(f"{where}: expected a number, found {number!r}") from None
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
            metric = _metric_of(unit)
            where = f"{unit} of {name}"
            sample = (
                Sample(iterations, read_sample(figure, 1, where, metric.scale).total)
                if metric.unit.endswith("/s")
                else read_sample(figure, iterations, where, metric.scale)
            )
            of_case = samples.setdefault(name, {})
            of_case.setdefault((metric.name, metric.unit, metric.direction), []).append(
                sample
            )
    return [
        MeasuredCase(
            name,
            benchmark,
            make_params(value),
            [
                MeasuredMetric(metric, unit, direction, values)
                for (metric, unit, direction), values in samples[name].items()
                if metric == "time" or _are_meaningful(unit, values)
            ],
        )
        for name, (benchmark, value) in named.items()
    ]


def _are_meaningful(unit: Unit, samples: list[Sample]) -> bool:
    """Return whether no sample is zero, or a rate so low that whole units lose its digits."""
    least = LEAST_RATE if unit.endswith("/s") else 1
    return all(sample.total >= least for sample in samples)


def _metric_of(unit: str) -> MetricUnit:
    """Return the metric of a unit. A unit that a benchmark made itself is a count, or a rate."""
    time = unit.removesuffix("/op")
    if time != unit and time in TIMES:
        return MetricUnit("time", "ns", "lower", NS_PER[time])
    if unit in GO_METRICS:
        return GO_METRICS[unit]
    name = f"unit_{re.sub(r'[^a-z0-9]+', '_', unit.lower()).strip('_')}"[:64]
    if unit.endswith("/s"):
        return MetricUnit(name, "op/s", "higher")
    return MetricUnit(name, "count", "lower")
