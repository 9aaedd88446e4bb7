"""Evaluates jobs for alerts, and serves routes and other features, which use alerts only through this module.

It handles one message per concluded job (`alerts.evaluate`) and one per job whose points were added to their series
(`alerts.history`), and at each sweep what stored facts say. The life of alerts is in `lifecycle.py`, which handles the
other topics, and the differences between kinds are in `kinds/`. People's decisions, rules, bisections and explanations
have modules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts import lifecycle, queries, triage
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.explanation import explain as explain_in_full
from paceline_server.alerts.explanation import explain_alert, explain_briefly
from paceline_server.alerts.kind import EndedJob
from paceline_server.alerts.kinds import KINDS
from paceline_server.alerts.lifecycle import compute_confirmation
from paceline_server.alerts.queries import (
    AlertFilters,
    counts_by_state,
    opened_since,
    titles,
)
from paceline_server.alerts.registry import all_kinds, kind_of, register_kinds
from paceline_server.alerts.rules import service as rules
from paceline_server.alerts.rules.rule_book import RuleSubject, mute_in_force, rule_for
from paceline_server.alerts.rules.schemas import MuteIn, MuteOut
from paceline_server.alerts.schemas import (
    Action,
    AlertDetailOut,
    AlertEventOut,
    AlertOut,
    RuleOut,
)
from paceline_server.alerts.states import possible_actions
from paceline_server.alerts.triage import decide_batch, list_batches, undo_batch
from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import access
from paceline_server.store.outbox import handle_topic, handle_topic_after_reading
from paceline_server.store.page import page
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.alerts import Alert

log = structlog.get_logger("paceline.alerts")

__all__ = [
    "AlertFilters",
    "RuleSubject",
    "act_on_alert",
    "add_note",
    "alert_detail",
    "assign",
    "bisect_alert",
    "compute_confirmation",
    "counts_by_state",
    "decide_batch",
    "evaluate_job",
    "evaluate_points",
    "explain_in_full",
    "explanations",
    "link_issue",
    "list_alerts",
    "list_batches",
    "mute_alert",
    "opened_since",
    "require_known_kinds",
    "rule_for",
    "set_due",
    "sweep",
    "titles",
    "undo_batch",
]

register_kinds(KINDS)


def require_known_kinds(session: Session) -> None:
    """Raise UnknownKindError unless this server knows the kind of every stored alert."""
    for name in queries.stored_kinds(session):
        kind_of(name)


@handle_topic_after_reading("alerts.evaluate", compute_confirmation)
def evaluate_job(session: Session, job_id: str, computed: Any) -> None:
    """Evaluate an ended job: as a bisection step, as a confirmation, or else by watching what it shows. `computed`
    comes from `compute_confirmation`."""
    concluded = queries.job_with_run(session, job_id)
    if concluded is None:
        return
    job, run = concluded
    if run.bisection_id is not None:
        bisect.advance(session, job, run)
    elif run.confirms_alert_id is not None:
        alert_id = run.confirms_alert_id
        ended = EndedJob(job, run, computed)
        lifecycle.decide_confirmation(session, alert_id, ended)
    else:
        lifecycle.watch(session, "job", EndedJob(job, run))


def sweep() -> int:
    """Raise and end the alerts that stored facts decide about, without a job; returns in how many projects something
    changed. Reads only if nothing did. A project that fails is logged and keeps no other from being swept."""
    at = clock.now()
    clock_kinds = [kind for kind in all_kinds() if kind.watches == "clock"]
    names = [name for kind in clock_kinds for name in kind.names]
    with read_scope() as session:
        watched = queries.projects_with_living(session, names).union(
            *(kind.projects(session) for kind in clock_kinds)
        )
    changed = 0
    for project_id in sorted(watched):
        try:
            changed += _sweep_project(project_id, at)
        except Exception:  # One project must not keep the others from being swept.
            log.exception("alerts_sweep_failed", project_id=project_id)
    return changed


def _sweep_project(project_id: str, at: datetime) -> bool:
    """Raise and end the alerts of one project, in its own transactions; returns whether something changed."""
    with access.using(access.of_project(project_id)):
        with read_scope() as session:
            if not lifecycle.has_news(session, project_id, at):
                return False
        with session_scope() as session:
            lifecycle.watch_clock(session, project_id, at)
    return True


@handle_topic("alerts.history")
def evaluate_points(session: Session, job_id: str) -> None:
    """Watch what a job shows after its points were added to their series."""
    concluded = queries.job_with_run(session, job_id)
    if concluded is not None:
        lifecycle.watch(session, "points", EndedJob(*concluded))


def explanations(session: Session, alerts: Sequence[Alert]) -> dict[str, str]:
    """Return the sentence of each alert's page, by id."""
    return {
        alert.id: explain_alert(
            session, alert, queries.spoken_name(session, alert.target_id)
        )
        for alert in alerts
    }


def bisect_alert(
    session: Session, alert_id: str, budget: int | None, actor: str
) -> AlertDetailOut:
    """Search for the commit of an alert by A/B jobs. Raises 404; 409 when there is nothing to search or a search
    is running."""
    bisect.start_by_hand(session, alert_id, budget, actor)
    return alert_detail(session, alert_id)


NOBODY = "none"
"""Value of the assignee filter for alerts nobody has taken."""


def list_alerts(
    session: Session,
    filters: AlertFilters,
    *,
    assignee: str | None,
    limit: int,
    cursor: str | None,
) -> Page[AlertOut]:
    """Return alerts, the newest first; `assignee` is an account's id or `NOBODY`."""
    unassigned = assignee == NOBODY
    filters = replace(
        filters, assignee_id=None if unassigned else assignee, unassigned=unassigned
    )
    alerts: Page[Alert] = page(
        session,
        queries.alerts(filters, clock.now()),
        [Alert.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_alerts_out(session, alerts.items), next=alerts.next)


def _alerts_out(session: Session, rows: Sequence[Alert]) -> list[AlertOut]:
    """Return wire shapes of alerts, in order, with a fixed number of queries."""
    ids = [row.target_id for row in rows if row.target_id is not None]
    targets = {
        target.id: target.name for target in fleet.targets_by_id(session, ids).values()
    }
    people = queries.accounts(session, [row.assignee_id for row in rows])
    return [_alert_out(row, targets, people) for row in rows]


def _alert_out(
    row: Alert, targets: dict[str, str], people: dict[str, Account]
) -> AlertOut:
    assignee = people.get(row.assignee_id or "")
    derived = {
        "overdue": triage.is_overdue(row),
        "rule_name": row.rule["name"],
        "target_name": targets.get(row.target_id or ""),
        "assignee": None if assignee is None else AccountOut.model_validate(assignee),
    }
    stored = {
        name: getattr(row, name)
        for name in AlertOut.model_fields
        if name not in derived
    }
    return AlertOut.model_validate(stored | derived)


def alert_detail(
    session: Session, alert_id: str, *, windows: bool = False
) -> AlertDetailOut:
    """Return one alert with its evidence and history; `windows` adds every point of each finding. Raises 404."""
    row = session.get(Alert, alert_id)
    if row is None:
        raise not_found("alert", alert_id)
    session.flush()
    (shown,) = _alerts_out(session, [row])
    explanation = explain_briefly(
        session, row, queries.spoken_name(session, row.target_id), windows=windows
    )
    mute = mute_in_force(session, row.rule_id)
    return AlertDetailOut(
        **shown.model_dump(),
        imported=row.run_id is not None
        and queries.who_measured_elsewhere(session, row.run_id) is not None,
        rule=RuleOut.model_validate(row.rule),
        mute=None if mute is None else MuteOut.model_validate(mute),
        can_be_muted=rules.can_be_muted(session, row),
        explanation=explanation.sentence,
        cause_text=explanation.cause_text,
        findings=explanation.findings,
        bisection=bisect.bisection_of_alert(session, row),
        history=[
            AlertEventOut.model_validate(event)
            for event in queries.events(session, alert_id)
        ],
        actions=possible_actions(row.state),  # type: ignore[arg-type]  # the column holds `AlertState`s only
    )


def act_on_alert(
    session: Session,
    alert_id: str,
    action: Action,
    actor: str,
    *,
    note: str | None,
    baseline_commit: str | None,
) -> AlertDetailOut:
    """Acknowledge, resolve or reopen an alert. Raises 404, and what `triage.apply_action` raises."""
    alert = _locked_alert(session, alert_id)
    triage.apply_action(
        session, alert, action, actor, note=note, baseline_commit=baseline_commit
    )
    return alert_detail(session, alert_id)


def add_note(session: Session, alert_id: str, note: str, actor: str) -> AlertDetailOut:
    """Add a remark to an alert's events. Raises 404."""
    triage.add_note(session, _locked_alert(session, alert_id), note, actor)
    return alert_detail(session, alert_id)


def assign(
    session: Session, alert_id: str, account_id: str | None, actor: str
) -> AlertDetailOut:
    """Assign an alert to a person, or to nobody. Raises 404; 400 for an unknown account."""
    triage.assign(session, _locked_alert(session, alert_id), account_id, actor)
    return alert_detail(session, alert_id)


def set_due(
    session: Session, alert_id: str, due_at: datetime | None, actor: str
) -> AlertDetailOut:
    """Set or remove the date by which an alert should be resolved. Raises 404; 400 for a date in the past."""
    triage.set_due(session, _locked_alert(session, alert_id), due_at, actor)
    return alert_detail(session, alert_id)


def link_issue(
    session: Session, alert_id: str, url: str | None, actor: str
) -> AlertDetailOut:
    """Link the issue that tracks an alert, or remove the link. Raises 404."""
    triage.link_issue(session, _locked_alert(session, alert_id), url, actor)
    return alert_detail(session, alert_id)


def mute_alert(
    session: Session, alert_id: str, spec: MuteIn, who: Principal
) -> AlertDetailOut:
    """Mute the rule behind an alert for some hours. Raises 404; 409 where no rule decides about it alone."""
    rules.mute_rule_of_alert(session, _locked_alert(session, alert_id), spec, who)
    return alert_detail(session, alert_id)


def _locked_alert(session: Session, alert_id: str) -> Alert:
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    return alert
