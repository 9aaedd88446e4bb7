"""Handlers of the outbox topics of alerts."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import notify, service
from paceline_server.alerts.lifecycle import CONFIRM, NOTIFY, PATIENCE
from paceline_server.alerts.rules.service import SILENCE_ENDED
from paceline_server.channels.service import Notice
from paceline_server.store.outbox import handle_topic, handle_topic_after_reading


@handle_topic_after_reading("alerts.evaluate", service.compute_confirmation)
def evaluate(session: Session, key: str, computed: Any) -> None:
    """A job ended. `key` is the job's id."""
    service.evaluate_job(session, key, computed)


@handle_topic("alerts.history")
def evaluate_points(session: Session, key: str) -> None:
    """A job's points were added to their series. `key` is the job's id."""
    service.evaluate_points(session, key)


@handle_topic(CONFIRM)
def confirm(session: Session, key: str) -> None:
    """The cool-down of a suspected alert is over. `key` is the alert's id."""
    service.request_confirmation(session, key)


@handle_topic(PATIENCE)
def stop_waiting_for_agent(session: Session, key: str) -> None:
    """An A/B run has waited long enough for an agent. `key` is `alert:run`."""
    service.stop_waiting_for_agent(session, key)


@handle_topic_after_reading(NOTIFY, notify.compose)
def tell(session: Session, key: str, notice: Notice | None) -> None:
    """An alert opened and people are told. `key` is the alert's id."""
    notify.tell(session, key, notice)


@handle_topic(SILENCE_ENDED)
def silence_ended(session: Session, key: str) -> None:
    """A mute ended during which an alert opened. `key` is the alert's id."""
    notify.notify_after_mute(session, key)
