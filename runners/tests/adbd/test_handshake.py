"""Tests of connecting: versions, keys, and violations of the protocol."""

from __future__ import annotations

import struct

import pytest
from paceline.testing.adbd import Peer, fingerprint
from paceline.testing.adbd.auth import UnreadableKeyError

from .client import Client, Key
from .conftest import StartPeer, connected, until

TOKEN, SIGNATURE, PUBLIC_KEY = 1, 2, 3


@pytest.fixture(scope="module")
def key() -> Key:
    return Key()


@pytest.fixture(scope="module")
def stranger() -> Key:
    return Key()


def offered(client: Client, key: Key) -> None:
    """Up to the offered key: signed once, not known, offered."""
    client.send("CNXN", 0x01000001, 1 << 20, b"host::")
    token = client.expect("AUTH")
    assert (token.arg0, len(token.data)) == (TOKEN, 20)
    client.send("AUTH", SIGNATURE, 0, key.sign(token.data))
    again = client.expect("AUTH")
    assert again.data != token.data, "a token is never used twice"
    client.send("AUTH", PUBLIC_KEY, 0, key.public)


def signs_in(peer: Peer, key: Key) -> bool:
    """Whether the client is admitted by its signature alone."""
    with Client(peer.address) as client:
        client.send("CNXN", 0x01000001, 1 << 20, b"host::")
        client.send("AUTH", SIGNATURE, 0, key.sign(client.expect("AUTH").data))
        return client.receive().name == "CNXN"


def test_a_device_says_what_it_is_and_what_it_can(peer: Peer) -> None:
    with Client(peer.address) as client:
        banner = client.connect().decode()
        assert banner.startswith(
            "device::ro.product.name=sim8;ro.product.model=Simulated 8;"
        )
        assert banner.endswith("features=cmd,shell_v2")
        assert peer.connections == 1


def test_payloads_are_as_large_as_the_smaller_side_takes(peer: Peer) -> None:
    with connected(peer, largest=5000) as client:
        assert client.largest == 5000
        stream = client.open("exec:head -c 20000 /dev/zero")
        assert len(stream.rest()) == 20_000
        assert max(client.sizes) == 5000


def test_a_key_is_trusted_after_the_person_agreed_and_known_by_its_signature_then(
    start: StartPeer, key: Key
) -> None:
    peer = start(trust=set())
    with Client(peer.address) as client:
        offered(client, key)
        until(lambda: peer.prompts == [key.fingerprint])
        assert peer.connections == 0
        peer.answer_prompt(allow=True)
        client.expect("CNXN")
    assert signs_in(peer, key)
    assert peer.violations == []


def test_every_offer_makes_a_dialog_and_none_goes_away_with_its_connection(
    start: StartPeer, key: Key
) -> None:
    """`AdbdAuthContext::PromptUser` queues one per call, and nothing takes one out but an answer."""
    peer = start(trust=set())
    with Client(peer.address) as client:
        offered(client, key)
        until(lambda: peer.prompts == [key.fingerprint])
    with Client(peer.address) as client:
        offered(client, key)
        until(lambda: peer.prompts == [key.fingerprint] * 2)
    peer.answer_prompt(allow=True)
    assert peer.prompts == []
    assert signs_in(peer, key), (
        "a key that was agreed to is kept, also of a connection that is gone"
    )


def test_a_device_says_its_own_version_and_sums_nothing_for_a_client_that_reads_no_sums(
    peer: Peer,
) -> None:
    """`send_connect` says A_VERSION; `send_packet` sums for the version agreed on, from the first answer."""
    for version, is_summed in ((0x01000001, False), (0x01000000, True)):
        with Client(peer.address) as client:
            client.send("CNXN", version, 1 << 20, b"host::")
            command, output, _, _, total, _ = struct.unpack("<6I", client.take(24))
            assert command.to_bytes(4, "little") == b"CNXN"
            assert output == 0x01000001
            assert bool(total) == is_summed


def test_a_key_trusted_beforehand_asks_no_person(start: StartPeer, key: Key) -> None:
    peer = start(trust={key.fingerprint})
    with Client(peer.address) as client:
        offered(client, key)
        client.expect("CNXN")
    assert peer.prompts == []


def test_a_signature_of_another_key_lets_nobody_in(
    start: StartPeer, key: Key, stranger: Key
) -> None:
    peer = start(trust={key.fingerprint})
    with Client(peer.address) as client:
        offered(client, key)
        client.expect("CNXN")
    assert not signs_in(peer, stranger)


def test_no_service_opens_before_the_handshake_ended(start: StartPeer) -> None:
    peer = start(trust=set())
    with Client(peer.address) as client:
        client.send("CNXN", 0x01000001, 1 << 20, b"host::")
        client.expect("AUTH")
        client.send("OPEN", 1, 0, b"shell:id\x00")
        with pytest.raises(EOFError):
            client.receive()
    assert peer.violations == ["OPEN before the handshake ended"]


def test_an_invalid_key_is_not_offered_to_the_person(start: StartPeer) -> None:
    peer = start(trust="any")
    with Client(peer.address) as client:
        client.send("CNXN", 0x01000001, 1 << 20, b"host::")
        client.expect("AUTH")
        client.send("AUTH", PUBLIC_KEY, 0, b"bm90IGEga2V5 someone\x00")
        with pytest.raises(EOFError):
            client.receive()
    assert "no Android public key" in peer.violations[0]


def test_a_fingerprint_is_what_a_phone_shows(key: Key) -> None:
    assert fingerprint(key.public) == key.fingerprint
    with pytest.raises(UnreadableKeyError):
        fingerprint("AAAA someone")


@pytest.mark.parametrize(
    ("raw", "violation"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n", "magic"),
        (b"WRTE" + bytes(16) + bytes(255 - c for c in b"WRTE"), "before the handshake"),
    ],
)
def test_a_client_of_another_protocol_is_disconnected(
    peer: Peer, raw: bytes, violation: str
) -> None:
    with Client(peer.address) as client:
        client.socket.sendall(raw)
        with pytest.raises(EOFError):
            client.receive()
    assert violation in peer.violations[0]


def test_a_wrong_checksum_is_noticed_by_an_old_device(peer: Peer) -> None:
    """adbd 29 reads no sum at all, and Google's client sends none when it reconnects."""
    peer.faults.legacy = True
    with Client(peer.address) as client:
        client.send("CNXN", 0x01000001, 1 << 20, b"host::", checksum=1)
        with pytest.raises(EOFError):
            client.receive()
    assert peer.violations == ["CNXN with a wrong checksum"]


def test_checksums_do_not_count_between_two_modern_sides(client: Client) -> None:
    client.send("OPEN", 9, 0, b"exec:true\x00", checksum=1)
    assert client.receive().name == "OKAY"
