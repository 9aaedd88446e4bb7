"""Handlers of the outbox topics of alerts."""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import notify, service
from paceline_server.alerts.changes import service as changes
from paceline_server.alerts.rules.service import SILENCE_ENDED
from paceline_server.alerts.topics import PATIENCE
from paceline_server.channels.service import Notice
from paceline_server.store.outbox import handle_topic, handle_topic_after_reading
from paceline_server.store.tables.history import PolicyAdvice


@handle_topic_after_reading("alerts.evaluate", service.advise_again)
def evaluate(session: Session, key: str, advised: list[PolicyAdvice]) -> None:
    """Raise, decide or close alerts after a job ended. `key` is the job's id."""
    service.evaluate(session, key, advised)


@handle_topic(service.CONFIRM)
def confirm(session: Session, key: str) -> None:
    """The cool-down of a candidate is over. `key` is the alert's id."""
    service.start_confirmation(session, key)


@handle_topic("alerts.history")
def history(session: Session, key: str) -> None:
    """A job's points were added to their series. `key` is the job's id."""
    changes.evaluate(session, key)


@handle_topic(PATIENCE)
def stop_waiting_for_agent(session: Session, key: str) -> None:
    """An A/B run has waited long enough for an agent. `key` is `alert:run`."""
    changes.stop_waiting_for_agent(session, key)


@handle_topic_after_reading(service.NOTIFY, notify.compose)
def tell(session: Session, key: str, notice: Notice | None) -> None:
    """An alert was confirmed and people are told. `key` is the alert's id."""
    notify.tell(session, key, notice)


@handle_topic(SILENCE_ENDED)
def silence_ended(session: Session, key: str) -> None:
    """A mute ended during which an alert opened. `key` is the alert's id."""
    notify.notify_after_mute(session, key)
