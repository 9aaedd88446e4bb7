"""Makes the document by which a server keeps what was measured here: `paceline.recording/1` of a directory.

    OUT/recording.ndjson.gz   run.json and the streams as an agent would have sent them; the same directory gives the same bytes

Only a whole measurement can be kept: of one that failed there is nothing that a verdict could be made from.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from paceline_contract.events import CaseEvent, SamplesEvent
from paceline_contract.items import (
    AnyItem,
    ConditionsItem,
    SideName,
)
from paceline_contract.recordings import (
    FORMAT,
    MAX_REQUEST_BYTES,
    RecordedPlan,
    RecordedSide,
    Recording,
    encode_recording,
)
from paceline_contract.stream import StreamError, StreamReader

from paceline.errors import UserError
from paceline.git import DIRTY, UNVERSIONED
from paceline.selection import Selection
from paceline.stream import LOG_LAST_LINES, ItemSink, log_items

FILE_NAME = "recording.ndjson.gz"
BLOCK_BYTES = 1 << 16
TEXT_CHARACTERS = 500


class TooLargeError(UserError):
    """No server takes a recording of this size."""


class StoredRecording(NamedTuple):
    """A recording that was written to `path`."""

    path: Path
    packed: bytes

    def import_body(self, on: str | None, **options: Any) -> dict[str, Any]:
        """Return the body that stores it on a server, with further `options`; `on` names the target instead of this host.
        Raises TooLargeError."""
        packed = base64.b64encode(self.packed).decode()
        body = {"document": {"format": FORMAT, "gzip": packed}, **options}
        if on is not None:
            body["measured_on"] = {"on": on}
        size = len(msgspec.json.encode(body))
        if size > MAX_REQUEST_BYTES:
            raise TooLargeError(
                f"{self.path} takes a request of {size:,} bytes, and a server takes at most {MAX_REQUEST_BYTES:,}.",
                "Measure fewer benchmarks at a time (--benchmark), or fewer --rounds.",
            )
        return body


class _BaseOfRun(msgspec.Struct):
    """The part of a base that is kept. Recordings of before have no manifest of it: then it is that of the head."""

    revision: str
    artifact_hash: str | None = None
    manifest: dict[str, Any] | None = None


class _RunJson(msgspec.Struct):
    """The part of run.json that is kept."""

    manifest: dict[str, Any]
    revision: str
    target: str
    started_at: datetime
    options: Selection
    environment: dict[str, Any]
    artifact_hash: str | None = None
    branch: str | None = None
    build: dict[str, Any] = {}
    conditions: list[dict[str, Any]] = []
    unaffected: dict[str, str] = {}
    base: _BaseOfRun | None = None
    commits: list[dict[str, Any]] = []
    failure: dict[str, Any] | None = None


def write_recording(directory: Path, branch: str | None = None) -> StoredRecording:
    """Make the recording of a directory that `paceline run` or `paceline ab` wrote, and write it there. `branch` stands
    instead of the one that was checked out. Raises UserError."""
    data = _make_recording(directory, branch)
    packed = gzip.compress(data, mtime=0)
    path = directory / FILE_NAME
    try:
        new = path.with_name(f"{FILE_NAME}.new")
        new.write_bytes(packed)
        new.replace(path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
    return StoredRecording(path, packed)


def _make_recording(directory: Path, branch: str | None) -> bytes:
    run = _read_run(directory / "run.json")
    if run.failure is not None:
        raise UserError(
            f"The measurement in {directory} failed: {run.failure.get('cause')}: {run.failure.get('detail')}",
            "Measure again: only whole measurements are kept.",
        )
    selection = run.options
    batches: list[list[AnyItem]] = [[*_read_logs(directory)]]
    for path in sorted(directory.glob("launch-*.jsonl")):
        _add_launch(batches, path, run, selection.launches)
    try:
        batches[0] += [
            msgspec.convert({"kind": "conditions", "seq": 0, **seen}, ConditionsItem)
            for seen in run.conditions
        ]
        recording = _make_head(run, branch)
    except msgspec.ValidationError as error:
        raise UserError(
            f"{directory / 'run.json'}: {error}.", "Measure again."
        ) from error
    return encode_recording(recording, batches)


def _read_run(path: Path) -> _RunJson:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_RunJson)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}.",
            "Give the directory that `paceline run` or `paceline ab` wrote.",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: {error}.", "Measure again with this version of paceline."
        ) from error


def _make_head(run: _RunJson, branch: str | None) -> Recording:
    plan, base = run.options, run.base
    recording = {
        "format": FORMAT,
        "head": _side(run.revision, run.manifest, run.artifact_hash, run.build),
        "base": None
        if base is None
        else _side(
            base.revision, base.manifest or run.manifest, base.artifact_hash, {}
        ),
        "plan": {name: getattr(plan, name) for name in RecordedPlan.__struct_fields__},
        "target": run.target[:100],
        "started_at": run.started_at,
        "items": [0],
        "branch": branch or run.branch,
        "commits": run.commits,
        "factors": _texts(run.environment.get("factors", {})),
        "unaffected": run.unaffected,
    }
    return msgspec.convert(recording, Recording)


def _side(
    revision: str,
    manifest: dict[str, Any],
    artifact_hash: str | None,
    build: Mapping[str, Any],
) -> dict[str, Any]:
    commit = revision.removesuffix(DIRTY)
    side = {
        "manifest": manifest,
        "commit": None if commit == UNVERSIONED else commit,
        "dirty": revision.endswith(DIRTY),
        "artifact_hash": artifact_hash,
        "build": _texts(build),
    }
    return {name: side[name] for name in RecordedSide.__struct_fields__}


def _texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts that are known, as texts that a server takes."""
    return {
        name[:100]: str(fact).replace("\x00", "\ufffd")[:TEXT_CHARACTERS]
        for name, fact in facts.items()
        if fact is not None
    }


def _read_logs(directory: Path) -> Iterator[AnyItem]:
    """Yield the last lines of what each workload wrote to standard error."""
    for path in sorted(directory.glob("*.stderr.log")):
        lines = path.read_text("utf-8", "replace").splitlines()
        yield from log_items("workload", lines[-LOG_LAST_LINES:])


def _add_launch(
    batches: list[list[AnyItem]], path: Path, run: _RunJson, launches: int
) -> None:
    """Add the items of a launch to its batch. Raises UserError for a stream that is not whole."""
    parts = path.name.split(".")
    launch = int(parts[0].removeprefix("launch-"))
    side = None if run.base is None else cast(SideName, parts[1])
    while len(batches) <= launch // launches:
        batches.append([])
    # With a clock that stands still, nothing but the stream decides how samples are grouped.
    sink = ItemSink(launch, batches[launch // launches].extend, lambda: 0.0, side)
    reader, cases = StreamReader(), dict[int, CaseEvent]()
    try:
        for event in _read_events(reader, path):
            if isinstance(event, CaseEvent):
                cases[event.case] = event
            case = cases.get(event.case) if isinstance(event, SamplesEvent) else None
            sink.event(event, case)
    except StreamError as error:
        raise UserError(
            f"{path}: {error}.", "Measure again: only whole measurements are kept."
        ) from error
    sink.close()


def _read_events(reader: StreamReader, path: Path) -> Iterator[Any]:
    with path.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield from reader.feed(block)
    yield from reader.close()
