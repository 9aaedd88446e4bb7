"""The workload that starts a harness and prints the bench stream: `python -m paceline.harnesses SPEC.json …`.

It takes the command line of every workload (`native/protocol/README.md`). A launch is one start of the tool, and one
block: the repetitions inside are values of that block, because samples of one process are no replicates. Where the
harness can filter, each arm has a process of its own, in the balanced order that the seed determines.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.events import MAX_VALUES
from paceline_contract.results import MeasuredCase, Result, ResultError, Sample
from paceline_contract.workload import orders

from paceline.errors import UserError
from paceline.executors.draining import STEP_TIMEOUT_S, Log, describe_end, drain
from paceline.executors.process import (
    GuardedProcess,
    ProcessEnd,
    inherited_environment,
)
from paceline.exit_descriptions import describe_status
from paceline.first_error import Channel, ErrorFinder, Excerpt
from paceline.harnesses import find_harness
from paceline.harnesses.plan import PlannedCase
from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Harness,
    HarnessError,
    Overhead,
)
from paceline.layout import inherited_layout
from paceline.stop import Stop

KEPT_VALUES = 200
"""At most so many values of a case are kept in one launch; of more, every n-th is."""
MAX_STDOUT_BYTES = 64 << 20
SHELL_STARTS = 15
"""An empty shell is started so often, and the median of its times is subtracted."""


class DriveSpec(msgspec.Struct, frozen=True):
    """The measurement of a side. `cases` are by the tool's names; `prepare` runs before each start, untimed."""

    harness: str
    command: list[str]
    suite: str
    cases: dict[str, PlannedCase] = {}
    repetitions: int = 1
    min_time_ns: int = 100_000_000
    warmups: int = 0
    prepare: list[str] = []
    overhead: Overhead = Overhead()
    timeout_s: int = 600
    """The longest time of one start."""


class _Output:
    """The output of one start of the tool: standard output is kept up to a limit, and all of it is logged."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: list[bytes] = []
        self._bytes = 0
        self._errors = ErrorFinder()

    def take(self, channel: Channel, lines: list[str]) -> None:
        self._errors.feed_lines(channel, lines)
        self._log(lines)
        if channel == "stdout":
            text = "".join(f"{line}\n" for line in lines).encode()
            self._bytes += len(text)
            if self._bytes <= MAX_STDOUT_BYTES:
                self._kept.append(text)

    @property
    def excerpt(self) -> Excerpt | None:
        return self._errors.excerpt()

    def stdout(self) -> bytes:
        """Return all of standard output. Raises HarnessError if it was too much."""
        if self._bytes > MAX_STDOUT_BYTES:
            raise HarnessError(
                f"it printed more than {MAX_STDOUT_BYTES >> 20} MiB to standard output"
            )
        return b"".join(self._kept)


def measure(
    spec: DriveSpec,
    directory: Path,
    *,
    only: Sequence[str] = (),
    log: Log,
    stop: Stop,
) -> Result:
    """Start the tool in `directory`, after the warm-up starts, and read its results. Raises HarnessError."""
    harness = find_harness(spec.harness)
    for _ in range(spec.warmups):
        _run_once(spec, harness, directory=directory, only=only, log=log, stop=stop)
    return _run_once(spec, harness, directory=directory, only=only, log=log, stop=stop)


def _run_once(
    spec: DriveSpec,
    harness: Harness,
    *,
    directory: Path,
    only: Sequence[str],
    log: Log,
    stop: Stop,
) -> Result:
    if spec.prepare:
        run_quietly("--prepare", spec.prepare, directory, log, stop)
    with tempfile.TemporaryDirectory(prefix="paceline-") as results:
        request = DriveRequest(
            spec.command,
            Path(results),
            spec.repetitions,
            spec.min_time_ns,
            list(only) if harness.can_filter else [],
        )
        invocation = harness.make_invocation(request)
        output = _Output(log)
        with GuardedProcess(
            invocation.argv,
            directory,
            inherited_environment({**inherited_layout(), **invocation.env}),
            discards_stdout=invocation.discards_stdout,
        ) as process:
            end = drain(process, output.take, stop, spec.timeout_s)
        failure = _explain_failure(end, stop, spec.timeout_s)
        if failure is not None:
            raise HarnessError(failure, output.excerpt)
        finished = FinishedStart(request, end, output.stdout(), spec.overhead)
        try:
            return harness.read(finished)
        except ResultError as error:
            raise HarnessError(str(error)) from error


def _explain_failure(end: ProcessEnd, stop: Stop, timeout_s: float) -> str | None:
    """Return why the output of a start does not count; None if it does."""
    if stop.reason is not None:
        return f"stopped: {stop.reason.value}"
    if end.wall_ns is not None and end.wall_ns >= timeout_s * 1e9:
        return (
            f"still ran after {timeout_s:g} s, the limit of --timeout-s, and was killed"
        )
    if end.exit_code is None:
        return describe_end(end)
    if end.exit_code != 0:
        return f"{describe_status(end.exit_code)}; figures of a command that fails do not count"
    return None


def run_quietly(
    name: str, argv: list[str], directory: Path, log: Log, stop: Stop
) -> None:
    """Run a step that is not timed. Raises HarnessError unless it exits with status 0."""
    with GuardedProcess(argv, directory, inherited_environment()) as process:
        end = drain(process, lambda _, lines: log(lines), stop, STEP_TIMEOUT_S)
    if end.exit_code != 0:
        raise HarnessError(f"{name} {describe_end(end)}")


def measure_shell(shell: list[str], directory: Path) -> Overhead:
    """Measure what a shell takes that does nothing. Raises HarnessError if it cannot be started."""
    ends = []
    for _ in range(SHELL_STARTS):
        with GuardedProcess(
            [*shell, ""], directory, inherited_environment(), discards_stdout=True
        ) as process:
            ends.append(drain(process, lambda *_: None, Stop(), 60.0))
    if any(end.exit_code != 0 for end in ends):
        raise HarnessError(f"the shell {shell[0]} cannot run an empty command")

    def median(values: Iterator[int | None]) -> int:
        return sorted(value or 0 for value in values)[SHELL_STARTS // 2]

    return Overhead(
        median(end.wall_ns for end in ends),
        median(end.user_ns for end in ends),
        median(end.system_ns for end in ends),
    )


def main(arguments: list[str]) -> int:
    """Do what the command line of a workload asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="paceline.harnesses")
    parser.add_argument("spec", type=Path)
    parser.add_argument("--launch", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--min-time-ns", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warmup-rounds", type=int, default=0)
    parser.add_argument("--benchmark", action="append", default=[])
    parser.add_argument("--params", action="append", default=[])
    options = parser.parse_args(arguments)
    spec = msgspec.json.decode(options.spec.read_bytes(), type=DriveSpec)
    cases = {
        name: case
        for name, case in spec.cases.items()
        if not options.benchmark or case.benchmark in options.benchmark
    }
    launch = _Launch(spec, cases, options.launch, options.seed)
    try:
        events = launch.run()
    except (HarnessError, UserError) as error:
        events = [
            launch.start_event({}),
            {"type": "error", "code": "command_failed", "text": str(error)},
        ]
    sys.stdout.write("".join(json.dumps(event) + "\n" for event in events))
    return 1 if events[-1]["type"] == "error" else 0


class _Launch:
    """One launch, which becomes the events that the workload prints."""

    def __init__(
        self, spec: DriveSpec, cases: dict[str, PlannedCase], number: int, seed: int
    ) -> None:
        self.spec, self.cases, self.number, self.seed = spec, cases, number, seed

    def start_event(self, facts: dict[str, str]) -> dict[str, Any]:
        """Return the first event."""
        begin = time.perf_counter_ns()
        overhead = time.perf_counter_ns() - begin
        clock = {"name": self.spec.harness, "resolution_ns": 1, "overhead_ns": overhead}
        return {
            "type": "start",
            "v": 1,
            "suite": self.spec.suite,
            "workload": self.spec.suite,
            "launch": self.number,
            "seed": self.seed,
            "build": {"harness": self.spec.harness, **facts},
            "clock": clock,
        }

    def run(self) -> list[dict[str, Any]]:
        """Measure, and return all events. Raises HarnessError."""
        events: list[dict[str, Any]] = []
        facts: dict[str, str] = {}
        measured: set[str] = set()
        for position, names in enumerate(self._order_processes()):
            reading = measure(
                self.spec, Path.cwd(), only=names, log=_write_to_stderr, stop=Stop()
            )
            facts |= reading.facts
            for case in reading.cases:
                if case.name in names and case.name not in measured:
                    measured.add(case.name)
                    of_process = position if len(names) < len(self.cases) else None
                    events += self._case_events(case, len(measured) - 1, of_process)
        missing = [name for name in self.cases if name not in measured]
        if missing:
            raise HarnessError(
                f"{missing[0]} was there before and is not in this launch's results"
                f"{f', nor are {len(missing) - 1} more' if len(missing) > 1 else ''}"
            )
        return [self.start_event(facts), *events, {"type": "done"}]

    def _order_processes(self) -> list[list[str]]:
        """Return the cases of each start of the tool, in order: one start per arm, where the harness can filter."""
        arms: dict[str, list[str]] = {}
        for name, case in self.cases.items():
            arms.setdefault(case.arm, []).append(name)
        if len(arms) < 2 or not find_harness(self.spec.harness).can_filter:
            return [list(self.cases)]
        # One sequence of balanced orders over the launches of a job, whose seeds count up with their numbers.
        job = self.seed - self.number
        order = next(
            itertools.islice(
                orders(job, "launches/", len(arms), self.number + 1), self.number, None
            )
        )
        names_by_arm = list(arms.values())
        return [names_by_arm[index] for index in order]

    def _case_events(
        self, case: MeasuredCase, number: int, position: int | None
    ) -> list[dict[str, Any]]:
        """Return the events of a case, whose process has `position` among those of the launch if it has several."""
        planned = self.cases[case.name]
        if case.failure is not None:
            raise HarnessError(f"{case.name} failed: {case.failure}")
        metrics = [
            {"name": metric.name, "unit": metric.unit, "direction": metric.direction}
            for metric in case.metrics
        ] or [{"name": "time", "unit": "ns", "direction": "lower"}]
        announced: dict[str, Any] = {
            "type": "case",
            "case": number,
            "benchmark": planned.benchmark,
            "arm": planned.arm,
            "params": planned.params,
            "metrics": metrics,
        }
        if case.unavailable is not None:
            return [{**announced, "unavailable": case.unavailable}]
        shared = {"case": number, "launch": self.number, "round": 0, "phase": "measure"}
        now = time.monotonic_ns()
        return [
            announced,
            *(
                {
                    "type": "samples",
                    **shared,
                    "metric": metric.name,
                    "position": self._find_position(case.name)
                    if position is None
                    else position,
                    "iterations": iterations,
                    "values": values,
                    "t_ns": now,
                }
                for metric in case.metrics
                for iterations, values in _group_by_iterations(_thin(metric.values))
            ),
        ]

    def _find_position(self, name: str) -> int:
        """Return the position of a case among the arms of its group, in a tool that runs all in its own order."""
        planned = self.cases[name]
        group = [
            other_name
            for other_name, other in self.cases.items()
            if (other.benchmark, other.params) == (planned.benchmark, planned.params)
        ]
        return group.index(name)


def _thin(samples: list[Sample]) -> list[Sample]:
    """Return every n-th sample, at most `KEPT_VALUES`."""
    return samples[:: -(-len(samples) // KEPT_VALUES) or 1]


def _group_by_iterations(samples: list[Sample]) -> Iterator[tuple[int, list[int]]]:
    """Yield samples of one number of iterations that follow each other."""
    for iterations, group in itertools.groupby(
        samples, lambda sample: sample.iterations
    ):
        values = [sample.total for sample in group]
        for begin in range(0, len(values), MAX_VALUES):
            yield iterations, values[begin : begin + MAX_VALUES]


def _write_to_stderr(lines: list[str]) -> None:
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.stderr.flush()
