"""Runs, what they measured and what was decided.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")

COMPRESS_FAST = """
DO $$ BEGIN
  ALTER TABLE sample_chunk
    ALTER COLUMN "values" SET COMPRESSION lz4, ALTER COLUMN rounds SET COMPRESSION lz4,
    ALTER COLUMN positions SET COMPRESSION lz4, ALTER COLUMN iterations SET COMPRESSION lz4,
    ALTER COLUMN t_ns SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  RAISE NOTICE 'this PostgreSQL was built without lz4: uploads will be slower';
END $$
"""
"""PostgreSQL's default compression (pglz) takes ten times as long as all else of storing a chunk."""

MADE = (
    "run",
    "alert",
    "job",
    "alert_event",
    "attempt",
    "comparison",
    "conditions",
    "item",
    "job_report",
    "log_chunk",
    "sample_chunk",
    "stream_event",
    "finding",
)
"""Tables in the order in which their references allow."""


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("manifest_path", sa.String(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("trigger", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("demonstration", sa.Boolean(), nullable=False),
        sa.Column("benchmarks", JSON, nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("knobs", JSON, nullable=False),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("min_time_ns", sa.BigInteger(), nullable=False),
        sa.Column("confirms_alert_id", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("finished_at", base.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
    )
    op.create_index(
        "ix_run_confirms_alert_id", "run", ["confirms_alert_id"], unique=False
    )
    op.create_index("ix_run_state", "run", ["state"], unique=False)
    op.create_index("ix_run_suite", "run", ["suite"], unique=False)


def _alert() -> None:
    op.create_table(
        "alert",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("cause_key", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("reference", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("demonstration", sa.Boolean(), nullable=False),
        sa.Column("rule", JSON, nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("ratio", sa.Float(), nullable=True),
        sa.Column("lower", sa.Float(), nullable=True),
        sa.Column("upper", sa.Float(), nullable=True),
        sa.Column("assignee_id", sa.String(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("confirmation_run_id", sa.String(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("updated_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignee_id"], ["account.id"], name="fk_alert_assignee_id"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_alert_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_alert"),
    )
    op.create_index("ix_alert_state", "alert", ["state"], unique=False)
    op.create_index(
        "uq_alert_live_cause",
        "alert",
        ["cause_key"],
        unique=True,
        sqlite_where=sa.text(
            "state IN ('candidate','inconclusive','open','acknowledged')"
        ),
        postgresql_where=sa.text(
            "state IN ('candidate','inconclusive','open','acknowledged')"
        ),
    )


def _job() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=True),
        sa.Column("cause", sa.String(), nullable=True),
        sa.Column("cause_detail", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("requeues", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("progress", JSON, nullable=True),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("artifact_hash", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("build", JSON, nullable=True),
        sa.Column("partial", sa.Boolean(), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("not_before", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("started_at", base.Timestamp(), nullable=True),
        sa.Column("finished_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_job_run_id"),
        sa.ForeignKeyConstraint(["target_id"], ["target.id"], name="fk_job_target_id"),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
    )
    op.create_index("ix_job_run_id", "job", ["run_id"], unique=False)
    op.create_index(
        "ix_job_state_not_before", "job", ["state", "not_before"], unique=False
    )
    op.create_index("ix_job_target_id", "job", ["target_id"], unique=False)
    op.create_index(
        "uq_job_one_lease_per_target",
        "job",
        ["target_id"],
        unique=True,
        sqlite_where=sa.text("state IN ('leased','preparing','measuring','uploading')"),
        postgresql_where=sa.text(
            "state IN ('leased','preparing','measuring','uploading')"
        ),
    )


def _alert_event() -> None:
    op.create_table(
        "alert_event",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("alert_id", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("from_state", sa.String(), nullable=True),
        sa.Column("to_state", sa.String(), nullable=True),
        sa.Column("note", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alert.id"], name="fk_alert_event_alert_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_alert_event"),
    )
    op.create_index(
        "ix_alert_event_alert_id", "alert_event", ["alert_id"], unique=False
    )


def _attempt() -> None:
    op.create_table(
        "attempt",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("lease_token_sha256", sa.String(), nullable=False),
        sa.Column("leased_at", base.Timestamp(), nullable=False),
        sa.Column("lease_expires_at", base.Timestamp(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("last_seq", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_attempt_job_id"),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_attempt"),
    )


def _comparison() -> None:
    op.create_table(
        "comparison",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("reference", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("params_key", sa.String(), nullable=False),
        sa.Column("demonstration", sa.Boolean(), nullable=False),
        sa.Column("ratio", sa.Float(), nullable=True),
        sa.Column("lower", sa.Float(), nullable=True),
        sa.Column("upper", sa.Float(), nullable=True),
        sa.Column("share_slower", sa.Float(), nullable=True),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("evidence", JSON, nullable=False),
        sa.Column("measured_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_comparison_job_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_comparison_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_comparison"),
    )
    op.create_index("ix_comparison_job_id", "comparison", ["job_id"], unique=False)
    op.create_index(
        "ix_comparison_latest",
        "comparison",
        ["suite", "benchmark", "target_id", "measured_at"],
        unique=False,
    )
    op.create_index("ix_comparison_run_id", "comparison", ["run_id"], unique=False)


def _conditions() -> None:
    op.create_table(
        "conditions",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("phase", sa.String(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("values", JSON, nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_conditions_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_conditions"),
    )


def _item() -> None:
    op.create_table(
        "item",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_item_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_item"),
    )


def _job_report() -> None:
    op.create_table(
        "job_report",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_job_report_job_id"),
        sa.PrimaryKeyConstraint("job_id", "batch", name="pk_job_report"),
    )


def _log_chunk() -> None:
    op.create_table(
        "log_chunk",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("stream", sa.String(), nullable=False),
        sa.Column("lines", JSON, nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_log_chunk_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_log_chunk"),
    )


def _sample_chunk() -> None:
    op.create_table(
        "sample_chunk",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("launch", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("phase", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("values", base.FloatVector(), nullable=False),
        sa.Column("rounds", sa.LargeBinary(), nullable=False),
        sa.Column("positions", sa.LargeBinary(), nullable=False),
        sa.Column("iterations", sa.LargeBinary(), nullable=False),
        sa.Column("t_ns", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_sample_chunk_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_sample_chunk"),
    )
    op.create_index(
        "ix_sample_chunk_case",
        "sample_chunk",
        ["job_id", "benchmark", "arm"],
        unique=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(COMPRESS_FAST)


def _stream_event() -> None:
    op.create_table(
        "stream_event",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("launch", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("event", JSON, nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_stream_event_job_id"),
        sa.PrimaryKeyConstraint("job_id", "attempt", "seq", name="pk_stream_event"),
    )


def _finding() -> None:
    op.create_table(
        "finding",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("alert_id", sa.String(), nullable=True),
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("parameters", JSON, nullable=False),
        sa.Column("filters", JSON, nullable=False),
        sa.Column("window", JSON, nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], name="fk_finding_alert_id"),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name="fk_finding_comparison_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_finding"),
    )
    op.create_index("ix_finding_alert_id", "finding", ["alert_id"], unique=False)
    op.create_index("ix_finding_job_id", "finding", ["job_id"], unique=False)


def upgrade() -> None:
    _run()
    _alert()
    _job()
    _alert_event()
    _attempt()
    _comparison()
    _conditions()
    _item()
    _job_report()
    _log_chunk()
    _sample_chunk()
    _stream_event()
    _finding()


def downgrade() -> None:
    for table in reversed(MADE):
        op.drop_table(table)
