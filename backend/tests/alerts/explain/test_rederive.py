"""Tests that a stored finding can be computed again from stored samples, to the last bit, under changed constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.alerts import explanation as explain
from paceline_server.detect.changes.evaluation import Window, evaluate
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.stats.blocks import WarmPolicy
from paceline_server.stats.history import DEFAULT
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import SeriesPoint
from paceline_server.testing.delivered_jobs import Lab, open_lab
from sqlalchemy import select

PREFIX = "/api/v1"
NIGHTS_BEFORE, NIGHTS_AFTER = 14, 8
SMALL_JOB = {"launches": 3, "rounds": 10}


def _measure_night(lab: Lab, clock: FrozenClock, number: int, slower: float) -> None:
    """Measure, deliver and analyse one job; its native arm takes the share `slower` longer than on the first nights."""
    clock.advance(86_400)
    lab.request(
        commit=f"{number + 1:040x}",
        branch="main",
        params={"batch": [1000]},
        **SMALL_JOB,
    )
    noise = float(np.random.default_rng(number).normal(0.0, 0.004))

    def scale_cases(cases: list[Any]) -> list[Any]:
        """Give both arms the same level every night, because `job_cases` draws a level for each seed."""
        scaled_cases = []
        for case in cases:
            level = 5e5 * (1.0 + slower) if case.arm == "native" else 1e6
            scale = level * float(np.exp(noise)) / float(np.median(case.value))
            scaled_cases.append(replace(case, value=np.round(case.value * scale)))
        return scaled_cases

    lab.deliver({1000: -0.5}, seed=number, alter=scale_cases)
    outbox.drain()


@pytest.fixture
def alert(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> dict[str, Any]:
    """Make an alert about a step, and return its id with a client that may read it."""
    process_settings.set_current(
        process_settings.current().model_copy(update={"lease_s": 1e9})
    )
    lab = open_lab(client, enrolled, token)
    for number in range(NIGHTS_BEFORE + NIGHTS_AFTER):
        _measure_night(lab, clock, number, 0.1 if number >= NIGHTS_BEFORE else 0.0)
    (row,) = client.get(f"{PREFIX}/alerts", headers=token("read")).json()["items"]
    return {"client": client, "headers": token("read"), "id": row["id"]}


def _explain(alert: dict[str, Any], **query: Any) -> dict[str, Any]:
    path = f"{PREFIX}/alerts/{alert['id']}/explain"
    answer = alert["client"].get(path, headers=alert["headers"], params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def _finding() -> Finding:
    with read_scope() as session:
        query = select(Finding).where(
            Finding.series_id.is_not(None), Finding.role == "candidate"
        )
        return session.scalars(query).first() or pytest.fail("no finding")


def test_a_history_finding_is_the_same_again_to_the_last_bit(
    alert: dict[str, Any],
) -> None:
    explanation = _explain(alert, rederive=True)
    (finding,) = [
        finding for finding in explanation["findings"] if finding["role"] == "candidate"
    ]
    again = finding["rederived"]
    assert again["identical"], again["text"]
    count = len(_finding().window["job_ids"])
    assert (
        f"{count} points, {count} of them the same from the samples of their jobs: every"
        in again["text"]
    )
    stored = _finding().numbers or {}
    for name in (
        "effect",
        "lower",
        "upper",
        "p_value",
        "level_before",
        "level_after",
        "index",
    ):
        assert again["numbers"][name] == stored[name]
    assert _explain(alert)["findings"][0]["rederived"] is None


@pytest.mark.shapes("embedded")
def test_every_filter_has_its_number_its_limit_and_a_sentence(
    alert: dict[str, Any],
) -> None:
    explanation = _explain(alert)
    filters = {check["name"]: check for check in explanation["findings"][0]["filters"]}
    assert {
        "points_before",
        "points_after",
        "effect",
        "p_value",
        "shift_in_sigma",
    } <= filters.keys()
    assert all(
        check["passed"] and check["limit"] is not None and check["text"]
        for check in filters.values()
    )
    window = explanation["findings"][0]["window"]
    assert window["points"] == len(_finding().window["job_ids"])
    assert window["first_at"] < window["last_at"]
    assert explanation["sentence"].startswith(
        "On lab-1, native in sort_batch at batch=1000: "
    )
    assert "Rule default-history" in explanation["sentence"]
    assert (explanation["kind"], explanation["cause"]) == (
        "environment",
        "environment",
    ), "the lab delivers one artifact"
    assert (
        "the same artifact (aaaaaaaaaaaa) was measured before and after"
        in explanation["cause_text"]
    )


OLDER_CONSTANTS = replace(
    DEFAULT,
    location_mass=0.8,
    confidence=0.95,
    side_points=12.0,
    max_p=0.05,
    min_probability=0.3,
)
"""The constants of an imagined older version, which differ from this server's."""


def _replace_by_older_finding() -> str:
    """Replace the finding by the one that the older version would have stored."""
    warm = WarmPolicy(warmup_min_blocks=9, warmup_share=0.0)
    with session_scope() as session:
        finding = session.get_one(Finding, _finding().id)
        points = session.scalars(
            select(SeriesPoint)
            .where(SeriesPoint.series_id == finding.series_id)
            .order_by(SeriesPoint.at)
        ).all()
        jobs = [point.job_id for point in points][: len(finding.window["job_ids"])]
        values = [_measure_point(session, finding, job, warm) for job in jobs]
        window = Window(
            str(finding.series_id), jobs, values, ["f"] * len(jobs), whole=True
        )
        change = evaluate([window], OLDER_CONSTANTS)[0].changes[-1]
        finding.parameters = {
            "history": OLDER_CONSTANTS.to_mapping(),
            "warm": asdict(warm),
        }
        finding.window = {"job_ids": jobs, "values": values}
        finding.filters = [asdict(check) for check in change.filters]
        finding.numbers = {
            **(finding.numbers or {}),
            "effect": change.effect,
            "lower": change.interval[0],
            "upper": change.interval[1],
            "p_value": change.p_value,
            "level_before": change.level_before,
            "level_after": change.level_after,
            "n_before": change.n_before,
            "n_after": change.n_after,
            "index": change.index,
        }
        return finding.id


def _measure_point(session: Any, finding: Finding, job: str, warm: WarmPolicy) -> Any:
    from paceline_server.alerts import explanation  # noqa: PLC0415 - only this helper computes points
    from paceline_server.store.tables.history import Series  # noqa: PLC0415 - see above

    return explanation.point_value(
        session, job, session.get_one(Series, finding.series_id), asdict(warm)
    )


def test_after_an_upgrade_of_the_constants_it_is_made_with_those_it_was_made_with(
    alert: dict[str, Any],
) -> None:
    before = dict(_finding().numbers or {})
    finding_id = _replace_by_older_finding()
    stored = dict(_finding().numbers or {})
    assert stored["lower"] != before["lower"], (
        "today's constants would have said something else"
    )
    assert stored["level_before"] != before["level_before"], (
        "today's warm-up would have given another level"
    )
    with read_scope() as session:
        again = explain.rederive(session, finding_id)
    assert again.identical, again.text
    assert again.numbers["lower"] == stored["lower"]
    with session_scope() as session:
        row = session.get_one(Finding, finding_id)
        row.parameters = {"history": DEFAULT.to_mapping(), "warm": asdict(WarmPolicy())}
    with read_scope() as session:
        wrong = explain.rederive(session, finding_id)
    assert not wrong.identical, "with today's constants it would be another finding"
    assert "lower" in wrong.text


@pytest.mark.shapes("embedded")
def test_a_method_this_server_no_longer_has_is_said_and_not_guessed(
    alert: dict[str, Any],
) -> None:
    with session_scope() as session:
        session.get_one(Finding, _finding().id).method = "kernel-rbf/0"
    rederived = _explain(alert, rederive=True)["findings"][0]["rederived"]
    assert rederived["identical"] is None
    assert "kernel-rbf/0, which this server no longer has" in rederived["text"]


@pytest.mark.shapes("embedded")
def test_explaining_needs_read_and_an_alert(
    alert: dict[str, Any], token: Callable[..., dict[str, str]]
) -> None:
    client = alert["client"]
    assert (
        client.get(
            f"{PREFIX}/alerts/{alert['id']}/explain", headers=token("ingest")
        ).status_code
        == 403
    )
    assert (
        client.get(
            f"{PREFIX}/alerts/alt_none/explain", headers=alert["headers"]
        ).status_code
        == 404
    )


@pytest.mark.shapes("embedded")
def test_a_point_that_older_constants_made_is_named_and_the_finding_stays(
    alert: dict[str, Any],
) -> None:
    """The server was upgraded after the first point; the older version dropped more warm-up rounds."""
    with session_scope() as session:
        finding = session.get_one(Finding, _finding().id)
        older = _measure_point(
            session, finding, finding.window["job_ids"][0], WarmPolicy(9, 0.0)
        )
        values = [older, *finding.window["values"][1:]]
        window = Window(
            "s", finding.window["job_ids"], values, ["f"] * len(values), whole=True
        )
        change = evaluate([window])[0].changes[-1]
        finding.window = {"job_ids": finding.window["job_ids"], "values": values}
        finding.filters = [asdict(check) for check in change.filters]
        finding.numbers = (finding.numbers or {}) | {
            "effect": change.effect,
            "lower": change.interval[0],
            "upper": change.interval[1],
            "p_value": change.p_value,
            "level_before": change.level_before,
        }
        finding_id = finding.id
    with read_scope() as session:
        again = explain.rederive(session, finding_id)
    assert again.identical, again.text
    assert "1 made of their samples by other constants" in again.text
