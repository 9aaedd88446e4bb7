"""`paceline rules`: which findings become alerts; a rule can be replayed before it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from paceline.commands.server_client import (
    Json,
    Server,
    ServerClient,
    Token,
    new_group,
    parse_share,
    print_json,
    print_line,
    print_table,
    short_time,
)

app = new_group(
    "Rules: which findings become alerts. Of those that match, the most specific decides alone."
)

RuleName = Annotated[str, typer.Argument(help="A rule's name or id.", metavar="RULE")]
Kind = Annotated[str | None, typer.Option(help="history (default) or arm_slower.")]
Suite = Annotated[str | None, typer.Option(help="A pattern; * is any characters.")]
Benchmark = Annotated[str | None, typer.Option(help="A pattern.")]
Arm = Annotated[str | None, typer.Option(help="A pattern.")]
Metric = Annotated[str | None, typer.Option(help="A pattern.")]
Target = Annotated[str | None, typer.Option(help="A pattern for target names.")]
MinEffect = Annotated[
    str | None, typer.Option(help="Smaller effects raise nothing: 3% or 0.03.")
]
Direction = Annotated[str | None, typer.Option(help="worse (default) or both.")]
Mode = Annotated[str | None, typer.Option(help="active (default), shadow or off.")]
Days = Annotated[int, typer.Option(min=1, max=365, help="How far back to look.")]

PATTERNS = ("suite", "benchmark", "arm", "metric", "target")
SAID = ("kind", *PATTERNS, "min_effect", "direction", "mode", "text")


@dataclass(frozen=True)
class RuleOptions:
    """What the options say about a rule; None: as it is, or the server's default."""

    kind: str | None
    suite: str | None
    benchmark: str | None
    arm: str | None
    metric: str | None
    target: str | None
    min_effect: str | None
    direction: str | None
    mode: str | None
    text: str | None = None

    def body(self, name: str, known: dict[str, Any] | None) -> dict[str, Any]:
        """The rule as it would be saved: what is known of it, changed by the options."""
        said = {} if known is None else {one: known[one] for one in SAID}
        given = {
            one: getattr(self, one) for one in SAID if getattr(self, one) is not None
        }
        if "min_effect" in given:
            given["min_effect"] = parse_share(given["min_effect"])
        return {"name": name, **said, **given}


@app.command("list")
def list_rules(
    server: Server,
    token: Token,
    kind: Kind = None,
    mode: Mode = None,
    as_json: Json = False,
) -> None:
    """Lists the stored rules by name, with their mutes and how their alerts ended."""
    found = ServerClient(server, token).pages("/rules", kind=kind, mode=mode)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["name"],
            one["kind"],
            _patterns(one),
            _percent(one["min_effect"]),
            one["mode"],
            _muted(one),
            one["precision"]["words"],
        )
        for one in found
    ]
    columns = ("rule", "kind", "about", "from", "mode", "muted until", "so far")
    print_table(columns, rows, "No rule is stored; the built-in defaults apply.")


def _patterns(rule: dict[str, Any]) -> str:
    return (
        ", ".join(f"{one} {rule[one]}" for one in PATTERNS if rule[one] != "*")
        or "everything"
    )


def _percent(value: float) -> str:
    return f"{value * 100:g} %"


def _muted(rule: dict[str, Any]) -> str:
    return "" if rule["mute"] is None else short_time(rule["mute"]["until"])


@app.command()
def show(rule: RuleName, server: Server, token: Token, as_json: Json = False) -> None:
    """Shows a rule, the noise floor it has to respect, and all of its versions."""
    desk = ServerClient(server, token)
    rule_id = desk.rule(rule)["id"]
    found = {
        **desk.get(f"/rules/{rule_id}"),
        "versions": desk.pages(f"/rules/{rule_id}/versions"),
    }
    if as_json:
        print_json(found)
        return
    print_line(
        f"{found['name']} (version {found['version']}, {found['kind']}, {found['mode']}): {found['text']}"
    )
    print_line(
        f"  about: {_patterns(found)}; from {_percent(found['min_effect'])}; {found['direction']}"
    )
    print_line(f"  {found['precision']['words']}")
    if found["floor"] is not None:
        print_line(f"  noise floor: {found['floor']['words']}")
    if found["mute"] is not None:
        print_line(
            f"  muted until {_muted(found)} UTC by {found['mute']['muted_by']}: {found['mute']['reason']}"
        )
    rows = [
        (
            one["version"],
            short_time(one["created_at"]),
            one["created_by"],
            _percent(one["min_effect"]),
            one["mode"],
            one["comment"],
        )
        for one in found["versions"]
    ]
    print_table(("version", "saved", "by", "from", "mode", "why"), rows, "")


@app.command()
def save(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: Annotated[
        str,
        typer.Argument(help="Its name; a new one makes a new rule.", metavar="RULE"),
    ],
    server: Server,
    token: Token,
    kind: Kind = None,
    suite: Suite = None,
    benchmark: Benchmark = None,
    arm: Arm = None,
    metric: Metric = None,
    target: Target = None,
    min_effect: MinEffect = None,
    direction: Direction = None,
    mode: Mode = None,
    text: Annotated[
        str | None, typer.Option(help="What it is for, in a sentence.")
    ] = None,
    comment: Annotated[str, typer.Option(help="Why this version.")] = "",
    as_json: Json = False,
) -> None:
    """Saves a new rule, or a new version of one: options not given stay as they are."""
    desk = ServerClient(server, token)
    known = desk.known_rule(rule)
    wish = RuleOptions(
        kind, suite, benchmark, arm, metric, target, min_effect, direction, mode, text
    )
    body = {
        **wish.body(rule if known is None else known["name"], known),
        "comment": comment,
    }
    if known is None:
        found = desk.send("POST", "/rules", body)
    else:
        found = desk.send(
            "PUT", f"/rules/{known['id']}", {**body, "based_on": known["version"]}
        )
    if as_json:
        print_json(found)
    else:
        print_line(f"{found['name']} version {found['version']}: {found['text']}")


@app.command()
def replay(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: Annotated[
        str, typer.Argument(help="A rule's name, or that of one to be.", metavar="RULE")
    ],
    server: Server,
    token: Token,
    days: Days = 30,
    kind: Kind = None,
    suite: Suite = None,
    benchmark: Benchmark = None,
    arm: Arm = None,
    metric: Metric = None,
    target: Target = None,
    min_effect: MinEffect = None,
    direction: Direction = None,
    mode: Mode = None,
    as_json: Json = False,
) -> None:
    """Says what a rule would have raised in the last days. Takes the options of save; saves nothing."""
    desk = ServerClient(server, token)
    known = desk.known_rule(rule)
    wish = RuleOptions(
        kind, suite, benchmark, arm, metric, target, min_effect, direction, mode
    )
    body = {
        "rule": wish.body(rule if known is None else known["name"], known),
        "rule_id": None if known is None else known["id"],
        "days": days,
    }
    found = desk.send("POST", "/rules/replay", body)
    if as_json:
        print_json(found)
        return
    print_line(found["words"])
    if not found["findings"]:
        return
    rows = [
        (
            short_time(one["at"]),
            one["target_name"],
            f"{one['benchmark']} {one['arm']} {one['metric']}",
            one["words"],
            one["commit"][:12],
            one["alert_state"],
        )
        for one in found["findings"]
    ]
    print_table(("measured", "target", "series", "what", "commit", "alert"), rows, "")
    if found["findings_total"] > len(rows):
        print_line(
            f"{found['findings_total'] - len(rows)} older findings are not shown."
        )


@app.command()
def mute(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: RuleName,
    server: Server,
    token: Token,
    reason: Annotated[str, typer.Option(help="Why nobody should hear.")],
    hours: Annotated[float, typer.Option(min=0.0, help="For how long.")] = 24.0,
    as_json: Json = False,
) -> None:
    """Tells nobody of a rule's alerts for a while; what is still open then is told at the end."""
    desk = ServerClient(server, token)
    body = {"reason": reason, "hours": hours}
    found = desk.send("POST", f"/rules/{desk.rule(rule)['id']}/mute", body)
    if as_json:
        print_json(found)
    else:
        print_line(f"{found['name']} is muted until {_muted(found)} UTC.")


@app.command()
def unmute(rule: RuleName, server: Server, token: Token, as_json: Json = False) -> None:
    """Ends a rule's silence now."""
    desk = ServerClient(server, token)
    found = desk.send("POST", f"/rules/{desk.rule(rule)['id']}/unmute")
    if as_json:
        print_json(found)
    else:
        print_line(f"{found['name']} is not muted any more.")


@app.command()
def delete(rule: RuleName, server: Server, token: Token) -> None:
    """Takes a rule out of force; its versions are kept, and its name brings it back."""
    desk = ServerClient(server, token)
    found = desk.rule(rule)
    desk.send("DELETE", f"/rules/{found['id']}")
    print_line(f"{found['name']} is out of force.")


@app.command()
def orphans(server: Server, token: Token, as_json: Json = False) -> None:
    """Lists rules that decide about nothing, and measurements that have the built-in default only."""
    found = ServerClient(server, token).get("/rules/orphans")
    if as_json:
        print_json(found)
        return
    print_line(found["words"])
    if found["rules"]:
        rows = [(one["name"], one["reason"]) for one in found["rules"]]
        print_table(("rule", "why it says nothing"), rows, "")
    if found["unruled"]:
        measured = [
            (
                one["suite"],
                one["benchmark"],
                one["arm"],
                one["metric"],
                one["target_name"],
                one["series"],
            )
            for one in found["unruled"]
        ]
        print_table(
            ("suite", "benchmark", "arm", "metric", "target", "series"), measured, ""
        )
