"""Serves alerts over HTTP: the inbox, one alert with its evidence, and people's decisions about it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from paceline_server.accounts.auth import Principal, require
from paceline_server.alerts import service
from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.rules import routes as rules
from paceline_server.alerts.rules.schemas import MuteIn
from paceline_server.alerts.schemas import (
    AlertActionIn,
    AlertDetailOut,
    AlertNoteIn,
    AlertOut,
    AlertState,
    AssigneeIn,
    BisectIn,
    BulkIn,
    CauseName,
    DueIn,
    ExplanationOut,
    IssueIn,
    TriageBatchOut,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Before, Cursor, From, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["alerts"])
router.include_router(rules.router)

Reader = Annotated[Principal, Depends(require("project.read"))]
Triager = Annotated[Principal, Depends(require("alerts.triage"))]
RuleWriter = Annotated[Principal, Depends(require("rules.write"))]
Requester = Annotated[Principal, Depends(require("runs.create", "targets.use"))]
Text = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get("/alerts")
def list_alerts(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    state: AlertState | None = None,
    suite: str | None = None,
    target: str | None = None,
    assignee: str | None = None,
    kind: AlertKindName | None = None,
    cause: CauseName | None = None,
    overdue: bool | None = None,
    shadow: bool = False,
    rule: str | None = None,
    text: Text = None,
    since: From = None,
    until: Before = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AlertOut]:
    """List alerts, the newest first. `assignee=none` lists unassigned alerts. `shadow=true` lists only alerts of
    rules in shadow, which are left out otherwise. `rule` is a rule's id. `text` is searched in title, words,
    benchmark, suite and commits. `from` and `to` bound when it was first seen."""
    filters = service.AlertFilters(
        state=state,
        suite=suite,
        target=target,
        kind=kind,
        cause=cause,
        overdue=overdue,
        shadow=shadow,
        rule=rule,
        text=text,
        since=since,
        until=until,
    )
    return service.list_alerts(
        session, filters, assignee=assignee, limit=limit, cursor=cursor
    )


@router.post("/alerts/bulk")
def triage_in_bulk(body: BulkIn, who: Triager, session: DbSession) -> TriageBatchOut:
    """Apply one decision to several alerts. If any alert refuses, none is changed: 409 `bulk_refused` with
    the reason of each."""
    return service.decide_batch(session, body, who.name)


@router.get("/alerts/bulk")
def list_triage_batches(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[TriageBatchOut]:
    """List bulk decisions, the newest first."""
    return service.list_batches(session, limit=limit, cursor=cursor)


@router.post("/alerts/bulk/{batch_id}/undo")
def undo_bulk_triage(batch_id: str, who: Triager, session: DbSession) -> TriageBatchOut:
    """Undo a bulk decision within 15 minutes. 409 `undo_refused` when it is too late or one of its alerts has
    changed since."""
    return service.undo_batch(session, batch_id, who.name)


@router.get("/alerts/{alert_id}")
def get_alert(
    alert_id: str,
    _: Reader,
    session: DbSession,
    *,
    expand: Literal["window"] | None = None,
) -> AlertDetailOut:
    """Return one alert with its rule, its evidence with every filter, its events and the possible actions.
    `expand=window` lists all jobs and values of each finding's window; without it a window has their number
    and the first and last job."""
    return service.alert_detail(session, alert_id, windows=expand == "window")


@router.get("/alerts/{alert_id}/explain")
def explain_alert(
    alert_id: str, _: Reader, session: DbSession, *, rederive: bool = False
) -> ExplanationOut:
    """Explain an alert: every filter with its number and limit, the data window, and one paragraph for people.
    `rederive` also computes the first 20 findings again from stored samples, which reads every job of their windows."""
    return service.explain_in_full(session, alert_id, again=rederive)


@router.post("/alerts/{alert_id}/bisect")
def bisect_alert(
    alert_id: str, body: BisectIn, who: Requester, session: DbSession
) -> AlertDetailOut:
    """Search for the culprit commit by A/B jobs. 409 while a search runs, or if the alert does not blame code."""
    return service.bisect_alert(session, alert_id, body.budget, who.name)


@router.post("/alerts/{alert_id}/actions")
def act_on_alert(
    alert_id: str, body: AlertActionIn, who: Triager, session: DbSession
) -> AlertDetailOut:
    """Acknowledge, resolve or reopen an alert."""
    return service.act_on_alert(
        session,
        alert_id,
        body.action,
        who.name,
        note=body.note,
        baseline_commit=body.baseline_commit,
    )


@router.post("/alerts/{alert_id}/notes")
def add_alert_note(
    alert_id: str, body: AlertNoteIn, who: Triager, session: DbSession
) -> AlertDetailOut:
    """Add a remark to the events of an alert."""
    return service.add_note(session, alert_id, body.note, who.name)


@router.post("/alerts/{alert_id}/mute")
def mute_alert(
    alert_id: str, body: MuteIn, who: RuleWriter, session: DbSession
) -> AlertDetailOut:
    """Mute the rule behind the alert for some hours. Where only the suite's or the built-in rule decides, a rule about
    this measurement alone is made first."""
    return service.mute_alert(session, alert_id, body, who)


@router.put("/alerts/{alert_id}/due")
def set_alert_due(
    alert_id: str, body: DueIn, who: Triager, session: DbSession
) -> AlertDetailOut:
    """Set the date by which the alert should be resolved; null removes it."""
    return service.set_due(session, alert_id, body.due_at, who.name)


@router.put("/alerts/{alert_id}/issue")
def link_alert_issue(
    alert_id: str, body: IssueIn, who: Triager, session: DbSession
) -> AlertDetailOut:
    """Link the issue that tracks the alert; null removes the link."""
    return service.link_issue(session, alert_id, body.url, who.name)


@router.put("/alerts/{alert_id}/assignee")
def assign_alert(
    alert_id: str, body: AssigneeIn, who: Triager, session: DbSession
) -> AlertDetailOut:
    """Assign the alert to a person; null unassigns it."""
    return service.assign(session, alert_id, body.account_id, who.name)
