"""Creates the targets that imported figures belong to.

Such a target has no agent process: it belongs to one agent row that never sends a heartbeat, so the target
stays offline and refuses jobs. It is bound to that row, so an agent that announces its serial is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.kernel import clock
from paceline_server.kernel.ids import new_id, sha256_hex
from paceline_server.store import access
from paceline_server.store.session import including_fleet
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target

KIND = "host"
REFUSAL = "its figures were imported, and no agent drives it"
CHANGING = re.compile(
    r"load|avg|date|time|timestamp|uptime|commit|revision|mhz|ghz|freq|frequency|clock|temperature|battery|free"
    r"|available|used|pid|user|host|hostname|machine|node|runner|job|run"
)
"""Words in the names of facts that may differ between runs in one environment; a machine's name says nothing about it."""
RUNTIMES = frozenset(
    {"runtime", "python", "jdk", "jvm", "java", "dotnet", "go", "ruby", "node"}
)
"""Facts about a build that are about what runs it."""


def ensure_imported_target(session: Session, name: str) -> Target:
    """Return the target that holds imported figures of the machine `name`, granted to the session's project. It is
    created the first time."""
    serial, at = f"import:{name}", clock.now()
    with including_fleet(session):
        target = _add_target(session, name, serial, at)
    project_id = access.of_session(session).project
    if project_id is not None:
        queries.grant(session, [target.id], project_id, at)
    return target


def report_facts(
    session: Session,
    target: Target,
    about_target: Mapping[str, str],
    about_build: Mapping[str, str],
) -> str:
    """Return the fingerprint of what a document says about its target, and keep its facts.

    It leaves out what may differ at every run. Without any facts it is that of the target's name. The target itself keeps
    no facts, because several tools and projects may report about it.
    """
    factors = {
        **{name: fact for name, fact in about_target.items() if _is_steady(name)},
        **{name: fact for name, fact in about_build.items() if name in RUNTIMES},
    }
    if not factors:
        return sha256_hex(target.serial)
    fingerprint = sha256_hex(json.dumps([target.serial, factors], sort_keys=True))
    queries.remember_factors(session, fingerprint, factors, clock.now())
    return fingerprint


def _is_steady(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return not any(CHANGING.fullmatch(word) for word in words)


def _add_target(session: Session, name: str, serial: str, at: datetime) -> Target:
    queries.insert_once(
        session,
        Agent,
        {
            "id": IMPORTS_AGENT,
            "name": "imports",
            "version": "",
            "granted_projects": [],
            "granted_repositories": [],
            "granted_targets": [],
            "enrolled_by": None,
            "created_at": at,
            "last_seen_at": None,
        },
    )
    values = {
        "id": new_id("tgt"),
        "kind": KIND,
        "serial": serial,
        "name": name,
        "agent_id": IMPORTS_AGENT,
        "bound_at": at,
        "refuses": REFUSAL,
        "factors": {},
        "fingerprint": sha256_hex(serial),
        "preflight": [],
        "simulated": False,
        "last_seen_at": None,
        "created_at": at,
    }
    queries.insert_once(session, Target, values)
    return queries.lock_announced(session, [(KIND, serial)])[KIND, serial]
