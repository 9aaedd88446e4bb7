"""Reads the full JSON of BenchmarkDotNet (`-report-full.json`), which has every iteration."""

from __future__ import annotations

from typing import Any

import msgspec

from paceline_contract.events import ParamValue
from paceline_contract.readers.parsing import read_document, read_figure, read_sample
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Summary,
    join_name,
    join_params,
    make_params,
    refuse_duplicates,
)

TOOL = "benchmarkdotnet"
RESULT = "Result"
"""The stage of iterations that count: measured, without the overhead of the loop. Before version 0.11 it is a mode."""
DEFAULT_JOB = "DefaultJob"


class _DotnetMeasurement(msgspec.Struct, rename="pascal"):
    iteration_mode: str
    operations: int
    nanoseconds: Any
    iteration_stage: str | None = None

    @property
    def counts(self) -> bool:
        """Return whether it is a figure of the benchmark, and no warm-up or overhead."""
        return RESULT in (self.iteration_stage, self.iteration_mode)


class _DotnetMemory(msgspec.Struct, rename="pascal"):
    bytes_allocated_per_operation: Any = None


class _DotnetEntry(msgspec.Struct, rename="pascal"):
    type: str
    method: str
    namespace: str | None = None
    parameters: str | None = None
    display_info: str | None = None
    memory: _DotnetMemory | None = None
    measurements: list[_DotnetMeasurement] | None = None


class _DotnetHost(msgspec.Struct, rename="pascal"):
    benchmark_dot_net_version: str | None = None
    os_version: str | None = None
    processor_name: str | None = None
    architecture: str | None = None
    runtime_version: str | None = None
    configuration: str | None = None


class _DotnetDocument(msgspec.Struct, rename="pascal"):
    host_environment_info: _DotnetHost
    benchmarks: list[_DotnetEntry]


def read_json(data: bytes) -> Result:
    """Read a file of JsonExporter.Full. Raises ResultError."""
    document = read_document(data, "BenchmarkDotNet", _DotnetDocument)
    host = document.host_environment_info
    build = {"runtime": host.runtime_version, "configuration": host.configuration}
    target = {
        "os": host.os_version,
        "cpu": host.processor_name,
        "arch": host.architecture,
    }
    return Result(
        TOOL,
        refuse_duplicates(_case_of(entry) for entry in document.benchmarks),
        host.benchmark_dot_net_version or None,
        build={name: fact for name, fact in build.items() if fact},
        target={name: fact for name, fact in target.items() if fact},
    )


def _case_of(entry: _DotnetEntry) -> MeasuredCase:
    benchmark = ".".join(filter(None, (entry.namespace, entry.type, entry.method)))
    params = _params_of(entry)
    name = join_name(benchmark, join_params(params))
    if entry.measurements is None:
        raise ResultError(
            f"{name}: expected every iteration in Measurements, as JsonExporter.Full writes them"
        )
    where = f"an iteration of {name}"
    samples = [
        read_sample(measurement.nanoseconds, 1, where)._replace(
            iterations=measurement.operations
        )
        for measurement in entry.measurements
        if measurement.counts
    ]
    if not samples:
        failure = "it failed: it has no iteration that counts"
        return MeasuredCase(name, benchmark, params, failure=failure)
    if any(sample.iterations < 1 for sample in samples):
        raise ResultError(f"{name}: expected an operation in each iteration")
    metrics = [MeasuredMetric("time", "ns", "lower", samples)]
    memory = entry.memory
    if memory is not None and memory.bytes_allocated_per_operation:
        where = f"the memory of {name}"
        allocated = read_figure(memory.bytes_allocated_per_operation, where)
        mean = Summary("mean", allocated)
        metrics.append(MeasuredMetric("allocated", "bytes", "lower", summary=mean))
    return MeasuredCase(name, benchmark, params, metrics)


def _params_of(entry: _DotnetEntry) -> dict[str, ParamValue]:
    """Return the params, with the job where it is not the default one: each job is a case of the benchmark."""
    params: dict[str, ParamValue] = {}
    for part in (entry.parameters or "").split("&"):
        key, separator, value = part.partition("=")
        params |= {key: value} if separator and key else make_params(part)
    _, _, shown = (entry.display_info or "").partition(": ")
    job = shown.partition(" [")[0]
    return {**params, "job": job} if job not in ("", DEFAULT_JOB) else params
