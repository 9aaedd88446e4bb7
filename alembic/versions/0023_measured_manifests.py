"""Runs keep what was read at their commits; points keep what their number means.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("base_manifest", sa.JSON(), nullable=True))
    for name in ("manifest_of_commit", "whole_suite"):
        op.add_column(
            "run",
            sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()),
        )
    op.add_column("series_point", sa.Column("declaration", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("series_point", "declaration")
    for name in ("whole_suite", "manifest_of_commit", "base_manifest"):
        op.drop_column("run", name)
