"""`paceline schedules`: measurements that the server repeats by itself."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paceline import submitting
from paceline.commands.server_client import (
    Json,
    Server,
    ServerClient,
    Token,
    new_group,
    print_json,
    print_line,
    print_table,
    short_time,
)
from paceline.errors import UserError

app = new_group(
    "Schedules: runs the server asks for by itself, nightly measurements and A/A jobs."
)

ScheduleName = Annotated[
    str, typer.Argument(help="A schedule's name or id.", metavar="SCHEDULE")
]
KINDS = ("measure", "a_a")
UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


@app.command("list")
def list_schedules(server: Server, token: Token, as_json: Json = False) -> None:
    """Lists the schedules, and when each is due next."""
    found = ServerClient(server, token).pages("/schedules")
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["id"],
            one["name"],
            one["kind"],
            one["suite"],
            one.get("target_name") or "every target",
            _often(one["every_s"]),
            short_time(one["next_at"]) if one["enabled"] else "switched off",
        )
        for one in found
    ]
    print_table(
        ("id", "name", "kind", "suite", "target", "every", "next"),
        rows,
        "Nothing is scheduled.",
    )


def _often(seconds: int) -> str:
    unit = next(
        one for one in ("d", "h", "m", "") if not one or seconds % UNITS_S[one] == 0
    )
    return f"{seconds // UNITS_S[unit]}{unit}" if unit else f"{seconds}s"


@app.command()
def add(  # noqa: PLR0917 - one parameter per option is how typer declares them
    name: Annotated[str, typer.Argument(help="What to call it.")],
    suite: Annotated[str, typer.Option(help="Name of an announced suite.")],
    server: Server,
    token: Token,
    every: Annotated[str, typer.Option(help="How often: 30m, 12h, 1d.")] = "1d",
    kind: Annotated[
        str, typer.Option(help="measure, or a_a for the noise floor.")
    ] = "measure",
    target: Annotated[
        str | None, typer.Option(help="A target's name or id; default: every target.")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated.")
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option(help="NAME=V1|V2: only these values.")
    ] = None,
    launches: Annotated[int | None, typer.Option(min=1, max=100)] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=10_000)] = None,
    enabled: Annotated[
        bool, typer.Option("--enable", help="Switch it on at once.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Adds a schedule. It is off, unless --enable is given, until it is switched on."""
    if kind not in KINDS:
        raise UserError(f"{kind!r} is no kind.", f"There are: {', '.join(KINDS)}.")
    desk = ServerClient(server, token)
    wanted: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "suite": suite,
        "every_s": _seconds(every),
        "target_id": target and desk.target(target),
        "benchmarks": benchmark or None,
        "params": submitting.parse_params(params or []),
        "launches": launches,
        "rounds": rounds,
        "enabled": enabled,
    }
    found = desk.send(
        "POST",
        "/schedules",
        {key: value for key, value in wanted.items() if value is not None},
    )
    if as_json:
        print_json(found)
    else:
        when = (
            f"next at {short_time(found['next_at'])} UTC"
            if found["enabled"]
            else "off until it is switched on"
        )
        print_line(f"{found['name']} ({found['id']}): {when}.")


def _seconds(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if (
        unit not in UNITS_S
        or not (number.isascii() and number.isdigit())
        or int(number) == 0
    ):
        raise UserError(f"{text!r} is no interval.", "Say 30m, 12h or 1d.")
    return int(number) * UNITS_S[unit]


@app.command()
def enable(
    schedule: ScheduleName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Switches a schedule on; its next run is due at once."""
    _switch(ServerClient(server, token), schedule, enabled=True, as_json=as_json)


@app.command()
def disable(
    schedule: ScheduleName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Switches a schedule off; it is kept."""
    _switch(ServerClient(server, token), schedule, enabled=False, as_json=as_json)


def _switch(desk: ServerClient, schedule: str, *, enabled: bool, as_json: bool) -> None:
    path = f"/schedules/{_find(desk, schedule)['id']}"
    found = desk.send("PATCH", path, {"enabled": enabled})
    if as_json:
        print_json(found)
    else:
        print_line(f"{found['name']} is {'on' if found['enabled'] else 'off'}.")


@app.command()
def remove(schedule: ScheduleName, server: Server, token: Token) -> None:
    """Removes a schedule; what it measured stays."""
    desk = ServerClient(server, token)
    found = _find(desk, schedule)
    desk.send("DELETE", f"/schedules/{found['id']}")
    print_line(f"{found['name']} is removed.")


def _find(desk: ServerClient, schedule: str) -> dict[str, Any]:
    found = [
        one for one in desk.pages("/schedules") if schedule in (one["id"], one["name"])
    ]
    if not found:
        raise UserError(
            f"There is no schedule {schedule!r}.", "See paceline schedules list."
        )
    return found[0]
