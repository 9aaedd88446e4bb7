"""Serves rules over HTTP: list, save, replay before saving, mute, and find idle ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.alerts.registry import RuleKindName
from paceline_server.alerts.rules import orphans, replay, service
from paceline_server.alerts.rules.rule_book import RuleSubject, rule_for
from paceline_server.alerts.rules.schemas import (
    AlertRuleDetailOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRuleUpdateIn,
    AlertRuleVersionOut,
    AppliedOut,
    Mode,
    MuteIn,
    OrphansOut,
    ReplayIn,
    ReplayOut,
    ShippedRuleOut,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession, read_scope

router = APIRouter(tags=["rules"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Writer = Annotated[Principal, Depends(require("rules.write"))]


@router.get("/rules")
def list_rules(
    _: Reader,
    session: DbSession,
    kind: RuleKindName | None = None,
    mode: Mode | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AlertRuleOut]:
    """List rules by name, each with its mute and the outcomes of its alerts."""
    return service.list_rules(session, kind=kind, mode=mode, limit=limit, cursor=cursor)


@router.post("/rules", status_code=201)
def create_rule(
    body: AlertRuleIn, who: Writer, session: DbSession, once: Once
) -> AlertRuleDetailOut:
    """Save a new rule. 422 `below_noise_floor` when it asks for smaller effects than a target can resolve."""
    return once.answer(
        session, AlertRuleDetailOut, lambda: service.create_rule(session, body, who)
    )


@router.post("/rules/replay")
def replay_rule(body: ReplayIn, _: Writer) -> ReplayOut:
    """Return the alerts a rule would have raised in the last days, without saving the rule."""
    # Replaying takes long and must not block the database's writer.
    with read_scope() as session:
        return replay.replay_rule(session, body)


@router.get("/rules/shipped")
def list_shipped_rules(_: Reader, session: DbSession) -> Page[ShippedRuleOut]:
    """List the rules of the suites' manifests and the built-in ones. They apply where no stored rule does."""
    return service.list_shipped_rules(session)


@router.get("/rules/orphans")
def list_orphans(_: Reader, session: DbSession) -> OrphansOut:
    """List rules that decide about no current measurement, and measurements without a stored rule."""
    return orphans.find_orphans(session)


@router.get("/rules/applied")
def get_applied_rule(  # noqa: PLR0917 - query parameters, passed by name
    suite: str,
    benchmark: str,
    arm: str,
    metric: str,
    target: str,
    _: Reader,
    session: DbSession,
    kind: RuleKindName = "history",
) -> AppliedOut:
    """Return the rule that decides about a measurement; `target` is the target's name."""
    subject = RuleSubject(suite, benchmark, arm, metric, target)
    return AppliedOut.model_validate(rule_for(session, kind, subject))


@router.get("/rules/{rule_id}")
def get_rule(rule_id: str, _: Reader, session: DbSession) -> AlertRuleDetailOut:
    """Return a rule with the highest noise floor among its series and all of its mutes."""
    return service.rule_detail(session, rule_id)


@router.get("/rules/{rule_id}/versions")
def list_rule_versions(
    rule_id: str,
    _: Reader,
    session: DbSession,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AlertRuleVersionOut]:
    """List the versions of a rule, the newest first."""
    return service.list_versions(session, rule_id, limit=limit, cursor=cursor)


@router.put("/rules/{rule_id}")
def update_rule(
    rule_id: str, body: AlertRuleUpdateIn, who: Writer, session: DbSession
) -> AlertRuleDetailOut:
    """Save a new version of a rule. 409 if somebody else saved one meanwhile."""
    return service.update_rule(session, rule_id, body, who)


@router.delete("/rules/{rule_id}", status_code=204)
def delete_rule(rule_id: str, who: Writer, session: DbSession) -> None:
    """Delete a rule; its versions stay, because alerts name them."""
    service.delete_rule(session, rule_id, who)


@router.post("/rules/{rule_id}/mute")
def mute_rule(
    rule_id: str, body: MuteIn, who: Writer, session: DbSession
) -> AlertRuleDetailOut:
    """Mute a rule for some hours. People are notified of alerts that are still open when the mute ends."""
    return service.mute_rule(session, rule_id, body, who)


@router.post("/rules/{rule_id}/unmute")
def unmute_rule(rule_id: str, who: Writer, session: DbSession) -> AlertRuleDetailOut:
    """End the mute of a rule now."""
    return service.unmute_rule(session, rule_id, who)
