"""The choke point: what a session of one project reads and writes, however it asks; and the second wall behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from paceline_server.accounts.permissions import LOWEST_ROLE
from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries as jobs
from paceline_server.kernel import clock
from paceline_server.projects import service as projects
from paceline_server.store import access, row_security, visibility
from paceline_server.store.access import (
    DEFAULT_PROJECT_ID,
    Actor,
    ForeignProjectError,
)
from paceline_server.store.base import Base
from paceline_server.store.owned import Owned, ProjectOwned
from paceline_server.store.session import (
    Database,
    database,
    get_system_session,
    read_scope,
    session_scope,
)
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.annotations import Annotation
from paceline_server.store.tables.fleet import Agent, Target, TargetEvent
from paceline_server.store.tables.history import Series
from paceline_server.store.tables.jobs import Attempt, Job, Run
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.store.tables.projects import Project
from paceline_server.store.tables.samples import Item, SampleChunk
from paceline_server.store.visibility import UnlimitedStatementError
from paceline_server.testing.two_projects import World
from sqlalchemy import (
    delete,
    exists,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import ProgrammingError, StatementError
from sqlalchemy.orm import Session, aliased

pytestmark = pytest.mark.shapes("embedded", "scaled")

SOMEBODY = Actor("account", "acc_x", "somebody")


@contextmanager
def working_in(project_id: str) -> Iterator[Session]:
    """A session as a person's request in this project has it."""
    with (
        access.using(access.of_request(project_id, SOMEBODY)),
        session_scope() as session,
    ):
        yield session


def annotation(**more: Any) -> Annotation:
    at = clock.now()
    return Annotation(
        id="ann_new", at=at, text="x", created_by="x", created_at=at, **more
    )


READS: dict[str, Callable[[Session, World], Any]] = {
    "select": lambda s, _: s.scalars(select(Run)).all(),
    "column": lambda s, _: s.scalars(select(Job.id)).all(),
    "get": lambda s, w: [s.get(Run, w.values["run_id"])],
    "get of a child": lambda s, w: [s.get(Attempt, (w.values["job_id"], 1))],
    "alias": lambda s, _: s.scalars(select(aliased(Job).id)).all(),
    "join": lambda s, _: s.execute(
        select(Job.id, Target.name).join(Target, Target.id == Job.target_id)
    ).all(),
    "outer join": lambda s, _: [
        row.id
        for row in s.execute(
            select(Project.id.label("project"), Run.id).outerjoin(
                Run, Run.suite != literal("")
            )
        )
    ],
    "aggregate": lambda s, _: [s.scalar(select(func.count()).select_from(Run))],
    "maximum": lambda s, _: [s.scalar(select(func.max(SampleChunk.n)))],
    "scalar subquery": lambda s, _: [
        s.scalar(select(select(func.count(Item.seq)).scalar_subquery()))
    ],
    "subquery": lambda s, _: s.execute(select(select(Run.id).subquery())).all(),
    "cte": lambda s, _: s.execute(select(select(Series.id).cte())).all(),
    "union": lambda s, _: s.execute(select(Run.id).union_all(select(Job.id))).all(),
    "in subquery": lambda s, _: s.scalars(
        select(Project.id).where(Project.id.in_(select(Run.project_id)))
    ).all(),
    "target": lambda s, w: [s.get(Target, w.values["target_id"])],
    "target event": lambda s, _: s.scalars(select(TargetEvent)).all(),
    "agent": lambda s, _: s.scalars(select(Agent)).all(),
    "account": lambda s, w: [s.get(Account, w.values["account_id"])],
    "live event": lambda s, _: s.scalars(select(LiveEvent)).all(),
}


@pytest.mark.parametrize("how", READS)
def test_a_foreign_project_reads_nothing_however_it_asks(
    world: World, how: str
) -> None:
    with working_in(world.other_id) as session:
        found = [one for one in READS[how](session, world) if one not in (None, 0)]
    assert not found
    if how != "target event":
        with working_in(DEFAULT_PROJECT_ID) as session:
            assert any(READS[how](session, world))


def test_bulk_changes_reach_the_own_project_alone(world: World) -> None:
    with working_in(world.other_id) as session:
        session.execute(update(Run).values(reason="theirs"))
        session.execute(delete(Annotation))
        session.execute(
            update(Project)
            .where(Project.id == world.other_id, exists().where(Run.suite != ""))
            .values(title="seen")
        )
    with session_scope() as session:
        assert "theirs" not in session.scalars(select(Run.reason)).all()
        assert session.scalars(select(Annotation)).all()
        assert session.get_one(Project, world.other_id).title == "Other"


def test_statements_that_cannot_be_limited_are_refused(world: World) -> None:
    runs = Base.metadata.tables["run"]
    for statement in (
        select(runs.c.id),
        select(func.count()).select_from(runs),
        select(literal(1)).where(exists().where(Run.suite == "x")),
        update(runs).values(reason="x"),
        delete(runs),
        text("SELECT id FROM run"),
    ):
        with (
            pytest.raises(UnlimitedStatementError),
            working_in(world.other_id) as session,
        ):
            session.execute(statement)


def test_a_row_of_another_project_cannot_be_written(world: World) -> None:
    foreign = DEFAULT_PROJECT_ID
    with pytest.raises(ForeignProjectError), working_in(world.other_id) as session:
        session.add(annotation(project_id=foreign))
    for rows in ({"project_id": foreign}, [{"project_id": foreign}]):
        with (
            pytest.raises(UnlimitedStatementError),
            working_in(world.other_id) as session,
        ):
            session.execute(insert(Annotation), rows)
    with pytest.raises(ForeignProjectError), working_in(foreign) as session:
        session.scalars(select(Annotation)).one().project_id = world.other_id
    with pytest.raises(ForeignProjectError), working_in(world.other_id) as session:
        access.enter_project(session, foreign)


def test_what_is_added_belongs_to_the_sessions_project(world: World) -> None:
    with working_in(world.other_id) as session:
        session.add(annotation())
    with session_scope() as session:
        assert session.get_one(Annotation, "ann_new").project_id == world.other_id
    with (
        pytest.raises(StatementError, match="no single project"),
        access.using(access.SYSTEM),
        session_scope() as session,
    ):
        session.add(annotation())


def test_an_agent_is_given_jobs_of_its_projects_alone(world: World) -> None:
    world.lab.request()
    at = clock.now()
    with session_scope() as session:
        agent = session.scalars(select(Target.agent_id)).first()
    assert agent is not None
    for project_id, is_given in ((world.other_id, False), (DEFAULT_PROJECT_ID, True)):
        limits = access.of_agent((project_id,), SOMEBODY)
        with access.using(limits), session_scope() as session:
            assert jobs.has_leasable_job(session, agent, None, at) is is_given
            leased = jobs.lease_oldest_job(session, agent, None, at)
            assert (leased is not None) is is_given


def test_an_agent_leases_and_writes_in_the_projects_of_its_grant(world: World) -> None:
    """Through the door: the grant alone decides, whatever its targets are granted to."""
    world.lab.request()

    def grant(*projects: str) -> None:
        with session_scope() as session:
            for agent in session.scalars(select(Agent)):
                agent.granted_projects = list(projects)

    grant(world.other_id)
    assert world.lab.agent.ask().status_code == 204
    grant(DEFAULT_PROJECT_ID, world.other_id)
    leased = world.lab.agent.lease()
    assert leased.renew().status_code == 200
    grant(world.other_id)
    assert leased.renew().status_code == 404


def test_granting_a_target_to_a_project_lets_its_agent_work_there(world: World) -> None:
    with session_scope() as session:
        target_id = world.values["target_id"]
        projects.grant_target(session, world.other_id, target_id, "test")
        agent_id = session.get_one(Target, target_id).agent_id
        granted = session.get_one(Agent, agent_id).granted_projects
    assert granted == sorted([DEFAULT_PROJECT_ID, world.other_id])


def test_a_target_busy_for_another_project_is_busy_without_a_name(world: World) -> None:
    with session_scope() as session:
        projects.grant_target(
            session, world.other_id, world.values["target_id"], "test"
        )
    world.lab.request()
    leased = world.lab.agent.lease()
    _, theirs = world.program("project.read", project_id=world.other_id)
    _, ours = world.program("project.read")
    path = "/api/v1/targets/{target_id}"
    seen = world.call("get", path, theirs)
    assert (seen.json()["state"], seen.json()["active_job_id"]) == ("busy", None)
    assert leased.job_id not in seen.text
    assert world.call("get", path, ours).json()["active_job_id"] == leased.job_id
    busy = world.call("get", "/api/v1/targets", theirs, query={"state": "busy"})
    assert [one["id"] for one in busy.json()["items"]] == [world.values["target_id"]]
    world.call("post", f"/api/v1/runs/{leased.run_id}/cancel", world.lab.headers)
    with read_scope() as session:
        target = fleet.find_target(session, world.values["target_id"])
        assert target.id in {
            event.target_id for event in session.scalars(select(LiveEvent))
        }


def test_a_job_that_waits_for_another_projects_job_hears_that_and_no_name(
    world: World,
) -> None:
    with session_scope() as session:
        projects.grant_target(
            session, world.other_id, world.values["target_id"], "test"
        )
    world.lab.request()
    leased = world.lab.agent.lease()
    theirs = {"project_id": world.other_id, "state": "queued"}
    with session_scope() as session:
        run, job = (
            session.get_one(Run, leased.run_id),
            session.get_one(Job, leased.job_id),
        )
        for row, changes in (
            (run, {"id": "run_theirs"}),
            (job, {"id": "job_theirs", "run_id": "run_theirs"}),
        ):
            values = {
                column.key: getattr(row, column.key)
                for column in type(row).__table__.columns
            }
            session.execute(insert(type(row)).values({**values, **theirs, **changes}))
    _, reader = world.program("project.read", project_id=world.other_id)
    seen = world.call("get", "/api/v1/jobs/job_theirs", reader)
    assert seen.json()["waiting_reason"]["text"].endswith(
        " runs a job of another project"
    )
    assert leased.job_id not in seen.text
    assert leased.run_id not in seen.text


def test_a_cursor_of_another_project_is_refused(world: World) -> None:
    world.lab.request()
    _, ours = world.program("project.read")
    _, theirs = world.program("project.read", project_id=world.other_id)
    page = world.call("get", "/api/v1/runs", ours, query={"limit": "1"}).json()
    taken = {"limit": "1", "cursor": page["next"]}
    assert world.call("get", "/api/v1/runs", ours, query=taken).status_code == 200
    assert world.call("get", "/api/v1/runs", theirs, query=taken).status_code == 400


def test_a_suite_that_another_project_imported_is_not_known(world: World) -> None:
    """Such a suite has no row of its own: it is a name of the project's imported runs."""
    _, ours = world.program("project.read", "imports.write")
    _, theirs = world.program("project.read", project_id=world.other_id)
    metric = {"name": "time", "unit": "ns", "direction": "lower", "samples": [[1, 1]]}
    secret = {
        "format": "paceline.result/1",
        "tool": "secret-tool",
        "cases": [{"name": "a", "benchmark": "a", "metrics": [metric]}],
    }
    stored = world.call("post", "/api/v1/imports", ours, {"document": secret})
    assert stored.status_code == 201, stored.text
    asked = ("get", "/api/v1/suites")
    assert "secret_tool" in world.call(*asked, ours).text
    assert world.call(*asked, theirs).json()["items"] == []
    for path in ("/api/v1/suites/secret_tool", "/api/v1/matrix?suite=secret_tool"):
        assert world.call("get", path, ours).status_code == 200
        assert world.call("get", path, theirs).status_code == 404


def test_routes_without_limits_are_these(app: FastAPI) -> None:
    """Sign-in, enrolment, the management of projects, and plots, whose link is the credential. A route is added here
    with a reason only."""
    unlimited = {
        context.path_format
        for context in iter_route_contexts(app.routes)
        if (dependant := getattr(context, "dependant", None)) is not None
        and any(each.call is get_system_session for each in dependant.dependencies)
    }
    assert unlimited == {
        f"/api/v1/{path}"
        for path in (
            "session",
            "session/link",
            "session/invitation/offer",
            "account/sessions",
            "account/sessions/{session_id}",
            "account/invitations",
            "invitations",
            "installation/accounts",
            "installation/audit",
            "agents/enrol",
            "agents/enrolment-codes",
            "agents/self/credential",
            "installation/agents",
            "installation/agents/{agent_id}",
            "installation/agents/{agent_id}/grant",
            "installation/agents/{agent_id}/silence-limit",
            "installation/agents/{agent_id}/rotate",
            "installation/agents/{agent_id}/revoke",
            "installation/claims",
            "installation/claims/{claim_id}/move",
            "installation/claims/{claim_id}/dismiss",
            "plots/{notification_id}.png",
            "projects",
            "project",
            "project/targets",
            "project/targets/{target_id}",
            "members",
            "members/{account_id}",
            "accounts/{account_id}/disable",
            "accounts/{account_id}/enable",
            "accounts/{account_id}/installation-admin",
            "accounts/{account_id}/reset-link",
            "accounts/{account_id}/sessions",
        )
    }


def test_the_architecture_shows_the_table_of_permissions() -> None:
    page = (Path(__file__).resolve().parents[3] / "ARCHITECTURE.md").read_text()
    shown = dict(re.findall(r"^\| `([a-z.]+)` \| (\w+) \| ", page, re.MULTILINE))
    assert shown == dict(LOWEST_ROLE)


def test_every_table_with_a_project_has_a_criterion() -> None:
    for mapper in Base.registry.mappers:
        has_column = "project_id" in mapper.columns
        named = {"project_member", "target_grant", "outbox"}
        if has_column and mapper.local_table.name not in named:  # type: ignore[attr-defined]
            assert issubclass(mapper.class_, Owned), mapper.class_


@pytest.mark.shapes("scaled")
def test_row_security_hides_rows_where_the_criterion_is_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visibility, "_criteria", lambda *_: ())
    for how, read in READS.items():
        if how == "agent":
            continue  # its name is told only through targets, which are hidden
        with working_in(world.other_id) as session:
            found = [one for one in read(session, world) if one not in (None, 0)]
            assert not found, how
    with pytest.raises(ProgrammingError), working_in(world.other_id) as session:
        session.connection().execute(
            text(
                "INSERT INTO annotation (id, at, text, created_by, created_at, project_id) "
                "VALUES ('a', now(), 'x', 'x', now(), 'prj_default')"
            )
        )


@pytest.mark.shapes("scaled")
def test_the_role_of_requests_cannot_pass_the_policies(database: Database) -> None:
    with database.engine.connect() as connection:
        bypasses, is_super, owns = connection.execute(
            text(
                "SELECT rolbypassrls, rolsuper, "
                "(SELECT count(*) FROM pg_class WHERE relowner = pg_roles.oid) FROM pg_roles "
                "WHERE rolname = :role"
            ),
            {"role": row_security.ROLE},
        ).one()
        assert (bypasses, is_super, owns) == (False, False, 0)
        protected = set(
            connection.scalars(
                text("SELECT relname FROM pg_class WHERE relrowsecurity")
            )
        )
    owned = {table.name for table in visibility.owned_tables() if table.name != "agent"}
    assert owned <= protected
    for table in ("browser_session", "sign_in_link", "sign_in_throttle"):
        with pytest.raises(ProgrammingError), working_in("prj_x") as session:
            session.connection().execute(
                text(f"SELECT * FROM {table}")  # noqa: S608 - constants
            )


def test_lists_use_an_index_that_the_project_leads(world: World) -> None:
    del world
    is_postgresql = database().is_postgresql
    with working_in(DEFAULT_PROJECT_ID) as session:
        for table in ("run", "series", "comparison", "noise_floor", "alert"):
            leading = [
                index["column_names"][0]
                for index in inspect(session.connection()).get_indexes(table)
            ] + [
                unique["column_names"][0]
                for unique in inspect(session.connection()).get_unique_constraints(
                    table
                )
            ]
            assert "project_id" in leading, table
        if is_postgresql:
            session.connection().execute(text("SET LOCAL enable_seqscan = off"))
        plan = session.connection().execute(
            text(
                ("EXPLAIN " if is_postgresql else "EXPLAIN QUERY PLAN ")  # noqa: S608 - constants
                + "SELECT * FROM series WHERE project_id IN ('prj_default') AND suite = 's' AND benchmark = 'b'"
            )
        )
        told = " ".join(str(row) for row in plan)
    # Which of the two indexes PostgreSQL takes depends on its statistics; both begin
    # with the project.
    assert ("Index Cond: (((project_id" if is_postgresql else "(project_id=?") in told
    assert ProjectOwned in Series.__mro__
