"""A target is bound to the agent that reached it first; agents can be revoked and replace their credentials.

Existing hosts, and devices that were reached, are bound to the agent that drives them now.

Revision ID: 0017
Revises: 0016
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base, row_security

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

VISIBLE = f"{row_security.FLEET} OR target_id IN ({row_security.GRANTED})"


def upgrade() -> None:
    with op.batch_alter_table("target") as batch:
        batch.add_column(sa.Column("bound_at", base.Timestamp(), nullable=True))
    op.execute(
        "UPDATE target SET bound_at = created_at WHERE kind = 'host' OR boot_id IS NOT NULL"
    )
    with op.batch_alter_table("agent") as batch:
        for column in ("revoked_at", "rotation_requested_at"):
            batch.add_column(sa.Column(column, base.Timestamp(), nullable=True))
    with op.batch_alter_table("enrolment_code") as batch:
        batch.add_column(sa.Column("replaces", sa.String(), nullable=True))
        batch.create_foreign_key(
            "fk_enrolment_code_replaces", "agent", ["replaces"], ["id"]
        )
    op.create_table(
        "target_claim",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("first_at", base.Timestamp(), nullable=False),
        sa.Column("last_at", base.Timestamp(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=True),
        sa.Column("decided_at", base.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_target_claim"),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name="fk_target_claim_target_id"
        ),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agent.id"], name="fk_target_claim_agent_id"
        ),
        sa.UniqueConstraint(
            "target_id", "agent_id", name="uq_target_claim_target_id_agent_id"
        ),
    )
    op.create_index("ix_target_claim_state_id", "target_claim", ["state", "id"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in row_security.protect("target_claim", VISIBLE):
            op.execute(statement)


def downgrade() -> None:
    op.drop_table("target_claim")
    with op.batch_alter_table("enrolment_code") as batch:
        batch.drop_constraint("fk_enrolment_code_replaces", type_="foreignkey")
        batch.drop_column("replaces")
    with op.batch_alter_table("agent") as batch:
        for column in ("revoked_at", "rotation_requested_at"):
            batch.drop_column(column)
    with op.batch_alter_table("target") as batch:
        batch.drop_column("bound_at")
