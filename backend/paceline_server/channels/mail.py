"""Sends a notice as e-mail, in text and HTML, through the installation's SMTP server.

A server answers for each recipient: accepted ones are not written to again, deferred ones (greylisting) are tried
later, and refused ones are named in the log. `Message-ID` contains the event's id, so that a repeated message is
recognised.
"""

from __future__ import annotations

import html
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_string
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

import httpx

from paceline_server.channels.notices import Notice, Ratios
from paceline_server.channels.plot import draw_ratios, picture_size
from paceline_server.kernel.settings import Settings

SUBJECT_CHARACTERS = 200
PICTURE = "ratios@paceline"
"""Content-ID: the name by which the HTML shows the picture in its message."""


@dataclass(frozen=True)
class MailAnswer:
    """A server's answer. `accepted`, `deferred` and `refused`: recipients, the last two with the server's text;
    `error`: why it gave no answer about recipients."""

    accepted: list[str] = field(default_factory=list)
    deferred: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    latency_ms: float = 0.0


def compose_mail(  # noqa: PLR0917 - the parts of a message
    notice: Notice,
    notification_id: str,
    project: str,
    sender: str,
    recipients: Sequence[str],
    at: datetime,
) -> str:
    """Return the source of the message, which is the same for every attempt."""
    message = EmailMessage(policy=SMTP)
    marks = "".join(f"[{mark}] " for mark in (project, notice.severity.upper()) if mark)
    subject = " ".join(f"{marks}{notice.title}".split())
    message["Subject"] = subject[:SUBJECT_CHARACTERS]
    message["From"] = Address("Paceline", addr_spec=sender)
    message["To"] = [Address(addr_spec=recipient) for recipient in recipients]
    message["Date"] = format_datetime(at)
    message["Message-ID"] = f"<{notification_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(notice, project))
    message.add_alternative(_html(notice, project), subtype="html")
    message.set_boundary(f"=_{notification_id}")
    if notice.ratios is not None:
        _add_picture(message, notice.ratios, notification_id)
    return message.as_string()


def _add_picture(message: EmailMessage, ratios: Ratios, notification_id: str) -> None:
    """Put the picture beside the HTML that shows it, in a part of its own (RFC 2387)."""
    _, shown = message.iter_parts()
    picture = draw_ratios(ratios)
    shown.add_related(picture, "image", "png", cid=f"<{PICTURE}>", disposition="inline")
    shown.set_boundary(f"=_{notification_id}_related")


def _text(notice: Notice, project: str) -> str:
    measured = "" if notice.ratios is None else f"{notice.ratios.words}."
    links = [f"Open: {notice.url}"]
    links += [f"{link.label}: {link.url}" for link in notice.links]
    parts = [notice.title, notice.summary, notice.text, measured, "\n".join(links)]
    return "\n\n".join([*filter(None, parts), _facts(notice, project)]) + "\n"


def _html(notice: Notice, project: str) -> str:
    links = " &middot; ".join(
        f'<a href="{html.escape(url)}">{html.escape(label)}</a>'
        for label, url in (
            ("Open", notice.url),
            *((link.label, link.url) for link in notice.links),
        )
    )
    text = html.escape(notice.text).replace("\n", "<br>\n")
    picture = "" if notice.ratios is None else _picture(notice.ratios)
    return (
        '<!doctype html>\n<html lang="en"><body style="font-family: sans-serif">\n'
        f'<h1 style="font-size: 1.2em">{html.escape(notice.title)}</h1>\n'
        f"<p><strong>{html.escape(notice.summary)}</strong></p>\n<p>{text}</p>\n{picture}<p>{links}</p>\n"
        f'<p style="color: #666">{html.escape(_facts(notice, project))}</p>\n</body></html>\n'
    )


def _picture(ratios: Ratios) -> str:
    width, height = picture_size(ratios)
    return (
        f'<p><img src="cid:{PICTURE}" width="{width}" height="{height}" alt="{html.escape(ratios.words)}"><br>\n'
        f"<small>{html.escape(ratios.legend)}</small></p>\n"
    )


def _facts(notice: Notice, project: str) -> str:
    facts = [
        f"project {project}",
        notice.severity,
        notice.suite and f"suite {notice.suite}",
        notice.target and f"target {notice.target}",
        notice.branch and f"branch {notice.branch}",
        "demonstration" if notice.demonstration else None,
    ]
    return ", ".join(fact for fact in facts if fact)


def send_mail(settings: Settings, source: str, recipients: Sequence[str]) -> MailAnswer:
    """Send a message and return the answer for each recipient. It raises nothing for what the server does."""
    began = time.monotonic()
    message = message_from_string(source, policy=SMTP)
    try:
        with _connection(settings) as smtp:
            refused = smtp.send_message(
                message,
                settings.smtp_from,
                list(recipients),
            )
    except smtplib.SMTPRecipientsRefused as error:
        refused = error.recipients
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        latency_ms = (time.monotonic() - began) * 1000
        return MailAnswer(error=_error_text(error), latency_ms=latency_ms)
    return _answer_of(recipients, refused, (time.monotonic() - began) * 1000)


def _answer_of(
    recipients: Sequence[str],
    refused: Mapping[str, tuple[int, bytes]],
    latency_ms: float,
) -> MailAnswer:
    words = {
        recipient: f"{code} {text.decode('utf-8', 'replace')}"[:500]
        for recipient, (code, text) in refused.items()
    }
    is_temporary = {
        recipient: 400 <= code < 500 for recipient, (code, _) in refused.items()
    }
    return MailAnswer(
        accepted=[recipient for recipient in recipients if recipient not in refused],
        deferred={key: words[key] for key in words if is_temporary[key]},
        refused={key: words[key] for key in words if not is_temporary[key]},
        latency_ms=latency_ms,
    )


@contextmanager
def _connection(settings: Settings) -> Iterator[smtplib.SMTP]:
    """Open a connection to the installation's mail server, which is closed when the time of a request is over."""
    host, within_s = settings.smtp_host or "", settings.webhook_timeout_s
    context = httpx.create_ssl_context()
    with (
        smtplib.SMTP_SSL(host, settings.smtp_port, timeout=within_s, context=context)
        if settings.smtp_security == "tls"
        else smtplib.SMTP(host, settings.smtp_port, timeout=within_s)
    ) as smtp:
        ending = threading.Timer(within_s, _shut_down, [smtp])
        ending.start()
        try:
            if settings.smtp_security == "starttls":
                smtp.starttls(context=context)
            if settings.smtp_user is not None:
                smtp.login(settings.smtp_user, settings.smtp_password or "")
            yield smtp
        finally:
            ending.cancel()


def _shut_down(smtp: smtplib.SMTP) -> None:
    """Shut the connection down, because a server may send each line in time and still never end."""
    if smtp.sock is not None:
        try:
            smtp.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # The connection has ended already.


def _error_text(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error
        text = (
            answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
        )
        return f"the mail server answered {error.smtp_code} {text}"[:500]
    if isinstance(error, UnicodeError):
        # Python's text has the character, which may be one of the password.
        return "the mail server's name, the user or the password has a character that SMTP cannot send"
    if isinstance(error, ssl.SSLError):
        return f"no TLS with the mail server: {error.reason or error}"[:500]
    return f"the mail server cannot be used: {error}"[:500]
