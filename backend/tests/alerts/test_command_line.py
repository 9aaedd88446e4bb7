"""`paceline alerts`, `rules` and `schedules` as people and pipelines run them: processes, a real server."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from paceline.testing import commands
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.alerts.registry import kind_names, rule_kind_names
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import NoiseFloor
from paceline_server.store.tables.schedules import Schedule
from paceline_server.testing.recorded_history import RecordedHistory, record_history
from paceline_server.testing.running_server import RunningServer
from paceline_server.testing.scripted_agent import announce
from paceline_server.testing.sorting_suite import suite_manifest

pytestmark = pytest.mark.shapes("embedded")

Say = Callable[..., subprocess.CompletedProcess[str]]
FLAT = [100.0] * 10


@pytest.fixture
def past(
    server: RunningServer,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Iterator[RecordedHistory]:
    with httpx.Client(base_url=server.url, timeout=WITHIN_S) as client:
        yield record_history(
            client, FrozenClock(), enrolled, token("read", "alerts:write")
        )


@pytest.fixture
def say(server: RunningServer, past: RecordedHistory) -> Say:
    """`say("alerts", "list")` → the finished process."""
    secret = past.headers["Authorization"].removeprefix("Bearer ")
    own = {"PACELINE_SERVER": server.url, "PACELINE_TOKEN": secret, "COLUMNS": "300"}

    def run(
        *arguments: str, given: str = "", **env: str
    ) -> subprocess.CompletedProcess[str]:
        return commands.run(*arguments, env={**os.environ, **own, **env}, given=given)

    return run


def test_the_help_names_every_kind_of_this_server() -> None:
    """The commands have no registry: whoever adds a kind learns here that they name it."""
    for command, names in (
        (("alerts", "list"), kind_names()),
        (("rules", "list"), rule_kind_names()),
    ):
        shown = commands.run(*command, "--help", env=dict(os.environ)).stdout
        (option,) = re.findall(r"--kind (.+?)\n +--", shown, re.DOTALL)
        assert names
        assert [name for name in names if name not in option] == []


def said(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_an_alert_is_taken_and_closed(
    past: RecordedHistory, say: Say, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in(name="Ada")
    alert, other = past.alert("open"), past.alert("fixed")
    listed = said(say("alerts", "list", "--state", "open", "--json"))
    assert [row["id"] for row in listed] == [alert]
    shown = say("alerts", "list", "--target", "lab-1", "--assignee", "none").stdout
    assert "6.0 % slower" in shown
    assert other in shown
    assert (
        said(say("alerts", "assign", alert, "Ada", "--json"))["assignee"]["id"]
        == ada.account_id
    )
    assert (
        say("alerts", "ack", alert, "--note", "on it").stdout
        == f"{alert}: acknowledged\n"
    )
    assert said(say("alerts", "due", alert, "+3d", "--json"))["due_at"] is not None
    assert said(say("alerts", "list", "--overdue", "--json")) == []
    assert said(say("alerts", "issue", alert, "https://tracker.example/7", "--json"))[
        "issue_url"
    ]
    assert say("alerts", "note", alert, "bisected").returncode == 0
    done = say("alerts", "close", alert, "--as", "expected", "--baseline", "c" * 12)
    assert done.stdout == f"{alert}: expected\n"
    words = say("alerts", "show", alert).stdout
    for word in (
        "baseline: cccccccccccc",
        "assignee: Ada",
        "on it",
        "bisected",
        "actions: reopen",
    ):
        assert word in words
    assert say("alerts", "reopen", alert).stdout == f"{alert}: open\n"
    assert said(say("alerts", "assign", alert, "none", "--json"))["assignee"] is None
    assert said(say("alerts", "explain", alert, "--json"))["alert_id"] == alert
    assert say("alerts", "explain", alert).returncode == 0


def test_an_alert_is_muted_with_a_reason_and_a_length(
    past: RecordedHistory, say: Say
) -> None:
    alert = past.alert("open")
    done = say("alerts", "mute", alert, "--for", "7d", "--reason", "the lab moves")
    assert done.returncode == 0, done.stderr
    end = done.stdout.split()[-4:]
    assert end[:3] == ["paceline", "rules", "unmute"]
    assert "by test: the lab moves" in say("alerts", "show", alert).stdout
    assert say(*end[1:]).returncode == 0
    assert "the lab moves" not in say("alerts", "show", alert).stdout.split("at")[0]
    refused(
        say("alerts", "mute", alert, "--for", "long", "--reason", "x"), "Use 7d or 12h"
    )


def test_a_bulk_decision_says_how_to_undo_it(past: RecordedHistory, say: Say) -> None:
    alerts = [past.alert("open"), past.alert("open")]
    done = say(
        "alerts",
        "bulk",
        "-",
        "--action",
        "infra",
        "--due",
        "none",
        given="\n".join(alerts),
    )
    assert done.returncode == 0, done.stderr
    assert "infra + due: 2 alerts." in done.stdout
    undo = done.stdout.split()[-4:]
    assert undo[:3] == ["paceline", "alerts", "undo"]
    assert "Undone: infra + due of 2 alerts." in say(*undo[1:]).stdout
    assert {alert["state"] for alert in said(say("alerts", "list", "--json"))} == {
        "open"
    }
    refused(say(*undo[1:]), "undo_refused", "undone already")
    closed = past.alert("fixed")
    refused(
        say("alerts", "bulk", alerts[0], closed, "--action", "infra"),
        "bulk_refused",
        closed,
        "one at a time",
    )
    one = say("alerts", "bulk", alerts[0], "--action", "infra")
    assert "infra: 1 alert." in one.stdout


def test_a_rule_is_tried_saved_changed_and_muted(
    past: RecordedHistory, say: Say
) -> None:
    past.change(past.series(FLAT), -2, 0.1)
    tried = say(
        "rules", "replay", "ledger", "--benchmark", "ledger_*", "--min-effect", "5 %"
    )
    assert "it would have fired 1\u00d7, all on lab-1." in tried.stdout
    assert "10.0 % slower" in tried.stdout
    assert "No rule is stored" in say("rules", "list").stdout
    made = said(
        say(
            "rules",
            "save",
            "ledger",
            "--benchmark",
            "ledger_*",
            "--min-effect",
            "5%",
            "--json",
        )
    )
    assert (made["version"], made["min_effect"], made["kind"]) == (1, 0.05, "history")
    changed = said(
        say(
            "rules",
            "save",
            "ledger",
            "--mode",
            "shadow",
            "--comment",
            "too loud",
            "--json",
        )
    )
    assert (
        changed["version"],
        changed["benchmark"],
        changed["min_effect"],
        changed["mode"],
    ) == (
        2,
        "ledger_*",
        0.05,
        "shadow",
    )
    assert said(say("alerts", "list", "--rule", "ledger", "--json")) == []
    shown = say("rules", "show", "ledger").stdout
    assert "too loud" in shown
    assert "No alert of this rule has been judged yet." in shown
    again = say(
        "rules",
        "replay",
        made["id"],
        "--min-effect",
        "0.2",
        "--mode",
        "active",
        "--days",
        "7",
    )
    assert again.stdout == (
        "In the last 7 days it would not have fired. Only findings of kind history were replayed.\n"
    )
    assert (
        "ledger is muted until"
        in say("rules", "mute", "ledger", "--reason", "fan", "--for", "2h").stdout
    )
    assert said(say("rules", "list", "--json"))[0]["mute"]["reason"] == "fan"
    assert say("rules", "unmute", "ledger").stdout == "ledger is no longer muted.\n"
    assert say("rules", "save", "typo", "--target", "lab-2").returncode == 0
    idle = say("rules", "gaps").stdout
    assert "1 rule decides about nothing" in idle
    assert "typo" in idle
    assert say("rules", "delete", "typo").stdout == "typo is deleted.\n"
    assert [rule["name"] for rule in said(say("rules", "list", "--json"))] == ["ledger"]


def test_a_rule_below_the_noise_floor_is_refused_with_the_number(
    past: RecordedHistory, say: Say
) -> None:
    with session_scope() as session:
        session.add(
            NoiseFloor(
                id="nfl_1",
                target_id=past.target_id,
                suite="hashing",
                benchmark="ledger_batch",
                arm="native",
                params={},
                params_key="{}",
                metric="time",
                mde=0.031,
                lower=0.99,
                upper=1.01,
                blocks=100,
                launches=5,
                evidence={},
                run_id="run_x",
                job_id="job_x",
                measured_at=past.clock.now(),
            )
        )
    refused(
        say("rules", "save", "ledger", "--min-effect", "2%"),
        "below_noise_floor",
        "min_effect: at least 3.1 % on lab-1",
        "--min-effect",
    )


def test_a_schedule_is_added_switched_and_removed(
    say: Say, enrolled: Callable[..., Any], token: Callable[..., dict[str, str]]
) -> None:
    announce(enrolled("lab-2").agent_id, suite_manifest())
    secret = token("ingest", "read")["Authorization"].removeprefix("Bearer ")

    def may(*arguments: str) -> subprocess.CompletedProcess[str]:
        return say("schedules", *arguments, PACELINE_TOKEN=secret)

    assert may("list").stdout == "Nothing is scheduled.\n"
    common = ("--suite", "sorting", "--target", "lab-2")
    made = said(
        may("add", "floor", *common, "--kind", "a_a", "--every", "12h", "--json")
    )
    assert (made["every_s"], made["enabled"], made["target_name"]) == (
        43_200,
        False,
        "lab-2",
    )
    assert (
        "off until it is enabled"
        in may("add", "nightly", *common, "--params", "batch=1000").stdout
    )
    assert [schedule["params"] for schedule in said(may("list", "--json"))] == [
        {"batch": [1000]},
        {},
    ]
    shown = may("list").stdout
    assert "12h" in shown
    assert "switched off" in shown
    assert "missed" not in shown
    with session_scope() as session:
        row = session.get_one(Schedule, made["id"])
        row.missed_at, row.missed_because = row.created_at, "no phone"
    shown = may("list").stdout
    assert "missed" in shown
    assert shown.count(": no phone") == 1
    assert may("enable", "floor").stdout == "floor is on.\n"
    assert said(may("disable", made["id"], "--json"))["enabled"] is False
    assert may("remove", "floor").stdout == "floor is removed.\n"
    assert [schedule["name"] for schedule in said(may("list", "--json"))] == ["nightly"]
    refused(
        say("schedules", "add", "x", "--suite", "sorting"),
        "forbidden",
        "`schedules.write`",
    )
    refused(may("add", "x", "--suite", "sorting", "--every", "often"), "30m, 12h or 1d")
    refused(may("add", "x", "--suite", "none"), "unknown_suite")
    refused(may("remove", "floor"), "schedules list")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["alerts", "show", "alt_none"], "not_found"),
        (["alerts", "close", "alt_none", "--as", "gone"], "fixed, expected"),
        (["alerts", "bulk", "alt_none"], "Nothing to do"),
        (["alerts", "bulk", "-", "--note", "x"], "No alert given"),
        (["alerts", "bulk", "alt_none", "--action", "shout"], "reopen"),
        (["alerts", "due", "alt_none", "tomorrow"], "2026-12-01"),
        (["alerts", "assign", "alt_none", "Nobody Known"], "There is no account"),
        (["alerts", "list", "--target", "nowhere"], "Use one of: lab-1"),
        (["alerts", "list", "--kind", "odd"], "Unknown kind 'odd'"),
        (["alerts", "list", "--state", "closed"], "Unknown state 'closed'"),
        (["alerts", "list", "--state", "closed"], "Use suspected, unconfirmed"),
        (["rules", "show", "none"], "rules list"),
        (["rules", "save", "x", "--min-effect", "much"], "3%"),
        (["rules", "save", "Not A Name"], "name"),
        (["rules", "list", "--token", "wrong"], "PACELINE_TOKEN"),
        (["rules", "list", "--server", "http://127.0.0.1:9"], "cannot be reached"),
    ],
)
def test_a_mistake_is_answered_with_words(
    say: Say, arguments: list[str], words: str
) -> None:
    refused(say(*arguments), words)


def test_a_waiver_is_given_listed_and_revoked(say: Say) -> None:
    made = said(
        say(
            *("waivers", "add", "sorting", "gate", "--benchmark", "sort_*"),
            *("--params", "batch=1000", "--pull-request", "7", "--until", "+3d"),
            *("--reason", "until the pool is shared", "--json"),
        )
    )
    assert (made["state"], made["params"]) == ("active", {"batch": 1000})
    assert made["words"].startswith(
        "gate of * of sort_* batch=1000 for pull request 7, until "
    )
    listed = say("waivers", "list", "--suite", "sorting")
    assert "until the pool is shared" in listed.stdout
    assert say("waivers", "revoke", made["id"]).stdout == f"{made['id']} is revoked.\n"
    assert said(say("waivers", "list", "--json"))[0]["state"] == "revoked"
    refused(
        say("waivers", "add", "sorting", "speed", "--reason", "x", "--until", "+3d"),
        "Unknown kind 'speed'",
    )
    refused(
        say("waivers", "add", "sorting", "gate", "--reason", "x", "--until", "none"),
        "A waiver has an end.",
    )


@pytest.mark.parametrize("group", ["alerts", "rules", "schedules", "waivers"])
def test_every_command_of_a_group_has_help(group: str) -> None:
    def ask(*arguments: str) -> str:
        done = commands.run(
            group, *arguments, "--help", env={**os.environ, "COLUMNS": "200"}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = [
        line.split()[0]
        for line in ask().split("Commands:")[1].splitlines()
        if line.strip()
    ]
    assert len(listed) >= 3
    for command in listed:
        assert len(ask(command).splitlines()) > 5
