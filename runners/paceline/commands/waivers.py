"""`paceline waivers`: dated permissions for what fails to pass visibly."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paceline.commands import submitting
from paceline.commands.options import Json, Server, Token, check_choice, parse_time
from paceline.commands.server_client import (
    Columns,
    ServerClient,
    new_group,
    show,
    show_list,
    time_column,
)
from paceline.errors import UserError

app = new_group("Waivers: dated permissions for what fails to pass visibly.")

KINDS = ("regression", "gate", "arm")


@app.command("list")
def list_waivers(
    server: Server,
    token: Token,
    suite: Annotated[str | None, typer.Option(help="Only of this suite.")] = None,
    as_json: Json = False,
) -> None:
    """List the waivers, the newest first, with those that ended."""
    waivers = ServerClient(server, token).list_items("/waivers", suite=suite)
    columns: Columns = {
        "id": "id",
        "suite": "suite",
        "state": "state",
        "what": "words",
        "by": "created_by",
        "reason": "reason",
        "until": time_column("expires_at"),
    }
    show_list(waivers, as_json, columns, "Nothing is waived.")


@app.command()
def add(  # noqa: PLR0917 - one parameter per option is how typer declares them
    suite: Annotated[str, typer.Argument(help="Name of the suite.")],
    kind: Annotated[
        str,
        typer.Argument(
            help="regression (head against base), gate, or arm (against its reference)."
        ),
    ],
    server: Server,
    token: Token,
    reason: Annotated[str, typer.Option(help="Why; shown wherever it passes.")],
    until: Annotated[str, typer.Option(help="2026-12-01, +3d or +12h.")],
    benchmark: Annotated[
        str, typer.Option(help="A name, or a pattern such as ledger_*.")
    ] = "*",
    arm: Annotated[str, typer.Option(help="A name or a pattern.")] = "*",
    metric: Annotated[str, typer.Option(help="A name or a pattern.")] = "*",
    params: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: only with this value; repeatable."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="A target's name, serial or id; default: every target."),
    ] = None,
    commit: Annotated[
        list[str] | None, typer.Option(help="Only for this commit; repeatable.")
    ] = None,
    pull_request: Annotated[
        int | None, typer.Option(min=1, help="Only for this pull request.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            help="The run that is to pass now; what becomes worse than in it fails again."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let what fails pass visibly until an instant."""
    check_choice(kind, "kind", KINDS)
    expires_at = parse_time(until)
    if expires_at is None:
        raise UserError("A waiver has an end.", "Give --until 2026-12-01, +3d or +12h.")
    client = ServerClient(server, token)
    body: dict[str, Any] = {
        "suite": suite,
        "kind": kind,
        "benchmark": benchmark,
        "arm": arm,
        "metric": metric,
        "params": _parse_values(params or []),
        "target_id": target and client.target_id(target),
        "commits": commit or None,
        "pull_request": pull_request,
        "run_id": run,
        "reason": reason,
        "expires_at": expires_at,
    }
    body = {key: value for key, value in body.items() if value is not None}
    waiver = client.send("POST", "/waivers", body)
    show(waiver, as_json, f"{waiver['id']}: {waiver['words']}.")


def _parse_values(options: list[str]) -> dict[str, Any]:
    """Parse one value of each param. Raises UserError."""
    values = {}
    for option in options:
        for name, listed in submitting.parse_params([option]).items():
            if len(listed) != 1:
                raise UserError(f"--params {option}: give one value of {name}.")
            values[name] = listed[0]
    return values


@app.command()
def revoke(
    waiver: Annotated[str, typer.Argument(help="A waiver's id.", metavar="WAIVER")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """End a waiver now; what passed by it stays."""
    ended = ServerClient(server, token).send("POST", f"/waivers/{waiver}/revoke")
    show(ended, as_json, f"{ended['id']} is revoked.")
