"""E-mail through a real SMTP server: STARTTLS, greylisting, one of two recipients refused."""

from __future__ import annotations

import html
import ssl
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.channels.notices import Ratios
from paceline_server.channels.plot import RED
from paceline_server.kernel import settings as process_settings
from paceline_server.store import outbox

pytestmark = pytest.mark.shapes("embedded")
ChannelLab = Any
ALICE, BOB = "alice@example.org", "bob@example.org"


@dataclass
class MailServer:
    """Keeps messages. `answers`: the next answers to `RCPT` of an address, then 250."""

    port: int = 0
    messages: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    answers: dict[str, list[str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    is_encrypted: list[bool] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's names
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        self.asked[address] += 1
        if self.answers.get(address):
            return self.answers[address].pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, _: SMTP, session: Session, envelope: Envelope
    ) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        self.messages.append((list(envelope.rcpt_tos), message))
        self.is_encrypted.append(session.ssl is not None)
        return "250 OK"


def accept(
    _: SMTP, __: Session, ___: Envelope, mechanism: str, data: Any
) -> AuthResult:
    given = (mechanism, data.login, data.password)
    return AuthResult(success=given[1:] == (b"paceline", b"secret"), handled=False)


@pytest.fixture
def mail_server(
    lab: ChannelLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int
) -> Iterator[MailServer]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server = MailServer(port)
    controller = Controller(
        server,
        hostname="127.0.0.1",
        port=server.port,
        ready_timeout=WITHIN_S,
        tls_context=context,
        require_starttls=True,
        auth_require_tls=True,
        auth_required=True,
        authenticator=accept,
    )
    controller.start()
    use(
        smtp_host="localhost",
        smtp_port=server.port,
        smtp_from="paceline@example.net",
        smtp_user="paceline",
        smtp_password="secret",
    )
    yield server
    controller.stop()


def use(**changes: Any) -> None:
    own = process_settings.current()
    process_settings.set_current(own.model_copy(update=changes))


def make(lab: ChannelLab, *recipients: str) -> dict[str, Any]:
    body = {"name": "mail", "kind": "email", "recipients": list(recipients)}
    return dict(lab.call("post", "/channels", body, status=201)["channel"])


def test_a_message_has_text_and_html_and_goes_over_tls(
    lab: ChannelLab, mail_server: MailServer
) -> None:
    channel = make(lab, ALICE, BOB)
    lab.publish("native <b>slower</b>\r\nBcc: x@evil.example")
    outbox.drain()
    [(recipients, message)] = mail_server.messages
    assert recipients == [ALICE, BOB]
    assert mail_server.is_encrypted == [True]
    assert message["From"] == "Paceline <paceline@example.net>"
    assert message["Subject"].startswith(
        "[default] [CRITICAL] native <b>slower</b> Bcc:"
    )
    assert message["Bcc"] is None
    [delivery] = lab.deliveries(channel["id"])
    assert message["Message-ID"] == f"<{delivery['notification_id']}@example.net>"
    plain, rich = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert rich is not None
    for part in (plain.get_content(), rich.get_content()):
        assert "12.6 % slower" in part
        assert "https://paceline.example/alerts/alt_1" in part
    assert "<b>slower" not in rich.get_content()
    assert delivery["state"] == "delivered"


def test_the_launches_of_an_alert_are_drawn_in_the_message_and_told_in_words(
    lab: ChannelLab, mail_server: MailServer
) -> None:
    """The picture is the decoded bytes' own: a red line at the limit, and a red dot right of it."""
    make(lab, ALICE)
    about = 'native in "sort" & co: native ÷ fallback'
    lab.publish(ratios=Ratios(about, (0.9, 1.0, 1.4), 1.2))
    outbox.drain()
    [(_, message)] = mail_server.messages
    plain, related = message.iter_parts()
    words = f"{about}, launch by launch: 0.9, 1, 1.4; the limit is 1.2"
    assert f"{words}." in plain.get_content().splitlines()
    assert related.get_content_type() == "multipart/related"
    shown, picture = related.iter_parts()
    assert picture.get_content_disposition() == "inline"
    assert f'src="cid:{picture["Content-ID"][1:-1]}"' in shown.get_content()
    assert f'alt="{html.escape(words)}"' in shown.get_content()

    data = picture.get_content()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    compressed = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    rows = np.frombuffer(zlib.decompress(compressed), np.uint8).reshape(height, -1)
    pixels = rows[:, 1:].reshape(height, width, 3)
    is_red = (pixels == RED).all(axis=2)
    limit = np.flatnonzero(is_red[0])
    assert limit.size, "the line of the limit reaches the edge"
    beyond = np.argwhere(is_red[:, limit.max() + 2 :])
    assert (beyond[:, 0] > height / 2).all(), "only the third of three launches is slow"
    assert beyond.size


def test_a_recipient_who_is_put_off_is_written_to_again_alone(
    lab: ChannelLab, mail_server: MailServer
) -> None:
    mail_server.answers[BOB] = ["450 4.7.1 Greylisted", "451 4.7.1 Greylisted"]
    channel = make(lab, ALICE, BOB)
    lab.publish()
    outbox.drain()
    assert lab.channel(channel["id"])["state"] == "healthy"
    [delivery] = lab.deliveries(channel["id"])
    assert delivery["state"] == "pending"
    for _ in range(2):
        lab.clock.advance(60)
        outbox.drain()
    first, second = mail_server.messages
    assert (first[0], second[0]) == ([ALICE], [BOB])
    assert first[1].as_bytes() == second[1].as_bytes()
    assert mail_server.asked == {ALICE: 1, BOB: 3}
    log = lab.detail(delivery["id"])
    assert log["state"] == "delivered"
    assert "Greylisted" in log["log"][0]["error"]


def test_a_recipient_who_is_refused_keeps_no_other_from_the_message(
    lab: ChannelLab, mail_server: MailServer
) -> None:
    mail_server.answers[BOB] = ["550 5.1.1 No such user"]
    channel = make(lab, ALICE, BOB)
    lab.publish()
    outbox.drain()
    lab.clock.advance(3600)
    outbox.drain()
    [(recipients, _)] = mail_server.messages
    assert recipients == [ALICE]
    assert mail_server.asked == {ALICE: 1, BOB: 1}
    [delivery] = lab.deliveries(channel["id"])
    assert delivery["state"] == "delivered"
    assert delivery["reason"] == f"{BOB}: 550 5.1.1 No such user"


def test_a_message_that_everybody_refuses_is_not_sent_again(
    lab: ChannelLab, mail_server: MailServer
) -> None:
    mail_server.answers[ALICE] = ["550 5.1.1 No such user"]
    channel = make(lab, ALICE)
    lab.publish()
    outbox.drain()
    lab.clock.advance(3600)
    outbox.drain()
    [delivery] = lab.deliveries(channel["id"])
    assert (delivery["state"], mail_server.asked[ALICE]) == ("failed", 1)
    assert lab.channel(channel["id"])["state"] == "failing"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"smtp_password": "wrong"}, "535", id="wrong password"),
        pytest.param(
            {"smtp_host": "127.0.0.1"}, "CERTIFICATE_VERIFY_FAILED", id="another name"
        ),
        pytest.param({"smtp_security": "none"}, "AUTH", id="no TLS"),
        pytest.param({"smtp_port": 1}, "refused", id="nobody there"),
        pytest.param(
            {"smtp_password": "s\N{LATIN SMALL LETTER E WITH ACUTE}"},
            "a character that SMTP cannot send",
            id="password beyond ASCII",
        ),
        pytest.param(
            {"smtp_host": "a..b"}, "a character that SMTP cannot send", id="no name"
        ),
    ],
)
def test_a_server_that_cannot_be_used_is_tried_later_and_says_why(
    lab: ChannelLab, mail_server: MailServer, changes: dict[str, Any], error: str
) -> None:
    channel = make(lab, ALICE)
    before = process_settings.current()
    use(**changes)
    lab.publish()
    outbox.drain()
    state = lab.channel(channel["id"])
    assert state["state"] == "failing"
    assert error in state["last_error"]
    process_settings.set_current(before)
    lab.clock.advance(3600)
    outbox.drain()
    assert len(mail_server.messages) == 1
    assert lab.channel(channel["id"])["state"] == "healthy"


def test_without_a_mail_server_no_channel_is_made(lab: ChannelLab) -> None:
    body = {"name": "mail", "kind": "email", "recipients": [ALICE]}
    refused = lab.call("post", "/channels", body, status=409)
    assert refused["code"] == "no_mail_server"


@pytest.mark.parametrize("address", ["alice", "a@b@c", "a b@c.de", "<a@b.de>", "a@b\n"])
def test_what_is_no_e_mail_address_is_refused(lab: ChannelLab, address: str) -> None:
    body = {"name": "mail", "kind": "email", "recipients": [address]}
    lab.call("post", "/channels", body, status=422)
