"""The principal of a request: who sent it and which scopes it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IMPLIED_BY_ADMIN = frozenset({"read", "ingest", "alerts:write", "admin"})
"""`agent` is never implied: only an agent's own credential speaks for it."""


@dataclass(frozen=True)
class Principal:
    """An account in a browser session, or a token (of an account, of a service, of an agent)."""

    name: str
    scopes: frozenset[str]
    via: Literal["session", "token"]
    account_id: str | None
    token_id: str | None
    agent_id: str | None

    def may(self, *scopes: str) -> bool:
        """Whether any of `scopes` is held."""
        held = self.scopes | IMPLIED_BY_ADMIN if "admin" in self.scopes else self.scopes
        return any(scope in held for scope in scopes)
