"""An agent does what its enrolment granted: its projects, its repositories, its targets (I19). Over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_contract import manifest_reader
from paceline_contract.announcements import manifest_digest
from paceline_server.catalog import service as catalog
from paceline_server.fleet import service as fleet
from paceline_server.store import migrations
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.fleet import Agent, EnrolmentCode, Target
from paceline_server.store.tables.projects import TargetGrant
from paceline_server.testing.scripted_agent import MANIFEST, ScriptedAgent
from sqlalchemy import select, text

API = "/api/v1"
Headers = dict[str, str]
OURS = "https://git.example.org/team/ours.git"
THEIRS = "https://git.example.org/other/theirs.git"
COMMIT = "a" * 40


@pytest.fixture
def admin(token: Callable[..., Headers]) -> Headers:
    return token("admin")


class EnrolledOverHttp:
    """An agent that used a code."""

    def __init__(self, client: TestClient, agent_id: str, headers: Headers) -> None:
        self.client, self.agent_id, self.headers = client, agent_id, headers

    def beat(self, **body: Any) -> dict[str, Any]:
        answer = self.client.post(
            f"{API}/agents/self/heartbeat",
            json={"version": "1", "targets": [], **body},
            headers=self.headers,
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def announce(self, **changes: Any) -> list[dict[str, str]]:
        """Announce the suite `demo`; what was refused."""
        return list(self.beat(suites=[suite(**changes)])["refused"])


@pytest.fixture
def enrol(client: TestClient, admin: Headers) -> Callable[..., EnrolledOverHttp]:
    def make(name: str = "lab", **grant: Any) -> EnrolledOverHttp:
        made = client.post(f"{API}/agents/enrolment-codes", json=grant, headers=admin)
        assert made.status_code == 201, made.text
        body = {"code": made.json()["code"], "name": name, "version": "1"}
        answer = client.post(f"{API}/agents/enrol", json=body).json()
        credential = {"Authorization": f"Bearer {answer['credential']}"}
        return EnrolledOverHttp(client, answer["agent_id"], credential)

    return make


def suite(**changes: Any) -> dict[str, Any]:
    return {
        "repository": "ours",
        "location": OURS,
        "manifest_path": "suite.toml",
        "manifest": MANIFEST,
        "commit": COMMIT,
        "branch": "main",
        **changes,
    }


def host(serial: str, kind: str = "host") -> dict[str, Any]:
    return {
        "kind": kind,
        "serial": serial,
        "name": serial,
        "factors": {},
        "fingerprint": "0" * 64,
        "preflight": [],
    }


def stored_suite() -> Suite:
    with read_scope() as session:
        return session.scalars(select(Suite)).one()


def test_an_agent_announces_suites_of_granted_repositories_only(
    enrol: Callable[..., EnrolledOverHttp],
) -> None:
    agent = enrol(repositories=["https://git.example.org/team/*", "/src/**"])
    assert agent.announce() == []
    assert (
        agent.announce(
            location="/src/a/ours",
            manifest={**MANIFEST, "suite": {"name": "local", "title": "Local"}},
        )
        == []
    )
    (refused,) = agent.announce(location=THEIRS)
    assert (
        "may not announce suites of git.example.org/other/theirs" in refused["reason"]
    )
    (refused,) = agent.announce(location=None)
    assert "does not say where its repository is" in refused["reason"]
    assert stored_of("demo").location == "git.example.org/team/ours"


def stored_of(name: str) -> Suite:
    with read_scope() as session:
        return session.scalars(select(Suite).where(Suite.name == name)).one()


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"location": "../../etc/passwd"}, "is no location of a repository"),
        ({"location": "/src/../etc/passwd"}, "is no location of a repository"),
        ({"manifest_path": "../../etc/passwd"}, "is no file of a repository"),
        ({"manifest_path": "/etc/passwd"}, "is no file of a repository"),
        ({"repository": "../../etc"}, "is no name of a repository"),
    ],
)
def test_a_path_that_leads_out_of_a_repository_is_refused_in_words(
    enrol: Callable[..., EnrolledOverHttp], changes: dict[str, str], words: str
) -> None:
    (refused,) = enrol().announce(**changes)
    assert words in refused["reason"]
    assert "expected" in refused["reason"]
    with read_scope() as session:
        assert session.scalars(select(Suite)).all() == []


@pytest.mark.parametrize("location", [THEIRS, "/src/ours", None])
def test_another_agent_replaces_no_suite_by_choosing_its_repositorys_nickname(
    enrol: Callable[..., EnrolledOverHttp], location: str | None
) -> None:
    """Everything granted: the suite is kept by its location alone."""
    assert enrol("first").announce() == []
    before = stored_suite()
    forged = {**MANIFEST, "suite": {"name": "demo", "title": "Forged"}}
    attacker = enrol("second")
    (refused,) = attacker.announce(
        location=location, manifest=forged, manifest_path="forged.toml"
    )
    assert "belongs to the repository git.example.org/team/ours" in refused["reason"]
    after = stored_suite()
    assert (after.manifest, after.manifest_path, after.updated_at) == (
        before.manifest,
        before.manifest_path,
        before.updated_at,
    )


def test_those_who_own_a_suite_are_told_once_that_another_repository_wants_its_name(
    client: TestClient, admin: Headers, enrol: Callable[..., EnrolledOverHttp]
) -> None:
    enrol("first").announce()
    second = enrol("second")
    for _ in range(2):
        (refused,) = second.announce(location=THEIRS)
        assert "give this suite another name" in refused["reason"]
    entries = client.get(
        "/api/v1/audit", params={"object_kind": "suite"}, headers=admin
    ).json()["items"]
    (entry,) = entries
    assert entry["words"] == (
        "system refused the name of suite demo to another repository."
    )
    assert entry["detail"]["claimed_by"] == "git.example.org/other/theirs"
    assert entry["detail"]["belongs_to"] == "git.example.org/team/ours"


def test_two_hosts_call_one_repository_as_they_like_and_are_leased_it_by_that_name(
    client: TestClient, admin: Headers, enrol: Callable[..., EnrolledOverHttp]
) -> None:
    enrol("first").beat(targets=[host("s-1")], suites=[suite()])
    second = enrol("second")
    said = suite(repository="mine", location="git@git.example.org:team/ours")
    reply = second.beat(targets=[host("s-2")], suites=[said])
    assert reply["refused"] == []
    body = {
        "suite": "demo",
        "benchmarks": ["sorting"],
        "targets": [reply["targets"][0]["target_id"]],
    }
    assert client.post(f"{API}/runs", json=body, headers=admin).status_code == 201
    leased = ScriptedAgent(client, second.headers).lease()
    assert leased.lease["work"]["repository"] == "mine"
    assert stored_suite().repository == "ours"


def test_a_suite_of_before_gets_its_location_from_an_agent_that_announces_it(
    enrol: Callable[..., EnrolledOverHttp],
) -> None:
    first, second = enrol("first"), enrol("second")
    assert first.announce(location=None) == []
    assert stored_suite().location is None
    (refused,) = second.announce(location=THEIRS)
    assert "do not say where it is" in refused["reason"]
    assert first.announce() == []
    assert stored_suite().location == "git.example.org/team/ours"


def test_a_target_outside_the_grant_is_refused_alone_and_not_kept(
    enrol: Callable[..., EnrolledOverHttp],
) -> None:
    agent = enrol(targets=["host:s-*", "device:R5CT0001"])
    reply = agent.beat(
        targets=[host("s-1"), host("other"), host("R5CT0002", kind="device")]
    )
    assert [one["serial"] for one in reply["targets"]] == ["s-1"]
    refused = {one["serial"]: one["why"] for one in reply["refused_targets"]}
    assert set(refused) == {"other", "R5CT0002"}
    assert "its grant names host:s-*, device:R5CT0001" in refused["other"]
    with read_scope() as session:
        assert list(session.scalars(select(Target.serial))) == ["s-1"]


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("grant", "status", "words"),
    [
        ({"repositories": ["../../etc/passwd"]}, 422, "is no location"),
        ({"targets": ["phone:1"]}, 422, "names no targets"),
        ({"projects": []}, 422, "at least 1"),
        ({"projects": ["nowhere"]}, 404, "no project 'nowhere'"),
        ({"project_id": "prj_default"}, 422, "project_id"),
    ],
)
def test_a_grant_that_says_nothing_is_refused_in_words(
    client: TestClient, admin: Headers, grant: dict[str, Any], status: int, words: str
) -> None:
    answer = client.post(f"{API}/agents/enrolment-codes", json=grant, headers=admin)
    assert answer.status_code == status
    assert words in answer.text


def test_what_a_code_grants_is_the_agents_and_on_record(
    client: TestClient, admin: Headers, enrol: Callable[..., EnrolledOverHttp]
) -> None:
    made = client.post(
        f"{API}/projects", json={"name": "other", "title": "Other"}, headers=admin
    )
    agent = enrol("lab", projects=["other"], repositories=[OURS], targets=["host:*"])
    reply = agent.beat(targets=[host("s-1")], suites=[suite()])
    with read_scope() as session:
        row = session.get_one(Agent, agent.agent_id)
        assert (
            row.granted_projects,
            row.granted_repositories,
            row.granted_targets,
            row.enrolled_by,
        ) == (
            [made.json()["id"]],
            ["git.example.org/team/ours"],
            ["host:*"],
            "test",
        )
        granted = session.scalars(select(TargetGrant)).one()
        assert (granted.project_id, granted.target_id) == (
            made.json()["id"],
            reply["targets"][0]["target_id"],
        )
        assert stored_suite().project_id == made.json()["id"]
        entries = session.scalars(
            select(AuditEntry).where(
                AuditEntry.object_kind.in_(("agent", "enrolment_code"))
            )
        ).all()
        assert [(entry.action, entry.actor) for entry in entries] == [
            ("create", "test"),
            ("enrol", "test"),
        ]
        assert all("ple_" not in str(entry.detail) for entry in entries)


def test_agents_of_before_keep_doing_what_they_did(database: Database) -> None:
    """The migration: the project they enrolled for and those of their targets, everything else."""
    at = "2026-11-01 00:00:00+00:00"
    migrations.downgrade(database.url, "0015")
    rows: list[tuple[str, dict[str, Any]]] = [
        (
            "project",
            {
                "id": "prj_b",
                "name": "b",
                "title": "B",
                "default_branch": "main",
                "visibility": "private",
                "created_at": at,
            },
        ),
        (
            "agent",
            {
                "id": "a",
                "name": "lab",
                "version": "1",
                "project_id": "prj_default",
                "created_at": at,
            },
        ),
        (
            "target",
            {
                "id": "t",
                "kind": "host",
                "serial": "s",
                "name": "lab",
                "agent_id": "a",
                "factors": "{}",
                "fingerprint": "",
                "preflight": "[]",
                "simulated": False,
                "health": "unknown",
                "failures": 0,
                "checked": False,
                "held_for": "[]",
                "configuration": "[]",
                "last_check_raw": "[]",
                "created_at": at,
            },
        ),
        ("target_grant", {"target_id": "t", "project_id": "prj_b", "created_at": at}),
        (
            "enrolment_code",
            {
                "code_sha256": "c",
                "created_at": at,
                "expires_at": at,
                "project_id": "prj_b",
            },
        ),
    ]
    with database.engine.begin() as connection:
        for table, row in rows:
            names = ", ".join(row)
            values = ", ".join(f":{name}" for name in row)
            connection.execute(
                text(f"INSERT INTO {table} ({names}) VALUES ({values})"),  # noqa: S608 - names from above
                row,
            )
    assert migrations.upgrade(database.url) is True
    with session_scope() as session:
        agent = session.get_one(Agent, "a")
        assert (
            agent.granted_projects,
            agent.granted_repositories,
            agent.granted_targets,
        ) == (["prj_b", "prj_default"], ["**"], ["*"])
        code = session.scalars(select(EnrolmentCode)).one()
        assert (code.granted_projects, code.granted_targets) == (["prj_b"], ["*"])
    migrations.downgrade(database.url, "0015")
    with database.engine.connect() as connection:
        projects = connection.execute(text("SELECT project_id FROM agent")).scalars()
        assert list(projects) == ["prj_b"]
    migrations.upgrade(database.url)


def test_a_manifest_travels_once_and_is_asked_for_when_it_is_lacking(
    client: TestClient, enrol: Callable[..., EnrolledOverHttp]
) -> None:
    digest = manifest_digest(MANIFEST)
    named = suite(suite="demo", digest=digest)
    del named["manifest"]
    agent = enrol()

    def beat(announced: dict[str, Any]) -> tuple[list[str], list[dict[str, str]]]:
        reply = agent.beat(targets=[host("s-1")], suites=[announced])
        return reply["manifests_wanted"], reply["refused"]

    assert beat(named) == ([digest], [])
    with read_scope() as session:
        assert session.scalars(select(Suite)).all() == []
    assert beat({**named, "manifest": MANIFEST}) == ([], [])
    assert beat({**named, "commit": "b" * 40}) == ([], [])
    stored = stored_suite()
    assert (stored.commit, stored.manifest) == ("b" * 40, MANIFEST)
    newer = {**named, "digest": "0" * 64}
    assert beat(newer) == (["0" * 64], [])
    with read_scope() as session:
        assert len(fleet.online_targets(session, "demo")) == 1, (
            "it runs the suite still"
        )
    (refused,) = beat({**newer, "manifest": MANIFEST})[1]
    assert "digest of another manifest" in refused["reason"]
    assert stored_suite().manifest_hash == digest
    nothing = suite()
    del nothing["manifest"]
    body = {"version": "1", "targets": [], "suites": [nothing]}
    answer = client.post(
        f"{API}/agents/self/heartbeat", json=body, headers=agent.headers
    )
    assert answer.status_code == 422


def test_a_digest_does_not_open_another_projects_manifest(
    client: TestClient, admin: Headers, enrol: Callable[..., EnrolledOverHttp]
) -> None:
    assert enrol("first").announce() == []
    project = {"name": "other", "title": "Other"}
    client.post(f"{API}/projects", json=project, headers=admin)
    digest = manifest_digest(MANIFEST)
    named = suite(suite="demo", digest=digest)
    del named["manifest"]
    reply = enrol("second", projects=["other"]).beat(suites=[named])
    assert reply["manifests_wanted"] == [digest]
    assert len(all_suites()) == 1


def all_suites() -> list[Suite]:
    with read_scope() as session:
        return list(session.scalars(select(Suite)))


@pytest.mark.shapes("embedded")
def test_manifests_are_read_before_the_transaction_begins(
    enrol: Callable[..., EnrolledOverHttp], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere one reading agent would keep every other writer waiting."""
    agent, read = enrol(), manifest_reader.read_announced_manifest
    waits: list[bool] = []

    def read_and_write(raw: dict[str, Any]) -> Any:
        with session_scope() as session:  # waits for the writer if there is one
            session.get_one(Agent, agent.agent_id).version = "written meanwhile"
        waits.append(False)
        return read(raw)

    monkeypatch.setattr(catalog, "read_announced_manifest", read_and_write)
    assert agent.announce() == []
    assert waits == [False]
