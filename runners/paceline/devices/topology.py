"""Groups a device's cores into clusters and chooses the one that launches run on.

Launches run under `taskset MASK`, because a phone moves a process between cores whose speeds differ by a
factor of three. Pure. A cluster whose clock is unknown is called neither slow nor fast. The mask names online
cores only, where the device says which they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from paceline.devices.parsers.frequencies import Policy, policies
from paceline.devices.parsers.processors import Core
from paceline.devices.parsers.text_values import cpu_list, integer

ROOMY = 2
"""Cores a cluster should have online to be measured on: the launch gets one, its runtime's compiler and
collector the other."""


class Cluster(msgspec.Struct, frozen=True):
    """Cores of one kind under one highest frequency. `online`: those of `cpus` that can be used now."""

    cpus: tuple[int, ...]
    online: tuple[int, ...]
    max_khz: int | None
    capacity: int | None
    core: str | None

    @property
    def mask(self) -> str:
        """For `taskset`: hexadecimal without a prefix, as toybox takes it."""
        return f"{sum(1 << cpu for cpu in self.online):x}"


def clusters(files: Mapping[str, str], cores: Sequence[Core]) -> list[Cluster]:
    """Clusters from cpufreq's files (and `online`, `present`, `cpu_capacity` beside them), the slowest
    first, those of unknown speed at the end; cores without a clock are grouped by what they are."""
    known = policies(files)
    online = _listed(files, "online")
    names = {core.number: core.name for core in cores}
    capacities = _capacities(files)
    grouped: dict[tuple[object, ...], list[int]] = {}
    for policy in known:
        for cpu in policy.cpus:
            key = (
                policy.max_khz,
                policy.min_khz,
                _kind(policy, names),
                capacities.get(policy.cpus[0]),
            )
            grouped.setdefault(key, []).append(cpu)
    clocked = {cpu for policy in known for cpu in policy.cpus}
    for cpu in sorted({*(_listed(files, "present") or ()), *names} - clocked):
        grouped.setdefault(
            (None, None, names.get(cpu), capacities.get(cpu)), []
        ).append(cpu)
    clusters_found = [
        Cluster(
            cpus=tuple(sorted(cpus)),
            online=tuple(
                sorted(cpu for cpu in cpus if online is None or cpu in online)
            ),
            max_khz=max_khz if isinstance(max_khz, int) else None,
            capacity=capacity if isinstance(capacity, int) else None,
            core=core if isinstance(core, str) else None,
        )
        for (max_khz, _, core, capacity), cpus in grouped.items()
    ]
    return sorted(
        clusters_found,
        key=lambda one: (
            one.max_khz is None,
            one.capacity or 0,
            one.max_khz or 0,
            one.cpus,
        ),
    )


def choose_cluster(clusters: Sequence[Cluster]) -> Cluster | None:
    """Where to measure: the fastest cluster with room for a runtime's own threads, else the fastest; None
    where no cluster's speed is known: then a launch is not pinned."""
    usable = [
        cluster
        for cluster in clusters
        if cluster.online and cluster.max_khz is not None
    ]
    roomy = [cluster for cluster in usable if len(cluster.online) >= ROOMY]
    return (roomy or usable)[-1] if usable else None


def _kind(policy: Policy, names: Mapping[int, str | None]) -> str | None:
    """What the policy's cores are, by the first that is online."""
    return next((names[cpu] for cpu in policy.cpus if names.get(cpu)), None)


def _listed(files: Mapping[str, str], name: str) -> tuple[int, ...] | None:
    text = next(
        (text for path, text in files.items() if path.endswith(f"/cpu/{name}")), None
    )
    return cpu_list(text)


def _capacities(files: Mapping[str, str]) -> dict[int, int]:
    """The scheduler's own measure of a core, 1024 for the best, by core."""
    capacities: dict[int, int] = {}
    for path, text in files.items():
        head, _, name = path.rpartition("/")
        cpu, value = integer(head.rpartition("/cpu")[2]), integer(text)
        if name == "cpu_capacity" and cpu is not None and value:
            capacities[cpu] = value
    return capacities
