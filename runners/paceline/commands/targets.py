"""`paceline targets`: the state of hosts and devices, and what a person does about them.

Nothing here talks to a device: its agent does.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paceline.commands.server_client import (
    Json,
    Server,
    ServerClient,
    Token,
    new_group,
    parse_time,
    print_json,
    print_line,
    print_table,
    short_time,
)
from paceline.errors import UserError

app = new_group("Targets: hosts and devices, their health, and what to do about them.")

TargetName = Annotated[
    str, typer.Argument(help="A target's name or id.", metavar="TARGET")
]
Why = Annotated[str, typer.Option(help="Kept with who and when.")]
EVENTS = 10


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
        str | None, typer.Option(help="In name, serial, model or route.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Lists targets: what each is, how it is, and whether it takes jobs."""
    found = ServerClient(server, token).pages(
        "/targets", kind=kind, state=state, health=health, simulated=simulated, q=text
    )
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["id"],
            _called(one),
            one["kind"],
            one["state"],
            one["health"]["state"] if one["kind"] == "device" else "",
            one["takes_jobs"]["words"],
        )
        for one in found
    ]
    print_table(
        ("id", "name", "kind", "state", "health", "jobs"),
        rows,
        "There is no such target.",
    )


def _called(one: dict[str, Any]) -> str:
    return f"{one['name']} (simulated)" if one["simulated"] else str(one["name"])


@app.command()
def show(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Shows one target: its connection and health with evidence, its last check, what happened to it."""
    desk = ServerClient(server, token)
    path = f"/targets/{desk.target(target)}"
    found = desk.get(path)
    events = desk.pages(f"{path}/events", EVENTS)
    if as_json:
        print_json({**found, "events": events})
        return
    jobs = found["takes_jobs"]["words"]
    print_line(
        f"{_called(found)} ({found['id']}), {found['kind']}, {found['state']}: {jobs}."
    )
    for line in (
        *_connection(found),
        *_health(found),
        *_maintenance(found),
        *_readings(found),
    ):
        print_line(line)
    for one in found["configuration"]:
        print_line(f"configuration error {one['name']}: {one['text']}. {one['advice']}")
    _check(found["check"])
    rows = [(short_time(one["at"]), one["axis"], one["words"]) for one in events]
    print_table(("when", "what", "it …"), rows, "Nothing has happened to it yet.")
    print_line(f"can be done: {', '.join(found['actions'])}")


def _connection(found: dict[str, Any]) -> list[str]:
    one = found["connection"]
    if one is None:
        return []
    said = [str(one[key]) for key in ("reason", "advice") if one[key]]
    by = f" by {one['route']}" if one["route"] else ""
    return [f"connection: {one['state']}{by}" + "".join(f"; {text}" for text in said)]


def _health(found: dict[str, Any]) -> list[str]:
    one = found["health"]
    if found["kind"] != "device":
        return []
    said = [str(one[key]) for key in ("reason", "advice") if one[key]]
    return [
        f"health: {one['state']} since {short_time(one['since']) or 'it is known'}"
        + "".join(f"; {s}" for s in said)
    ]


def _maintenance(found: dict[str, Any]) -> list[str]:
    one = found["maintenance"]
    if one is None:
        return []
    until = f" until {short_time(one['until'])} UTC" if one["until"] else ""
    why = one["reason"] or "no reason given"
    return [
        f"maintenance by {one['by']} since {short_time(one['since'])} UTC{until}: {why}"
    ]


def _readings(found: dict[str, Any]) -> list[str]:
    one = found["gates"]
    if one is None:
        return []
    known = {
        "battery": (one["battery_c"], " °C"),
        "charge": (one["battery_percent"], " %"),
        "thermal status": (one["thermal_status"], ""),
    }
    said = [
        f"{name} {'unknown' if value is None else f'{value:g}{unit}'}"
        for name, (value, unit) in known.items()
    ]
    return [f"readings of {short_time(one['at'])} UTC: {', '.join(said)}"]


def _check(check: dict[str, Any] | None) -> None:
    if check is None:
        return
    rows = [
        ("passed" if one["ok"] else "FAILED", one["name"], one["text"])
        for one in check["steps"]
    ]
    print_table(("last check", "step", "said"), rows, "")


def _act(
    where: tuple[str, str, str],
    action: str,
    body: dict[str, Any] | None,
    *,
    as_json: bool,
) -> None:
    server, token, target = where
    desk = ServerClient(server, token)
    method = "PUT" if action == "maintenance" else "POST"
    found = desk.send(method, f"/targets/{desk.target(target)}/{action}", body)
    if as_json:
        print_json(found)
    else:
        print_line(f"{_called(found)}: {found['takes_jobs']['words']}.")


@app.command()
def quarantine(
    target: TargetName, reason: Why, server: Server, token: Token, as_json: Json = False
) -> None:
    """Gives a device no job until it is released."""
    _act((server, token, target), "quarantine", {"reason": reason}, as_json=as_json)


@app.command()
def release(
    target: TargetName, reason: Why, server: Server, token: Token, as_json: Json = False
) -> None:
    """Lets a device out of quarantine; it is checked before it gets a job."""
    _act((server, token, target), "release", {"reason": reason}, as_json=as_json)


@app.command()
def maintenance(  # noqa: PLR0917 - one parameter per option is how typer declares them
    target: TargetName,
    server: Server,
    token: Token,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Hold it back, or give it free.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Kept with who and when.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help="2026-12-01, +3d or +12h; else until somebody ends it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Holds a target back for maintenance, or gives it free again."""
    if on is None:
        raise UserError("Say whether maintenance begins or ends.", "--on, or --off.")
    body = {
        "on": on,
        "reason": reason,
        "until": None if until is None else parse_time(until),
    }
    _act((server, token, target), "maintenance", body, as_json=as_json)


@app.command()
def recheck(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Asks for a health check of a device, as soon as no job holds it."""
    _act((server, token, target), "recheck", None, as_json=as_json)


@app.command()
def reboot(
    target: TargetName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Asks for a restart of a device, as soon as no job holds it; at most two a day."""
    _act((server, token, target), "reboot", None, as_json=as_json)
