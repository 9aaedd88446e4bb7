"""All tables, imported so that the metadata is complete for Alembic and tests."""

from paceline_server.store.tables import (
    accounts,
    catalog,
    channels,
    decisions,
    fleet,
    history,
    imports,
    jobs,
    messages,
    projects,
    requests,
    rules,
    samples,
)

__all__ = [
    "accounts",
    "catalog",
    "channels",
    "decisions",
    "fleet",
    "history",
    "imports",
    "jobs",
    "messages",
    "projects",
    "requests",
    "rules",
    "samples",
]
