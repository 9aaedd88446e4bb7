"""Tests of the peer behind a link with an MTU of 1500, where one send is more than one segment."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

from .client import Files, random_bytes
from .conftest import Adb, StartPeer, connected
from .link import Link

EIGHT_MB = 8 * 1024 * 1024


def test_segments_are_those_of_an_ethernet_cable(start: StartPeer, link: Link) -> None:
    with link.device() as host:
        peer = start(host=host)
    with link.client(), connected(peer) as client:
        size = client.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        assert 1400 < size <= 1460


def test_eight_megabytes_survive_the_cable(start: StartPeer, link: Link) -> None:
    data = random_bytes(EIGHT_MB)
    with link.device() as host:
        peer = start(host=host)
    with link.client(), connected(peer) as client:
        files = Files(client)
        assert files.push("/data/local/tmp/file", data) == ""
        assert files.pull("/data/local/tmp/file") == data
    assert peer.violations == []


def test_one_send_of_eight_megabytes_is_short(start: StartPeer, link: Link) -> None:
    """A short send is how an 8 MB push gets truncated."""
    with link.device() as host:
        peer = start(host=host)
    with link.client(), connected(peer) as client:
        client.socket.setblocking(False)
        assert client.socket.send(bytes(EIGHT_MB)) < EIGHT_MB


def test_google_pushes_eight_megabytes_through_the_cable(
    start: StartPeer, link: Link, adb: Adb, tmp_path: Path
) -> None:
    data = random_bytes(EIGHT_MB)
    (tmp_path / "there").write_bytes(data)
    with link.device() as host:
        peer = start(host=host, trust="any")
    with link.client():
        adb.connect(peer)
        assert (
            adb(
                "push", tmp_path / "there", "/data/local/tmp/file", device=peer
            ).returncode
            == 0
        )
        output = adb("shell", "sha256sum <$TMPDIR/file", device=peer).stdout.split()[0]
        adb("kill-server")
    assert output == hashlib.sha256(data).hexdigest()
