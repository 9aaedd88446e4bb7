"""Old printed texts are removed."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import upkeep
from paceline_server.kernel.clock import FrozenClock
from paceline_server.runtime import sweeper
from paceline_server.store.session import read_scope
from paceline_server.store.tables.samples import ConditionsRow
from paceline_server.testing.scripted_agent import PREFIX, LeasedJob, conditions_item
from sqlalchemy import func, null, select

from .test_raw import THERMAL, with_raw

pytestmark = pytest.mark.shapes("embedded", "scaled")


def with_texts() -> int:
    """Rows in the index of those that have any."""
    with read_scope() as session:
        query = select(func.count()).where(ConditionsRow.raw.is_not(null()))
        return session.scalars(query).one()


def test_printed_texts_are_removed_after_a_quarter_and_values_stay(
    client: TestClient, clock: FrozenClock, leased: LeasedJob, ci: dict[str, str]
) -> None:
    leased.send(with_raw(0, THERMAL), conditions_item(1, load=1), with_raw(2, THERMAL))
    assert with_texts() == 2
    leased.finish(2)
    path = f"{PREFIX}/jobs/{leased.job_id}/conditions?expand=raw"
    before = client.get(path, headers=ci).json()["items"]
    clock.advance(upkeep.KEEP_RAW.total_seconds() - 1)
    assert upkeep.delete_raw() == 0
    assert client.get(path, headers=ci).json()["items"] == before
    clock.advance(2)
    sweeper.prune()
    after: list[dict[str, Any]] = client.get(path, headers=ci).json()["items"]
    assert after == [{**conditions, "raw": None} for conditions in before]
    assert (with_texts(), upkeep.delete_raw()) == (0, 0)


@pytest.mark.shapes("embedded")
def test_an_unfinished_job_ages_from_its_request(
    clock: FrozenClock, leased: LeasedJob
) -> None:
    leased.send(with_raw(0, THERMAL))
    clock.advance(upkeep.KEEP_RAW.total_seconds() + 1)
    assert (upkeep.delete_raw(), with_texts()) == (1, 0)
