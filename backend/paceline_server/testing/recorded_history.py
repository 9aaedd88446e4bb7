"""Writes a history as rows (series, points, changes, alerts) and calls the API about them.

Used by the tests of rules, triage and their command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import ids
from paceline_server.kernel.clock import FrozenClock
from paceline_server.runtime import handlers
from paceline_server.store.session import session_scope
from paceline_server.store.tables.decisions import Alert, AlertEvent
from paceline_server.store.tables.history import (
    Change,
    Fingerprint,
    Series,
    SeriesPoint,
)
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.testing.scripted_agent import PREFIX
from paceline_server.testing.sorting_suite import suite_manifest

DAY_S = 86_400.0


@dataclass
class RecordedHistory:
    """One target, a clock that stands still, and someone who may read and triage."""

    client: Any
    clock: FrozenClock
    target_id: str
    headers: Mapping[str, str]
    _numbers: list[int] = field(default_factory=lambda: [0])

    def _ask(
        self,
        method: str,
        path: str,
        status: int,
        headers: Mapping[str, str] | None,
        **sent: Any,
    ) -> Any:
        answer = self.client.request(
            method,
            f"{PREFIX}{path}",
            headers=dict(self.headers if headers is None else headers),
            **sent,
        )
        if answer.status_code != status:
            raise AssertionError(
                f"{method} {path}: expected {status}: {answer.status_code} {answer.text}"
            )
        return answer.json() if answer.content else None

    def get(
        self,
        path: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Any:
        return self._ask("GET", path, status, headers, params=query)

    def post(
        self,
        path: str,
        body: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self._ask("POST", path, status, headers, json=body)

    def put(
        self,
        path: str,
        body: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self._ask("PUT", path, status, headers, json=body)

    def delete(
        self, path: str, *, status: int = 204, headers: Mapping[str, str] | None = None
    ) -> Any:
        return self._ask("DELETE", path, status, headers)

    def series(
        self,
        values: Sequence[float] = (),
        *,
        benchmark: str = "ledger_batch",
        target_id: str | None = None,
        every_s: float = DAY_S,
        **changes: Any,
    ) -> str:
        """A series whose newest point was measured just now and the others `every_s` apart; its id."""
        on, at = target_id or self.target_id, clock_module.now()
        jobs = [
            self._job(on, at - timedelta(seconds=every_s * back))
            for back in range(len(values))
        ][::-1]
        with session_scope() as session:
            if session.get(Fingerprint, "f" * 64) is None:
                session.add(Fingerprint(hash="f" * 64, factors={}, first_seen_at=at))
            row = Series(
                **{
                    "id": ids.new_id("ser"),
                    "suite": "hashing",
                    "benchmark": benchmark,
                    "arm": "native",
                    "params": {},
                    "params_key": "{}",
                    "metric": "time",
                    "unit": "ns",
                    "direction": "lower",
                    "target_id": on,
                    "branch": "main",
                    "created_at": at,
                    "last_at": at,
                    **changes,
                }
            )
            session.add(row)
            session.flush()
            for (run_id, job_id, measured), value in zip(jobs, values, strict=True):
                session.add(
                    SeriesPoint(
                        series_id=row.id,
                        job_id=job_id,
                        run_id=run_id,
                        at=measured,
                        commit=job_id[-12:],
                        artifact_hash=None,
                        fingerprint="f" * 64,
                        value=value,
                        lower=value,
                        upper=value,
                        n=100,
                        launches=5,
                        excluded=None,
                        conditions={},
                    )
                )
            return row.id

    def _job(self, target_id: str, at: Any) -> tuple[str, str, Any]:
        run_id, job_id = ids.new_id("run"), ids.new_id("job")
        with session_scope() as session:
            session.add(
                Run(
                    id=run_id,
                    suite="hashing",
                    repository="r",
                    manifest_path="suite.toml",
                    manifest=suite_manifest(),
                    commit=job_id[-12:],
                    branch="main",
                    base_commit=None,
                    trigger="schedule",
                    state="done",
                    verdict="pass",
                    reason=None,
                    demonstration=False,
                    benchmarks=[],
                    params={},
                    knobs={},
                    launches=5,
                    rounds=20,
                    min_time_ns=1,
                    created_by="test",
                    created_at=at,
                    finished_at=at,
                )
            )
            session.flush()
            session.add(
                Job(
                    id=job_id,
                    run_id=run_id,
                    target_id=target_id,
                    state="done",
                    attempt=1,
                    batch=0,
                    requeues=0,
                    seed=1,
                    verdict="pass",
                    partial=False,
                    samples=0,
                    not_before=at,
                    created_at=at,
                )
            )
        return run_id, job_id, at

    def change(self, series_id: str, index: int, effect: float, **changes: Any) -> str:
        """A change of a series at its point `index` (negative: from the end); its id."""
        at = clock_module.now()
        with session_scope() as session:
            points = sorted(
                (
                    one
                    for one in session.query(SeriesPoint).filter_by(series_id=series_id)
                ),
                key=lambda one: one.at,
            )
            row = Change(
                **{
                    "id": ids.new_id("chg"),
                    "series_id": series_id,
                    "state": "standing",
                    "job_id": points[index].job_id,
                    "before_commit": points[index - 1].commit,
                    "commit": points[index].commit,
                    "direction": "slower" if effect > 0 else "faster",
                    "level_before": 1.0,
                    "level_after": 1.0 + effect,
                    "effect": effect,
                    "lower": effect,
                    "upper": effect,
                    "p_value": 1e-6,
                    "evaluations": 3,
                    "cause": None,
                    "evidence": _evidence(points, index % len(points)),
                    "alert_id": None,
                    "found_at": at,
                    "updated_at": at,
                    **changes,
                }
            )
            session.add(row)
            return row.id

    def alert(self, state: str, *, opened: bool = True, **changes: Any) -> str:
        """An alert that is in `state` and, unless it never was, had been opened; its id."""
        self._numbers[0] += 1
        at = clock_module.now()
        with session_scope() as session:
            row = Alert(
                **{
                    "id": ids.new_id("alt"),
                    "cause_key": json.dumps(["test", self._numbers[0]]),
                    "state": state,
                    "title": f"native slower: ledger_batch on lab-1 ({self._numbers[0]})",
                    "suite": "hashing",
                    "kind": "history",
                    "cause": "code",
                    "benchmark": "ledger_batch",
                    "arm": "native",
                    "reference": "base",
                    "metric": "time",
                    "target_id": self.target_id,
                    "demonstration": False,
                    "base_commit": "a" * 40,
                    "head_commit": "b" * 40,
                    "shadow": False,
                    "rule": {
                        "name": "default-history",
                        "version": 1,
                        "text": "It got slower.",
                    },
                    "words": "6.0 % slower",
                    "ratio": 1.06,
                    "lower": 1.05,
                    "upper": 1.07,
                    "run_id": "run_x",
                    "created_at": at,
                    "updated_at": at,
                    **changes,
                }
            )
            session.add(row)
            session.flush()
            if opened and state not in ("suspected", "unconfirmed", "inconclusive"):
                session.add(
                    AlertEvent(
                        id=ids.new_id("aev"),
                        alert_id=row.id,
                        at=at,
                        actor="paceline",
                        action="confirm",
                        from_state="suspected",
                        to_state="open",
                        note=None,
                    )
                )
            return row.id


def _evidence(points: Sequence[SeriesPoint], index: int) -> dict[str, Any]:
    """As detection stores it, of a method that does not exist."""
    return {
        "method": "test",
        "parameters": {},
        "filters": [],
        "window": [point.job_id for point in points],
        "index": index,
        "location": [index, index],
        "n_before": index,
        "n_after": len(points) - index,
    }


def chronicle(
    client: Any,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    headers: Mapping[str, str],
) -> RecordedHistory:
    """A past on one target called `lab-1`; `enrolled` is the fixture."""
    handlers.load()
    return RecordedHistory(client, clock, enrolled("lab-1").target_id, headers)
