"""The `paceline-server` command. Commands exit 0 or 1; `judge` has exit statuses of its own.

Each command imports what it needs when it runs, so that the command starts fast.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from paceline_contract import outputs

from paceline_server import __version__
from paceline_server.commands import accounts as account_commands
from paceline_server.commands.options import (
    SHELL,
    DataDir,
    ProjectOption,
    pages_url,
    refuse_without_server,
)
from paceline_server.commands.options import checked_role as _checked_role
from paceline_server.commands.options import read_settings as _settings
from paceline_server.commands.options import with_database as _with_database

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Paceline's server.",
)
app.add_typer(account_commands.app, name="account")
project_commands = typer.Typer(
    no_args_is_help=True, help="Projects, their members and their targets."
)
app.add_typer(project_commands, name="project")
token_commands = typer.Typer(
    no_args_is_help=True, help="Tokens of programs, such as CI."
)
app.add_typer(token_commands, name="token")
agent_commands = typer.Typer(
    no_args_is_help=True, help="Agents, their credentials, and claims to targets."
)
app.add_typer(agent_commands, name="agent")

ADMINISTER = "installation.admin"
NOT_GIVEN_HERE = ("agent", ADMINISTER)
"""Permissions that `token create` does not give: agents enrol, and above projects only a signed-in admin gives."""

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
    """Exit 1 on wrong usage, not click's 2, which means that a gate or arm rule failed."""
    usage_error = next(
        cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError"
    )
    usage_error.exit_code = 1  # type: ignore[attr-defined] # on typer's own copy of click


def main() -> None:
    """Entry point of the installed command."""
    from paceline_server.kernel.errors import ProblemError  # noqa: PLC0415 - imported when needed
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    outputs.print_any_text()
    _usage_errors_exit_1()
    try:
        app()
    except SettingsError as error:
        sys.exit(f"paceline-server: {error}")
    except ProblemError as error:
        sys.exit(f"paceline-server: {error.detail}")


@contextlib.contextmanager
def _changing_database(data: Path | None) -> Iterator[Any]:
    """A session of the database, for commands that change rows."""
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    _with_database(data)
    with session_scope() as session:
        yield session


@contextlib.contextmanager
def _changing_project(data: Path | None, name: str) -> Iterator[tuple[Any, str]]:
    """A session of the database with the id of a project, for commands that change the project."""
    from paceline_server.projects import service  # noqa: PLC0415

    with _changing_database(data) as session:
        yield session, service.find_project(session, name).id


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
    repository: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH[:MANIFEST]",
            help="A repository with suites of your own, for this and later starts; repeatable. "
            "Default MANIFEST: every committed suite.toml.",
        ),
    ] = None,
) -> None:
    """Start everything on this machine: database, server, background work and an agent.

    On shared hosts, PACELINE_PRESSURE_LIMIT_PERCENT and PACELINE_DRIFT_LIMIT_PERCENT raise the limits above
    which a ratio must clear an extra margin.
    """
    from paceline_server.runtime import up as embedded  # noqa: PLC0415

    settings = _settings(data_dir=data, host=host, port=port)
    options = embedded.Options(
        agent=agent,
        first_run=first_run,
        devices=devices,
        repositories=tuple(repository or ()),
    )
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
        int, typer.Option(min=1, max=64, help="Messages handled at once.")
    ] = 2,
) -> None:
    """Run background work from Redis, the analysis of jobs among it.

    On shared hosts, PACELINE_PRESSURE_LIMIT_PERCENT and PACELINE_DRIFT_LIMIT_PERCENT raise the limits above
    which a ratio must clear an extra margin.
    """
    from paceline_server import worker as process  # noqa: PLC0415

    raise typer.Exit(process.run(_settings(), concurrency))


@app.command()
def migrate(data: DataDir = None) -> None:
    """Migrate the database to this version's schema."""
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

    text = document.render_document(create_app(Settings()))
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command("verdicts-schema")
def verdicts_schema() -> None:
    """Print the JSON schema of paceline.verdicts/1."""
    from paceline_server.publish import service  # noqa: PLC0415

    sys.stdout.write(service.verdicts_schema())


@app.command("sign-in-link")
def sign_in_link(
    name: Annotated[
        str | None, typer.Option(help="Account; default: the first one.")
    ] = None,
    data: DataDir = None,
) -> None:
    """Print a one-time link that signs an account in. In the embedded shape a server must be running."""
    from paceline_server.accounts import credentials, service  # noqa: PLC0415

    settings = _settings(data_dir=data)
    refuse_without_server(settings)
    with _changing_database(data) as session:
        secret = credentials.create_link(
            session, service.find_account(session, name), settings.sign_in_link_minutes
        )
    print(credentials.link_url(pages_url(settings), secret))


@app.command("enrolment-code")
def enrolment_code(
    project: Annotated[
        list[str] | None,
        typer.Option(help="Project it works for; repeatable. Default: default."),
    ] = None,
    repository: Annotated[
        list[str] | None,
        typer.Option(
            help="URL or path of repositories it may announce, with * for any part of a name and ** for anything; "
            "repeatable. Default: any."
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Targets it may announce, as host:SERIAL or device:SERIAL with *; repeatable. Default: any."
        ),
    ] = None,
    replaces: Annotated[
        str | None,
        typer.Option(
            help="Name or id of an agent that the new one replaces: it gets its targets and grant, and the old one "
            "is revoked."
        ),
    ] = None,
    data: DataDir = None,
) -> None:
    """Print a one-time code that enrols an agent, which keeps what the code grants."""
    from pydantic import ValidationError  # noqa: PLC0415

    from paceline_server.fleet import service  # noqa: PLC0415
    from paceline_server.fleet.agents import service as agents  # noqa: PLC0415
    from paceline_server.fleet.schemas import EnrolmentCodeIn  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    given = {"projects": project, "repositories": repository, "targets": target}
    try:
        spec = EnrolmentCodeIn.model_validate(
            {name: values for name, values in given.items() if values}
        )
    except ValidationError as error:
        raise SettingsError(str(error.errors()[0]["msg"])) from None
    with _changing_database(data) as session:
        if replaces is not None:
            spec.replaces = agents.find_called(session, replaces).id
        print(service.create_enrolment_code(session, spec, SHELL).code)


@agent_commands.command("list")
def list_agents(data: DataDir = None) -> None:
    """Print every agent: id, state, name, projects, repositories and targets that it may announce."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    _with_database(data)
    with read_scope() as session:
        for agent in service.all_agents(session):
            granted = (
                agent.grant.projects,
                agent.grant.repositories,
                agent.grant.targets,
            )
            lists = (",".join(patterns) or "-" for patterns in granted)
            print(agent.id, agent.state, agent.name, *lists, sep="\t")


@agent_commands.command("rotate")
def rotate_agent(
    agent: Annotated[str, typer.Argument(help="Name or id.")], data: DataDir = None
) -> None:
    """Let an agent replace its credential with its next heartbeat; the old one works until then."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415

    with _changing_database(data) as session:
        service.request_rotation(session, service.find_called(session, agent).id, SHELL)


@agent_commands.command("revoke")
def revoke_agent(
    agent: Annotated[str, typer.Argument(help="Name or id.")], data: DataDir = None
) -> None:
    """Refuse an agent for good: its credential is invalid at once, its leases end, its workloads stop."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415

    with _changing_database(data) as session:
        service.revoke(session, service.find_called(session, agent).id, SHELL)


@agent_commands.command("claims")
def list_claims(data: DataDir = None) -> None:
    """Print open claims: id, target, the agent it belongs to, and the one that announces it, too."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    _with_database(data)
    with read_scope() as session:
        for claim in service.open_claims(session):
            target = f"{claim.target.kind}:{claim.target.serial}"
            print(claim.id, target, claim.owner.name, claim.agent.name, sep="\t")


@agent_commands.command("move")
def move_target(
    claim: Annotated[str, typer.Argument(help="Id, as `agent claims` prints it.")],
    data: DataDir = None,
) -> None:
    """Give the target of a claim to the agent that claims it."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415

    with _changing_database(data) as session:
        service.move_target(session, claim, SHELL)


@agent_commands.command("keep")
def dismiss_claim(
    claim: Annotated[str, typer.Argument(help="Id, as `agent claims` prints it.")],
    data: DataDir = None,
) -> None:
    """Leave the target of a claim with its agent; the other one stays refused."""
    from paceline_server.fleet.agents import service  # noqa: PLC0415

    with _changing_database(data) as session:
        service.dismiss_claim(session, claim, SHELL)


@project_commands.command("create")
def create_project(
    name: str,
    title: Annotated[str | None, typer.Option(help="What pages call it.")] = None,
    *,
    public: Annotated[
        bool, typer.Option(help="Anybody may read it without signing in.")
    ] = False,
    data: DataDir = None,
) -> None:
    """Make a project. Names are lower-case letters, digits and hyphens."""
    from pydantic import ValidationError  # noqa: PLC0415

    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.projects import service  # noqa: PLC0415
    from paceline_server.projects.schemas import ProjectIn  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    _with_database(data)
    try:
        spec = ProjectIn(
            name=name,
            title=title or name,
            visibility="public" if public else "private",
        )
    except ValidationError:
        raise SettingsError(
            f"no project can be called {name!r}: a name is lower-case letters, digits and single hyphens, "
            "at most 50 of them, and begins with a letter"
        ) from None
    with session_scope() as session:
        print(service.create_project(session, spec, SHELL).id)


@project_commands.command("list")
def list_projects(data: DataDir = None) -> None:
    """Print the names of all projects, with who may read each."""
    from paceline_server.projects import service  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    _with_database(data)
    with read_scope() as session:
        for project in service.all_projects(session):
            print(project.name, project.visibility)


@project_commands.command("add-member")
def add_member(
    account_name: Annotated[str, typer.Argument(help="Name or e-mail address.")],
    role: str,
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Make an account a member of a project, or give it another role there."""
    from paceline_server.projects import service  # noqa: PLC0415

    with _changing_project(data, project) as (session, project_id):
        service.add_member(
            session, project_id, account_name, _checked_role(role), SHELL
        )


@project_commands.command("remove-member")
def remove_member(
    account_name: Annotated[str, typer.Argument(help="Name of the account.")],
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Take somebody out of a project at once."""
    from paceline_server.accounts import service as accounts  # noqa: PLC0415
    from paceline_server.projects import service  # noqa: PLC0415

    with _changing_project(data, project) as (session, project_id):
        account = accounts.find_account(session, account_name)
        service.remove_member(session, project_id, account.id, SHELL)


@project_commands.command("grant")
def grant_target(
    target: Annotated[str, typer.Argument(help="Id of the target.")],
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Let a project see and use a target."""
    from paceline_server.projects import service  # noqa: PLC0415

    with _changing_project(data, project) as (session, project_id):
        service.grant_target(session, project_id, target, SHELL)


@token_commands.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="What lists of tokens call it.")],
    project: ProjectOption = "default",
    permission: Annotated[
        list[str] | None,
        typer.Option(
            help="What it may do; repeatable. Default: what `paceline submit` needs."
        ),
    ] = None,
    expires_in_days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Default: it does not expire.")
    ] = None,
    data: DataDir = None,
) -> None:
    """Make a token for a program and print it. It is shown only once."""
    from paceline_server.accounts.permissions import PERMISSIONS  # noqa: PLC0415
    from paceline_server.accounts.schemas import TokenIn  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.projects import service  # noqa: PLC0415

    requested = permission or ["project.read", "runs.create", "targets.use"]
    offered = [known for known in PERMISSIONS if known not in NOT_GIVEN_HERE]
    if ADMINISTER in requested:
        raise SettingsError(
            f"this command makes no token with {ADMINISTER}: an admin of the installation makes it on the dashboard's "
            "page Tokens, with 'administer the installation'"
        )
    unknown = [name for name in requested if name not in offered]
    if unknown:
        raise SettingsError(
            f"a token cannot hold {', '.join(unknown)}: permissions are {', '.join(offered)}"
        )
    if not 1 <= len(name) <= 100:
        raise SettingsError("a token's name has 1 to 100 characters")
    chosen = [known for known in offered if known in requested]
    spec = TokenIn(name=name, permissions=chosen, expires_in_days=expires_in_days)
    with _changing_project(data, project) as (session, project_id):
        print(service.create_token(session, project_id, spec, SHELL).secret)


@app.command()
def judge(
    directory: Annotated[
        Path,
        typer.Argument(
            help="Directory that `paceline run` or `paceline-server export` wrote."
        ),
    ],
    manifest: Annotated[
        Path | None,
        typer.Option(help="suite.toml to judge by; default: the recorded one."),
    ] = None,
    *,
    json: Annotated[
        Path | None, typer.Option(help="File to also write the figures to.")
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option("--format", help=outputs.FORMAT_HELP, metavar="FORMAT"),
    ] = None,
    output: Annotated[
        list[Path] | None, typer.Option("--output", help=outputs.OUTPUT_HELP)
    ] = None,
    fail_on: Annotated[
        outputs.FailOn, typer.Option("--fail-on", help=outputs.FAIL_ON_HELP)
    ] = "inconclusive",
    revision: Annotated[
        str | None, typer.Option(help="Revision to name; default: the recorded one.")
    ] = None,
    undecided: Annotated[
        bool,
        typer.Option(
            "--undecided",
            help="Print, as JSON, only the benchmarks that more launches may decide.",
        ),
    ] = False,
    pressure_limit_percent: Annotated[
        float | None,
        typer.Option(
            envvar="PACELINE_PRESSURE_LIMIT_PERCENT",
            help="Steal or CPU pressure above which a job is disturbed, for targets that are always shared.",
        ),
    ] = None,
    drift_limit_percent: Annotated[
        float | None,
        typer.Option(
            envvar="PACELINE_DRIFT_LIMIT_PERCENT",
            help="Drift of the calibration kernel above which a job is disturbed, for targets that are always shared.",
        ),
    ] = None,
) -> None:
    """Judge a measured directory: print the verdicts; exit 0 pass, 2 fail, 3 inconclusive, 1 error.

    With --fail-on fail, inconclusive exits 0; with --fail-on never, fail does too. Of what `export` wrote, judge every
    job again from its samples; exit 0 if all agree with the stored verdicts to the bit, 1 if not.
    """
    from paceline_server.publish.exports.manifest import is_export  # noqa: PLC0415

    if is_export(directory):
        from paceline_server.publish.exports import restore  # noqa: PLC0415

        raise typer.Exit(restore.judge_export(directory, sys.stdout))
    from paceline_server.publish import offline  # noqa: PLC0415
    from paceline_server.stats.voids import VoidLimits  # noqa: PLC0415

    limits = VoidLimits.of_operator(pressure_limit_percent, drift_limit_percent)
    if undecided:
        raise typer.Exit(offline.print_undecided(directory, limits, sys.stdout))
    code = offline.judge(
        directory,
        sys.stdout,
        format_ or [],
        output or [],
        fail_on=fail_on,
        manifest_path=manifest,
        json_path=json,
        revision=revision,
        limits=limits,
    )
    raise typer.Exit(code)


@app.command()
def render(
    suite: Annotated[str, typer.Option(help="The suite that it must be of.")],
    commit: Annotated[str, typer.Option(help="The commit that it must be of.")],
) -> None:
    """Render the verdicts that a stranger's `paceline ab --format json` wrote as Markdown: from standard input to
    standard output."""
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.publish.uploads import UploadError, render_upload  # noqa: PLC0415

    try:
        markdown = render_upload(sys.stdin.buffer.read(), suite, commit)
    except UploadError as error:
        raise SettingsError(str(error)) from None
    # The reader is a program, whatever this process's locale is.
    sys.stdout.buffer.write(markdown.encode())


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="New directory to write.")],
    project: ProjectOption = "default",
    since: Annotated[
        datetime | None,
        typer.Option("--from", help="Runs requested from then on (UTC)."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--to", help="Runs requested before then (UTC).")
    ] = None,
    data: DataDir = None,
) -> None:
    """Export the finished runs of a project with everything that hangs on them, as Parquet with hashes."""
    from paceline_server.projects import service as projects  # noqa: PLC0415
    from paceline_server.publish.exports.directory import export_project  # noqa: PLC0415
    from paceline_server.publish.exports.queries import TimeRange  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    _with_database(data)
    with read_scope() as session:
        project_id = projects.find_project(session, project).id
    period = TimeRange(*(at and at.replace(tzinfo=UTC) for at in (since, until)))
    written = export_project(project_id, period, directory)
    print(
        f"{written.runs} runs with {written.samples} samples in {written.bytes} bytes; "
        f"SHA-256 of the manifest: {written.manifest_sha256}"
    )


@app.command("import-export")
def import_export(
    directory: Annotated[Path, typer.Argument(help="Directory that `export` wrote.")],
    data: DataDir = None,
) -> None:
    """Restore an exported project into a server that has no runs of it."""
    from paceline_server.publish.exports import restore  # noqa: PLC0415

    _with_database(data)
    print(restore.import_export(restore.open_export(directory), SHELL))


@app.command("detect")
def detect_changes(
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read series from standard input.")
    ] = False,
) -> None:
    """Find the steps of series: reads a JSON list of values per line, prints a JSON list of indexes per line."""
    from paceline_server.detect import line_protocol  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    if not stdin:
        raise SettingsError(
            "use --stdin: series are read from standard input, one JSON list per line"
        )
    line_protocol.answer_lines(sys.stdin, sys.stdout, sys.stderr)


@app.command()
def reread(
    imports: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of imports; default: all whose file is kept."),
    ] = None,
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Read the kept files of imports again with the readers of this version, and replace imports that differ."""
    from paceline_server.imports import service as imported  # noqa: PLC0415
    from paceline_server.projects import service as projects  # noqa: PLC0415
    from paceline_server.store import access  # noqa: PLC0415
    from paceline_server.store.session import read_scope, session_scope  # noqa: PLC0415

    _with_database(data)
    with read_scope() as session:
        project_id = projects.find_project(session, project).id
    with access.using(access.of_project(project_id)):
        with read_scope() as session:
            chosen = imports or imported.list_rereadable(session)
        for import_id in chosen:
            with session_scope() as session:
                print(imported.reread(session, import_id, "paceline-server reread"))


@app.command()
def recompute(
    series: Annotated[
        str | None, typer.Option(help="Id of a series; default: all.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Name of a suite; default: all.")
    ] = None,
    *,
    from_points: Annotated[
        bool, typer.Option("--from-points", help="Keep the points as they are.")
    ] = False,
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Recompute a project's history: points from samples, levels and changes from points. Prints what differs."""
    from paceline_server.detect.recompute import recompute as recompute_history  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.projects import service as projects  # noqa: PLC0415
    from paceline_server.runtime import memory  # noqa: PLC0415
    from paceline_server.store import access  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    _with_database(data)
    memory.tune_collector()
    if series is not None and suite is not None:
        raise SettingsError("expected --series or --suite, not both")
    with read_scope() as session:
        project_id = projects.find_project(session, project).id
    with access.using(access.of_project(project_id)):
        for line in recompute_history(suite, series, samples=not from_points).lines():
            print(line)
