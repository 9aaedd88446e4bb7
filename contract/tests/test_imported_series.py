"""Tests which series of another tool's results can be stored, and what is said about the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from paceline_contract.imported_series import (
    LeftOut,
    keep_one_of_each,
    make_arm_name,
    metric_of,
    sentences,
    series_id,
    series_problem,
    texts_of_names,
)
from paceline_contract.text_names import make_name


@dataclass(frozen=True)
class Series:
    """A series as the command or the server reads it."""

    benchmark: str = "hash"
    arm: str | None = None
    value: str | None = None
    baseline: str = "new"
    unit: str | None = None
    path: str | None = None
    iterations: list[float] = field(default_factory=lambda: [10.0, 20.0])
    times: list[float] = field(default_factory=lambda: [50.0, 110.0])


@pytest.mark.parametrize(
    "series",
    [
        Series(),
        Series("解析", "n<=8", "x" * 200, unit="bytes"),
        Series(times=[0.0, 0.0], unit="s"),
    ],
)
def test_ordinary_series_have_no_problem(series: Series) -> None:
    assert series_problem(series) is None


@pytest.mark.parametrize(
    ("series", "said"),
    [
        (Series(""), "no name"),
        (Series("x" * 201), "its group has 201 characters"),
        (Series(arm="x" * 2_000), "its function has 2,000 characters"),
        (Series(value="é" * 201), "its value has 201 characters"),
        (Series(baseline="b" * 201), "its baseline has 201 characters"),
        (Series(value="a\0b"), "its value contains U+0000"),
        (Series(unit="cycles"), "its unit is 'cycles'"),
        (Series(unit=""), "its unit is ''"),
        (Series(times=[1.0]), "2 iteration counts and 1 times"),
        (Series(times=[], iterations=[]), "0 samples"),
        (Series(times=[1.0, float("nan")]), "sample 1: time nan"),
        (Series(iterations=[10.0, float("inf")]), "sample 1: inf iterations"),
        (Series(times=[1e300, 1.0], unit="s"), "look at its unit"),
    ],
)
def test_a_problem_says_which_part_and_what_was_expected(
    series: Series, said: str
) -> None:
    problem = series_problem(series)
    assert problem is not None
    assert said in problem


def test_a_unit_decides_what_a_series_measures() -> None:
    metrics = {unit: metric_of(unit) for unit in (None, "us", "bytes", "op/s", "m")}
    assert [metric and metric[:4] for metric in metrics.values()] == [
        ("time", "ns", "lower", 1.0),
        ("time", "ns", "lower", 1e3),
        ("bytes", "bytes", "lower", 1.0),
        ("throughput", "op/s", "higher", 1.0),
        None,
    ]


def test_of_each_id_one_is_kept_and_the_others_say_which() -> None:
    first = Series(arm="f", path="hash/f/new")
    others = [
        replace(first, baseline="main"),
        replace(first, unit="bytes"),
        replace(first, arm=None, value="f"),
    ]
    twice = replace(first, path="hash/f_/new")
    kept, left_out = keep_one_of_each([first, *others, twice])
    assert kept == [first, *others]
    assert list(sentences(left_out)) == [
        "left out hash/f (hash/f_/new): its id is there twice in the baseline new: hash/f/new is kept"
    ]


@pytest.mark.parametrize(
    ("many", "limit", "what"),
    [
        ([Series(f"b{at}") for at in range(502)], 500, "benchmarks of a run"),
        ([Series(arm=f"a{at}") for at in range(66)], 64, "functions of a group"),
        ([Series(value=str(at)) for at in range(1_002)], 1_000, "values of a group"),
    ],
)
def test_what_exceeds_a_run_is_left_out_by_the_end(
    many: list[Series], limit: int, what: str
) -> None:
    kept, left_out = keep_one_of_each(many)
    assert kept == many[:limit]
    assert [entry.id for entry in left_out] == [
        series_id(entry) for entry in many[limit:]
    ]
    assert f"at most {limit:,} {what}" in left_out[0].why
    assert len(keep_one_of_each([*many[:9], replace(many[0], baseline="x")])[0]) == 10


def test_what_is_left_out_can_be_stored_whatever_its_name() -> None:
    assert LeftOut.of("a\0b", "x" * 5_000, "why").id == "a\\0b"
    assert len(LeftOut.of("", "x" * 5_000, "why").path or "") == 1_001
    entries = [LeftOut("a", "x", "odd"), LeftOut(None, "y", "odd")]
    assert list(sentences([*entries, LeftOut(None, None, "4 more")])) == [
        "left out a (x), y: odd",
        "left out 4 more",
    ]


@pytest.mark.parametrize(
    ("benchmark", "arm", "value"),
    [
        ("解析", "n<=8", "16"),
        ("a/b c", None, "1/2"),
        ("plain", "Map::get/2", None),
        ("criterion", "criterion", "x"),
        ("Sign", None, None),
    ],
)
def test_a_title_tells_the_text_of_each_name_with_a_digest(
    benchmark: str, arm: str | None, value: str | None
) -> None:
    title = series_id(Series(benchmark, arm, value))
    names = {make_name(benchmark): benchmark, make_arm_name(arm): arm or ""}
    assert texts_of_names(title, make_name(benchmark), make_arm_name(arm)) == {
        name: text for name, text in names.items() if "__" in name
    }


def test_a_title_of_another_series_tells_nothing() -> None:
    assert texts_of_names("a/b/c", make_name("解析"), make_arm_name("b c")) == {}
