"""Jobs say which benchmarks they did not measure again, because base and head have them in common.

Revision ID: 0027
Revises: 0026
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    document = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.add_column("job", sa.Column("unaffected", document, nullable=True))


def downgrade() -> None:
    op.drop_column("job", "unaffected")
