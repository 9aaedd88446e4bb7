"""Defines the principal of a request: who sent it, in which project, and what it may do there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paceline_server.accounts.permissions import Permission, Role
from paceline_server.store.access import Actor


@dataclass(frozen=True)
class ProjectHead:
    """The project of a request."""

    id: str
    name: str


@dataclass(frozen=True)
class Principal:
    """An account in a browser session, a token (of an account, of a service, of an agent), or anybody.

    `project`: None for an agent, which acts for several, and for a person without any.
    """

    name: str
    permissions: frozenset[Permission]
    via: Literal["session", "token", "nothing"]
    account_id: str | None
    token_id: str | None
    agent_id: str | None
    project: ProjectHead | None = None
    role: Role | None = None
    session_id: str | None = None

    def may(self, permission: Permission) -> bool:
        """Return whether the principal has `permission`."""
        return permission in self.permissions

    @property
    def actor(self) -> Actor:
        """The actor that the audit log names."""
        if self.agent_id is not None:
            return Actor("agent", self.agent_id, self.name)
        if self.token_id is not None:
            return Actor("token", self.token_id, self.name)
        if self.account_id is not None:
            return Actor("account", self.account_id, self.name)
        return Actor("anonymous", None, self.name)
