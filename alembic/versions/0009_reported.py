"""What a device's log reported in lines that its suite declares.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "reported_line",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("launch", sa.Integer(), nullable=True),
        sa.Column("side", sa.String(), nullable=True),
        sa.Column("pattern", sa.String(), nullable=True),
        sa.Column("at", sa.String(), nullable=True),
        sa.Column("fields", JSON, nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_reported_line_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_reported_line"),
    )


def downgrade() -> None:
    op.drop_table("reported_line")
