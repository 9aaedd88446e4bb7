"""Notifies people of a confirmed alert, once.

Handles the outbox topic `alerts.notify`, written in the transaction that opened the
alert. I13: only open alerts are notified, and none raised in shadow. Notifications, and
silence while the rule is muted, are recorded in the alert's history; when the mute
ends, people hear of what is still open. If a channel fails, the outbox tries again
later, so a channel must tolerate a repeat.

    alerts.notify ─▶ deliver ─┬─ told ─▶ "notified"
          ▲                   └─ muted ─▶ "silenced" ─ at its end ─▶ alerts.silence_ended ─▶ catch_up ─┐
          └─────────────────────────────────────────────────────── still open, and nobody heard ───────┘
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.channels.base import Channel, Notice
from paceline_server.alerts.channels.log import LogChannel
from paceline_server.alerts.channels.webhook import WebhookChannel
from paceline_server.alerts.explain import service as explain
from paceline_server.alerts.history import SYSTEM, add_event
from paceline_server.alerts.rules import service as rules
from paceline_server.alerts.topics import NOTIFY
from paceline_server.kernel import clock, settings
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert
from paceline_server.store.tables.rules import RuleMute


def configured_channels() -> list[Channel]:
    """The channels of this process, by its settings."""
    own = settings.current()
    webhook = (
        [WebhookChannel(own.webhook_url, own.webhook_timeout_s)]
        if own.webhook_url
        else []
    )
    return [LogChannel(), *webhook]


def deliver(session: Session, alert_id: str) -> list[str]:
    """Tell every channel of an open alert; names the channels told. Anything else is not worth a person's
    time.

    Runs in a read-only transaction: a slow receiver must not hold up the database's writer.
    """
    alert = queries.alert(session, alert_id)
    if (
        alert is None
        or not _is_worth_telling(alert)
        or rules.mute_in_force(session, alert.rule_id) is not None
    ):
        return []
    target = queries.spoken_name(session, alert.target_id)
    notice = Notice(
        alert_id=alert.id,
        title=alert.title,
        words=alert.words,
        explanation=explain.explain_briefly(session, alert, target).sentence,
        url=f"{settings.current().public_url or ''}/alerts/{alert.id}",
        demonstration=alert.demonstration,
    )
    for channel in (used := configured_channels()):
        channel.send(notice)
    return [channel.name for channel in used]


def record_delivery(session: Session, alert_id: str, told: list[str]) -> None:
    """Remember in the alert's history who was told, or why nobody was."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        return
    if told:
        add_event(session, alert, rules.NOTIFIED, SYSTEM, ", ".join(told))
    elif (
        _is_worth_telling(alert)
        and (mute := rules.mute_in_force(session, alert.rule_id)) is not None
    ):
        add_event(session, alert, rules.SILENCED, SYSTEM, rules.mute_words(mute))
        _wait_for_end_of_mute(session, alert, mute)


def notify_after_mute(session: Session, alert_id: str) -> None:
    """A mute ended: tell of the alert if it is still open, nobody heard meanwhile, and no other mute
    began."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or not _is_worth_telling(alert):
        return
    mute = rules.mute_in_force(session, alert.rule_id)
    if mute is not None:
        _wait_for_end_of_mute(session, alert, mute)
    elif (
        queries.newest_action(session, alert_id, (rules.SILENCED, rules.NOTIFIED))
        == rules.SILENCED
    ):
        outbox.add(session, NOTIFY, alert.id)


def _is_worth_telling(alert: Alert) -> bool:
    return alert.state in ("open", "acknowledged") and not alert.shadow


def _wait_for_end_of_mute(session: Session, alert: Alert, mute: RuleMute) -> None:
    left = (mute.until - clock.now()).total_seconds()
    outbox.add(session, rules.SILENCE_ENDED, alert.id, due_in_s=max(0.0, left))
