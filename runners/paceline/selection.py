"""Checks a selection (benchmarks, params, knobs, launches) against a manifest and builds a workload's command.

A checked selection is runnable: every name in it is declared and every value is permitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import msgspec
from paceline_contract.events import ParamValue
from paceline_contract.manifest import TargetBuild
from paceline_contract.manifest_rules import separator_problem, value_problem
from paceline_contract.params import (
    ParamError,
    join_values,
    split_pair,
    split_values,
    typed_value,
)

from paceline.errors import UserError
from paceline.harnesses.drive import DRIVE, DriveSpec
from paceline.layout import LAYOUT_VARIABLE
from paceline.manifest import Manifest

SEED_LIMIT = 2**63
BATCHES = 3
"""Most batches of launches that a verdict looks at."""


class Selection(msgspec.Struct, frozen=True):
    """The selection of a run. Empty `params` and `knobs` mean those that the manifest declares."""

    benchmarks: list[str]
    params: dict[str, list[ParamValue]] = {}
    knobs: dict[str, ParamValue] = {}
    first_launch: int = 0
    launches: int = 5
    rounds: int = 20
    warmup_rounds: int | None = None
    min_time_ns: int = 1_000_000
    seed: int = 0
    stop_when_sure: bool = False
    """Stop launching a benchmark whose verdict is certain."""
    max_launches: int | None = None
    """How many launches there may be while a verdict is undecided; None for `launches`."""

    @property
    def most_launches(self) -> int:
        return max(self.launches, self.max_launches or 0)

    def seed_of(self, launch: int) -> int:
        """Return the seed of a launch, which its stream states."""
        return (self.seed + launch) % SEED_LIMIT


def check_selection(manifest: Manifest, selection: Selection) -> Selection:
    """Return the selection with all benchmarks named. Raises UserError for anything that is not permitted."""
    planned, most = selection.launches, selection.max_launches
    if most is not None and not planned <= most <= BATCHES * planned:
        raise UserError(
            f"--max-launches {most} is not from {planned} to {BATCHES * planned}: a verdict needs the {planned} launches of "
            f"--launches, and is final after {BATCHES} times as many.",
            "Correct either of them.",
        )
    names = selection.benchmarks or list(manifest.benchmarks)
    for name in names:
        _check_name("benchmark", name, manifest.benchmarks)
    for key, values in selection.params.items():
        declared = [
            manifest.benchmarks[name].params[key]
            for name in names
            if key in manifest.benchmarks[name].params
        ]
        if not declared:
            known_params = {
                param for name in names for param in manifest.benchmarks[name].params
            }
            _check_name("param", key, known_params)
        for value in values:
            reasons = [
                separator_problem(value) or value_problem(param, value)
                for param in declared
            ]
            if all(reasons):
                raise UserError(
                    f"Param {key}: {reasons[0]}.",
                    "See the suite's params with `paceline validate`.",
                )
    for key, value in selection.knobs.items():
        _check_name("knob", key, manifest.knobs)
        if reason := value_problem(manifest.knobs[key], value):
            raise UserError(f"Knob {key}: {reason}.")
    return msgspec.structs.replace(selection, benchmarks=list(names))


def selected_workloads(manifest: Manifest, selection: Selection) -> list[str]:
    """Return the workloads that hold the selected benchmarks, in manifest order."""
    used = {manifest.benchmarks[name].workload for name in selection.benchmarks}
    return [workload.name for workload in manifest.workloads if workload.name in used]


def launch_argv(
    manifest: Manifest,
    selection: Selection,
    workload: str,
    *,
    launch: int,
    build: TargetBuild,
    artifacts: PurePath,
) -> list[str]:
    """Return the complete command of one launch; `artifacts` is their directory on the target."""
    names = [
        name
        for name in selection.benchmarks
        if manifest.benchmarks[name].workload == workload
    ]
    all_of_workload = [
        name for name, item in manifest.benchmarks.items() if item.workload == workload
    ]
    argv = workload_argv(manifest, workload, build, artifacts)
    argv += ["--launch", str(launch), "--rounds", str(selection.rounds)]
    argv += ["--min-time-ns", str(selection.min_time_ns)]
    argv += ["--seed", str(selection.seed_of(launch))]
    if selection.warmup_rounds is not None:
        argv += ["--warmup-rounds", str(selection.warmup_rounds)]
    if names != all_of_workload:
        for name in names:
            argv += ["--benchmark", name]
    for key, values in selection.params.items():
        if any(key in manifest.benchmarks[name].params for name in names):
            argv += ["--params", f"{key}={join_values(values)}"]
    for key, value in selection.knobs.items():
        knob = manifest.knobs[key]
        takes_it = build.harness is None and knob.workload in {None, workload}
        if value != knob.default and takes_it:
            argv += ["--knob", f"{key}={value}"]
    return argv


def workload_argv(
    manifest: Manifest, workload: str, build: TargetBuild, artifacts: PurePath
) -> list[str]:
    """Return the command of a workload without options. Of a harness it is our own program that starts it."""

    def locate(argv: Sequence[str]) -> list[str]:
        return [part.replace("{artifacts}", str(artifacts)) for part in argv]

    if build.harness is None:
        return locate(build.run)
    spec = DriveSpec(
        build.harness,
        locate(build.command),
        manifest.suite.name,
        workload,
        build.arms,
        timeout_s=build.launch_timeout_s,
        has_own_layout=LAYOUT_VARIABLE in build.env,
    )
    argv = [*DRIVE, msgspec.json.encode(spec).decode()]
    for name, benchmark in manifest.benchmarks.items():
        if benchmark.workload == workload:
            # One option each, because an argument has at most 128 KiB on Linux.
            argv += ["--declared", msgspec.json.encode({name: benchmark}).decode()]
    return argv


def preset_selection(manifest: Manifest, name: str | None) -> Selection:
    """Return the selection of a preset, with defaults for the rest; without a name, everything. Raises UserError for
    an unknown preset."""
    if name is None:
        return Selection([])
    _check_name("preset", name, manifest.presets)
    preset = manifest.presets[name]
    defaults = Selection(preset.benchmarks or [], params=preset.params)
    return msgspec.structs.replace(
        defaults,
        launches=preset.launches or defaults.launches,
        rounds=preset.rounds or defaults.rounds,
    )


def parse_params(
    manifest: Manifest, options: Sequence[str]
) -> dict[str, list[ParamValue]]:
    """Return `k=v1|v2` options as typed values. Raises UserError."""
    kinds = {
        key: param.kind
        for item in manifest.benchmarks.values()
        for key, param in item.params.items()
    }
    parsed: dict[str, list[ParamValue]] = {}
    for option in options:
        key, text = parse_pair("--params", option)
        _check_name("param", key, kinds)
        parsed[key] = [
            _parse_value("Param", key, kinds[key], value)
            for value in split_values(text)
        ]
    return parsed


def parse_knobs(manifest: Manifest, options: Sequence[str]) -> dict[str, ParamValue]:
    """Return `k=v` options as typed values. Raises UserError."""
    parsed: dict[str, ParamValue] = {}
    for option in options:
        key, text = parse_pair("--knob", option)
        _check_name("knob", key, manifest.knobs)
        parsed[key] = _parse_value("Knob", key, manifest.knobs[key].kind, text)
    return parsed


def parse_pair(option: str, text: str) -> tuple[str, str]:
    """Split the `NAME=VALUE` of an option into name and value. Raises UserError."""
    try:
        return split_pair(text)
    except ParamError as error:
        raise UserError(f"{option} {error}.") from error


def _parse_value(what: str, key: str, kind: str, text: str) -> ParamValue:
    try:
        return typed_value(kind, text)
    except ParamError as error:
        raise UserError(f"{what} {key}: {error}.") from error


def _check_name(what: str, name: str, names: Mapping[str, object] | set[str]) -> None:
    if name not in names:
        advice = f"Use one of: {', '.join(sorted(names))}." if names else "It has none."
        raise UserError(f"The suite has no {what} called {name!r}.", advice)
