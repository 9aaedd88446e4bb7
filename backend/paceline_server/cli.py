"""The `paceline-server` command: one sentence per command, errors with advice, exit status 0 or 1 (judge: its
own).

Place: the entry point for people, compose and CI. Imports what a command needs only when it runs, because
starting fast is part of the promise (`up` ready within seconds).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from paceline_server import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Paceline's server.",
)
account = typer.Typer(no_args_is_help=True, help="People who may sign in.")
app.add_typer(account, name="account")

DataDir = Annotated[
    Path | None,
    typer.Option("--data", help="Where everything is kept (embedded shape)."),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on.")]
Port = Annotated[int | None, typer.Option(help="Port to listen on.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paceline-server {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Paceline's server."""


def _usage_errors_exit_1() -> None:
    """A command used wrongly exits 1 (error), not click's 2: that says a gate or arm rule failed."""
    usage_error = next(
        cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError"
    )
    usage_error.exit_code = 1  # type: ignore[attr-defined] # on typer's own copy of click


def main() -> None:
    """Entry point of the installed command."""
    from paceline_server.kernel.errors import ProblemError  # noqa: PLC0415 - see above
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    _usage_errors_exit_1()
    try:
        app()
    except SettingsError as error:
        sys.exit(f"paceline-server: {error}")
    except ProblemError as error:
        sys.exit(f"paceline-server: {error.detail}")


def _settings(**overrides: Any) -> Any:
    from paceline_server.kernel import logging  # noqa: PLC0415
    from paceline_server.kernel import settings as process_settings  # noqa: PLC0415

    settings = process_settings.load_settings(**overrides)
    process_settings.use(settings)
    logging.configure(settings.log_json)
    return settings


def _with_database(data: Path | None) -> Any:
    """Settings with the process's database open, for commands that change rows."""
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.store import migrations  # noqa: PLC0415
    from paceline_server.store.session import Database, use  # noqa: PLC0415

    settings = _settings(data_dir=data)
    database = Database(settings.resolved_database_url, settings.redis_url)
    use(database)
    if not migrations.is_current(database.engine):
        raise SettingsError(
            "the database is not set up: run `paceline-server migrate` (or `up`) first"
        )
    return settings


@app.command()
def up(  # noqa: PLR0917 - options, passed by name
    data: DataDir = None,
    host: Host = None,
    port: Port = None,
    agent: Annotated[bool, typer.Option(help="Start an agent for this host.")] = True,
    first_run: Annotated[
        bool, typer.Option(help="Measure once on the very first start.")
    ] = True,
    devices: Annotated[
        int,
        typer.Option(
            min=0, max=16, help="Simulated Android devices to try the loop with."
        ),
    ] = 0,
) -> None:
    """Start everything on this machine: database, server, background work, an agent; no other services
    needed."""
    from paceline_server.runtime import up as embedded  # noqa: PLC0415

    settings = _settings(data_dir=data, host=host, port=port)
    options = embedded.Options(agent=agent, first_run=first_run, devices=devices)
    raise typer.Exit(embedded.run(settings, options))


@app.command()
def api(
    host: Host = None,
    port: Port = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="API processes (more than one needs Redis)."),
    ] = None,
) -> None:
    """Serve the API and the pages."""
    import os  # noqa: PLC0415

    from paceline_server.kernel.settings import PREFIX  # noqa: PLC0415
    from paceline_server.runtime import serving  # noqa: PLC0415

    settings = _settings(host=host, port=port, processes=processes)
    for name, value in {"HOST": host, "PORT": port, "PROCESSES": processes}.items():
        if value is not None:
            os.environ[PREFIX + name] = str(value)  # the other processes read it
    raise typer.Exit(serving.serve(settings))


@app.command()
def worker(
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="Messages carried out at once.")
    ] = 2,
) -> None:
    """Carry out background work from Redis, and sweep."""
    from paceline_server import worker as process  # noqa: PLC0415

    raise typer.Exit(process.run(_settings(), concurrency))


@app.command()
def migrate(data: DataDir = None) -> None:
    """Bring the database to this version's schema."""
    from paceline_server.store import migrations  # noqa: PLC0415

    settings = _settings(data_dir=data)
    changed = migrations.upgrade(settings.resolved_database_url)
    print("migrated" if changed else "already current", "to", migrations.head())


@app.command()
def openapi(
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: standard output.")
    ] = None,
) -> None:
    """Print the HTTP contract (C2)."""
    from paceline_server.api import create_app  # noqa: PLC0415
    from paceline_server.kernel import openapi as document  # noqa: PLC0415
    from paceline_server.kernel.settings import Settings  # noqa: PLC0415

    text = document.text(create_app(Settings()))
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command("sign-in-link")
def sign_in_link(
    name: Annotated[
        str | None, typer.Option(help="Account; default: the first one.")
    ] = None,
    data: DataDir = None,
) -> None:
    """Print a one-time link that signs an account in; in the embedded shape only while a server runs."""
    from paceline_server.accounts import service  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.runtime import data_lock  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    settings = _settings(data_dir=data)
    if settings.embedded and not data_lock.is_held(settings.data_dir):
        raise SettingsError(
            f"no server runs on the data directory {settings.data_dir.absolute()}, so a link would lead "
            "nowhere: start one with `make run` (or `paceline-server up`), or name another with --data"
        )
    settings = _with_database(data)
    with session_scope() as session:
        found = service.find_account(session, name)
        secret = service.create_link(session, found, settings.sign_in_link_minutes)
    known = data_lock.address(settings.data_dir)
    print(
        service.link_url(
            settings.public_url or known or f"http://{settings.host}:{settings.port}",
            secret,
        )
    )


@app.command("enrolment-code")
def enrolment_code(data: DataDir = None) -> None:
    """Print a one-time code with which one agent may enrol."""
    from paceline_server.fleet import service  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    _with_database(data)
    with session_scope() as session:
        print(service.create_enrolment_code(session).code)


@account.command("create")
def create_account(
    name: str,
    email: Annotated[
        str | None, typer.Option(help="Needed to sign in with a password.")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="read, alerts:write, ingest, admin; may repeat; all but admin unless given."
        ),
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option(help="Read a password from standard input.")
    ] = False,
    data: DataDir = None,
) -> None:
    """Create an account. Without a password it signs in by link only; there is no default password."""
    from paceline_server.accounts import service  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    _with_database(data)
    chosen = [
        known
        for known in service.HUMAN_SCOPES
        if known in (scope or ["read", "alerts:write", "ingest"])
    ]
    if scope and len(chosen) != len(set(scope)):
        raise SettingsError(f"scopes are {', '.join(service.HUMAN_SCOPES)}")
    password = sys.stdin.readline().rstrip("\n") if password_stdin else None
    with session_scope() as session:
        made = service.create_account(
            session, name, email=email, scopes=chosen, password=password
        )
        print(made.id)


@app.command()
def judge(
    directory: Annotated[Path, typer.Argument(help="What `paceline run` wrote.")],
    manifest: Annotated[
        Path | None, typer.Option(help="suite.toml to judge by, not the recorded one.")
    ] = None,
    *,
    json: Annotated[
        Path | None, typer.Option(help="Also write the figures here.")
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Revision to name, not the recorded one.")
    ] = None,
    pressure_limit_percent: Annotated[
        float | None,
        typer.Option(
            envvar="PACELINE_PRESSURE_LIMIT_PERCENT",
            help="Steal or CPU pressure that voids a job, for targets that are always shared.",
        ),
    ] = None,
    drift_limit_percent: Annotated[
        float | None,
        typer.Option(
            envvar="PACELINE_DRIFT_LIMIT_PERCENT",
            help="Drift of the calibration kernel that voids a job, for targets that are always shared.",
        ),
    ] = None,
) -> None:
    """Judge a measured directory: print the verdicts; exit 0 pass, 2 fail, 3 inconclusive, 1 error."""
    from paceline_server.detect import judge as judging  # noqa: PLC0415
    from paceline_server.stats.voids import VoidLimits  # noqa: PLC0415

    code = judging.judge(
        directory,
        sys.stdout,
        manifest_path=manifest,
        json_path=json,
        revision=revision,
        limits=VoidLimits.of_operator(pressure_limit_percent, drift_limit_percent),
    )
    raise typer.Exit(code)


@app.command("detect")
def detect_changes(
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read series from standard input.")
    ] = False,
) -> None:
    """Find the steps of series: a JSON list of values per line in, a JSON list of indexes per line out."""
    from paceline_server.detect import line_protocol  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    if not stdin:
        raise SettingsError(
            "say --stdin: series are read from standard input, one JSON list a line"
        )
    line_protocol.answer_lines(sys.stdin, sys.stdout)


@app.command()
def recompute(
    series: Annotated[str | None, typer.Option(help="One series, by its id.")] = None,
    suite: Annotated[str | None, typer.Option(help="The series of one suite.")] = None,
    *,
    from_points: Annotated[
        bool, typer.Option("--from-points", help="Leave the points as they are.")
    ] = False,
    data: DataDir = None,
) -> None:
    """Make history again: points from samples, levels and changes from points; say what differs."""
    from paceline_server.detect.recompute import recompute as again  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.runtime import memory  # noqa: PLC0415

    _with_database(data)
    memory.settle()
    if series is not None and suite is not None:
        raise SettingsError("expected --series or --suite, not both")
    for line in again(suite, series, samples=not from_points).lines():
        print(line)
