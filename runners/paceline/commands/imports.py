"""`paceline import`: reads figures that an app logged, or what criterion measured, and stores them.

It takes exactly one source and at least one place to store, or --dry-run; the document is the same wherever
it goes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table

from paceline import config, criterion_runs, importing, manifest
from paceline.commands.server_client import ServerClient, out, print_line
from paceline.commands.this_host import ConfigPath, DataDir
from paceline.display import terminal
from paceline.errors import UserError
from paceline.formats.declared import Line
from paceline.formats.ledger_prose import BatchPolicy
from paceline.output import fresh_directory

if TYPE_CHECKING:
    from paceline.adb.port import Connection

notes = terminal(stderr=True)

_IN_FORCE = re.compile(r"(\d{1,9})(?:/(\d{1,6}))?", re.ASCII)


SuitePath = Annotated[
    Path | None,
    typer.Option(
        help="A suite.toml: its lines of a log are read as well; on a server criterion's benchmarks of the "
        "same names are held against its gates."
    ),
]
InForce = Annotated[
    str | None,
    typer.Option(
        help="The policy in force, MINIMUM or MINIMUM/ROUNDS, if it names none."
    ),
]
Directory = Annotated[
    Path | None,
    typer.Option("--out", help="Where to write import.json; must be new or empty."),
]
Server = Annotated[
    str | None,
    typer.Option(help="A server to store it on; needs a token of scope ingest."),
]
OnTarget = Annotated[
    str | None,
    typer.Option(
        help="Of criterion, for --server: the name of the target that measured it."
    ),
]


def import_(  # noqa: PLR0917 - one parameter per option is how typer declares them
    file: Annotated[
        str | None,
        typer.Argument(
            help="What to read; - is standard input; of criterion also its directory."
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="What it is: logcat or criterion.")
    ] = "logcat",
    device: Annotated[
        str | None,
        typer.Option(
            help="Instead of FILE: HOST:PORT of a device, or what adb calls it."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="How long to read a device's log; else until Ctrl-C."
        ),
    ] = None,
    suite: SuitePath = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Store nothing, only show.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what is stored, not tables.")
    ] = False,
    directory: Directory = None,
    server: Server = None,
    token: Annotated[
        str | None, typer.Option(envvar="PACELINE_TOKEN", help="An API token.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="For --server: what people call it there.")
    ] = None,
    in_force: InForce = None,
    on: OnTarget = None,
    commit: Annotated[
        str | None,
        typer.Option(help="Of criterion, for --server: the commit it measured."),
    ] = None,
    data: DataDir = None,
    config_path: ConfigPath = None,
) -> None:
    """Reads figures that an app printed into a log (averages, not samples), or criterion's runs with every
    sample. No verdict is made of either."""
    if dry_run == (directory is not None or server is not None):
        raise UserError(
            "Say where to store, or that nothing is to be stored.",
            "--out DIR, --server URL, or --dry-run.",
        )
    if form == "criterion":
        _none_of(
            "criterion", {"device": device, "seconds": seconds, "in-force": in_force}
        )
        _only_told(server, {"suite": suite, "on": on, "commit": commit, "title": title})
        desk = None if server is None else _desk(server, token)
        name = None if suite is None else manifest.load(suite).suite.name
        measured = criterion_runs.Provenance(name, on or "imported", commit)
        _criterion(file, directory, as_json, desk, measured, title)
        return
    _none_of(form, {"on": on, "commit": commit})
    _only_told(server, {"title": title})
    if (file is None) == (device is None):
        raise UserError(
            "Say what to read: one file or one device.",
            "FILE, - or --device HOST:PORT.",
        )
    desk = None if server is None else _desk(server, token)
    target = None if directory is None else fresh_directory(directory, "")
    declared = [] if suite is None else _declared(suite)
    if file is not None:
        document = importing.read(form, file, declared)
    else:
        document = importing.follow(
            form, _opening(device or "", data, config_path), seconds, declared
        )
    if in_force is not None:
        document = importing.with_policy(document, _policy(in_force))
    _show(document, as_json)
    if target is not None:
        _write(document, target)
    if desk is not None:
        _keep(desk, document, title)


def _keep(
    desk: ServerClient, document: importing.LogDocument, title: str | None
) -> None:
    """Stores a document of averages on a server and says what it is called there."""
    stored = desk.send("POST", "/imports", importing.import_body(document, title))
    count = len(stored["rows"])
    rows = f"{count} {'row' if count == 1 else 'rows'}, {stored['note_count']} with something to note"
    notes.print(
        f"Stored as {stored['id']}: {rows}.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _none_of(form: str, others: Mapping[str, object]) -> None:
    """Refuses options that a format has no use for."""
    for name, value in others.items():
        if value is not None:
            raise UserError(f"--{name} is not for --format {form}.", "Leave it out.")


def _only_told(server: str | None, others: Mapping[str, object]) -> None:
    """Refuses what only a server is told: the document is of what was read, and keeps none of it."""
    for name, value in others.items():
        if server is None and value is not None:
            raise UserError(
                f"--{name} is told to a server, and the document does not keep it.",
                "Add --server URL, or leave it out.",
            )


def _criterion(  # noqa: PLR0917 - each from one option
    path: str | None,
    directory: Path | None,
    as_json: bool,
    desk: ServerClient | None,
    where: criterion_runs.Provenance,
    title: str | None,
) -> None:
    """Criterion's output to OUT/import.json, a server, or the screen alone."""
    if path is None:
        raise UserError(
            "Say what to read.",
            "paceline import --format criterion target/criterion --server URL",
        )
    target = None if directory is None else fresh_directory(directory, "")
    document = criterion_runs.read(path)
    for complaint in criterion_runs.complaints(document):
        notes.print(complaint, markup=False, highlight=False, soft_wrap=True)
    if as_json:
        sys.stdout.write(importing.as_json(document).decode())
    else:
        _print(criterion_runs.tables(document))
    if target is not None:
        _write(document, target)
    if desk is not None:
        stored = desk.send(
            "POST", "/imports", criterion_runs.import_body(document, where, title)
        )
        for run in stored["runs"]:
            told = (
                f"{run['baseline']}: {len(run['series'])} series, run {run['run_id']}."
            )
            notes.print(told, markup=False, highlight=False, soft_wrap=True)
        notes.print(
            f"Stored as {stored['id']}.", markup=False, highlight=False, soft_wrap=True
        )


def _write(document: msgspec.Struct, target: Path) -> None:
    where = importing.write(document, target)
    notes.print(f"Written to {where}.", markup=False, highlight=False, soft_wrap=True)


def _show(document: importing.LogDocument, as_json: bool) -> None:
    for complaint in importing.complaints(document):
        notes.print(complaint, markup=False, highlight=False, soft_wrap=True)
    if as_json:
        sys.stdout.write(importing.as_json(document).decode())
        return
    _print(importing.tables(document))


def _print(shown_ones: Iterable[Table | str]) -> None:
    for shown in shown_ones:
        if isinstance(shown, str):
            print_line(shown)
        else:
            out.print(shown, markup=False, highlight=False)


def _desk(server: str, token: str | None) -> ServerClient:
    if token is None:
        raise UserError(
            "The server wants a token.", "Give one with --token or PACELINE_TOKEN."
        )
    return ServerClient(server, token)


def _declared(suite: Path) -> list[Line]:
    lines = manifest.load(suite).log_lines()
    if not lines:
        raise UserError(
            f"{suite} declares no lines of a log.", "It would in [[logcat]] tables."
        )
    return lines


def _policy(text: str) -> BatchPolicy:
    found = _IN_FORCE.fullmatch(text.strip())
    if found is None:
        raise UserError(
            f"{text!r} is no policy.", "Say 2000, or 2000/1 with one warm-up round."
        )
    rounds = None if found[2] is None else int(found[2])
    return BatchPolicy(int(found[1]), None, rounds, [], f"--in-force {text.strip()}")


def _opening(
    device: str, data: Path | None, config_path: Path | None
) -> Callable[[], Connection]:
    """Opens connections to what a person calls a device: an address is asked directly, a name of the adb
    server."""
    from paceline.adb.direct import DirectConnection  # noqa: PLC0415 - files need none of it
    from paceline.adb.keys import AgentKey  # noqa: PLC0415
    from paceline.adb.server import AdbServer  # noqa: PLC0415

    if config.ADDRESS.fullmatch(device) is None:
        server = AdbServer(config.load(config_path).devices.adb_server)
        return lambda: server.connection(device)
    key = AgentKey.of_agent(config.data_dir(data))
    return lambda: DirectConnection(device, key)
