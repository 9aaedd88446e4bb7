"""Selects how a workload is built: for this host, or for a device with certain ABIs.

It selects the section of `suite.toml` and the ABI and replaces `{abi}`, so that build, hash, cache and launch
handle one ABI. `{artifacts}` stays, because the directory is known only when a launch starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from paceline_contract.manifest import DEFAULT_ABIS, TargetBuild, Workload

from paceline.git import SourceError

ABI_PLACEHOLDER = "{abi}"


class Destination(msgspec.Struct, frozen=True):
    """A kind of target. `abis`: a device's ABIs, best first (its `ro.product.cpu.abilist`)."""

    kind: Literal["host", "device"] = "host"
    abis: tuple[str, ...] = ()


HOST = Destination()


def build_for(workload: Workload, destination: Destination) -> TargetBuild:
    """Return how `workload` is built and run for `destination`. Raises SourceError if its manifest does not say."""
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
        text = f"Workload {workload.name} is built for {_list_names([*built_for])}; this device runs"
        advice = "Add the ABI to [workloads.android] abis, or choose another device."
        raise SourceError(
            "suite_invalid", f"{text} {_list_names(destination.abis)}.", advice
        )
    return msgspec.structs.replace(
        build,
        abis=[abi],
        build=[_fill_placeholders(argv, abi) for argv in build.build],
        artifacts=_fill_placeholders(build.artifacts, abi),
        run=_fill_placeholders(build.run, abi),
        calibrate=_fill_placeholders(build.calibrate, abi),
    )


def _fill_placeholders(parts: Sequence[str], abi: str) -> list[str]:
    return [part.replace(ABI_PLACEHOLDER, abi) for part in parts]


def _list_names(abis: Sequence[str]) -> str:
    return ", ".join(abis) or "none that is known"
