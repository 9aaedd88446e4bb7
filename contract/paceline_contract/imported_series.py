"""Decides under which names another tool's results are stored, and which of them a run can hold.

An odd series is left out with its id, its path and a reason, and never refuses the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, Self, TypeVar

import msgspec

from paceline_contract.manifest import ONLY_ARM
from paceline_contract.text_names import DIGEST_MARK, append_digest, make_name

MAX_PART: Final = 200
"""Most characters of a part of an id, and of a branch: what an index of every database holds."""
MAX_SAMPLES: Final = 1_000_000
"""Most samples of one benchmark: a hundred times what people configure."""
MAX_BENCHMARKS, MAX_ARMS, MAX_VALUES = 500, 64, 1_000
"""Most benchmarks of a run, and most arms and params of a benchmark: what a manifest declares at most."""
MAX_GATES: Final = 500
"""Most gates of a run."""
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
    """The tool's names of a series; `value` is its params as one text."""

    @property
    def benchmark(self) -> str: ...
    @property
    def arm(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...


S = TypeVar("S", bound=ImportedSeries)


def series_id(series: ImportedSeries) -> str:
    """Return the parts that are there, joined as criterion joins them."""
    parts = (series.benchmark, series.arm, series.value)
    return "/".join(part for part in parts if part)


def make_arm_name(text: str | None) -> str:
    """Return the name of an arm. Without one it is that of suites without arms, and an arm of that name gets a digest."""
    if not text:
        return ONLY_ARM
    return append_digest(text, text) if text == ONLY_ARM else make_name(text)


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


def name_problem(benchmark: str, arm: str | None, value: str | None) -> str | None:
    """Return why a series of these names cannot be stored, or None when it can."""
    if not benchmark:
        return "it has no name"
    texts = {"benchmark": benchmark, "arm": arm or "", "value": value or ""}
    for what, text in texts.items():
        if len(text) > MAX_PART:
            return (
                f"its {what} has {len(text):,} characters: expected at most {MAX_PART}"
            )
        if "\0" in text:
            return f"its {what} contains U+0000, which no database stores"
    return None


def keep_one_of_each(series: Iterable[S]) -> tuple[list[S], list[LeftOut]]:
    """Return (the series that a run can hold, the others). Of two with one id the first is kept."""
    kept: list[S] = []
    left_out: list[LeftOut] = []
    known: set[tuple[str, ...]] = set()
    names: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for measured in series:
        key = (measured.benchmark, measured.arm or "", measured.value or "")
        why = "its id is there twice" if key in known else _count(measured, names)
        if why is None:
            known.add(key)
            kept.append(measured)
        else:
            left_out.append(LeftOut.of(series_id(measured), None, why))
    return kept, left_out


def _count(
    series: ImportedSeries, names: dict[tuple[str, ...], set[str]]
) -> str | None:
    """Add the names of a series to those of its run, or say which limit they exceed."""
    benchmark = series.benchmark
    counted = (
        ((), benchmark, MAX_BENCHMARKS, "benchmarks"),
        ((benchmark, "arm"), series.arm or "", MAX_ARMS, "arms of a benchmark"),
        ((benchmark, "value"), series.value or "", MAX_VALUES, "params of a benchmark"),
    )
    for key, name, limit, what in counted:
        if name not in names[key] and len(names[key]) >= limit:
            return f"a run holds at most {limit:,} {what}: import a part at a time"
    for key, name, _, _ in counted:
        names[key].add(name)
    return None
