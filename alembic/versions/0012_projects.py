"""Projects own what people see. What exists goes to the project `default`; accounts become its members.

Names and keys are unique in a project. On PostgreSQL, row-level security hides the rows of other projects from the
role of requests. SQLite keeps `prj_default` as the default of the new columns: to drop it, every sample would be copied.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

import sqlalchemy as sa
from paceline_server.kernel.settings import SettingsError
from paceline_server.store import base, row_security

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

DEFAULT = "prj_default"
REFERRING = ("run", "alert", "annotation")
"""Added with a reference to the project; tables made anew below have it, too."""
CHILDREN = (
    "job_report",
    "comparison",
    "finding",
    "alert_event",
    "series_point",
    "series_state",
    "change",
    "noise_floor",
    "policy_advice",
    "job",
    "attempt",
    "alert_rule_version",
    "rule_mute",
    "bisection",
    "triage_batch",
    "item",
    "sample_chunk",
    "stream_event",
    "conditions",
    "reported_line",
    "log_chunk",
    "outbox",
)
KEYED = ("suite", "suite_agent", "retired_benchmark")
KEYS = {
    "suite": ["name"],
    "suite_agent": ["suite", "agent_id"],
    "retired_benchmark": ["suite", "benchmark"],
}
UNIQUE = {
    "series": (
        "series_key",
        [
            "suite",
            "benchmark",
            "arm",
            "params_key",
            "metric",
            "target_id",
            "branch",
        ],
    ),
    "schedule": ("uq_schedule_name", ["name"]),
    "alert_rule": ("uq_alert_rule_name", ["name"]),
    "import_document": ("uq_import_document_digest", ["digest"]),
}
INDEXES = {
    "ix_comparison_latest": (
        "comparison",
        ["suite", "benchmark", "target_id", "measured_at"],
    ),
    "ix_alert_state": ("alert", ["state"]),
    "ix_series_target": ("series", ["target_id", "suite", "benchmark"]),
    "ix_noise_floor_key": (
        "noise_floor",
        ["target_id", "suite", "benchmark", "measured_at"],
    ),
    "ix_policy_advice_key": (
        "policy_advice",
        ["target_id", "suite", "policy", "measured_at"],
    ),
    "ix_run_suite": ("run", ["suite", "trigger", "created_at"]),
    "ix_run_state": ("run", ["state"]),
    "ix_import_document_created_at": ("import_document", ["created_at"]),
}
"""Indexes that the project leads from now on."""
LIVE = "state IN ('suspected','inconclusive','open','acknowledged')"
OWNED = (
    *(table for table in CHILDREN if table != "outbox"),
    *REFERRING,
    *KEYED,
    *UNIQUE,
    "audit_entry",
    "token",
)
OF_TARGETS = ("target_event", "target_order", "target_reading")
PRIVATE = ("browser_session", "sign_in_link", "sign_in_throttle")
"""Tables that requests read and write only as the system."""
PERMISSIONS = {
    "read": ["project.read", "members.read"],
    "alerts:write": [
        "alerts.triage",
        "annotations.write",
        "benchmarks.write",
        "rules.write",
    ],
    "ingest": ["runs.create", "targets.use", "imports.write", "schedules.write"],
    "agent": ["agent"],
}
"""What the scopes of before allowed; an admin had all but `agent`."""
ADMIN = [
    *(
        name
        for scope in ("read", "alerts:write", "ingest")
        for name in PERMISSIONS[scope]
    ),
    "audit.read",
    "channels.write",
    "installation.admin",
    "members.write",
    "project.write",
    "tokens.write",
]


def upgrade() -> None:
    _make_tables()
    _own_what_exists()
    _widen_keys()
    _people()
    if op.get_bind().dialect.name == "postgresql":
        _secure()


def _make_tables() -> None:
    op.create_table(
        "project",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("default_branch", sa.String(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
        sa.UniqueConstraint("name", name=op.f("uq_project_name")),
    )
    op.create_table(
        "project_member",
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["account.id"],
            name=op.f("fk_project_member_account_id"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["project.id"],
            name=op.f("fk_project_member_project_id"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "account_id", name=op.f("pk_project_member")
        ),
    )
    op.create_index("ix_project_member_account_id", "project_member", ["account_id"])
    op.create_table(
        "target_grant",
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_target_grant_project_id")
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name=op.f("fk_target_grant_target_id")
        ),
        sa.PrimaryKeyConstraint(
            "target_id", "project_id", name=op.f("pk_target_grant")
        ),
    )
    op.create_index("ix_target_grant_project_id", "target_grant", ["project_id"])
    at = datetime.now(UTC)
    project = sa.table(
        "project",
        *(
            sa.column(name)
            for name in ("id", "name", "title", "default_branch", "visibility")
        ),
        sa.column("created_at", base.Timestamp()),
    )
    op.execute(
        project.insert().values(
            id=DEFAULT,
            name="default",
            title="Default",
            default_branch="main",
            visibility="private",
            created_at=at,
        )
    )
    op.execute(
        sa.text(
            "INSERT INTO target_grant (target_id, project_id, created_at) "
            "SELECT id, :project, created_at FROM target"
        ).bindparams(project=DEFAULT)
    )


def _own_what_exists() -> None:
    for table in REFERRING:
        _add_project(table, refers=True)
    for table in CHILDREN:
        _add_project(table, refers=False)
    op.add_column("live_event", sa.Column("project_id", sa.String(), nullable=True))
    op.add_column("live_event", sa.Column("target_id", sa.String(), nullable=True))
    target_of_event = (
        "data->>'id'"
        if op.get_bind().dialect.name == "postgresql"
        else "json_extract(data, '$.id')"
    )
    op.execute(
        f"UPDATE live_event SET target_id = {target_of_event} WHERE kind = 'target'"  # noqa: S608 - constants
    )
    _give_to_default("live_event", "kind <> 'target'")


def _give_to_default(table: str, where: str) -> None:
    op.execute(
        sa.text(f"UPDATE {table} SET project_id = :project WHERE {where}").bindparams(  # noqa: S608 - constants
            project=DEFAULT
        )
    )


def _add_project(table: str, *, refers: bool) -> None:
    """Without copying the table: on SQLite, alembic's own way would copy every sample."""
    reference = (
        f" CONSTRAINT fk_{table}_project_id REFERENCES project (id)" if refers else ""
    )
    op.execute(
        f"ALTER TABLE {table} ADD COLUMN project_id VARCHAR DEFAULT '{DEFAULT}' NOT NULL{reference}"
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE {table} ALTER COLUMN project_id DROP DEFAULT")


def _widen_keys() -> None:
    for name, (table, columns) in INDEXES.items():
        if table not in UNIQUE:
            op.drop_index(name, table_name=table)
            op.create_index(name, table, ["project_id", *columns])
    op.drop_index("uq_alert_live_cause", table_name="alert")
    _index_live_cause(["project_id", "cause_key"])
    for table, (name, columns) in UNIQUE.items():
        with op.batch_alter_table(table) as batch:
            batch.add_column(_project_column())
            batch.create_foreign_key(
                f"fk_{table}_project_id", "project", ["project_id"], ["id"]
            )
            batch.drop_constraint(name, type_="unique")
            batch.create_unique_constraint(
                name if name == "series_key" else f"uq_{table}_project_id_{columns[0]}",
                ["project_id", *columns],
            )
        with op.batch_alter_table(table) as batch:
            batch.alter_column("project_id", server_default=None)
        for index, (of, indexed) in INDEXES.items():
            if of == table:
                op.drop_index(index, table_name=table)
                op.create_index(index, table, ["project_id", *indexed])
    for table, columns in KEYS.items():
        with op.batch_alter_table(table) as batch:
            batch.add_column(_project_column())
            batch.create_foreign_key(
                f"fk_{table}_project_id", "project", ["project_id"], ["id"]
            )
            batch.drop_constraint(f"pk_{table}", type_="primary")
            batch.create_primary_key(f"pk_{table}", ["project_id", *columns])
        with op.batch_alter_table(table) as batch:
            batch.alter_column("project_id", server_default=None)


def _project_column() -> sa.Column[str]:
    return sa.Column("project_id", sa.String(), nullable=False, server_default=DEFAULT)


def _index_live_cause(columns: list[str]) -> None:
    op.create_index(
        "uq_alert_live_cause",
        "alert",
        columns,
        unique=True,
        sqlite_where=sa.text(LIVE),
        postgresql_where=sa.text(LIVE),
    )


def _people() -> None:
    for table, column in (
        ("enrolment_code", _project_column()),
        ("agent", sa.Column("project_id", sa.String(), nullable=True)),
        ("audit_entry", sa.Column("project_id", sa.String(), nullable=True)),
        ("token", sa.Column("project_id", sa.String(), nullable=True)),
    ):
        with op.batch_alter_table(table) as batch:
            batch.add_column(column)
            batch.create_foreign_key(
                f"fk_{table}_project_id", "project", ["project_id"], ["id"]
            )
            if table == "audit_entry":
                batch.add_column(
                    sa.Column(
                        "actor_kind",
                        sa.String(),
                        nullable=False,
                        server_default="system",
                    )
                )
                batch.add_column(sa.Column("actor_id", sa.String(), nullable=True))
            if table == "token":
                batch.add_column(
                    sa.Column(
                        "permissions", base_json(), nullable=False, server_default="[]"
                    )
                )
    with op.batch_alter_table("enrolment_code") as batch:
        batch.alter_column("project_id", server_default=None)
    with op.batch_alter_table("audit_entry") as batch:
        batch.alter_column("actor_kind", server_default=None)
    _give_to_default("agent", "id <> 'agt_imports'")
    _give_to_default("audit_entry", "true")
    op.execute(
        "UPDATE audit_entry SET actor_kind = 'account', "
        "actor_id = (SELECT id FROM account WHERE account.name = audit_entry.actor) "
        "WHERE actor IN (SELECT name FROM account)"
    )
    op.execute(
        "UPDATE audit_entry SET actor_kind = 'token' "
        "WHERE actor_kind = 'system' AND actor IN (SELECT name FROM token)"
    )
    op.create_index("ix_audit_entry_project_id", "audit_entry", ["project_id", "id"])
    _give_to_default("token", "agent_id IS NULL")
    connection = op.get_bind()
    for token_id, scopes in connection.execute(
        sa.text("SELECT id, scopes FROM token")
    ).all():
        held = scopes if isinstance(scopes, list) else json.loads(scopes)
        permissions = sorted(
            set(ADMIN if "admin" in held else ())
            | {name for scope in held for name in PERMISSIONS.get(scope, ())}
        )
        connection.execute(
            sa.text(
                "UPDATE token SET permissions = :permissions WHERE id = :id"
            ).bindparams(sa.bindparam("permissions", type_=base_json())),
            {"permissions": permissions, "id": token_id},
        )
    with op.batch_alter_table("token") as batch:
        batch.drop_column("scopes")
        batch.alter_column("permissions", server_default=None)
    with op.batch_alter_table("account") as batch:
        batch.add_column(
            sa.Column(
                "is_installation_admin",
                sa.Boolean(),
                nullable=False,
                server_default=sa.false(),
            )
        )
        batch.add_column(sa.Column("disabled_at", base.Timestamp(), nullable=True))
    for account_id, scopes in connection.execute(
        sa.text("SELECT id, scopes FROM account")
    ).all():
        held = scopes if isinstance(scopes, list) else json.loads(scopes)
        _make_member(connection, account_id, held)
    with op.batch_alter_table("account") as batch:
        batch.drop_column("scopes")
        batch.alter_column("is_installation_admin", server_default=None)


def _make_member(connection: sa.Connection, account_id: str, scopes: list[str]) -> None:
    role = (
        "admin"
        if "admin" in scopes
        else "maintainer"
        if "ingest" in scopes
        else "triager"
        if "alerts:write" in scopes
        else "viewer"
    )
    connection.execute(
        sa.text(
            "INSERT INTO project_member (project_id, account_id, role, created_at) "
            "SELECT :project, id, :role, created_at FROM account WHERE id = :id"
        ),
        {"project": DEFAULT, "role": role, "id": account_id},
    )
    if role == "admin":
        connection.execute(
            sa.text("UPDATE account SET is_installation_admin = true WHERE id = :id"),
            {"id": account_id},
        )


def base_json() -> sa.types.TypeEngine[object]:
    return base.Json


def _secure() -> None:
    """Make the role of requests and the policies that bind it. The role belongs to the whole server: another
    database of Paceline may have made it already."""
    connection = op.get_bind()
    ready = connection.execute(
        sa.text(
            "SELECT rolsuper OR rolcreaterole OR EXISTS (SELECT FROM pg_roles WHERE rolname = :role "
            "AND pg_has_role(current_user, oid, 'MEMBER')) FROM pg_roles WHERE rolname = current_user"
        ),
        {"role": row_security.ROLE},
    ).scalar_one()
    if not ready:
        raise SettingsError(
            f"the database's user may not make the role {row_security.ROLE}, in which requests work: let an admin "
            f"of the server run `CREATE ROLE {row_security.ROLE} NOLOGIN; GRANT {row_security.ROLE} TO` this user, "
            "and migrate again"
        )
    op.execute(
        f"DO $$ BEGIN CREATE ROLE {row_security.ROLE} NOLOGIN; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )
    op.execute(
        f"DO $$ BEGIN IF NOT pg_has_role(current_user, '{row_security.ROLE}', 'MEMBER') THEN "
        f"EXECUTE format('GRANT {row_security.ROLE} TO %I', current_user); END IF; END $$"
    )
    schema = connection.execute(sa.text("SELECT current_schema()")).scalar_one()
    role = row_security.ROLE
    for statement in (
        f'GRANT USAGE ON SCHEMA "{schema}" TO {role}',
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO {role}',
        f'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "{schema}" TO {role}',
        f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{schema}" '
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
        f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{schema}" '
        f"GRANT USAGE, SELECT ON SEQUENCES TO {role}",
        *(
            f"REVOKE ALL ON {table} FROM {role}"
            for table in (*PRIVATE, "alembic_version")
        ),
    ):
        op.execute(statement)
    for table, visible in _policies():
        for statement in row_security.protect(table, visible):
            op.execute(statement)


def _policies() -> list[tuple[str, str]]:
    in_project, granted, fleet = (
        row_security.IN_PROJECT,
        row_security.GRANTED,
        row_security.FLEET,
    )
    return [
        *((table, in_project) for table in OWNED),
        *((table, f"{fleet} OR target_id IN ({granted})") for table in OF_TARGETS),
        ("target", f"{fleet} OR id IN ({granted})"),
        (
            "live_event",
            f"{in_project} OR (project_id IS NULL AND ({fleet} OR target_id IN ({granted})))",
        ),
        (
            "account",
            "id IN (SELECT project_member.account_id FROM project_member "  # noqa: S608 - constants
            f"WHERE project_member.{in_project})",
        ),
    ]


def downgrade() -> None:
    connection = op.get_bind()
    others = connection.execute(
        sa.text("SELECT count(*) FROM project WHERE id <> :id"), {"id": DEFAULT}
    ).scalar_one()
    if others:
        raise RuntimeError(
            f"{others} projects besides `default` exist, which the older version cannot keep apart: "
            "restore a backup from before they were made"
        )
    if connection.dialect.name == "postgresql":
        for table, _ in _policies():
            for statement in row_security.release(table):
                op.execute(statement)
        schema = connection.execute(sa.text("SELECT current_schema()")).scalar_one()
        role = row_security.ROLE
        for kind in ("TABLES", "SEQUENCES"):
            op.execute(
                f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{schema}" REVOKE ALL ON {kind} FROM {role}'
            )
            op.execute(f'REVOKE ALL ON ALL {kind} IN SCHEMA "{schema}" FROM {role}')
        op.execute(f'REVOKE ALL ON SCHEMA "{schema}" FROM {role}')
    _give_scopes_back()
    _narrow_keys()
    for table in (*CHILDREN, *REFERRING, "live_event"):
        with op.batch_alter_table(table) as batch:
            if table in REFERRING and connection.dialect.name == "postgresql":
                batch.drop_constraint(f"fk_{table}_project_id", type_="foreignkey")
            batch.drop_column("project_id")
            if table == "live_event":
                batch.drop_column("target_id")
    for table in ("target_grant", "project_member", "project"):
        op.drop_table(table)


def _give_scopes_back() -> None:
    connection = op.get_bind()
    for table in ("token", "account"):
        with op.batch_alter_table(table) as batch:
            batch.add_column(
                sa.Column("scopes", base_json(), nullable=False, server_default="[]")
            )
    for token_id, permissions in connection.execute(
        sa.text("SELECT id, permissions FROM token")
    ).all():
        held = set(
            permissions if isinstance(permissions, list) else json.loads(permissions)
        )
        scopes = [scope for scope, names in PERMISSIONS.items() if held & set(names)]
        if "installation.admin" in held:
            scopes.append("admin")
        _set_scopes(connection, "token", token_id, scopes)
    roles = {
        "viewer": ["read"],
        "triager": ["read", "alerts:write"],
        "maintainer": ["read", "alerts:write", "ingest"],
        "admin": ["read", "alerts:write", "ingest"],
    }
    rows = connection.execute(
        sa.text(
            "SELECT account.id, role, is_installation_admin FROM account "
            "LEFT JOIN project_member ON account_id = account.id"
        )
    ).all()
    for account_id, role, is_admin in rows:
        scopes = list(roles.get(role, []))
        _set_scopes(
            connection,
            "account",
            account_id,
            [*scopes, "admin"] if is_admin else scopes,
        )
    for table in ("token", "account"):
        with op.batch_alter_table(table) as batch:
            batch.alter_column("scopes", server_default=None)
            if table == "account":
                batch.drop_column("is_installation_admin")
                batch.drop_column("disabled_at")
            else:
                batch.drop_column("permissions")
    op.drop_index("ix_audit_entry_project_id", table_name="audit_entry")
    for table in ("enrolment_code", "agent", "audit_entry", "token"):
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(f"fk_{table}_project_id", type_="foreignkey")
            batch.drop_column("project_id")
            if table == "audit_entry":
                batch.drop_column("actor_kind")
                batch.drop_column("actor_id")


def _set_scopes(
    connection: sa.Connection, table: str, key: str, scopes: list[str]
) -> None:
    connection.execute(
        sa.text(f"UPDATE {table} SET scopes = :scopes WHERE id = :id").bindparams(  # noqa: S608
            sa.bindparam("scopes", type_=base_json())
        ),
        {"scopes": scopes, "id": key},
    )


def _narrow_keys() -> None:
    for table, columns in KEYS.items():
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(f"fk_{table}_project_id", type_="foreignkey")
            batch.drop_constraint(f"pk_{table}", type_="primary")
            batch.drop_column("project_id")
            batch.create_primary_key(f"pk_{table}", columns)
    for table, (name, columns) in UNIQUE.items():
        for index, (of, indexed) in INDEXES.items():
            if of == table:
                op.drop_index(index, table_name=table)
                op.create_index(index, table, indexed)
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(f"fk_{table}_project_id", type_="foreignkey")
            batch.drop_constraint(
                name if name == "series_key" else f"uq_{table}_project_id_{columns[0]}",
                type_="unique",
            )
            batch.drop_column("project_id")
            batch.create_unique_constraint(name, columns)
    for name, (table, columns) in INDEXES.items():
        if table not in UNIQUE:
            op.drop_index(name, table_name=table)
            op.create_index(name, table, columns)
    op.drop_index("uq_alert_live_cause", table_name="alert")
    _index_live_cause(["cause_key"])
