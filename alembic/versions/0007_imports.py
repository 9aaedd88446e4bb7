"""Documents imported from other tools' output.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "import_document",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("note_count", sa.Integer(), nullable=False),
        sa.Column("imported_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_import_document"),
        sa.UniqueConstraint("digest", name="uq_import_document_digest"),
    )
    op.create_index("ix_import_document_sha256", "import_document", ["sha256"])
    op.create_index("ix_import_document_created_at", "import_document", ["created_at"])


def downgrade() -> None:
    op.drop_index("ix_import_document_created_at", "import_document")
    op.drop_index("ix_import_document_sha256", "import_document")
    op.drop_table("import_document")
