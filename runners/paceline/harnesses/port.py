"""The port of a harness: another tool's benchmark runner that Paceline drives.

A harness says how its tool is started so that it leaves results, and reads them. Samples are totals over iterations,
as in the bench stream, so that no figure is rounded. What failed is named, never a figure.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
from paceline_contract.events import INT64_MAX, Direction
from paceline_contract.units import Unit

from paceline.executors.process import ProcessEnd
from paceline.first_error import Excerpt

RESULTS = "results.json"
"""The file in which tools leave their results."""
NS_PER_S = 1e9


class HarnessError(Exception):
    """The results cannot be used; the text says what was expected and what is there instead. `excerpt` is what a
    person should see of the tool's output."""

    def __init__(self, text: str, excerpt: Excerpt | None = None) -> None:
        super().__init__(text)
        self.excerpt = excerpt


class Sample(NamedTuple):
    """A measured total over so many iterations; of a rate, the rate itself."""

    iterations: int
    total: int


class MeasuredMetric(NamedTuple):
    """A quantity of a case with its samples, in the order in which they were taken."""

    name: str
    unit: Unit
    direction: Direction
    samples: list[Sample]


class MeasuredCase(msgspec.Struct, frozen=True):
    """One case as the tool names it. `value` tells apart the cases of one benchmark, such as its arguments."""

    name: str
    benchmark: str
    value: str | None
    metrics: list[MeasuredMetric]
    failure: str | None = None
    """The tool's words about what went wrong; such a case has no figures."""
    unavailable: str | None = None
    """The reason for which the tool skipped it here."""


class Reading(msgspec.Struct, frozen=True):
    """The results of one process start of a tool, and facts about the tool, such as its version."""

    cases: list[MeasuredCase]
    facts: dict[str, str] = {}


class DriveRequest(msgspec.Struct, frozen=True):
    """The task of one process start. `output` is an empty directory for its results; `only` names cases, where
    the harness can filter."""

    command: list[str]
    output: Path
    repetitions: int = 1
    min_time_ns: int = 100_000_000
    only: list[str] = []

    @property
    def results(self) -> Path:
        """The file in `output` for the results of a tool that writes one."""
        return self.output / RESULTS


class Invocation(msgspec.Struct, frozen=True):
    """A command line that starts the tool; `env` is added to the environment."""

    argv: list[str]
    env: dict[str, str] = {}
    discards_stdout: bool = False


class Overhead(msgspec.Struct, frozen=True):
    """The time that a shell takes which does nothing."""

    wall_ns: int = 0
    user_ns: int = 0
    system_ns: int = 0


class FinishedStart(msgspec.Struct, frozen=True):
    """A process start of a tool that exited with status 0."""

    request: DriveRequest
    end: ProcessEnd
    stdout: bytes = b""
    overhead: Overhead = Overhead()

    def read_results(self) -> bytes:
        """Return the bytes of the file of results. Raises HarnessError without one."""
        try:
            return self.request.results.read_bytes()
        except FileNotFoundError:
            raise HarnessError(
                "the command exited with status 0 and left no results: it ran no benchmark, or not with this harness"
            ) from None


class Harness(Protocol):
    """One tool. `name` is what `--harness` takes; `title` is what people call it."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def can_filter(self) -> bool:
        """It can run the named cases alone. One that cannot is driven whole."""

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        """Check whether `command`, started in `directory`, runs this tool."""

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Say how to start it so that it leaves its results in the request's `output` or on standard output."""

    def read(self, finished: FinishedStart) -> Reading:
        """Return what a start of it measured. Raises HarnessError."""


TIME_UNITS = {
    "ns": 1.0,
    "us": 1e3,
    "\u00b5s": 1e3,
    "\u03bcs": 1e3,
    "ms": 1e6,
    "s": NS_PER_S,
    "m": 60e9,
}
"""The nanoseconds of the units in which tools give times."""


def time_unit_ns(unit: str, where: str) -> float:
    """Return the nanoseconds of a unit of time. Raises HarnessError, which says `where`."""
    if unit not in TIME_UNITS:
        raise HarnessError(
            f"{where}: expected a unit of time ({', '.join(TIME_UNITS)}), found {unit!r}"
        )
    return TIME_UNITS[unit]


def sample_of(figure: object, iterations: int, where: str, scale: float = 1) -> Sample:
    """Return the sample of a figure per iteration, in units of which the metric's is `scale` times as small. Raises
    HarnessError, which says `where`, for what is no figure."""
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        raise HarnessError(f"{where}: expected a number, found {figure!r}")
    total = figure * scale * iterations
    if not math.isfinite(total) or not 0 <= total <= INT64_MAX or iterations < 1:
        raise HarnessError(
            f"{where}: expected a figure from 0, found {figure} over {iterations} iterations"
        )
    return Sample(iterations, round(total))


def split_name(name: str) -> tuple[str, str | None]:
    """Split `BENCHMARK/VALUE` into benchmark and value."""
    benchmark, _, value = name.partition("/")
    return benchmark, value or None


def join_name(benchmark: str, value: str | None) -> str:
    """Return `BENCHMARK/VALUE`, or the benchmark if it has no value."""
    return benchmark if value is None else f"{benchmark}/{value}"


def several_are_called(name: str) -> str:
    """Return the words about two cases of one name."""
    return f"several cases are called {name}: give each a name of its own"


def refuse_duplicates(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases. Raises HarnessError if two have one name, because nothing tells which is which."""
    cases = list(cases)
    counts = Counter(case.name for case in cases)
    duplicates = [name for name, count in counts.items() if count > 1]
    if duplicates:
        raise HarnessError(several_are_called(duplicates[0]))
    return cases


def has_option(command: Sequence[str], *names: str) -> bool:
    """Check whether a command line gives one of these options, as `NAME`, `NAME=VALUE`, or `-N1`, where a number follows
    a name of one letter."""
    return any(
        argument == name
        or argument.startswith(f"{name}=")
        or (len(name) == 2 and argument[:2] == name and argument[2:3].isdigit())
        for argument in command
        for name in names
    )


def without_options(command: Sequence[str], *names: str) -> list[str]:
    """Return a command line without these options and their values, which it gives as `NAME VALUE`, or `NAME=VALUE`."""
    kept = []
    arguments = iter(command)
    for argument in arguments:
        if argument in names:
            next(arguments, None)
        elif not has_option([argument], *names):
            kept.append(argument)
    return kept


def read_document(data: bytes, tool: str, key: str) -> tuple[dict[str, Any], list[Any]]:
    """Return the object in a tool's JSON, and its list `key`. Raises HarnessError."""
    try:
        document = json.loads(data)
    except ValueError as error:
        raise HarnessError(f"the results of {tool} are not JSON: {error}") from error
    entries = document.get(key) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise HarnessError(f'expected an object with a list "{key}" from {tool}')
    return document, entries


def program_of(command: Sequence[str]) -> str:
    """Return the file name of the program that a command starts."""
    return Path(command[0]).name
