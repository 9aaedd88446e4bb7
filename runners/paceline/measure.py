"""Runs the launches of a selection: K fresh processes per workload, interleaved by launch (I2).

Place in the journey: the agent's step "execute" and the second half of `paceline run`; both give it their
own sink. Invariant: the first launch that does not count ends the job: a failed benchmark is a signal,
never retried here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from paceline.executors.base import HOST_LAYOUT, LaunchSpec, Session, Sink, TargetLayout
from paceline.outcome import Outcome, stopped_outcome
from paceline.selection import Selection, launch_argv, selected_workloads
from paceline.source import Prepared
from paceline.stop import Stop


class LaunchSink(Sink, Protocol):
    """A sink that is told when its launch is over."""

    def close(self) -> None:
        """No more calls follow for this launch."""


def run_launches(
    specs: Iterable[LaunchSpec],
    session: Session,
    sink_for: Callable[[LaunchSpec], LaunchSink],
    stop: Stop,
) -> Outcome:
    """All launches in order; the outcome of the first that does not count, else ok. Of a launch pair the
    outcome names the side."""
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


def launches_of_revision(
    prepared: Prepared, selection: Selection, place: TargetLayout = HOST_LAYOUT
) -> list[LaunchSpec]:
    """Launch 0 of every workload, then launch 1 of every workload, …: drift meets them alike. Paths and
    variables are those of `place`."""
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
            env = place.environment(build.env)
            specs.append(
                LaunchSpec(name, launch, argv, directory, env, build.launch_timeout_s)
            )
    return specs
