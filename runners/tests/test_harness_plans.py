"""Tests of the names that cases get, and of arms by patterns."""

from __future__ import annotations

import pytest
from paceline.errors import UserError
from paceline.harnesses.plan import Plan, SuiteDescription, make_manifest, parse_arms
from paceline.harnesses.port import MeasuredCase, MeasuredMetric, Sample, split_name
from paceline.manifest import of_raw

TIME = MeasuredMetric("time", "ns", "lower", [Sample(1, 5)])
ABOUT = SuiteDescription("suite", "./bench", ["x"], 600)


def case(name: str) -> MeasuredCase:
    return MeasuredCase(name, *split_name(name), [TIME])


def test_arms_are_mapped_and_a_made_manifest_is_valid() -> None:
    cases = [
        case(name)
        for name in (
            "BM_native_sort/64",
            "BM_native_sort/256",
            "BM_kotlin_sort/64",
            "BM_kotlin_sort/256",
            "BM_other",
        )
    ]
    arms = parse_arms(["native=BM_native_(.*)", "fallback=BM_kotlin_(.*)"], "fallback")
    plan = Plan(cases, arms)
    made = of_raw(make_manifest(plan, cases, "fallback", ABOUT))
    assert list(made.benchmarks) == ["sort"]
    sort = made.benchmarks["sort"]
    assert (sort.arms, sort.reference) == (["native", "fallback"], "fallback")
    assert sort.params["case"].values == [64, 256]
    assert plan.left_out == ["BM_other"]


def test_arms_below_a_benchmark_are_found_by_the_whole_name() -> None:
    arms = parse_arms(["new=(Sort)/new(/.*)?", "old=(Sort)/old(/.*)?"], None)
    plan = Plan([case("Sort/new/9"), case("Sort/old/9")], arms)
    new, old = plan.cases.values()
    assert (
        (new.benchmark, new.params)
        == (old.benchmark, old.params)
        == (
            "sort",
            {"case": 9},
        )
    )
    assert (new.arm, old.arm) == ("new", "old")


def test_two_cases_that_become_one_arm_are_refused() -> None:
    arms = parse_arms(["a=BM_.*", "b=X"], None)
    with pytest.raises(UserError, match="are the same arm of the same benchmark"):
        Plan([case("BM_x"), case("BM_y")], arms)


def test_names_that_differ_in_what_a_name_cannot_say_stay_apart() -> None:
    cases = [case("Sort"), case("sort"), case("\u89e3\u6790"), case("9lives")]
    plan = Plan(cases, parse_arms([], None))
    names = [planned.benchmark for planned in plan.cases.values()]
    assert names == ["sort", "sort_2", "n", "n_9lives"]
    assert of_raw(make_manifest(plan, cases, None, ABOUT)).benchmarks[
        "sort_2"
    ].title == ("sort")


@pytest.mark.parametrize(
    ("options", "reference", "said"),
    [
        (["native"], None, "is no NAME=PATTERN"),
        (["a=(", "b=x"], None, "is no pattern"),
        (["a=x", "b=y"], "c", "is none of the arms"),
        (["a=x"], None, "One arm has nothing to be compared with"),
    ],
)
def test_options_for_arms_that_mean_nothing_are_refused(
    options: list[str], reference: str | None, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        parse_arms(options, reference)
