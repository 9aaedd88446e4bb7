"""Saves rules and finds the one that decides about a finding.

The most specific rule that matches decides alone (`matching`); a saved version never
changes; where no stored rule matches, a built-in default applies. Every write leaves an
entry in the audit log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts.history import leave_shadow
from paceline_server.alerts.rules import noise_limits, queries, rule_sentences
from paceline_server.alerts.rules.applied_rule import (
    AppliedRule,
    Kind,
    Mode,
    RuleBook,
    default_rule,
    mute_words,
)
from paceline_server.alerts.rules.rule_contest import build_contest
from paceline_server.alerts.rules.schemas import (
    AlertRuleDetailOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRuleUpdateIn,
    AlertRuleVersionOut,
    AppliedOut,
    MuteIn,
    MuteOut,
)
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit, outbox
from paceline_server.store.page import page
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

SILENCE_ENDED = "alerts.silence_ended"
"""Outbox topic: a mute ended; `key` is an alert nobody was told of meanwhile."""
SILENCED, NOTIFIED = "silenced", "notified"
"""Words of an alert's history about telling people."""

__all__ = [
    "NOTIFIED",
    "SILENCED",
    "SILENCE_ENDED",
    "AppliedRule",
    "Kind",
    "RuleBook",
    "applied_rule_out",
    "create_rule",
    "default_rule",
    "delete_rule",
    "list_rules",
    "list_versions",
    "mute_in_force",
    "mute_rule",
    "mute_words",
    "rule_detail",
    "rule_for",
    "rules_in_force",
    "unmute_rule",
    "update_rule",
]


def rules_in_force(session: Session, kind: Kind) -> RuleBook:
    """The rules of a kind as they stand now: read once, asked for every finding of a job."""
    return RuleBook(
        kind,
        queries.newest_versions(session, kind),
        queries.mutes_in_force(session, clock.now()),
    )


def rule_for(
    session: Session,
    *,
    kind: Kind,
    suite: str,
    benchmark: str,
    arm: str,
    metric: str,
    target: str,
) -> AppliedRule:
    """The rule that decides about one finding; `target` is the target's name. For many use
    `rules_in_force`."""
    book = rules_in_force(session, kind)
    return book.rule_for(
        suite=suite, benchmark=benchmark, arm=arm, metric=metric, target=target
    )


def applied_rule_out(
    session: Session,
    *,
    kind: Kind,
    suite: str,
    benchmark: str,
    arm: str,
    metric: str,
    target: str,
) -> AppliedOut:
    """The same for people."""
    found = rule_for(
        session,
        kind=kind,
        suite=suite,
        benchmark=benchmark,
        arm=arm,
        metric=metric,
        target=target,
    )
    return AppliedOut.model_validate(found)


def mute_in_force(session: Session, rule_id: str | None) -> RuleMute | None:
    """The mute of this rule that silences its alerts now."""
    return (
        None
        if rule_id is None
        else queries.mutes_in_force(session, clock.now()).get(rule_id)
    )


def list_rules(
    session: Session,
    *,
    kind: Kind | None,
    mode: Mode | None,
    limit: int,
    cursor: str | None,
) -> Page[AlertRuleOut]:
    """Rules by name."""
    found: Page[AlertRule] = page(
        session,
        queries.rules(kind, mode),
        [AlertRule.name],
        lambda row: [row.name],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(items=_rules_out(session, found.items), next=found.next)


def rule_detail(session: Session, rule_id: str) -> AlertRuleDetailOut:
    """One rule with the noise floor it has to respect and its mutes. Raises 404."""
    rule = queries.rule(session, rule_id)
    if rule is None:
        raise not_found("rule", rule_id)
    session.flush()
    out = _rules_out(session, [rule])[0]
    version = queries.versions_of(session, [rule])[rule_id]
    spec = _spec_of(version, rule.name)
    in_force = queries.newest_versions(session, out.kind)
    floor = noise_limits.noisiest_floor(
        session, build_contest(spec, rule_id, version.created_at, in_force)
    )
    mutes = [MuteOut.model_validate(mute) for mute in queries.mutes(session, rule_id)]
    return AlertRuleDetailOut(**out.model_dump(), floor=floor, mutes=mutes)


def list_versions(
    session: Session, rule_id: str, *, limit: int, cursor: str | None
) -> Page[AlertRuleVersionOut]:
    """Everything a rule ever said, the newest first. Raises 404."""
    if queries.rule(session, rule_id) is None:
        raise not_found("rule", rule_id)
    found: Page[AlertRuleVersion] = page(
        session,
        queries.all_versions(rule_id),
        [AlertRuleVersion.version],
        lambda row: [row.version],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    people = queries.accounts(session, (item.owner_id for item in found.items))
    items = [
        AlertRuleVersionOut.model_validate(_version_values(item, people))
        for item in found.items
    ]
    return Page(items=items, next=found.next)


_SAID = (
    "kind",
    "suite",
    "benchmark",
    "arm",
    "metric",
    "target",
    "min_effect",
    "direction",
    "mode",
    "text",
    "comment",
    "owner_id",
)


def create_rule(
    session: Session, spec: AlertRuleIn, who: Principal
) -> AlertRuleDetailOut:
    """A new rule; one of a deleted rule's name goes on with its history.

    Raises 409 when the name is taken, 400 for an unknown owner, 422 `below_noise_floor`.
    """
    rule = queries.lock_named(session, spec.name)
    if rule is not None and rule.deleted_at is None:
        raise _name_taken(spec.name)
    if rule is None:
        rule = AlertRule(
            id=ids.new_id("rul"),
            name=spec.name,
            version=0,
            created_at=clock.now(),
            deleted_at=None,
        )
        try:
            with session.begin_nested():
                session.add(rule)
                session.flush()
        except IntegrityError:
            raise _name_taken(spec.name) from None
    rule.deleted_at = None
    return _save_version(session, rule, spec, who, "save")


def update_rule(
    session: Session, rule_id: str, spec: AlertRuleUpdateIn, who: Principal
) -> AlertRuleDetailOut:
    """A new version. Raises 404, 409 when another was saved meanwhile or the name is taken, 400, 422 as
    `create`."""
    rule = _locked_rule(session, rule_id)
    if rule.version != spec.based_on:
        raise conflict(
            f"Rule {rule.name} is at version {rule.version} by now, this was made from version "
            f"{spec.based_on}: look at what changed and save again."
        )
    if rule.name != spec.name:
        try:
            with session.begin_nested():
                rule.name = spec.name
                session.flush()
        except IntegrityError:
            raise _name_taken(spec.name) from None
    return _save_version(session, rule, spec, who, "save")


def _name_taken(name: str) -> Exception:
    return conflict(
        f"There is, or was, a rule {name!r} already: save a new version of it, or another name."
    )


def _save_version(
    session: Session, rule: AlertRule, spec: AlertRuleIn, who: Principal, action: str
) -> AlertRuleDetailOut:
    if spec.owner_id is not None and queries.account(session, spec.owner_id) is None:
        raise invalid_request(
            f"There is no account {spec.owner_id!r}.", {"owner_id": "no such account"}
        )
    at = clock.now()
    in_force = queries.newest_versions(session, spec.kind)
    noise_limits.refuse_below_noise(
        session, spec, build_contest(spec, rule.id, at, in_force)
    )
    before = queries.versions_of(session, [rule]).get(rule.id)
    owner = spec.owner_id or (who.account_id if before is None else before.owner_id)
    said = {name: getattr(spec, name) for name in _SAID}
    said.update(owner_id=owner, text=_rule_text(spec, rule.name, before))
    rule.version += 1
    session.add(
        AlertRuleVersion(
            rule_id=rule.id,
            version=rule.version,
            created_by=who.name,
            created_at=at,
            **said,
        )
    )
    if before is not None and (before.mode, spec.mode) == ("shadow", "active"):
        for alert in queries.lock_shadows(session, rule.id):
            leave_shadow(session, alert)
    changed = {
        name: said[name]
        for name in _SAID
        if before is None or getattr(before, name) != said[name]
    }
    detail = {"name": rule.name, "version": rule.version, "changed": changed}
    audit.record(session, who.name, action, "rule", rule.id, detail)
    session.flush()
    return rule_detail(session, rule.id)


def _rule_text(spec: AlertRuleIn, name: str, before: AlertRuleVersion | None) -> str:
    """What the rule is for; a sentence made of its numbers follows when they change."""
    text = spec.text.strip()
    if before is not None and text == before.text == rule_sentences.rule_sentence(
        _spec_of(before, name)
    ):
        text = ""
    return text or rule_sentences.rule_sentence(spec)


def _spec_of(version: AlertRuleVersion, name: str) -> AlertRuleIn:
    return AlertRuleIn.model_construct(
        **{field: getattr(version, field) for field in _SAID}, name=name
    )


def delete_rule(session: Session, rule_id: str, who: Principal) -> None:
    """Take a rule out of force; its versions stay, because alerts name them. Raises 404."""
    rule = _locked_rule(session, rule_id)
    rule.deleted_at = clock.now()
    _end_mutes(session, rule_id)
    audit.record(
        session,
        who.name,
        "delete",
        "rule",
        rule.id,
        {"name": rule.name, "version": rule.version},
    )


def mute_rule(
    session: Session, rule_id: str, spec: MuteIn, who: Principal
) -> AlertRuleDetailOut:
    """Tell nobody of this rule's alerts for a while; takes the place of a mute in force. Raises 404."""
    rule = _locked_rule(session, rule_id)
    at = clock.now()
    for mute in queries.mutes(session, rule_id):
        mute.ended_at = mute.ended_at or min(at, mute.until)
    until = at + timedelta(hours=spec.hours)
    session.add(
        RuleMute(
            id=ids.new_id("mut"),
            rule_id=rule_id,
            reason=spec.reason,
            until=until,
            muted_by=who.name,
            created_at=at,
            ended_at=None,
        )
    )
    detail = {"name": rule.name, "reason": spec.reason, "until": until.isoformat()}
    audit.record(session, who.name, "mute", "rule", rule.id, detail)
    session.flush()
    return rule_detail(session, rule_id)


def unmute_rule(session: Session, rule_id: str, who: Principal) -> AlertRuleDetailOut:
    """End the silence now: people hear of what is still open. Raises 404, 409 when it is not muted."""
    rule = _locked_rule(session, rule_id)
    if mute_in_force(session, rule_id) is None:
        raise conflict(f"Rule {rule.name} is not muted.")
    _end_mutes(session, rule_id)
    audit.record(session, who.name, "unmute", "rule", rule.id, {"name": rule.name})
    session.flush()
    return rule_detail(session, rule_id)


def _end_mutes(session: Session, rule_id: str) -> None:
    at = clock.now()
    for mute in queries.mutes(session, rule_id):
        mute.ended_at = mute.ended_at or min(at, mute.until)
    session.flush()
    for alert_id in queries.silenced_alerts(session, rule_id, SILENCED, NOTIFIED):
        outbox.add(session, SILENCE_ENDED, alert_id)


def _locked_rule(session: Session, rule_id: str) -> AlertRule:
    rule = queries.lock_rule(session, rule_id)
    if rule is None:
        raise not_found("rule", rule_id)
    return rule


def _rules_out(session: Session, rules: Sequence[AlertRule]) -> list[AlertRuleOut]:
    versions = queries.versions_of(session, rules)
    people = queries.accounts(
        session, (version.owner_id for version in versions.values())
    )
    mutes = queries.mutes_in_force(session, clock.now())
    ended = queries.outcomes(session, [rule.id for rule in rules])
    return [
        AlertRuleOut.model_validate(
            {
                **_version_values(versions[rule.id], people),
                "id": rule.id,
                "name": rule.name,
                "mute": MuteOut.model_validate(mutes[rule.id])
                if rule.id in mutes
                else None,
                "precision": rule_sentences.precision_sentence(ended.get(rule.id, {})),
            }
        )
        for rule in rules
    ]


def _version_values(
    version: AlertRuleVersion, people: Mapping[str, Account]
) -> dict[str, object]:
    owner = people.get(version.owner_id or "")
    given = ("owner",)
    values = {
        name: getattr(version, name)
        for name in AlertRuleVersionOut.model_fields
        if name not in given
    }
    return {
        **values,
        "owner": None if owner is None else AccountOut.model_validate(owner),
    }
