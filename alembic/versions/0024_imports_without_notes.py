"""Imports no longer count rows that a sentence of their document contradicts.

Revision ID: 0024
Revises: 0023
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_column("import_document", "note_count")


def downgrade() -> None:
    op.add_column(
        "import_document",
        sa.Column("note_count", sa.Integer(), nullable=False, server_default="0"),
    )
