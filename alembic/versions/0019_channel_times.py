"""Channels filter, keep quiet hours, send digests and can be muted.

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("channel") as batch:
        batch.add_column(
            sa.Column(
                "filters",
                sa.JSON().with_variant(postgresql.JSONB(), "postgresql"),
                nullable=False,
                server_default="{}",
            )
        )
        batch.add_column(
            sa.Column("time_zone", sa.String(), nullable=False, server_default="UTC")
        )
        batch.add_column(sa.Column("quiet_begins", sa.Time(), nullable=True))
        batch.add_column(sa.Column("quiet_ends", sa.Time(), nullable=True))
        batch.add_column(sa.Column("digest_at", sa.Time(), nullable=True))
        batch.add_column(sa.Column("muted_until", base.Timestamp(), nullable=True))
    with op.batch_alter_table("channel") as batch:
        batch.alter_column("filters", server_default=None)
        batch.alter_column("time_zone", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("channel") as batch:
        for column in (
            "muted_until",
            "digest_at",
            "quiet_ends",
            "quiet_begins",
            "time_zone",
            "filters",
        ):
            batch.drop_column(column)
