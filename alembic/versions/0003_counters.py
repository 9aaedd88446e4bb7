"""What a timed region did, beside how long it took: counters of samples (C1 `work`).

Chunks stored before have none: null; nothing is rewritten.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")

COMPRESS_FAST = """
DO $$ BEGIN
  ALTER TABLE sample_chunk ALTER COLUMN work SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  RAISE NOTICE 'this PostgreSQL was built without lz4: uploads will be slower';
END $$
"""


def upgrade() -> None:
    with op.batch_alter_table("sample_chunk") as table:
        table.add_column(sa.Column("counters", JSON, nullable=True))
        table.add_column(sa.Column("work", sa.LargeBinary(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        op.execute(COMPRESS_FAST)


def downgrade() -> None:
    with op.batch_alter_table("sample_chunk") as table:
        table.drop_column("work")
        table.drop_column("counters")
