"""Requests that may be repeated: stored answers, keys of concurrency, and the place of a job in the queue.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base, row_security

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TABLE = "stored_answer"


def upgrade() -> None:
    op.add_column("run", sa.Column("concurrency_key", sa.String(), nullable=True))
    op.add_column("run", sa.Column("superseded_by", sa.String(), nullable=True))
    op.create_index(
        "ix_run_project_id_concurrency_key", "run", ["project_id", "concurrency_key"]
    )
    op.add_column("job", sa.Column("queue_at", base.Timestamp(), nullable=True))
    op.create_table(
        TABLE,
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", base.OrderedJson, nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f(f"fk_{TABLE}_project_id")
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "principal", "key", name=op.f(f"pk_{TABLE}")
        ),
    )
    op.create_index(f"ix_{TABLE}_created_at", TABLE, ["created_at"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in row_security.protect(TABLE, row_security.IN_PROJECT):
            op.execute(statement)


def downgrade() -> None:
    op.drop_table(TABLE)
    op.drop_column("job", "queue_at")
    op.drop_index("ix_run_project_id_concurrency_key", table_name="run")
    op.drop_column("run", "superseded_by")
    op.drop_column("run", "concurrency_key")
