"""Turns Python functions into a Paceline workload: give it the arms of each benchmark, and it prints the bench stream.

    work = Workload("top_ten")
    largest = work.benchmark("largest", values=[1000, 10000])

    @largest.prepare
    def numbers(random, values):
        return [random.random() for _ in range(values)]

    @largest.arm
    def sort(data):
        return sorted(data, reverse=True)[:10]

    @largest.arm
    def heap(data):
        return heapq.nlargest(10, data)

    work.main()

The file needs nothing but Python 3.10 and may be copied beside a workload; `paceline new DIR` does so. It times arms
round by round in the balanced order that the seed determines, prints nothing inside a timed region, and switches the
garbage collector off there, as `timeit` does. What else is printed goes to standard error. The contract is native/protocol/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, overload

Param = int | str
Params = dict[str, Param]
Arm = Callable[[Any], object]
ArmT = TypeVar("ArmT", bound=Arm)
TakeWork = Callable[[], dict[str, int]]
PrepareT = TypeVar("PrepareT", bound=Callable[..., object])
MASK = 2**64 - 1
METRICS = [{"name": "time", "unit": "ns", "direction": "lower"}]
STEPS = 1000
"""A sample lasts at least so many of the clock's smallest steps."""
RESERVE = 1.2
"""Samples are planned that much longer than the shortest that is allowed, because later ones may be faster."""


class UsageError(Exception):
    """The command line names something that this workload does not have. `code` is the error event's."""

    def __init__(self, text: str, code: str = "usage") -> None:
        super().__init__(text)
        self.code = code


class Benchmark:
    """Arms that are measured next to each other on the same input, for each combination of params."""

    def __init__(
        self,
        name: str,
        params: dict[str, list[Param]],
        items: Callable[..., int] | None,
        agree: bool,
    ) -> None:
        self.name, self.params, self.items, self.agree = name, params, items, agree
        self.arms: dict[str, Arm] = {}
        self.unavailable: dict[str, str] = {}
        """Why arms cannot run here, by name."""
        self.work: dict[str, TakeWork] = {}
        """How arms count what they did, by name."""
        self._prepare: Callable[..., object] | None = None

    def prepare(self, function: PrepareT) -> PrepareT:
        """Take a function that makes the input of all arms: `function(random, **params)`, with a `random.Random` of
        the seed. Without one, arms get None."""
        self._prepare = function
        return function

    @overload
    def arm(self, function: ArmT) -> ArmT: ...

    @overload
    def arm(
        self,
        *,
        name: str | None = None,
        unavailable: str | None = None,
        work: TakeWork | None = None,
    ) -> Callable[[ArmT], ArmT]: ...

    def arm(
        self,
        function: Arm | None = None,
        *,
        name: str | None = None,
        unavailable: str | None = None,
        work: TakeWork | None = None,
    ) -> Any:
        """Take an arm: `function(input)`, which must leave the input as it is. `unavailable` says why it cannot run on
        this machine; such an arm is shown with its reason and is no failure. `work()` returns the arm's counters since
        its last call; it is called after each round, outside of timed regions."""

        def add(function: Arm) -> Arm:
            key = name or function.__name__
            if key in self.arms:
                raise ValueError(f"benchmark {self.name} has two arms called {key}")
            self.arms[key] = function
            if unavailable:
                self.unavailable[key] = unavailable
            if work:
                self.work[key] = work
            return function

        return add if function is None else add(function)

    def input(self, seed: int, params: Params) -> object:
        """Make the input of all arms, the same for one seed."""
        if self._prepare is None:
            return None
        return self._prepare(random.Random(seed), **params)  # noqa: S311 - input of a benchmark


class Group(NamedTuple):
    """One combination of params of a benchmark, with the arms that were asked for."""

    benchmark: Benchmark
    params: Params
    arms: list[str]
    first_case: int

    @property
    def key(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.params.items())

    def case(self, arm: str) -> dict[str, object]:
        """Return the fields of the case of an arm."""
        fields: dict[str, object] = {
            "benchmark": self.benchmark.name,
            "arm": arm,
            "params": self.params,
            "metrics": METRICS,
        }
        if self.benchmark.items is not None:
            fields["items_per_iteration"] = self.benchmark.items(**self.params)
        if arm in self.benchmark.unavailable:
            fields["unavailable"] = self.benchmark.unavailable[arm]
        return fields


class Workload:
    """The benchmarks of one process. `knobs`: options that are no params, with their defaults."""

    def __init__(
        self,
        suite: str,
        workload: str | None = None,
        knobs: Params | None = None,
    ) -> None:
        """Prepare an empty workload. `workload`: its name in suite.toml; by default the suite's."""
        self.suite, self.name = suite, workload or suite
        self.knobs: Params = dict(knobs or {})
        """The value of each knob: its default until `main` has read the command line."""
        self._defaults = dict(self.knobs)
        self._benchmarks: list[Benchmark] = []
        self._out = sys.stdout

    def benchmark(
        self,
        name: str,
        *,
        items: Callable[..., int] | None = None,
        agree: bool = True,
        **params: Iterable[Param],
    ) -> Benchmark:
        """Declare a benchmark with the default values of its params. `items(**params)`: how many items one call
        processes. `agree`: whether all arms must return equal results, which is the check `arms_agree`."""
        listed = {key: list(values) for key, values in sorted(params.items())}
        benchmark = Benchmark(name, listed, items, agree)
        self._benchmarks.append(benchmark)
        return benchmark

    def main(self, arguments: list[str] | None = None) -> None:
        """Do what the command line asks for, and exit. `arguments`: instead of the process's own."""
        sys.exit(self.run(arguments))

    def run(self, arguments: list[str] | None = None) -> int:
        """Do what the command line asks for. Returns the exit status."""
        self._out = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):
            return self._run(arguments)

    def _run(self, arguments: list[str] | None) -> int:
        options = argparse.Namespace(launch=0, seed=0)
        clock = _observe_clock()
        has_begun = False
        try:
            options = _parse(arguments)
            groups = list(self._select(options))
            if options.list:
                cases = [group.case(arm) for group in groups for arm in group.arms]
                listing = {"suite": self.suite, "workload": self.name, "cases": cases}
                self._out.write(json.dumps(listing) + "\n")
                return 0
            has_begun = True
            self._start(options, clock)
            for done, group in enumerate(groups, 1):
                self._measure(options, clock, group)
                self._say("progress", done=done, total=len(groups))
        except Exception as error:
            if not isinstance(error, UsageError):
                traceback.print_exc()
            if not has_begun:
                self._start(options, clock)
            code = error.code if isinstance(error, UsageError) else "internal"
            text = str(error) or type(error).__name__
            self._say("error", code=code, text=text)
            return 1
        self._say("done")
        return 0

    def _say(self, kind: str, **fields: object) -> None:
        self._out.write(json.dumps({"type": kind, **fields}) + "\n")
        if kind != "samples":
            self._out.flush()

    def _start(self, options: argparse.Namespace, clock: dict[str, object]) -> None:
        changed = {
            name: str(value)
            for name, value in self.knobs.items()
            if value != self._defaults[name]
        }
        build = {"python": sys.version.split()[0], **changed}
        self._say(
            "start",
            v=1,
            suite=self.suite,
            workload=self.name,
            launch=options.launch,
            seed=options.seed,
            build=build,
            clock=clock,
        )

    def _select(self, options: argparse.Namespace) -> Iterator[Group]:
        """Yield the groups that the filters leave. Raises UsageError."""
        self._set_knobs(options.knob)
        by_name = {benchmark.name: benchmark for benchmark in self._benchmarks}
        for name in options.benchmark:
            _check_known("benchmark", name, by_name)
        wanted = [_split_case(text, by_name) for text in options.case]
        values = _read_params(options.params, self._benchmarks)
        count = 0
        for benchmark in self._benchmarks:
            if options.benchmark and benchmark.name not in options.benchmark:
                continue
            lists = [
                values.get(key, listed) for key, listed in benchmark.params.items()
            ]
            for combination in itertools.product(*lists):
                params = dict(zip(benchmark.params, combination, strict=True))
                arms = [
                    arm
                    for arm in benchmark.arms
                    if not wanted
                    or any(
                        (benchmark.name, arm) == (name, of)
                        and some.items() <= params.items()
                        for name, of, some in wanted
                    )
                ]
                if arms:
                    yield Group(benchmark, params, arms, count)
                    count += len(arms)
        if not count:
            raise UsageError("No case is left by these filters.", "no_case")

    def _set_knobs(self, texts: list[str]) -> None:
        self.knobs.update(self._defaults)
        for text in texts:
            name, _, value = text.partition("=")
            _check_known("knob", name, self._defaults)
            self.knobs[name] = _typed(value, self._defaults[name], f"knob {name}")

    def _measure(
        self, options: argparse.Namespace, clock: dict[str, object], group: Group
    ) -> None:
        """Announce and measure one group."""
        benchmark = group.benchmark
        data = benchmark.input(options.seed, group.params)
        cases: list[tuple[int, Arm]] = []
        counting: list[TakeWork | None] = []
        for number, name in enumerate(group.arms, group.first_case):
            self._say("case", case=number, **group.case(name))
            if name not in benchmark.unavailable:
                cases.append((number, benchmark.arms[name]))
                counting.append(benchmark.work.get(name))
        arms = [arm for _, arm in cases]
        if not arms:
            return
        if benchmark.agree:
            results = [arm(data) for arm in arms]
            self._say(
                "check",
                name="arms_agree",
                ok=all(result == results[0] for result in results),
                detail=f"{benchmark.name}/{group.key}",
            )
        shortest = max(options.min_time_ns, STEPS * int(str(clock["resolution_ns"])))
        iterations = _calibrate(arms, data, shortest * RESERVE)
        warmup = options.warmup_rounds
        if warmup is None:
            warmup = max(5, -(-options.rounds // 10))
        for discard in filter(None, counting):
            discard()  # what was counted before the first round
        too_short, number = 0, 0
        for phase, rounds in (("warmup", warmup), ("measure", options.rounds)):
            key = f"{phase}/{benchmark.name}/{group.key}"
            for order in orders(options.seed, key, len(arms), rounds):
                measured = []
                for position, index in enumerate(order):  # nothing is printed in here
                    value = _time(arms[index], data, iterations)
                    measured.append((index, position, value, time.perf_counter_ns()))
                for index, position, value, now in measured:
                    take = counting[index]
                    too_short += phase == "measure" and value < shortest
                    self._say(
                        "samples",
                        case=cases[index][0],
                        metric="time",
                        launch=options.launch,
                        round=number,
                        position=position,
                        phase=phase,
                        iterations=iterations,
                        values=[value],
                        t_ns=now,
                        **({} if take is None else {"work": take()}),
                    )
                self._out.flush()
                number += 1
        if too_short:
            text = f"{too_short} samples of {benchmark.name} are shorter than {shortest} ns."
            self._say("warning", code="few_iterations", text=text)


def orders(seed: int, group: str, arms: int, rounds: int) -> Iterator[list[int]]:
    """Yield the arm at each position for each round: squares in which each arm stands once in each position. `group`:
    "phase/benchmark/k=v,k=v"."""
    state = 0xCBF29CE484222325
    for byte in group.encode():  # FNV-1a
        state = (state ^ byte) * 0x100000001B3 & MASK
    numbers = _draw(seed ^ state)
    for done in range(0, rounds, arms):
        first, shift = _shuffle(arms, numbers), _shuffle(arms, numbers)
        for i in range(min(arms, rounds - done)):
            yield [first[(position + shift[i]) % arms] for position in range(arms)]


def _draw(state: int) -> Iterator[int]:
    """Yield the numbers of splitmix64, without end."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def _shuffle(count: int, numbers: Iterator[int]) -> list[int]:
    items = list(range(count))
    for i in range(count - 1, 0, -1):
        limit = 2**64 - 2**64 % (i + 1)
        j = next(number for number in numbers if number < limit) % (i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def _calibrate(arms: list[Arm], data: object, wanted_ns: float) -> int:
    """Return the number of calls with which the fastest arm takes `wanted_ns`."""
    iterations = 1
    while True:
        fastest = min(_time(arm, data, iterations) for arm in arms)
        if fastest >= wanted_ns:
            return iterations
        # At most tenfold, because the first calls of an arm are slower than those that follow.
        factor = min(10.0, wanted_ns / max(fastest, 1) * 1.1)
        iterations = max(iterations + 1, int(iterations * factor))


def _time(arm: Arm, data: object, iterations: int) -> int:
    """Return how long `iterations` calls take, in ns."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        begin = time.perf_counter_ns()
        for _ in itertools.repeat(None, iterations):
            arm(data)
        return time.perf_counter_ns() - begin
    finally:
        if was_enabled:
            gc.enable()


def _observe_clock() -> dict[str, object]:
    """Measure the clock's smallest step and what reading it costs."""
    reads = [time.perf_counter_ns() for _ in range(2000)]
    steps = sorted(after - before for before, after in itertools.pairwise(reads))
    resolution = next((step for step in steps if step > 0), 1)
    return {
        "name": "perf_counter_ns",
        "resolution_ns": resolution,
        "overhead_ns": steps[len(steps) // 2],
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(message)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line of the contract. Raises UsageError."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--launch", type=_number(0), default=0)
    parser.add_argument("--rounds", type=_number(1), default=20)
    parser.add_argument("--warmup-rounds", type=_number(0))
    parser.add_argument("--min-time-ns", type=_number(0), default=1_000_000)
    parser.add_argument("--seed", type=_number(0), default=0)
    for name in ("case", "benchmark", "params", "knob"):
        parser.add_argument(f"--{name}", action="append", default=[])
    return parser.parse_args(arguments)


def _number(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if not least <= value < 2**63:
            raise argparse.ArgumentTypeError(f"{value} is not from {least} to 2^63 - 1")
        return value

    return read


def _split_case(text: str, by_name: dict[str, Benchmark]) -> Any:
    """Split `benchmark/arm[/k=v,k=v]`. Raises UsageError."""
    name, _, rest = text.partition("/")
    arm, _, listed = rest.partition("/")
    _check_known("benchmark", name, by_name)
    _check_known(f"arm of {name}", arm, by_name[name].arms)
    params: Params = {}
    for pair in filter(None, listed.split(",")):
        key, _, value = pair.partition("=")
        _check_known(f"param of {name}", key, by_name[name].params)
        params[key] = _typed(value, by_name[name].params[key][0], f"param {key}")
    return name, arm, params


def _read_params(
    texts: list[str], benchmarks: list[Benchmark]
) -> dict[str, list[Param]]:
    """Read `k=v1|v2` filters. A number need not be among the default values, a text must. Raises UsageError."""
    declared: dict[str, list[Param]] = {}
    for benchmark in benchmarks:
        for key, listed in benchmark.params.items():
            declared.setdefault(key, []).extend(listed)
    chosen: dict[str, list[Param]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        _check_known("param", key, declared)
        read = [
            _typed(value, declared[key][0], f"param {key}")
            for value in values.split("|")
        ]
        for value in read:
            if isinstance(value, str):
                _check_known(f"value of {key}", value, declared[key])
        chosen[key] = read
    return chosen


def _typed(text: str, like: Param, what: str) -> Param:
    """Read a value of the type of `like`. Raises UsageError."""
    if isinstance(like, str):
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{what} is a number, and {text!r} is none.") from None


def _check_known(what: str, name: object, known: Iterable[object]) -> None:
    """Raise UsageError unless `name` is known."""
    listed = list(known)
    if name not in listed:
        names = ", ".join(map(str, listed)) or "none"
        raise UsageError(f"There is no {what} {name!r}: known are {names}.")
