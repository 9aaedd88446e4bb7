"""Selects how a workload is built: for this host, or for a device with certain ABIs.

It picks the section of `suite.toml` and the ABI and fills in `{abi}`, so that build, hash, cache and launch
deal with one ABI. `{artifacts}` stays: the place is known only when a launch starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from paceline_contract.manifest import DEFAULT_ABIS, TargetBuild, Workload

from paceline.git import SourceError

ABI_PLACEHOLDER = "{abi}"


class Destination(msgspec.Struct, frozen=True):
    """A kind of target. `abis`: what a device runs, best first (its `ro.product.cpu.abilist`)."""

    kind: Literal["host", "device"] = "host"
    abis: tuple[str, ...] = ()


HOST = Destination()


def build_for(workload: Workload, destination: Destination) -> TargetBuild:
    """How `workload` is built and run for `destination`. Raises SourceError when its manifest is silent."""
    section = "host" if destination.kind == "host" else "android"
    build = workload.host if destination.kind == "host" else workload.android
    if build is None:
        text = f"Workload {workload.name} does not say how a {destination.kind} builds and runs it: "
        advice = "Add the table, or ask for benchmarks of other workloads."
        raise SourceError("suite_invalid", f"{text}no [workloads.{section}].", advice)
    if destination.kind == "host":
        return build
    built_for = {str(abi): abi for abi in build.abis or DEFAULT_ABIS}
    abi = next((built_for[abi] for abi in destination.abis if abi in built_for), None)
    if abi is None:
        text = f"Workload {workload.name} is built for {_listed([*built_for])}; this device runs"
        advice = "Add the ABI to [workloads.android] abis, or choose another device."
        raise SourceError(
            "suite_invalid", f"{text} {_listed(destination.abis)}.", advice
        )
    return msgspec.structs.replace(
        build,
        abis=[abi],
        build=[_filled(argv, abi) for argv in build.build],
        artifacts=_filled(build.artifacts, abi),
        run=_filled(build.run, abi),
        calibrate=_filled(build.calibrate, abi),
    )


def _filled(parts: Sequence[str], abi: str) -> list[str]:
    return [part.replace(ABI_PLACEHOLDER, abi) for part in parts]


def _listed(abis: Sequence[str]) -> str:
    return ", ".join(abis) or "none that is known"
