"""Decides which series of another tool's results can be stored, and as which metric.

`paceline import --dry-run` and the server call the same functions, so a dry run says what an import would do. An odd
series is left out with its id, its path and a reason, and never refuses the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol, Self, TypeVar

import msgspec

from paceline_contract.text_names import DIGEST_MARK, append_digest, make_name
from paceline_contract.units import KNOWN, MetricUnit, metric_in

MAX_PART: Final = 200
"""Most characters of a part of an id, and of a baseline: what an index of every database holds."""
MAX_SAMPLES: Final = 1_000_000
"""Most samples of one benchmark: a hundred times what people configure."""
MAX_BENCHMARKS, MAX_ARMS, MAX_VALUES = 500, 64, 1_000
"""Most benchmarks of a run, and most functions and values of a benchmark: what a manifest declares at most."""
MAX_GATES: Final = 500
"""Most gates of a run."""
NO_ARM: Final = "criterion"
"""The arm of a benchmark without a function."""
MAX_SHOWN: Final = 1_000
"""Most characters of an id, a path or a reason of what is left out."""
MAX_LEFT_OUT: Final = 1_000
"""Most entries of what is left out in a document."""
LARGEST: Final = 1e18
"""The largest value of an iteration. In nanoseconds it is thirty years, far below the overflow of a double."""


def _make_storable(text: str) -> str:
    text = text.replace("\0", "\\0")
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


class LeftOut(msgspec.Struct, frozen=True):
    """A series that is not stored. `id` is None where it could not be read, `path` where none is known."""

    id: str | None
    path: str | None
    why: str

    @classmethod
    def of(cls, named: str | None, path: str | None, why: str) -> Self:
        """Return the entry with texts that every database stores, cut where they are long."""
        id_, path = (text and _make_storable(text) for text in (named, path))
        return cls(id_, path, _make_storable(why))

    @property
    def name(self) -> str:
        """Return the id and the path, as far as they are known."""
        if self.id and self.path:
            return f"{self.id} ({self.path})"
        return self.id or self.path or ""


def sentences(left_out: Iterable[LeftOut]) -> Iterator[str]:
    """Yield what is left out, for people: one sentence for each reason."""
    names: dict[str, list[str]] = {}
    for entry in left_out:
        names.setdefault(entry.why, []).append(entry.name)
    for why, named in names.items():
        listed = ", ".join(filter(None, named))
        yield f"left out {listed}: {why}" if listed else f"left out {why}"


def limit_entries(left_out: list[LeftOut]) -> list[LeftOut]:
    """Return the entries that a document lists, and the number of the others as a last entry."""
    more = len(left_out) - MAX_LEFT_OUT
    if more <= 0:
        return left_out
    return [*left_out[:MAX_LEFT_OUT], LeftOut(None, None, f"{more:,} more, not listed")]


class ImportedSeries(Protocol):
    """The fields of a series that decide; `path` says where it was read."""

    @property
    def benchmark(self) -> str: ...
    @property
    def arm(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...
    @property
    def baseline(self) -> str: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def iterations(self) -> Sequence[float]: ...
    @property
    def times(self) -> Sequence[float]: ...


S = TypeVar("S", bound=ImportedSeries)


def metric_of(unit: str | None) -> MetricUnit | None:
    """Return the metric of values in `unit`, which criterion's files leave out where they mean ns; None if the unit is
    unknown here."""
    return metric_in("ns" if unit is None else unit)


def series_id(series: ImportedSeries) -> str:
    """Return the parts that are there, as criterion joins them."""
    parts = (series.benchmark, series.arm, series.value)
    return "/".join(part for part in parts if part)


def make_arm_name(text: str | None) -> str:
    """Return the arm of a function. Without one it is `criterion`, and a function of that name gets a digest."""
    if not text:
        return NO_ARM
    return append_digest(text, text) if text == NO_ARM else make_name(text)


def texts_of_names(title: str, benchmark: str, arm: str) -> dict[str, str]:
    """Return the parts of a series' title (`series_id`) that its names were made of, by each name with a digest."""
    parts = title.split("/")
    texts: dict[str, str] = {}
    at = 0
    for name, shorten in ((benchmark, make_name), (arm, make_arm_name)):
        for end in range(at + 1, len(parts) + 1):
            text = "/".join(parts[at:end])
            if shorten(text) == name:
                at = end
                if DIGEST_MARK in name:
                    texts[name] = text
                break
    return texts


def leave_out(series: ImportedSeries, why: str) -> LeftOut:
    """Return the entry of a series that is left out."""
    return LeftOut.of(series_id(series), series.path, why)


def series_problem(series: ImportedSeries) -> str | None:
    """Return why a series cannot be stored, or None when it can."""
    metric = metric_of(series.unit)
    if metric is None:
        return (
            f"its unit is {series.unit!r}, and only these are known: {', '.join(KNOWN)}"
        )
    return _name_problem(series) or _samples_problem(series, metric)


def keep_one_of_each(series: Iterable[S]) -> tuple[list[S], list[LeftOut]]:
    """Return (the series that runs can hold together, the others). Of two with one id the first is kept."""
    kept: list[S] = []
    left_out: list[LeftOut] = []
    paths: dict[tuple[str, ...], str | None] = {}
    names: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for measured in series:
        metric = metric_of(measured.unit)
        parts = (measured.benchmark, measured.arm or "", measured.value or "")
        key = (measured.baseline, *parts, metric.name if metric else "")
        if key in paths:
            first = f": {paths[key]} is kept" if paths[key] else ""
            twice = f"its id is there twice in the baseline {measured.baseline}{first}"
            left_out.append(leave_out(measured, twice))
            continue
        too_many = _count_problem(measured, names)
        if too_many is not None:
            left_out.append(leave_out(measured, too_many))
            continue
        paths[key] = measured.path
        kept.append(measured)
    return kept, left_out


def _count_problem(
    series: ImportedSeries, names: dict[tuple[str, ...], set[str]]
) -> str | None:
    """Add the names of a series to those of its run, or say which limit they exceed."""
    benchmark, run = series.benchmark, series.baseline
    counted = (
        ((run,), benchmark, MAX_BENCHMARKS, "benchmarks of a run"),
        ((run, benchmark, "arm"), series.arm or "", MAX_ARMS, "functions of a group"),
        (
            (run, benchmark, "value"),
            series.value or "",
            MAX_VALUES,
            "values of a group",
        ),
    )
    for key, name, limit, what in counted:
        if name not in names[key] and len(names[key]) >= limit:
            return f"a run holds at most {limit:,} {what}: import a part of the directory at a time"
    for key, name, _, _ in counted:
        names[key].add(name)
    return None


def _name_problem(series: ImportedSeries) -> str | None:
    if not series.benchmark:
        return "it has no name"
    for what, text in (
        ("group", series.benchmark),
        ("function", series.arm or ""),
        ("value", series.value or ""),
        ("baseline", series.baseline),
    ):
        if len(text) > MAX_PART:
            return (
                f"its {what} has {len(text):,} characters: expected at most {MAX_PART}"
            )
        if "\0" in text:
            return f"its {what} contains U+0000, which no database stores"
    return None


def _samples_problem(series: ImportedSeries, metric: MetricUnit) -> str | None:
    iterations, times = series.iterations, series.times
    if len(iterations) != len(times):
        return f"{len(iterations)} iteration counts and {len(times)} times: expected equal numbers"
    if not 1 <= len(iterations) <= MAX_SAMPLES:
        return f"{len(iterations)} samples: expected 1 to {MAX_SAMPLES:,}"
    for at, (count, time) in enumerate(zip(iterations, times, strict=True)):
        if not (math.isfinite(count) and 1 <= count < 2**63 and count == int(count)):
            return (
                f"sample {at}: {count} iterations: expected a whole number, at least 1"
            )
        if not (math.isfinite(time) and time >= 0):
            return f"sample {at}: time {time}: expected a number, at least 0"
        if time * metric.scale / count > LARGEST:
            return f"sample {at}: {time / count:g} {series.unit or 'ns'} for one iteration: look at its unit"
    return None
