"""Tests of the names that cases get, and of arms by patterns."""

from __future__ import annotations

import pytest
from paceline.errors import UserError
from paceline.harnesses.plan import Plan, SuiteDescription, make_manifest, parse_arms
from paceline.manifest import of_raw
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Sample,
    make_params,
    split_name,
)
from paceline_contract.text_names import make_name

TIME = MeasuredMetric("time", "ns", "lower", [Sample(1, 5)])
HOST = {"build": [], "artifacts": ["."], "run": ["x"], "launch_timeout_s": 600}
ABOUT = SuiteDescription("suite", "./bench", HOST)


def case(name: str) -> MeasuredCase:
    benchmark, value = split_name(name)
    return MeasuredCase(name, benchmark, make_params(value), [TIME])


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
            make_name("Sort"),
            {"case": 9},
        )
    )
    assert (new.arm, old.arm) == ("new", "old")


def test_two_cases_that_become_one_arm_are_refused() -> None:
    arms = parse_arms(["a=BM_.*", "b=X"], None)
    with pytest.raises(UserError, match="are the same arm of the same benchmark"):
        Plan([case("BM_x"), case("BM_y")], arms)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sort", "sort"),
        ("\u89e3\u6790", "\u7de8\u78bc"),
        ("n<=8", "n>=8"),
        (f"{'x' * 64}a", f"{'x' * 64}b"),
    ],
)
def test_a_name_is_the_same_whatever_else_is_measured(one: str, other: str) -> None:
    """The later of two alike names had a number at its end, so that a new case took over another one's name."""
    together = Plan([case(one), case(other)], parse_arms([], None))
    alone = [Plan([case(name)], parse_arms([], None)) for name in (one, other)]
    assert {**alone[0].cases, **alone[1].cases} == together.cases
    names = [planned.benchmark for planned in together.cases.values()]
    assert names == [make_name(one), make_name(other)]
    made = of_raw(make_manifest(together, [case(one), case(other)], None, ABOUT))
    assert [made.benchmarks[name].title for name in names] == [one, other]
    assert together.names_of([one, names[1]]) == names


def test_values_that_differ_in_a_separator_alone_stay_apart() -> None:
    cases = [case(f"sort/{value}") for value in ("a,b", "a|b", "a;b")]
    plan = Plan(cases, parse_arms([], None))
    values = [str(planned.params["case"]) for planned in plan.cases.values()]
    assert len(set(values)) == 3
    assert values[2] == "a;b"
    of_raw(
        make_manifest(plan, cases, None, ABOUT)
    )  # raises if a value cannot stand in it


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
