"""Limits requests by row-level security on PostgreSQL, in addition to `store/visibility.py` (I18).

Requests run in the role `ROLE`, which owns nothing, cannot bypass the policies and has no rights on sessions and
sign-in links. The policies compare rows with settings of the transaction. Migration 0012 makes role and policies; a
later migration that adds a table of projects calls `protect`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, text

from paceline_server.store.access import Access

ROLE = "paceline_request"
PROJECTS = "string_to_array(current_setting('paceline.projects', true), ',')"
FLEET = "current_setting('paceline.fleet', true) = 'on'"
IN_PROJECT = f"project_id = ANY ({PROJECTS})"
GRANTED = (
    f"SELECT target_grant.target_id FROM target_grant WHERE target_grant.{IN_PROJECT}"  # noqa: S608 - constants
)

_LIMIT = text(
    "SELECT set_config('paceline.projects', :projects, true), set_config('paceline.fleet', :fleet, true), "
    "set_config('role', :role, true)"
)


def limit_transaction(connection: Connection, limits: Access) -> None:
    """Limit a transaction that has just begun to the role of requests and the projects of its access."""
    connection.execute(
        _LIMIT,
        {
            "projects": ",".join(limits.projects or ()),
            "fleet": "on" if limits.has_fleet else "off",
            "role": ROLE,
        },
    )


def protect(table: str, visible: str) -> Iterable[str]:
    """Return the statements that hide rows of a table unless the condition `visible` holds."""
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"CREATE POLICY of_projects ON {table} USING ({visible}) WITH CHECK ({visible})"


def release(table: str) -> Iterable[str]:
    """Return the statements that undo `protect`."""
    yield f"DROP POLICY of_projects ON {table}"
    yield f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
