"""A run that failed or was cancelled has no verdict, unless a job of it was judged `fail`.

Runs of before were called inconclusive when a job of theirs failed, was lost or expired.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE run SET verdict = NULL WHERE state = 'failed' AND verdict = 'inconclusive'"
    )


def downgrade() -> None:
    op.execute(
        "UPDATE run SET verdict = 'inconclusive' WHERE state = 'failed' AND verdict IS NULL"
    )
