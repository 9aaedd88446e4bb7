"""Groups a device's cores into clusters and chooses the one that launches run on.

Pure. Launches run under `taskset MASK`, because a phone moves processes between cores whose speeds differ by a
factor of three. A cluster whose clock is unknown counts as neither slow nor fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from paceline.devices.parsers.frequencies import Policy, policies
from paceline.devices.parsers.processors import Core
from paceline.devices.parsers.text_values import cpu_list, integer

ROOMY = 2
"""Online cores that a cluster should have for measuring: one for the launch, one for its runtime's compiler and
garbage collector."""


class Cluster(msgspec.Struct, frozen=True):
    """Cores of one kind with the same highest frequency. `online`: those of `cpus` that are online now."""

    cpus: tuple[int, ...]
    online: tuple[int, ...]
    max_khz: int | None
    capacity: int | None
    core: str | None

    @property
    def mask(self) -> str:
        """Return the mask of the online cores for `taskset`: hexadecimal without a prefix, as toybox requires."""
        return f"{sum(1 << cpu for cpu in self.online):x}"


def clusters(files: Mapping[str, str], cores: Sequence[Core]) -> list[Cluster]:
    """Return the clusters in cpufreq's files (and in `online`, `present`, `cpu_capacity`), the slowest first, those
    of unknown speed last. Cores without a clock are grouped by their kind."""
    known = policies(files)
    online = _read_cpu_list(files, "online")
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
    for cpu in sorted({*(_read_cpu_list(files, "present") or ()), *names} - clocked):
        grouped.setdefault(
            (None, None, names.get(cpu), capacities.get(cpu)), []
        ).append(cpu)
    unsorted = [
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
        unsorted,
        key=lambda cluster: (
            cluster.max_khz is None,
            cluster.capacity or 0,
            cluster.max_khz or 0,
            cluster.cpus,
        ),
    )


def choose_cluster(clusters: Sequence[Cluster]) -> Cluster | None:
    """Return the cluster to measure on: the fastest with at least ROOMY online cores, otherwise the fastest. None when
    no cluster's speed is known."""
    usable = [
        cluster
        for cluster in clusters
        if cluster.online and cluster.max_khz is not None
    ]
    roomy = [cluster for cluster in usable if len(cluster.online) >= ROOMY]
    return (roomy or usable)[-1] if usable else None


def _kind(policy: Policy, names: Mapping[int, str | None]) -> str | None:
    """Return the kind of the policy's cores, from the first that is online."""
    return next((names[cpu] for cpu in policy.cpus if names.get(cpu)), None)


def _read_cpu_list(files: Mapping[str, str], name: str) -> tuple[int, ...] | None:
    text = next(
        (text for path, text in files.items() if path.endswith(f"/cpu/{name}")), None
    )
    return cpu_list(text)


def _capacities(files: Mapping[str, str]) -> dict[int, int]:
    """Return the scheduler's rating of each core; 1024 is the best."""
    capacities: dict[int, int] = {}
    for path, text in files.items():
        head, _, name = path.rpartition("/")
        cpu, value = integer(head.rpartition("/cpu")[2]), integer(text)
        if name == "cpu_capacity" and cpu is not None and value:
            capacities[cpu] = value
    return capacities
