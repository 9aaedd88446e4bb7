"""`paceline targets`: the state of hosts and devices, and what a person does about them.

Nothing here talks to a device: its agent does.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paceline.commands.options import Json, Server, Token, parse_time
from paceline.commands.server_client import (
    Columns,
    Item,
    ServerClient,
    new_group,
    short_time,
    show,
    show_list,
    show_table,
    time_column,
)
from paceline.display import print_json, print_line
from paceline.errors import UserError

app = new_group("Targets: the state of hosts and devices, and actions on them.")

TargetName = Annotated[
    str, typer.Argument(help="A target's name, serial or id.", metavar="TARGET")
]
REASON_HELP = "Recorded with your name and the time."
Why = Annotated[str, typer.Option(help=REASON_HELP)]
EVENTS = 10
STEP_WORDS = {True: "passed", False: "FAILED", None: "not looked at"}
"""The words for `ok` of a step of a health check."""


@app.command("list")
def list_targets(  # noqa: PLR0917 - one parameter per option is how typer declares them
    server: Server,
    token: Token,
    kind: Annotated[str | None, typer.Option(help="host or device.")] = None,
    state: Annotated[str | None, typer.Option(help="online, busy or offline.")] = None,
    health: Annotated[
        str | None,
        typer.Option(
            help="unknown, checking, good, recovering, suspect or quarantined."
        ),
    ] = None,
    simulated: Annotated[bool | None, typer.Option("--simulated/--real")] = None,
    text: Annotated[
        str | None, typer.Option(help="Search name, serial, model and route.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List targets with their state and whether they take jobs."""
    targets = ServerClient(server, token).list_items(
        "/targets", kind=kind, state=state, health=health, simulated=simulated, q=text
    )
    columns: Columns = {
        "id": "id",
        "name": "name",
        "serial": "serial",
        "kind": _kind,
        "state": "state",
        "health": lambda target: (
            (target.get("health") or {}).get("state")
            if target["kind"] == "device"
            else ""
        ),
        "jobs": lambda target: target["takes_jobs"]["words"],
    }
    show_list(targets, as_json, columns, "No target matches.")


def _kind(target: Item) -> str:
    simulated = " (simulated)" if target["simulated"] else ""
    return f"{target['kind']}{simulated}"


@app.command("show")
def show_target(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Show a target's connection, health and recent events."""
    client = ServerClient(server, token)
    path = f"/targets/{client.target_id(target)}"
    details: Item = client.get(path)
    events = client.list_items(f"{path}/events", EVENTS)
    if as_json:
        print_json({**details, "events": events})
        return
    identity = f"{details['name']} ({details['id']}), serial {details['serial']}"
    jobs = details["takes_jobs"]["words"]
    print_line(f"{identity}, {_kind(details)}, {details['state']}: {jobs}.")
    for line in (
        *_connection(details),
        *_health(details),
        *_maintenance(details),
        *_readings(details),
    ):
        print_line(line)
    for error in details["configuration"]:
        text = f"{error['name']}: {error['text']}. {error['advice']}"
        print_line(f"configuration error {text}")
    if details["check"] is not None:
        columns: Columns = {
            "last check": lambda step: STEP_WORDS[step["ok"]],
            "step": "name",
            "result": "text",
        }
        show_table(details["check"]["steps"], columns)
    event_columns: Columns = {
        "when": time_column("at"),
        "what": "axis",
        "event": "words",
    }
    show_table(events, event_columns, "No events yet.")
    print_line(f"actions: {', '.join(details['actions'])}")


def _reason_and_advice(axis: Item) -> str:
    return "".join(f"; {axis[key]}" for key in ("reason", "advice") if axis[key])


def _connection(target: Item) -> list[str]:
    connection = target["connection"]
    if connection is None:
        return []
    route = f" by {connection['route']}" if connection["route"] else ""
    more = _reason_and_advice(connection)
    return [f"connection: {connection['state']}{route}{more}"]


def _health(target: Item) -> list[str]:
    if target["kind"] != "device":
        return []
    health = target["health"]
    since = short_time(health["since"]) or "it is known"
    return [f"health: {health['state']} since {since}{_reason_and_advice(health)}"]


def _maintenance(target: Item) -> list[str]:
    work = target["maintenance"]
    if work is None:
        return []
    until = f" until {short_time(work['until'])} UTC" if work["until"] else ""
    since, reason = short_time(work["since"]), work["reason"] or "no reason given"
    return [f"maintenance by {work['by']} since {since} UTC{until}: {reason}"]


def _readings(target: Item) -> list[str]:
    gates = target["gates"]
    if gates is None:
        return []
    free = gates["free_bytes"]
    values = {
        "battery": (gates["battery_c"], " °C"),
        "charge": (gates["battery_percent"], " %"),
        "thermal status": (gates["thermal_status"], ""),
        "free storage": (None if free is None else round(free / 2**30, 2), " GiB"),
    }
    readings = [
        f"{name} {'unknown' if value is None else f'{value:g}{unit}'}"
        for name, (value, unit) in values.items()
    ]
    return [f"readings of {short_time(gates['at'])} UTC: {', '.join(readings)}"]


def _request(
    client: ServerClient,
    target: str,
    action: str,
    body: dict[str, Any] | None,
    *,
    as_json: bool,
) -> None:
    """Request an action on a target and show the target's new state."""
    method = "PUT" if action == "maintenance" else "POST"
    changed = client.send(method, f"/targets/{client.target_id(target)}/{action}", body)
    show(changed, as_json, f"{changed['name']}: {changed['takes_jobs']['words']}.")


@app.command()
def quarantine(
    target: TargetName, reason: Why, server: Server, token: Token, as_json: Json = False
) -> None:
    """Quarantine a device: it gets no job until it is released."""
    body, client = {"reason": reason}, ServerClient(server, token)
    _request(client, target, "quarantine", body, as_json=as_json)


@app.command()
def release(
    target: TargetName, reason: Why, server: Server, token: Token, as_json: Json = False
) -> None:
    """Release a device from quarantine; it is checked before it gets a job."""
    body, client = {"reason": reason}, ServerClient(server, token)
    _request(client, target, "release", body, as_json=as_json)


@app.command()
def maintenance(  # noqa: PLR0917 - one parameter per option is how typer declares them
    target: TargetName,
    server: Server,
    token: Token,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Begin or end maintenance.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help=REASON_HELP)] = None,
    until: Annotated[
        str | None,
        typer.Option(help="2026-12-01, +3d or +12h; default: until --off."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Begin or end maintenance. The target gets no job meanwhile."""
    if on is None:
        raise UserError("Say whether maintenance begins or ends.", "Use --on or --off.")
    body = {"on": on, "reason": reason, "until": until and parse_time(until)}
    client = ServerClient(server, token)
    _request(client, target, "maintenance", body, as_json=as_json)


@app.command()
def recheck(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Request a health check of a device. It runs as soon as no job does."""
    client = ServerClient(server, token)
    _request(client, target, "recheck", None, as_json=as_json)


@app.command()
def reboot(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Request a restart of a device. It happens as soon as no job runs, at most twice a day."""
    client = ServerClient(server, token)
    _request(client, target, "reboot", None, as_json=as_json)
