"""`paceline alerts`: lists and explains alerts, and decides about one or many."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paceline.commands.server_client import (
    Json,
    Note,
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

app = new_group("Alerts: read them, explain them, decide about one or many.")

AlertId = Annotated[
    str,
    typer.Argument(help="An alert's id, as `alerts list` shows it.", metavar="ALERT"),
]
OUTCOMES = ("fixed", "expected", "invalid", "infra")
ACTIONS = ("acknowledge", *OUTCOMES, "reopen")


@app.command("list")
def list_alerts(  # noqa: PLR0917 - one parameter per option is how typer declares them
    server: Server,
    token: Token,
    state: Annotated[
        str | None, typer.Option(help="open, acknowledged, suspected, fixed, …")
    ] = None,
    suite: Annotated[str | None, typer.Option()] = None,
    target: Annotated[str | None, typer.Option(help="A target's name or id.")] = None,
    assignee: Annotated[
        str | None, typer.Option(help="A person's name or id, or none.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="arm_slower, history, environment or policy.")
    ] = None,
    cause: Annotated[
        str | None, typer.Option(help="code, environment or target.")
    ] = None,
    overdue: Annotated[
        bool | None,
        typer.Option(
            "--overdue/--not-overdue", help="Past its due date and still alive."
        ),
    ] = None,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Only those of rules in shadow.")
    ] = False,
    rule: Annotated[str | None, typer.Option(help="A rule's name or id.")] = None,
    text: Annotated[
        str | None, typer.Option(help="In title, words, benchmark or suite.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: Json = False,
) -> None:
    """Lists alerts, the newest first."""
    desk = ServerClient(server, token)
    who = None if assignee is None else desk.account(assignee) or "none"
    found = desk.pages(
        "/alerts",
        limit,
        state=state,
        suite=suite,
        target=target and desk.target(target),
        assignee=who,
        kind=kind,
        cause=cause,
        overdue=overdue,
        shadow=shadow,
        rule=rule and desk.rule(rule)["id"],
        text=text,
    )
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["id"],
            one["state"],
            one["title"],
            one["words"],
            _person(one),
            _due(one),
            short_time(one["created_at"]),
        )
        for one in found
    ]
    columns = (
        "id",
        "state",
        "alert",
        "what the server says",
        "assignee",
        "due",
        "since",
    )
    print_table(columns, rows, "No alert matches.")


def _person(alert: dict[str, Any]) -> str:
    return "" if alert["assignee"] is None else str(alert["assignee"]["name"])


def _due(alert: dict[str, Any]) -> str:
    return short_time(alert["due_at"]) + (" (overdue)" if alert["overdue"] else "")


@app.command()
def show(alert: AlertId, server: Server, token: Token, as_json: Json = False) -> None:
    """Shows one alert: what was found, by which rule, who did what, and what can be done."""
    found = ServerClient(server, token).get(f"/alerts/{alert}")
    if as_json:
        print_json(found)
        return
    print_line(f"{found['title']}: {found['state']}")
    print_line(found["explanation"])
    facts = {
        "rule": f"{found['rule']['name']} (version {found['rule']['version']})",
        "cause": found["cause"],
        "commits": _range(found),
        "assignee": _person(found),
        "due": _due(found),
        "issue": found["issue_url"],
        "baseline": found["baseline_commit"],
        "can be done": ", ".join(found["actions"]) or "nothing",
    }
    for name, value in facts.items():
        if value:
            print_line(f"  {name}: {value}")
    rows = [
        (
            short_time(one["at"]),
            one["actor"],
            one["action"],
            one["to_state"],
            one["note"],
        )
        for one in found["history"]
    ]
    print_table(("at", "who", "did", "now", "note"), rows, "Nothing has happened yet.")


def _range(alert: dict[str, Any]) -> str:
    base, head, culprit = alert["base_commit"], alert["head_commit"], alert["culprit"]
    if culprit is not None:
        return f"{culprit['commit'][:12]} by {culprit['author']}"
    return f"after {base[:12]} up to {head[:12]}" if base and head else ""


@app.command()
def explain(
    alert: AlertId, server: Server, token: Token, as_json: Json = False
) -> None:
    """Explains one alert: every filter with its number and limit, and the data it looked at."""
    found = ServerClient(server, token).get(f"/alerts/{alert}/explain")
    if as_json:
        print_json(found)
        return
    print_line(found["sentence"])
    if found["cause_text"]:
        print_line(f"Cause: {found['cause_text']}")
    for finding in found["findings"]:
        print_line(f"\n{finding['role']}: {finding['where']}: {finding['words']}")
        print_line(f"  by {finding['method']}, on {finding['window']['text']}")
        for one in finding["filters"]:
            print_line(
                f"  {'passed' if one['passed'] else 'failed'}  {one['name']}: {one['text']}"
            )


def _acted(desk: ServerClient, alert: str, body: dict[str, Any], as_json: bool) -> None:
    _told(desk.send("POST", f"/alerts/{alert}/actions", body), as_json)


def _told(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_line(f"{found['id']}: {found['state']}")


@app.command()
def ack(
    alert: AlertId,
    server: Server,
    token: Token,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Acknowledges an alert: somebody is on it."""
    _acted(
        ServerClient(server, token),
        alert,
        {"action": "acknowledge", "note": note},
        as_json,
    )


@app.command()
def close(  # noqa: PLR0917 - one parameter per option is how typer declares them
    alert: AlertId,
    server: Server,
    token: Token,
    outcome: Annotated[
        str, typer.Option("--as", help="fixed, expected, invalid or infra.")
    ],
    note: Note = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="With expected: the commit from which on the level is right."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Closes an alert, saying how it ended."""
    if outcome not in OUTCOMES:
        raise UserError(
            f"{outcome!r} is no outcome.", f"There are: {', '.join(OUTCOMES)}."
        )
    body = {"action": outcome, "note": note, "baseline_commit": baseline}
    _acted(ServerClient(server, token), alert, body, as_json)


@app.command()
def reopen(
    alert: AlertId,
    server: Server,
    token: Token,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Opens a closed alert again."""
    _acted(
        ServerClient(server, token), alert, {"action": "reopen", "note": note}, as_json
    )


@app.command()
def assign(
    alert: AlertId,
    person: Annotated[str, typer.Argument(help="A name or id; none: nobody.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Gives an alert to a person, or to nobody."""
    desk = ServerClient(server, token)
    _told(
        desk.send(
            "PUT", f"/alerts/{alert}/assignee", {"account_id": desk.account(person)}
        ),
        as_json,
    )


@app.command()
def due(
    alert: AlertId,
    date: Annotated[str, typer.Argument(help="2026-12-01, +3d, +12h or none.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Says until when an alert should be dealt with."""
    _told(
        ServerClient(server, token).send(
            "PUT", f"/alerts/{alert}/due", {"due_at": parse_time(date)}
        ),
        as_json,
    )


@app.command()
def issue(
    alert: AlertId,
    url: Annotated[str, typer.Argument(help="Where it is worked on; none: nowhere.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Links the issue in which an alert is worked on."""
    body = {"url": None if url == "none" else url}
    _told(
        ServerClient(server, token).send("PUT", f"/alerts/{alert}/issue", body), as_json
    )


@app.command()
def note(
    alert: AlertId,
    text: Annotated[str, typer.Argument(help="The remark.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Adds a remark to an alert's history."""
    _told(
        ServerClient(server, token).send(
            "POST", f"/alerts/{alert}/notes", {"note": text}
        ),
        as_json,
    )


@app.command()
def bulk(  # noqa: PLR0917 - one parameter per option is how typer declares them
    alerts: Annotated[
        list[str], typer.Argument(help="Ids; - reads them from standard input.")
    ],
    server: Server,
    token: Token,
    action: Annotated[
        str | None,
        typer.Option(help="acknowledge, fixed, expected, invalid, infra or reopen."),
    ] = None,
    assign: Annotated[
        str | None, typer.Option(help="A name or id; none: nobody.")
    ] = None,
    due: Annotated[
        str | None, typer.Option(help="2026-12-01, +3d, +12h or none.")
    ] = None,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Decides about several alerts at once: all of them, or none. Says how to undo it."""
    if action is not None and action not in ACTIONS:
        raise UserError(
            f"{action!r} is no action.", f"There are: {', '.join(ACTIONS)}."
        )
    if action is None and assign is None and due is None and note is None:
        raise UserError("Nothing to do.", "Give --action, --assign, --due or --note.")
    chosen = sys.stdin.read().split() if alerts == ["-"] else alerts
    if not chosen:
        raise UserError(
            "No alert was named.", "Give ids, or - and ids on standard input."
        )
    desk = ServerClient(server, token)
    body: dict[str, Any] = {"alert_ids": chosen, "action": action, "note": note}
    if assign is not None:
        body["assign"] = {"account_id": desk.account(assign)}
    if due is not None:
        body["due"] = {"due_at": parse_time(due)}
    batch = desk.send("POST", "/alerts/bulk", body)
    if as_json:
        print_json(batch)
        return
    print_line(f"{batch['action']}: {batch['alerts']} alerts.")
    print_line(
        f"Until {short_time(batch['undo_until'])} UTC: paceline alerts undo {batch['id']}"
    )


@app.command()
def undo(
    batch: Annotated[
        str, typer.Argument(help="The id `alerts bulk` printed.", metavar="BATCH")
    ],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Takes a bulk decision back, unless an alert has changed since."""
    found = ServerClient(server, token).send("POST", f"/alerts/bulk/{batch}/undo")
    if as_json:
        print_json(found)
    else:
        print_line(f"Undone: {found['action']} of {found['alerts']} alerts.")
