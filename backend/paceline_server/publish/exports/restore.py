"""Restores an exported project into a server that has no runs of it, and judges an export without a server.

Every file is compared with its hash before a row is read. All rows are added in one transaction, so an export that
cannot be restored leaves nothing behind. Restored agents have no credentials and are revoked, so that nobody measures
in their name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import numpy as np
import pyarrow.parquet as pq
from sqlalchemy.orm import Session

from paceline_server.detect import service as detect
from paceline_server.kernel import clock
from paceline_server.kernel.settings import SettingsError
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.publish.exports import queries
from paceline_server.publish.exports.directory import file_of, shape_of
from paceline_server.publish.exports.manifest import MANIFEST, SCHEMA
from paceline_server.publish.exports.queries import EXPORTED
from paceline_server.publish.exports.shapes import TableShape
from paceline_server.stats.voids import VoidLimits
from paceline_server.store import access, migrations
from paceline_server.store.base import Base
from paceline_server.store.session import Database, read_scope, session_scope, using
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.rules import AlertRuleVersion
from paceline_server.store.tables.samples import SampleChunk

ROWS_AT_ONCE = 20_000
"""Samples read from a file at once; other tables are read by the hundred."""
HASH_BYTES = 1 << 20
AGREES, DIFFERS = 0, 1


@dataclass(frozen=True)
class Export:
    """An export whose files were compared with its manifest."""

    directory: Path
    manifest: dict[str, Any]


def open_export(directory: Path) -> Export:
    """Read an export, and compare its files with their hashes. Raises SettingsError."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        schema, files = manifest["schema"], manifest["files"]
        if schema != SCHEMA:
            raise SettingsError(
                f"{directory / MANIFEST} is of schema {schema!r}, this server reads {SCHEMA!r}"
            )
        if manifest["revision"] != migrations.head():
            raise SettingsError(
                f"{directory} was exported by Paceline {manifest['paceline']} with the database's revision "
                f"{manifest['revision']}, this one has {migrations.head()}: use the release that exported it, then "
                "migrate"
            )
        for file in files:
            if Path(file["path"]).name != file["path"]:
                raise SettingsError(
                    f"the manifest names {file['path']!r}: files are in {directory} itself"
                )
            _check_file(directory / file["path"], file)
    except OSError as error:
        raise SettingsError(
            f"the export is not whole ({error}): export it again"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{directory / MANIFEST} is no manifest of an export ({error!r})"
        ) from None
    named = {file["path"] for file in files}
    missing = {file_of(table) for table in EXPORTED} - named
    if missing:
        raise SettingsError(f"the manifest names no {', '.join(sorted(missing))}")
    return Export(directory, manifest)


def _check_file(path: Path, file: dict[str, Any]) -> None:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(HASH_BYTES):
            digest.update(block)
    if digest.hexdigest() != file["sha256"]:
        raise SettingsError(
            f"{path} was changed after it was exported: its SHA-256 is {digest.hexdigest()}, the manifest says "
            f"{file['sha256']}"
        )


def import_export(export: Export, actor: str) -> str:
    """Restore an export into the project of its name, which is created if there is none; returns its id. Raises
    SettingsError if the project has runs already."""
    with access.as_system(), session_scope() as session:
        project_id = _find_or_create_project(session, export, actor)
        with access.within_project(session, project_id):
            if queries.has_runs(session):
                raise SettingsError(
                    f"the project {export.manifest['project']['name']!r} has runs already: an export is restored "
                    "into an empty one only"
                )
            for table in EXPORTED:
                for rows in _rows_of(export, table):
                    queries.insert_rows(session, table, rows)
                session.flush()
            targets = [row["id"] for rows in _rows_of(export, Target) for row in rows]
            queries.grant_targets(session, project_id, targets, clock.now())
    return project_id


def _find_or_create_project(session: Session, export: Export, actor: str) -> str:
    exported = export.manifest["project"]
    ids_by_name = {
        project.name: project.id for project in projects.all_projects(session)
    }
    if exported["name"] in ids_by_name:
        return ids_by_name[exported["name"]]
    return projects.create_project(session, ProjectIn(**exported), actor).id


def _rows_of(export: Export, table: type[Base]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a table in the form in which they are inserted."""
    with pq.ParquetFile(export.directory / file_of(table)) as file:
        if table is SampleChunk:
            yield from _join_chunks(file)
            return
        shape = shape_of(table)
        replaced = _replaced_columns(export, table)
        for batch in file.iter_batches(queries.ROWS_AT_ONCE):
            yield [{**_stored_row(shape, row), **replaced} for row in batch.to_pylist()]


def _replaced_columns(export: Export, table: type[Base]) -> dict[str, Any]:
    """Return the columns of a table whose values are not restored, with the values that replace them."""
    if table is Agent:
        revoked_at = datetime.fromisoformat(export.manifest["exported_at"])
        return {
            "granted_projects": [],
            "granted_repositories": [],
            "granted_targets": [],
            "revoked_at": revoked_at,
        }
    if table is Alert:
        return {"assignee_id": None}
    return {"owner_id": None} if table is AlertRuleVersion else {}


def _stored_row(shape: TableShape, row: dict[str, Any]) -> dict[str, Any]:
    stored = {}
    for column in shape.columns:
        value = row[column.name]
        is_json = column.kind == "json" and value is not None
        stored[column.name] = json.loads(value) if is_json else value
    return stored


CHUNK_FIELDS = (
    "job_id",
    "attempt",
    "seq",
    "launch",
    "side",
    "benchmark",
    "arm",
    "metric",
    "unit",
    "direction",
    "phase",
)


def _join_chunks(file: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the chunks in which samples were stored; each begins with a sample of index 0."""
    begun: list[dict[str, Any]] = []
    for batch in file.iter_batches(ROWS_AT_ONCE):
        chunks = _split(batch)
        if begun and chunks and chunks[0]["index"] != 0:
            begun.append(chunks.pop(0))
        if chunks:
            whole = [_stored_chunk(begun)] if begun else []
            whole += [_stored_chunk([chunk]) for chunk in chunks[:-1]]
            begun = [chunks[-1]]
            if whole:
                yield whole
    if begun:
        yield [_stored_chunk(begun)]


def _split(batch: Any) -> list[dict[str, Any]]:
    """Split a batch where chunks begin; returns the parts, each with the values its rows share and slices of the
    others."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    index = columns["index"].to_numpy()
    starts = [0, *(np.flatnonzero(index[1:] == 0) + 1).tolist()] if len(index) else []
    ends = [*starts[1:], len(index)]
    numbers = {
        name: columns[name].to_numpy()
        for name in ("value", "round", "position", "iterations", "t_ns")
    }
    return [
        {
            **{name: columns[name][start].as_py() for name in CHUNK_FIELDS},
            "params": json.loads(columns["params"][start].as_py()),
            "index": int(index[start]),
            "work": columns["work"].slice(start, end - start).to_pylist(),
            **{name: values[start:end] for name, values in numbers.items()},
        }
        for start, end in zip(starts, ends, strict=True)
    ]


def _stored_chunk(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = parts[0]

    def joined(name: str, packed: str) -> bytes:
        values = np.concatenate([part[name] for part in parts])
        return values.astype(packed).tobytes()

    values = np.concatenate([part["value"] for part in parts])
    work = [row for part in parts for row in part["work"]]
    counters = None if work[0] is None else [name for name, _ in work[0]]
    totals = None
    if counters is not None:
        counts = [[count for _, count in row] for row in work]
        totals = np.array(counts, "<i8").T.tobytes()
    return {
        **{name: first[name] for name in (*CHUNK_FIELDS, "params")},
        "n": len(values),
        "values": values,
        "rounds": joined("round", "<i4"),
        "positions": joined("position", "<i4"),
        "iterations": joined("iterations", "<i8"),
        "t_ns": joined("t_ns", "<i8"),
        "counters": counters,
        "work": totals,
    }


def judge_export(directory: Path, out: TextIO) -> int:
    """Judge every job of an export again from its samples, in a temporary database, and compare the results with the
    stored ones to the bit. Returns 0 if all agree, 1 if one differs or the export cannot be read."""
    try:
        export = open_export(directory)
    except SettingsError as error:
        out.write(f"error: {error}\n")
        return DIFFERS
    limits = VoidLimits.of_operator(
        *(
            export.manifest["limits"][name]
            for name in ("pressure_limit_percent", "drift_limit_percent")
        )
    )
    with TemporaryDirectory(prefix="paceline-judge-") as scratch:
        url = f"sqlite:///{scratch}/export.sqlite"
        migrations.upgrade(url)
        database = Database(url)
        try:
            with using(database):
                project_id = import_export(export, "judge")
                with access.using(access.of_project(project_id)):
                    return _judge_jobs(limits, out)
        finally:
            database.dispose()


def _judge_jobs(limits: VoidLimits, out: TextIO) -> int:
    with read_scope() as session:
        jobs = queries.judged_jobs(session)
    differing = 0
    for job_id in jobs:
        with read_scope() as session:
            judged = detect.judge_again(session, job_id, limits)
        if judged.differing:
            differing += 1
            out.write(f"{job_id}: {', '.join(judged.differing)} differ\n")
    out.write(
        f"{len(jobs)} jobs judged again from their samples: "
        f"{len(jobs) - differing} agree to the bit, {differing} differ\n"
    )
    return DIFFERS if differing else AGREES
