"""Runs of pull requests: the branch whose merge base is the base, the pull request, and whether the head is judged, too.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store.base import JsonOrNull

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("base_branch", sa.String(), nullable=True))
    op.add_column("run", sa.Column("pull_request", JsonOrNull, nullable=True))
    op.add_column(
        "run",
        sa.Column(
            "judges_head", sa.Boolean(), nullable=False, server_default=sa.false()
        ),
    )


def downgrade() -> None:
    for name in ("judges_head", "pull_request", "base_branch"):
        op.drop_column("run", name)
