"""Series whose names are a digest keep the text that they were named after.

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("series", sa.Column("title", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("series", "title")
