"""Targets of which only imported figures are known.

Place: beside `announced`, called by imports through `service`. Invariants: such a target has no program: its
agent is one row that never beats, so it is offline for ever, refuses work and says why; no agent can take it
over, for none announces its serial.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.kernel import clock
from paceline_server.kernel.ids import new_id, sha256_hex
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target

KIND = "host"
WHY = "its figures were imported from another tool: no agent drives it"


def imported_target(session: Session, name: str) -> Target:
    """The target that imported figures of `name` are of; made the first time."""
    serial, at = f"import:{name}", clock.now()
    queries.insert_agent_once(
        session,
        {
            "id": IMPORTS_AGENT,
            "name": "imports",
            "version": "",
            "created_at": at,
            "last_seen_at": None,
        },
    )
    fresh = {
        "id": new_id("tgt"),
        "kind": KIND,
        "serial": serial,
        "name": name,
        "agent_id": IMPORTS_AGENT,
        "refuses": WHY,
        "factors": {},
        "fingerprint": sha256_hex(serial),
        "preflight": [],
        "simulated": False,
        "last_seen_at": None,
        "created_at": at,
    }
    queries.insert_target_once(session, fresh)
    return queries.lock_announced(session, [(KIND, serial)])[KIND, serial]
