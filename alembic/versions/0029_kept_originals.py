"""Imports keep the bytes of the file that they were read from. Those of before kept none.

Revision ID: 0029
Revises: 0028
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("import_document", sa.Column("original", sa.LargeBinary()))
    op.add_column("import_document", sa.Column("original_bytes", sa.Integer()))


def downgrade() -> None:
    op.drop_column("import_document", "original_bytes")
    op.drop_column("import_document", "original")
