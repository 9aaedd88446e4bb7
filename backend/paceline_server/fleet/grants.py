"""Decides what a grant allows: which targets and repositories an agent may announce, in which projects.

An enrolment code carries the grant and the agent keeps it (I19). Patterns are stored in their canonical form, so an
admin reads exactly what is compared. Access to projects is decided in `accounts/admission.py` from the same grant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, NamedTuple

from paceline_contract.locations import MAX_LOCATION, canonical_pattern
from pydantic import AfterValidator, StringConstraints

from paceline_server.store.tables.fleet import Granted

EVERY_TARGET = "*"
TARGET_PATTERN = re.compile(r"(host|device|\*):(.+)", re.DOTALL)


class Grant(NamedTuple):
    """Ids of projects, and patterns of repositories and targets in their canonical form."""

    projects: list[str]
    repositories: list[str]
    targets: list[str]


def canonical_target_pattern(text: str) -> str:
    """Return the canonical form of a pattern of targets; `*` stands for anything. Raises ValueError."""
    text = re.sub(r"\*+", "*", text)
    if text != EVERY_TARGET and TARGET_PATTERN.fullmatch(text) is None:
        raise ValueError(
            f"{text!r} names no targets: expected `*`, or host: or device: and a serial number, "
            "in which * stands for anything"
        )
    return text


RepositoryPattern = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_LOCATION),
    AfterValidator(canonical_pattern),
]
TargetPattern = Annotated[
    str,
    StringConstraints(min_length=1, max_length=300),
    AfterValidator(canonical_target_pattern),
]


def may_announce_target(granted: Granted, kind: str, serial: str) -> bool:
    """Return whether a grant names this target."""
    return any(
        _expression(pattern).fullmatch(f"{kind}:{serial}") is not None
        for pattern in granted.granted_targets
    )


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def assign_grant(granted: Granted, grant: Grant) -> None:
    """Replace the grant of an agent or an enrolment code."""
    granted.granted_projects = grant.projects
    granted.granted_repositories = grant.repositories
    granted.granted_targets = grant.targets


def describe(patterns: Sequence[str]) -> str:
    """Return patterns as a list for a sentence."""
    return ", ".join(patterns) or "nothing"
