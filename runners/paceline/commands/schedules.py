"""`paceline schedules`: measurements that the server repeats by itself."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paceline.commands import submitting
from paceline.commands.options import (
    Benchmarks,
    Json,
    Params,
    Server,
    Token,
    check_choice,
)
from paceline.commands.server_client import (
    Columns,
    Item,
    ServerClient,
    new_group,
    short_time,
    show,
    show_list,
)
from paceline.display import print_line
from paceline.errors import UserError

app = new_group("Schedules: measurements that the server repeats by itself.")

ScheduleName = Annotated[
    str, typer.Argument(help="A schedule's name or id.", metavar="SCHEDULE")
]
KINDS = ("measure", "a_a")
UNITS_S = {"d": 86_400, "h": 3600, "m": 60}


@app.command("list")
def list_schedules(server: Server, token: Token, as_json: Json = False) -> None:
    """List the schedules and when each runs next."""
    schedules = ServerClient(server, token).list_items("/schedules")
    columns: Columns = {
        "id": "id",
        "name": "name",
        "kind": "kind",
        "suite": "suite",
        "target": lambda schedule: schedule.get("target_name") or "every target",
        "every": lambda schedule: _interval(schedule["every_s"]),
        "next": _next_run,
    }
    if any(schedule.get("missed_at") for schedule in schedules):
        columns = {**columns, "missed": _missed_run}
    show_list(schedules, as_json, columns, "Nothing is scheduled.")


def _next_run(schedule: Item) -> str:
    return short_time(schedule["next_at"]) if schedule["enabled"] else "switched off"


def _missed_run(schedule: Item) -> str:
    missed_at = schedule.get("missed_at")
    return f"{short_time(missed_at)}: {schedule['missed_because']}" if missed_at else ""


def _interval(seconds: int) -> str:
    for unit, size_s in UNITS_S.items():
        if seconds % size_s == 0:
            return f"{seconds // size_s}{unit}"
    return f"{seconds}s"


@app.command()
def add(  # noqa: PLR0917 - one parameter per option is how typer declares them
    name: Annotated[str, typer.Argument(help="The schedule's name.")],
    suite: Annotated[str, typer.Option(help="Name of an announced suite.")],
    server: Server,
    token: Token,
    every: Annotated[str, typer.Option(help="Interval: 30m, 12h or 1d.")] = "1d",
    kind: Annotated[
        str, typer.Option(help="measure, or a_a for the noise floor.")
    ] = "measure",
    target: Annotated[
        str | None,
        typer.Option(help="A target's name, serial or id; default: every target."),
    ] = None,
    benchmark: Benchmarks = None,
    params: Params = None,
    launches: Annotated[int | None, typer.Option(min=1, max=100)] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=10_000)] = None,
    enabled: Annotated[
        bool, typer.Option("--enable", help="Switch it on at once.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a schedule; it is off until it is enabled."""
    check_choice(kind, "kind", KINDS)
    client = ServerClient(server, token)
    body: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "suite": suite,
        "every_s": _parse_interval(every),
        "target_id": target and client.target_id(target),
        "benchmarks": benchmark or None,
        "params": submitting.parse_params(params or []),
        "launches": launches,
        "rounds": rounds,
        "enabled": enabled,
    }
    body = {key: value for key, value in body.items() if value is not None}
    schedule = client.send("POST", "/schedules", body)
    state = (
        f"next run at {short_time(schedule['next_at'])} UTC"
        if schedule["enabled"]
        else "off until it is enabled"
    )
    show(schedule, as_json, f"{schedule['name']} ({schedule['id']}): {state}.")


def _parse_interval(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if (
        unit not in UNITS_S
        or not (number.isascii() and number.isdigit())
        or int(number) == 0
    ):
        raise UserError(f"{text!r} is not an interval.", "Use 30m, 12h or 1d.")
    return int(number) * UNITS_S[unit]


@app.command()
def enable(
    schedule: ScheduleName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Enable a schedule; its next run is due at once."""
    _switch(ServerClient(server, token), schedule, enabled=True, as_json=as_json)


@app.command()
def disable(
    schedule: ScheduleName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Disable a schedule without removing it."""
    _switch(ServerClient(server, token), schedule, enabled=False, as_json=as_json)


def _switch(client: ServerClient, name: str, *, enabled: bool, as_json: bool) -> None:
    path = f"/schedules/{client.find_or_fail('schedule', name)['id']}"
    schedule = client.send("PATCH", path, {"enabled": enabled})
    state = "on" if schedule["enabled"] else "off"
    show(schedule, as_json, f"{schedule['name']} is {state}.")


@app.command()
def remove(schedule: ScheduleName, server: Server, token: Token) -> None:
    """Remove a schedule; its measurements are kept."""
    client = ServerClient(server, token)
    stored = client.find_or_fail("schedule", schedule)
    client.send("DELETE", f"/schedules/{stored['id']}")
    print_line(f"{stored['name']} is removed.")
