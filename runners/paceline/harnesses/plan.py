"""Gives the cases of a harness the names that a manifest needs, and makes the manifest.

The name of a benchmark depends only on the tool's name for it (`paceline_contract.text_names`), so it stays the same
when other cases come or go. The params of both sides of a comparison are chosen together, so that equal cases have
equal params.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from paceline_contract.events import INT64_MAX, ParamValue
from paceline_contract.manifest import ONLY_ARM
from paceline_contract.params import SEPARATORS
from paceline_contract.results import MeasuredCase, split_name
from paceline_contract.text_names import append_digest, make_name

from paceline.errors import UserError
from paceline.harnesses.port import Harness

CASE_PARAM = "case"
"""The param that tells apart the cases of a benchmark."""
NO_VALUE = "-"
"""The value of a case that has none, in a benchmark whose other cases have one."""
NAMED_CASES = 8
"""Most cases that a message names."""
ONLY_BENCHMARK = "all"
"""The benchmark of an arm whose pattern has no groups, or only empty ones, to name it by."""


class PlannedCase(msgspec.Struct, frozen=True):
    """The benchmark, arm and params that a case has in the manifest."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]


class ArmPatterns(NamedTuple):
    """A pattern of the tool's names for each arm; the groups of a pattern name the benchmark."""

    patterns: Mapping[str, re.Pattern[str]]
    reference: str | None


class CaseTexts(NamedTuple):
    """The parts of the tool's name of a case, from which its benchmark and its params are named."""

    benchmark: str
    arm: str
    value: str | None


class Plan:
    """The names of all cases of one side of a comparison, or of both."""

    def __init__(self, cases: Iterable[MeasuredCase], arms: ArmPatterns) -> None:
        self.left_out: list[str] = []
        """The tool's names of cases that match the pattern of no arm."""
        texts_by_case: dict[str, CaseTexts] = {}
        for case in cases:
            texts = split_case_name(case, arms)
            if texts is not None:
                texts_by_case.setdefault(case.name, texts)
            elif case.name not in self.left_out:
                self.left_out.append(case.name)
        self.titles = {
            make_name(texts.benchmark): texts.benchmark
            for texts in texts_by_case.values()
        }
        values: dict[str, list[str | None]] = {}
        for texts in texts_by_case.values():
            values.setdefault(texts.benchmark, []).append(texts.value)
        self.cases: dict[str, PlannedCase] = {}
        for case_name, texts in texts_by_case.items():
            self.cases[case_name] = PlannedCase(
                make_name(texts.benchmark),
                texts.arm,
                _choose_params(texts.value, values[texts.benchmark]),
            )
        refuse_same_arms(self.cases)

    def names_of(self, benchmarks: Sequence[str]) -> list[str]:
        """Return the names of benchmarks in the manifest; each is given by the tool's text or by its name."""
        names = {text: name for name, text in self.titles.items()}
        return [names.get(text, text) for text in benchmarks]

    def select(self, cases: Iterable[MeasuredCase]) -> dict[str, PlannedCase]:
        """Return the planned cases among `cases`, by the tool's names."""
        return {
            case.name: self.cases[case.name]
            for case in cases
            if case.name in self.cases
        }


def split_case_name(case: MeasuredCase, arms: ArmPatterns) -> CaseTexts | None:
    """Return the parts of a case's name; None if it matches the pattern of no arm."""
    if not arms.patterns:
        return CaseTexts(case.benchmark, ONLY_ARM, case.value)
    for arm, pattern in arms.patterns.items():
        if match := pattern.fullmatch(case.benchmark):
            return CaseTexts(_join_groups(match), arm, case.value)
        if match := pattern.fullmatch(case.name):
            benchmark, value = split_name(_join_groups(match))
            return CaseTexts(benchmark, arm, value)
    return None


def refuse_same_arms(cases: Mapping[str, PlannedCase]) -> None:
    """Raise UserError if two cases are the same arm of the same benchmark."""
    names_by_arm: dict[tuple[str, str, str], str] = {}
    for name, planned in cases.items():
        key = planned.benchmark, planned.arm, str(planned.params)
        if key in names_by_arm:
            raise UserError(
                f"{names_by_arm[key]} and {name} are the same arm of the same benchmark.",
                "Put what tells them apart into a group of the arm's pattern: --arm 'NAME=PREFIX_(.*)'.",
            )
        names_by_arm[key] = name


def _join_groups(match: re.Match[str]) -> str:
    return "".join(group or "" for group in match.groups()) or ONLY_BENCHMARK


def _choose_params(
    value: str | None, values: Sequence[str | None]
) -> dict[str, ParamValue]:
    """Return the params of a case with this value; `values` are those of all cases of its benchmark. It becomes a
    number only if all of them are numbers."""
    if set(values) == {None}:
        return {}
    if all(text is not None and is_number(text) for text in values):
        return {CASE_PARAM: int(value or 0)}
    return {CASE_PARAM: without_separators(value or NO_VALUE)}


def without_separators(text: str) -> str:
    """Return a text as the value of a param, in which `|` and `,` separate values."""
    plain = text.translate(dict.fromkeys(map(ord, SEPARATORS), ";"))
    return text if plain == text else append_digest(plain, text)


def is_number(text: str) -> bool:
    return re.fullmatch(r"0|[1-9]\d{0,18}", text, re.ASCII) is not None and (
        int(text) <= INT64_MAX
    )


def list_warnings(plan: Plan, arms: ArmPatterns, harness: Harness) -> Iterator[str]:
    """Yield what a user should know of the planned cases: those without an arm, and arms that share a process."""
    if plan.left_out:
        more = len(plan.left_out) - NAMED_CASES
        named = ", ".join(plan.left_out[:NAMED_CASES])
        more_text = f" and {more} more" if more > 0 else ""
        yield f"no --arm names {named}{more_text}: left out"
    if arms.patterns and not harness.can_filter:
        yield f"{harness.title} runs all arms in one process, in its own order"


class SuiteDescription(NamedTuple):
    """What a manifest says besides its benchmarks."""

    name: str
    title: str
    host: dict[str, Any]
    """How its only workload is built and run."""


def make_manifest(
    plan: Plan,
    cases: Sequence[MeasuredCase],
    reference: str | None,
    suite: SuiteDescription,
) -> dict[str, Any]:
    """Return the manifest of one side as a parsed TOML file. A benchmark without the arm `reference` has
    its first arm as the reference. Raises UserError if no benchmark has a metric."""
    planned = plan.select(cases)
    by_name = {case.name: case for case in cases}
    benchmarks: dict[str, Any] = {}
    for name, case in planned.items():
        benchmark = benchmarks.setdefault(
            case.benchmark,
            {
                "title": plan.titles[case.benchmark][:2000],
                "workload": suite.name,
                "arms": [],
                "reference": "",
                "metrics": {},
            },
        )
        if case.arm not in benchmark["arms"]:
            benchmark["arms"].append(case.arm)
        for key, value in case.params.items():
            kind = "int" if isinstance(value, int) else "enum"
            param = benchmark.setdefault("params", {}).setdefault(
                key, {"kind": kind, "values": []}
            )
            if value not in param["values"]:
                param["values"].append(value)
        for metric in by_name[name].metrics:
            benchmark["metrics"].setdefault(
                metric.name, {"unit": metric.unit, "direction": metric.direction}
            )
    for name in [name for name in benchmarks if not benchmarks[name]["metrics"]]:
        # All cases of this benchmark were skipped on this side.
        del benchmarks[name]
    for benchmark in benchmarks.values():
        arms = benchmark["arms"]
        benchmark["reference"] = reference if reference in arms else arms[0]
    if not benchmarks:
        raise UserError(
            f"{suite.title} ran no case that can be measured.",
            "Run it by hand; or name the harness with --harness, and the arms as it prints them.",
        )
    return {
        "schema": 1,
        "suite": {"name": suite.name, "title": suite.title[:2000]},
        "workloads": [
            {
                "name": suite.name,
                "host": suite.host,
            }
        ],
        "benchmarks": benchmarks,
    }


def parse_arms(options: Sequence[str], reference: str | None) -> ArmPatterns:
    """Parse options of the form `NAME=PATTERN`. Raises UserError."""
    patterns: dict[str, re.Pattern[str]] = {}
    for option in options:
        arm, separator, text = option.partition("=")
        if not separator or re.fullmatch(r"[a-z][a-z0-9_]{0,63}", arm) is None:
            raise UserError(
                f"--arm {option!r} is no NAME=PATTERN.",
                "For example: --arm 'native=BM_native_(.*)'. A name has lower-case letters, digits and _.",
            )
        try:
            patterns[arm] = re.compile(text)
        except re.error as error:
            raise UserError(f"--arm {arm}: {text!r} is no pattern: {error}.") from error
    if reference is not None and reference not in patterns:
        raise UserError(
            f"--reference {reference!r} is none of the arms.",
            f"Use one of: {', '.join(patterns) or 'none, as no --arm is given'}.",
        )
    if len(patterns) == 1:
        raise UserError(
            "One arm has nothing to be compared with.", "Give another --arm."
        )
    return ArmPatterns(patterns, reference)
