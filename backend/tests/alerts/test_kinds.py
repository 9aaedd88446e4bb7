"""A kind of alert is one class and its registration: one made here lives a whole life, through HTTP and the outbox."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest
from paceline_server.alerts import registry
from paceline_server.alerts.kind import (
    AlertEvidence,
    AlertKind,
    ConfirmationRun,
    Decision,
    EndedJob,
    Observation,
    no_verdict,
)
from paceline_server.alerts.kinds.arm import ArmKind
from paceline_server.alerts.registry import UnknownKindError
from paceline_server.alerts.rules.rule_book import BuiltInRule, RuleSubject, rule_for
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.runtime import handlers
from paceline_server.store.session import session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.channels import Notification
from paceline_server.store.tables.decisions import Finding
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select, update
from sqlalchemy.orm import Session

AlertLab = Any
QUIET = {1000: -0.5, 2000: -0.6}
"""Nothing that another kind would raise an alert about."""


class ShortRunKind(AlertKind[int]):
    """A run that asked for fewer rounds than it should."""

    names: ClassVar[tuple[str, ...]] = ("short_run",)
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        "short_run": BuiltInRule(
            "default-short-run", "A run has enough rounds.", has_effect=False
        )
    }
    least = 10_000

    def observe(self, session: Session, ended: EndedJob) -> Iterator[Observation[int]]:
        job, run = ended.job, ended.run
        if job.state != "done":
            return
        subject = RuleSubject(run.suite, "", "", "", job.target_id)
        yield Observation(
            kind="short_run",
            cause_key=json.dumps(["short_run", job.target_id]),
            outcome="fails" if run.rounds < self.least else "holds",
            title="A run is too short",
            words=f"{run.rounds} rounds",
            rule=rule_for(session, "short_run", subject),
            evidence=run.rounds,
            run_id=run.id,
            job_id=job.id,
            target_id=job.target_id,
            suite=run.suite,
        )

    def store_findings(
        self, session: Session, alert: Alert, seen: Observation[int], role: Role
    ) -> None:
        finding = Finding(
            id=ids.new_id("fnd"),
            kind=alert.kind,
            role=role,
            alert_id=alert.id,
            numbers={"words": seen.words},
            run_id=seen.run_id,
            job_id=seen.job_id,
            method="short-run/1",
            parameters={},
            filters=[],
            window={},
            created_at=clock.now(),
        )
        session.add(finding)
        session.flush()

    def request_run(self, session: Session, alert: Alert) -> ConfirmationRun:
        run = jobs.confirmation_run(
            session,
            alert_id=alert.id,
            original_run_id=alert.measured_run_id,
            benchmarks=[BENCHMARK],
            params={"batch": [1000, 2000]},
            target_id=alert.measured_target_id,
            not_before=clock.now(),
        )
        return ConfirmationRun(run, f"run {run.id}")

    def read_confirmation(
        self,
        session: Session,  # noqa: ARG002 - of the protocol
        alert: Alert,
        ended: EndedJob,
    ) -> Decision:
        if ended.job.state != "done":
            return no_verdict(ended.job, "the confirmation")
        is_short = ended.run.rounds < self.least
        return Decision("proven" if is_short else "cleared", alert.words)

    def explain(self, evidence: AlertEvidence) -> str:
        return f"On {evidence.target_name}: {evidence.alert.words}."


@pytest.fixture
def short_runs() -> Iterator[ShortRunKind]:
    kind = ShortRunKind()
    registry.register_kinds([kind])
    yield kind
    registry.remove_kind(kind)


def _titles_of_notices() -> list[str]:
    with session_scope() as session:
        return [row.content["title"] for row in session.scalars(select(Notification))]


def test_a_kind_of_one_file_is_raised_confirmed_told_explained_and_ended(
    desk: AlertLab, short_runs: ShortRunKind
) -> None:
    desk.measure(QUIET)
    suspected = desk.alert()
    assert (suspected["kind"], suspected["state"]) == ("short_run", "suspected")
    assert suspected["rule_name"] == "default-short-run"
    assert _titles_of_notices() == []
    desk.confirm(QUIET)
    opened = desk.alert()
    assert opened["state"] == "open"
    assert opened["explanation"].endswith(f"{opened['words']}.")
    assert [alert["id"] for alert in desk.alerts(kind="short_run")] == [opened["id"]]
    assert _titles_of_notices() == ["A run is too short"]
    short_runs.least = 0
    desk.measure(QUIET)
    fixed = desk.alert()
    assert (fixed["state"], fixed["history"][-1]["action"]) == ("fixed", "recover")


def test_a_server_does_not_start_with_alerts_of_a_kind_it_does_not_know(
    desk: AlertLab, short_runs: ShortRunKind
) -> None:
    desk.measure(QUIET)
    handlers.load()
    with session_scope() as session:
        session.execute(update(Alert).values(kind="kind_of_tomorrow"))
    with pytest.raises(UnknownKindError, match=r"'kind_of_tomorrow'.*newer one"):
        handlers.load()


def test_two_kinds_do_not_share_a_name() -> None:
    with pytest.raises(ValueError, match="'arm_slower'"):
        registry.register_kinds([ArmKind()])


def test_an_unknown_kind_is_refused_with_those_there_are(desk: AlertLab) -> None:
    answer = desk.lab.client.get(
        "/api/v1/alerts", params={"kind": "short_run"}, headers=dict(desk.headers)
    )
    assert answer.status_code in {400, 422}
    assert "'arm_slower', 'history'" in answer.text
