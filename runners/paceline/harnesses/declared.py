"""Names the cases of a harness as a suite declares them, for a workload that names a harness in `suite.toml`.

The names that a series of figures has are those of the manifest, so that a suite can move to a harness, or from one to
another, and keep its history. What the manifest does not declare is not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest, Param
from paceline_contract.results import MeasuredCase
from paceline_contract.table_problems import Located
from paceline_contract.text_names import make_name

from paceline.errors import UserError
from paceline.harnesses import find_harness
from paceline.harnesses.plan import (
    NAMED_CASES,
    NO_VALUE,
    ArmPatterns,
    CaseTexts,
    PlannedCase,
    is_number,
    refuse_same_arms,
    split_case_name,
    without_separators,
)
from paceline.harnesses.port import HarnessError


class NoCaseError(HarnessError):
    """The harness has none of the cases that are declared or asked for."""


class CaseFilter(NamedTuple):
    """The cases that are asked for. Params that are not named have their declared values, or with `any_value` all."""

    benchmarks: Sequence[str] = ()
    params: Mapping[str, Sequence[str]] = {}
    any_value: bool = False

    def takes(self, benchmark: Benchmark, planned: PlannedCase) -> bool:
        """Return whether a case of a benchmark is asked for."""
        if self.benchmarks and planned.benchmark not in self.benchmarks:
            return False
        return all(
            str(value) in self.params[name]
            if name in self.params
            else self.any_value or value in benchmark.params[name].values
            for name, value in planned.params.items()
        )


class NamedCases(NamedTuple):
    """The cases to measure by the tool's names, and the benchmarks asked for of which it has no case."""

    cases: dict[str, PlannedCase]
    missing: list[str]


def harness_problems(manifest: Manifest) -> Iterator[Located]:
    """Yield what is wrong about the harnesses of a manifest that only an agent knows: their names, and patterns."""
    for index, workload in enumerate(manifest.workloads):
        build = workload.host
        if build is None or build.harness is None:
            continue
        path = ("workloads", index, "host")
        try:
            find_harness(build.harness)
        except UserError as error:
            yield (*path, "harness"), f"{error.text} {error.advice}"
        for arm, pattern in build.arms.items():
            try:
                re.compile(pattern)
            except re.error as error:
                yield (
                    (*path, "arms", arm),
                    f"expected a regular expression, found {pattern!r}: {error}",
                )


def name_cases(
    cases: Iterable[MeasuredCase],
    arms: ArmPatterns,
    declared: Mapping[str, Benchmark],
    wanted: CaseFilter,
) -> NamedCases:
    """Give the cases that are asked for the names that a suite declares. A benchmark is declared by its name or, as its
    title, by the tool's text. Raises HarnessError if an arm has no case, or nothing is left, and UserError if two are one."""
    titles = {benchmark.title: name for name, benchmark in declared.items()}
    named: dict[str, PlannedCase] = {}
    texts_by_case: dict[str, CaseTexts | None] = {}
    for case in cases:
        texts = texts_by_case[case.name] = split_case_name(case, arms)
        if texts is None:
            continue
        name = make_name(texts.benchmark)
        name = name if name in declared else titles.get(texts.benchmark, name)
        benchmark = declared.get(name)
        if benchmark is None or texts.arm not in benchmark.arms:
            continue
        params = _name_params(case, texts.value, benchmark.params)
        if params is None:
            continue
        planned = PlannedCase(name, texts.arm, params)
        if wanted.takes(benchmark, planned):
            named[case.name] = planned
    matched = {texts.arm for texts in texts_by_case.values() if texts is not None}
    for arm, pattern in arms.patterns.items():
        if arm not in matched:
            raise NoCaseError(
                f"no case matches {pattern.pattern!r}, the pattern of the arm {arm} in suite.toml; "
                f"the harness has {_list_names(texts_by_case)}"
            )
    if not named:
        raise NoCaseError(
            "none of its cases is a declared benchmark with the declared params; the harness has "
            f"{_list_texts(texts_by_case)}, and suite.toml declares {_list_names(declared)}"
        )
    refuse_same_arms(named)
    listed = {planned.benchmark for planned in named.values()}
    return NamedCases(
        named,
        [name for name in wanted.benchmarks or declared if name not in listed],
    )


def _name_params(
    case: MeasuredCase, value: str | None, declared: Mapping[str, Param]
) -> dict[str, ParamValue] | None:
    """Return the params of a case by their declared names: the one that is declared has the tool's value, and of several
    each has the tool's of the same name. None if they do not fit."""
    texts: dict[str, str] = {}
    if len(declared) == 1:
        texts = dict.fromkeys(declared, NO_VALUE if value is None else value)
    elif len(declared) > 1:
        texts = {name: str(text) for name, text in case.params.items()}
    elif value is not None:
        return None
    if set(texts) != set(declared):
        return None
    params: dict[str, ParamValue] = {}
    for name, text in texts.items():
        if declared[name].kind == "int" and not is_number(text):
            return None
        params[name] = (
            int(text) if declared[name].kind == "int" else without_separators(text)
        )
    return params


def _list_texts(texts_by_case: Mapping[str, CaseTexts | None]) -> str:
    """Return the names of cases with what suite.toml would call their benchmarks."""
    return _list_names(
        [
            name if texts is None else f"{name} ({make_name(texts.benchmark)})"
            for name, texts in texts_by_case.items()
        ]
    )


def _list_names(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - NAMED_CASES
    return (
        ", ".join(listed[:NAMED_CASES]) + (f" and {more} more" if more > 0 else "")
        or "none"
    )


def listing(
    suite: str, workload: str, named: NamedCases, declared: Mapping[str, Benchmark]
) -> dict[str, Any]:
    """Return the answer to `--list`."""
    cases = [
        {
            "benchmark": planned.benchmark,
            "arm": planned.arm,
            "params": planned.params,
            "metrics": [
                {"name": name, "unit": metric.unit, "direction": metric.direction}
                for name, metric in declared[planned.benchmark].metrics.items()
            ],
        }
        for planned in named.cases.values()
    ]
    return {"suite": suite, "workload": workload, "cases": cases}
