"""Why an agent refused an order; indexes by which old rows are found and histories are paged.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

RAW = "raw IS NOT NULL"


def upgrade() -> None:
    op.add_column("target_order", sa.Column("why", sa.String(), nullable=True))
    op.create_index(
        "ix_target_event_target_id_at_id", "target_event", ["target_id", "at", "id"]
    )
    op.create_index("ix_target_reading_at", "target_reading", ["at"])
    op.create_index(
        "ix_conditions_raw",
        "conditions",
        ["job_id"],
        sqlite_where=sa.text(RAW),
        postgresql_where=sa.text(RAW),
    )


def downgrade() -> None:
    op.drop_index("ix_conditions_raw", "conditions")
    op.drop_index("ix_target_reading_at", "target_reading")
    op.drop_index("ix_target_event_target_id_at_id", "target_event")
    with op.batch_alter_table("target_order") as order:
        order.drop_column("why")
