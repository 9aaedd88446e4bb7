"""Compares what a manifest declares with what its built workloads list (`--list`), before anything is measured.

A workload that does not have a declared value of a param measures nothing for it, which is found out only after a run.
Nothing is built here: a workload whose artifacts are missing is not looked at.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.events import ParamValue
from paceline_contract.manifest import TargetBuild
from paceline_contract.params import join_values

from paceline.artifacts import copy_into
from paceline.manifest import Manifest
from paceline.source import run_briefly


class ListedCase(msgspec.Struct):
    """The part of a listed case that is read here."""

    benchmark: str
    params: dict[str, ParamValue] = {}


class _Listing(msgspec.Struct):
    cases: list[ListedCase]


class Comparison(msgspec.Struct):
    """Sentences about where manifest and workloads disagree, and about workloads that were not looked at."""

    differences: list[str]
    not_looked_at: list[str]


def compare_with_workloads(manifest: Manifest, path: Path) -> Comparison:
    """Run each built workload of the host with `--list` and compare. `path` is that of the manifest."""
    comparison = Comparison([], [])
    for workload in manifest.workloads:
        if workload.host is None:
            continue
        artifacts = [path.parent / name for name in workload.host.artifacts]
        if not all(artifact.exists() for artifact in artifacts):
            comparison.not_looked_at.append(f"{workload.name}: it is not built")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch, "artifacts")
            copy_into(directory, artifacts)
            listed_cases = _list_cases(workload.host, directory, [])
            if listed_cases is None:
                text = f"{workload.name}: it does not answer --list"
                comparison.not_looked_at.append(text)
                continue
            comparison.differences += _list_differences(
                manifest, workload.name, (workload.host, directory), listed_cases
            )
    return comparison


def _list_differences(
    manifest: Manifest,
    workload: str,
    built: tuple[TargetBuild, Path],
    listed: Sequence[ListedCase],
) -> Iterator[str]:
    """Yield a sentence for each benchmark or value that the manifest declares and the workload does not list."""
    for name, benchmark in manifest.benchmarks.items():
        if benchmark.workload != workload:
            continue
        cases = [case for case in listed if case.benchmark == name]
        if not cases:
            yield f"{name}: the workload {workload} does not list it"
            continue
        for key, param in benchmark.params.items():
            announced = list(
                dict.fromkeys(case.params[key] for case in cases if key in case.params)
            )
            missing = [value for value in param.values if value not in announced]
            # A workload may run values that it does not list by itself.
            if missing and not _has_cases_for(built, name, key, missing):
                declared_text = ", ".join(map(str, missing))
                announced_text = ", ".join(map(str, announced)) or "none"
                yield (
                    f"{name}: the manifest says {key} {declared_text}, "
                    f"the workload announced {announced_text}"
                )


def _has_cases_for(
    built: tuple[TargetBuild, Path], benchmark: str, key: str, values: Sequence[Any]
) -> bool:
    """Return whether a workload has cases for these values when it is asked for them."""
    filters = ["--benchmark", benchmark, "--params", f"{key}={join_values(values)}"]
    listed_cases = _list_cases(*built, filters)
    if listed_cases is None:
        return False
    return set(values) <= {case.params.get(key) for case in listed_cases}


def _list_cases(
    build: TargetBuild, directory: Path, filters: list[str]
) -> list[ListedCase] | None:
    """Return the cases that a workload lists; None if it does not answer."""
    argv = [part.replace("{artifacts}", str(directory)) for part in build.run]
    end, lines = run_briefly([*argv, "--list", *filters], directory, build.env)
    if end.exit_code != 0:
        return None
    for line in lines:
        try:
            return msgspec.json.decode(line, type=_Listing).cases
        except msgspec.DecodeError:
            continue
    return None
