"""Runs say whether their points count in history and whether people hear of what is found there, and imports which of them
a corrected file replaced. What was imported before does not count.

Revision ID: 0030
Revises: 0029
"""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

MEASUREMENT = "ix_import_document_measurement"


def upgrade() -> None:
    for name in ("judged", "notifies"):
        column = sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.true())
        op.add_column("run", column)
    run = sa.table("run", sa.column("trigger"), sa.column("judged", sa.Boolean()))
    op.execute(run.update().where(run.c.trigger == "import").values(judged=False))
    op.add_column("import_document", sa.Column("measurement", sa.String()))
    op.add_column("import_document", sa.Column("replaced_by", sa.String()))
    op.create_index(MEASUREMENT, "import_document", ["project_id", "measurement"])


def downgrade() -> None:
    op.drop_index(MEASUREMENT, "import_document")
    op.drop_column("import_document", "replaced_by")
    op.drop_column("import_document", "measurement")
    op.drop_column("run", "notifies")
    op.drop_column("run", "judged")
