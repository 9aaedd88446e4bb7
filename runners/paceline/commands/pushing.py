"""`paceline push`: stores what a benchmark harness wrote in a pipeline, or what `paceline run` or `paceline ab` measured, and
shows what the server says about it.

The server looks for changes in the history that these points extend. Verdicts, outputs and exit statuses are those of
`paceline submit`. Nothing that another tool measured is compared within its run (I11), so mostly there is no verdict,
which is said and is no failure.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from paceline_contract.imported_series import LeftOut
from paceline_contract.outputs import (
    ERROR,
    FAILED,
    INCONCLUSIVE,
    PASSED,
    FailOn,
    Output,
    exit_status,
)
from paceline_contract.readers.registry import READERS, StatedOrigin
from paceline_contract.results import cases_without_figures

from paceline import manifest
from paceline.api import ApiClient
from paceline.commands import submitting
from paceline.commands.imports import (
    RECOGNISED,
    parse_measured_at,
    print_stored,
)
from paceline.commands.options import (
    FailOnOption,
    Formats,
    Fresh,
    OutputFiles,
    Server,
    Token,
    check_choice,
    parse_outputs,
)
from paceline.commands.server_client import READ_TRIES, user_errors
from paceline.commands.submitting import FinishedRun, StoppedError, Waiting
from paceline.display import print_note
from paceline.errors import UserError
from paceline.interruption import run_interruptibly
from paceline.recordings import write_recording
from paceline.result_files import (
    MOVED_IN,
    TOLD,
    ResultFile,
    complaints,
    import_body,
    read,
)

HARNESSES = (RECOGNISED, *READERS)
NO_VERDICT = (
    "No verdict: there is nothing to compare with yet. Its points are in the history, where the server looks for changes, "
    "and an alert says what it finds."
)
WORST_FIRST = (FAILED, ERROR, INCONCLUSIVE, PASSED)


def push(  # noqa: PLR0917 - one parameter per option is how typer declares them
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="What the harness wrote, or the directory of a `paceline run` or `paceline ab`; - is standard input, "
            "target/criterion what Criterion measured last.",
        ),
    ],
    server: Server,
    token: Token,
    harness: Annotated[
        str,
        typer.Option(
            help=f"The harness, instead of recognising it: {', '.join(HARNESSES[1:])}.",
            autocompletion=lambda: list(HARNESSES),
        ),
    ] = RECOGNISED,
    commit: Annotated[
        str | None,
        typer.Option(help="The commit that was measured; default: as the file says."),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            help="The branch of that commit; default: the file's, or the project's."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--on",
            help="The target that measured; default: the host of `paceline run`, else imported.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help="When it was measured, for example 2026-11-29T07:30:00Z; default: as the file says, or now.",
            metavar="TIME",
        ),
    ] = None,
    suite: Annotated[
        Path | None,
        typer.Option(
            help="A suite.toml whose gates apply to benchmarks of the same name."
        ),
    ] = None,
    fresh: Fresh = False,
    backfill: Annotated[
        bool,
        typer.Option(
            "--backfill",
            help="It is a history that moves in: its changes are shown, and nobody is told of them.",
        ),
    ] = False,
    timeout_s: Annotated[
        float, typer.Option(help="Stop waiting for the server after this long.")
    ] = 600.0,
    format_: Formats = None,
    output: OutputFiles = None,
    fail_on: FailOnOption = "inconclusive",
) -> None:
    """Store what a harness wrote or a run measured, let the server look for changes, and print what it says.

    Exit as `submit`: 0 pass, or nothing to compare with yet, 2 fail, 3 inconclusive, 1 error: a file that cannot be read, or
    no answer. With --fail-on fail, inconclusive exits 0; with --fail-on never, fail does too. Pushing the same again
    changes nothing. People hear of a change however old its commit is, unless it is a --backfill. Of several files the worst verdict counts; formats other than table need a single file.
    """
    check_choice(harness, "harness", HARNESSES)
    outputs = parse_outputs(format_ or [], output or [])
    if len(files) > 1:
        _refuse_documents(outputs, f"{len(files)} files")
    origin = StatedOrigin(commit, branch, parse_measured_at(at))
    suite_name = None if suite is None else manifest.load(suite).suite.name
    pushed = [
        _read_recording(Path(path), origin, suite_name, target, backfill=backfill)
        if _is_recording(path)
        else _read_file(
            path,
            harness,
            origin,
            suite_name,
            target,
            backfill=backfill,
            is_fresh=fresh,
        )
        for path in files
    ]
    stop = threading.Event()
    resume = "the same command again goes on waiting"
    waiting = Waiting(timeout_s, stop, how_to_resume=resume)
    try:
        runs = run_interruptibly(
            lambda: [
                run
                for body, left_out in pushed
                for run in _store(body, left_out, server, token, waiting)
            ],
            stop.set,
        )
    except StoppedError:
        print_note("Stopped: what was stored stays.")
        raise typer.Exit(130) from None
    raise typer.Exit(show(runs, server, token, outputs, fail_on))


class _Pushed(NamedTuple):
    """The body that stores a file or a recording, and what is known to be left out of it."""

    body: dict[str, Any]
    left_out: Sequence[LeftOut]


def _is_recording(path: str) -> bool:
    return path != "-" and (Path(path) / "run.json").is_file()


def _read_recording(
    path: Path,
    origin: StatedOrigin,
    suite: str | None,
    target: str | None,
    *,
    backfill: bool,
) -> _Pushed:
    """Return what was recorded in a directory. Raises UserError, also for options that it answers itself."""
    said = {"commit": origin.commit, "at": origin.at, "suite": suite}
    for name, value in said.items():
        if value is not None:
            raise UserError(
                f"{path} was measured by paceline, which wrote down --{name} itself.",
                "Leave the option out.",
            )
    recording = write_recording(path, origin.branch)
    return _Pushed(recording.import_body(target, notify=not backfill), ())


def _read_file(
    path: str,
    harness: str,
    origin: StatedOrigin,
    suite: str | None,
    target: str | None,
    *,
    backfill: bool,
    is_fresh: bool,
) -> _Pushed:
    file = _read(path, harness, origin, is_fresh=is_fresh)
    judging = MOVED_IN if backfill else TOLD
    body = import_body(file, suite, target, None, judging)
    return _Pushed(body, cases_without_figures(file.result))


def _read(
    path: str, harness: str, origin: StatedOrigin, *, is_fresh: bool
) -> ResultFile:
    """Return a file, whose commit is known. Raises UserError."""
    tool = None if harness == RECOGNISED else harness
    file = read(path, tool, origin, is_fresh=is_fresh)
    if file.result.commit is None:
        raise UserError(
            f"{path} does not say which commit was measured.",
            'Give it: --commit "$(git rev-parse HEAD)"',
        )
    for complaint in complaints(file):
        print_note(complaint)
    return file


def _store(
    body: dict[str, Any],
    left_out: Sequence[LeftOut],
    server: str,
    token: str,
    waiting: Waiting,
) -> list[FinishedRun]:
    """Store what a body holds and return its runs at their end. Raises UserError, StoppedError."""
    with closing(ApiClient(server, token)) as api, user_errors():
        stored, is_new = api.store("/imports", body, READ_TRIES)
        if not is_new:
            print_note("It is on the server already.")
        print_stored(stored, left_out)
        ended = [
            submitting.wait_for_run(api, run["run_id"], waiting)
            for run in stored["runs"]
        ]
    return [submitting.read_verdicts(server, token, run) for run in ended]


def show(
    runs: Sequence[FinishedRun],
    server: str,
    token: str,
    outputs: Sequence[Output],
    fail_on: FailOn,
) -> int:
    """Print and write the verdicts; return the exit status of the worst one. Raises UserError."""
    if len(runs) > 1:
        _refuse_documents(outputs, f"{len(runs)} runs")
    statuses = {PASSED}
    for run in runs:
        submitting.write_outputs(server, token, run, outputs)
        if _has_verdict(run):
            statuses.add(exit_status(run.run.get("outcome"), fail_on))
        else:
            print_note(NO_VERDICT)
    return next(status for status in WORST_FIRST if status in statuses)


def _refuse_documents(outputs: Sequence[Output], several: str) -> None:
    """Raise UserError for a format that is of one run."""
    if any(output.format != "table" for output in outputs):
        raise UserError(
            f"A --format other than table is of one run, and there are {several}.",
            "Push the files one after the other, or leave the format out.",
        )


def _has_verdict(run: FinishedRun) -> bool:
    """Return whether anything was decided about a run, or should have been."""
    return bool(run.comparisons) or run.run.get("outcome") != "inconclusive"
