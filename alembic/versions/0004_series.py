"""Series and what is derived from them: points, noise floors, advice, schedules; A/B runs.

Samples and events stored before belong to no side: null.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def _fingerprint() -> None:
    op.create_table(
        "fingerprint",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("factors", JSON, nullable=False),
        sa.Column("first_seen_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_fingerprint"),
    )


def _series() -> None:
    op.create_table(
        "series",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("params_key", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("last_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_series_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_series"),
        sa.UniqueConstraint(
            "suite",
            "benchmark",
            "arm",
            "params_key",
            "metric",
            "target_id",
            "branch",
            name="series_key",
        ),
    )
    op.create_index("ix_series_target", "series", ["target_id", "suite", "benchmark"])


def _series_point() -> None:
    op.create_table(
        "series_point",
        sa.Column("series_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("artifact_hash", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("lower", sa.Float(), nullable=False),
        sa.Column("upper", sa.Float(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.String(), nullable=True),
        sa.Column("conditions", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["fingerprint"], ["fingerprint.hash"], name="fk_series_point_fingerprint"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_series_point_job_id"),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name="fk_series_point_series_id"
        ),
        sa.PrimaryKeyConstraint("series_id", "job_id", name="pk_series_point"),
    )
    op.create_index("ix_series_point_job_id", "series_point", ["job_id"])
    op.create_index(
        "ix_series_point_order", "series_point", ["series_id", "at", "job_id"]
    )


def _series_state() -> None:
    op.create_table(
        "series_state",
        sa.Column("series_id", sa.String(), nullable=False),
        sa.Column("evaluated_at", base.Timestamp(), nullable=False),
        sa.Column("last_job_id", sa.String(), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("segments", JSON, nullable=False),
        sa.Column("baseline_job_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name="fk_series_state_series_id"
        ),
        sa.PrimaryKeyConstraint("series_id", name="pk_series_state"),
    )


def _noise_floor() -> None:
    op.create_table(
        "noise_floor",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("params_key", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("mde", sa.Float(), nullable=False),
        sa.Column("lower", sa.Float(), nullable=False),
        sa.Column("upper", sa.Float(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("evidence", JSON, nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("measured_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_noise_floor_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_noise_floor"),
    )
    op.create_index("ix_noise_floor_job_id", "noise_floor", ["job_id"])
    op.create_index(
        "ix_noise_floor_key",
        "noise_floor",
        ["target_id", "suite", "benchmark", "measured_at"],
    )


def _policy_advice() -> None:
    op.create_table(
        "policy_advice",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("params_key", sa.String(), nullable=False),
        sa.Column("advice", sa.JSON(), nullable=False),
        sa.Column("in_force", sa.JSON(), nullable=False),
        sa.Column("holds", sa.Boolean(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("measured_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_policy_advice_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_policy_advice"),
    )
    op.create_index("ix_policy_advice_job_id", "policy_advice", ["job_id"])
    op.create_index(
        "ix_policy_advice_key",
        "policy_advice",
        ["target_id", "suite", "policy", "measured_at"],
    )


def _schedule() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("request", JSON, nullable=False),
        sa.Column("every_s", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("next_at", base.Timestamp(), nullable=False),
        sa.Column("last_run_id", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_schedule_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_schedule"),
        sa.UniqueConstraint("name", name="uq_schedule_name"),
    )
    op.create_index("ix_schedule_next_at", "schedule", ["next_at"])


def _retired_benchmark() -> None:
    op.create_table(
        "retired_benchmark",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("benchmark", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("retired_by", sa.String(), nullable=False),
        sa.Column("retired_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("suite", "benchmark", name="pk_retired_benchmark"),
    )


def _annotation() -> None:
    op.create_table(
        "annotation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("series_id", sa.String(), nullable=True),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("commit", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name="fk_annotation_series_id"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_annotation_target_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_annotation"),
    )
    for name in ("series_id", "target_id"):
        op.create_index(f"ix_annotation_{name}", "annotation", [name])


def upgrade() -> None:
    _fingerprint()
    _series()
    _series_point()
    _series_state()
    _noise_floor()
    _policy_advice()
    _schedule()
    _retired_benchmark()
    _annotation()
    for table in ("sample_chunk", "stream_event"):
        op.add_column(table, sa.Column("side", sa.String(), nullable=True))
    with op.batch_alter_table("run") as run:
        for name in ("base_commit", "bisection_id", "schedule_id"):
            run.add_column(sa.Column(name, sa.String(), nullable=True))
        for name in ("bisection_id", "schedule_id"):
            run.create_index(f"ix_run_{name}", [name])
    with op.batch_alter_table("job") as job:
        job.add_column(sa.Column("base_artifact_hash", sa.String(), nullable=True))
        job.add_column(sa.Column("commits", JSON, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("job") as job:
        job.drop_column("commits")
        job.drop_column("base_artifact_hash")
    for name in ("bisection_id", "schedule_id"):
        op.drop_index(f"ix_run_{name}", "run")
    with op.batch_alter_table("run") as run:
        for name in ("base_commit", "bisection_id", "schedule_id"):
            run.drop_column(name)
    for table in ("sample_chunk", "stream_event"):
        with op.batch_alter_table(table) as samples:
            samples.drop_column("side")
    op.drop_table("annotation")
    op.drop_table("retired_benchmark")
    op.drop_table("schedule")
    op.drop_table("policy_advice")
    op.drop_table("noise_floor")
    op.drop_table("series_state")
    op.drop_table("series_point")
    op.drop_table("series")
    op.drop_table("fingerprint")
