"""People, suites, agents and messages.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from paceline_server.store import base
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

MADE = (
    "account",
    "agent",
    "enrolment_code",
    "incident",
    "live_event",
    "outbox",
    "sign_in_throttle",
    "suite",
    "suite_agent",
    "browser_session",
    "sign_in_link",
    "target",
    "token",
)
"""Tables in the order in which their references allow."""


def _account() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=True),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("email", name="uq_account_email"),
        sa.UniqueConstraint("name", name="uq_account_name"),
    )


def _agent() -> None:
    op.create_table(
        "agent",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("last_seen_at", base.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_agent"),
    )


def _enrolment_code() -> None:
    op.create_table(
        "enrolment_code",
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.Column("used_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("code_sha256", name="pk_enrolment_code"),
    )


def _incident() -> None:
    op.create_table(
        "incident",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("detail", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_incident"),
    )


def _live_event() -> None:
    op.create_table(
        "live_event",
        sa.Column("id", SERIAL, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", base.Timestamp(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.Column("data", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_live_event"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_live_event_run_id", "live_event", ["run_id"], unique=False)


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", SERIAL, autoincrement=True, nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("due_at", base.Timestamp(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("done_at", base.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outbox_pending",
        "outbox",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("done_at IS NULL"),
        postgresql_where=sa.text("done_at IS NULL"),
    )


def _sign_in_throttle() -> None:
    op.create_table(
        "sign_in_throttle",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("blocked_until", base.Timestamp(), nullable=True),
        sa.Column("updated_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sign_in_throttle"),
    )


def _suite() -> None:
    op.create_table(
        "suite",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("manifest_path", sa.String(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("manifest_hash", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("updated_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_suite"),
    )


def _suite_agent() -> None:
    op.create_table(
        "suite_agent",
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("seen_at", base.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("suite", "agent_id", name="pk_suite_agent"),
    )


def _browser_session() -> None:
    op.create_table(
        "browser_session",
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_browser_session_account_id"
        ),
        sa.PrimaryKeyConstraint("token_sha256", name="pk_browser_session"),
    )
    op.create_index(
        "ix_browser_session_account_id", "browser_session", ["account_id"], unique=False
    )


def _sign_in_link() -> None:
    op.create_table(
        "sign_in_link",
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("expires_at", base.Timestamp(), nullable=False),
        sa.Column("used_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_sign_in_link_account_id"
        ),
        sa.PrimaryKeyConstraint("token_sha256", name="pk_sign_in_link"),
    )


def _target() -> None:
    op.create_table(
        "target",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("serial", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("hold", sa.String(), nullable=True),
        sa.Column("hold_reason", sa.String(), nullable=True),
        sa.Column("refuses", sa.String(), nullable=True),
        sa.Column("factors", JSON, nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("preflight", JSON, nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("last_seen_at", base.Timestamp(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agent.id"], name="fk_target_agent_id"),
        sa.PrimaryKeyConstraint("id", name="pk_target"),
        sa.UniqueConstraint("kind", "serial", name="uq_target_kind_serial"),
    )
    op.create_index("ix_target_agent_id", "target", ["agent_id"], unique=False)


def _token() -> None:
    op.create_table(
        "token",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("account_id", sa.String(), nullable=True),
        sa.Column("agent_id", sa.String(), nullable=True),
        sa.Column("created_at", base.Timestamp(), nullable=False),
        sa.Column("last_used_at", base.Timestamp(), nullable=True),
        sa.Column("expires_at", base.Timestamp(), nullable=True),
        sa.Column("revoked_at", base.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_token_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
        sa.UniqueConstraint("secret_sha256", name="uq_token_secret_sha256"),
    )
    op.create_index("ix_token_agent_id", "token", ["agent_id"], unique=False)


def upgrade() -> None:
    _account()
    _agent()
    _enrolment_code()
    _incident()
    _live_event()
    _outbox()
    _sign_in_throttle()
    _suite()
    _suite_agent()
    _browser_session()
    _sign_in_link()
    _target()
    _token()


def downgrade() -> None:
    for table in reversed(MADE):
        op.drop_table(table)
