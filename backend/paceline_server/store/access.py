"""Says which projects the current work may read and write; every transaction takes its limits from here (I18).

A request, a message of the outbox or a command runs with one `Access`. `store/session.py` gives it to each session it
opens, and `store/visibility.py` limits what that session reads and writes. Who gets which access is decided in
`accounts/admission.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

ACCESS = "access"
"""The key of a session's access in its `info`."""

DEFAULT_PROJECT_ID = "prj_default"
"""The project `default`, which a migration makes. A single user never needs another."""


@dataclass(frozen=True)
class Actor:
    """The author of changes, for the audit log. `kind`: account, token, agent, system or anonymous."""

    kind: str
    id: str | None
    name: str


@dataclass(frozen=True)
class Access:
    """The limits of a session.

    `projects`: ids of the projects it reads and writes; None: all of them. `project`: the project of new rows; None:
    each row must name its own. `has_fleet`: it sees every target and agent instead of those granted to its projects.
    `is_request`: on PostgreSQL it runs in a role that row-level security binds. `actor`: the author; None: the system.
    """

    projects: tuple[str, ...] | None
    project: str | None
    has_fleet: bool
    is_request: bool
    actor: Actor | None = None

    def includes(self, project_id: str) -> bool:
        """Return whether the session may read and write rows of a project."""
        return self.projects is None or project_id in self.projects

    def limit_to(self, project_id: str) -> Access:
        """Return the same access, limited to one of its projects. Raises ForeignProjectError for another."""
        if not self.includes(project_id):
            raise ForeignProjectError(project_id)
        return replace(self, projects=(project_id,), project=project_id)


class ForeignProjectError(Exception):
    """A row of a project outside the session's access would have been written. This is a bug of ours."""

    def __init__(self, project_id: str) -> None:
        super().__init__(f"the project {project_id!r} is outside this session's access")


class NoProjectError(Exception):
    """A session of several projects added a row without naming its project. This is a bug of ours."""


SYSTEM = Access(None, None, has_fleet=True, is_request=False)
"""The access of sweepers, migrations and the command line."""
NO_ACCESS = Access((), None, has_fleet=False, is_request=True)
"""The access of requests without an identity, for example to a public route."""

_current: ContextVar[Access] = ContextVar("access", default=SYSTEM)


def current() -> Access:
    """Return the access of the work in progress."""
    return _current.get()


def of_request(project_id: str, actor: Actor) -> Access:
    """Return the access of a person or a program in one project."""
    return Access((project_id,), project_id, False, True, actor)


def of_agent(project_ids: tuple[str, ...], actor: Actor) -> Access:
    """Return the access of an agent: the projects it acts for, and the fleet."""
    only = project_ids[0] if len(project_ids) == 1 else None
    return Access(project_ids, only, True, True, actor)


def of_project(project_id: str) -> Access:
    """Return the access of background work in one project."""
    return Access((project_id,), project_id, has_fleet=True, is_request=False)


@contextmanager
def using(access: Access) -> Iterator[None]:
    """Open the sessions of this block, in this thread or task, with `access`."""
    token = _current.set(access)
    try:
        yield
    finally:
        _current.reset(token)


def system() -> Access:
    """Return an access without limits that keeps the current author."""
    return replace(SYSTEM, actor=current().actor)


def as_system() -> AbstractContextManager[None]:
    """Open the sessions of this block without limits. Each use is an exception to I18."""
    return using(system())


def of_session(session: Session) -> Access:
    """Return the access a session was opened with."""
    access: Access = session.info[ACCESS]
    return access


def enter_project(session: Session, project_id: str) -> None:
    """Limit a session to one project from now on; new rows belong to that project. Raises ForeignProjectError.

    Agents act for several projects; once a lease is known, the session is limited to its job's project.
    """
    session.info[ACCESS] = of_session(session).limit_to(project_id)


@contextmanager
def within_project(
    session: Session, project_id: str, *, has_fleet: bool = True
) -> Iterator[None]:
    """Limit a session to one project in this block, whose new rows are flushed at its end.

    Without `has_fleet`, the session sees only targets granted to the project.
    """
    before = of_session(session)
    enter_project(session, project_id)
    if not has_fleet:
        session.info[ACCESS] = replace(of_session(session), has_fleet=False)
    try:
        yield
        session.flush()
    finally:
        session.info[ACCESS] = before


@contextmanager
def acting_as(session: Session, actor: Actor) -> Iterator[None]:
    """Name the author of the changes in this block, for a session that began before anybody had signed in."""
    before = of_session(session)
    session.info[ACCESS] = replace(before, actor=actor)
    try:
        yield
        session.flush()
    finally:
        session.info[ACCESS] = before
