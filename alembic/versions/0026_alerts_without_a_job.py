"""Alerts without a job: of agents, targets, schedules and imports.

Alerts may have no run and no target, and their findings no run and no job. Taken back, such alerts are deleted with
their history, and notices lose the ratios of launches, because an older server can show neither.

Revision ID: 0026
Revises: 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

NULLABLE = {"alert": ("run_id", "target_id"), "finding": ("run_id", "job_id")}
KINDS = ("quarantine", "agent_silent", "schedule_missed", "import_stopped")

alert = sa.table("alert", sa.column("id", sa.String()), sa.column("kind", sa.String()))
notification = sa.table(
    "notification", sa.column("id", sa.String()), sa.column("content", base.Json)
)
rule_version = sa.table(
    "alert_rule_version",
    sa.column("rule_id", sa.String()),
    sa.column("kind", sa.String()),
)


def upgrade() -> None:
    _set_nullable(nullable=True)
    op.add_column("agent", sa.Column("silence_limit_s", sa.Integer(), nullable=True))
    op.add_column("schedule", sa.Column("missed_at", base.Timestamp(), nullable=True))
    op.add_column("schedule", sa.Column("missed_because", sa.String(), nullable=True))
    op.add_column(
        "alert_rule_version", sa.Column("period_hours", sa.Float(), nullable=True)
    )
    op.create_table(
        "server_uptime",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("since", base.Timestamp(), nullable=False),
        sa.Column("seen_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server_uptime")),
    )


def downgrade() -> None:
    _delete_alerts()
    _delete_rules()
    _delete_ratios()
    op.drop_table("server_uptime")
    op.drop_column("alert_rule_version", "period_hours")
    op.drop_column("schedule", "missed_because")
    op.drop_column("schedule", "missed_at")
    op.drop_column("agent", "silence_limit_s")
    _set_nullable(nullable=False)


def _set_nullable(*, nullable: bool) -> None:
    for table, columns in NULLABLE.items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.alter_column(column, existing_type=sa.String(), nullable=nullable)


def _delete_alerts() -> None:
    gone = sa.select(alert.c.id).where(alert.c.kind.in_(KINDS))
    for table in ("finding", "alert_event", "bisection"):
        rows = sa.table(table, sa.column("alert_id", sa.String()))
        op.execute(sa.delete(rows).where(rows.c.alert_id.in_(gone)))
    op.execute(sa.delete(alert).where(alert.c.kind.in_(KINDS)))


def _delete_rules() -> None:
    """Delete the rules that have a version of these kinds, with all versions and mutes."""
    gone = sa.select(rule_version.c.rule_id).where(rule_version.c.kind.in_(KINDS))
    ids = [row[0] for row in op.get_bind().execute(gone).all()]
    for table, column in (
        ("rule_mute", "rule_id"),
        ("alert_rule_version", "rule_id"),
        ("alert_rule", "id"),
    ):
        rows = sa.table(table, sa.column(column, sa.String()))
        op.execute(sa.delete(rows).where(rows.c[column].in_(ids)))


def _delete_ratios() -> None:
    connection = op.get_bind()
    has_ratios = sa.cast(notification.c.content, sa.String()).contains('"ratios"')
    rows = connection.execute(
        sa.select(notification.c.id, notification.c.content).where(has_ratios)
    )
    for notification_id, content in rows.all():
        content.pop("ratios", None)
        connection.execute(
            sa.update(notification)
            .where(notification.c.id == notification_id)
            .values(content=content)
        )
