"""HTTP of rules: read them, save versions, try one before it is saved, silence one, find idle ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.alerts.rules import orphans as idle
from paceline_server.alerts.rules import replay as past
from paceline_server.alerts.rules import service
from paceline_server.alerts.rules.applied_rule import Kind, Mode
from paceline_server.alerts.rules.schemas import (
    AlertRuleDetailOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRuleUpdateIn,
    AlertRuleVersionOut,
    AppliedOut,
    MuteIn,
    OrphansOut,
    ReplayIn,
    ReplayOut,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession, read_scope

router = APIRouter(tags=["rules"])

Reader = Annotated[Principal, Depends(require("read"))]
Writer = Annotated[Principal, Depends(require("alerts:write"))]


@router.get("/rules")
def list_rules(
    _: Reader,
    session: DbSession,
    kind: Kind | None = None,
    mode: Mode | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AlertRuleOut]:
    """Rules by name, each with its mute and how its alerts ended."""
    return service.list_rules(session, kind=kind, mode=mode, limit=limit, cursor=cursor)


@router.post("/rules", status_code=201)
def create_rule(
    body: AlertRuleIn, who: Writer, session: DbSession
) -> AlertRuleDetailOut:
    """Save a new rule; 422 `below_noise_floor` when it asks for more than a target can resolve."""
    return service.create_rule(session, body, who)


@router.post("/rules/replay")
def replay_rule(body: ReplayIn, _: Writer) -> ReplayOut:
    """What a rule would have raised in the last days. Saves nothing."""
    with (
        read_scope() as session
    ):  # computing takes a while and must not hold up the database's writer
        return past.replay_rule(session, body)


@router.get("/rules/orphans")
def list_orphans(_: Reader, session: DbSession) -> OrphansOut:
    """Rules that decide about nothing that lives, and measurements only the built-in default decides
    about."""
    return idle.find_orphans(session)


@router.get("/rules/applied")
def get_applied_rule(  # noqa: PLR0917 - query parameters, passed by name
    suite: str,
    benchmark: str,
    arm: str,
    metric: str,
    target: str,
    _: Reader,
    session: DbSession,
    kind: Kind = "history",
) -> AppliedOut:
    """The one rule that decides about a measurement; `target` is the target's name."""
    return service.applied_rule_out(
        session,
        kind=kind,
        suite=suite,
        benchmark=benchmark,
        arm=arm,
        metric=metric,
        target=target,
    )


@router.get("/rules/{rule_id}")
def get_rule(rule_id: str, _: Reader, session: DbSession) -> AlertRuleDetailOut:
    """One rule with the noise floor it has to respect and all of its mutes."""
    return service.rule_detail(session, rule_id)


@router.get("/rules/{rule_id}/versions")
def list_rule_versions(
    rule_id: str,
    _: Reader,
    session: DbSession,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AlertRuleVersionOut]:
    """Everything a rule ever said, the newest first."""
    return service.list_versions(session, rule_id, limit=limit, cursor=cursor)


@router.put("/rules/{rule_id}")
def update_rule(
    rule_id: str, body: AlertRuleUpdateIn, who: Writer, session: DbSession
) -> AlertRuleDetailOut:
    """Save a new version; 409 when somebody saved another meanwhile."""
    return service.update_rule(session, rule_id, body, who)


@router.delete("/rules/{rule_id}", status_code=204)
def delete_rule(rule_id: str, who: Writer, session: DbSession) -> None:
    """Take a rule out of force; its versions stay, because alerts name them."""
    service.delete_rule(session, rule_id, who)


@router.post("/rules/{rule_id}/mute")
def mute_rule(
    rule_id: str, body: MuteIn, who: Writer, session: DbSession
) -> AlertRuleDetailOut:
    """Tell nobody of its alerts for a while; what is still open then is told at the end."""
    return service.mute_rule(session, rule_id, body, who)


@router.post("/rules/{rule_id}/unmute")
def unmute_rule(rule_id: str, who: Writer, session: DbSession) -> AlertRuleDetailOut:
    """End the silence now."""
    return service.unmute_rule(session, rule_id, who)
