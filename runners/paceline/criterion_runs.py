"""Imports what criterion measured as one document (`paceline import --format criterion`).

    DIR        target/criterion: every NAME/BASELINE/sample.json below it
    FILE, -    messages of `cargo criterion --message-format=json`

A benchmark that cannot be read becomes a problem with its path; the others are kept. Each saved baseline is a
series. Criterion keeps every run twice, so `new`, the last run, is left out if it equals a saved baseline byte
for byte. Parsing is in `formats/criterion.py`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from rich.table import Column, Table

from paceline.errors import UserError
from paceline.formats import criterion
from paceline.formats.criterion import CriterionError, CriterionSeries
from paceline.formats.declared import LineProblem

LAST_RUN = "new"
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
    problems: list[LineProblem]


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
        self.problems: list[LineProblem] = []

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

    def document(self, name: str) -> CriterionDocument:
        samples = sum(len(series.times) for series in self.series)
        digest = self.hash.hexdigest()
        return CriterionDocument(
            1,
            "criterion",
            name,
            self.size,
            digest,
            samples,
            NO_VERDICT,
            self.series,
            self.problems,
        )


def read(path: str) -> CriterionDocument:
    """The document of an output directory, a file of messages, or `-` for messages from standard input. Raises
    UserError."""
    try:
        directory = path != "-" and Path(path).is_dir()
        document = _directory(Path(path)) if directory else _messages(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not document.series:
        first = (
            f" The first problem: {document.problems[0].expected}."
            if document.problems
            else ""
        )
        raise UserError(
            f"{path} holds no samples of criterion.{first}",
            "Give target/criterion after `cargo bench`, or what `cargo criterion --message-format=json` "
            "printed.",
        )
    return document


def _directory(root: Path) -> CriterionDocument:
    reading = _Reading()
    for folder in _benchmark_folders(root):
        runs = sorted(path for path in folder.iterdir() if _is_run(path))
        samples = {run: _file(run / "sample.json") for run in runs}
        saved = [data for run, data in samples.items() if run.name != LAST_RUN]
        for run, sample in samples.items():
            if run.name == LAST_RUN and sample in saved:
                continue
            _add_run(reading, root, run, sample)
    return reading.document(root.resolve().name)


def _add_run(reading: _Reading, root: Path, run: Path, sample: bytes) -> None:
    """Add one baseline of one benchmark, or the reason why it cannot be imported."""
    name = run.relative_to(root).as_posix()
    try:
        tukey = run / "tukey.json"
        benchmark = reading.take(
            f"{name}/benchmark.json", _file(run / "benchmark.json")
        )
        fences = (
            reading.take(f"{name}/tukey.json", _file(tukey))
            if tukey.is_file()
            else None
        )
        reading.take(f"{name}/sample.json", sample)
        reading.add(criterion.series_from_files(benchmark, sample, fences, run.name))
    except CriterionError as error:
        reading.problems.append(LineProblem(0, name, str(error)))
    except OSError as error:
        reading.problems.append(
            LineProblem(
                0, name, f"expected benchmark.json beside sample.json: {error.strerror}"
            )
        )


def _benchmark_folders(root: Path) -> Iterator[Path]:
    """Folders of benchmarks, sorted by name: those that contain a folder with a sample.json."""
    for folder, below, _ in os.walk(root):
        below.sort()
        here = Path(folder)
        if any(_is_run(here / name) for name in below):
            yield here


def _is_run(folder: Path) -> bool:
    return not folder.is_symlink() and (folder / "sample.json").is_file()


def _file(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise UserError(f"{path} has {size:,} bytes; criterion's files are smaller.")
    return path.read_bytes()


def _messages(path: str) -> CriterionDocument:
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
        try:
            series = criterion.series_from_message(line) if line.strip() else None
        except CriterionError as error:
            shown = line[:120].decode(errors="replace").rstrip()
            reading.problems.append(LineProblem(number, shown, str(error)))
            continue
        if series is not None:
            reading.add(series)


def import_body(
    document: CriterionDocument, provenance: Provenance, title: str | None
) -> dict[str, Any]:
    """The body that stores it on a server."""
    body = {
        "document": msgspec.to_builtins(document),
        "measured_on": msgspec.to_builtins(provenance),
    }
    return body if title is None else {**body, "title": title}


def tables(document: CriterionDocument) -> Iterator[Table | str]:
    """A table for people: every series with its median and outliers."""
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
        median = f"{series.median:,.3f} {series.unit or 'ns'}"
        counts = (str(len(series.times)), median, f"{outliers.total} ({severe})")
        table.add_row(series.id, series.baseline, *counts)
    yield table
    yield document.why_no_verdict


def complaints(document: CriterionDocument) -> Iterator[str]:
    """Sentences about what could not be read or is inconsistent."""
    for problem in document.problems:
        where = f"line {problem.line}" if problem.line else problem.text
        yield f"{where}: {problem.expected}"
    for series in document.series:
        for note in series.notes:
            yield f"{series.id} ({series.baseline}): {note}"
