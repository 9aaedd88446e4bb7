"""A comparison in pages: every row once, the sentences above them of all rows, and the way back offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from paceline_server.reports.pairs import (
    ComparedPair,
    MeasurementOfSide,
    MeasurementRow,
    pair_measurements,
)
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.decisions import Comparison, JobReport
from paceline_server.store.tables.history import NoiseFloor
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.scripted_agent import LeasedJob
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    SUITE,
    suite_manifest,
)
from sqlalchemy import select
from sqlalchemy.orm import Session

OLD, NEW = "1" * 40, "2" * 40
BATCHES = (1000, 2000)
ROWS = 4
"""two arms at two batches"""


def get_page(lab: Lab, status: int = 200, **query: Any) -> Any:
    sides = {"base": OLD, "head": NEW, **query}
    answer = lab.client.get("/api/v1/compare", params=sides, headers=dict(lab.headers))
    assert answer.status_code == status, answer.text
    return answer.json()


def measure(lab: Lab, commit: str, native: dict[int, float], seed: int) -> LeasedJob:
    """A concluded job; the native arm takes `native` ms at each batch, the reference 1 ms."""

    def levelled(cases: list[CaseSamples]) -> list[CaseSamples]:
        def give_goals(case: CaseSamples) -> float:
            return (
                native[int(case.params["batch"])] * 1e6 if case.arm == "native" else 1e6
            )

        return [
            replace(
                case,
                value=np.round(case.value * give_goals(case) / np.median(case.value)),
            )
            for case in cases
        ]

    lab.request(
        commit=commit,
        branch="main",
        launches=5,
        rounds=12,
        params={"batch": list(BATCHES)},
    )
    leased = lab.deliver(dict.fromkeys(BATCHES, -0.5), seed=seed, alter=levelled)
    outbox.drain()
    return leased


def rows_by_name(row: dict[str, Any]) -> tuple[str, int]:
    return row["arm"], row["params"]["batch"]


def test_pages_hold_every_row_once_in_one_order_under_the_same_sentences(
    lab: Lab,
) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.6, 2000: 0.75}, seed=2)
    whole = get_page(lab)
    assert (len(whole["rows"]), whole["total"], whole["next"]) == (ROWS, ROWS, None)
    assert [rows_by_name(row) for row in whole["rows"][:2]] == [
        ("native", 2000),
        ("native", 1000),
    ]
    page = get_page(lab, limit=1)
    pages = [page]
    while page["next"] is not None:
        page = get_page(lab, limit=1, cursor=page["next"])
        pages.append(page)
    assert [row for page in pages for row in page["rows"]] == whole["rows"]
    assert {(page["summary"], page["note"], page["total"]) for page in pages} == {
        (whole["summary"], whole["note"], ROWS)
    }
    assert whole["summary"].startswith("2 of 4 measurements differ clearly: 2 slower")


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize("who", ["base", "head", "announced"])
def test_a_renamed_benchmark_is_one_row_whoever_declares_the_alias(
    lab: Lab, who: str
) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.5, 2000: 0.75}, seed=2)
    renamed = suite_manifest(rules=[], knobs={})
    own = renamed["benchmarks"].pop(BENCHMARK)
    renamed["benchmarks"]["order"] = own | {"aliases": [BENCHMARK]}
    with session_scope() as session:
        for run in session.scalars(select(Run)):
            if who == {OLD: "base", NEW: "head"}[run.commit]:
                run.manifest = renamed
        if who == "announced":
            session.scalars(select(Suite)).one().manifest = renamed
        else:
            rename_side(session, OLD if who == "base" else NEW)
    rows = get_page(lab)["rows"]
    assert [row["benchmark"] for row in rows] == ["order"] * ROWS
    assert all(row["base"] and row["head"] for row in rows)


def rename_side(session: Session, commit: str) -> None:
    """Give the measurements of a commit's job the new name."""
    query = (
        select(JobReport)
        .join(Job, Job.id == JobReport.job_id)
        .join(Run, Run.id == Job.run_id)
        .where(Run.commit == commit)
    )
    for report in session.scalars(query):
        rows = [row | {"benchmark": "order"} for row in report.report["measurements"]]
        report.report = report.report | {"measurements": rows}


@pytest.mark.shapes("embedded")
def test_more_bytes_are_worse_and_not_slower(lab: Lab) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.4, 2000: 0.75}, seed=2)
    with session_scope() as session:
        for row in session.scalars(select(JobReport)):
            measured = [
                measurement | {"unit": "bytes"}
                for measurement in row.report["measurements"]
            ]
            row.report = row.report | {"measurements": measured}
    comparison = get_page(lab)
    assert comparison["summary"].startswith(
        "2 of 4 measurements differ clearly: 1 worse, 1 better; most of all"
    )
    assert (
        "slower"
        not in f"{comparison['summary']} {[row['words'] for row in comparison['rows']]}"
    )
    assert [
        row["words"].partition(" (")[0].split()[-1] for row in comparison["rows"][:2]
    ] == ["worse", "better"]


@pytest.mark.shapes("embedded")
def test_a_row_on_a_later_page_that_was_judged_is_first_and_changes_the_note(
    lab: Lab,
) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.5, 2000: 0.75}, seed=2)
    ab = measure(lab, NEW, {1000: 0.5, 2000: 0.75}, seed=3)
    with session_scope() as session:
        session.get_one(Run, ab.run_id).base_commit = OLD
        for row in session.scalars(
            select(Comparison).where(Comparison.run_id == ab.run_id)
        ):
            row.sides, row.verdict = (
                "revisions",
                "pass" if row.params["batch"] == 1000 else "inconclusive",
            )
            row.ratio, row.lower, row.upper = 1.001, 0.999, 1.003
    page = get_page(lab, limit=1)
    assert rows_by_name(page["rows"][0]) == ("native", 1000), (
        "the smaller difference, but it was decided"
    )
    assert page["note"].startswith("Rows marked judged")
    following = get_page(lab, limit=1, cursor=page["next"])
    assert following["note"] == page["note"], "of all rows, not of this page's"
    assert following["rows"][0]["judged"] is False


@pytest.mark.shapes("embedded")
def test_filters_offer_all_measured_values_whatever_is_selected(
    lab: Lab,
) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.5, 2000: 0.5}, seed=2)
    choices = get_page(lab, limit=1)["choices"]
    assert [target["id"] for target in choices["targets"]] == [lab.target_id]
    assert (choices["benchmarks"], choices["metrics"]) == ([BENCHMARK], ["time"])
    narrowed = get_page(lab, metric="allocations")
    assert (narrowed["rows"], narrowed["total"]) == ([], 0)
    assert narrowed["choices"] == choices


@pytest.mark.shapes("embedded")
def test_a_cursor_of_another_list_is_refused(lab: Lab) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.6, 2000: 0.75}, seed=2)
    first = get_page(lab, limit=1, hide_uncertain=True)
    assert (first["total"], first["hidden"]) == (2, 2)
    second = get_page(lab, limit=1, hide_uncertain=True, cursor=first["next"])
    assert (len(second["rows"]), second["next"]) == (1, None)
    third = get_page(lab, limit=3)["next"]
    assert (
        "have changed"
        in get_page(lab, 400, hide_uncertain=True, cursor=third)["detail"]
    )
    assert "not one of ours" in get_page(lab, 400, cursor="%%%")["detail"]


@pytest.mark.shapes("embedded")
def test_a_page_is_refused_when_a_row_has_moved_since_the_one_before(lab: Lab) -> None:
    """Else the row that moved up would be on neither, and another on both."""
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    measure(lab, NEW, {1000: 0.6, 2000: 0.75}, seed=2)
    first = get_page(lab, limit=1)
    assert rows_by_name(first["rows"][0]) == ("native", 2000)
    measure(lab, NEW, {1000: 0.9, 2000: 0.75}, seed=3)
    assert "begin again" in get_page(lab, 400, limit=1, cursor=first["next"])["detail"]
    assert rows_by_name(get_page(lab, limit=1)["rows"][0]) == ("native", 1000)


@pytest.mark.shapes("embedded")
def test_the_newest_noise_floor_counts(lab: Lab) -> None:
    measure(lab, OLD, {1000: 0.5, 2000: 0.5}, seed=1)
    leased = measure(lab, NEW, {1000: 0.6, 2000: 0.75}, seed=2)
    with session_scope() as session:
        at = session.get_one(Run, leased.run_id).created_at
        session.add_all(
            NoiseFloor(
                id=f"nsf_{number}",
                target_id=lab.target_id,
                suite=SUITE,
                benchmark=BENCHMARK,
                arm="native",
                params={"batch": 1000},
                params_key='{"batch":1000}',
                metric="time",
                mde=mde,
                lower=0.9,
                upper=1.1,
                blocks=100,
                launches=5,
                evidence={},
                run_id=leased.run_id,
                job_id=leased.job_id,
                measured_at=at.replace(year=year),
            )
            for number, (mde, year) in enumerate(
                [(0.01, 2020), (0.25, 2022), (0.02, 2021)]
            )
        )
    row = next(
        row for row in get_page(lab)["rows"] if rows_by_name(row) == ("native", 1000)
    )
    assert (row["mde"], row["significance"]) == (0.25, "below_noise")


@pytest.mark.parametrize(
    ("head", "change"),
    [
        ({"unit": "bytes"}, "time is in ns at base and in bytes at head"),
        (
            {"direction": "higher"},
            "lower is better for time at base, and higher at head",
        ),
        ({"items": 7}, "an iteration is 100 items at base and 7 at head"),
        ({"bytes": 9}, "an iteration is 4 bytes at base and 9 at head"),
    ],
)
def test_measurements_that_mean_different_things_have_no_ratio_and_say_why(
    head: dict[str, Any], change: str
) -> None:
    key = ("tgt", BENCHMARK, "native", "{}", "time")
    row: dict[str, Any] = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "params": {},
        "metric": "time",
        "unit": "ns",
        "direction": "lower",
        "launches": 5,
        "n": 100,
        "median": 1000.0,
        "median_lower": 990.0,
        "median_upper": 1010.0,
        "items": 100,
        "bytes": 4,
    }

    def pair(changes: dict[str, Any]) -> ComparedPair:
        sides = [
            {key: MeasurementOfSide(cast(MeasurementRow, {**row, **own}), "job", None)}
            for own in ({}, changes)
        ]
        (made,) = pair_measurements(sides[0], sides[1], {}, {})
        return made

    assert pair({}).ratio == pair({"items": None}).ratio == 1.0
    changed = pair(head)
    assert (changed.ratio, changed.lower, changed.upper) == (None, None, None)
    assert changed.significance == "uncertain"
    assert changed.head is not None
    assert changed.head.excluded == f"not comparable: {change}"
