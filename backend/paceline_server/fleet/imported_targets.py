"""Creates the targets that imported figures belong to.

Such a target has no agent process: it belongs to one agent row that never sends a heartbeat, so the target
stays offline and refuses jobs. It is bound to that row, so an agent that announces its serial is refused.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.kernel import clock
from paceline_server.kernel.ids import new_id, sha256_hex
from paceline_server.store import access
from paceline_server.store.session import including_fleet
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target

KIND = "host"
REFUSAL = "its figures were imported from another tool: no agent drives it"


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
