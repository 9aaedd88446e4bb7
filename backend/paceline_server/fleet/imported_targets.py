"""Creates the targets that imported figures belong to.

Such a target has no agent process: it belongs to one agent row that never sends a heartbeat, so the target
stays offline and refuses jobs. No agent announces its serial, so none can take it over.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.kernel import clock
from paceline_server.kernel.ids import new_id, sha256_hex
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target

KIND = "host"
REFUSAL = "its figures were imported from another tool: no agent drives it"


def imported_target(session: Session, name: str) -> Target:
    """The target of imported figures for the machine `name`; created the first time."""
    serial, at = f"import:{name}", clock.now()
    queries.insert_once(
        session,
        Agent,
        {
            "id": IMPORTS_AGENT,
            "name": "imports",
            "version": "",
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
