"""`paceline import`: reads what other tools measured, or figures that an app logged, and stores them.

It takes one source, and a place to store the document or --dry-run. The document is the same in every case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import typer
from paceline_contract.imported_series import LeftOut, sentences
from paceline_contract.readers import declared_csv, declared_lines
from paceline_contract.readers.registry import READERS, StatedOrigin
from paceline_contract.results import cases_without_figures
from rich.table import Table

from paceline import config, importing, manifest, result_files
from paceline.commands.options import DataDir, Fresh, OutDir, output_directory
from paceline.commands.server_client import UNAUTHENTICATED, Item, ServerClient
from paceline.commands.this_host import ConfigPath
from paceline.credentials import check_address, check_credential
from paceline.display import print_json, print_line, print_note, terminal
from paceline.errors import UserError
from paceline.formats.declared import Line
from paceline.formats.logcat import BatchPolicy

if TYPE_CHECKING:
    from paceline.adb.port import Connection

LOG = "logcat"
RECOGNISED = "auto"
"""The file or directory is read by whichever reader knows it."""
DECLARED = declared_csv.TOOL, declared_lines.TOOL
FORMATS = (RECOGNISED, LOG, *DECLARED, *READERS)
_POLICY = re.compile(r"(\d{1,9})(?:/(\d{1,6}))?", re.ASCII)


def import_(  # noqa: PLR0917 - one parameter per option is how typer declares them
    file: Annotated[
        str | None,
        typer.Argument(
            help="A tool's results, a log, - for standard input, or criterion's output directory."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="auto, which recognises the tool, or logcat, csv, lines, or a tool's name.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Read a device's log instead of FILE: HOST:PORT or adb's name for it."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="How long to read a device's log; default: until Ctrl-C."
        ),
    ] = None,
    suite: Annotated[
        Path | None,
        typer.Option(
            help="A suite.toml. Of a log, read the lines it declares; with --format and --server, apply its gates."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Store nothing, only print.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the stored document, not tables.")
    ] = False,
    directory: OutDir = None,
    server: Annotated[
        str | None,
        typer.Option(
            help="Store on this server; needs a token that may import.",
            parser=check_address,
            metavar="URL",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PACELINE_TOKEN",
            help="An API token.",
            parser=check_credential,
            metavar="TOKEN",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="With --server: the import's title.")
    ] = None,
    in_force: Annotated[
        str | None,
        typer.Option(
            help="The batch policy in force, to compare with measurements: MINIMUM or MINIMUM/ROUNDS."
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(help="With --server: the target that measured."),
    ] = None,
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
    at: Annotated[
        str | None,
        typer.Option(
            help="When it was measured, for example 2026-11-29T07:30:00Z; default: as the file says, or now.",
            metavar="TIME",
        ),
    ] = None,
    fresh: Fresh = False,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="With --server: its points count, and changes are looked for in their history.",
        ),
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Of --format csv and lines: what a column is: COLUMN=benchmark, arm, param, failure, value, unit, or the "
            "unit of its figures. Repeatable.",
            metavar="COLUMN=ROLE",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="Of --format lines: a regular expression of the lines to read; its named groups are the columns.",
        ),
    ] = None,
    data: DataDir = None,
    config_path: ConfigPath = None,
) -> None:
    """Import what another tool measured, or figures from a log.

    The tool of a file is recognised; logs need a suite. Nothing imported gets a verdict. Without --judge its points are
    shown and never judged.
    """
    if dry_run == (directory is not None or server is not None):
        raise UserError(
            "Say where to store the import, or that it is not stored.",
            "Use --out DIR, --server URL, or --dry-run.",
        )
    if form is None:
        form = _guess_format(file, is_log=device is not None or suite is not None)
    if form not in FORMATS:
        raise UserError(
            f"There is no format {form!r}.", f"Use one of: {', '.join(FORMATS)}."
        )
    _check_declaration(form, column, pattern)
    of_log = {"device": device, "seconds": seconds, "in-force": in_force}
    if form != LOG:
        _refuse_options(form, of_log)
        options = _SampleOptions(
            suite, on, commit, branch, at, fresh, title, judge, column or [], pattern
        )
        _import_samples(form, file, options, directory, as_json, server, token)
        return
    of_samples = {"on": on, "commit": commit, "branch": branch, "at": at}
    _refuse_options(
        form, {**of_samples, "fresh": fresh or None, "judge": judge or None}
    )
    _refuse_without(server, {"title": title})
    if (file is None) == (device is None):
        raise UserError(
            "Give one source: a file or a device.", "Use FILE, - or --device HOST:PORT."
        )
    if suite is None:
        raise UserError(
            "Say which lines of the log to read.",
            "Give the suite that declares them in [[logcat]] tables: --suite suite.toml.",
        )
    client = None if server is None else _client(server, token)
    target = None if directory is None else output_directory(directory, "")
    declared = _declared_lines(suite)
    if file is not None:
        document = importing.read(form, file, declared)
    else:
        connect = _make_connector(device or "", data, config_path)
        document = importing.follow(form, connect, seconds, declared)
    if in_force is not None:
        document = importing.with_policy(document, _parse_policy(in_force))
    _print_document(
        document, as_json, importing.complaints(document), importing.tables(document)
    )
    if target is not None:
        _write(document, target)
    if client is not None:
        body = importing.import_body(document, title)
        stored = client.send("POST", "/imports", body)
        count = len(stored["rows"])
        rows = "row" if count == 1 else "rows"
        print_note(f"Stored as {stored['id']}: {count} {rows}.")


def _guess_format(file: str | None, *, is_log: bool) -> str:
    """Return the format of a source for which none is named. Only logs are read from devices and with a suite."""
    return LOG if is_log or file is None else RECOGNISED


def _check_declaration(
    form: str, column: Sequence[str] | None, pattern: str | None
) -> None:
    """Raise UserError for a declaration that a format does not use, or for a missing one."""
    if form not in DECLARED:
        _refuse_options(form, {"column": column or None})
    if form != declared_lines.TOOL:
        _refuse_options(form, {"pattern": pattern})
    elif pattern is None:
        raise UserError("Say which lines to read.", "Give their --pattern.")


def _refuse_options(form: str, options: Mapping[str, object]) -> None:
    """Raise UserError for options that a format does not use."""
    for name, value in options.items():
        if value is not None:
            raise UserError(
                f"--{name} does not apply to --format {form}.", "Leave it out."
            )


def _refuse_without(server: str | None, options: Mapping[str, object]) -> None:
    """Raise UserError for options that only a server stores."""
    for name, value in options.items():
        if server is None and value is not None:
            raise UserError(
                f"--{name} is stored on a server only.",
                "Add --server URL, or leave it out.",
            )


class _SampleOptions(NamedTuple):
    """What a person says about results with samples."""

    suite: Path | None
    on: str | None
    commit: str | None
    branch: str | None
    at: str | None
    fresh: bool
    title: str | None
    judge: bool
    columns: Sequence[str]
    pattern: str | None


def _suite_name(path: Path | None) -> str | None:
    return None if path is None else manifest.load(path).suite.name


def _import_samples(  # noqa: PLR0917 - each from one option
    form: str,
    file: str | None,
    options: _SampleOptions,
    directory: Path | None,
    as_json: bool,
    server: str | None,
    token: str | None,
) -> None:
    of_server = {name: getattr(options, name) for name in ("suite", "on", "title")}
    _refuse_without(server, {**of_server, "judge": options.judge or None})
    client = None if server is None else _client(server, token)
    if file is None:
        raise UserError(
            "Give the tool's results.",
            f"For example: paceline import --format {form} FILE --server URL",
        )
    read = _read_results(file, None if form == RECOGNISED else form, options)
    target = None if directory is None else output_directory(directory, "")
    _print_document(
        read.result, as_json, result_files.complaints(read), result_files.tables(read)
    )
    if target is not None:
        _write(read.result, target)
    if client is not None:
        judging = result_files.JUDGED if options.judge else result_files.SHOWN
        body = result_files.import_body(
            read, _suite_name(options.suite), options.on, options.title, judging
        )
        stored = client.send("POST", "/imports", body)
        print_stored(stored, cases_without_figures(read.result))


def _read_results(
    path: str, tool: str | None, options: _SampleOptions
) -> result_files.ResultFile:
    at = parse_measured_at(options.at)
    origin = StatedOrigin(options.commit, options.branch, at)
    if tool in DECLARED:
        _refuse_options(tool, {"fresh": options.fresh or None})
        return result_files.read_declared(
            path, options.pattern, options.columns, origin
        )
    return result_files.read(path, tool, origin, is_fresh=options.fresh)


def print_stored(stored: Item, known: Sequence[LeftOut]) -> None:
    """Print the runs of an import, and what the server left out beside what is `known` to be."""
    left_out = msgspec.convert(stored.get("left_out", []), list[LeftOut])
    by_server = [entry for entry in left_out if entry not in known]
    for sentence in sentences(by_server):
        print_note(sentence)
    for run in stored["runs"]:
        count, commit = (len(run["series"]), run.get("commit") or "of no known commit")
        print_note(
            f"{run['baseline'] or 'no branch'}: {count} series, run {run['run_id']}, {commit}."
        )
    print_note(f"Stored as {stored['id']}, {_left_out_count(left_out)}.")


def _left_out_count(left_out: Sequence[LeftOut]) -> str:
    return f"{len(left_out)} series left out" if left_out else "nothing left out"


def _write(document: msgspec.Struct, target: Path) -> None:
    print_note(f"Written to {importing.write(document, target)}.")


def _print_document(
    document: msgspec.Struct,
    as_json: bool,
    complaints: Iterable[str],
    tables: Iterable[Table | str],
) -> None:
    for complaint in complaints:
        print_note(complaint)
    if as_json:
        print_json(msgspec.json.decode(importing.as_json(document)))
        return
    for part in tables:
        if isinstance(part, str):
            print_line(part)
        else:
            terminal().print(part, markup=False, highlight=False)


def _client(server: str, token: str | None) -> ServerClient:
    if token is None:
        raise UserError("The server needs a token.", UNAUTHENTICATED)
    return ServerClient(server, token)


def _declared_lines(suite: Path) -> list[Line]:
    lines = manifest.load(suite).log_lines()
    if not lines:
        raise UserError(
            f"{suite} declares no log lines.", "Declare them in [[logcat]] tables."
        )
    return lines


def parse_measured_at(text: str | None) -> datetime | None:
    """Return the time that a person names. Raises UserError for one without a zone."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise UserError(
            f"{text!r} is no time with a zone.", "Use --at 2026-11-29T07:30:00Z."
        )
    return at


def _parse_policy(text: str) -> BatchPolicy:
    match = _POLICY.fullmatch(text.strip())
    if match is None:
        raise UserError(
            f"{text!r} is not a batch policy.",
            "Use 2000, or 2000/1 with one warm-up round.",
        )
    rounds = None if match[2] is None else int(match[2])
    return BatchPolicy(int(match[1]), rounds, f"--in-force {text.strip()}")


def _make_connector(
    device: str, data: Path | None, config_path: Path | None
) -> Callable[[], Connection]:
    """Return a function that opens connections to a device: directly to an address or on USB, otherwise through the adb
    server."""
    from paceline.adb.keys import key_directory  # noqa: PLC0415 - files need none of it
    from paceline.adb.port import Route  # noqa: PLC0415
    from paceline.adb.usb import UsbBus  # noqa: PLC0415
    from paceline.devices.backends import AdbBackends  # noqa: PLC0415

    settings = config.load(config_path).devices
    usb = UsbBus() if settings.usb else None
    keys = key_directory(config.data_dir(data))
    backends = AdbBackends(settings.adb_server, keys, usb)
    if config.ADDRESS.fullmatch(device) is not None:
        route = Route("tcp", device)
    else:
        backends.list_devices()
        usb_routes = {route.name: route for route in backends.list_usb_routes()}
        route = usb_routes.get(device) or backends.route_to(device)
    return lambda: backends.open(route)
