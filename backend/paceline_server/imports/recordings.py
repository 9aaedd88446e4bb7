"""Imports `paceline.recording/1`, what `paceline run` or `paceline ab` measured without a server: one run, with its verdict.

Ingest stores the items by the code that takes an agent's, under the same checks, and the job is judged like any other. Only
whole measurements are stored: each launch that began must have ended with `done`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from msgspec import to_builtins
from paceline_contract.attempts import FinishReport
from paceline_contract.imported_series import LeftOut
from paceline_contract.items import EventItem, SideName
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.params import params_text
from paceline_contract.readers.parsing import CLOCK_TOLERANCE
from paceline_contract.recordings import RecordedSide, Recording
from paceline_contract.text_names import stands_for
from paceline_contract.units import Unit
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.imports.importer import SampleImporter
from paceline_server.imports.results import EARLIEST, is_news
from paceline_server.imports.schemas import (
    ImportedRunOut,
    ImportedSeriesOut,
    ImportIn,
    RecordingIn,
)
from paceline_server.ingest import service as ingest
from paceline_server.ingest.service import CheckedItem
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, invalid_request
from paceline_server.kernel.wire import is_storable
from paceline_server.stats.summary import tukey_outliers

Batches = Sequence[Sequence[Sequence[CheckedItem]]]
"""The items of each batch of launches, in the parts in which they are stored."""


class RecordingImporter(SampleImporter[RecordingIn]):
    """Importer of `paceline.recording/1`."""

    def identity(self, document: RecordingIn, request: ImportIn) -> dict[str, Any]:
        """Return the hash of the document and its target."""
        return {"recording": document.sha256, "on": _target_of(document, request)}

    def columns(self, document: RecordingIn, request: ImportIn) -> dict[str, Any]:
        recording = document.recording
        started_at = recording.started_at.strftime("%Y%m%dT%H%M%S")
        return {
            "file": f"{_suite_of(recording.head)[:100]}-{started_at}.ndjson.gz",
            "sha256": document.sha256,
            "document": {
                "why_no_verdict": "",
                "tool": "paceline",
                "facts": _facts_of(recording),
                "left_out": [],
                "judged": True,
                "notifies": is_news(recording.started_at, request.notify),
            },
            "devices": [_target_of(document, request)],
            "row_count": 0,
        }

    def store_runs(
        self,
        session: Session,
        document: RecordingIn,
        request: ImportIn,
        who: str,
        import_id: str,
    ) -> tuple[list[ImportedRunOut], list[LeftOut]]:
        """Store the run. Raises 400 or 422 for what cannot be one."""
        recording = document.recording
        _check_head(recording)
        manifest = _read_manifest("head", recording.head)
        at_base = (
            None if recording.base is None else _read_manifest("base", recording.base)
        )
        batches = _read_batches(recording, document.bodies)
        target = fleet.ensure_imported_target(session, _target_of(document, request))
        job = jobs.open_recorded_run(
            session,
            jobs.RecordedRun(
                recording,
                manifest,
                at_base,
                import_id,
                target,
                fleet.report_facts(session, target, recording.factors, {}),
                who,
                is_news(recording.started_at, request.notify),
            ),
        )
        for number, parts in enumerate(batches):
            lease = jobs.open_batch(session, job, number)
            for items in parts:
                ingest.store(session, lease, items)
            last_seq = recording.items[number] - 1
            ingest.finish(session, lease, FinishReport("done", last_seq))
        described = ImportedRunOut(
            run_id=job.run_id,
            job_id=job.id,
            baseline=recording.branch or "",
            commit=recording.head.commit,
            at=recording.started_at,
            series=_list_series(session, job.id, recording, manifest),
        )
        return [described], []


def _target_of(document: RecordingIn, request: ImportIn) -> str:
    """Return the target that the request names, or else the recording."""
    where = request.measured_on
    named = "on" in where.model_fields_set
    return where.on if named else document.recording.target


def _facts_of(recording: Recording) -> dict[str, str]:
    """Return the facts about the build and the target, and whether the files were those of the commit."""
    changed = {"uncommitted_changes": "yes"} if recording.head.dirty else {}
    return {**changed, **recording.head.build, **recording.factors}


def _suite_of(side: RecordedSide) -> str:
    suite = side.manifest.get("suite")
    return str(suite.get("name")) if isinstance(suite, dict) else "recording"


def _check_head(recording: Recording) -> None:
    """Raise 400 for a time that cannot be, and for texts and numbers that no database holds."""
    if not EARLIEST <= recording.started_at <= clock.now() + CLOCK_TOLERANCE:
        raise _refuse(
            "started_at",
            f"{recording.started_at.isoformat()} is before 1970 or in the future: check the clock that wrote it",
        )
    for name, part in to_builtins(recording).items():
        if not is_storable(part):
            raise _refuse(
                name,
                "contains U+0000, or a number that is not finite or beyond 64 bits",
            )


def _read_manifest(side: str, recorded: RecordedSide) -> Manifest:
    try:
        return read_manifest(recorded.manifest)
    except ManifestError as error:
        raise _refuse(f"{side}.manifest", str(error)[:500]) from None


def _read_batches(recording: Recording, bodies: Sequence[bytes]) -> Batches:
    """Read the items of each batch. Raises 400 unless they are as many as the recording says, in order, of whole
    launches."""
    batches: list[list[Sequence[CheckedItem]]] = []
    rest = iter(bodies)
    for number, count in enumerate(recording.items):
        parts: list[Sequence[CheckedItem]] = []
        seq = 0
        while seq < count:
            body = next(rest, None)
            if body is None:
                raise _refuse(
                    "items", f"batch {number}: expected {count:,}, found {seq:,}"
                )
            items = ingest.read_items(body, "")
            for item in items:
                if item.item.seq != seq:
                    raise _refuse(
                        "items",
                        f"batch {number}: expected seq {seq}, found {item.item.seq}",
                    )
                seq += 1
            parts.append(items)
        if seq > count:
            raise _refuse("items", f"batch {number}: expected {count:,}, found more")
        batches.append(parts)
    if next(rest, None) is not None:
        raise _refuse("items", "expected no more lines than the first one says")
    _check_launches(recording, list(_list_events(batches)))
    return batches


def _list_events(batches: Batches) -> Iterator[EventItem]:
    for parts in batches:
        for items in parts:
            for checked in items:
                if isinstance(checked.item, EventItem):
                    yield checked.item


def _check_launches(recording: Recording, events: Sequence[EventItem]) -> None:
    """Raise 400 unless each launch that began has ended with `done`, and something was measured."""
    begun: Counter[tuple[int, str | None]] = Counter()
    done: Counter[tuple[int, str | None]] = Counter()
    for item in events:
        key = (item.launch, item.side)
        if item.event["type"] == "start":
            begun[key] += 1
        elif item.event["type"] == "done":
            done[key] += 1
        elif item.event["type"] == "error":
            raise _refuse(
                "items", f"launch {item.launch} reports an error: it is no measurement"
            )
    if begun != done:
        launch, side = next(iter((begun - done) + (done - begun)))
        where = f"launch {launch}" if side is None else f"launch {launch} of {side}"
        raise _refuse("items", f"{where} did not run from its start to done")
    if not begun and not recording.unaffected:
        raise _refuse("items", "expected at least one launch")


def _refuse(name: str, why: str) -> ProblemError:
    return invalid_request(f"{name}: {why}."[:1000], {f"document.{name}": why[:500]})


def _list_series(
    session: Session, job_id: str, recording: Recording, manifest: Manifest
) -> list[ImportedSeriesOut]:
    """Return what people see of each case, of the head where two revisions were measured."""
    side: SideName | None = None if recording.base is None else "head"
    return [
        _describe_series(case.only(case.measured()), manifest)
        for case in ingest.read_samples(session, job_id, side)
        if case.measured().any()
    ]


def _describe_series(case: ingest.CaseSamples, manifest: Manifest) -> ImportedSeriesOut:
    """Return what people see of a case, by the text that its benchmark was named after."""
    declared = manifest.benchmarks[case.benchmark]
    is_named_after = stands_for(case.benchmark, declared.title)
    mild, severe = tukey_outliers(case.value)
    parts = [
        declared.title if is_named_after else case.benchmark,
        case.arm if len(declared.arms) > 1 else "",
        params_text(case.params),
    ]
    return ImportedSeriesOut(
        id="/".join(filter(None, parts)),
        benchmark=case.benchmark,
        arm=case.arm,
        params=dict(case.params),
        metric=case.metric,
        unit=cast(Unit, case.unit),
        samples=int(case.value.size),
        median=float(np.median(case.value)),
        outliers_mild=mild,
        outliers_severe=severe,
    )
