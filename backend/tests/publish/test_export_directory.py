"""What leaves as a directory comes back the same, and its verdicts can be judged again without the server (I21)."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.settings import SettingsError
from paceline_server.publish.exports import restore
from paceline_server.publish.exports.directory import export_project
from paceline_server.publish.exports.manifest import MANIFEST
from paceline_server.publish.exports.queries import EXPORTED, TimeRange
from paceline_server.store import outbox, visibility
from paceline_server.store import session as store
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import Database
from paceline_server.testing.two_projects import World, open_world

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"
ALWAYS = TimeRange(None, None)


@pytest.fixture
def world(
    clock: FrozenClock,
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> World:
    """One object of every kind, and an A/B run."""
    made = open_world(client, enrolled, token)
    made.lab.request(base_commit="0" * 40)
    made.lab.deliver_ab({1000: 0.2, 2000: 0.0})
    outbox.drain()
    return made


@contextmanager
def empty_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Another database of the shape under test, as a new server has it."""
    name = f"restored_{uuid4().hex[:8]}"
    if request.getfixturevalue("shape").name == "embedded":
        path = tmp_path / f"{name}.sqlite"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        url = f"sqlite:///{path}"
    else:
        server = request.getfixturevalue("postgresql")
        server.create_database(name, template="paceline_template")
        url = server.url(name)
    database = Database(url)
    try:
        with store.using(database):
            yield database
    finally:
        database.dispose()
        if not url.startswith("sqlite"):
            server.drop_database(name)


def answers(world: World, headers: dict[str, str]) -> dict[str, Any]:
    """What the API says about everything that an export holds."""
    texts: dict[str, Any] = {}

    def read(path: str) -> Any:
        answer = world.client.get(f"{API}{path}", headers=headers)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        is_json = answer.headers["content-type"] == "application/json"
        texts[path] = answer.json() if is_json else answer.content
        return texts[path]

    for run in read("/runs")["items"]:
        for part in ("", "/verdicts", "/completeness", "/comparisons", "/samples"):
            read(f"/runs/{run['id']}{part}")
        for job in run["jobs"]:
            for part in ("", "/report", "/log", "/conditions", "/reported"):
                read(f"/jobs/{job['id']}{part}")
    for series in read("/series")["items"]:
        read(f"/series/{series['id']}")
        read(f"/series/{series['id']}/points")
    for alert in read("/alerts")["items"]:
        read(f"/alerts/{alert['id']}")
        read(f"/alerts/{alert['id']}/explain")
    for import_ in read("/imports")["items"]:
        read(f"/imports/{import_['id']}")
    for path in ("/rules", "/noise-floors", "/suites/sorting/retired", "/policies"):
        read(path)
    read("/matrix?suite=sorting")
    read(f"/arms?suite=sorting&benchmark={world.values['benchmark']}")
    return texts


def test_an_export_restored_into_an_empty_server_answers_the_same(
    world: World,
    token: Callable[..., dict[str, str]],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    before = answers(world, token("read"))
    outcome = export_project(DEFAULT_PROJECT_ID, ALWAYS, tmp_path / "export")
    assert outcome.runs == 2
    export = restore.open_export(tmp_path / "export")
    with empty_server(request, tmp_path):
        assert restore.import_export(export, "test") == DEFAULT_PROJECT_ID
        after = answers(world, token("read"))
        with pytest.raises(SettingsError, match="has runs already"):
            restore.import_export(export, "test")
    assert after.keys() == before.keys()
    for path, answer in before.items():
        assert after[path] == answer, path
    assert len(before) > 30

    out = io.StringIO()
    assert restore.judge_export(tmp_path / "export", out) == 0, out.getvalue()
    assert "2 agree to the bit, 0 differ" in out.getvalue()


@pytest.fixture
def exported(world: World, tmp_path: Path) -> Path:
    export_project(DEFAULT_PROJECT_ID, ALWAYS, tmp_path / "export")
    return tmp_path / "export"


def rewrite(directory: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change a table and its hash, as somebody would who wants it not to be noticed."""
    pq.write_table(change(pq.read_table(directory / name)), directory / name)
    manifest = json.loads((directory / MANIFEST).read_text())
    for file in manifest["files"]:
        if file["path"] == name:
            file["sha256"] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.shapes("embedded")
def test_samples_that_were_changed_give_other_verdicts(exported: Path) -> None:
    """Judging again rests on the samples: with the arm's times a third longer, nothing stored agrees."""

    def slower(table: pa.Table) -> pa.Table:
        at = table.schema.get_field_index("value")
        native = pa.compute.equal(table.column("arm").cast(pa.string()), "native")
        factor = pa.compute.if_else(native, 1.33, 1.0)
        values = pa.compute.multiply(table.column("value"), factor)
        return table.set_column(at, table.schema.field(at), values)

    rewrite(exported, "samples.parquet", slower)
    out = io.StringIO()
    assert restore.judge_export(exported, out) == 1
    assert "measurements" in out.getvalue()
    assert "0 agree to the bit, 2 differ" in out.getvalue()


def damage(directory: Path, what: str) -> None:
    samples, manifest = directory / "samples.parquet", directory / MANIFEST
    match what:
        case "changed after":
            content = bytearray(samples.read_bytes())
            content[len(content) // 2] ^= 1
            samples.write_bytes(content)
        case "not whole":
            samples.unlink()
        case "no manifest":
            manifest.write_text("{")
        case "of schema":
            manifest.write_text(
                manifest.read_text().replace("paceline.export/1", "paceline.export/9")
            )
        case "are in":
            manifest.write_text(
                manifest.read_text().replace('"run.parquet"', '"../run.parquet"')
            )
        case "revision":
            described = json.loads(manifest.read_text())
            manifest.write_text(json.dumps({**described, "revision": "0001"}))


@pytest.mark.shapes("embedded")
def test_a_damaged_export_is_refused_with_what_is_wrong(exported: Path) -> None:
    for what in (
        "changed after",
        "not whole",
        "no manifest",
        "of schema",
        "are in",
        "revision",
    ):
        copy = exported.with_name(what.replace(" ", "-"))
        shutil.copytree(exported, copy)
        damage(copy, what)
        with pytest.raises(SettingsError, match=what):
            restore.open_export(copy)


@pytest.mark.shapes("embedded")
def test_a_period_selects_runs_and_what_hangs_on_them(
    world: World, tmp_path: Path
) -> None:
    now = clock_module.now()
    for name, period, runs in (
        ("before", TimeRange(None, now - timedelta(seconds=1)), 0),
        ("within", TimeRange(now - timedelta(seconds=1), now + timedelta(hours=1)), 2),
    ):
        outcome = export_project(DEFAULT_PROJECT_ID, period, tmp_path / name)
        assert outcome.runs == runs
        assert (outcome.samples > 0) == (runs > 0)
        restore.open_export(tmp_path / name)
    with pytest.raises(SettingsError, match="exists already"):
        export_project(DEFAULT_PROJECT_ID, ALWAYS, tmp_path / "within")


@pytest.mark.shapes("embedded")
def test_duckdb_reads_every_table_of_an_export(exported: Path) -> None:
    manifest = json.loads((exported / MANIFEST).read_text())
    with duckdb.connect() as database:
        for file in manifest["files"]:
            read = database.read_parquet(str(exported / file["path"]))
            assert read.count("*").fetchall() == [(file["rows"],)], file["path"]
    rows = {file["table"]: file["rows"] for file in manifest["files"]}
    assert not [name for name in ("run", "alert", "series_point") if not rows[name]]


def test_an_export_holds_nothing_of_another_project(
    world: World, tmp_path: Path
) -> None:
    export_project(world.other_id, ALWAYS, tmp_path / "other")
    manifest = json.loads((tmp_path / "other" / MANIFEST).read_text())
    assert manifest["project"]["name"] == "other"
    assert {file["table"]: file["rows"] for file in manifest["files"]} == {
        table.__tablename__: 0 for table in EXPORTED
    }


STAY_BEHIND = {
    "account": "people are those of the installation",
    "audit_entry": "says what people did on this server",
    "channel": "would tell people of what happened elsewhere",
    "channel_key": "a credential",
    "delivery": "says what this server told whom",
    "delivery_attempt": "says what this server told whom",
    "invitation": "people are those of the installation",
    "live_event": "hints of changes that happened",
    "notification": "says what this server told whom",
    "schedule": "would start runs by itself",
    "stored_answer": "answers to requests of this server's clients",
    "suite_agent": "says which agents can run a suite now",
    "target_claim": "of the installation",
    "target_event": "of the installation",
    "target_order": "of the installation",
    "target_reading": "of the installation",
    "token": "a credential",
    "triage_batch": "undoes decisions on this server",
}
"""Tables with rows of a project or target that no export holds."""


def test_every_table_of_a_project_is_exported_or_stays_behind_for_a_reason() -> None:
    owned = {table.name for table in visibility.owned_tables()}
    exported = {table.__tablename__ for table in EXPORTED}
    assert owned - exported == STAY_BEHIND.keys()
