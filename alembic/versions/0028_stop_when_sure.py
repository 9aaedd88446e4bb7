"""Runs say whether a benchmark whose verdict is certain is launched again. Those of before launched everything.

Revision ID: 0028
Revises: 0027
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "run",
        sa.Column(
            "stop_when_sure", sa.Boolean(), nullable=False, server_default=sa.false()
        ),
    )


def downgrade() -> None:
    op.drop_column("run", "stop_when_sure")
