"""The very first start measures something, so that the dashboard is not empty; this also shows it on the
terminal.

Invariant: asked for once per database: as soon as any run exists, never again. What it measures is the
suite's preset `first_look` (all of it without one), so that nobody waits for a whole suite. Follows rows, not
messages.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import structlog
from paceline_contract.manifest import FIRST_LOOK
from paceline_contract.manifest_reader import read_manifest

from paceline_server.catalog import service as catalog
from paceline_server.fleet import service as fleet
from paceline_server.jobs import service as jobs
from paceline_server.jobs.outcomes import CLAUSES, WITHOUT_VERDICT
from paceline_server.jobs.schemas import JobOut, RunIn, RunOut
from paceline_server.kernel import settings
from paceline_server.store.session import database, read_scope, session_scope

log = structlog.get_logger("paceline.first_run")

SUITE = "hashing"
LOOK_EVERY_S = 0.5
ANNOUNCED_WITHIN_S = 120.0
"""By then an agent that works has said what it can run."""
FINAL = ("done", "failed", "cancelled")
DETAIL_LINES = 8
"""Of a cause's detail that the terminal shows; the run's page has all of it."""

Say = Callable[[str], None]


def request_and_follow(ended: threading.Event, say: Say, agent_log: Path) -> None:
    """On an empty database: wait for the suite, request one run, show its progress until it is over."""
    with read_scope() as session:
        any_run = jobs.list_runs(
            session,
            suite=None,
            target=None,
            state=None,
            trigger=None,
            limit=1,
            cursor=None,
        )
        if any_run.items:
            return
    if not _announced(ended):
        if not ended.is_set():
            say(
                f"The agent has not announced the suite {SUITE!r} yet; its log: {agent_log}"
            )
        return
    with session_scope() as session:
        wanted, repeat = _first_look(catalog.find(session, SUITE).manifest)
        run = jobs.create_run(session, wanted, created_by="up")
    say(f"Measuring the suite {SUITE!r} on this host for a first look …")
    ended_run = _follow(run.id, ended, say)
    if ended_run is not None:
        say(ending(ended_run, repeat, f"{settings.current().public_url}/runs/{run.id}"))


def _first_look(raw: dict[str, Any]) -> tuple[RunIn, str]:
    """What to ask for, and the command that measures the same in a terminal of this clone."""
    preset = read_manifest(raw).presets.get(FIRST_LOOK)
    if preset is None:
        return RunIn(suite=SUITE), f"make bench SUITE={SUITE}"
    wanted = RunIn(
        suite=SUITE,
        **{
            name: value
            for name, value in msgspec.structs.asdict(preset).items()
            if name not in ("title", "description") and value is not None
        },
    )
    return wanted, f'make bench SUITE={SUITE} ARGS="--preset {FIRST_LOOK}"'


def _announced(ended: threading.Event) -> bool:
    waited = 0.0
    while not ended.is_set() and waited < ANNOUNCED_WITHIN_S:
        with read_scope() as session:
            if any(
                not target.simulated for target in fleet.online_targets(session, SUITE)
            ):
                return True
        ended.wait(LOOK_EVERY_S)
        waited += LOOK_EVERY_S
    return False


def _follow(run_id: str, ended: threading.Event, say: Say) -> RunOut | None:
    """The run at its end; None when the server ends before."""
    shown = ""
    on_terminal = sys.stdout.isatty()
    while not ended.is_set():
        seen = database().hints.version("live")
        with read_scope() as session:
            run = jobs.get_run(session, run_id)
        for job in run.jobs:
            line = _line(job, in_steps=not on_terminal)
            if line != shown:
                shown = line
                if on_terminal:
                    sys.stdout.write(f"\r\x1b[K  {line}")
                    sys.stdout.flush()
                else:
                    say(f"  {line}")
        if run.state in FINAL:
            return run
        database().hints.wait("live", seen, LOOK_EVERY_S)
    return None


def _line(job: JobOut, *, in_steps: bool) -> str:
    """One line about a job; in steps of 10 % where every change is a new line."""
    text = f"{job.target_name}: {job.state}"
    if job.progress is not None and job.state == "measuring" and job.progress.total:
        percent = 100 * job.progress.done // job.progress.total
        percent = percent // 10 * 10 if in_steps else percent
        text += (
            f" launch {job.progress.launch + 1}/{job.progress.launches}, {percent} %"
        )
    elif job.detail and not in_steps:
        text += f" ({job.detail})"
    return text


def ending(run: RunOut, repeat: str, page: str) -> str:
    """The last words about the first run: how it ended in one sentence; if nothing was judged also the first
    error, and the command that does the same again."""
    if run.outcome not in WITHOUT_VERDICT:
        reason = f" ({run.reason})" if run.reason else ""
        return f"\nFirst run: {run.outcome}{reason}. See it in the dashboard."
    job = next(job for job in run.jobs if job.outcome == run.outcome)
    because = "" if job.cause in (None, "cancelled") else f": {CLAUSES[job.cause]}"
    detail = [
        line.rstrip() for line in (job.cause_detail or "").splitlines() if line.strip()
    ]
    return "\n".join(
        [
            f"\nFirst run: {run.outcome} on {job.target_name}{because}.",
            *(f"    {line}" for line in detail[:DETAIL_LINES]),
            f"  To repeat it:  {repeat}",
            f"  All about it:  {page}",
        ]
    )
