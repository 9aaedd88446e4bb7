"""`paceline migrate`: brings the history that another tool kept to a server, the oldest commit first.

The server stores each commit once, however often it is sent. So a migration that was stopped, at whatever point, is
started again and sends only what is missing; nothing about it is kept here.
"""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Annotated

import msgspec
import typer
from paceline_contract.imported_series import LeftOut
from paceline_contract.readers.history import HistoryEntry
from paceline_contract.readers.registry import HISTORIES
from paceline_contract.results import Result, cases_without_figures

from paceline import histories
from paceline.api import ApiClient, ApiError
from paceline.commands.options import (
    SubmitServer,
    SubmitToken,
    check_choice,
    refuse_without_server,
    refuse_without_token,
)
from paceline.commands.server_client import READ_TRIES, user_errors
from paceline.display import display_for, print_line, print_note, terminal
from paceline.errors import UserError
from paceline.histories import HistorySummary, LeftOutCounter
from paceline.interruption import run_interruptibly
from paceline.result_files import MOVED_IN, ResultFile, import_body

DEFAULT_TARGET = "imported"
"""The target of what names none, as the server calls it."""
REFUSED_CONTENT = (400, 413, 422)
"""The server's answers about what was sent; the others are about the server, the token or the project."""
MAX_REFUSED = 20
"""After so many refusals, and nothing else, nothing will be stored."""


def migrate(  # noqa: PLR0917 - one parameter per option is how typer declares them
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORM",
            help=f"Whose history it is: {', '.join(HISTORIES)}.",
            autocompletion=lambda: list(HISTORIES),
        ),
    ],
    path: Annotated[
        str,
        typer.Argument(
            help="data.js, or asv's directory of results, or target/criterion."
        ),
    ],
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what will be where, and send nothing."),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--on",
            help="The target that measured. Default: the machine that asv names, else imported.",
        ),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            help="The branch of these commits. Default: the project's default branch."
        ),
    ] = None,
    server: SubmitServer = None,
    token: SubmitToken = None,
) -> None:
    """Bring the history that another tool kept to a server, each result at its own time and commit.

    The server looks for changes in it and tells nobody about them. A migration that was stopped is started again: what
    the server has is not stored twice. What cannot be read is left out with the reason. Exit: 0 all the rest is stored,
    1 nothing could be or the server was away, 130 interrupted.
    """
    check_choice(form, "history", tuple(HISTORIES))
    if not dry_run:
        address, credential = (
            server or refuse_without_server(),
            token or refuse_without_token(),
        )
    entries = _on_target(histories.read(form, path), target)
    left_out = LeftOutCounter()
    if dry_run:
        _print_summary(form, path, entries, branch)
        return
    stop = threading.Event()
    with closing(ApiClient(address, credential)) as api:
        migration = _Migration(api, left_out)
        is_whole = run_interruptibly(
            lambda: migration.send_all(entries, branch, stop), stop.set
        )
    for sentence in left_out.sentences():
        print_note(sentence)
    print_line(
        f"{migration.stored:,} stored, {migration.present:,} were there before, of {len(entries):,} in {path}."
    )
    if not is_whole:
        print_note("Interrupted. Start it again: only what is missing is stored.")
        raise typer.Exit(130)
    if not migration.arrived:
        raise UserError(f"Nothing in {path} could be stored.")


def _on_target(entries: list[HistoryEntry], target: str | None) -> list[HistoryEntry]:
    """Return the entries on a target that a person names. Raises UserError if they are of several machines."""
    if target is None:
        return entries
    named = sorted({entry.target for entry in entries if entry.target is not None})
    if len(named) > 1:
        raise UserError(
            f"--target {target} would mix what {len(named)} targets measured: {', '.join(named)}.",
            "Leave it out: each keeps its name.",
        )
    return [entry._replace(target=target) for entry in entries]


def _print_summary(
    form: str, path: str, entries: list[HistoryEntry], branch: str | None
) -> None:
    summary = HistorySummary(form, DEFAULT_TARGET)
    results = histories.read_results(entries, branch, summary.left_out)
    display = display_for(terminal(stderr=True), verbose=False)
    try:
        for number, (entry, result) in enumerate(results, 1):
            if result is not None:
                summary.add(entry, result)
            display.step(number, len(entries), "read")
    finally:
        display.close()
    for sentence in summary.left_out.sentences():
        print_note(sentence)
    if not summary.entries:
        raise UserError(f"{path} holds no figures.")
    for part in summary.tables():
        if isinstance(part, str):
            print_line(part)
        else:
            terminal().print(part, markup=False, highlight=False)
    print_line("Nothing was sent.")


class _Migration:
    """Sends the entries of a history to a server, and counts what arrived."""

    def __init__(self, api: ApiClient, left_out: LeftOutCounter) -> None:
        self._api, self._left_out = api, left_out
        self._refused = 0
        self.stored = self.present = 0

    @property
    def arrived(self) -> int:
        """Return how many entries the server has."""
        return self.stored + self.present

    def send_all(
        self, entries: list[HistoryEntry], branch: str | None, stop: threading.Event
    ) -> bool:
        """Send each entry that has figures; return False if the user stopped it. Raises UserError if the server is away,
        or refuses everything."""
        display = display_for(terminal(stderr=True), verbose=False)
        results = histories.read_results(entries, branch, self._left_out)
        try:
            with user_errors():
                for number, (entry, result) in enumerate(results, 1):
                    if stop.is_set():
                        return False
                    if result is not None:
                        self._send(entry, result)
                    display.step(number, len(entries), "sent")
        except UserError as error:
            if self.arrived:
                error.advice = (
                    f"{error.advice} {self.arrived:,} are on the server: start it again to send the others."
                ).lstrip()
            raise
        finally:
            display.close()
        return True

    def _send(self, entry: HistoryEntry, result: Result) -> None:
        """Send a result, and count what the server leaves out or refuses of it. Raises ApiError, UnreachableError."""
        file = ResultFile(entry.place, None, result)
        body = import_body(file, None, entry.target, entry.title, MOVED_IN)
        try:
            answer, is_new = self._api.store("/imports", body, READ_TRIES)
        except ApiError as error:
            self._refused += 1
            if error.status not in REFUSED_CONTENT or (
                self._refused >= MAX_REFUSED and not self.arrived
            ):
                raise
            self._left_out.add(LeftOut.of(entry.place, None, error.detail))
            return
        self.stored, self.present = self.stored + is_new, self.present + (not is_new)
        known = cases_without_figures(result)
        for by_server in msgspec.convert(answer.get("left_out", []), list[LeftOut]):
            if by_server not in known:
                self._left_out.add(by_server)
