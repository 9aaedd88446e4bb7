"""Defines the mixins of tables whose rows a person may see: rows of one project, and rows of a target.

A table gets `project_id` from its mixin; its default is the project of the session, so no code sets it. Reads are
limited by `store/visibility.py`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from paceline_server.store.access import ACCESS, NoProjectError

SESSION_INFO = "paceline_session_info"
"""The execution option that holds the `info` of a statement's session."""


def project_of_session(context: Any) -> str:
    """Return the project of the session, the default of `project_id`. Raises NoProjectError in a session of several
    projects."""
    info = context.execution_options.get(SESSION_INFO)
    access = None if info is None else info[ACCESS]
    if access is None or access.project is None:
        table = context.compiled.statement.table.name
        raise NoProjectError(
            f"a row of {table} was added by a session of no single project: enter one first"
        )
    project: str = access.project
    return project


class Owned:
    """Base of every table with a `project_id`: a row's project is the session's, and never changes."""


class ProjectOwned(Owned):
    """Rows of one project."""

    @declared_attr
    @classmethod
    def project_id(cls) -> Mapped[str]:
        """Return the project of the row; set by the session that adds it."""
        return mapped_column(String, default=project_of_session)


class ProjectRoot(ProjectOwned):
    """Rows of one project that other rows refer to; the database checks that the project exists."""

    @declared_attr
    @classmethod
    def project_id(cls) -> Mapped[str]:
        """Return the project of the row; set by the session that adds it."""
        return mapped_column(ForeignKey("project.id"), default=project_of_session)


class ProjectKeyed(ProjectOwned):
    """Rows of one project whose key is unique only within it."""

    @declared_attr
    @classmethod
    def project_id(cls) -> Mapped[str]:
        """Return the project of the row; set by the session that adds it."""
        return mapped_column(
            ForeignKey("project.id"),
            primary_key=True,
            default=project_of_session,
            sort_order=-1,
        )


class PerhapsOwned(Owned):
    """Rows of one project, or of the installation (null), which no project sees."""

    @declared_attr
    @classmethod
    def project_id(cls) -> Mapped[str | None]:
        """Return the project of the row. A row of the installation is given `null()` explicitly."""
        return mapped_column(ForeignKey("project.id"), default=project_of_session)


class AboutTarget(Owned):
    """Rows of one project, or (null) of a target, seen by the projects that the target is granted to."""

    @declared_attr
    @classmethod
    def project_id(cls) -> Mapped[str | None]:
        """Return the project of the row. A row about a target is given `null()` explicitly."""
        return mapped_column(String, default=project_of_session)

    target_id: Mapped[str | None]


class TargetOwned:
    """Rows of a target: seen by the projects that the target is granted to."""

    target_id: Mapped[str] = mapped_column(String)
