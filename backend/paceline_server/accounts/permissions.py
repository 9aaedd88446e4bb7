"""Lists the permissions of Paceline and the lowest role that has each. No other table decides who may do what.

ARCHITECTURE.md shows the same table, and a test compares the two. A role has the permissions of lower roles. Routes
require a permission; tokens hold some of their maker's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Role = Literal["viewer", "triager", "maintainer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)

Permission = Literal[
    "project.read",
    "members.read",
    "audit.read",
    "alerts.triage",
    "annotations.write",
    "benchmarks.write",
    "rules.write",
    "runs.create",
    "targets.use",
    "imports.write",
    "schedules.write",
    "channels.write",
    "members.write",
    "tokens.write",
    "project.write",
    "installation.admin",
    "agent",
]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)

LOWEST_ROLE: Mapping[Permission, Role | Literal["installation", "agent"]] = {
    "project.read": "viewer",
    "members.read": "viewer",
    "audit.read": "viewer",
    "alerts.triage": "triager",
    "annotations.write": "triager",
    "benchmarks.write": "triager",
    "rules.write": "triager",
    "runs.create": "maintainer",
    "targets.use": "maintainer",
    "imports.write": "maintainer",
    "schedules.write": "maintainer",
    "channels.write": "maintainer",
    "members.write": "admin",
    "tokens.write": "admin",
    "project.write": "admin",
    "installation.admin": "installation",
    "agent": "agent",
}
"""The lowest role with each permission. `installation`: only admins of the installation have it; `agent`: only agents'
credentials."""

ANONYMOUS_PERMISSIONS: frozenset[Permission] = frozenset({"project.read"})
"""Permissions of an anonymous reader in a public project."""


def of_role(role: str) -> frozenset[Permission]:
    """Return the permissions of a role in its project. Raises ValueError for an unknown role."""
    rank = ROLES.index(role)
    return frozenset(
        permission
        for permission, first in LOWEST_ROLE.items()
        if first in ROLES and ROLES.index(first) <= rank
    )


OF_INSTALLATION_ADMIN: frozenset[Permission] = of_role("admin") | {"installation.admin"}
"""Permissions of an admin of the installation in every project."""


def keep_known(names: Iterable[str]) -> frozenset[Permission]:
    """Return those of `names` that are permissions; a stored token may name one that no longer exists."""
    held = set(names)
    return frozenset(permission for permission in PERMISSIONS if permission in held)
