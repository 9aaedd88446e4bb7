"""Requests the first run of an empty database and shows its progress on the terminal.

It gives the dashboard something to show, and measures only the suite's preset `first_look`, so that nobody waits for
the whole suite.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.manifest import FIRST_LOOK
from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.detect import service as detect
from paceline_server.fleet import service as fleet
from paceline_server.ingest import reader as ingest
from paceline_server.jobs import service as jobs
from paceline_server.jobs.outcomes import CLAUSES, WITHOUT_VERDICT
from paceline_server.jobs.schemas import JobOut, RunIn, RunOut
from paceline_server.kernel import settings
from paceline_server.kernel.errors import ProblemError
from paceline_server.store import access
from paceline_server.store.session import database, read_scope, session_scope

SUITE = "hashing"
LOOK_EVERY_S = 0.5
ANNOUNCED_WITHIN_S = 120.0
"""A working agent announces its suites within this time."""
FINAL = ("done", "failed", "cancelled")
DETAIL_LINES = 8
"""Lines of a cause's detail that the terminal shows; the run's page has all of them."""

Say = Callable[[str], None]


def request_and_follow(ended: threading.Event, say: Say, agent_log: Path) -> None:
    """Request a run in the project `default` unless there is a run already, and show its progress to its end.
    Waits for the suite first.
    """
    with access.using(access.of_project(access.DEFAULT_PROJECT_ID)):
        _request_and_follow(ended, say, agent_log)


def _request_and_follow(ended: threading.Event, say: Say, agent_log: Path) -> None:
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
    if not _wait_for_suite(ended):
        if not ended.is_set():
            say(
                f"The agent has not announced the suite {SUITE!r} yet; its log: {agent_log}"
            )
        return
    with session_scope() as session:
        request, repeat = _first_look(catalog.find(session, SUITE).manifest)
        run = jobs.create_run(session, request, created_by="up")
    say(f"Measuring the suite {SUITE!r} on this host for a first look …")
    ended_run = _follow(run.id, ended, say)
    if ended_run is not None:
        page = f"{settings.current().public_url}/runs/{run.id}"
        say(describe_end(ended_run, repeat, page, _advice(ended_run)))


def _first_look(raw: dict[str, Any]) -> tuple[RunIn, str]:
    """Return the request of the first run, and the command that measures the same in this clone."""
    preset = read_manifest(raw).presets.get(FIRST_LOOK)
    if preset is None:
        return RunIn(suite=SUITE), f"make bench SUITE={SUITE}"
    request = RunIn(
        suite=SUITE,
        **{
            name: value
            for name, value in msgspec.structs.asdict(preset).items()
            if name not in ("title", "description") and value is not None
        },
    )
    return request, f'make bench SUITE={SUITE} ARGS="--preset {FIRST_LOOK}"'


def _wait_for_suite(ended: threading.Event) -> bool:
    """Wait until a real target can run the suite; returns False if none can in time."""
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


def _advice(run: RunOut) -> str | None:
    """Return the analysis's first advice about why it could not decide, if it gave any."""
    with read_scope() as session:
        for job in run.jobs:
            try:
                for reason in detect.report_of(session, job.id).reasons:
                    if reason.next_step:
                        return reason.next_step
            except ProblemError:  # The job was not analysed.
                continue
    return None


def _follow(run_id: str, ended: threading.Event, say: Say) -> RunOut | None:
    """Show a run's progress until it ends, and return it; None if the server ends before."""
    shown = ""
    since: dict[tuple[str, str], float] = {}
    on_terminal = sys.stdout.isatty()
    while not ended.is_set():
        version = database().hints.version("live")
        with read_scope() as session:
            run = jobs.get_run(session, run_id)
            lines = [
                describe_job(job)
                if not on_terminal
                else live_line(
                    job,
                    _seconds_in_state(job, since),
                    _newest_line(session, job),
                    shutil.get_terminal_size().columns,
                )
                for job in run.jobs
            ]
        for line in lines:
            if line == shown:
                continue
            shown = line
            if on_terminal:
                sys.stdout.write(f"\r\x1b[K{line}")
                sys.stdout.flush()
            else:
                say(f"  {line}")
        if run.state in FINAL:
            return run
        database().hints.wait("live", version, LOOK_EVERY_S)
    return None


def _seconds_in_state(job: JobOut, since: dict[tuple[str, str], float]) -> float:
    now = time.monotonic()
    return now - since.setdefault((job.id, job.state), now)


def _newest_line(session: Session, job: JobOut) -> str:
    """Return the last line that a running build printed."""
    if job.state != "preparing":
        return ""
    tail = ingest.log_tail(session, job.id, attempt=None, lines=1).items
    return tail[-1].text if tail else ""


def describe_job(job: JobOut) -> str:
    """Return a line about a job for output that is no terminal, where each change becomes a new line. Progress is in
    steps of 10 %."""
    if (percent := _percent(job)) is not None:
        return f"{_describe_launch(job)}, {percent // 10 * 10} %"
    return f"{job.target_name}: {job.state}{f' ({words})' if (words := _describe_step(job)) else ''}"


def _describe_step(job: JobOut) -> str | None:
    """Return what a job waits for, or its current step."""
    return job.detail if job.waiting_reason is None else job.waiting_reason.text


def live_line(job: JobOut, seconds: float, printed: str, columns: int) -> str:
    """Return a line about a job that is rewritten in place on a terminal: how long it has been in this state, and the
    last line that a build printed."""
    if (percent := _percent(job)) is not None:
        text = f"  {_describe_launch(job)}, {percent} %"
    else:
        parts = [f"  {job.target_name}: {job.state}", f"{seconds:.0f} s"]
        parts += [part for part in (_describe_step(job), _printable(printed)) if part]
        text = " · ".join(parts)
    return text if len(text) < columns else f"{text[: columns - 2]}…"


_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def _printable(text: str) -> str:
    """Return a program's line without the control sequences that move the cursor or change colours."""
    return "".join(filter(str.isprintable, _COLOURS.sub("", text))).strip()


def _describe_launch(job: JobOut) -> str:
    progress = job.progress
    counted = (
        "" if progress is None else f" launch {progress.launch + 1}/{progress.launches}"
    )
    return f"{job.target_name}: {job.state}{counted}"


def _percent(job: JobOut) -> int | None:
    progress = job.progress
    if progress is None or job.state != "measuring" or not progress.total:
        return None
    return 100 * progress.done // progress.total


def describe_end(run: RunOut, repeat: str, page: str, advice: str | None = None) -> str:
    """Return how the first run ended. Without a verdict, the text includes the first error and the command to repeat
    the run."""
    if run.outcome not in WITHOUT_VERDICT:
        reason = f" ({run.reason})" if run.reason else ""
        text = f"\nFirst run: {run.outcome}{reason}.\n"
        text += f"  {advice}\n" if advice else ""
        return f"{text}  All about it:  {page}"
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
