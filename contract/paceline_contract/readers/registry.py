"""Lists the readers of files and of histories by their tools, and finds the one that knows a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from paceline_contract.readers import (
    androidx_benchmark,
    asv,
    benchmarkdotnet,
    catch2,
    criterion,
    divan,
    github_action_benchmark,
    go_testing,
    google_benchmark,
    hyperfine,
    jmh,
    kotlinx_benchmark,
    pyperf,
    pytest_benchmark,
    vitest,
)
from paceline_contract.readers.history import HistoryEntry, HistoryFile
from paceline_contract.results import (
    FORMAT,
    MAX_BYTES,
    Result,
    ResultError,
    encode_result,
    read_result,
)

READERS: Final[Mapping[str, Callable[[bytes], Result]]] = MappingProxyType(
    {
        FORMAT: read_result,
        androidx_benchmark.TOOL: androidx_benchmark.read_json,
        asv.TOOL: asv.read_json,
        benchmarkdotnet.TOOL: benchmarkdotnet.read_json,
        catch2.TOOL: catch2.read_xml,
        criterion.TOOL: criterion.read_messages,
        divan.TOOL: divan.read_text,
        go_testing.TOOL: go_testing.read_text,
        google_benchmark.TOOL: google_benchmark.read_json,
        hyperfine.TOOL: hyperfine.read_json,
        jmh.TOOL: jmh.read_json,
        kotlinx_benchmark.TOOL: kotlinx_benchmark.read_json,
        pyperf.TOOL: pyperf.read_json,
        pytest_benchmark.TOOL: pytest_benchmark.read_json,
        vitest.TOOL: vitest.read_json,
    }
)
"""Each reads whole files of its tool, and refuses those of the others, or finds no case in them."""
DIRECTORIES: Final[Mapping[str, Callable[[Sequence[HistoryFile], bool], Result]]] = (
    MappingProxyType({criterion.TOOL: criterion.read_directory})
)
"""Each reads what the last run of its tool wrote, from all files of a directory, and whether that was empty before."""
HISTORIES: Final[
    Mapping[str, Callable[[Sequence[HistoryFile]], list[HistoryEntry]]]
] = MappingProxyType(
    {
        asv.TOOL: asv.read_history,
        criterion.BASELINES: criterion.read_history,
        github_action_benchmark.TOOL: github_action_benchmark.read_history,
    }
)
"""Each returns the entries of a whole history, the oldest first, from its file or from all files of its directory."""


class UnknownFileError(ResultError):
    """No reader can read a file; `reasons` says why not, by tool, the one that read most of it first."""

    def __init__(self, errors: Mapping[str, ResultError]) -> None:
        super().__init__("no reader can read it")
        likeliest = sorted(errors, key=lambda tool: -errors[tool].reached)
        self.reasons = {tool: str(errors[tool]) for tool in likeliest}


class StatedOrigin(msgspec.Struct, frozen=True):
    """What a person says about where a result is from, instead of what its file says."""

    commit: str | None = None
    branch: str | None = None
    at: datetime | None = None


def with_origin(result: Result, origin: StatedOrigin) -> Result:
    """Return a result with what a person says about its origin, as a document that can be stored. Raises ResultError."""
    said = {
        field: value
        for field, value in msgspec.structs.asdict(origin).items()
        if value is not None
    }
    # Its own types check what people said and what readers took over.
    return read_result(encode_result(msgspec.structs.replace(result, **said)))


def read_file(data: bytes, tool: str | None = None) -> Result:
    """Read a file of `tool`, or of the tool whose reader finds cases in it. Raises ResultError, and
    UnknownFileError if there is none."""
    if len(data) > MAX_BYTES:
        raise ResultError(
            f"it is longer than the {MAX_BYTES:,} bytes that are read: split it"
        )
    if tool is not None:
        result = READERS[tool](data)
        if not result.cases:
            raise ResultError(f"it has no benchmark that the reader of {tool} knows")
        return result
    errors: dict[str, ResultError] = {}
    for name, read in READERS.items():
        try:
            result = read(data)
        except ResultError as error:
            errors[name] = error
            continue
        if result.cases:
            return result
        # A reader of lines knows none of a file of any other kind.
        is_known = result != Result(result.tool, [])
        errors[name] = ResultError(
            "it has no benchmark that this reader knows", math.inf if is_known else 0.0
        )
    raise UnknownFileError(errors)


def read_directory(
    files: Sequence[HistoryFile], tool: str | None = None, *, is_fresh: bool = False
) -> Result:
    """Return what the last run of a tool wrote into a directory, which held nothing before if it `is_fresh`. Raises
    ResultError."""
    if tool is not None and tool not in DIRECTORIES:
        raise ResultError(
            f"it is a directory, and {tool} writes files: give one of them"
        )
    (only,) = DIRECTORIES
    return DIRECTORIES[tool or only](files, is_fresh)
