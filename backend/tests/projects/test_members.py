"""Members, roles and projects over HTTP and on the command line's services: what is refused, and what is on record."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from paceline_server.accounts import administration, credentials
from paceline_server.accounts import service as accounts
from paceline_server.kernel.errors import ProblemError
from paceline_server.projects import service as projects
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.testing.two_projects import World
from sqlalchemy import select

API = "/api/v1"
Headers = dict[str, str]


def account_id(name: str) -> str:
    with read_scope() as session:
        return accounts.find_account(session, name).id


def test_the_last_admin_stays_and_nobody_changes_their_own_role(
    world: World, together: Callable[..., list[object]]
) -> None:
    ada = world.person("admin", world.other_id, "Ada")
    alone = account_id("Ada")
    path = f"{API}/members/{alone}"
    for method, body in (("delete", None), ("put", {"role": "viewer"})):
        answer = world.call(method, path, ada, body)
        assert answer.json()["code"] in ("last_admin", "own_role"), answer.text
    eve = world.person("admin", world.other_id, "Eve")
    answers = together(
        lambda: world.call("delete", path, eve).status_code,
        lambda: (
            world.call("delete", f"{API}/members/{account_id('Eve')}", ada).status_code
        ),
    )
    assert answers.count(204) == 1, "one of two who remove each other stays"


def test_a_role_is_not_raised_by_its_holder(world: World) -> None:
    mine = world.person("triager", world.other_id, "Tim")
    answer = world.call(
        "put", f"{API}/members/{account_id('Tim')}", mine, {"role": "admin"}
    )
    assert answer.status_code == 403


def test_whoever_leaves_or_is_disabled_is_out_at_once(world: World) -> None:
    chief = world.person("admin", world.other_id, "Chief")
    member = world.person("viewer", world.other_id, "Max")
    assert world.call("get", f"{API}/runs", member).status_code == 200
    path = f"{API}/members/{account_id('Max')}"
    assert world.call("delete", path, chief).status_code == 204
    refused = world.call("get", f"{API}/runs", member)
    assert (refused.status_code, refused.json()["code"]) == (403, "no_project")
    with session_scope() as session:
        administration.disable_account(session, account_id("Max"), "test")
    assert world.call("get", f"{API}/session", member).status_code == 401


def test_changes_are_on_record_with_kind_and_id_of_their_actor(world: World) -> None:
    chief = world.person("admin", world.other_id, "Chief")
    made = world.call(
        "post", f"{API}/members", chief, {"account": "newcomer", "role": "viewer"}
    )
    assert made.status_code == 201, made.text
    with read_scope() as session:
        entry = session.scalars(
            select(AuditEntry)
            .where(AuditEntry.object_kind == "member")
            .order_by(AuditEntry.id.desc())
        ).first()
    assert entry is not None
    assert (entry.actor, entry.actor_kind) == ("Chief", "account")
    assert (entry.actor_id, entry.project_id) == (account_id("Chief"), world.other_id)


def test_a_public_project_is_read_by_anybody_and_changed_by_nobody(
    world: World,
) -> None:
    admin = world.person("admin", DEFAULT_PROJECT_ID, "Boss")
    query = {"project": "default"}
    assert world.call("get", f"{API}/runs", {}, query=query).status_code == 401
    patch = {"visibility": "public"}
    assert world.call("patch", f"{API}/project", admin, patch).status_code == 200
    seen = world.call("get", f"{API}/runs", {}, query=query)
    assert world.values["run_id"] in seen.text
    assert world.call("get", f"{API}/runs", {}).status_code == 401
    for path in ("members", "accounts", "audit", "tokens"):
        assert world.call("get", f"{API}/{path}", {}, query=query).status_code == 401
    stranger = world.person("admin", world.other_id, "Stranger")
    told = world.call(
        "post", f"{API}/alerts/{{alert_id}}/notes", stranger, {"note": "x"}, query
    )
    assert told.status_code == 403


def test_a_person_of_several_projects_says_which(world: World) -> None:
    with session_scope() as session:
        third = accounts.create_account(session, "third")
        for project_id in (DEFAULT_PROJECT_ID, world.other_id):
            projects.set_member(session, project_id, third, "viewer", "test")
        link = credentials.create_link(session, third, 30)
    with session_scope() as session:
        secret = accounts.sign_in_by_link(session, link, 1).secret
    headers = {"Cookie": f"paceline={secret}", "Sec-Fetch-Site": "same-origin"}

    def project(**query: str) -> object:
        return (
            world.call("get", f"{API}/session", headers, query=query)
            .json()
            .get("project")
        )

    assert project() == "default"
    assert project(project="other") == "other"
    assert project(project="nowhere") is None
    listed = world.call("get", f"{API}/projects", headers).json()["items"]
    assert [one["name"] for one in listed] == ["default", "other"]


@pytest.mark.parametrize(
    "name", ["Default", "a b", "-a", "a--b", "ä", "x" * 51, "", "a\u200b"]
)
def test_names_that_look_alike_are_no_projects(
    client: TestClient, token: Callable[..., Headers], name: str
) -> None:
    answer = client.post(
        f"{API}/projects",
        json={"name": name, "title": "x"},
        headers=token("admin"),
    )
    assert answer.status_code == 422


def test_names_of_projects_are_taken_once(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    body = {"name": "default", "title": "x"}
    answer = client.post(f"{API}/projects", json=body, headers=token("admin"))
    assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["system", "System", "\uff33ystem", "schedule x", " "])
def test_names_of_the_system_are_no_accounts(name: str) -> None:
    with pytest.raises(ProblemError), session_scope() as session:
        accounts.create_account(session, name)
    with read_scope() as session:
        assert not session.scalars(select(Account)).all()
