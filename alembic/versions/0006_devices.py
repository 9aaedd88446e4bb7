"""Devices: connection, health, maintenance, orders, readings; raw conditions; launches per job.

A hold of before was a person's maintenance; who it was is not known any more.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
TEXTS = (
    "connection",
    "connection_reason",
    "connection_advice",
    "connection_route",
    "boot_id",
    "health_reason",
    "maintenance_by",
    "maintenance_reason",
)
INSTANTS = (
    "connection_since",
    "health_since",
    "check_after",
    "maintenance_since",
    "maintenance_until",
    "gates_at",
)
WITH_DEFAULTS = (
    ("health", sa.String(), sa.text("'unknown'")),
    ("failures", sa.Integer(), sa.text("0")),
    ("checked", sa.Boolean(), sa.false()),
    ("held_for", JSON, sa.text("'[]'")),
    ("configuration", JSON, sa.text("'[]'")),
    ("last_check_raw", JSON, sa.text("'[]'")),
)


def _target() -> None:
    with op.batch_alter_table("target") as target:
        for name in TEXTS:
            target.add_column(sa.Column(name, sa.String(), nullable=True))
        for name in INSTANTS:
            target.add_column(sa.Column(name, base.Timestamp(), nullable=True))
        for name, kind, default in WITH_DEFAULTS:
            target.add_column(
                sa.Column(name, kind, nullable=False, server_default=default)
            )
        target.add_column(sa.Column("gates", JSON, nullable=True))
        target.add_column(sa.Column("last_check", JSON, nullable=True))
    op.execute(
        "UPDATE target SET maintenance_by = 'a person', maintenance_reason = hold_reason, "
        "maintenance_since = COALESCE(last_seen_at, created_at) WHERE hold = 'maintenance'"
    )
    with op.batch_alter_table("target") as target:
        target.drop_column("hold")
        target.drop_column("hold_reason")


def _target_event() -> None:
    op.create_table(
        "target_event",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("axis", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("from_state", sa.String(), nullable=True),
        sa.Column("to_state", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("evidence", JSON, nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_target_event_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_target_event"),
    )
    op.create_index(
        "ix_target_event_target_id_ref", "target_event", ["target_id", "ref"]
    )
    op.create_index("ix_target_event_at", "target_event", ["at"])


def _target_order() -> None:
    op.create_table(
        "target_order",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("life", sa.String(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=False),
        sa.Column("requested_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.Column("ended_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_target_order_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_target_order"),
    )
    op.create_index("ix_target_order_target_id", "target_order", ["target_id"])


def _target_reading() -> None:
    op.create_table(
        "target_reading",
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("battery_c", sa.Float(), nullable=True),
        sa.Column("battery_percent", sa.Float(), nullable=True),
        sa.Column("charging", sa.Boolean(), nullable=True),
        sa.Column("thermal_status", sa.Integer(), nullable=True),
        sa.Column("free_bytes", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_target_reading_target_id"
        ),
        sa.PrimaryKeyConstraint("target_id", "at", name="pk_target_reading"),
    )


def upgrade() -> None:
    _target()
    _target_event()
    _target_order()
    _target_reading()
    with op.batch_alter_table("run") as run:
        run.add_column(
            sa.Column("suppress", JSON, nullable=False, server_default=sa.text("'[]'"))
        )
    with op.batch_alter_table("job") as job:
        job.add_column(
            sa.Column(
                "launches", sa.Integer(), nullable=False, server_default=sa.text("5")
            )
        )
    op.execute(
        "UPDATE job SET launches = (SELECT run.launches FROM run WHERE run.id = job.run_id)"
    )
    with op.batch_alter_table("conditions") as conditions:
        conditions.add_column(sa.Column("raw", JSON, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("conditions") as conditions:
        conditions.drop_column("raw")
    with op.batch_alter_table("job") as job:
        job.drop_column("launches")
    with op.batch_alter_table("run") as run:
        run.drop_column("suppress")
    for table in ("target_reading", "target_order", "target_event"):
        op.drop_table(table)
    with op.batch_alter_table("target") as target:
        target.add_column(sa.Column("hold", sa.String(), nullable=True))
        target.add_column(sa.Column("hold_reason", sa.String(), nullable=True))
    op.execute(
        "UPDATE target SET hold = 'maintenance', hold_reason = maintenance_reason "
        "WHERE maintenance_by IS NOT NULL"
    )
    with op.batch_alter_table("target") as target:
        for name in (
            *TEXTS,
            *INSTANTS,
            *(name for name, *_ in WITH_DEFAULTS),
            "gates",
            "last_check",
        ):
            target.drop_column(name)
