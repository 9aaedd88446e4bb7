"""Tests under which names another tool's results are stored, and what is said about those that cannot be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from paceline_contract.imported_series import (
    LeftOut,
    keep_one_of_each,
    make_arm_name,
    name_problem,
    sentences,
    series_id,
    texts_of_names,
)
from paceline_contract.text_names import make_name


@dataclass(frozen=True)
class Series:
    """A series as a run has it."""

    benchmark: str = "hash"
    arm: str | None = None
    value: str | None = None


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("解析", "n<=8", "x" * 200), None),
        (("hash", None, None), None),
        (("", None, None), "no name"),
        (("x" * 201, None, None), "its benchmark has 201 characters"),
        (("hash", "x" * 2_000, None), "its arm has 2,000 characters"),
        (("hash", None, "é" * 201), "its value has 201 characters"),
        (("hash", None, "a\0b"), "its value contains U+0000"),
    ],
)
def test_a_problem_says_which_name_and_what_was_expected(
    names: tuple[str, str | None, str | None], said: str | None
) -> None:
    problem = name_problem(*names)
    assert (problem is None) if said is None else said in (problem or "")


def test_of_each_id_one_is_kept_and_the_others_are_named() -> None:
    first = Series(arm="f")
    others = [Series(arm=None, value="f"), Series("hash/f")]
    kept, left_out = keep_one_of_each([first, *others, Series(arm="f")])
    assert kept == [first, *others]
    assert list(sentences(left_out)) == ["left out hash/f: its id is there twice"]


@pytest.mark.parametrize(
    ("many", "limit", "what"),
    [
        ([Series(f"b{at}") for at in range(502)], 500, "benchmarks"),
        ([Series(arm=f"a{at}") for at in range(66)], 64, "arms of a benchmark"),
        (
            [Series(value=str(at)) for at in range(1_002)],
            1_000,
            "params of a benchmark",
        ),
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
        ("code", "code", "x"),
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
