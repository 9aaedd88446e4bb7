"""The generated proof of I18: every operation of the contract, called by everybody who could call it.

What is expected follows from the permission table alone. An operation without an entry here fails.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
from fastapi import FastAPI
from paceline_server.accounts import administration
from paceline_server.accounts import queries as account_queries
from paceline_server.accounts.permissions import (
    OF_INSTALLATION_ADMIN,
    PERMISSIONS,
    ROLES,
    Permission,
    of_role,
)
from paceline_server.projects import service as projects
from paceline_server.store import visibility
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import Database, session_scope
from paceline_server.testing.in_process import in_process
from paceline_server.testing.sorting_suite import BENCHMARK
from paceline_server.testing.two_projects import World, expire, revoke

pytestmark = pytest.mark.shapes("embedded", "scaled")

Needs = (
    tuple[Permission, ...]
    | Literal["nobody", "public", "anybody signed in", "a person"]
)
"""`a person`: whoever signed in by a browser, for what is theirs; a program is refused."""
Values = Mapping[str, str]
Make = Callable[[Values], Any]


@dataclass(frozen=True)
class Operation:
    """What an operation needs, and a request that it understands. `streams`: its answer never ends."""

    needs: Needs
    body: Make | None = None
    query: Make | None = None
    streams: bool = False


def reads(query: Make | None = None, **more: Any) -> Operation:
    return Operation(("project.read",), query=query, **more)


def needs(*permissions: Permission, body: Make | None = None) -> Operation:
    return Operation(permissions, body)


PUBLIC = Operation("public")
AGENT = Operation(("agent",))
RULE = {"name": "another", "suite": "sorting"}
OPERATIONS: dict[str, Operation] = {
    "healthz": PUBLIC,
    "readyz": PUBLIC,
    "metrics": PUBLIC,
    "version": PUBLIC,
    "get_plot": PUBLIC,
    "sign_in_by_link": Operation("public", lambda _: {"token": "x"}),
    "sign_in_by_password": Operation(
        "public", lambda _: {"email": "a@b.c", "password": "x"}
    ),
    "reset_password": Operation(
        "public", lambda _: {"token": "x", "password": "a new passphrase, long"}
    ),
    "show_invitation": Operation("public", lambda _: {"token": "x"}),
    "accept_with_new_account": Operation(
        "public",
        lambda _: {
            "token": "x",
            "email": "x@example.org",
            "name": "x",
            "password": "a new passphrase, long",
        },
    ),
    "current_session": PUBLIC,
    "sign_out": PUBLIC,
    "enrol": Operation("public", lambda _: {"code": "x", "name": "x", "version": "1"}),
    "list_projects": Operation("anybody signed in"),
    "create_project": needs(
        "installation.admin", body=lambda _: {"name": "third", "title": "Third"}
    ),
    "change_project": needs("project.write", body=lambda _: {"title": "Renamed"}),
    "list_members": needs("members.read"),
    "add_member": needs(
        "members.write", body=lambda _: {"account": "newcomer", "role": "viewer"}
    ),
    "change_role": needs("members.write", body=lambda _: {"role": "triager"}),
    "remove_member": needs("members.write"),
    "list_grantable_targets": needs("installation.admin"),
    "grant_target": needs("installation.admin"),
    "withdraw_target": needs("installation.admin"),
    "disable_account": needs("installation.admin"),
    "enable_account": needs("installation.admin"),
    "list_installation_accounts": needs("installation.admin"),
    "set_installation_admin": needs(
        "installation.admin", body=lambda _: {"is_installation_admin": False}
    ),
    "create_reset_link": needs("installation.admin"),
    "sign_out_account": needs("installation.admin"),
    "list_invitations": needs("members.write"),
    "create_invitation": needs(
        "members.write", body=lambda _: {"email": "new@example.org", "role": "viewer"}
    ),
    "revoke_invitation": needs("members.write"),
    "accept_invitation": Operation("a person", lambda _: {"token": "x"}),
    "list_sessions": Operation("a person"),
    "end_other_sessions": Operation("a person"),
    "end_session": Operation("a person"),
    "change_password": Operation("a person", lambda _: {"password": "x" * 12}),
    "list_accounts": needs("members.read"),
    "list_tokens": needs("tokens.write"),
    "create_token": needs(
        "tokens.write",
        body=lambda _: {"name": "t", "permissions": ["tokens.write"]},
    ),
    "revoke_token": needs("tokens.write"),
    "list_agents": reads(),
    "create_enrolment_code": needs("installation.admin"),
    "list_enrolled_agents": needs("installation.admin"),
    "get_enrolled_agent": needs("installation.admin"),
    "set_agent_grant": needs(
        "installation.admin",
        body=lambda _: {"projects": ["default"], "repositories": [], "targets": ["*"]},
    ),
    "set_silence_limit": needs("installation.admin", body=lambda _: {"limit_s": 3600}),
    "rotate_agent": needs("installation.admin"),
    "revoke_agent": needs("installation.admin"),
    "list_claims": needs("installation.admin"),
    "move_claimed_target": needs("installation.admin"),
    "dismiss_claim": needs("installation.admin"),
    "heartbeat": AGENT,
    "renew_credential": AGENT,
    "lease": AGENT,
    "renew": AGENT,
    "report_state": AGENT,
    "report_manifest": AGENT,
    "list_undecided": AGENT,
    "store_items": AGENT,
    "finish": AGENT,
    "list_suites": reads(),
    "get_suite": reads(),
    "list_retired": reads(),
    "retire_benchmark": needs("benchmarks.write", body=lambda _: {"reason": "gone"}),
    "restore_benchmark": needs("benchmarks.write"),
    "list_targets": reads(lambda _: {"q": "%"}),
    "get_target": reads(),
    "get_target_conditions": reads(),
    "list_target_events": reads(),
    "set_maintenance": needs(
        "installation.admin", body=lambda _: {"on": True, "reason": "repair"}
    ),
    "quarantine_target": needs("installation.admin", body=lambda _: {"reason": "bad"}),
    "release_target": needs("installation.admin", body=lambda _: {"reason": "good"}),
    "recheck_target": needs("installation.admin"),
    "reboot_target": needs("installation.admin"),
    "list_runs": reads(lambda v: {"target": v["target_id"]}),
    "get_run": reads(),
    "create_run": needs(
        "runs.create",
        "targets.use",
        body=lambda v: {"suite": "sorting", "targets": [v["target_id"]]},
    ),
    "estimate_run": Operation(
        ("project.read",), lambda v: {"suite": "sorting", "targets": [v["target_id"]]}
    ),
    "cancel_run": needs("runs.create", "targets.use"),
    "get_completeness": reads(),
    "get_verdicts": reads(),
    "get_commit_verdicts": reads(lambda _: {"commit": "0" * 40}),
    "get_badge": reads(lambda _: {"suite": "sorting"}),
    "get_badge_picture": reads(lambda _: {"suite": "sorting"}),
    "get_alert_feed": reads(),
    "export_samples": reads(),
    "export_table": reads(),
    "list_comparisons": reads(),
    "get_job": reads(),
    "get_report": reads(),
    "read_log": reads(),
    "read_conditions": reads(),
    "read_reported": reads(),
    "get_distribution": reads(
        lambda _: {
            "benchmark": BENCHMARK,
            "metric": "time",
            "params": '{"batch":1000}',
        }
    ),
    "list_live_series": reads(),
    "list_schedules": reads(),
    "get_schedule": reads(),
    "create_schedule": needs(
        "schedules.write",
        body=lambda v: {
            "name": "another",
            "kind": "measure",
            "suite": "sorting",
            "target_id": v["target_id"],
            "every_s": 86400,
        },
    ),
    "change_schedule": needs("schedules.write", body=lambda _: {"enabled": False}),
    "remove_schedule": needs("schedules.write"),
    "list_series": reads(lambda v: {"target": v["target_id"]}),
    "get_series": reads(),
    "list_points": reads(),
    "list_noise_floors": reads(),
    "create_annotation": needs(
        "annotations.write",
        body=lambda v: {
            "series_id": v["series_id"],
            "at": "2026-01-01T00:00:00Z",
            "text": "x",
        },
    ),
    "delete_annotation": needs("annotations.write"),
    "list_policies": reads(),
    "list_policy_history": reads(
        lambda v: {"suite": "sorting", "policy": "p", "target": v["target_id"]}
    ),
    "get_overview": reads(),
    "get_arm_standings": reads(),
    "list_targets_by_noise": reads(),
    "get_since": reads(lambda _: {"from": "2026-01-01T00:00:00Z"}),
    "get_waiting": reads(),
    "get_arms": reads(lambda _: {"suite": "sorting", "benchmark": BENCHMARK}),
    "get_matrix": reads(lambda _: {"suite": "sorting"}),
    "get_comparison": reads(
        lambda v: {"base": v["run_id"], "head": v["run_id"], "suite": "sorting"}
    ),
    "list_incidents": needs("installation.admin"),
    "list_audit": needs("audit.read"),
    "list_installation_audit": needs("installation.admin"),
    "list_alerts": reads(),
    "get_alert": reads(),
    "explain_alert": reads(),
    "list_triage_batches": reads(),
    "triage_in_bulk": needs(
        "alerts.triage", body=lambda v: {"alert_ids": [v["alert_id"]], "note": "x"}
    ),
    "undo_bulk_triage": needs("alerts.triage"),
    "act_on_alert": needs("alerts.triage", body=lambda _: {"action": "acknowledge"}),
    "assign_alert": needs("alerts.triage", body=lambda _: {"account_id": None}),
    "set_alert_due": needs("alerts.triage", body=lambda _: {"due_at": None}),
    "link_alert_issue": needs("alerts.triage", body=lambda _: {"url": None}),
    "add_alert_note": needs("alerts.triage", body=lambda _: {"note": "x"}),
    "mute_alert": needs("rules.write", body=lambda _: {"reason": "x", "hours": 1}),
    "bisect_alert": needs("runs.create", "targets.use", body=lambda _: {}),
    "list_waivers": reads(),
    "get_waiver": reads(),
    "create_waiver": needs(
        "alerts.triage",
        body=lambda _: {
            "suite": "sorting",
            "kind": "gate",
            "reason": "x",
            "expires_at": "2026-01-01T00:00:00Z",
        },
    ),
    "revoke_waiver": needs("alerts.triage"),
    "list_rules": reads(),
    "get_rule": reads(),
    "list_rule_versions": reads(),
    "get_applied_rule": reads(
        lambda v: {
            "suite": "sorting",
            "benchmark": BENCHMARK,
            "arm": "native",
            "metric": "time",
            "target": v["target_id"],
        }
    ),
    "list_shipped_rules": reads(),
    "list_orphans": reads(),
    "create_rule": needs("rules.write", body=lambda _: RULE),
    "replay_rule": needs("rules.write", body=lambda _: {"rule": RULE}),
    "update_rule": needs("rules.write", body=lambda _: {**RULE, "based_on": 1}),
    "mute_rule": needs("rules.write", body=lambda _: {"reason": "x", "hours": 1}),
    "unmute_rule": needs("rules.write"),
    "delete_rule": needs("rules.write"),
    "list_channels": needs("channels.write"),
    "create_channel": needs(
        "channels.write",
        body=lambda _: {"name": "another", "url": "https://hooks.example/"},
    ),
    "get_channel": needs("channels.write"),
    "change_channel": needs("channels.write", body=lambda _: {"name": "renamed"}),
    "rotate_channel_key": needs("channels.write", body=lambda _: {}),
    "mute_channel": needs("channels.write", body=lambda _: {"hours": 1}),
    "unmute_channel": needs("channels.write"),
    "test_channel": needs("channels.write"),
    "list_deliveries": needs("channels.write"),
    "get_delivery": needs("channels.write"),
    "redeliver": needs("channels.write"),
    "delete_channel": needs("channels.write"),
    "list_imports": reads(),
    "read_import": reads(),
    "read_original": reads(),
    "store_import": needs("imports.write", body=lambda _: {}),
    "preview_import": Operation(
        ("imports.write",), lambda _: {}, lambda _: {"file": "bench.json"}
    ),
    "store_file": Operation(
        ("imports.write",), lambda _: {}, lambda _: {"file": "bench.json"}
    ),
    "delete_import": needs("imports.write"),
    "stream": reads(streams=True),
}
OF_INSTALLATION = (
    "create_reset_link",
    "disable_account",
    "dismiss_claim",
    "get_enrolled_agent",
    "list_claims",
    "list_enrolled_agents",
    "move_claimed_target",
    "revoke_agent",
    "rotate_agent",
    "set_agent_grant",
    "set_silence_limit",
    "enable_account",
    "list_installation_accounts",
    "set_installation_admin",
    "sign_out_account",
    "grant_target",
    "list_grantable_targets",
    "list_installation_audit",
)
"""What an admin of the installation does to accounts, agents and targets of all projects."""
SOMEBODY_ELSES = ("end_session",)
"""The object is one person's, and none of the callers is that person."""
EMPTY_ABROAD = ("list_retired", "export_table")
"""Lists by a name in the path: what the project of the request has of it, which is nothing abroad."""
UNSAFE = ("post", "put", "patch", "delete")
ORDER = ("get", "put", "post", "patch", "delete")


@dataclass(frozen=True)
class Caller:
    """`held`: what may be done; `problem`: the answer that comes before any permission. `foreign`: in another
    project than the objects. `cross_site`: refused whatever writes."""

    name: str
    headers: Mapping[str, str]
    held: frozenset[Permission] = frozenset()
    problem: int | None = None
    foreign: bool = False
    cross_site: bool = False
    project: str | None = None


def callers(world: World) -> list[Caller]:
    everybody = [
        Caller("anonymous", {}, problem=401),
        Caller("anonymous in a private project", {}, problem=401, project="default"),
    ]
    for role in ROLES:
        mine = world.person(role, DEFAULT_PROJECT_ID, f"own {role}")
        theirs = world.person(role, world.other_id, f"foreign {role}")
        everybody += [
            Caller(f"{role}, own project", mine, of_role(role)),
            Caller(f"{role}, foreign project", theirs, of_role(role), foreign=True),
            Caller(f"{role}, naming it", theirs, problem=404, project="default"),
        ]
    admin = world.person("admin", DEFAULT_PROJECT_ID, "admin abroad")
    no_origin = {"Cookie": admin["Cookie"]}
    elsewhere = {**no_origin, "Origin": "https://evil.example"}
    site = {**no_origin, "Sec-Fetch-Site": "cross-site"}
    rights = of_role("admin")
    everybody += [
        Caller("cookie without origin", no_origin, rights, cross_site=True),
        Caller("cookie, foreign origin", elsewhere, rights, cross_site=True),
        Caller("cookie, foreign site", site, rights, cross_site=True),
    ]
    for permission in PERMISSIONS:
        if permission != "agent":
            _, headers = world.program(permission)
            everybody.append(
                Caller(f"token of {permission}", headers, frozenset({permission}))
            )
    revoked, of_revoked = world.program("project.read")
    revoke(revoked)
    expired, of_expired = world.program("project.read")
    expire(expired)
    everybody += [
        Caller("revoked token", of_revoked, problem=401),
        Caller("expired token", of_expired, problem=401),
        Caller("token of nobody", {"Authorization": "Bearer plt_no"}, problem=401),
        Caller(
            "foreign token, naming it", _foreign(world), problem=404, project="default"
        ),
        Caller("foreign token", _foreign(world), OF_INSTALLATION_ADMIN, foreign=True),
        Caller("agent", world.lab.agent.headers, frozenset({"agent"})),
        Caller("disabled account", _disabled(world), problem=401),
        Caller("token whose maker left", _left(world), problem=401),
        Caller(
            "installation admin, foreign project",
            world.person(None, world.other_id, "chief abroad", admin=True),
            OF_INSTALLATION_ADMIN,
            foreign=True,
            project="other",
        ),
        Caller(
            "installation admin",
            world.person("admin", DEFAULT_PROJECT_ID, "chief", admin=True),
            OF_INSTALLATION_ADMIN,
        ),
    ]
    return everybody


def _foreign(world: World) -> Mapping[str, str]:
    return world.program(*OF_INSTALLATION_ADMIN, project_id=world.other_id)[1]


def _disabled(world: World) -> Mapping[str, str]:
    headers = world.person("admin", DEFAULT_PROJECT_ID, "gone")
    with session_scope() as session:
        account = account_queries.account_by_name(session, "gone")
        assert account is not None
        administration.disable_account(session, account.id, "test")
    return headers


def _left(world: World) -> Mapping[str, str]:
    person = world.person("admin", DEFAULT_PROJECT_ID, "leaver")
    made = world.call(
        "post",
        "/api/v1/tokens",
        person,
        {"name": "left", "permissions": ["project.read"]},
    )
    with session_scope() as session:
        account = account_queries.account_by_name(session, "leaver")
        assert account is not None
        projects.remove_member(session, DEFAULT_PROJECT_ID, account.id, "test")
    return {"Authorization": f"Bearer {made.json()['secret']}"}


def expected(
    caller: Caller, operation: Operation, method: str, path: str
) -> int | None:
    """The status that must be answered; None: one that lets it in."""
    if operation.needs == "public":
        return None
    if caller.problem is not None:
        return caller.problem
    if operation.needs == "a person" and "Cookie" not in caller.headers:
        return 403
    needed = operation.needs if isinstance(operation.needs, tuple) else ()
    is_forged = caller.cross_site and method in UNSAFE
    if is_forged or any(permission not in caller.held for permission in needed):
        return 403
    return 404 if caller.foreign and "{" in path else None


class Matrix:
    """Calls everything and keeps what surprised.

    Without `every_refusal` each caller is refused once for each reason. What the permission table refuses reaches no
    row of an operation, and so is the same on every database.
    """

    def __init__(
        self, world: World, app: FastAPI, *, every_refusal: bool = True
    ) -> None:
        self.world, self.app, self.every_refusal = world, app, every_refusal
        self.refused: set[tuple[str, int]] = set()
        self.operations = [
            (method, path, str(each["operationId"]))
            for path, methods in app.openapi()["paths"].items()
            for method, each in methods.items()
        ]
        self.operations.sort(
            key=lambda one: (one[2] == "sign_out", ORDER.index(one[0]), one[1])
        )
        self.cells = 0
        self.left_out = 0
        self.surprises: list[str] = []
        self.gone: set[str] = set()
        self.statuses: Counter[int] = Counter()

    def run(self, everybody: list[Caller]) -> None:
        usual = self.world
        with in_process(self.app) as client:
            self.world = replace(usual, in_process=client)
            self._run(everybody)
        self.world = usual

    def _run(self, everybody: list[Caller]) -> None:
        for method, path, name in self.operations:
            operation = OPERATIONS.get(name)
            if operation is None:
                self.surprises.append(f"{method} {path}: no entry for {name}")
                continue
            for caller in everybody:
                self._cell(caller, operation, method, path, name)

    def _cell(
        self, caller: Caller, operation: Operation, method: str, path: str, name: str
    ) -> None:
        wanted = expected(caller, operation, method, path)
        if wanted in {401, 403} and not self.every_refusal:
            refusal = (caller.name, wanted)
            if refusal in self.refused:
                self.left_out += 1
                return
            self.refused.add(refusal)
        if operation.streams and wanted is None:
            return  # its events are filtered in tests/live
        if name == "grant_target" and caller.foreign and wanted != 403:
            return  # would make the target the other project's, too
        if caller.foreign and (
            (name in OF_INSTALLATION and wanted != 403) or name in EMPTY_ABROAD
        ):
            wanted = None if wanted == 404 else wanted
        if name in SOMEBODY_ELSES:
            wanted = wanted or 404
        values = self.world.values
        query = {} if operation.query is None else dict(operation.query(values))
        if caller.project is not None:
            query["project"] = caller.project
        body = None if operation.body is None else operation.body(values)
        answer = self.world.call(method, path, caller.headers, body, query)
        self.cells += 1
        self.statuses[answer.status_code] += 1
        problem = self._problem(caller, wanted, answer, name, operation)
        if problem is not None:
            self.surprises.append(
                f"{caller.name}: {method} {path}: {problem}: {answer.status_code} {answer.text[:160]}"
            )
        if method in UNSAFE and answer.is_success:
            self.gone.add(name)

    def _problem(
        self,
        caller: Caller,
        wanted: int | None,
        answer: Any,
        name: str,
        operation: Operation,
    ) -> str | None:
        status = answer.status_code
        if status >= 500 and name != "readyz":
            return "failed"
        if operation.needs == "public" or wanted is not None:
            return None if wanted in (None, status) else f"expected {wanted}"
        if status in (401, 403):
            return "expected to be let in"
        if caller.foreign:
            return self._leak(answer, name)
        is_there = operation.needs == ("agent",) or name in self.gone
        return "not found" if status == 404 and not is_there else None

    def _leak(self, answer: Any, name: str) -> str | None:
        """What the answer tells of the other project's rows."""
        leaked = [
            value
            for key, value in self.world.values.items()
            if key.endswith("_id") and value in answer.text
        ]
        leaked += re.findall(r"secret[- ]\w+", answer.text)
        tells = answer.is_success and leaked and name not in OF_INSTALLATION
        return f"told {leaked}" if tells else None


def test_every_operation_answers_everybody_as_the_permission_table_says(
    world: World, app: FastAPI, database: Database
) -> None:
    """On PostgreSQL a caller is refused everything only in `make test-long`."""
    is_sqlite = database.engine.dialect.name == "sqlite"
    is_long = os.environ.get("PACELINE_TEST_LENGTH") == "long"
    matrix = Matrix(world, app, every_refusal=is_sqlite or is_long)
    matrix.run(callers(world))
    sys.stderr.write(
        f"{matrix.cells} cells, {matrix.left_out} left out, {len(matrix.surprises)} surprises, "
        f"{dict(matrix.statuses)}\n"
    )
    assert not matrix.surprises, "\n".join(matrix.surprises)
    assert matrix.cells + matrix.left_out > 30 * len(OPERATIONS)
    assert (matrix.left_out == 0) == matrix.every_refusal


def test_no_entry_is_left_over(app: FastAPI) -> None:
    named = {
        each["operationId"]
        for methods in app.openapi()["paths"].values()
        for each in methods.values()
    }
    assert set(OPERATIONS) == named


@pytest.mark.shapes("embedded")
def test_without_the_criterion_the_matrix_finds_what_leaks(
    world: World, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutation: sessions that limit nothing."""
    monkeypatch.setattr(visibility, "_criteria", lambda *_: ())
    matrix = Matrix(world, app)
    abroad = world.person("viewer", world.other_id, "abroad")
    matrix.run([Caller("viewer", abroad, of_role("viewer"), foreign=True)])
    assert len(matrix.surprises) > 20
