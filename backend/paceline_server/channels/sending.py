"""Prepares the message of a delivery for its kind of channel, and turns the answer into an outcome.

Preparing reads everything that sending needs, so that no transaction is open while a message is sent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from paceline_server.channels import bounded_http, queries, signing
from paceline_server.channels.addresses import AddressPolicy
from paceline_server.channels.chat_messages import slack_message, templated_message
from paceline_server.channels.mail import MailAnswer, compose_mail, send_mail
from paceline_server.channels.notices import notice_of
from paceline_server.channels.plot_links import plot_url
from paceline_server.channels.webhook import webhook_body
from paceline_server.kernel import clock, settings
from paceline_server.kernel.settings import Settings
from paceline_server.store.tables.channels import Channel, Delivery

USER_AGENT = "Paceline"
BAD_REQUEST = 400
"""Slack's answer to a message with a picture that it cannot fetch."""


@dataclass(frozen=True)
class AttemptOutcome:
    """The outcome of an attempt, and the message that another one would send.

    `error`: why it was not delivered; None: it was, and `note` names recipients who did not get it. `blames_channel`:
    the receiver itself fails, not only for this message. `is_final`: another attempt would end the same.
    """

    payload: str
    at: datetime
    status: int | None
    answer: str
    latency_ms: float
    error: str | None
    note: str | None = None
    retry_after_s: float | None = None
    blames_channel: bool = True
    is_final: bool = False
    progress: dict[str, Any] | None = None


class Outgoing(Protocol):
    """A message that is ready to be sent."""

    def send(self) -> AttemptOutcome:
        """Send the message. It raises nothing for what a receiver does."""
        ...


@dataclass(frozen=True)
class OutgoingRequest:
    """A message to a URL. `plain_payload`: the message without its picture, if it has one. Later attempts send that if
    this one is refused or gets no answer, because the picture may be why."""

    url: str
    payload: str
    headers: dict[str, str]
    policy: AddressPolicy
    within_s: float
    plain_payload: str | None = None

    def send(self) -> AttemptOutcome:
        at = clock.now()
        answer = bounded_http.post(
            self.url,
            self.headers,
            self.payload.encode(),
            policy=self.policy,
            within_s=self.within_s,
        )
        error = answer.error if answer.status is None else _refusal(answer.status)
        without_picture = None
        if error is not None and answer.status in {BAD_REQUEST, None}:
            without_picture = self.plain_payload
        return AttemptOutcome(
            payload=without_picture or self.payload,
            at=at,
            status=answer.status,
            answer=answer.text,
            latency_ms=answer.latency_ms,
            error=error,
            retry_after_s=answer.retry_after_s,
            blames_channel=without_picture is None or answer.status is None,
        )


def _refusal(status: int) -> str | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return f"the receiver answered {status}; redirects are not followed"
    return f"the receiver answered {status}"


@dataclass(frozen=True)
class OutgoingMail:
    """An e-mail to the recipients whom the server has neither accepted nor refused yet."""

    settings: Settings
    source: str
    recipients: list[str]
    accepted: list[str]
    refused: dict[str, str]

    def send(self) -> AttemptOutcome:
        at = clock.now()
        answer = send_mail(self.settings, self.source, self.recipients)
        accepted = [*self.accepted, *answer.accepted]
        refused = self.refused | answer.refused
        return AttemptOutcome(
            payload=self.source,
            at=at,
            status=None,
            answer=_mail_words(answer),
            latency_ms=answer.latency_ms,
            error=_mail_error(answer, accepted),
            note=_words_of(refused) if refused else None,
            blames_channel=answer.error is not None
            or not (accepted or answer.deferred),
            is_final=answer.error is None and not answer.deferred,
            progress={"accepted": accepted, "refused": refused},
        )


def _mail_error(answer: MailAnswer, accepted: list[str]) -> str | None:
    if answer.error is not None:
        return answer.error
    if answer.deferred:
        return _words_of(answer.deferred)
    return None if accepted else _words_of(answer.refused)


def _mail_words(answer: MailAnswer) -> str:
    parts = [f"accepted for {recipient}" for recipient in answer.accepted]
    others = answer.deferred | answer.refused
    return "\n".join([*parts, _words_of(others)]).strip()


def _words_of(refusals: dict[str, str]) -> str:
    return "; ".join(f"{recipient}: {words}" for recipient, words in refusals.items())


def prepare_message(
    session: Session, channel: Channel, delivery: Delivery, at: datetime
) -> Outgoing:
    """Return the message of a delivery, ready to be sent."""
    if channel.kind == "email":
        return _prepare_mail(session, channel, delivery)
    return _prepare_request(session, channel, delivery, at)


def _prepare_request(
    session: Session, channel: Channel, delivery: Delivery, at: datetime
) -> OutgoingRequest:
    row = queries.notification(session, delivery.notification_id)
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    project = queries.project_name(session, channel.project_id)
    plain_payload = None
    if channel.kind == "webhook":
        payload = delivery.payload or webhook_body(
            notice_of(row), row.id, project, row.created_at
        )
        keys = queries.secrets_in_force(session, channel.id, at)
        headers |= signing.sign(keys, row.id, at, payload.encode())
    elif channel.kind == "slack":
        plain = _compact(slack_message(notice_of(row), project))
        payload = delivery.payload or _compact(
            slack_message(notice_of(row), project, plot_url(row))
        )
        plain_payload = None if payload == plain else plain
    else:
        payload = delivery.payload or _compact(
            templated_message(channel.template or {}, notice_of(row), project)
        )
    policy = AddressPolicy(
        settings.current().reachable_networks,
        allows_all=channel.origin == "environment",
    )
    within_s = settings.current().webhook_timeout_s
    return OutgoingRequest(
        channel.address, payload, headers, policy, within_s, plain_payload
    )


def _compact(message: dict[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _prepare_mail(
    session: Session, channel: Channel, delivery: Delivery
) -> OutgoingMail:
    row = queries.notification(session, delivery.notification_id)
    recipients = channel.address.split(", ")
    own = settings.current()
    source = delivery.payload or compose_mail(
        notice_of(row),
        row.id,
        queries.project_name(session, channel.project_id),
        own.smtp_from,
        recipients,
        row.created_at,
    )
    progress = {} if delivery.by_hand else delivery.progress or {}
    accepted = list(progress.get("accepted", []))
    refused = dict(progress.get("refused", {}))
    decided = {*accepted, *refused}
    waiting = [recipient for recipient in recipients if recipient not in decided]
    return OutgoingMail(own, source, waiting, accepted, refused)


def describe_receiver(channel: Channel) -> str:
    """Return a channel's receiver for a sentence, without the parts of its URL that may be secret."""
    if channel.kind == "email":
        return f"Its mail to {channel.address}"
    return f"Its receiver at {urlsplit(channel.address).hostname}"
