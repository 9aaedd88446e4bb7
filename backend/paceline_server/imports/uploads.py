"""Reads files that people upload, with the readers that `paceline import` uses.

The bytes are a stranger's: the route limits how many they are, readers how deep and how long they are read, and none is
written to a disk. A preview and what is stored are made from the same bytes in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

from paceline_contract.readers.registry import (
    StatedOrigin,
    UnknownFileError,
    read_file,
    with_origin,
)
from paceline_contract.results import Result, ResultError

from paceline_server.imports.originals import pack_original
from paceline_server.imports.results import plan_cases
from paceline_server.imports.runs import describe_series
from paceline_server.imports.schemas import (
    ImportIn,
    ImportPreviewOut,
    LeftOutOut,
    MeasuredOnIn,
    OriginalIn,
    ResultIn,
)
from paceline_server.kernel.errors import ProblemError, invalid_request

MAX_PREVIEWED = 200
"""Most series that a preview lists."""
HELP = (
    "Give it as its tool wrote it; docs/harnesses.md says with which options. Logs and directories, such as "
    "target/criterion, are imported with `paceline import`."
)


@dataclass(frozen=True)
class UploadedFile:
    """A file with its name, what a person says about its origin, the target that measured, the announced suite whose
    benchmarks it has, and whether its points count in history."""

    name: str
    data: bytes
    origin: StatedOrigin
    on: str
    suite: str | None = None
    judge: bool = False


def preview(file: UploadedFile) -> ImportPreviewOut:
    """Return what would be stored of a file. Raises 400 if nothing would be."""
    result = _read(file)
    cases, left_out = plan_cases(result, None)
    return ImportPreviewOut(
        tool=result.tool,
        version=result.version,
        at=result.at,
        commit=result.commit,
        branch=result.branch,
        facts={**result.build, **result.target},
        case_count=len({case.id for case in cases}),
        series_count=len(cases),
        units=list(dict.fromkeys(case.metric.unit for case in cases)),
        series=[describe_series(case) for case in cases[:MAX_PREVIEWED]],
        left_out=[LeftOutOut.model_validate(entry) for entry in left_out],
    )


def make_import(file: UploadedFile) -> ImportIn:
    """Return the body of `POST /imports` that stores a file. Raises 400."""
    # Its parts were checked or made here.
    return ImportIn.model_construct(
        document=ResultIn.of(_read(file)),
        measured_on=MeasuredOnIn(on=file.on, suite=file.suite),
        original=OriginalIn.of(file.name, pack_original(file.data)),
        judge=file.judge,
    )


def _read(file: UploadedFile) -> Result:
    try:
        return with_origin(read_file(file.data), file.origin)
    except UnknownFileError as error:
        reasons = {tool: why[:500] for tool, why in error.reasons.items()}
        raise _refuse(file, f"{error}. {HELP}", reasons) from None
    except ResultError as error:
        raise _refuse(
            file, f"{str(error)[:1000]}.", {"file": str(error)[:500]}
        ) from None


def _refuse(file: UploadedFile, why: str, fields: dict[str, str]) -> ProblemError:
    return invalid_request(f"{file.name}: {why}", fields)
