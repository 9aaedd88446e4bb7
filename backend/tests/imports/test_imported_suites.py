"""Suites that no agent announced: what another tool measured is listed, has a matrix and is compared like ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.store import outbox
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.sorting_suite import SUITE as ANNOUNCED

PREFIX = "/api/v1"
SUITE = "pytest_benchmark"
BEFORE, AFTER = "a" * 40, "b" * 40


def document(commit: str, day: int, **levels: int) -> dict[str, Any]:
    """Return what pytest-benchmark measured at a commit: the nanoseconds of each benchmark."""
    cases = [
        {
            "name": name,
            "benchmark": name,
            "metrics": [
                {
                    "name": "time",
                    "unit": "ns",
                    "direction": "lower",
                    "samples": [[10, 10 * level + noise] for noise in (0, 3, 7)],
                }
            ],
        }
        for name, level in levels.items()
    ]
    return {
        "format": "paceline.result/1",
        "tool": "pytest-benchmark",
        "commit": commit,
        "branch": "main",
        "at": f"2026-03-{day:02}T04:00:00Z",
        "cases": cases,
    }


class Imports:
    """Imports documents of one target, and asks the pages about them."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self._client, self._headers = client, headers

    def store(self, made: dict[str, Any], **changes: Any) -> None:
        body = {"document": made, "measured_on": {"on": "ci-7"}, **changes}
        answer = self._client.post(
            f"{PREFIX}/imports", json=body, headers=self._headers
        )
        assert answer.status_code == 201, answer.text
        outbox.drain()

    def ask(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self._client.get(
            f"{PREFIX}{path}", params=query, headers=self._headers
        )
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def imports(client: TestClient, token: Callable[..., dict[str, str]]) -> Imports:
    return Imports(client, token("ingest", "read"))


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize("judge", [True, False])
def test_an_imported_suite_has_a_matrix_and_a_comparison(
    imports: Imports, judge: bool
) -> None:
    """Its benchmarks are those of all files of a measurement, and it counts as no suite that can be run."""
    imports.store(document(BEFORE, 1, parse=1000, dump=500), judge=judge)
    imports.store(document(AFTER, 2, parse=1500), judge=judge)
    imports.store(document(AFTER, 2, load=90), judge=judge)
    (suite,) = imports.ask("/suites")["items"]
    assert (suite["name"], suite["imported"], suite["last_run_at"]) == (
        SUITE,
        True,
        None,
    )
    assert {row["name"] for row in suite["benchmarks"]} == {"parse", "dump", "load"}
    assert imports.ask(f"/suites/{SUITE}") == suite

    matrix = imports.ask("/matrix", suite=SUITE)
    assert (matrix["branch"], matrix["branches"]) == ("main", ["main"])
    (target,) = matrix["targets"]
    assert (target["name"], target["imported"]) == ("ci-7", True)
    shown = {
        row["benchmark"]: [round(cell["value"]) for cell in row["cells"]]
        for row in matrix["rows"]
    }
    assert shown == {"parse": [1500], "dump": [500], "load": [90]}
    assert all(row["declared"] for row in matrix["rows"])

    compared = imports.ask("/compare", base=BEFORE, head=AFTER, suite=SUITE)
    assert compared["base"]["at"] == "2026-03-01T04:00:00Z"
    by_benchmark = {row["benchmark"]: row for row in compared["rows"]}
    assert by_benchmark["parse"]["ratio"] == pytest.approx(1.5, rel=0.01)
    assert by_benchmark["load"]["words"] == "only measured at head"

    series = imports.ask("/series", suite=SUITE)["items"]
    assert {row["benchmark"]: row["imported"] for row in series} == dict.fromkeys(
        shown, True
    )


def test_a_target_that_is_only_reported_offers_nothing_to_do(imports: Imports) -> None:
    imports.store(document(BEFORE, 1, parse=1000))
    (target,) = imports.ask("/targets")["items"]
    assert (target["imported"], target["actions"]) == (True, [])


def test_announced_and_imported_suites_stand_in_one_list_with_pages(
    lab: Lab, imports: Imports
) -> None:
    """Their order is that of their names, and what is announced stays what the agent says also after an import into it."""
    imports.store(document(BEFORE, 1, parse=1000))
    own = {"on": "ci-7", "suite": ANNOUNCED}
    imports.store(document(BEFORE, 1, dump=500), measured_on=own)
    listed = imports.ask("/suites")["items"]
    assert [(suite["name"], suite["imported"]) for suite in listed] == [
        (SUITE, True),
        (ANNOUNCED, False),
    ]
    first = imports.ask("/suites", limit=1)
    second = imports.ask("/suites", limit=1, cursor=first["next"])
    assert [*first["items"], *second["items"]] == listed
    assert second["next"] is None


def test_two_suites_are_not_compared_and_the_answer_names_both(
    lab: Lab, imports: Imports
) -> None:
    imports.store(document(BEFORE, 1, parse=1000))
    run_id = lab.measure({}).run_id
    refused = imports.ask("/compare", 400, base=BEFORE, head=run_id)
    assert SUITE in refused["detail"]
    assert ANNOUNCED in refused["detail"]
    assert "Choose two sides of one suite" in refused["detail"]


def test_the_overview_lists_no_imported_runs_which_the_runs_do(
    lab: Lab, imports: Imports
) -> None:
    """A history that moves in would hide what was measured here."""
    measured = lab.measure({}).run_id
    imports.store(document(BEFORE, 1, parse=1000))
    assert [run["id"] for run in imports.ask("/overview")["runs"]] == [measured]
    (imported,) = imports.ask("/runs", trigger="import")["items"]
    assert {run["id"] for run in imports.ask("/runs")["items"]} == {
        imported["id"],
        measured,
    }


def test_nothing_imported_is_no_suite(imports: Imports) -> None:
    assert imports.ask("/suites")["items"] == []
    assert imports.ask("/matrix", 404, suite=SUITE)["code"] == "not_found"
