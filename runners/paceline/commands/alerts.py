"""`paceline alerts`: lists and explains alerts, and decides about one or many."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paceline.commands.options import (
    Json,
    MuteFor,
    MuteReason,
    Note,
    Server,
    Token,
    check_choice,
    parse_hours,
    parse_time,
)
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

app = new_group("List and explain alerts, and decide about one or many.")

AlertId = Annotated[
    str,
    typer.Argument(help="An alert's id, from `alerts list`.", metavar="ALERT"),
]
DATE_HELP = "2026-12-01, +3d, +12h or none."
PERSON_HELP = "A name or id; none for nobody."
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
    target: Annotated[
        str | None, typer.Option(help="A target's name, serial or id.")
    ] = None,
    assignee: Annotated[str | None, typer.Option(help=PERSON_HELP)] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="arm_slower, history, environment, policy, gate, missing, schedule, schedule_missed, quarantine, "
            "agent_silent or import_stopped."
        ),
    ] = None,
    cause: Annotated[
        str | None, typer.Option(help="code, environment or target.")
    ] = None,
    overdue: Annotated[
        bool | None,
        typer.Option("--overdue/--not-overdue", help="Open past its due date, or not."),
    ] = None,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Only alerts of rules in shadow mode.")
    ] = False,
    rule: Annotated[str | None, typer.Option(help="A rule's name or id.")] = None,
    text: Annotated[
        str | None, typer.Option(help="Search title, text, benchmark and suite.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="Most alerts to list.")
    ] = 50,
    as_json: Json = False,
) -> None:
    """List alerts, newest first."""
    client = ServerClient(server, token)
    alerts = client.list_items(
        "/alerts",
        limit,
        advice="a larger --limit lists more",
        state=state,
        suite=suite,
        target=target and client.target_id(target),
        assignee=assignee and (client.account_id(assignee) or "none"),
        kind=kind,
        cause=cause,
        overdue=overdue,
        shadow=shadow,
        rule=rule and client.find_or_fail("rule", rule)["id"],
        text=text,
    )
    columns: Columns = {
        "id": "id",
        "state": "state",
        "alert": "title",
        "what the server says": "words",
        "assignee": _assignee,
        "due": _due,
        "since": time_column("created_at"),
    }
    show_list(alerts, as_json, columns, "No alert matches.")


def _assignee(alert: Item) -> str:
    return "" if alert["assignee"] is None else str(alert["assignee"]["name"])


def _due(alert: Item) -> str:
    return short_time(alert["due_at"]) + (" (overdue)" if alert["overdue"] else "")


@app.command("show")
def show_alert(
    alert: AlertId, server: Server, token: Token, as_json: Json = False
) -> None:
    """Show an alert with its rule, history and possible actions."""
    details = ServerClient(server, token).get(f"/alerts/{alert}")
    if as_json:
        print_json(details)
        return
    print_line(f"{details['title']}: {details['state']}")
    print_line(details["explanation"])
    facts = {
        "rule": f"{details['rule']['name']} (version {details['rule']['version']})",
        "muted": _mute_words(details["mute"]),
        "cause": details["cause"],
        "commits": _commit_range(details),
        "assignee": _assignee(details),
        "due": _due(details),
        "issue": details["issue_url"],
        "baseline": details["baseline_commit"],
        "actions": ", ".join(details["actions"]) or "none",
    }
    for name, value in facts.items():
        if value:
            print_line(f"  {name}: {value}")
    columns: Columns = {
        "at": time_column("at"),
        "who": "actor",
        "did": "action",
        "now": "to_state",
        "note": "note",
    }
    show_table(details["history"], columns, "No history yet.")


def _mute_words(mute: Item | None) -> str:
    if mute is None:
        return ""
    return (
        f"until {short_time(mute['until'])} UTC by {mute['muted_by']}: {mute['reason']}"
    )


def _commit_range(alert: Item) -> str:
    base, head, culprit = alert["base_commit"], alert["head_commit"], alert["culprit"]
    if culprit is not None:
        return f"{culprit['commit'][:12]} by {culprit['author']}"
    return f"after {base[:12]} up to {head[:12]}" if base and head else ""


@app.command()
def explain(
    alert: AlertId, server: Server, token: Token, as_json: Json = False
) -> None:
    """Explain an alert: each filter with its value and limit."""
    explanation = ServerClient(server, token).get(f"/alerts/{alert}/explain")
    if as_json:
        print_json(explanation)
        return
    print_line(explanation["sentence"])
    if explanation["cause_text"]:
        print_line(f"Cause: {explanation['cause_text']}")
    for finding in explanation["findings"]:
        print_line(f"\n{finding['role']}: {finding['where']}: {finding['words']}")
        print_line(f"  by {finding['method']}, on {finding['window']['text']}")
        for segment in finding.get("segments", []):
            started = short_time(segment["first_at"])
            print_line(f"  a new segment since {started}: {segment['change']}")
        for check in finding["filters"]:
            result = "passed" if check["passed"] else "failed"
            print_line(f"  {result}  {check['name']}: {check['text']}")


def _change(
    client: ServerClient,
    method: str,
    path: str,
    body: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Send a change of one alert and show the alert's new state."""
    alert = client.send(method, f"/alerts/{path}", body)
    show(alert, as_json, f"{alert['id']}: {alert['state']}")


@app.command()
def ack(
    alert: AlertId,
    server: Server,
    token: Token,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Acknowledge an alert: somebody is working on it."""
    body = {"action": "acknowledge", "note": note}
    client = ServerClient(server, token)
    _change(client, "POST", f"{alert}/actions", body, as_json=as_json)


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
        typer.Option(help="With expected: the first commit of the new level."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Close an alert with an outcome."""
    check_choice(outcome, "outcome", OUTCOMES)
    body = {"action": outcome, "note": note, "baseline_commit": baseline}
    client = ServerClient(server, token)
    _change(client, "POST", f"{alert}/actions", body, as_json=as_json)


@app.command()
def reopen(
    alert: AlertId,
    server: Server,
    token: Token,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Reopen a closed alert."""
    body = {"action": "reopen", "note": note}
    client = ServerClient(server, token)
    _change(client, "POST", f"{alert}/actions", body, as_json=as_json)


@app.command()
def assign(
    alert: AlertId,
    person: Annotated[str, typer.Argument(help=PERSON_HELP)],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Assign an alert to a person, or to nobody."""
    client = ServerClient(server, token)
    body = {"account_id": client.account_id(person)}
    _change(client, "PUT", f"{alert}/assignee", body, as_json=as_json)


@app.command()
def due(
    alert: AlertId,
    date: Annotated[str, typer.Argument(help=DATE_HELP)],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Set or remove an alert's due date."""
    client, body = ServerClient(server, token), {"due_at": parse_time(date)}
    _change(client, "PUT", f"{alert}/due", body, as_json=as_json)


@app.command()
def issue(
    alert: AlertId,
    url: Annotated[str, typer.Argument(help="The issue's address; none removes it.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Link the issue that tracks an alert."""
    body = {"url": None if url == "none" else url}
    client = ServerClient(server, token)
    _change(client, "PUT", f"{alert}/issue", body, as_json=as_json)


@app.command()
def note(
    alert: AlertId,
    text: Annotated[str, typer.Argument(help="The note.")],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Add a note to an alert's history."""
    client = ServerClient(server, token)
    _change(client, "POST", f"{alert}/notes", {"note": text}, as_json=as_json)


@app.command()
def mute(  # noqa: PLR0917 - one parameter per option is how typer declares them
    alert: AlertId,
    server: Server,
    token: Token,
    reason: MuteReason,
    length: MuteFor = "24h",
    as_json: Json = False,
) -> None:
    """Mute the rule behind an alert for a while; where only the suite's own rule stands, one is made for this
    measurement alone."""
    body = {"reason": reason, "hours": parse_hours(length)}
    muted = ServerClient(server, token).send("POST", f"/alerts/{alert}/mute", body)
    until = short_time(muted["mute"]["until"])
    sentence = (
        f"The rule {muted['rule_name']} is muted until {until} UTC.\n"
        f"To end it: paceline rules unmute {muted['rule_name']}"
    )
    show(muted, as_json, sentence)


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
    assign: Annotated[str | None, typer.Option(help=PERSON_HELP)] = None,
    due: Annotated[str | None, typer.Option(help=DATE_HELP)] = None,
    note: Note = None,
    as_json: Json = False,
) -> None:
    """Change several alerts at once, all of them or none. Prints how to undo it."""
    check_choice(action, "action", ACTIONS)
    if action is None and assign is None and due is None and note is None:
        raise UserError("Nothing to do.", "Give --action, --assign, --due or --note.")
    ids = sys.stdin.read().split() if alerts == ["-"] else alerts
    if not ids:
        raise UserError("No alert given.", "Give ids, or - and ids on standard input.")
    client = ServerClient(server, token)
    body: dict[str, Any] = {"alert_ids": ids, "action": action, "note": note}
    if assign is not None:
        body["assign"] = {"account_id": client.account_id(assign)}
    if due is not None:
        body["due"] = {"due_at": parse_time(due)}
    batch = client.send("POST", "/alerts/bulk", body)
    until = short_time(batch["undo_until"])
    sentence = (
        f"{batch['action']}: {_count_alerts(batch['alerts'])}.\n"
        f"To undo, until {until} UTC: paceline alerts undo {batch['id']}"
    )
    show(batch, as_json, sentence)


@app.command()
def undo(
    batch: Annotated[
        str, typer.Argument(help="The id printed by `alerts bulk`.", metavar="BATCH")
    ],
    server: Server,
    token: Token,
    as_json: Json = False,
) -> None:
    """Undo a bulk change, unless an alert has changed since."""
    undone = ServerClient(server, token).send("POST", f"/alerts/bulk/{batch}/undo")
    sentence = f"Undone: {undone['action']} of {_count_alerts(undone['alerts'])}."
    show(undone, as_json, sentence)


def _count_alerts(number: int) -> str:
    return f"{number} alert{'' if number == 1 else 's'}"
