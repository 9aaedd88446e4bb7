"""When a suite was run last is read from an index alone.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_run_suite", table_name="run")
    op.create_index("ix_run_suite", "run", ["suite", "trigger", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_run_suite", table_name="run")
    op.create_index("ix_run_suite", "run", ["suite"])
