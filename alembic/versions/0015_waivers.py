"""Waivers: dated permissions for what fails to pass visibly.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base, row_security

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLE = "waiver"
TEXTS = ("id", "suite", "kind", "benchmark", "arm", "metric", "reason", "created_by")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("project_id", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in TEXTS),
        sa.Column("params", base.Json, nullable=False),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("commits", base.JsonOrNull, nullable=True),
        sa.Column("pull_request", sa.Integer(), nullable=True),
        sa.Column("worst_ratio", sa.Float(), nullable=True),
        sa.Column("worst_actual", sa.Float(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.Column("revoked_by", sa.String(), nullable=True),
        sa.Column("revoked_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f(f"fk_{TABLE}_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{TABLE}")),
    )
    op.create_index("ix_waiver_suite", TABLE, ["project_id", "suite", "expires_at"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in row_security.protect(TABLE, row_security.IN_PROJECT):
            op.execute(statement)


def downgrade() -> None:
    op.drop_table(TABLE)
