"""Enrolment codes and agents carry a grant; suites belong to the location of their repository.

Existing agents get a grant of what they may do already: the project they enrolled for, those their targets are granted
to, and every repository and target. Codes that are not used yet keep their project and grant everything, too.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

DEFAULT = "prj_default"
IMPORTS = "agt_imports"
GRANTED = ("granted_projects", "granted_repositories", "granted_targets")


def upgrade() -> None:
    for table in ("agent", "enrolment_code"):
        with op.batch_alter_table(table) as batch:
            for column in GRANTED:
                batch.add_column(
                    sa.Column(column, base.Json, nullable=False, server_default="[]")
                )
    _grant_what_is_done_already()
    with op.batch_alter_table("agent") as batch:
        batch.add_column(sa.Column("enrolled_by", sa.String(), nullable=True))
    with op.batch_alter_table("enrolment_code") as batch:
        batch.add_column(
            sa.Column(
                "created_by", sa.String(), nullable=False, server_default="system"
            )
        )
    for table in ("agent", "enrolment_code"):
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(f"fk_{table}_project_id", type_="foreignkey")
            batch.drop_column("project_id")
            for column in (*GRANTED, "created_by"):
                if column != "created_by" or table == "enrolment_code":
                    batch.alter_column(column, server_default=None)
    with op.batch_alter_table("suite") as batch:
        batch.add_column(sa.Column("location", sa.String(), nullable=True))
    with op.batch_alter_table("suite_agent") as batch:
        batch.add_column(sa.Column("repository", sa.String(), nullable=True))


def _grant_what_is_done_already() -> None:
    connection = op.get_bind()
    projects: dict[str, set[str]] = {}
    for agent_id, project_id in connection.execute(
        sa.text(
            "SELECT id, project_id FROM agent WHERE project_id IS NOT NULL UNION "
            "SELECT target.agent_id, target_grant.project_id FROM target_grant "
            "JOIN target ON target.id = target_grant.target_id"
        )
    ).all():
        projects.setdefault(agent_id, set()).add(project_id)
    agents = connection.execute(sa.text("SELECT id FROM agent")).scalars().all()
    for agent_id in agents:
        if agent_id != IMPORTS:
            _grant(connection, "agent", agent_id, sorted(projects.get(agent_id, ())))
    codes = connection.execute(
        sa.text("SELECT code_sha256, project_id FROM enrolment_code")
    ).all()
    for code, project_id in codes:
        _grant(connection, "enrolment_code", code, [project_id])


def _grant(
    connection: sa.Connection, table: str, key: str, projects: list[str]
) -> None:
    name = "id" if table == "agent" else "code_sha256"
    grant = dict(zip(GRANTED, (projects, ["**"], ["*"]), strict=True))
    connection.execute(
        sa.text(
            f"UPDATE {table} SET granted_projects = :granted_projects, "  # noqa: S608 - constants
            "granted_repositories = :granted_repositories, granted_targets = :granted_targets "
            f"WHERE {name} = :key"
        ).bindparams(*(sa.bindparam(column, type_=base.Json) for column in GRANTED)),
        {**grant, "key": key},
    )


def downgrade() -> None:
    with op.batch_alter_table("suite_agent") as batch:
        batch.drop_column("repository")
    with op.batch_alter_table("suite") as batch:
        batch.drop_column("location")
    connection = op.get_bind()
    for table, key in (("agent", "id"), ("enrolment_code", "code_sha256")):
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("project_id", sa.String(), nullable=True))
        first = (
            "granted_projects ->> 0"
            if connection.dialect.name == "postgresql"
            else "json_extract(granted_projects, '$[0]')"
        )
        op.execute(
            f"UPDATE {table} SET project_id = coalesce({first}, '{DEFAULT}') "  # noqa: S608 - constants
            f"WHERE {key} <> '{IMPORTS}'"
        )
        with op.batch_alter_table(table) as batch:
            if table == "enrolment_code":
                batch.alter_column("project_id", nullable=False)
            batch.create_foreign_key(
                f"fk_{table}_project_id", "project", ["project_id"], ["id"]
            )
            batch.drop_column("enrolled_by" if table == "agent" else "created_by")
            for column in GRANTED:
                batch.drop_column(column)
