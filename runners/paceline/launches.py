"""Plans and runs the launches of a job: K fresh processes per workload, of one revision or of base and head.

Launches are interleaved (I2), so that drift affects all workloads alike. With two revisions, launch k of both
runs with the same arguments and seed; the job's seed decides which goes first, and every second launch swaps
them. The first launch that fails ends the job, because a failure is a signal and never retried.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec
from paceline_contract.items import SideName
from paceline_contract.names import declared_params, select_at_base

from paceline.errors import UserError
from paceline.executors.base import (
    HOST_LAYOUT,
    Calibration,
    LaunchSpec,
    Session,
    SessionWork,
    Sink,
    TargetLayout,
)
from paceline.git import FileMissingError, SourceError
from paceline.layout import draw_layout_bytes
from paceline.manifest import Manifest
from paceline.outcome import Outcome, stopped_outcome
from paceline.selection import (
    Selection,
    check_selection,
    launch_argv,
    selected_workloads,
)
from paceline.source import Prepared
from paceline.stop import Stop

BASE: Final = "base"
HEAD: Final = "head"

T = TypeVar("T")

ListUndecided = Callable[[int], list[str] | None]
"""Returns the benchmarks that more launches may decide, after so many; None where that is not known."""


class Side(msgspec.Struct, frozen=True):
    """A revision that is ready to run. `name`: base or head; None in a job of one revision."""

    prepared: Prepared
    selection: Selection
    name: SideName | None = None


class SideManifests(msgspec.Struct, frozen=True):
    """What both revisions declare."""

    base: Manifest
    head: Manifest


def read_sides(read: Callable[[str], Manifest], base: str, head: str) -> SideManifests:
    """Read the manifests of both revisions with `read`. Raises SourceError, which names the side."""
    at_head = _of_side(HEAD, head, lambda: read(head))
    return SideManifests(_of_side(BASE, base, lambda: read(base)), at_head)


def prepare_sides(
    prepare: Callable[[str, Sequence[str]], Prepared],
    manifests: SideManifests,
    base: str,
    head: str,
    wanted: Selection,
) -> list[Side]:
    """Build base and head with `prepare`. The head runs all that it declares of `wanted`, the base what it has of
    that, under its own names.

    Raises SourceError, which names the side that cannot be built or run.
    """
    names = wanted.benchmarks or list(manifests.head.benchmarks)
    at_head = [name for name in names if name in manifests.head.benchmarks]
    at_base, params_at_base = select_at_base(
        manifests.base, manifests.head, at_head, wanted.params
    )
    selections = {
        HEAD: msgspec.structs.replace(
            wanted,
            benchmarks=at_head,
            params=declared_params(manifests.head, at_head, wanted.params),
        ),
        BASE: msgspec.structs.replace(
            wanted, benchmarks=at_base, params=params_at_base
        ),
    }
    if not at_base:
        text = f"The two revisions have none of these benchmarks in common: {', '.join(names)}."
        advice = (
            "Compare revisions that both declare a benchmark, or measure head alone. If a benchmark was renamed, "
            "give its former name in the new one's `aliases`."
        )
        raise SourceError("suite_invalid", text, advice)
    sides = {}
    wanted_of: list[tuple[SideName, str, Manifest]] = [
        (HEAD, head, manifests.head),
        (BASE, base, manifests.base),
    ]
    for name, commit, manifest in wanted_of:
        try:
            selection = check_selection(manifest, selections[name])
        except UserError as error:
            raise SourceError(
                "suite_invalid", f"{name}: {error.text}", error.advice
            ) from error
        prepared = _of_side(
            name, commit, partial(prepare, commit, selection.benchmarks)
        )
        sides[name] = Side(prepared, selection, name)
    return [sides[BASE], sides[HEAD]]


def _of_side(name: str, commit: str, work: Callable[[], T]) -> T:
    """Return the result of `work`; its SourceError names the side."""
    try:
        return work()
    except FileMissingError as error:
        if name == HEAD:
            raise
        raise SourceError(
            error.cause,
            f"{error.path} is new in head: base ({commit[:12]}) does not have it, so there is nothing to compare.",
            "Measure head alone, or compare with a commit that has it.",
        ) from error
    except SourceError as error:
        raise SourceError(
            error.cause, f"{name} ({commit[:12]}): {error.text}", error.advice
        ) from error


def plan_launches(
    sides: Sequence[Side], place: TargetLayout = HOST_LAYOUT
) -> list[LaunchSpec]:
    """Return all launches of a job in order, in pairs for two sides. Paths are those of `place`."""
    if len(sides) == 1:
        return launches_of_revision(sides[0].prepared, sides[0].selection, place)
    specs_by_side = [
        {
            (spec.launch, spec.workload): spec
            for spec in launches_of_revision(
                side.prepared, side.selection, place, side.name
            )
        }
        for side in sides
    ]
    seed = sides[0].selection.seed
    ordered = []
    # A workload that head renamed has no pair, but runs beside the same launch.
    planned = dict.fromkeys([*specs_by_side[-1], *specs_by_side[0]])
    for launch, workload in sorted(planned, key=lambda key: key[0]):
        pair = [specs.get((launch, workload)) for specs in specs_by_side]
        if runs_head_first(seed, launch, workload):
            pair.reverse()
        ordered += [spec for spec in pair if spec is not None]
    return ordered


def built_directories(sides: Sequence[Side]) -> list[Path]:
    """Return all directories with built files of `sides`."""
    return [
        directory
        for side in sides
        for directory in side.prepared.built.directories.values()
    ]


def session_work(name: str, sides: Sequence[Side]) -> SessionWork:
    """Return the input of a session for `sides`. The calibration is that of the last side's first workload that has
    one."""
    prepared = sides[-1].prepared
    calibration = next(
        (
            Calibration(prepared.built.directories[workload], build.calibrate)
            for workload, build in prepared.builds.items()
            if build.calibrate
        ),
        None,
    )
    return SessionWork(name, built_directories(sides), calibration)


def runs_head_first(seed: int, launch: int, workload: str) -> bool:
    """Return whether the head goes first: drawn for every two launches, of which the second is swapped."""
    drawn = hashlib.sha256(f"{seed}:{launch // 2}:{workload}".encode()).digest()[0] & 1
    return bool(drawn) != bool(launch % 2)


def run_launches(
    specs: Iterable[LaunchSpec],
    session: Session,
    sink_for: Callable[[LaunchSpec], LaunchSink],
    stop: Stop,
) -> Outcome:
    """Run all launches in order; return the outcome of the first that fails, otherwise ok. In a launch pair
    the outcome names the side."""
    for spec in specs:
        if stop.reason is not None:
            break
        sink = sink_for(spec)
        try:
            outcome = session.execute(spec, sink, stop)
        finally:
            sink.close()
        if not outcome.ok and spec.side is not None:
            return msgspec.structs.replace(
                outcome, detail=f"{spec.side}: {outcome.detail}"
            )
        if not outcome.ok:
            return outcome
    return Outcome() if stop.reason is None else stopped_outcome(stop.reason)


def run_job(
    sides: Sequence[Side],
    session: Session,
    sink_for: Callable[[LaunchSpec], LaunchSink],
    stop: Stop,
    list_undecided: ListUndecided | None = None,
) -> Outcome:
    """Run the launches of a job. With `list_undecided`, benchmarks that are certain are not launched again, and those that
    are undecided after the planned launches go on up to the most launches that are allowed."""
    planned = sides[-1].selection
    if list_undecided is None:
        return run_launches(plan_launches(sides, session), session, sink_for, stop)
    for done in range(1, planned.most_launches + 1):
        launch = planned.first_launch + done - 1
        specs = plan_launches(_only_launch(sides, launch), session)
        outcome = run_launches(specs, session, sink_for, stop)
        if not outcome.ok or done == planned.most_launches:
            return outcome
        batch_is_over = done % planned.launches == 0
        may_stop = planned.stop_when_sure and 1 < done < planned.launches
        undecided = list_undecided(done) if batch_is_over or may_stop else None
        if undecided is not None or batch_is_over:
            sides = _only_benchmarks(sides, undecided or [])
        if not any(side.selection.benchmarks for side in sides):
            break
    # It may have been stopped while it asked.
    return Outcome() if stop.reason is None else stopped_outcome(stop.reason)


def _only_launch(sides: Sequence[Side], launch: int) -> list[Side]:
    """Return the sides with this launch alone."""
    return [
        msgspec.structs.replace(
            side,
            selection=msgspec.structs.replace(
                side.selection, first_launch=launch, launches=1
            ),
        )
        for side in sides
    ]


def _only_benchmarks(sides: Sequence[Side], names: Sequence[str]) -> list[Side]:
    """Return the sides with only the benchmarks that have these names at head."""
    head = sides[-1].prepared.manifest
    narrowed = []
    for side in sides:
        side_names = names
        if side.name == BASE:
            side_names, _ = select_at_base(side.prepared.manifest, head, names, {})
        benchmarks = [name for name in side.selection.benchmarks if name in side_names]
        selection = msgspec.structs.replace(side.selection, benchmarks=benchmarks)
        narrowed.append(msgspec.structs.replace(side, selection=selection))
    return narrowed


def launches_of_revision(
    prepared: Prepared,
    selection: Selection,
    place: TargetLayout = HOST_LAYOUT,
    side: SideName | None = None,
) -> list[LaunchSpec]:
    """Return launch 0 of every workload, then launch 1 of every workload, and so on, so that drift affects all alike.
    Paths and variables are those of `place`."""
    manifest = prepared.manifest
    specs = []
    for launch in range(
        selection.first_launch, selection.first_launch + selection.launches
    ):
        for name in selected_workloads(manifest, selection):
            build = prepared.builds[name]
            directory = place.location(prepared.built.directories[name])
            argv = launch_argv(
                manifest,
                selection,
                name,
                launch=launch,
                build=build,
                artifacts=directory,
            )
            specs.append(
                LaunchSpec(
                    name,
                    launch,
                    argv,
                    directory,
                    place.environment(build.env),
                    build.launch_timeout_s,
                    side,
                    draw_layout_bytes(selection.seed_of(launch), launch, name, side),
                )
            )
    return specs


class LaunchSink(Sink, Protocol):
    """A sink that is told when its launch is over."""

    def close(self) -> None:
        """Mark the launch as over: no more calls follow."""
