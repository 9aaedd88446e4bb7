"""Saves, lists, deletes and mutes rules; `rule_book` finds the one that decides about a finding.

A saved version never changes, and every write adds an entry to the audit log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlalchemy.orm import Session

from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts import queries
from paceline_server.alerts.lifecycle import (
    NOTIFIED,
    SILENCE_ENDED,
    SILENCED,
    add_event,
    show_alert,
)
from paceline_server.alerts.registry import kind_of, rule_kind_names
from paceline_server.alerts.rules import rule_checks
from paceline_server.alerts.rules.rule_book import (
    RuleSubject,
    default_rule,
    mute_in_force,
    rule_for,
)
from paceline_server.alerts.rules.schemas import (
    AlertRuleDetailOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRuleUpdateIn,
    AlertRuleVersionOut,
    Mode,
    MuteIn,
    MuteOut,
    ShippedRuleOut,
)
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.kernel.globs import ANY
from paceline_server.kernel.wire import Page
from paceline_server.store import audit, outbox
from paceline_server.store.page import page
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
MUTED = "muted"
"""The event of an alert whose rule a person muted from the alert."""


def list_rules(
    session: Session,
    *,
    kind: str | None,
    mode: Mode | None,
    limit: int,
    cursor: str | None,
) -> Page[AlertRuleOut]:
    """Return rules by name."""
    rules: Page[AlertRule] = page(
        session,
        queries.rules(kind, mode),
        [AlertRule.name],
        lambda row: [row.name],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(items=_rules_out(session, rules.items), next=rules.next)


def list_shipped_rules(session: Session) -> Page[ShippedRuleOut]:
    """Return the rules of the announced suites' manifests, by suite, and the built-in ones."""
    of_suites = [
        ShippedRuleOut(
            suite=suite.name,
            name=rule.name,
            kind=rule.kind,
            text=rule.text,
            benchmark=rule.benchmark,
            arms=rule.arms,
            metric=rule.metric or manifest.benchmarks[rule.benchmark].primary_metric,
        )
        for suite in queries.suites(session)
        for manifest in (read_manifest(suite.manifest),)
        for rule in manifest.arm_rules()
    ]
    built_in = [
        ShippedRuleOut(
            suite=None,
            name=rule.name,
            kind=kind,
            text=rule.text,
            benchmark=None,
            arms=[],
            metric=None,
        )
        for kind in rule_kind_names()
        for rule in (kind_of(kind).built_in_rules[kind],)
    ]
    return Page(items=[*of_suites, *built_in], next=None)


def rule_detail(session: Session, rule_id: str) -> AlertRuleDetailOut:
    """Return a rule with the highest noise floor among its series and its mutes. Raises 404."""
    rule = queries.rule(session, rule_id)
    if rule is None:
        raise not_found("rule", rule_id)
    session.flush()
    out = _rules_out(session, [rule])[0]
    version = queries.present_versions(session, [rule])[rule_id]
    spec = _spec_of(version, rule.name)
    in_force = queries.newest_versions(session, out.kind)
    floor = rule_checks.noisiest_floor(
        session, rule_checks.build_contest(spec, rule_id, version.created_at, in_force)
    )
    mutes = [
        MuteOut.model_validate(mute) for mute in queries.mutes_of_rule(session, rule_id)
    ]
    return AlertRuleDetailOut(**out.model_dump(), floor=floor, mutes=mutes)


def list_versions(
    session: Session, rule_id: str, *, limit: int, cursor: str | None
) -> Page[AlertRuleVersionOut]:
    """Return the versions of a rule, the newest first. Raises 404."""
    if queries.rule(session, rule_id) is None:
        raise not_found("rule", rule_id)
    versions: Page[AlertRuleVersion] = page(
        session,
        queries.versions_of_rule(rule_id),
        [AlertRuleVersion.version],
        lambda row: [row.version],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    people = queries.accounts(session, (item.owner_id for item in versions.items))
    items = [
        AlertRuleVersionOut.model_validate(_version_values(item, people))
        for item in versions.items
    ]
    return Page(items=items, next=versions.next)


_CONTENT = (
    "kind",
    "suite",
    "benchmark",
    "arm",
    "metric",
    "target",
    "min_effect",
    "direction",
    "mode",
    "period_hours",
    "text",
    "comment",
    "owner_id",
)


def create_rule(
    session: Session, spec: AlertRuleIn, who: Principal
) -> AlertRuleDetailOut:
    """Save a new rule; a rule with a deleted rule's name continues its versions.

    Raises 409 when the name is taken, 400 for an unknown owner, 422 `below_noise_floor`.
    """
    rule = queries.lock_rule_named(session, spec.name)
    if rule is not None and rule.deleted_at is None:
        raise _name_taken(spec.name)
    if rule is None:
        rule = AlertRule(
            id=ids.new_id("rul"), version=0, created_at=clock.now(), deleted_at=None
        )
        _save_name(session, rule, spec.name)
    rule.deleted_at = None
    return _save_version(session, rule, spec, who)


def update_rule(
    session: Session, rule_id: str, spec: AlertRuleUpdateIn, who: Principal
) -> AlertRuleDetailOut:
    """Save a new version. Raises 404; 409 when another was saved meanwhile or the name is taken; 400 and 422 as
    `create_rule`."""
    rule = _locked_rule(session, rule_id)
    if rule.version != spec.based_on:
        raise conflict(
            f"Rule {rule.name} is at version {rule.version} by now, this was made from version "
            f"{spec.based_on}: look at what changed and save again."
        )
    if rule.name != spec.name:
        _save_name(session, rule, spec.name)
    return _save_version(session, rule, spec, who)


def _save_name(session: Session, rule: AlertRule, name: str) -> None:
    """Name a new or renamed rule. Raises 409 when another rule has the name."""
    try:
        with session.begin_nested():
            rule.name = name
            session.add(rule)
            session.flush()
    except IntegrityError:
        raise _name_taken(name) from None


def _name_taken(name: str) -> Exception:
    return conflict(
        f"There is, or was, a rule {name!r} already: save a new version of it, or another name."
    )


def _save_version(
    session: Session, rule: AlertRule, spec: AlertRuleIn, who: Principal
) -> AlertRuleDetailOut:
    if spec.owner_id is not None and queries.account(session, spec.owner_id) is None:
        raise invalid_request(
            f"There is no account {spec.owner_id!r}.", {"owner_id": "no such account"}
        )
    at = clock.now()
    in_force = queries.newest_versions(session, spec.kind)
    rule_checks.refuse_below_noise(
        session, spec, rule_checks.build_contest(spec, rule.id, at, in_force)
    )
    before = queries.present_versions(session, [rule]).get(rule.id)
    owner = spec.owner_id or (who.account_id if before is None else before.owner_id)
    content = {name: getattr(spec, name) for name in _CONTENT}
    content.update(owner_id=owner, text=_rule_text(spec, rule.name, before))
    rule.version += 1
    session.add(
        AlertRuleVersion(
            rule_id=rule.id,
            version=rule.version,
            created_by=who.name,
            created_at=at,
            **content,
        )
    )
    if before is not None and (before.mode, spec.mode) == ("shadow", "active"):
        for alert in queries.lock_shadows(session, rule.id):
            show_alert(session, alert)
    changed = {
        name: content[name]
        for name in _CONTENT
        if before is None or getattr(before, name) != content[name]
    }
    detail = {"name": rule.name, "version": rule.version, "changed": changed}
    audit.record(session, who.name, "save", "rule", rule.id, detail)
    session.flush()
    return rule_detail(session, rule.id)


def _rule_text(spec: AlertRuleIn, name: str, before: AlertRuleVersion | None) -> str:
    """Return the text of a version; a generated sentence is generated again, so that it follows the numbers."""
    text = spec.text.strip()
    if before is not None and text == before.text == rule_checks.rule_sentence(
        _spec_of(before, name)
    ):
        text = ""
    return text or rule_checks.rule_sentence(spec)


def _spec_of(version: AlertRuleVersion, name: str) -> AlertRuleIn:
    return AlertRuleIn.model_construct(
        **{field: getattr(version, field) for field in _CONTENT}, name=name
    )


def delete_rule(session: Session, rule_id: str, who: Principal) -> None:
    """Delete a rule; its versions stay, because alerts name them. Raises 404."""
    rule = _locked_rule(session, rule_id)
    rule.deleted_at = clock.now()
    _end_mutes(session, rule_id, clock.now())
    _notify_silenced(session, rule_id)
    detail = {"name": rule.name, "version": rule.version}
    audit.record(session, who.name, "delete", "rule", rule.id, detail)


def mute_rule(
    session: Session, rule_id: str, spec: MuteIn, who: Principal
) -> AlertRuleDetailOut:
    """Mute a rule for some hours, replacing a mute in force. Raises 404."""
    rule = _locked_rule(session, rule_id)
    at = clock.now()
    _end_mutes(session, rule_id, at)
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


def can_be_muted(session: Session, alert: Alert) -> bool:
    """Return whether the rule behind an alert is stored, or one can be made that decides about it alone."""
    return _kind_of_rules(alert) in rule_kind_names() and (
        _has_stored_rule(session, alert) or _find_subject(session, alert) is not None
    )


def _has_stored_rule(session: Session, alert: Alert) -> bool:
    return (
        alert.rule_id is not None and queries.rule(session, alert.rule_id) is not None
    )


def _find_subject(session: Session, alert: Alert) -> RuleSubject | None:
    """Return what rules match of an alert; None if it names no target or agent, as a schedule that may run on any, or
    one that the project no longer has. A rule about it would decide about others, too."""
    try:
        subject = kind_of(alert.kind).rule_subject(session, alert)
    except NoResultFound:
        return None
    return subject if subject.target else None


def _kind_of_rules(alert: Alert) -> str:
    """Return the kind of the rules that decide about an alert: changes by an environment have those of history."""
    return str(alert.rule.get("kind", alert.kind))


def mute_rule_of_alert(
    session: Session, alert: Alert, spec: MuteIn, who: Principal
) -> None:
    """Mute the rule behind a locked alert. Where no stored rule decides, make one that decides as the built-in one
    does, about what this alert is about and nothing else. Raises 409 where there is none and none can be made."""
    if not can_be_muted(session, alert):
        raise conflict(
            "No rule decides about this alert alone, so none can be muted: mute a channel instead, or triage the alert."
        )
    if not _has_stored_rule(session, alert):
        _give_stored_rule(session, alert, who)
    muted = mute_rule(session, str(alert.rule_id), spec, who)
    until = f"{muted.mute.until:%Y-%m-%d %H:%M} UTC" if muted.mute else ""
    note = f"rule {muted.name} until {until}: {spec.reason}"
    add_event(session, alert, MUTED, who.name, note)


def _give_stored_rule(session: Session, alert: Alert, who: Principal) -> None:
    """Put an alert under the stored rule that decides about it now, made here if there is none."""
    kind = _kind_of_rules(alert)
    subject = kind_of(alert.kind).rule_subject(session, alert)
    rule = rule_for(session, kind, subject)
    if rule.rule_id is None:
        create_rule(session, _rule_for_alert(session, alert, subject), who)
        rule = rule_for(session, kind, subject)
        rule = replace(rule, text=f"{alert.rule['text']} {rule.text}")
    alert.rule_id, alert.rule_version = rule.rule_id, rule.version
    alert.rule = rule.as_evidence()


def _rule_for_alert(
    session: Session, alert: Alert, subject: RuleSubject
) -> AlertRuleIn:
    """Return the rule that decides about the subject of an alert alone, as the built-in one does, or from the noise
    floor on where that is higher."""
    kind = _kind_of_rules(alert)
    about = "-".join(
        part
        for part in (subject.benchmark or subject.suite, subject.arm, subject.target)
        if part
    )
    spec = AlertRuleIn(
        name=f"mute-{_NOT_IN_NAMES.sub('-', about.lower())[:48]}-{alert.id[-6:]}",
        kind=kind,
        min_effect=default_rule(kind).min_effect,
        text="It was made to mute this measurement alone.",
        comment=f"to mute {alert.title}"[:200],
        suite=subject.suite or ANY,
        benchmark=subject.benchmark or ANY,
        arm=subject.arm or ANY,
        metric=subject.metric or ANY,
        target=subject.target or ANY,
        period_hours=alert.rule.get("period_hours"),
    )
    contest = rule_checks.build_contest(
        spec, None, clock.now(), queries.newest_versions(session, kind)
    )
    floor = rule_checks.noisiest_floor(session, contest)
    if kind != "history" or floor is None or floor.mde <= spec.min_effect:
        return spec
    return spec.model_copy(update={"min_effect": floor.mde})


def unmute_rule(session: Session, rule_id: str, who: Principal) -> AlertRuleDetailOut:
    """End the mute now and notify people of alerts that are still open. Raises 404; 409 when it is not muted."""
    rule = _locked_rule(session, rule_id)
    if mute_in_force(session, rule_id) is None:
        raise conflict(f"Rule {rule.name} is not muted.")
    _end_mutes(session, rule_id, clock.now())
    _notify_silenced(session, rule_id)
    audit.record(session, who.name, "unmute", "rule", rule.id, {"name": rule.name})
    session.flush()
    return rule_detail(session, rule_id)


def _end_mutes(session: Session, rule_id: str, at: datetime) -> None:
    for mute in queries.mutes_of_rule(session, rule_id):
        mute.ended_at = mute.ended_at or min(at, mute.until)
    session.flush()


def _notify_silenced(session: Session, rule_id: str) -> None:
    for alert_id in queries.silenced_alerts(session, rule_id, SILENCED, NOTIFIED):
        outbox.add(session, SILENCE_ENDED, alert_id)


def _locked_rule(session: Session, rule_id: str) -> AlertRule:
    rule = queries.rule(session, rule_id, lock=True)
    if rule is None:
        raise not_found("rule", rule_id)
    return rule


def _rules_out(session: Session, rules: Sequence[AlertRule]) -> list[AlertRuleOut]:
    versions = queries.present_versions(session, rules)
    people = queries.accounts(
        session, (version.owner_id for version in versions.values())
    )
    mutes = queries.mutes_in_force(session, clock.now())
    ended = queries.count_alerts_by_rule(session, [rule.id for rule in rules])
    return [
        AlertRuleOut.model_validate(
            {
                **_version_values(versions[rule.id], people),
                "id": rule.id,
                "name": rule.name,
                "mute": MuteOut.model_validate(mutes[rule.id])
                if rule.id in mutes
                else None,
                "precision": rule_checks.precision_out(ended.get(rule.id, {})),
            }
        )
        for rule in rules
    ]


def _version_values(
    version: AlertRuleVersion, people: Mapping[str, Account]
) -> dict[str, object]:
    owner = people.get(version.owner_id or "")
    values = {
        name: getattr(version, name)
        for name in AlertRuleVersionOut.model_fields
        if name != "owner"
    }
    return values | {
        "owner": None if owner is None else AccountOut.model_validate(owner)
    }
