"""All tables, imported so that the metadata is complete for Alembic and tests."""

from paceline_server.store.tables import (
    accounts,
    catalog,
    decisions,
    fleet,
    history,
    imports,
    jobs,
    messages,
    rules,
    samples,
)

__all__ = [
    "accounts",
    "catalog",
    "decisions",
    "fleet",
    "history",
    "imports",
    "jobs",
    "messages",
    "rules",
    "samples",
]
