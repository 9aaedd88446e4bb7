"""People sign in: invitations, reset links, sessions per device with an idle limit, names that look alike.

Sessions go on with an unknown device and the idle limit counted from now. An account whose name is another's in other
letters gets a number behind its name.

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import sqlalchemy as sa
from paceline_server.store import base, row_security

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _invite()
    _list_sessions()
    with op.batch_alter_table("sign_in_link") as batch:
        batch.add_column(
            sa.Column("purpose", sa.String(), nullable=False, server_default="sign_in")
        )
        batch.create_index("ix_sign_in_link_account_id", ["account_id"])
    with op.batch_alter_table("sign_in_link") as batch:
        batch.alter_column("purpose", server_default=None)
    with op.batch_alter_table("account") as batch:
        batch.add_column(sa.Column("name_key", sa.String(), nullable=True))
    _fold_names()
    with op.batch_alter_table("account") as batch:
        batch.alter_column("name_key", existing_type=sa.String(), nullable=False)
        batch.drop_constraint("uq_account_name", type_="unique")
        batch.create_unique_constraint("uq_account_name_key", ["name_key"])


def _invite() -> None:
    op.create_table(
        "invitation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.Column("accepted_at", base.Timestamp(), nullable=True),
        sa.Column("accepted_by", sa.String(), nullable=True),
        sa.Column("revoked_at", base.Timestamp(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["accepted_by"], ["account.id"], name=op.f("fk_invitation_accepted_by")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_invitation_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_invitation_token_sha256")),
    )
    op.create_index("ix_invitation_project_id", "invitation", ["project_id", "id"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in row_security.protect("invitation", row_security.IN_PROJECT):
            op.execute(statement)


def _list_sessions() -> None:
    with op.batch_alter_table("browser_session") as batch:
        batch.add_column(sa.Column("id", sa.String(), nullable=True))
        batch.add_column(sa.Column("last_seen_at", base.Timestamp(), nullable=True))
        for name, before in (("method", "link"), ("device", ""), ("place", "")):
            batch.add_column(
                sa.Column(name, sa.String(), nullable=False, server_default=before)
            )
    at = sa.bindparam("at", datetime.now(UTC), type_=base.Timestamp())
    op.execute(
        sa.text(
            "UPDATE browser_session SET id = 'ses_' || substr(token_sha256, 1, 24), last_seen_at = :at"
        ).bindparams(at)
    )
    with op.batch_alter_table("browser_session") as batch:
        batch.alter_column("id", existing_type=sa.String(), nullable=False)
        batch.alter_column(
            "last_seen_at", existing_type=base.Timestamp(), nullable=False
        )
        for name in ("method", "device", "place"):
            batch.alter_column(name, server_default=None)
        batch.create_unique_constraint("uq_browser_session_id", ["id"])


def _fold_names() -> None:
    """Fill `name_key`, as `accounts/names.py` folded names when this was written."""
    connection = op.get_bind()
    taken: set[str] = set()
    for account_id, name in connection.execute(
        sa.text("SELECT id, name FROM account ORDER BY id")
    ).all():
        spelled, number = name, 1
        while (key := _folded(spelled)) in taken:
            number += 1
            spelled = f"{name} {number}"
        taken.add(key)
        connection.execute(
            sa.text("UPDATE account SET name = :name, name_key = :key WHERE id = :id"),
            {"name": spelled, "key": key, "id": account_id},
        )


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def downgrade() -> None:
    with op.batch_alter_table("account") as batch:
        batch.drop_constraint("uq_account_name_key", type_="unique")
        batch.create_unique_constraint("uq_account_name", ["name"])
        batch.drop_column("name_key")
    op.execute("DELETE FROM sign_in_link WHERE purpose <> 'sign_in'")
    with op.batch_alter_table("sign_in_link") as batch:
        batch.drop_index("ix_sign_in_link_account_id")
        batch.drop_column("purpose")
    with op.batch_alter_table("browser_session") as batch:
        batch.drop_constraint("uq_browser_session_id", type_="unique")
        for name in ("id", "last_seen_at", "method", "device", "place"):
            batch.drop_column(name)
    op.drop_table("invitation")
