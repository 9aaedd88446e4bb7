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
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.history import (
    Change,
    Fingerprint,
    Series,
    SeriesPoint,
)
from paceline_server.testing.scripted_agent import PREFIX
from paceline_server.testing.sorting_suite import suite_manifest
from paceline_server.testing.stored_jobs import store_finished_job

DAY_S = 86_400.0


@dataclass
class RecordedHistory:
    """The rows of one target, and a client that may read and triage; the clock is frozen."""

    client: Any
    clock: FrozenClock
    target_id: str
    headers: Mapping[str, str]
    _numbers: list[int] = field(default_factory=lambda: [0])

    def _request(
        self,
        method: str,
        path: str,
        status: int,
        headers: Mapping[str, str] | None,
        **options: Any,
    ) -> Any:
        answer = self.client.request(
            method,
            f"{PREFIX}{path}",
            headers=dict(self.headers if headers is None else headers),
            **options,
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
        return self._request("GET", path, status, headers, params=query)

    def post(
        self,
        path: str,
        body: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self._request("POST", path, status, headers, json=body)

    def put(
        self,
        path: str,
        body: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self._request("PUT", path, status, headers, json=body)

    def delete(
        self, path: str, *, status: int = 204, headers: Mapping[str, str] | None = None
    ) -> Any:
        return self._request("DELETE", path, status, headers)

    def series(
        self,
        values: Sequence[float] = (),
        *,
        benchmark: str = "ledger_batch",
        target_id: str | None = None,
        every_s: float = DAY_S,
        **changes: Any,
    ) -> str:
        """Store a series whose newest point is from now and the others `every_s` apart; returns its id."""
        on, at = target_id or self.target_id, clock_module.now()
        jobs = [
            store_finished_job(
                on,
                at - timedelta(seconds=every_s * back),
                suite="hashing",
                manifest=suite_manifest(),
            )
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
            for job, value in zip(jobs, values, strict=True):
                session.add(
                    SeriesPoint(
                        series_id=row.id,
                        job_id=job.id,
                        run_id=job.run_id,
                        at=job.created_at,
                        commit=job.id[-12:],
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

    def change(self, series_id: str, index: int, effect: float, **changes: Any) -> str:
        """Store a change of a series at its point `index` (negative: from the end); returns its id."""
        at = clock_module.now()
        with session_scope() as session:
            points = sorted(
                session.query(SeriesPoint).filter_by(series_id=series_id),
                key=lambda point: point.at,
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
        """Store an alert in `state`, with the event that opened it if its state implies one; returns its id."""
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
    """Evidence as detection stores it, with an unknown method."""
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


def record_history(
    client: Any,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    headers: Mapping[str, str],
) -> RecordedHistory:
    """Return an empty history of a target called `lab-1`; `enrolled` is the fixture."""
    handlers.load()
    return RecordedHistory(client, clock, enrolled("lab-1").target_id, headers)
