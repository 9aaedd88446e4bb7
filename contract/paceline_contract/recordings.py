"""The document of what `paceline run` or `paceline ab` measured without a server: `paceline.recording/1`.

The first line says what was planned, at which commits and where. Each further line is a body that an agent would have
uploaded (`items.py`), so that a server stores it by the same code. Items are numbered from 0 on in each batch of launches, as
in the attempt of an agent. Fields of the first line that are not known here are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from paceline_contract.attempts import MAX_COMMITS, CommitId, CommitReport, Sha256
from paceline_contract.events import Natural, ParamValue, Positive
from paceline_contract.items import INT32_MAX, AnyItem

FORMAT: Final = "paceline.recording/1"
MAX_BATCHES: Final = 3
"""Most batches of launches that a verdict looks at."""
MAX_REQUEST_BYTES: Final = 8 << 20
"""Largest request of an import, and so of a recording."""
MAX_LINE_ITEMS: Final = 200
"""Items of one line; a server takes more."""

Text = Annotated[str, Meta(max_length=500, pattern=r"\A[^\x00]*\Z")]
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\A[^\x00]*\Z")]
Branch = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\A[^\x00]*\Z")]
Instant = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0, le=INT32_MAX)]


class RecordingError(Exception):
    """The bytes are no recording; the text says what was expected and what is there instead."""


class RecordedSide(msgspec.Struct, frozen=True, omit_defaults=True):
    """A measured revision. `commit`: None for files without one; `dirty`: files differed from it."""

    manifest: dict[str, Any]
    commit: CommitId | None = None
    dirty: bool = False
    artifact_hash: Sha256 | None = None
    build: Annotated[dict[Name, Text], Meta(max_length=64)] = {}


class RecordedPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The selection that was measured; no benchmarks: all. `launches` are those of a batch."""

    launches: Annotated[int, Meta(ge=1, le=100)]
    rounds: Annotated[int, Meta(ge=1, le=10_000)]
    min_time_ns: Positive
    seed: Natural = 0
    benchmarks: Annotated[list[Name], Meta(max_length=500)] = []
    params: dict[Name, list[ParamValue]] = {}
    knobs: dict[Name, ParamValue] = {}
    stop_when_sure: bool = False


class Recording(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="format", tag=FORMAT
):
    """The first line. `base` stands in a comparison of two revisions; `commits` are then those after it up to the head.
    `items`: how many each batch of launches has. `unaffected`: the benchmarks that both revisions have in common, with the
    digest, which were not measured."""

    head: RecordedSide
    plan: RecordedPlan
    target: Name
    started_at: Instant
    items: Annotated[list[Count], Meta(min_length=1, max_length=MAX_BATCHES)]
    base: RecordedSide | None = None
    branch: Branch | None = None
    commits: Annotated[list[CommitReport], Meta(max_length=MAX_COMMITS)] = []
    factors: Annotated[dict[Name, Text], Meta(max_length=200)] = {}
    """Facts about the target, such as its CPU."""
    unaffected: Annotated[dict[Name, Sha256], Meta(max_length=500)] = {}


class ReadRecording(NamedTuple):
    """A recording whose first line was read; `bodies` are its other lines, unread."""

    recording: Recording
    bodies: Sequence[bytes]


def encode_recording(
    recording: Recording, batches: Sequence[Sequence[AnyItem]]
) -> bytes:
    """Return the document of a recording with the items of each batch, which get their numbers here. Names stay in their
    order, in which a manifest's benchmarks are shown."""
    counted = msgspec.structs.replace(
        recording, items=[len(items) for items in batches]
    )
    lines = [
        msgspec.json.encode(counted),
        *(line for items in batches for line in _encode_items(items)),
    ]
    return b"".join(line + b"\n" for line in lines)


def _encode_items(items: Sequence[AnyItem]) -> Iterator[bytes]:
    numbered = [
        msgspec.structs.replace(item, seq=seq) for seq, item in enumerate(items)
    ]
    for begin in range(0, len(numbered), MAX_LINE_ITEMS):
        body = {"items": numbered[begin : begin + MAX_LINE_ITEMS]}
        yield msgspec.json.encode(body)


def read_recording(data: bytes) -> ReadRecording:
    """Read the first line of a document. Raises RecordingError."""
    head, *bodies = data.split(b"\n")
    if bodies and not bodies[-1]:
        bodies.pop()
    try:
        recording = msgspec.json.decode(head, type=Recording)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(
            f"expected a {FORMAT} in its first line: {error}"
        ) from None
    if recording.base is None and (recording.unaffected or recording.commits):
        raise RecordingError("unaffected, commits: expected only beside a base")
    if recording.base is not None and None in (
        recording.head.commit,
        recording.base.commit,
    ):
        raise RecordingError("base: expected a commit of both revisions")
    return ReadRecording(recording, bodies)
