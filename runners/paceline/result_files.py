"""Imports what another tool measured as a `paceline.result/1` (`paceline import`).

Readers are in `paceline_contract.readers`; the same ones read what `paceline run` drives. The file's bytes are sent with
the document, so that a server keeps them.
"""

from __future__ import annotations

import base64
import gzip
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from paceline_contract.imported_series import sentences
from paceline_contract.readers import declared_csv, declared_lines
from paceline_contract.readers.history import HistoryFile
from paceline_contract.readers.registry import (
    READERS,
    StatedOrigin,
    read_directory,
    read_file,
    with_origin,
)
from paceline_contract.results import (
    MAX_BYTES,
    MeasuredMetric,
    Result,
    ResultError,
    cases_without_figures,
)
from paceline_contract.units import PER_ITERATION, quantity
from rich.table import Column, Table

from paceline.errors import UserError

SHOWN: Final[Mapping[str, bool]] = MappingProxyType({})
"""The server shows these points and does no more."""
JUDGED: Final = MappingProxyType({"judge": True})
"""The server looks for changes in a history with these points, and tells of them if they are recent."""
TOLD: Final = MappingProxyType({"judge": True, "notify": True})
"""The same, and it tells of them however old the points are."""
MOVED_IN: Final = MappingProxyType({"judge": True, "notify": False})
"""The same, and it tells nobody: changes of a history that moves in are old."""
_DECLARE: Final = MappingProxyType(
    {
        "--column": "For example: --column name=benchmark --column size=param --column elapsed=ms.",
        "--pattern": r"For example: --pattern '(?P<benchmark>\S+) took (?P<value>\S+) (?P<unit>\S+)'.",
    }
)


class ResultFile(msgspec.Struct, frozen=True):
    """A file or directory of another tool, and what was read from it. `data` None: its bytes are not sent."""

    name: str
    data: bytes | None
    result: Result


def read(
    path: str, tool: str | None, origin: StatedOrigin, *, is_fresh: bool = False
) -> ResultFile:
    """Read a file, a directory, or `-` for standard input, of `tool`, or of the tool whose reader knows it. `is_fresh`: the
    directory held nothing before the run that wrote it. Raises UserError.

    The bytes of a directory's files are not sent: what was read of them is kept.
    """
    data: bytes | None = None
    try:
        if path != "-" and Path(path).is_dir():
            result = read_directory(list_files(Path(path)), tool, is_fresh=is_fresh)
        else:
            if is_fresh:
                raise UserError(f"--fresh is of a directory, and {path} is none.")
            data = _read_bytes(path)
            result = read_file(data, tool)
        result = with_origin(result, origin)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except ResultError as error:
        advice = "" if data is None else _advise(tool)
        raise UserError(f"{path}: {error}.", advice) from error
    return _make_file(path, data, result)


def list_files(root: Path) -> list[HistoryFile]:
    """Return a file, or all files below a directory in the order of their paths. Raises OSError."""
    if not root.is_dir():
        return [_file_of(root, root.name)]
    paths = sorted(
        Path(folder, name) for folder, _, names in os.walk(root) for name in names
    )
    return [
        _file_of(path, path.relative_to(root).as_posix())
        for path in paths
        if path.is_file()
    ]


def _file_of(path: Path, name: str) -> HistoryFile:
    return HistoryFile(name, path.stat().st_mtime, partial(_read_listed, path, name))


def _read_listed(path: Path, name: str) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ResultError(
                f"{name} is longer than the {MAX_BYTES:,} bytes that are read"
            )
        return path.read_bytes()
    except OSError as error:
        raise ResultError(f"{name} cannot be read: {error.strerror}") from error


def read_declared(
    path: str, pattern: str | None, columns: Sequence[str], origin: StatedOrigin
) -> ResultFile:
    """Read a file, or `-` for standard input, by the columns that a person declares: those of a CSV file, or the groups of
    a pattern of lines. Raises UserError.

    Its bytes are not sent: nobody could read them again without the declaration.
    """
    read_by: Callable[[bytes], Result]
    try:
        if pattern is None:
            of_csv = declared_csv.parse_columns(columns)
            read_by = partial(declared_csv.read_csv, columns=of_csv)
        else:
            lines = declared_lines.parse_pattern(pattern, columns)
            read_by = partial(declared_lines.read_lines, declared=lines)
    except ResultError as error:
        options = "--column" if pattern is None else "--pattern"
        raise UserError(f"{options}: {error}.", _DECLARE[options]) from error
    try:
        result = with_origin(read_by(_read_bytes(path)), origin)
    except ResultError as error:
        raise UserError(
            f"{path}: {error}.", "Correct the file, or what you declare of it."
        ) from error
    return _make_file(path, None, result)


def _make_file(path: str, data: bytes | None, result: Result) -> ResultFile:
    """Return a file and what was read from it. Raises UserError if that has no figures."""
    if not any(case.metrics for case in result.cases):
        reasons = "".join(
            f"\n  {line}" for line in sentences(cases_without_figures(result))
        )
        raise UserError(f"{path} holds no figures.{reasons}", "Measure it again.")
    return ResultFile(
        "standard input" if path == "-" else Path(path).name, data, result
    )


def _advise(tool: str | None) -> str:
    if tool is not None:
        return "Give the file as the tool wrote it; docs/harnesses.md says with which options."
    tools = ", ".join(READERS)
    return (
        f"To see what is wrong with it, name its tool: --format {tools}. "
        "Of a log, give the suite that declares its lines: --suite suite.toml."
    )


def _read_bytes(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


def import_body(
    file: ResultFile,
    suite: str | None,
    on: str | None,
    title: str | None,
    judging: Mapping[str, bool] = SHOWN,
) -> dict[str, Any]:
    """Return the body that stores it on a server."""
    measured_on = {"suite": suite, "on": on}
    body: dict[str, Any] = {
        "document": msgspec.to_builtins(file.result),
        "measured_on": {
            name: text for name, text in measured_on.items() if text is not None
        },
    }
    if file.data is not None:
        packed = base64.b64encode(gzip.compress(file.data, mtime=0)).decode()
        body["original"] = {"file": file.name[:200], "gzip": packed}
    if title is not None:
        body["title"] = title
    return {**body, **judging}


def complaints(file: ResultFile) -> Iterator[str]:
    """Yield sentences about what has no figures."""
    yield from sentences(cases_without_figures(file.result))


def tables(file: ResultFile) -> Iterator[Table | str]:
    """Yield a table for people: each case with its metrics, and what is known of its origin."""
    result = file.result
    table = Table(Column("case", overflow="fold"), "metric", "samples", "median")
    for case in result.cases:
        for metric in case.metrics:
            table.add_row(case.spoken_name, metric.name, *_describe_figures(metric))
    yield table
    origin = {
        "tool": " ".join(filter(None, (result.tool, result.version))),
        "commit": result.commit,
        "branch": result.branch,
        "measured": None if result.at is None else result.at.isoformat(),
    }
    yield ", ".join(f"{name} {text}" for name, text in origin.items() if text)


def _describe_figures(metric: MeasuredMetric) -> tuple[str, str]:
    """Return the number of samples and the median of an iteration."""
    count = (
        str(len(metric.samples))
        if metric.summary is None
        else f"none, its {metric.summary.kind}"
    )
    return count, quantity(typical_figure(metric), metric.unit)


def typical_figure(metric: MeasuredMetric) -> float:
    """Return the median of an iteration, or what the tool left of it."""
    if metric.summary is not None:
        return metric.summary.value
    is_total = metric.unit in PER_ITERATION
    return statistics.median(
        sample.total / sample.iterations if is_total else sample.total
        for sample in metric.samples
    )
