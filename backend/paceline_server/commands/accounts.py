"""`paceline-server account …`: people who may sign in, managed on the server's shell.

Whoever has that shell is trusted: `break-glass` makes an admin when nobody can sign in any more. Everything is on record
in the audit log, in the name `shell`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from paceline_server.commands.options import (
    SHELL,
    DataDir,
    ProjectOption,
    checked_role,
    pages_url,
    refuse_without_server,
    with_database,
)

app = typer.Typer(no_args_is_help=True, help="People who may sign in.")

Who = Annotated[str, typer.Argument(help="Name or e-mail address.")]


@app.command("create")
def create_account(
    name: str,
    email: Annotated[
        str | None, typer.Option(help="Needed to sign in with a password.")
    ] = None,
    *,
    role: Annotated[
        str | None,
        typer.Option(
            help="viewer, triager, maintainer or admin; maintainer unless given."
        ),
    ] = None,
    project: ProjectOption = "default",
    admin: Annotated[
        bool, typer.Option(help="Make them an admin of the installation.")
    ] = False,
    password_stdin: Annotated[
        bool, typer.Option(help="Read a password from standard input.")
    ] = False,
    data: DataDir = None,
) -> None:
    """Create an account. Without a password it signs in by link only; there is no default password."""
    from paceline_server.accounts import credentials, service  # noqa: PLC0415 - imported when needed
    from paceline_server.projects import service as projects  # noqa: PLC0415
    from paceline_server.store import audit  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    with_database(data)
    chosen = checked_role(role or ("admin" if admin else "maintainer"))
    password = _read_password() if password_stdin else None
    with session_scope() as session:
        found = projects.find_project(session, project)
        made = service.create_account(
            session, name, email=email, is_installation_admin=admin
        )
        if password is not None:
            made.password_hash = credentials.hash_new_password(made, password)
        audit.record(session, SHELL, "create", "account", made.id, {"name": made.name})
        projects.set_member(session, found.id, made, chosen, SHELL)
        print(made.id)


@contextmanager
def _open_account(
    name: str, data: Path | None, *, has_link: bool = False
) -> Iterator[tuple[Any, Any, Any]]:
    """Settings, a transaction and the account in it. `has_link`: the command prints a link, which must lead
    somewhere."""
    from paceline_server.accounts import service  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    settings = with_database(data)
    if has_link:
        refuse_without_server(settings)
    with session_scope() as session:
        yield settings, session, service.find_account(session, name)


def _read_password() -> str:
    return sys.stdin.readline().rstrip("\n")


@app.command("invite")
def invite(
    email: str,
    role: Annotated[
        str, typer.Option(help="viewer, triager, maintainer or admin.")
    ] = "viewer",
    project: ProjectOption = "default",
    data: DataDir = None,
) -> None:
    """Print a link by which the holder of an e-mail address joins a project, once."""
    from paceline_server.projects import service as projects  # noqa: PLC0415
    from paceline_server.projects.invitations import service  # noqa: PLC0415
    from paceline_server.store import access  # noqa: PLC0415
    from paceline_server.store.session import session_scope  # noqa: PLC0415

    settings = with_database(data)
    refuse_without_server(settings)
    chosen = checked_role(role)
    inviter = service.Inviter(SHELL, pages_url(settings), settings.invitation_days)
    with session_scope() as session:
        found = projects.find_project(session, project)
        with access.within_project(session, found.id):
            made = service.invite(session, found.id, email, chosen, inviter)
    print(made.url)


@app.command("list")
def list_accounts(data: DataDir = None) -> None:
    """Print all accounts: name, address, and whether they are an admin or disabled."""
    from paceline_server.accounts import administration  # noqa: PLC0415
    from paceline_server.store.session import read_scope  # noqa: PLC0415

    with_database(data)
    cursor: str | None = None
    while True:
        with read_scope() as session:
            accounts = administration.list_accounts(
                session, None, limit=200, cursor=cursor
            )
        for account in accounts.items:
            marks = ["admin"] if account.is_installation_admin else []
            marks += ["disabled"] if account.disabled_at is not None else []
            print("\t".join([account.name, account.email or "-", ",".join(marks)]))
        cursor = accounts.next
        if cursor is None:
            return


@app.command("disable")
def disable_account(name: Who, data: DataDir = None) -> None:
    """Cut an account off at once: its sessions end and its tokens stop working."""
    from paceline_server.accounts import administration  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        administration.disable_account(session, account.id, SHELL)


@app.command("enable")
def enable_account(name: Who, data: DataDir = None) -> None:
    """Let a disabled account sign in again."""
    from paceline_server.accounts import administration  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        administration.enable_account(session, account.id, SHELL)


@app.command("admin")
def set_admin(
    name: Who,
    *,
    revoke: Annotated[bool, typer.Option(help="Make them one no more.")] = False,
    data: DataDir = None,
) -> None:
    """Make an account an admin of the installation."""
    from paceline_server.accounts import administration  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        administration.set_installation_admin(
            session, account.id, not revoke, SHELL, None
        )


@app.command("set-password")
def set_password(name: Who, data: DataDir = None) -> None:
    """Set a password that is read from standard input. All sessions of the account end."""
    from paceline_server.accounts import credentials  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        credentials.set_password(session, account, _read_password(), SHELL)


@app.command("reset-link")
def reset_link(name: Who, data: DataDir = None) -> None:
    """Print a one-time link by which somebody sets a new password."""
    from paceline_server.accounts import administration  # noqa: PLC0415

    with _open_account(name, data, has_link=True) as (settings, session, account):
        link = administration.create_reset_link(
            session,
            account.id,
            settings.sign_in_link_minutes,
            pages_url(settings),
            SHELL,
        )
    print(link.url)


@app.command("sessions")
def list_sessions(name: Who, data: DataDir = None) -> None:
    """Print the sessions of an account: id, how it began, device, place, when it was last used."""
    from paceline_server.accounts import sessions  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        listed = sessions.list_sessions(
            session, account.id, None, limit=200, cursor=None
        )
    for each in listed.items:
        seen = f"{each.last_seen_at:%Y-%m-%d %H:%M}Z"
        print("\t".join([each.id, each.method, each.device, each.place, seen]))


@app.command("sign-out")
def sign_out(name: Who, data: DataDir = None) -> None:
    """End all sessions of an account at once."""
    from paceline_server.accounts import administration  # noqa: PLC0415

    with _open_account(name, data) as (_, session, account):
        ended = administration.sign_out(session, account.id, SHELL)
    print(f"{ended} ended")


@app.command("break-glass")
def break_glass(name: Who, data: DataDir = None) -> None:
    """Enable an account, make it an admin of the installation and print a link that signs it in.

    For when nobody else can sign in: the last admin left, the identity provider is down, a password is lost.
    """
    from paceline_server.accounts import administration, credentials  # noqa: PLC0415

    with _open_account(name, data, has_link=True) as (settings, session, account):
        secret = administration.break_glass(
            session, account, settings.sign_in_link_minutes, SHELL
        )
    print(credentials.link_url(pages_url(settings), secret))
