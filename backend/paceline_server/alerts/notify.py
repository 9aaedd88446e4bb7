"""Tells people of a confirmed alert, once.

Only open alerts are notified, and none raised in shadow (I13). While a rule is muted the
alert's history records the silence; alerts still open when the mute ends are notified
then. Channels send the notice and repeat what fails.

    alerts.notify ─▶ compose ─▶ tell ─┬─ published ─▶ "notified"
          ▲                           └─ muted ─▶ "silenced" ─ at its end ─▶ alerts.silence_ended ─▶ notify_after_mute ─┐
          └──────────────────────────────────────────────────────────── still open, and nobody heard ───────────────────┘
"""

from __future__ import annotations

import structlog
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.evidence import explain_alert
from paceline_server.alerts.lifecycle import NOTIFY, SYSTEM, add_event
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.rules import service as rules
from paceline_server.channels import service as channels
from paceline_server.channels.service import Link, Notice
from paceline_server.kernel import clock, settings
from paceline_server.store import outbox
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.rules import RuleMute

log = structlog.get_logger("paceline.alerts")


def compose(session: Session, alert_id: str) -> Notice | None:
    """Return the notice of an open alert. Reads only: its evidence may be long."""
    alert = queries.alert(session, alert_id)
    if alert is None or not _is_worth_telling(alert):
        return None
    target = queries.spoken_name(session, alert.target_id)
    where = settings.current().public_url or ""
    return Notice(
        kind="alert.opened",
        severity=_severity(alert),
        subject_id=alert.id,
        state=alert.state,
        title=alert.title,
        summary=alert.words,
        text=explain_alert(session, alert, target),
        url=f"{where}/alerts/{alert.id}",
        suite=alert.suite,
        target_id=alert.target_id,
        target=target,
        branch=queries.branch_of_run(session, alert.run_id),
        demonstration=alert.demonstration,
        links=(
            Link("Run", f"{where}/runs/{alert.run_id}"),
            Link("Target", f"{where}/targets/{alert.target_id}"),
        ),
    )


def _severity(alert: Alert) -> channels.Severity:
    """Critical is what a change of code has to answer for; what a target did is a warning."""
    if alert.demonstration:
        return "info"
    blames_code = kind_of(alert.kind).blames_code or alert.cause == "code"
    return "critical" if blames_code else "warning"


def tell(session: Session, alert_id: str, notice: Notice | None) -> None:
    """Publish the notice of an alert, or record in its history that its rule is muted."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or notice is None or not _is_worth_telling(alert):
        return
    mute = rules.mute_in_force(session, alert.rule_id)
    if mute is not None:
        add_event(session, alert, rules.SILENCED, SYSTEM, rules.mute_words(mute))
        _wait_for_end_of_mute(session, alert, mute)
        return
    log.warning(
        "alert_open", alert_id=alert.id, title=notice.title, words=notice.summary
    )
    told = ["log", *channels.publish(session, notice)]
    add_event(session, alert, rules.NOTIFIED, SYSTEM, ", ".join(told))


def notify_after_mute(session: Session, alert_id: str) -> None:
    """Notify people of an alert whose rule's mute ended, unless it is closed, was notified meanwhile or is
    muted again."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or not _is_worth_telling(alert):
        return
    mute = rules.mute_in_force(session, alert.rule_id)
    if mute is not None:
        _wait_for_end_of_mute(session, alert, mute)
        return
    last = queries.last_event(session, alert_id, (rules.SILENCED, rules.NOTIFIED))
    if last is not None and last.action == rules.SILENCED:
        outbox.add(session, NOTIFY, alert.id)


def _is_worth_telling(alert: Alert) -> bool:
    return alert.state in ("open", "acknowledged") and not alert.shadow


def _wait_for_end_of_mute(session: Session, alert: Alert, mute: RuleMute) -> None:
    left = (mute.until - clock.now()).total_seconds()
    outbox.add(session, rules.SILENCE_ENDED, alert.id, due_in_s=max(0.0, left))
