"""Channels of projects, their signing keys, notifications, deliveries and attempts.

On PostgreSQL the role of requests writes the secrets of keys and cannot read them.

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base, row_security
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TABLES = ("channel", "channel_key", "notification", "delivery", "delivery_attempt")
READABLE_OF_KEYS = "id, project_id, channel_id, created_at, valid_until"


def upgrade() -> None:
    _make_channels()
    _make_deliveries()
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            for statement in row_security.protect(table, row_security.IN_PROJECT):
                op.execute(statement)
        op.execute(f"REVOKE SELECT, UPDATE ON channel_key FROM {row_security.ROLE}")
        op.execute(
            f"GRANT SELECT ({READABLE_OF_KEYS}), UPDATE (valid_until) ON channel_key TO {row_security.ROLE}"
        )


def _make_channels() -> None:
    op.create_table(
        "channel",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", base.Timestamp(), nullable=True),
        sa.Column("retry_at", base.Timestamp(), nullable=True),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("owner_id", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("deleted_at", base.Timestamp(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["account.id"], name=op.f("fk_channel_owner_id")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_channel_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channel")),
    )
    present = sa.text("deleted_at IS NULL")
    op.create_index(
        "uq_channel_name",
        "channel",
        ["project_id", "name"],
        unique=True,
        sqlite_where=present,
        postgresql_where=present,
    )
    op.create_table(
        "channel_key",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("valid_until", base.Timestamp(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name=op.f("fk_channel_key_channel_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channel_key")),
    )
    op.create_index("ix_channel_key_channel_id", "channel_key", ["channel_id"])


def _make_deliveries() -> None:
    op.create_table(
        "notification",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("severity", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=True),
        sa.Column("suite", sa.String(), nullable=True),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("subject_id", sa.String(), nullable=False),
        sa.Column(
            "content",
            sa.JSON().with_variant(postgresql.JSONB(), "postgresql"),
            nullable=False,
        ),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_notification_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification")),
    )
    op.create_index(
        "ix_notification_project_id", "notification", ["project_id", "created_at"]
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("notification_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("payload", sa.String(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("requested_at", base.Timestamp(), nullable=False),
        sa.Column("finished_at", base.Timestamp(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name=op.f("fk_delivery_channel_id")
        ),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["notification.id"],
            name=op.f("fk_delivery_notification_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint(
            "channel_id",
            "notification_id",
            name=op.f("uq_delivery_channel_id_notification_id"),
        ),
    )
    op.create_index(
        "ix_delivery_channel", "delivery", ["project_id", "channel_id", "created_at"]
    )
    op.create_index("ix_delivery_notification_id", "delivery", ["notification_id"])
    op.create_table(
        "delivery_attempt",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("delivery_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["delivery.id"],
            name=op.f("fk_delivery_attempt_delivery_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_attempt")),
    )
    op.create_index(
        "ix_delivery_attempt_delivery_id", "delivery_attempt", ["delivery_id"]
    )


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
