"""`paceline rules`: which findings become alerts; a rule can be replayed before it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from paceline.commands.options import (
    Json,
    MuteFor,
    MuteReason,
    Server,
    Token,
    parse_hours,
    parse_share,
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

app = new_group(
    "Rules: which findings become alerts. The most specific matching rule applies."
)

PATTERN_HELP = "A pattern; * matches any characters."
RuleName = Annotated[str, typer.Argument(help="A rule's name or id.", metavar="RULE")]
Kind = Annotated[
    str | None,
    typer.Option(
        help="history (default), arm_slower, gate, missing, schedule, quarantine, agent_silent or import_stopped."
    ),
]
Suite = Annotated[str | None, typer.Option(help=PATTERN_HELP)]
Benchmark = Annotated[str | None, typer.Option(help=PATTERN_HELP)]
Arm = Annotated[str | None, typer.Option(help=PATTERN_HELP)]
Metric = Annotated[str | None, typer.Option(help=PATTERN_HELP)]
Target = Annotated[str | None, typer.Option(help="A pattern for target names.")]
MinEffect = Annotated[
    str | None, typer.Option(help="Ignore smaller effects: 3% or 0.03.")
]
Direction = Annotated[str | None, typer.Option(help="worse (default) or both.")]
Mode = Annotated[str | None, typer.Option(help="active (default), shadow or off.")]
Every = Annotated[
    str | None,
    typer.Option(
        help="With import_stopped: how often results must arrive, 7d or 12h.",
        metavar="TIME",
    ),
]
Days = Annotated[int, typer.Option(min=1, max=365, help="Days to look back.")]

PATTERNS = ("suite", "benchmark", "arm", "metric", "target")
FIELDS = (
    "kind",
    *PATTERNS,
    "min_effect",
    "direction",
    "mode",
    "period_hours",
    "text",
)


@dataclass(frozen=True)
class RuleOptions:
    """A rule's options on the command line; None: unchanged, or the server's default."""

    kind: str | None
    suite: str | None
    benchmark: str | None
    arm: str | None
    metric: str | None
    target: str | None
    min_effect: str | None
    direction: str | None
    mode: str | None
    period_hours: float | None = None
    text: str | None = None

    def body(self, name: str, stored: Item | None) -> Item:
        """Return the rule as it would be saved: the stored one, changed by the options."""
        before = {} if stored is None else {field: stored[field] for field in FIELDS}
        options = {
            field: value
            for field in FIELDS
            if (value := getattr(self, field)) is not None
        }
        if "min_effect" in options:
            options["min_effect"] = parse_share(options["min_effect"])
        name = name if stored is None else stored["name"]
        return {"name": name, **before, **options}


@app.command("list")
def list_rules(
    server: Server,
    token: Token,
    kind: Kind = None,
    mode: Mode = None,
    as_json: Json = False,
) -> None:
    """List the stored rules."""
    rules = ServerClient(server, token).list_items("/rules", kind=kind, mode=mode)
    columns: Columns = {
        "rule": "name",
        "kind": "kind",
        "about": _patterns,
        "from": _min_effect,
        "mode": "mode",
        "muted until": _muted_until,
        "so far": lambda rule: rule["precision"]["words"],
    }
    show_list(
        rules, as_json, columns, "No rule is stored; the built-in defaults apply."
    )


def _patterns(rule: Item) -> str:
    patterns = [f"{name} {rule[name]}" for name in PATTERNS if rule[name] != "*"]
    return ", ".join(patterns) or "everything"


def _min_effect(rule: Item) -> str:
    return f"{rule['min_effect'] * 100:g} %"


def _muted_until(rule: Item) -> str:
    return "" if rule["mute"] is None else short_time(rule["mute"]["until"])


@app.command("show")
def show_rule(
    rule: RuleName, server: Server, token: Token, as_json: Json = False
) -> None:
    """Show a rule, its noise floor and all its versions."""
    client = ServerClient(server, token)
    path = f"/rules/{client.find_or_fail('rule', rule)['id']}"
    details: dict[str, Any] = {
        **client.get(path),
        "versions": client.list_items(f"{path}/versions"),
    }
    if as_json:
        print_json(details)
        return
    about = f"version {details['version']}, {details['kind']}, {details['mode']}"
    print_line(f"{details['name']} ({about}): {details['text']}")
    effect = f"from {_min_effect(details)}; {details['direction']}"
    print_line(f"  about: {_patterns(details)}; {effect}")
    print_line(f"  {details['precision']['words']}")
    if details["floor"] is not None:
        print_line(f"  noise floor: {details['floor']['words']}")
    if (mute := details["mute"]) is not None:
        until = f"muted until {_muted_until(details)} UTC"
        print_line(f"  {until} by {mute['muted_by']}: {mute['reason']}")
    columns: Columns = {
        "version": "version",
        "saved": time_column("created_at"),
        "by": "created_by",
        "from": _min_effect,
        "mode": "mode",
        "why": "comment",
    }
    show_table(details["versions"], columns)


@app.command()
def save(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: Annotated[
        str,
        typer.Argument(help="A rule's name or id, or a new name.", metavar="RULE"),
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
    every: Every = None,
    text: Annotated[
        str | None, typer.Option(help="What the rule is for, in a sentence.")
    ] = None,
    comment: Annotated[str, typer.Option(help="The reason for this version.")] = "",
    as_json: Json = False,
) -> None:
    """Save a new rule or a new version of one. Options not given stay unchanged."""
    client = ServerClient(server, token)
    stored = client.find("/rules", rule)
    patterns = (suite, benchmark, arm, metric, target)
    period_hours = None if every is None else parse_hours(every)
    options = RuleOptions(
        kind, *patterns, min_effect, direction, mode, period_hours, text
    )
    body = {**options.body(rule, stored), "comment": comment}
    if stored is None:
        saved = client.send("POST", "/rules", body)
    else:
        body["based_on"] = stored["version"]
        saved = client.send("PUT", f"/rules/{stored['id']}", body)
    sentence = f"{saved['name']} version {saved['version']}: {saved['text']}"
    show(saved, as_json, sentence)


@app.command()
def replay(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: Annotated[
        str, typer.Argument(help="A rule's name, or a new name.", metavar="RULE")
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
    """Show what a rule would have raised recently. Takes the options of save; saves nothing."""
    client = ServerClient(server, token)
    stored = client.find("/rules", rule)
    options = RuleOptions(
        kind, suite, benchmark, arm, metric, target, min_effect, direction, mode
    )
    body = {
        "rule": options.body(rule, stored),
        "rule_id": None if stored is None else stored["id"],
        "days": days,
    }
    result = client.send("POST", "/rules/replay", body)
    if as_json:
        print_json(result)
        return
    print_line(result["words"])
    findings = result["findings"]
    if not findings:
        return
    columns: Columns = {
        "measured": time_column("at"),
        "target": "target_name",
        "series": lambda finding: (
            f"{finding['benchmark']} {finding['arm']} {finding['metric']}"
        ),
        "what": "words",
        "commit": lambda finding: finding["commit"][:12],
        "alert": "alert_state",
    }
    show_table(findings, columns)
    if (older := result["findings_total"] - len(findings)) > 0:
        print_line(f"{older} older findings are not shown.")


@app.command()
def mute(  # noqa: PLR0917 - one parameter per option is how typer declares them
    rule: RuleName,
    server: Server,
    token: Token,
    reason: MuteReason,
    length: MuteFor = "24h",
    as_json: Json = False,
) -> None:
    """Mute a rule for a while. Alerts still open at the end are then sent."""
    hours = parse_hours(length)
    client = ServerClient(server, token)
    path = f"/rules/{client.find_or_fail('rule', rule)['id']}/mute"
    muted = client.send("POST", path, {"reason": reason, "hours": hours})
    show(muted, as_json, f"{muted['name']} is muted until {_muted_until(muted)} UTC.")


@app.command()
def unmute(rule: RuleName, server: Server, token: Token, as_json: Json = False) -> None:
    """Unmute a rule."""
    client = ServerClient(server, token)
    path = f"/rules/{client.find_or_fail('rule', rule)['id']}/unmute"
    unmuted = client.send("POST", path)
    show(unmuted, as_json, f"{unmuted['name']} is no longer muted.")


@app.command()
def delete(rule: RuleName, server: Server, token: Token) -> None:
    """Delete a rule. Its versions are kept; saving its name restores it."""
    client = ServerClient(server, token)
    stored = client.find_or_fail("rule", rule)
    client.send("DELETE", f"/rules/{stored['id']}")
    print_line(f"{stored['name']} is deleted.")


@app.command()
def gaps(server: Server, token: Token, as_json: Json = False) -> None:
    """List rules that decide about nothing, and measurements without a rule of their own."""
    result = ServerClient(server, token).get("/rules/orphans")
    if as_json:
        print_json(result)
        return
    print_line(result["words"])
    if result["rules"]:
        show_table(result["rules"], {"rule": "name", "why it is unused": "reason"})
    if result["unruled"]:
        columns: Columns = {
            "suite": "suite",
            "benchmark": "benchmark",
            "arm": "arm",
            "metric": "metric",
            "target": "target_name",
            "series": "series",
        }
        show_table(result["unruled"], columns)
