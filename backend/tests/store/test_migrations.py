"""The migrations make exactly the tables the models describe, on both databases."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.channels.chat_messages import check_template
from paceline_server.channels.notices import Notice, Ratios
from paceline_server.kernel import clock
from paceline_server.store import migrations, tables
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.base import Base
from paceline_server.store.session import Database
from paceline_server.store.tables.channels import Channel, Notification
from sqlalchemy import insert, inspect, select, text, update

pytestmark = pytest.mark.shapes("embedded", "scaled")


def test_models_and_migrations_agree(database: Database) -> None:
    assert tables.__all__
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    assert migrations.is_current(database.engine)


def test_migrating_twice_changes_nothing(database: Database) -> None:
    assert migrations.upgrade(database.url) is False


def test_every_migration_can_be_taken_back(database: Database) -> None:
    migrations.downgrade(database.url, "base")
    with database.engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) <= {migrations.VERSION_TABLE}
        assert migrations.current(connection) is None
    assert migrations.upgrade(database.url) is True


def test_processes_that_migrate_at_once_make_one_schema(database: Database) -> None:
    migrations.downgrade(database.url, "base")
    code = f"from paceline_server.store import migrations; migrations.upgrade({database.url!r})"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=WITHIN_S)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    assert migrations.is_current(database.engine)


def test_alembic_directory_is_no_package() -> None:
    """An `__init__.py` there would shadow the library for whoever runs from the clone."""
    assert not list(migrations.scripts().rglob("__init__.py"))


def test_missing_scripts_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PACELINE_MIGRATIONS_DIR", str(tmp_path))
    migrations.scripts.cache_clear()
    with pytest.raises(
        migrations.MigrationsMissingError, match="PACELINE_MIGRATIONS_DIR"
    ):
        migrations.scripts()
    monkeypatch.undo()
    migrations.scripts.cache_clear()


def test_rows_survive_upgrade_and_downgrade_and_a_hold_becomes_maintenance(
    database: Database,
) -> None:
    """This includes rows that refer to a table which SQLite makes anew."""
    at = "2026-11-01 00:00:00+00:00"
    migrations.downgrade(database.url, "0005")
    with database.engine.begin() as connection:
        for table, row in (
            ("agent", {"id": "a", "name": "lab", "version": "1", "created_at": at}),
            (
                "target",
                {
                    "id": "t",
                    "kind": "host",
                    "serial": "s",
                    "name": "lab",
                    "agent_id": "a",
                    "factors": "{}",
                    "hold": "maintenance",
                    "hold_reason": "new fan",
                    "fingerprint": "",
                    "preflight": "[]",
                    "simulated": False,
                    "created_at": at,
                },
            ),
            (
                "run",
                {
                    "id": "r",
                    "suite": "s",
                    "repository": "r",
                    "manifest_path": "m",
                    "manifest": "{}",
                    "commit": "c",
                    "trigger": "ci",
                    "state": "done",
                    "demonstration": False,
                    "benchmarks": "[]",
                    "params": "{}",
                    "knobs": "{}",
                    "launches": 7,
                    "rounds": 20,
                    "min_time_ns": 1,
                    "created_by": "x",
                    "created_at": at,
                },
            ),
            (
                "job",
                {
                    "id": "j",
                    "run_id": "r",
                    "target_id": "t",
                    "state": "done",
                    "attempt": 1,
                    "batch": 0,
                    "requeues": 0,
                    "seed": 1,
                    "partial": False,
                    "samples": 0,
                    "not_before": at,
                    "created_at": at,
                },
            ),
        ):
            names = ", ".join(f'"{name}"' for name in row)
            values = ", ".join(f":{name}" for name in row)
            insert = f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608 - names from above
            connection.execute(text(insert), row)
    assert migrations.upgrade(database.url) is True
    with database.engine.connect() as connection:
        target = connection.execute(
            text("SELECT maintenance_reason, health, failures FROM target")
        ).one()
        assert tuple(target) == ("new fan", "unknown", 0)
        assert connection.execute(
            text("SELECT launches, target_id FROM job")
        ).one() == (7, "t")
    migrations.downgrade(database.url, "0005")
    with database.engine.connect() as connection:
        target = connection.execute(text("SELECT hold, hold_reason FROM target")).one()
        assert tuple(target) == ("maintenance", "new fan")
        assert connection.execute(text("SELECT run_id, target_id FROM job")).one() == (
            "r",
            "t",
        )
        assert migrations.current(connection) == "0005"
    assert migrations.upgrade(database.url) is True
    with database.engine.connect() as connection:
        assert connection.execute(
            text("SELECT launches, target_id FROM job")
        ).one() == (7, "t")
        reason = connection.execute(
            text("SELECT maintenance_reason FROM target")
        ).scalar_one()
    assert (reason, migrations.is_current(database.engine)) == ("new fan", True)


def test_runs_called_inconclusive_because_a_job_failed_lose_that_verdict(
    database: Database,
) -> None:
    migrations.downgrade(database.url, "0010")
    row = {
        "suite": "s",
        "repository": "r",
        "manifest_path": "m",
        "manifest": "{}",
        "commit": "c",
        "trigger": "ci",
        "demonstration": False,
        "benchmarks": "[]",
        "params": "{}",
        "knobs": "{}",
        "suppress": "[]",
        "launches": 5,
        "rounds": 20,
        "min_time_ns": 1,
        "created_by": "x",
        "created_at": "2026-11-01 00:00:00+00:00",
    }
    names = [*row, "id", "state", "verdict"]
    columns, values = (
        ", ".join(f'"{name}"' for name in names),
        ", ".join(f":{name}" for name in names),
    )
    insert = f"INSERT INTO run ({columns}) VALUES ({values})"  # noqa: S608 - names from above
    with database.engine.begin() as connection:
        for run, (state, verdict) in enumerate(
            [("failed", "inconclusive"), ("failed", "fail"), ("done", "inconclusive")]
        ):
            connection.execute(
                text(insert),
                {**row, "id": f"r{run}", "state": state, "verdict": verdict},
            )
    assert migrations.upgrade(database.url) is True
    with database.engine.connect() as connection:
        verdicts = list(
            connection.execute(text("SELECT verdict FROM run ORDER BY id")).scalars()
        )
    assert verdicts == [None, "fail", "inconclusive"]


def test_a_chat_of_an_old_kind_becomes_a_template_and_is_of_that_kind_again(
    database: Database,
) -> None:
    """The texts that a template names are those that the kind's layout had."""
    migrations.downgrade(database.url, "0024")
    kinds = ("discord", "mattermost", "slack", "teams", "webhook")
    row = {
        "address": "https://chat.example.org/hooks/1",
        "origin": "api",
        "filters": "{}",
        "time_zone": "UTC",
        "quiet_begins": "22:00:00",
        "quiet_ends": "07:00:00",
        "state": "healthy",
        "failures": 0,
        "created_by": "x",
        "created_at": "2026-11-01 00:00:00+00:00",
        "project_id": DEFAULT_PROJECT_ID,
    }
    names = [*row, "id", "name", "kind"]
    columns = ", ".join(names)
    values = ", ".join(f":{name}" for name in names)
    insert = f"INSERT INTO channel ({columns}) VALUES ({values})"  # noqa: S608 - names from above
    with database.engine.begin() as connection:
        for kind in kinds:
            connection.execute(
                text(insert), {**row, "id": kind, "name": kind, "kind": kind}
            )
    migrations.upgrade(database.url)
    listed = select(Channel.id, Channel.kind, Channel.template).order_by(Channel.id)
    with database.engine.connect() as connection:
        migrated = {row.id: row for row in connection.execute(listed)}
    assert [migrated[kind].kind for kind in kinds] == [
        "chat",
        "chat",
        "slack",
        "chat",
        "webhook",
    ]
    assert migrated["slack"].template is migrated["webhook"].template is None
    for kind in ("discord", "mattermost", "teams"):
        template = check_template(migrated[kind].template)
        named = set(re.findall("{([a-z]+)}", json.dumps(template)))
        assert named == {"title", "summary", "text", "facts", "links"}
    own = update(Channel).where(Channel.id == "discord")
    with database.engine.begin() as connection:
        connection.execute(own.values(template={"content": "{title}"}))
    migrations.downgrade(database.url, "0024")
    query = text("SELECT id, kind, quiet_begins FROM channel ORDER BY id")
    with database.engine.connect() as connection:
        restored = [tuple(row) for row in connection.execute(query)]
    assert restored == [
        ("discord", "mattermost", None),
        ("mattermost", "mattermost", None),
        ("slack", "slack", None),
        ("teams", "teams", None),
        ("webhook", "webhook", None),
    ]
    assert migrations.upgrade(database.url) is True


def test_an_older_server_reads_the_notices_of_a_newer_one(database: Database) -> None:
    """It knows every field of a notice but the ratios of launches."""
    plain = Notice("alert.opened", "critical", "alt_1", "slower", "by 12 %", "", "/")
    drawn = replace(plain, ratios=Ratios("native", (1.1, 1.2), 1.05))
    owned = {"project_id": DEFAULT_PROJECT_ID, "created_at": clock.now()}
    known = plain.columns()["content"]
    assert "ratios" not in known
    with database.engine.begin() as connection:
        for name, notice in (("plain", plain), ("drawn", drawn)):
            values = {"id": name, **owned, **notice.columns()}
            connection.execute(insert(Notification).values(values))
    migrations.downgrade(database.url, "0025")
    with database.engine.connect() as connection:
        contents = list(connection.scalars(select(Notification.content)))
    assert contents == [json.loads(json.dumps(known))] * 2
    assert migrations.upgrade(database.url) is True
