"""Imports what criterion measured as one document (`paceline import --format criterion`).

    DIR        target/criterion: every NAME/BASELINE/sample.json below it
    FILE, -    messages of `cargo criterion --message-format=json`

What cannot be read or stored is left out with its id, its path and a reason; the others are kept. Each saved baseline
is a series. Criterion keeps every run twice, so `new`, the last run, is not listed if it equals a saved baseline byte
for byte. Benchmarks that the last run did not measure keep their older `new`; they are recognised by their time of
writing, and left out. Copies of files have other times (a checkout, a download): then nothing tells what the last run
measured, and no sample gets its commit. Parsing is in `paceline_contract.readers.criterion`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from paceline_contract.imported_series import (
    LeftOut,
    keep_one_of_each,
    limit_entries,
    metric_of,
    sentences,
)
from paceline_contract.readers import criterion
from paceline_contract.readers.criterion import (
    LAST_RUN,
    CriterionError,
    CriterionSeries,
    Origin,
)
from paceline_contract.results import Result
from paceline_contract.units import quantity
from rich.table import Column, Table

from paceline.errors import UserError

LONGEST_PAUSE_S = 600
"""The longest time in which a run writes nothing, beside what the next benchmark measures: builds between two
`cargo bench`, warm-up and set-up. What was written before a longer pause is older than the last run."""
LONGEST_BENCHMARK_S = 86_400
MAX_FILE_BYTES = 64 << 20
"""Twice the size of a sample.json with a million samples."""
MAX_SERIES = 10_000
MAX_LINE_BYTES = 64 << 20
NO_VERDICT = (
    "Criterion runs its benchmarks one after another in one process: these samples have no launches, rounds "
    "or blocks, so nothing here is a verdict. A suite that runs the same code interleaved gets one."
)


class CriterionDocument(msgspec.Struct, frozen=True):
    """The document of an import. `sha256` covers the names and bytes of all files read, in order."""

    v: int
    format: str
    file: str
    bytes: int
    sha256: str
    samples: int
    why_no_verdict: str
    series: list[CriterionSeries]
    left_out: list[LeftOut]

    @property
    def undated(self) -> list[CriterionSeries]:
        """Return the newest series of benchmarks for which it is unknown whether the last run measured them."""
        return [
            series
            for series in self.series
            if series.baseline == LAST_RUN and not series.last_run
        ]


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts that criterion's files lack. `suite`: the suite whose gates apply; `on`: a target's name."""

    suite: str | None = None
    on: str = "imported"
    commit: str | None = None


class _Reading:
    """State of one reading."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self.series: list[CriterionSeries] = []
        self.left_out: list[LeftOut] = []
        self.written: dict[str, float] = {}
        """Path of a series → when its samples were written, or the number of its line."""

    def take(self, name: str, data: bytes) -> bytes:
        self.hash.update(f"{name}\0{len(data)}\0".encode())
        self.hash.update(data)
        self.size += len(data)
        return data

    def add(self, series: CriterionSeries) -> None:
        if len(self.series) >= MAX_SERIES:
            raise UserError(
                f"There are more than {MAX_SERIES:,} benchmarks.", "Import parts of it."
            )
        self.series.append(series)

    def leave_out(self, path: str, error: CriterionError) -> None:
        self.left_out.append(LeftOut.of(error.id, path, str(error)))

    def document(self, name: str) -> CriterionDocument:
        """Return the document of what was read. Of two series with one id the one written last is kept."""
        newest_first = sorted(
            self.series, key=lambda series: -self.written[series.path]
        )
        newest, left_out = keep_one_of_each(newest_first)
        paths = {series.path for series in newest}
        kept_series = [series for series in self.series if series.path in paths]
        samples = sum(len(series.times) for series in kept_series)
        digest = self.hash.hexdigest()
        return CriterionDocument(
            1,
            "criterion",
            name,
            self.size,
            digest,
            samples,
            NO_VERDICT,
            kept_series,
            limit_entries([*self.left_out, *left_out]),
        )


def read(path: str, *, is_fresh: bool = False) -> CriterionDocument:
    """Read an output directory, a file of messages, or `-` for messages from standard input. `is_fresh`: the directory
    was empty before the run, so that all of it belongs to the last run. Raises UserError."""
    try:
        directory = path != "-" and Path(path).is_dir()
        document = (
            _read_directory(Path(path), is_fresh) if directory else _read_messages(path)
        )
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not document.series:
        reasons = "".join(f"\n  {line}" for line in sentences(document.left_out))
        raise UserError(
            f"{path} holds no samples of criterion that can be imported.{reasons}",
            "Give target/criterion after `cargo bench`, or what `cargo criterion --message-format=json` "
            "printed.",
        )
    return document


@dataclass(frozen=True)
class _Run:
    """One baseline of one benchmark in the directory."""

    folder: Path
    path: str
    sample: bytes
    written: float

    @property
    def is_new(self) -> bool:
        return self.folder.name == LAST_RUN

    @property
    def took_s(self) -> float:
        """Return how long its measurement took at least: criterion's times are nanoseconds. 0 if unreadable."""
        try:
            times = msgspec.json.decode(self.sample, type=_Times).times
        except (msgspec.DecodeError, UnicodeDecodeError):
            return 0.0
        return min(max(0.0, sum(times) / 1e9), LONGEST_BENCHMARK_S)

    @property
    def began(self) -> float:
        """Return when its measurement began at the latest."""
        return self.written - self.took_s


class _Times(msgspec.Struct):
    times: list[float]


def _read_directory(root: Path, is_fresh: bool) -> CriterionDocument:
    reading = _Reading()
    folders = [
        list(_runs(reading, root, folder)) for folder in _benchmark_folders(root)
    ]
    new = [run for runs in folders for run in runs if run.is_new]
    last = {run.path for run in new} if is_fresh else _last_run(new)
    is_copy = not is_fresh and criterion.are_copied(
        (run.written, run.took_s) for run in new if run.path in last
    )
    for runs in folders:
        saved = [run.sample for run in runs if not run.is_new]
        newest = {run.sample for run in runs if run.path in last and not is_copy}
        for run in runs:
            if run.is_new and run.sample in saved:
                continue
            if run.is_new and run.path not in last:
                _leave_out_older(reading, run, root)
                continue
            _add_run(reading, run, last_run=run.sample in newest)
    return reading.document(root.resolve().name)


def _runs(reading: _Reading, root: Path, benchmark: Path) -> Iterator[_Run]:
    """Yield the baselines of a benchmark whose samples can be read, sorted by name."""
    for folder in sorted(filter(_is_run, benchmark.iterdir())):
        path = folder.relative_to(root).as_posix().encode(errors="replace").decode()
        sample = folder / "sample.json"
        try:
            yield _Run(folder, path, _read_file(sample), sample.stat().st_mtime)
        except CriterionError as error:
            reading.leave_out(path, error)
        except OSError as error:
            why = f"sample.json cannot be read: {error.strerror}"
            reading.leave_out(path, CriterionError(why))


def _last_run(runs: Iterable[_Run]) -> set[str]:
    """Return the paths of what the last run wrote: the newest, and each one before it without a pause."""
    paths: set[str] = set()
    began: float | None = None
    for run in sorted(runs, key=lambda run: run.written, reverse=True):
        if began is not None and began - run.written > LONGEST_PAUSE_S:
            break
        began = run.began if began is None else min(began, run.began)
        paths.add(run.path)
    return paths


def _leave_out_older(reading: _Reading, run: _Run, root: Path) -> None:
    try:
        name = criterion.full_id(_read_file(run.folder / "benchmark.json"))
    except (CriterionError, OSError):
        name = None
    why = (
        "it was written before the last run, which did not measure it. If it belongs to it, import "
        f"{root.name}/{run.path.rpartition('/')[0]} on its own"
    )
    reading.left_out.append(LeftOut.of(name, run.path, why))


def _add_run(reading: _Reading, run: _Run, *, last_run: bool) -> None:
    """Add one baseline of one benchmark, or the reason why it cannot be imported."""
    name = run.path
    try:
        tukey = run.folder / "tukey.json"
        benchmark = reading.take(
            f"{name}/benchmark.json", _read_file(run.folder / "benchmark.json")
        )
        fences = (
            reading.take(f"{name}/tukey.json", _read_file(tukey))
            if tukey.is_file()
            else None
        )
        reading.take(f"{name}/sample.json", run.sample)
        origin = Origin(name, name.rpartition("/")[2], last_run)
        reading.written[name] = run.written
        reading.add(criterion.series_from_files(benchmark, run.sample, fences, origin))
    except CriterionError as error:
        reading.leave_out(name, error)
    except OSError as error:
        why = f"expected benchmark.json beside sample.json: {error.strerror}"
        reading.leave_out(name, CriterionError(why))


def _benchmark_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of benchmarks, sorted by name: those that contain a folder with a sample.json."""
    for folder, below, _ in os.walk(root):
        below.sort()
        here = Path(folder)
        if any(_is_run(here / name) for name in below):
            yield here


def _is_run(folder: Path) -> bool:
    return not folder.is_symlink() and (folder / "sample.json").is_file()


def _read_file(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise CriterionError(
            f"{path.name} has {size:,} bytes: expected at most {MAX_FILE_BYTES:,}"
        )
    return path.read_bytes()


def _read_messages(path: str) -> CriterionDocument:
    reading = _Reading()
    if path == "-":
        _add_messages(reading, sys.stdin.buffer)
        return reading.document("standard input")
    with Path(path).open("rb") as file:
        _add_messages(reading, file)
    return reading.document(Path(path).name)


def _add_messages(reading: _Reading, file: BinaryIO) -> None:
    number = 0
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        reading.take(str(number), line)
        path = f"line {number}"
        try:
            series = criterion.series_from_message(line, path) if line.strip() else None
        except CriterionError as error:
            reading.leave_out(path, error)
            continue
        if series is not None:
            reading.written[path] = number
            reading.add(series)


def last_run(document: CriterionDocument) -> Result:
    """Return what the last run measured as the canonical result. Raises UserError if nothing is known to be of it."""
    measured = [series for series in document.series if series.last_run]
    if not measured:
        raise UserError(
            f"Nothing tells which benchmarks in {document.file} the last run measured.",
            "Keep the times of the files (cp -a, tar).",
        )
    cases = [criterion.case_of(series) for series in measured]
    return Result(criterion.TOOL, cases, problems=document.left_out)


def import_body(
    document: CriterionDocument, provenance: Provenance, title: str | None
) -> dict[str, Any]:
    """Return the body that stores the document on a server."""
    body = {
        "document": msgspec.to_builtins(document),
        "measured_on": msgspec.to_builtins(provenance),
    }
    return body if title is None else {**body, "title": title}


def tables(document: CriterionDocument) -> Iterator[Table | str]:
    """Yield a table for people: every series with its median and outliers."""
    table = Table(
        Column("benchmark", overflow="fold"),
        "baseline",
        "samples",
        "median",
        "outliers (severe)",
    )
    for series in document.series:
        outliers = series.outliers
        severe = outliers.low_severe + outliers.high_severe
        median = _format_median(series)
        counts = (str(len(series.times)), median, f"{outliers.total} ({severe})")
        table.add_row(series.id, series.baseline, *counts)
    yield table
    yield document.why_no_verdict


def _format_median(series: CriterionSeries) -> str:
    metric = metric_of(series.unit)
    if metric is None:
        return f"{series.median:,.3f} {series.unit}"
    return quantity(series.median * metric.scale, metric.unit)


def complaints(document: CriterionDocument) -> Iterator[str]:
    """Yield sentences about what is left out, what is older than the last run, and what is inconsistent."""
    yield from sentences(document.left_out)
    undated = document.undated
    if undated:
        named = ", ".join(f"{series.id} ({series.path})" for series in undated)
        yield (
            "the files were copied, all at once, so nothing tells which benchmarks the last run measured, and these "
            f"have no known commit: {named}. Give --fresh if the directory was empty before that run, or keep the times "
            "of the files (cp -a, tar)"
        )
    older = [
        f"{series.id} ({series.path})"
        for series in document.series
        if not series.last_run and series.baseline != LAST_RUN
    ]
    if older:
        yield f"not of the last run, so of no known commit: {', '.join(older)}"
    for series in document.series:
        for note in series.notes:
            yield f"{series.id} ({series.baseline}): {note}"
