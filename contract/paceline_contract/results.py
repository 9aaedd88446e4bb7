"""The canonical document of what another tool measured: `paceline.result/1`.

Readers (`readers/`) make it from each tool's own output, whether Paceline started the tool or somebody imports its files.
Samples are totals over iterations, as in the bench stream, so that no figure is rounded. What failed is named and has no
figures. Fields that are not known here are ignored.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from paceline_contract.events import Direction, Natural, ParamValue, Positive
from paceline_contract.imported_series import MAX_SAMPLES, LeftOut
from paceline_contract.manifest import Text
from paceline_contract.params import params_key, params_text
from paceline_contract.units import PER_ITERATION, Unit

FORMAT: Final = "paceline.result/1"
MAX_BYTES: Final = 64 << 20
"""The longest document, of ours or of a tool, that is read."""
MAX_CASES: Final = 100_000
"""Most cases of one document."""
MAX_TEXT: Final = 2_000
"""Most characters of a text, such as a name."""
UNNAMED: Final = "value"
"""The param of a value that its tool does not name."""

KEPT_DIGITS: Final = 1000
"""Figures that are averages become totals over so many iterations, so that no digit of them is lost."""

Commit = Annotated[str, Meta(pattern=r"\A[0-9a-f]{7,64}\Z")]
Instant = Annotated[datetime, Meta(tz=True)]
Value = Annotated[str, Meta(max_length=MAX_TEXT, pattern=r"\A[^\x00]*\Z")]


class ResultError(Exception):
    """The results cannot be used; the text says what was expected and what is there instead.

    `reached` says how far they were read, so that the likeliest of several readers can be found: below 1 the share of the
    bytes that are of its syntax, from 1 on how deep the place is that has another form, and infinite where only what they
    say is wrong."""

    def __init__(self, text: str, reached: float = math.inf) -> None:
        super().__init__(text)
        self.reached = reached


def find_depth(error: msgspec.ValidationError) -> float:
    """Return how deep in a document the place is that has another form than expected."""
    text = str(error)
    _, found, place = text.partition(" - at `$")
    if found:
        return 2.0 + place.count(".") + place.count("[")
    return 1.0 if text.startswith("Expected") else 2.0


class Sample(NamedTuple):
    """A measured total over so many iterations; of a rate, the rate itself."""

    iterations: Positive
    total: Natural


class Summary(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figure of an iteration that a tool made of values it did not keep, in the unit of the metric."""

    kind: Literal["mean", "median", "minimum", "maximum"]
    value: Annotated[float, Meta(ge=0)]
    count: Positive | None = None
    """The number of these values, where it is known."""


class MeasuredMetric(msgspec.Struct, frozen=True, omit_defaults=True):
    """A quantity of a case with its samples, in the order in which they were taken, or a summary of them."""

    name: Text
    unit: Unit
    direction: Direction
    samples: Annotated[list[Sample], Meta(max_length=MAX_SAMPLES)] = []
    summary: Summary | None = None

    @property
    def values(self) -> list[Sample]:
        """Return the samples of one start of the tool; where it leaves only a summary, this is the start's only value."""
        if self.summary is None:
            return self.samples
        if self.unit not in PER_ITERATION:
            return [Sample(1, round(self.summary.value))]
        return [Sample(KEPT_DIGITS, round(self.summary.value * KEPT_DIGITS))]


class MeasuredCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """One case, which the tool calls `name`. Its other names are the tool's texts, too: without `arm` the tool has no
    arms, and `params` tell apart the cases of one benchmark."""

    name: Text
    benchmark: Text
    params: dict[Text, Natural | Value] = {}
    metrics: list[MeasuredMetric] = []
    failure: Text | None = None
    """The tool's words about what went wrong; such a case has no figures."""
    unavailable: Text | None = None
    """The reason for which the tool skipped it; such a case has no figures either."""
    arm: Text | None = None

    @property
    def value(self) -> str | None:
        """Return the params as one text (`join_params`)."""
        return join_params(self.params)

    @property
    def spoken_name(self) -> str:
        """Return the name for people, with the names of its params where the tool's name leaves one out."""
        if len(self.params) != 1 or UNNAMED in self.params:
            return self.name
        value = join_name(self.benchmark, self.value)
        return (
            join_name(self.benchmark, params_text(self.params))
            if self.name == value
            else self.name
        )


class Result(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="format", tag=FORMAT
):
    """What one start of a tool, or one entry of its history, measured."""

    tool: Text
    cases: Annotated[list[MeasuredCase], Meta(max_length=MAX_CASES)]
    version: Text | None = None
    at: Instant | None = None
    commit: Commit | None = None
    branch: Text | None = None
    build: dict[Text, Text] = {}
    """Facts about what was built, such as its package."""
    target: dict[Text, Text] = {}
    """Facts about where it ran, such as its CPU."""
    problems: list[LeftOut] = []
    """What was left out, with its place in the tool's output and the reason."""

    @property
    def facts(self) -> dict[str, str]:
        """Return the version, by the tool's name, and the facts about what was built and where it ran."""
        key = self.tool.replace("-", "_")
        version = {} if self.version is None else {key: self.version}
        return {**version, **self.build, **self.target}


def cases_without_figures(result: Result) -> list[LeftOut]:
    """Return what an import leaves out: problems of the reader, and cases that failed or were skipped."""
    return [
        *result.problems,
        *(
            LeftOut.of(case.name, None, f"the tool reports a failure: {case.failure}")
            for case in result.cases
            if case.failure is not None
        ),
        *(
            LeftOut.of(case.name, None, f"the tool skipped it: {case.unavailable}")
            for case in result.cases
            if case.unavailable is not None
        ),
    ]


class _Head(msgspec.Struct):
    format: str


def read_result(data: bytes) -> Result:
    """Read a document. Raises ResultError."""
    if len(data) > MAX_BYTES:
        raise ResultError(
            f"it has {len(data):,} bytes: expected at most {MAX_BYTES:,}; split it"
        )
    try:
        format_name = msgspec.json.decode(data, type=_Head).format
        if format_name != FORMAT:
            raise ResultError(
                f"format: expected {FORMAT!r}, found {format_name!r}", 2.0
            )
        result = msgspec.json.decode(data, type=Result)
    except msgspec.ValidationError as error:
        raise ResultError(
            f"expected a {FORMAT} in JSON: {error}", find_depth(error)
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultError(f"expected a {FORMAT} in JSON: {error}", 0.0) from error
    for problem in _find_problems(result):
        raise ResultError(problem)
    return result


def _find_problems(result: Result) -> Iterator[str]:
    """Yield problems that the types do not exclude."""
    refuse_duplicates(result.cases)
    names: dict[tuple[str, str | None, str], str] = {}
    for case in result.cases:
        key = case.benchmark, case.arm, params_key(case.params)
        if key in names:
            yield f"{names[key]} and {case.name} have the same benchmark, arm and params"
        names[key] = case.name
        if case.failure is not None or case.unavailable is not None:
            if case.metrics:
                yield f"{case.name}: expected no figures of a case that failed or was skipped"
            continue
        if not case.metrics:
            yield f"{case.name}: expected at least one metric"
        for name, count in Counter(metric.name for metric in case.metrics).items():
            if count > 1:
                yield f"{case.name}: expected {name} once, found it {count} times"
        for metric in case.metrics:
            if bool(metric.samples) == (metric.summary is not None):
                yield f"{metric.name} of {case.name}: expected either samples or a summary"


def encode_result(result: Result) -> bytes:
    """Return the document as canonical JSON: equal results have equal bytes."""
    return msgspec.json.encode(result, order="sorted")


def result_id(result: Result) -> str:
    """Return the digest that identifies a result by its content: the SHA-256 of its canonical JSON."""
    return hashlib.sha256(encode_result(result)).hexdigest()


def refuse_duplicates(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases. Raises ResultError if two have one name, because nothing tells which is which, and for more than
    a document holds, before more are made: a short file may stand for many cases, or for many long names."""
    kept: list[MeasuredCase] = []
    letters = 0
    for case in cases:
        kept.append(case)
        letters += len(case.name)
        if len(kept) > MAX_CASES:
            raise ResultError(
                f"it has more cases: expected at most {MAX_CASES:,}; split it"
            )
        if letters > MAX_BYTES:
            raise ResultError(
                f"the names of its cases are longer in all: expected at most {MAX_BYTES:,} characters"
            )
    for name, count in Counter(case.name for case in kept).items():
        if count > 1:
            raise ResultError(duplicate_name_text(name))
    return kept


def duplicate_name_text(name: str) -> str:
    """Return the error's text about two cases of one name."""
    return f"several cases are called {name}: give each a name of its own"


def split_name(name: str) -> tuple[str, str | None]:
    """Split `BENCHMARK/VALUE` into benchmark and value."""
    benchmark, _, value = name.partition("/")
    return benchmark, value or None


def join_name(benchmark: str, value: str | None) -> str:
    """Return `BENCHMARK/VALUE`, or the benchmark if it has no value."""
    return benchmark if value is None else f"{benchmark}/{value}"


def join_params(params: Mapping[str, ParamValue]) -> str | None:
    """Return params as one text: the value where there is one, else `NAME=VALUE` of each; None without any."""
    if len(params) == 1:
        return str(*params.values()) or None
    return " ".join(f"{name}={value}" for name, value in params.items()) or None


def make_params(value: str | None) -> dict[str, ParamValue]:
    """Return the params of a value that its tool does not name; none without one."""
    return {UNNAMED: value} if value else {}
