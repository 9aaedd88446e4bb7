"""Rules, changes, bisections, undoable triage, the audit log; alerts with kinds and causes.

What was a candidate is called suspected from here on.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _alert_rule() -> None:
    op.create_table(
        "alert_rule",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("deleted_at", base.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_alert_rule"),
        sa.UniqueConstraint("name", name="uq_alert_rule_name"),
    )


def _alert_rule_version() -> None:
    op.create_table(
        "alert_rule_version",
        sa.Column("rule_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=True),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("min_effect", sa.Float(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["account.id"], name="fk_alert_rule_version_owner_id"
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name="fk_alert_rule_version_rule_id"
        ),
        sa.PrimaryKeyConstraint("rule_id", "version", name="pk_alert_rule_version"),
    )


def _rule_mute() -> None:
    op.create_table(
        "rule_mute",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("rule_id", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("until", base.Timestamp(), nullable=False),
        sa.Column("muted_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("ended_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name="fk_rule_mute_rule_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_rule_mute"),
    )
    op.create_index("ix_rule_mute_rule_id", "rule_mute", ["rule_id"])


def _triage_batch() -> None:
    op.create_table(
        "triage_batch",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=True),
        sa.Column("before", JSON, nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("undone_at", base.Timestamp(), nullable=True),
        sa.Column("undone_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_triage_batch"),
    )


def _audit_entry() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", SERIAL, autoincrement=True, nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("object_kind", sa.String(), nullable=False),
        sa.Column("object_id", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entry"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_entry_object_id", "audit_entry", ["object_id"])


def _change() -> None:
    op.create_table(
        "change",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("series_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("before_commit", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("level_before", sa.Float(), nullable=False),
        sa.Column("level_after", sa.Float(), nullable=False),
        sa.Column("effect", sa.Float(), nullable=False),
        sa.Column("lower", sa.Float(), nullable=False),
        sa.Column("upper", sa.Float(), nullable=False),
        sa.Column("p_value", sa.Float(), nullable=False),
        sa.Column("evaluations", sa.Integer(), nullable=False),
        sa.Column("cause", sa.String(), nullable=True),
        sa.Column("evidence", JSON, nullable=False),
        sa.Column("alert_id", sa.String(), nullable=True),
        sa.Column("found_at", base.Timestamp(), nullable=False),
        sa.Column("updated_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], name="fk_change_alert_id"),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name="fk_change_series_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_change"),
    )
    op.create_index("ix_change_alert_id", "change", ["alert_id"])
    op.create_index("ix_change_series", "change", ["series_id", "state"])


def _bisection() -> None:
    op.create_table(
        "bisection",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("alert_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("base_commit", sa.String(), nullable=False),
        sa.Column("commits", JSON, nullable=False),
        sa.Column("good", sa.Integer(), nullable=False),
        sa.Column("bad", sa.Integer(), nullable=False),
        sa.Column("budget", sa.Integer(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("culprit", sa.JSON(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("updated_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alert.id"], name="fk_bisection_alert_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_bisection"),
    )
    op.create_index("ix_bisection_alert_id", "bisection", ["alert_id"])


ALERT_TEXTS = (
    "cause",
    "base_commit",
    "head_commit",
    "baseline_commit",
    "rule_id",
    "issue_url",
)


def _live_index(first: str) -> None:
    live = sa.text(f"state IN ('{first}','inconclusive','open','acknowledged')")
    op.create_index(
        "uq_alert_live_cause",
        "alert",
        ["cause_key"],
        unique=True,
        sqlite_where=live,
        postgresql_where=live,
    )


def _rename_state(before: str, after: str) -> None:
    for table, column in (
        ("alert", "state"),
        ("alert_event", "from_state"),
        ("alert_event", "to_state"),
    ):
        of = sa.column(column)
        op.execute(
            sa.update(sa.table(table, of)).where(of == before).values({column: after})
        )


def _alert() -> None:
    op.drop_index("uq_alert_live_cause", "alert")
    with op.batch_alter_table("alert") as alert:
        alert.add_column(
            sa.Column("kind", sa.String(), nullable=False, server_default="arm_slower")
        )
        for name in ALERT_TEXTS:
            alert.add_column(sa.Column(name, sa.String(), nullable=True))
        alert.add_column(sa.Column("culprit", JSON, nullable=True))
        alert.add_column(sa.Column("rule_version", sa.Integer(), nullable=True))
        alert.add_column(
            sa.Column("shadow", sa.Boolean(), nullable=False, server_default=sa.false())
        )
        alert.add_column(sa.Column("due_at", base.Timestamp(), nullable=True))
        alert.create_index("ix_alert_rule_id", ["rule_id"])
    _rename_state("candidate", "suspected")
    _live_index("suspected")


def _finding() -> None:
    with op.batch_alter_table("finding") as finding:
        finding.alter_column("comparison_id", existing_type=sa.String(), nullable=True)
        finding.add_column(sa.Column("series_id", sa.String(), nullable=True))
        finding.add_column(sa.Column("change_id", sa.String(), nullable=True))
        finding.add_column(sa.Column("numbers", JSON, nullable=True))
        finding.create_index("ix_finding_series_id", ["series_id"])


def upgrade() -> None:
    _alert_rule()
    _alert_rule_version()
    _rule_mute()
    _triage_batch()
    _audit_entry()
    _change()
    _bisection()
    _alert()
    _finding()
    with op.batch_alter_table("comparison") as comparison:
        comparison.add_column(
            sa.Column("sides", sa.String(), nullable=False, server_default="arms")
        )


def downgrade() -> None:
    op.drop_index("uq_alert_live_cause", "alert")
    with op.batch_alter_table("comparison") as comparison:
        comparison.drop_column("sides")
    op.execute("DELETE FROM finding WHERE comparison_id IS NULL")
    op.drop_index("ix_finding_series_id", "finding")
    with op.batch_alter_table("finding") as finding:
        for name in ("numbers", "change_id", "series_id"):
            finding.drop_column(name)
        finding.alter_column("comparison_id", existing_type=sa.String(), nullable=False)
    op.drop_table("bisection")
    op.drop_table("change")
    op.drop_table("audit_entry")
    op.drop_table("triage_batch")
    op.drop_table("rule_mute")
    op.drop_table("alert_rule_version")
    op.drop_table("alert_rule")
    _rename_state("suspected", "candidate")
    op.drop_index("ix_alert_rule_id", "alert")
    with op.batch_alter_table("alert") as alert:
        for name in (
            *ALERT_TEXTS,
            "kind",
            "culprit",
            "rule_version",
            "shadow",
            "due_at",
        ):
            alert.drop_column(name)
    _live_index("candidate")
