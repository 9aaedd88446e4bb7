"""Exports a project's finished runs of a period to a directory, with a manifest and hashes.

Each table of the store has one Parquet file. Samples have a row each, as `GET /runs/{id}/samples` returns them; all
other tables have the store's own columns, without the project. Everything is read from one snapshot. Accounts, tokens,
credentials, schedules and the audit log are not exported, because they belong to the installation. `restore.py` reads
an export.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from paceline_contract.outputs import write_whole
from sqlalchemy.orm import Session

from paceline_server import __version__
from paceline_server.kernel import clock, settings
from paceline_server.kernel.settings import SettingsError
from paceline_server.publish.exports import queries
from paceline_server.publish.exports.manifest import MANIFEST, SCHEMA
from paceline_server.publish.exports.parquet import parquet
from paceline_server.publish.exports.queries import EXPORTED, TimeRange
from paceline_server.publish.exports.samples import SAMPLES, sample_blocks
from paceline_server.publish.exports.shapes import Block, Column, TableShape, kind_of
from paceline_server.store import access, migrations
from paceline_server.store.base import Base
from paceline_server.store.session import read_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.rules import AlertRuleVersion
from paceline_server.store.tables.samples import SampleChunk

LEFT_OUT: dict[type[Base], frozenset[str]] = {
    Alert: frozenset({"assignee_id"}),
    AlertRuleVersion: frozenset({"owner_id"}),
}
"""Columns that are not exported, because they refer to accounts."""


@dataclass(frozen=True)
class ExportOutcome:
    """The size of an export. `manifest_sha256` covers all of it, because the manifest holds the hash of every file."""

    runs: int
    samples: int
    bytes: int
    manifest_sha256: str


def export_project(
    project_id: str, period: TimeRange, directory: Path
) -> ExportOutcome:
    """Export a project to a new directory. Raises SettingsError if it exists and is not empty."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SettingsError(f"{directory} exists already: name a new directory")
    directory.mkdir(parents=True, exist_ok=True)
    with access.using(access.of_project(project_id)), read_scope() as session:
        queries.read_from_one_snapshot(session)
        runs = queries.runs_of_period(session, period)
        files = [
            _write_table(session, table, period, runs, directory) for table in EXPORTED
        ]
        project = queries.project(session, project_id)
        configured = settings.current()
        manifest = {
            "schema": SCHEMA,
            "paceline": __version__,
            "revision": migrations.head(),
            "exported_at": clock.now().isoformat(),
            "from": _instant(period.since),
            "to": _instant(period.until),
            "project": {
                name: getattr(project, name)
                for name in ("name", "title", "default_branch", "visibility")
            },
            "limits": {
                name: getattr(configured, name)
                for name in ("pressure_limit_percent", "drift_limit_percent")
            },
            "runs": len(runs),
            "files": files,
        }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    # The manifest is written last, so that an interrupted export has none.
    write_whole(directory / MANIFEST, text)
    samples = next(file["rows"] for file in files if file["path"] == SAMPLES_FILE)
    return ExportOutcome(
        runs=len(runs),
        samples=samples,
        bytes=sum(file["bytes"] for file in files),
        manifest_sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def file_of(table: type[Base]) -> str:
    """Return the name of a table's file."""
    return SAMPLES_FILE if table is SampleChunk else f"{table.__tablename__}.parquet"


SAMPLES_FILE = "samples.parquet"


def shape_of(table: type[Base]) -> TableShape:
    """Return the columns of a table in an export: the store's, without the project and those of `LEFT_OUT`."""
    if table is SampleChunk:
        return SAMPLES
    left_out = {"project_id", *LEFT_OUT.get(table, ())}
    return TableShape(
        table.__tablename__,
        tuple(
            Column(column.name, kind_of(column.type))
            for column in table.__table__.columns
            if column.name not in left_out
        ),
    )


def _write_table(
    session: Session,
    table: type[Base],
    period: TimeRange,
    runs: list[str],
    directory: Path,
) -> dict[str, Any]:
    """Write one table; returns its entry in the manifest."""
    shape, counter = shape_of(table), _Counter()
    blocks: Iterator[Block]
    if table is SampleChunk:
        blocks = chain.from_iterable(
            sample_blocks(run_id, snapshot=session) for run_id in runs
        )
    else:
        blocks = _stored_blocks(session, table, shape, period)
    digest, size = hashlib.sha256(), 0
    with (directory / file_of(table)).open("xb") as file:
        for piece in parquet(shape, counter.count(blocks)):
            digest.update(piece)
            size += file.write(piece)
    return {
        "path": file_of(table),
        "table": table.__tablename__,
        "rows": counter.rows,
        "bytes": size,
        "sha256": digest.hexdigest(),
    }


def _stored_blocks(
    session: Session, table: type[Base], shape: TableShape, period: TimeRange
) -> Iterator[Block]:
    names = [column.name for column in shape.columns]
    rows = queries.rows_of_table(session, table, period, names)
    for page in _pages(rows):
        yield Block.of_rows(shape, page)


def _pages(rows: Iterator[Any]) -> Iterator[list[Any]]:
    page: list[Any] = []
    for row in rows:
        page.append(row)
        if len(page) == queries.ROWS_AT_ONCE:
            yield page
            page = []
    if page:
        yield page


class _Counter:
    def __init__(self) -> None:
        self.rows = 0

    def count(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            self.rows += block.n
            yield block


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
