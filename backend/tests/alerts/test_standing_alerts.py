"""Alerts that no job shows: quarantine, a silent agent, a schedule's run that did not happen, an import that stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from paceline_server.alerts import service as alerts
from paceline_server.fleet import queries as fleet_queries
from paceline_server.fleet import service as fleet
from paceline_server.fleet import target_actions
from paceline_server.fleet.schemas import HeartbeatIn
from paceline_server.jobs import schedules
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.ids import new_id
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.publish.exports import queries as exports
from paceline_server.publish.exports.queries import TimeRange
from paceline_server.store import access, outbox
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.channels import Notification
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.jobs import Run
from paceline_server.testing.sorting_suite import SUITE, suite_manifest
from sqlalchemy import event, func, select

AlertLab = Any
PREFIX = "/api/v1"
MINUTE = 60.0
HOUR = 3600.0
DAY = 24 * HOUR


@dataclass
class Watch:
    """Makes the facts, lets time pass beside a server that is up, and reads what people see."""

    desk: AlertLab
    admin: dict[str, str]

    @property
    def target_id(self) -> str:
        return str(self.desk.lab.target_id)

    @property
    def agent_id(self) -> str:
        with read_scope() as session:
            return session.get_one(Target, self.target_id).agent_id

    def send(self, method: str, path: str, body: Any, status: int = 200) -> Any:
        answer = self.desk.lab.client.request(
            method, f"{PREFIX}{path}", json=body, headers=self.admin
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def sweep(self) -> None:
        """Sweep as the server does; a second sweep finds nothing to do."""
        fleet.note_uptime()
        schedules.run_due()
        alerts.sweep()
        assert alerts.sweep() == 0
        outbox.drain()

    def wait(self, seconds: float) -> None:
        """Let time pass while the server is up, and sweep."""
        fleet.note_uptime()
        self.desk.clock.advance(seconds)
        with session_scope() as session:
            uptime = fleet_queries.newest_uptime(session, lock=True)
            assert uptime is not None
            uptime.seen_at = clock_module.now()
        self.sweep()

    def heartbeat(self) -> None:
        """The agent and its target are heard of."""
        with session_scope() as session:
            fleet.heartbeat(
                session, self.agent_id, HeartbeatIn(version="0", targets=[])
            )
            session.get_one(Target, self.target_id).last_seen_at = clock_module.now()

    def limit_silence(self, limit_s: int | None) -> None:
        path = f"/installation/agents/{self.agent_id}/silence-limit"
        assert (
            self.send("PUT", path, {"limit_s": limit_s})["silence_limit_s"] == limit_s
        )

    def told(self) -> list[str]:
        """Titles of what people were told, in order."""
        with read_scope() as session:
            rows = session.scalars(select(Notification).order_by(Notification.id))
            return [row.content["title"] for row in rows]


@pytest.fixture
def watch(desk: AlertLab, token: Callable[..., dict[str, str]]) -> Watch:
    made = Watch(desk, token("admin"))
    made.wait(HOUR)
    made.heartbeat()
    return made


def quarantine(watch: Watch, sweep: Callable[[], object] | None = None) -> None:
    with session_scope() as session:
        session.get_one(Target, watch.target_id).kind = "device"
        session.flush()
        target_actions.quarantine(session, watch.target_id, "swollen battery", "Ada")
    (sweep or watch.sweep)()


def release(watch: Watch, sweep: Callable[[], object] | None = None) -> None:
    watch.desk.clock.advance(MINUTE)
    with session_scope() as session:
        target_actions.release(session, watch.target_id, "new battery", "Ada")
    (sweep or watch.sweep)()


def fall_silent(watch: Watch) -> None:
    watch.limit_silence(1800)
    watch.wait(1900)


def be_heard(watch: Watch) -> None:
    watch.heartbeat()
    watch.sweep()


def miss_a_run(watch: Watch) -> None:
    if not watch.desk.get("/schedules")["items"]:
        body = {"name": "nightly", "kind": "measure", "suite": SUITE, "every_s": 3600}
        watch.desk.clock.advance(10 * MINUTE)
        watch.send("POST", "/schedules", {**body, "enabled": True}, 201)
    with session_scope() as session:
        for run_id in session.scalars(select(Run.id).where(Run.state == "queued")):
            jobs.cancel(session, run_id)
    watch.wait(HOUR)


def run_again(watch: Watch) -> None:
    watch.desk.clock.advance(HOUR)
    watch.heartbeat()
    watch.sweep()
    (schedule,) = watch.desk.get("/schedules")["items"]
    assert (schedule["missed_at"], schedule["missed_because"]) == (None, None)


def import_run(watch: Watch) -> str:
    with session_scope() as session:
        imported = jobs.ImportedRun(
            suite="imported",
            source="imp_1",
            manifest=suite_manifest(),
            commit=None,
            branch="main",
            target=session.get_one(Target, watch.target_id),
            samples=0,
            created_by="ci",
        )
        return jobs.store_imported_run(session, imported).run_id


def stop_importing(watch: Watch) -> None:
    if not watch.desk.get("/rules")["items"]:
        import_run(watch)
        watch.wait(9 * HOUR)
        assert watch.desk.alerts() == [], "nothing is awaited without a rule"
        rule = {"name": "nightly-import", "kind": "import_stopped", "period_hours": 8}
        watch.send("POST", "/rules", rule, 201)
    watch.wait(9 * HOUR)


def import_again(watch: Watch) -> None:
    import_run(watch)
    watch.sweep()


@dataclass(frozen=True)
class Fact:
    """A fact by how it begins and ends, and what people read of it."""

    kind: str
    begin: Callable[[Watch], None]
    end: Callable[[Watch], None]
    title: str
    words: str
    over: str


FACTS = (
    Fact(
        "quarantine",
        quarantine,
        release,
        "lab-1 is in quarantine",
        "swollen battery",
        "it left quarantine",
    ),
    Fact(
        "agent_silent",
        fall_silent,
        be_heard,
        "Agent lab-1 is silent",
        "0.5 h of silence are allowed",
        "it was heard of again at",
    ),
    Fact(
        "schedule_missed",
        miss_a_run,
        run_again,
        "Scheduled run of sorting did not happen: nightly",
        "no target that measures sorting was online and healthy",
        "was requested",
    ),
    Fact(
        "import_stopped",
        stop_importing,
        import_again,
        "Results of imported are no longer imported",
        "they are awaited every 8 h",
        "was imported",
    ),
)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.kind)
def test_a_fact_is_told_once_ends_and_comes_back_in_the_same_alert(
    watch: Watch, fact: Fact
) -> None:
    fact.begin(watch)
    opened = watch.desk.alert()
    assert (opened["kind"], opened["state"], opened["title"]) == (
        fact.kind,
        "open",
        fact.title,
    )
    assert fact.words in opened["words"]
    assert opened["words"] in opened["explanation"]
    has_run = fact.kind == "import_stopped"
    assert (opened["run_id"] is not None) is has_run
    (finding,) = opened["findings"]
    assert (finding["run_id"], finding["job_id"]) == (None, None)
    assert watch.told() == [fact.title]
    for document in ("/alerts.atom", "/tables/alerts?format=ndjson"):
        answer = watch.desk.lab.client.get(f"{PREFIX}{document}", headers=watch.admin)
        assert fact.title in answer.text
    with read_scope() as session:
        for table in (Alert, Finding):
            rows = exports.rows_of_table(session, table, TimeRange(None, None), ["id"])
            needs_finished_run = fact.kind in ("quarantine", "import_stopped")
            assert (list(rows) == []) is needs_finished_run
    assert watch.desk.get("/waiting")["alerts_open"] == 1

    fact.end(watch)
    fixed = watch.desk.alert()
    assert (fixed["state"], fixed["history"][-1]["action"]) == ("fixed", "recover")
    assert fact.over in fixed["history"][-1]["note"]
    assert watch.told() == [fact.title]

    fact.begin(watch)
    again = watch.desk.alert()
    assert (again["id"], again["state"]) == (opened["id"], "open")
    assert "relapse" in [event["action"] for event in again["history"]]
    assert watch.told() == [fact.title, fact.title]


def test_a_server_that_was_down_for_a_night_raises_nothing(watch: Watch) -> None:
    watch.limit_silence(1800)
    import_run(watch)
    rule = {"name": "nightly-import", "kind": "import_stopped", "period_hours": 8}
    watch.send("POST", "/rules", rule, 201)
    body = {"name": "nightly", "kind": "measure", "suite": SUITE, "every_s": 3600}
    watch.send("POST", "/schedules", {**body, "enabled": True}, 201)
    watch.sweep()
    watch.desk.clock.advance(10 * HOUR)
    watch.sweep()
    assert watch.desk.alerts() == []
    watch.wait(1700)
    watch.heartbeat()
    watch.wait(1700)
    assert watch.desk.alerts() == []
    watch.wait(200)
    assert [alert["kind"] for alert in watch.desk.alerts()] == ["agent_silent"]


@pytest.mark.parametrize("kind", ["agent_silent", "import_stopped"])
def test_a_server_that_is_down_each_night_counts_its_days(
    watch: Watch, kind: str
) -> None:
    if kind == "agent_silent":
        watch.limit_silence(int(DAY))
    else:
        import_run(watch)
        rule = {"name": "nightly-import", "kind": kind, "period_hours": 24}
        watch.send("POST", "/rules", rule, 201)
    watch.wait(14 * HOUR)
    watch.desk.clock.advance(10 * HOUR)
    watch.wait(9 * HOUR)
    assert watch.desk.alerts() == []
    watch.wait(2 * HOUR)
    assert [alert["kind"] for alert in watch.desk.alerts()] == [kind]


@pytest.mark.parametrize("is_up_again", [True, False])
def test_an_api_that_was_down_for_a_minute_heard_nobody(
    watch: Watch, *, is_up_again: bool
) -> None:
    """The sweeper may be another process, which goes on."""
    watch.limit_silence(600)
    watch.wait(590)
    watch.heartbeat()
    body = {"name": "nightly", "kind": "measure", "suite": SUITE, "every_s": 3600}
    watch.send("POST", "/schedules", {**body, "enabled": True}, 201)
    watch.desk.clock.advance(MINUTE)
    for _ in range(2):
        if is_up_again:
            fleet.note_uptime()
        assert (schedules.run_due(), alerts.sweep()) == (0, 0)
        watch.desk.clock.advance(HOUR)
    assert watch.desk.alerts() == []


@pytest.mark.parametrize("held", ["host", "all targets"])
def test_maintenance_is_no_silence_and_silence_counts_from_its_end(
    watch: Watch, held: str
) -> None:
    held_ids = [watch.target_id, *_add_targets(watch, 2)]
    if held == "host":
        del held_ids[1:]
    else:
        with session_scope() as session:
            session.get_one(Target, watch.target_id).kind = "device"

    def maintain(on: bool) -> None:
        for target_id in held_ids:
            body = {"on": on, "reason": "moves house"}
            watch.send("PUT", f"/targets/{target_id}/maintenance", body)

    watch.limit_silence(1800)
    maintain(True)
    watch.wait(HOUR)
    assert watch.desk.alerts() == []
    maintain(False)
    watch.wait(1700)
    assert watch.desk.alerts() == []
    watch.wait(200)
    assert watch.desk.alert()["state"] == "open"
    maintain(True)
    watch.sweep()
    fixed = watch.desk.alert()
    assert (fixed["state"], fixed["history"][-1]["note"]) == (
        "fixed",
        "its targets are in maintenance",
    )
    maintain(False)
    watch.wait(1700)
    assert watch.desk.alert()["state"] == "fixed"
    watch.wait(200)
    again = watch.desk.alert()
    assert (again["id"], again["state"]) == (fixed["id"], "open")
    assert watch.told().count(fixed["title"]) == 2


def test_each_project_with_a_grant_has_an_alert_of_its_own(
    watch: Watch, sign_in: Callable[..., Any]
) -> None:
    admin = sign_in().headers
    with session_scope() as session:
        other = projects.create_project(
            session, ProjectIn(name="other", title="Other"), "test"
        ).id
        fleet_queries.grant(session, [watch.target_id], other, clock_module.now())
    quarantine(watch)
    ids = {
        name: [
            alert["id"]
            for alert in watch.desk.lab.client.get(
                f"{PREFIX}/alerts", params={"project": name}, headers=admin
            ).json()["items"]
        ]
        for name in ("default", "other")
    }
    assert [len(found) for found in ids.values()] == [1, 1]
    assert ids["default"] != ids["other"]
    with session_scope() as session:
        fleet_queries.withdraw_from_projects(session, watch.target_id)
        at = clock_module.now()
        fleet_queries.grant(session, [watch.target_id], access.DEFAULT_PROJECT_ID, at)
    watch.sweep()
    states = [
        watch.desk.lab.client.get(
            f"{PREFIX}/alerts/{found[0]}", params={"project": name}, headers=admin
        ).json()["state"]
        for name, found in ids.items()
    ]
    assert states == ["open", "fixed"]


def test_a_sweep_asks_no_more_about_thirty_silent_agents_than_about_three(
    watch: Watch, database: Database
) -> None:
    statements: list[str] = []

    def note(*arguments: Any) -> None:
        statements.append(arguments[2])

    asked = []
    for count in (3, 27):
        _add_silent_agents(count)
        watch.sweep()
        statements.clear()
        event.listen(database.engine, "before_cursor_execute", note)
        try:
            assert alerts.sweep() == 0
        finally:
            event.remove(database.engine, "before_cursor_execute", note)
        asked.append(len(statements))
    with read_scope() as session:
        assert session.scalar(select(func.count()).select_from(Alert)) == 60
    assert asked[0] == asked[1] > 0


def test_a_project_that_cannot_be_swept_keeps_no_other_from_it(
    watch: Watch, sign_in: Callable[..., Any]
) -> None:
    quarantine(watch)
    with session_scope() as session:
        session.scalars(select(Alert)).one().cause_key = "unreadable"
        other = projects.create_project(
            session, ProjectIn(name="other", title="Other"), "test"
        ).id
        fleet_queries.grant(session, [watch.target_id], other, clock_module.now())
    assert alerts.sweep() == 1
    answer = watch.desk.lab.client.get(
        f"{PREFIX}/alerts", params={"project": "other"}, headers=sign_in().headers
    )
    assert [alert["state"] for alert in answer.json()["items"]] == ["open"]


def test_an_agent_of_many_targets_is_one_alert(watch: Watch) -> None:
    _add_targets(watch, 300)
    fall_silent(watch)
    assert watch.desk.alert()["kind"] == "agent_silent"


@pytest.mark.shapes("embedded", "scaled")
def test_two_sweepers_at_once_raise_and_tell_one_alert(
    watch: Watch, together: Callable[..., list[object]]
) -> None:
    for findings, change in enumerate((quarantine, release, quarantine), start=1):
        change(watch, lambda: together(*[alerts.sweep] * 4))
        outbox.drain()
        assert _count_findings() == findings
    assert watch.desk.alert()["state"] == "open"
    assert watch.told() == ["lab-1 is in quarantine"] * 2


@pytest.mark.parametrize(("mode", "raised"), [("off", 0), ("shadow", 1)])
def test_a_rule_of_the_project_decides_by_the_name_of_the_agent(
    watch: Watch, mode: str, raised: int
) -> None:
    rule = {"kind": "agent_silent", "mode": mode}
    watch.send("POST", "/rules", {**rule, "name": "mine", "target": "lab-1"}, 201)
    watch.send("POST", "/rules", {**rule, "name": "others", "target": "lab-2*"}, 201)
    fall_silent(watch)
    assert watch.desk.alerts() == []
    shadows = watch.desk.alerts(shadow=True)
    assert [alert["rule_name"] for alert in shadows] == ["mine"] * raised
    assert watch.told() == []
    be_heard(watch)
    states = [alert["state"] for alert in watch.desk.alerts(shadow=True)]
    assert states == ["fixed"] * raised


def test_muting_an_alert_of_an_agent_silences_that_agent_alone(watch: Watch) -> None:
    fall_silent(watch)
    alert = watch.desk.alert()
    mute = {"reason": "on holiday", "hours": 24}
    muted = watch.send("POST", f"/alerts/{alert['id']}/mute", mute)
    rule = watch.desk.get(f"/rules/{muted['rule_id']}")
    patterns = ("agent_silent", "*", "lab-1")
    assert (rule["kind"], rule["suite"], rule["target"]) == patterns
    be_heard(watch)
    watch.wait(1900)
    assert watch.desk.alert()["history"][-1]["action"] == "silenced"
    assert len(watch.told()) == 1


@pytest.mark.parametrize("begin", [fall_silent, quarantine, miss_a_run])
def test_what_names_no_target_that_the_project_has_cannot_be_muted_alone(
    watch: Watch, begin: Callable[[Watch], None]
) -> None:
    """A rule about a schedule that may run on any target would mute every schedule of its suite."""
    begin(watch)
    if begin is not miss_a_run:
        with session_scope() as session:
            fleet_queries.withdraw_from_projects(session, watch.target_id)
    alert = watch.desk.alert()
    assert alert["can_be_muted"] is False
    mute = {"reason": "on holiday", "hours": 24}
    refused = watch.send("POST", f"/alerts/{alert['id']}/mute", mute, 409)
    assert "mute a channel instead" in refused["detail"]


def test_the_same_episode_is_never_raised_again_after_a_person_closed_it(
    watch: Watch,
) -> None:
    quarantine(watch)
    watch.desk.act(watch.desk.alert()["id"], "fixed")
    watch.sweep()
    assert watch.desk.alert()["state"] == "fixed"
    release(watch)
    quarantine(watch)
    assert watch.desk.alert()["state"] == "open"


@pytest.mark.parametrize("change", ["off", "no limit", "revoked"])
def test_what_nobody_watches_any_more_is_over(watch: Watch, change: str) -> None:
    begin = miss_a_run if change == "off" else fall_silent
    begin(watch)
    assert watch.desk.alert()["state"] == "open"
    if change == "off":
        (schedule,) = watch.desk.get("/schedules")["items"]
        assert schedule["missed_at"] is not None
        assert "online and healthy" in schedule["missed_because"]
        watch.send("PATCH", f"/schedules/{schedule['id']}", {"enabled": False})
    elif change == "no limit":
        watch.limit_silence(None)
    else:
        watch.send("POST", f"/installation/agents/{watch.agent_id}/revoke", {})
    watch.sweep()
    assert watch.desk.alert()["state"] == "fixed"
    if change == "no limit":
        watch.limit_silence(1800)
        watch.sweep()
        assert watch.desk.alert()["state"] == "open"


def test_a_schedule_that_goes_on_missing_is_told_once_and_stores_one_finding(
    watch: Watch,
) -> None:
    miss_a_run(watch)
    alert_id = watch.desk.alert()["id"]
    for _ in range(3):
        watch.wait(HOUR)
    assert (watch.desk.alert()["id"], _count_findings()) == (alert_id, 1)
    assert len(watch.told()) == 1
    (schedule,) = watch.desk.get("/schedules")["items"]
    for enabled in (False, True):
        watch.send("PATCH", f"/schedules/{schedule['id']}", {"enabled": enabled})
        watch.sweep()
    assert len(watch.told()) == 2, "switched on again, it misses anew"


def test_a_schedule_whose_targets_a_person_holds_back_misses_nothing(
    watch: Watch,
) -> None:
    body = {"on": True, "reason": "moves house"}
    watch.send("PUT", f"/targets/{watch.target_id}/maintenance", body)
    miss_a_run(watch)
    assert watch.desk.alerts() == []


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ({"kind": "import_stopped"}, "needs period_hours"),
        ({"kind": "gate", "period_hours": 24}, "takes no period_hours"),
        ({"kind": "import_stopped", "period_hours": 0}, "greater than or equal to 1"),
        (
            {"kind": "import_stopped", "period_hours": 24, "target": "lab-1"},
            "is about whole suites: leave out",
        ),
    ],
)
def test_a_rule_has_a_period_and_whole_suites_where_something_must_arrive(
    watch: Watch, rule: dict[str, Any], error: str
) -> None:
    answer = watch.send("POST", "/rules", {"name": "mine", **rule}, 422)
    assert error in str(answer["fields"])


def _make_device(serial: str, agent_id: str, at: datetime) -> Target:
    """Return a device of an agent that was found and last seen at an instant."""
    return Target(
        id=new_id("tgt"),
        kind="device",
        serial=serial,
        name=serial,
        agent_id=agent_id,
        refuses=None,
        factors={},
        fingerprint="",
        preflight=[],
        simulated=False,
        last_seen_at=at,
        created_at=at,
    )


def _add_targets(watch: Watch, count: int) -> list[str]:
    """Give the agent more devices; returns their ids."""
    at = clock_module.now()
    with session_scope() as session:
        added = [
            _make_device(f"more-{index}", watch.agent_id, at) for index in range(count)
        ]
        session.add_all(added)
        session.flush()
        ids = [target.id for target in added]
        fleet_queries.grant(session, ids, access.DEFAULT_PROJECT_ID, at)
    return ids


def _add_silent_agents(count: int) -> None:
    """Add agents that are silent for an hour, each with a device in quarantine."""
    at = clock_module.now()
    heard_at = at - timedelta(hours=1)
    with session_scope() as session:
        for _ in range(count):
            agent_id = new_id("agt")
            session.add(
                Agent(
                    id=agent_id,
                    name=agent_id,
                    version="0",
                    enrolled_by=None,
                    created_at=heard_at,
                    last_seen_at=heard_at,
                    silence_limit_s=1800,
                    granted_projects=[access.DEFAULT_PROJECT_ID],
                    granted_repositories=[],
                    granted_targets=[],
                )
            )
            session.flush()
            device = _make_device(f"of-{agent_id}", agent_id, heard_at)
            device.health = "quarantined"
            session.add(device)
            session.flush()
            fleet_queries.grant(session, [device.id], access.DEFAULT_PROJECT_ID, at)


def _count_findings() -> int:
    with read_scope() as session:
        return session.scalar(select(func.count()).select_from(Finding)) or 0
