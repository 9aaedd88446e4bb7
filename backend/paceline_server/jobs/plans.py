"""What a run asked for, kept in memory: its manifest as `SuiteDeclaration`, and whether it has sides.

Place: asked by every upload, so it must not load a manifest each time. Invariant: only what never changes
after a run was created is kept, so nothing here can be stale.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from sqlalchemy.orm import Session

from paceline_server.jobs.declarations import SuiteDeclaration, read_manifest
from paceline_server.store.tables.jobs import Run

MAX_PLANS = 256
"""Runs kept; the least recently used leaves first."""


@dataclass(frozen=True, slots=True)
class Plan:
    declared: SuiteDeclaration
    two_sided: bool = False
    """An A/B run: every sample says which side it is of."""


_plans: OrderedDict[str, Plan] = OrderedDict()
_lock = threading.Lock()


def plan_of(session: Session, run_id: str) -> Plan:
    """The plan of a run that exists."""
    with _lock:
        plan = _plans.get(run_id)
        if plan is not None:
            _plans.move_to_end(run_id)
            return plan
    run = session.get_one(Run, run_id)
    plan = Plan(read_manifest(run.manifest), run.base_commit is not None)
    with _lock:
        _plans[run_id] = plan
        while len(_plans) > MAX_PLANS:
            _plans.popitem(last=False)
    return plan
