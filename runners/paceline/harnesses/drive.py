"""The workload that starts a harness and prints the bench stream: `python -m paceline.harnesses SPEC …`.

It takes the command line of every workload (`native/protocol/README.md`). A round is one start of the tool, and one
block: the repetitions inside are values of that block, because samples of one process are no replicates. Where the
harness can filter, each arm has a process of its own, in the balanced order that the seed determines. For a suite
(`--declared`), one start lists the cases (`declared.py`) before, and is the first warm-up round.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from paceline_contract.events import MAX_VALUES
from paceline_contract.manifest import Benchmark, Metric
from paceline_contract.params import split_pair, split_values
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
)
from paceline_contract.tool_starts import default_warmups
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
from paceline.harnesses.declared import (
    CaseFilter,
    NamedCases,
    NoCaseError,
    listing,
    name_cases,
)
from paceline.harnesses.plan import ArmPatterns, PlannedCase
from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Harness,
    HarnessError,
    Overhead,
)
from paceline.layout import draw_round_layout, inherited_layout
from paceline.stop import Stop

DRIVE: Final = (sys.executable, "-P", "-m", "paceline.harnesses")
"""Starts this workload. With -P a directory of the user's that is called paceline is not imported."""
KEPT_VALUES = 200
"""At most so many values of a case are kept in one launch; of more, every n-th is."""
MAX_STDOUT_BYTES = 64 << 20
SHELL_STARTS = 15
"""An empty shell is started so often, and the median of its times is subtracted."""


class DriveSpec(msgspec.Struct, frozen=True):
    """The measurement of a side. `cases` are by the tool's names where they are known, and `benchmarks` is what the manifest
    declares; of a suite, `arms` has the patterns to name them by. `prepare` runs before each start, untimed."""

    harness: str
    command: list[str]
    suite: str
    workload: str = ""
    arms: dict[str, str] = {}
    cases: dict[str, PlannedCase] = {}
    benchmarks: dict[str, Benchmark] = {}
    repetitions: int = 1
    min_time_ns: int = 100_000_000
    warmups: int = 0
    prepare: list[str] = []
    overhead: Overhead = Overhead()
    timeout_s: int = 600
    """The longest time of one start."""
    has_own_layout: bool = False
    """Whether the suite declares the memory layout of all starts."""
    env: dict[str, str] = {}
    """Added to the environment of all starts and of `prepare`."""


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
    layout: Mapping[str, str] | None = None,
    log: Log,
    stop: Stop,
) -> Result:
    """Start the tool in `directory`, after the warm-up starts, and read its results. `layout` is in its environment, by
    default that of this process. Raises HarnessError."""
    harness = find_harness(spec.harness)
    chosen = inherited_layout() if layout is None else layout

    def start() -> Result:
        return _run_once(
            spec, harness, directory, only=only, layout=chosen, log=log, stop=stop
        )

    for _ in range(spec.warmups):
        start()
    return start()


def _run_once(
    spec: DriveSpec,
    harness: Harness,
    directory: Path,
    *,
    only: Sequence[str],
    layout: Mapping[str, str],
    log: Log,
    stop: Stop,
) -> Result:
    if spec.prepare:
        run_quietly("--prepare", spec.prepare, directory, log, stop, env=spec.env)
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
            inherited_environment({**spec.env, **layout, **invocation.env}),
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
    name: str,
    argv: list[str],
    directory: Path,
    log: Log,
    stop: Stop,
    *,
    env: dict[str, str],
) -> None:
    """Run a step that is not timed. Raises HarnessError unless it exits with status 0."""
    with GuardedProcess(argv, directory, inherited_environment(env)) as process:
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
    options = _parse(arguments)
    text = options.spec if options.spec[0] == "{" else Path(options.spec).read_bytes()
    spec = msgspec.json.decode(text, type=DriveSpec)
    spec = msgspec.structs.replace(spec, min_time_ns=options.min_time_ns)
    launch = _Launch(spec, options.launch, options.seed)
    try:
        if options.declared:
            # Other commands do not need this module, and every launch imports this one.
            from paceline.harnesses.cargo_bench import (  # noqa: PLC0415
                keep_target_apart,
            )

            spec = msgspec.structs.replace(spec, env=keep_target_apart())
            launch.spec = spec
            listed = _list_declared(spec, options)
            if options.list:
                _say(listing(spec.suite, spec.workload, listed.named, listed.declared))
                return 0
            warmups = options.warmup_rounds
            if warmups is None:
                warmups = default_warmups(options.rounds)
            launch.measure_suite(listed, warmups, options.rounds)
        else:
            launch.cases = {
                name: case
                for name, case in spec.cases.items()
                if not options.benchmark or case.benchmark in options.benchmark
            }
            launch.measure(options.rounds)
    except (HarnessError, UserError) as error:
        code = "no_case" if isinstance(error, NoCaseError) else "command_failed"
        launch.end_with_error(code, str(error))
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="paceline.harnesses")
    parser.add_argument("spec", help="a DriveSpec in JSON, or the path of a file of it")
    parser.add_argument(
        "--declared", action="append", default=[], help="benchmarks by name, in JSON"
    )
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--launch", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--min-time-ns", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warmup-rounds", type=int)
    parser.add_argument("--benchmark", action="append", default=[])
    parser.add_argument("--params", action="append", default=[])
    return parser.parse_args(arguments)


class _Listed(NamedTuple):
    """The cases of a suite that its tool has, and what the start that listed them measured."""

    declared: dict[str, Benchmark]
    named: NamedCases
    reading: Result


def _list_declared(spec: DriveSpec, options: argparse.Namespace) -> _Listed:
    """Start the tool once, whole. Raises HarnessError, and UserError where two cases are one."""
    declared: dict[str, Benchmark] = {}
    for option in options.declared:
        declared |= msgspec.json.decode(option, type=dict[str, Benchmark])
    pairs = map(split_pair, options.params)
    wanted = CaseFilter(
        options.benchmark,
        {name: split_values(text) for name, text in pairs},
        any_value=options.list,
    )
    patterns = {arm: re.compile(text) for arm, text in spec.arms.items()}
    reading = measure(spec, Path.cwd(), log=_write_to_stderr, stop=Stop())
    named = name_cases(reading.cases, ArmPatterns(patterns, None), declared, wanted)
    return _Listed(declared, named, reading)


def _say(*events: dict[str, Any]) -> None:
    sys.stdout.write("".join(json.dumps(event) + "\n" for event in events))
    sys.stdout.flush()


_Start = tuple[list[str], Result]
"""The cases that a start of the tool was to measure, by its names, and what it left."""


class _Launch:
    """One launch, which prints the events of the workload, each round's when the round is over."""

    def __init__(self, spec: DriveSpec, number: int, seed: int) -> None:
        self.spec, self.number, self.seed = spec, number, seed
        self.cases: dict[str, PlannedCase] = {}
        self._declared = spec.benchmarks
        self._numbers: dict[str, int] = {}
        """The numbers of the cases that were announced, by the tool's names."""
        self._has_begun = False

    def measure(self, rounds: int) -> None:
        """Measure so many rounds. Raises HarnessError."""
        self._measure_rounds("measure", rounds, first=0)
        _say({"type": "done"})

    def measure_suite(self, listed: _Listed, warmups: int, rounds: int) -> None:
        """Measure the cases that were listed; that start is the first warm-up round. Raises HarnessError."""
        self.cases, self._declared = listed.named.cases, listed.declared
        if warmups > 0:
            self._say_round("warmup", 0, [(list(self.cases), listed.reading)])
            self._measure_rounds("warmup", warmups - 1, first=1)
        self._measure_rounds("measure", rounds, first=warmups)
        for name in listed.named.missing:
            text = f"{name} is declared, and the harness has no case of it with the declared params"
            _say({"type": "warning", "code": "not_listed", "text": text})
        _say({"type": "done"})

    def end_with_error(self, code: str, text: str) -> None:
        """End the stream with an error."""
        self._begin({})
        _say({"type": "error", "code": code, "text": text})

    def _begin(self, facts: dict[str, str]) -> None:
        """Print the first event, once."""
        if self._has_begun:
            return
        self._has_begun = True
        begin = time.perf_counter_ns()
        overhead = time.perf_counter_ns() - begin
        clock = {"name": self.spec.harness, "resolution_ns": 1, "overhead_ns": overhead}
        _say(
            {
                "type": "start",
                "v": 1,
                "suite": self.spec.suite,
                "workload": self.spec.workload or self.spec.suite,
                "launch": self.number,
                "seed": self.seed,
                "build": {"harness": self.spec.harness, **facts},
                "clock": clock,
            }
        )

    def _measure_rounds(self, phase: str, rounds: int, *, first: int) -> None:
        """Measure rounds, of which the first has the number `first`."""
        for index in range(rounds):
            layout = self._draw_layout(first + index)
            starts = [
                (
                    names,
                    measure(
                        self.spec,
                        Path.cwd(),
                        only=names,
                        layout=layout,
                        log=_write_to_stderr,
                        stop=Stop(),
                    ),
                )
                for names in self._order_processes(self.number * rounds + index)
            ]
            self._say_round(phase, first + index, starts)
            if rounds > 1:
                _say({"type": "progress", "done": index + 1, "total": rounds})

    def _draw_layout(self, number: int) -> dict[str, str]:
        """Return the memory layout of a round's starts, as a part of their environment."""
        if self.spec.has_own_layout:
            return inherited_layout()
        workload = self.spec.workload or self.spec.suite
        return draw_round_layout(self.seed, self.number, workload, number)

    def _say_round(self, phase: str, number: int, starts: Sequence[_Start]) -> None:
        """Print the events of a round. Raises HarnessError if it lacks a case or one failed."""
        events: list[dict[str, Any]] = []
        facts: dict[str, str] = {}
        measured: set[str] = set()
        for process, (names, reading) in enumerate(starts):
            facts |= reading.facts
            for case in reading.cases:
                if case.name in names and case.name not in measured:
                    measured.add(case.name)
                    position = (
                        process if len(starts) > 1 else self._find_position(case.name)
                    )
                    shared = {"round": number, "position": position, "phase": phase}
                    events += self._case_events(case, shared)
        missing = [name for name in self.cases if name not in measured]
        if missing:
            raise HarnessError(
                f"{missing[0]} was there before and is not in this launch's results"
                f"{f', nor are {len(missing) - 1} more' if len(missing) > 1 else ''}"
            )
        self._begin(facts)
        _say(*events)

    def _order_processes(self, block: int) -> list[list[str]]:
        """Return the cases of each start of the tool in this block of the job, in order: one start per arm, where the
        harness can filter."""
        arms: dict[str, list[str]] = {}
        for name, case in self.cases.items():
            arms.setdefault(case.arm, []).append(name)
        if len(arms) < 2 or not find_harness(self.spec.harness).can_filter:
            return [list(self.cases)]
        # One sequence of balanced orders over the launches of a job, whose seeds count up with their numbers.
        job = self.seed - self.number
        sequence = orders(job, "launches/", len(arms), block + 1)
        names_by_arm = list(arms.values())
        return [
            names_by_arm[index]
            for index in next(itertools.islice(sequence, block, None))
        ]

    def _case_events(
        self, case: MeasuredCase, shared: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the samples of a case, and before its first ones its announcement. `shared` are fields of all samples."""
        planned = self.cases[case.name]
        if case.failure is not None:
            raise HarnessError(f"{case.name} failed: {case.failure}")
        metrics = self._select_metrics(case, planned)
        events: list[dict[str, Any]] = []
        if case.name not in self._numbers:
            self._numbers[case.name] = len(self._numbers)
            events.append(self._announce(case, planned))
        now = time.monotonic_ns()
        return events + [
            {
                "type": "samples",
                "case": self._numbers[case.name],
                "launch": self.number,
                **shared,
                "metric": metric.name,
                "iterations": iterations,
                "values": values,
                "t_ns": now,
            }
            for metric in metrics
            for iterations, values in _group_by_iterations(_thin(metric.values))
        ]

    def _announce(self, case: MeasuredCase, planned: PlannedCase) -> dict[str, Any]:
        """Return the event that announces a case, with all metrics that are declared, because a start may lack one that
        another has."""
        metrics: Mapping[str, Metric | MeasuredMetric]
        if planned.benchmark in self._declared:
            metrics = self._declared[planned.benchmark].metrics
        else:
            metrics = {metric.name: metric for metric in case.metrics}
        event = {
            "type": "case",
            "case": self._numbers[case.name],
            "benchmark": planned.benchmark,
            "arm": planned.arm,
            "params": planned.params,
            "metrics": [
                {"name": name, "unit": metric.unit, "direction": metric.direction}
                for name, metric in metrics.items()
            ]
            or [{"name": "time", "unit": "ns", "direction": "lower"}],
        }
        if case.unavailable is not None:
            event["unavailable"] = case.unavailable
        return event

    def _select_metrics(
        self, case: MeasuredCase, planned: PlannedCase
    ) -> list[MeasuredMetric]:
        """Return the metrics of a case that are declared. Raises HarnessError if there are none, or one is declared
        otherwise."""
        if planned.benchmark not in self._declared or case.unavailable is not None:
            return case.metrics
        declared = self._declared[planned.benchmark].metrics
        selected = [metric for metric in case.metrics if metric.name in declared]
        for metric in selected:
            stated = declared[metric.name].unit, declared[metric.name].direction
            if stated != (metric.unit, metric.direction):
                raise HarnessError(
                    f"{metric.name} of {case.name} is in {metric.unit}, {metric.direction} is better, and "
                    f"{planned.benchmark} declares {' and '.join(stated)}"
                )
        if not selected:
            raise HarnessError(
                f"{case.name} has none of the metrics that {planned.benchmark} declares; it has "
                f"{', '.join(metric.name for metric in case.metrics) or 'none'}"
            )
        return selected

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
