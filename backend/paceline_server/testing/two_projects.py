"""Two projects for tests: `default` has one real object of every kind, `other` has members who must not see any."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from paceline_server.accounts import credentials
from paceline_server.accounts import service as accounts
from paceline_server.accounts.permissions import Permission, Role
from paceline_server.accounts.sessions import begin_session
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.ids import new_id
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.store import access
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import session_scope
from paceline_server.store.tables.accounts import BrowserSession, Token
from paceline_server.store.tables.fleet import TargetClaim
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.in_process import InProcessClient
from paceline_server.testing.sorting_suite import BENCHMARK

API = "/api/v1"
DOCUMENT: dict[str, Any] = {
    "v": 1,
    "format": "logcat",
    "file": "secret.txt",
    "bytes": 10,
    "sha256": "a" * 64,
    "why_no_samples": "The log holds averages, not samples.",
    "log": {"lines": 1},
}
ORIGINAL = {
    "file": "secret.txt",
    "gzip": base64.b64encode(gzip.compress(b"secret line")).decode(),
}
SLOWER = {1000: 0.126, 2000: -0.6}
Headers = dict[str, str]


@dataclass
class World:
    """`values`: the value of each path parameter; all belong to the project `default`."""

    client: TestClient
    lab: Lab
    other_id: str
    values: dict[str, str] = field(default_factory=dict)
    in_process: InProcessClient | None = None
    """What `call` uses instead of `client`, where there is one."""

    def person(
        self, role: Role | None, project_id: str, name: str, *, admin: bool = False
    ) -> Headers:
        """Return the cookie of a new member of a project, as its pages send it."""
        with session_scope() as session:
            account = accounts.create_account(
                session, name, is_installation_admin=admin
            )
            if role is not None:
                projects.set_member(session, project_id, account, role, "test")
            link = credentials.create_link(session, account, 30)
        with session_scope() as session:
            secret = accounts.sign_in_by_link(session, link, 1).secret
        return {"Cookie": f"paceline={secret}", "Sec-Fetch-Site": "same-origin"}

    def program(
        self, *held: Permission, project_id: str = DEFAULT_PROJECT_ID
    ) -> tuple[str, Headers]:
        """Return a token without a maker: its id and its header."""
        with session_scope() as session, access.within_project(session, project_id):
            token, secret = accounts.issue_token(session, "program", "plt", held)
        return token.id, {"Authorization": f"Bearer {secret}"}

    def call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        filled = re.sub(r"\{(\w+)\}", lambda name: self.values[name[1]], path)
        options: dict[str, Any] = {} if body is None else {"json": body}
        return (self.in_process or self.client).request(
            method, filled, headers=dict(headers), params=query, **options
        )


def open_world(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., Headers],
) -> World:
    """Both projects; `enrolled` and `token` are the fixtures."""
    lab = open_lab(client, enrolled, token)
    leased = lab.measure(SLOWER)
    with session_scope() as session:
        other = projects.create_project(
            session, ProjectIn(name="other", title="Other"), "test"
        ).id
    made = World(client, lab, other)
    admin = token("admin")

    def post(path: str, body: object) -> dict[str, Any]:
        answer = client.post(f"{API}{path}", json=body, headers=admin)
        if not answer.is_success:
            raise AssertionError(f"{path}: {answer.status_code} {answer.text}")
        return dict(answer.json())

    def first(path: str) -> str:
        items = client.get(f"{API}{path}", headers=admin).json()["items"]
        if not items:
            raise AssertionError(f"{path} is empty")
        return str(items[0]["id"])

    spare = enrolled("spare")  # revoked by who calls everything
    alert_id = first("/alerts")
    at = clock_module.now().isoformat()
    with session_scope() as session:
        victim = accounts.create_account(session, "victim")
        projects.set_member(session, DEFAULT_PROJECT_ID, victim, "viewer", "test")
        begin_session(session, victim, 1, "link")
        session_id = session.scalars(select(BrowserSession.id)).one()
        accounts.create_account(session, "newcomer")
        claim = TargetClaim(
            id=new_id("clm"),
            target_id=lab.target_id,
            agent_id=spare.agent_id,
            state="open",
            first_at=clock_module.now(),
            last_at=clock_module.now(),
            decided_by=None,
            decided_at=None,
        )
        session.add(claim)
        session.add(
            RetiredBenchmark(
                suite="sorting",
                benchmark=BENCHMARK,
                reason="secret reason",
                retired_by="test",
                retired_at=clock_module.now(),
            )
        )
        claim_id = claim.id
    channel = post(
        "/channels",
        {"name": "secret channel", "url": "https://hooks.example/secret-url"},
    )["channel"]
    delivery = post(f"/channels/{channel['id']}/test", {})
    made.values = {
        "channel_id": channel["id"],
        "delivery_id": delivery["id"],
        "notification_id": delivery["notification_id"],
        "run_id": leased.run_id,
        "job_id": leased.job_id,
        "attempt": "1",
        "alert_id": alert_id,
        "series_id": first("/series"),
        "target_id": lab.target_id,
        "rule_id": post("/rules", {"name": "secret-rule"})["id"],
        "schedule_id": post(
            "/schedules",
            {
                "name": "secret-schedule",
                "kind": "measure",
                "suite": "sorting",
                "every_s": 86400,
            },
        )["id"],
        "annotation_id": post(
            "/annotations",
            {"target_id": lab.target_id, "at": at, "text": "secret remark"},
        )["id"],
        "waiver_id": post(
            "/waivers",
            {
                "suite": "sorting",
                "kind": "gate",
                "reason": "secret waiver",
                "expires_at": (clock_module.now() + timedelta(days=1)).isoformat(),
            },
        )["id"],
        "batch_id": post(
            "/alerts/bulk", {"alert_ids": [alert_id], "note": "secret note"}
        )["id"],
        "import_id": post(
            "/imports",
            {"document": DOCUMENT, "title": "secret title", "original": ORIGINAL},
        )["id"],
        "token_id": made.program("project.read")[0],
        "account_id": victim.id,
        "agent_id": spare.agent_id,
        "claim_id": claim_id,
        "session_id": session_id,
        "invitation_id": post(
            "/invitations", {"email": "secret-guest@example.org", "role": "viewer"}
        )["id"],
        "suite": "sorting",
        "table": "alerts",
        "name": "sorting",
        "benchmark": BENCHMARK,
    }
    return made


def expire(token_id: str) -> None:
    """Let a token run out."""
    with session_scope() as session:
        session.get_one(Token, token_id).expires_at = clock_module.now()


def revoke(token_id: str) -> None:
    """Revoke a token."""
    with session_scope() as session:
        session.get_one(Token, token_id).revoked_at = clock_module.now()
