"""Compares what a manifest declares with what its built workloads list (`--list`), before anything is measured.

A workload that does not have a declared value of a param measures nothing for it, which is found out only after a run.
Nothing is built here: a workload whose artifacts are missing is not looked at.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.events import ParamValue
from paceline_contract.params import join_values

from paceline.artifacts import copy_into
from paceline.manifest import Manifest
from paceline.selection import workload_argv
from paceline.source import run_briefly


class ListedCase(msgspec.Struct):
    """The part of a listed case that is read here."""

    benchmark: str
    params: dict[str, ParamValue] = {}


class _Listing(msgspec.Struct):
    cases: list[ListedCase]


class _Error(msgspec.Struct, tag_field="type", tag="error"):
    """The event of a workload that cannot list."""

    code: str
    text: str


class _BuiltWorkload(msgspec.Struct, frozen=True):
    """A workload that can be started. `argv` has no options."""

    argv: list[str]
    env: dict[str, str]
    directory: Path


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
            argv = workload_argv(manifest, workload.name, workload.host, directory)
            built = _BuiltWorkload(argv, workload.host.env, directory)
            listed = _list_cases(built, [])
            if isinstance(listed, list):
                comparison.differences += _list_differences(
                    manifest, workload.name, built, listed
                )
            elif listed is not None and listed.code == "no_case":
                comparison.differences.append(f"{workload.name}: {listed.text}")
            else:
                why = "" if listed is None else f": {listed.text}"
                text = f"{workload.name}: it does not answer --list{why}"
                comparison.not_looked_at.append(text)
    return comparison


def _list_differences(
    manifest: Manifest,
    workload: str,
    built: _BuiltWorkload,
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
    built: _BuiltWorkload, benchmark: str, key: str, values: Sequence[Any]
) -> bool:
    """Return whether a workload has cases for these values when it is asked for them."""
    filters = ["--benchmark", benchmark, "--params", f"{key}={join_values(values)}"]
    listed = _list_cases(built, filters)
    return isinstance(listed, list) and set(values) <= {
        case.params.get(key) for case in listed
    }


def _list_cases(
    built: _BuiltWorkload, filters: list[str]
) -> list[ListedCase] | _Error | None:
    """Return the cases that a workload lists, or the error by which it says why not; None if it does not answer."""
    argv = [*built.argv, "--list", *filters]
    end, lines = run_briefly(argv, built.directory, built.env)
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError):
            if end.exit_code != 0:
                return msgspec.json.decode(line, type=_Error)
            return msgspec.json.decode(line, type=_Listing).cases
    return None
