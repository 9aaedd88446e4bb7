"""A request to a stranger's server ends in time and size, whatever that server does, and goes to allowed addresses."""

from __future__ import annotations

import ipaddress
import itertools
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme
from paceline_server.channels import bounded_http
from paceline_server.channels.addresses import Address, AddressPolicy
from paceline_server.channels.bounded_http import HttpAnswer
from paceline_server.testing import receiver as behaviours
from paceline_server.testing.receiver import Receiver, answering, receiving

LOOPBACK = AddressPolicy((ipaddress.IPv4Network("127.0.0.1/32"),))
SHORT_S = 0.5
LONG_S = 100.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def post(url: str, within_s: float = LONG_S) -> HttpAnswer:
    return bounded_http.post(url, {}, b"{}", policy=LOOPBACK, within_s=within_s)


def test_an_answer_is_kept_with_its_status_and_beginning(receiver: Receiver) -> None:
    receiver.behaviours.append(answering(202, b"thanks " * 1000))
    answer = post(receiver.url)
    assert (answer.status, answer.error) == (202, None)
    assert answer.text == ("thanks " * 1000)[: bounded_http.ANSWER_BYTES]
    assert answer.latency_ms > 0
    assert receiver.received[0].path == "/hook?team=1"


@pytest.mark.parametrize("behaviour", [behaviours.hang, behaviours.trickle_headers])
def test_a_receiver_that_hangs_or_trickles_ends_at_the_deadline(
    receiver: Receiver, behaviour: behaviours.Behaviour
) -> None:
    receiver.behaviours.append(behaviour)
    answer = post(receiver.url, SHORT_S)
    assert (answer.status, answer.error) == (None, "no answer within 0.5 s")
    assert not receiver.let_go.is_set()


def test_a_status_counts_although_its_body_never_ends(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second passes with each look at the clock, so that the status is always in time and the body never."""
    clock = SimpleNamespace(monotonic=itertools.count().__next__)
    monkeypatch.setattr(bounded_http, "time", clock)
    receiver.behaviours.append(behaviours.trickle_body)
    answer = post(receiver.url, within_s=20)
    assert (answer.status, answer.error) == (200, None)


def test_a_connection_that_closes_early_is_an_error(receiver: Receiver) -> None:
    receiver.behaviours.append(behaviours.close_early)
    answer = post(receiver.url)
    assert answer.status is None
    assert "disconnected" in str(answer.error)


def test_ten_megabytes_are_not_read(receiver: Receiver) -> None:
    receiver.behaviours.append(behaviours.flood_body)
    answer = post(receiver.url)
    assert (answer.status, len(answer.text)) == (200, bounded_http.ANSWER_BYTES)
    assert receiver.sent_bytes < 10_000_000


def test_headers_without_end_are_not_read(receiver: Receiver) -> None:
    receiver.behaviours.append(behaviours.flood_headers)
    answer = post(receiver.url)
    assert answer.status is None
    assert answer.error
    assert receiver.sent_bytes < 100_000_000


def test_a_redirect_is_an_answer_and_not_followed(receiver: Receiver) -> None:
    with receiving() as other:
        receiver.behaviours.append(answering(307, headers={"Location": other.url}))
        assert post(receiver.url).status == 307
        assert other.received == []


def test_nobody_listens(port: int) -> None:
    answer = post(f"http://127.0.0.1:{port}/")
    assert answer.status is None
    assert "refused" in str(answer.error)


@pytest.mark.parametrize(
    "url",
    [
        "https://hook.example:s3cret/",
        "https://hook.example/s3cret\x07",
        "https://[s3cret/",
        f"https://{'s3cret' * 20}.example/",
    ],
)
def test_an_address_that_is_none_is_not_repeated(url: str) -> None:
    """Whoever knows the address of a chat's hook may post to it, and members read why a message was not sent."""
    answer = post(url)
    assert answer.status is None
    assert answer.error
    assert "s3cret" not in answer.error


def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    with receiving(context) as server:
        answer = post(f"https://localhost:{server.server_port}/")
        assert answer.status is None
        assert "certificate verify failed" in str(answer.error)
        assert server.received == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",  # noqa: S104 - refused
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fec0::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:db8::1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not AddressPolicy().permits(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8"])
def test_a_public_address_is_permitted(address: str) -> None:
    assert AddressPolicy().permits(ipaddress.ip_address(address))


def test_an_admin_allows_networks_and_no_more() -> None:
    policy = AddressPolicy((ipaddress.IPv4Network("10.0.0.0/8"),))
    assert policy.permits(ipaddress.ip_address("10.9.9.9"))
    assert policy.permits(ipaddress.ip_address("::ffff:10.9.9.9"))
    assert not policy.permits(ipaddress.ip_address("192.168.1.1"))


def test_a_name_that_leads_to_a_private_address_is_refused(receiver: Receiver) -> None:
    answer = bounded_http.post(
        f"http://localhost:{receiver.server_port}/",
        {},
        b"",
        policy=AddressPolicy(),
        within_s=LONG_S,
    )
    assert answer.status is None
    assert "no public address" in str(answer.error)
    assert receiver.received == []


def test_a_name_that_changes_its_address_gains_nothing(receiver: Receiver) -> None:
    """Rebinding: the address that was checked is the one that is connected to, and the name is asked for once."""
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked = []

    def resolve(host: str, port: int) -> list[Address]:
        asked.append((host, port))
        return [ipaddress.ip_address(address) for address in answers.pop(0)]

    port = receiver.server_port
    answer = bounded_http.post(
        f"http://rebind.example:{port}/",
        {},
        b"",
        policy=LOOPBACK,
        within_s=LONG_S,
        resolver=resolve,
    )
    assert answer.status == 204
    assert asked == [("rebind.example", port)]
    assert receiver.received[0].headers["host"] == f"rebind.example:{port}"


def test_of_a_names_addresses_only_an_allowed_one_is_tried(receiver: Receiver) -> None:
    answer = bounded_http.post(
        f"http://both.example:{receiver.server_port}/",
        {},
        b"",
        policy=LOOPBACK,
        within_s=LONG_S,
        resolver=lambda *_: [
            ipaddress.ip_address("127.0.0.2"),
            ipaddress.ip_address("127.0.0.1"),
        ],
    )
    assert answer.status == 204
