"""Finds the benchmarks that a change cannot have affected, so that they are not measured again.

The digest of a benchmark covers what its launches run and what its verdict rests on: the workload's built files,
command and environment, and all that the manifest declares about it, gates and rules included. If it is the same at
base and at head, both sides leave the benchmark out. What is not known is measured.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence

import msgspec
from paceline_contract.manifest import Manifest

from paceline.artifacts import files_below, hash_files
from paceline.launches import Side
from paceline.selection import selected_workloads


def leave_out_unaffected(
    sides: Sequence[Side],
) -> tuple[list[Side], dict[str, str]]:
    """Return base and head without the benchmarks that have one digest on both, and these digests by name.

    Nothing is left out of one commit on both sides, which is measured on purpose, nor where base would have nothing
    left to compare the rest of head with."""
    if len(sides) != 2 or sides[0].prepared.revision == sides[1].prepared.revision:
        return list(sides), {}
    at_base, at_head = (_digests_of(side) for side in sides)
    unaffected = {
        name: digest for name, digest in at_head.items() if at_base.get(name) == digest
    }
    base, head = leave_out(sides, unaffected)
    if head.selection.benchmarks and not base.selection.benchmarks:
        return list(sides), {}
    return [base, head], unaffected


def leave_out(sides: Sequence[Side], names: Collection[str]) -> list[Side]:
    """Return the sides without these benchmarks."""
    return [
        msgspec.structs.replace(
            side,
            selection=msgspec.structs.replace(
                side.selection,
                benchmarks=[
                    name for name in side.selection.benchmarks if name not in names
                ],
            ),
        )
        for side in sides
    ]


def measures_anything(sides: Sequence[Side]) -> bool:
    """Return whether a benchmark is left to measure."""
    return any(side.selection.benchmarks for side in sides)


def _digests_of(side: Side) -> dict[str, str]:
    """Return the digests of a side's benchmarks, as far as they are known."""
    manifest, selection = side.prepared.manifest, side.selection
    workloads = {
        name: parts
        for name in selected_workloads(manifest, selection)
        if (parts := _parts_of_workload(side, name)) is not None
    }
    digests = {}
    for name in selection.benchmarks:
        workload = manifest.benchmarks[name].workload
        if workload in workloads:
            params = {
                key: values
                for key, values in selection.params.items()
                if key in manifest.benchmarks[name].params
            }
            parts = [workloads[workload], _declarations_of(manifest, name), params]
            # The order counts: without `time`, the first metric is the primary one.
            digests[name] = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
    return digests


def _parts_of_workload(side: Side, name: str) -> list[object] | None:
    """Return what the launches of a workload run; None if its files are unknown. It runs in the directory of its built
    files, so what it reads lies there."""
    directory = side.prepared.built.directories.get(name)
    files = {} if directory is None else files_below(directory)
    if not files:
        return None
    build = side.prepared.builds[name]
    programs = [path for path, file in files.items() if os.access(file, os.X_OK)]
    return [
        hash_files(files),
        programs,
        build.run or [build.harness, build.command, build.arms],
        build.env,
        build.launch_timeout_s,
    ]


def _declarations_of(manifest: Manifest, name: str) -> list[object]:
    """Return everything that the manifest declares about a benchmark, except its workload's build."""
    workload = manifest.benchmarks[name].workload
    derived = [item for item in manifest.derived if item.benchmark == name]
    subjects = {item.name for item in derived}
    return [
        name,
        manifest.benchmarks[name],
        derived,
        [
            gate
            for gate in manifest.gates
            if gate.benchmark == name or gate.derived in subjects
        ],
        [rule for rule in manifest.arm_rules() if rule.benchmark == name],
        {
            key: knob
            for key, knob in manifest.knobs.items()
            if knob.workload in {None, workload}
        },
        [item.checks for item in manifest.workloads if item.name == workload],
        manifest.expected,
        manifest.logcat,
    ]
