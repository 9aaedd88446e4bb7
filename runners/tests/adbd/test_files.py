"""Sync: files in and out of the scratch root, and never beyond it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from paceline.testing.adbd import Peer

from .client import Client, Files, random_bytes
from .conftest import StartPeer, connected

TMP = "/data/local/tmp"


@pytest.fixture
def files(client: Client) -> Files:
    return Files(client)


def test_a_file_comes_back_as_it_went(peer: Peer, files: Files) -> None:
    data = random_bytes(1_500_000)
    assert files.push(f"{TMP}/new/folder/file", data, 0o100755) == ""
    assert files.pull(f"{TMP}/new/folder/file") == data
    assert files.stat(f"{TMP}/new/folder/file") == (0o100755, len(data), 1_700_000_000)
    assert (peer.files / "data/local/tmp/new/folder/file").read_bytes() == data


def test_an_empty_file_is_a_file(files: Files) -> None:
    assert files.push(f"{TMP}/empty", b"") == ""
    assert files.pull(f"{TMP}/empty") == b""


def test_what_is_pushed_runs(client: Client) -> None:
    assert Files(client).push(f"{TMP}/say", b"#!/bin/sh\necho $0 ran\n", 0o100755) == ""
    peer_path = client.plain("cd /data/local/tmp 2>/dev/null || cd $TMPDIR; ./say")
    assert peer_path == b"./say ran\n"


def test_a_folder_is_listed_and_a_missing_one_is_empty(files: Files) -> None:
    files.push(f"{TMP}/folder/a", b"1")
    files.push(f"{TMP}/folder/b", b"2")
    assert files.names(f"{TMP}/folder") == ["a", "b"]
    assert files.names(f"{TMP}/nowhere") == []
    assert files.stat(f"{TMP}/nowhere") == (0, 0, 0)


def test_refusals_say_why_and_the_stream_goes_on(files: Files) -> None:
    assert files.pull(f"{TMP}/nowhere") == "open failed: No such file or directory"
    assert files.pull(TMP) == "open failed: Is a directory"
    assert files.push(TMP, random_bytes(200_000)) == "couldn't create file: Is a directory"
    assert files.push(f"{TMP}/file", b"x") == ""
    assert files.push(f"{TMP}/file/below", b"x") == "couldn't create file: File exists"
    assert files.pull(f"{TMP}/file") == b"x"


def test_a_link_is_made_and_stays_within_the_device(peer: Peer, files: Files, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    assert files.push(f"{TMP}/link", f"{tmp_path}/secret".encode(), stat.S_IFLNK | 0o777) == ""
    assert files.pull(f"{TMP}/link") == "open failed: No such file or directory"
    assert files.stat(f"{TMP}/link")[0] & 0o170000 == stat.S_IFLNK
    files.push(f"{TMP}/up", b"../../..", stat.S_IFLNK | 0o777)
    assert files.pull(f"{TMP}/up/../../../../..{tmp_path}/secret") == "open failed: No such file or directory"
    files.push(f"{TMP}/good", b"/data/local/tmp/target", stat.S_IFLNK | 0o777)
    files.push(f"{TMP}/target", b"through")
    assert files.pull(f"{TMP}/good") == b"through"
    assert (peer.files / "data/local/tmp/target").read_bytes() == b"through"


def test_a_link_to_itself_is_refused(files: Files) -> None:
    files.push(f"{TMP}/loop", b"loop", stat.S_IFLNK | 0o777)
    assert files.push(f"{TMP}/loop", b"x") == "couldn't create file: Too many symbolic links encountered"


def test_a_push_that_is_cut_leaves_nothing(start: StartPeer) -> None:
    peer = start()
    with connected(peer) as client:
        files = Files(client)
        peer.faults.drop_after_bytes = 300_000
        with pytest.raises((EOFError, OSError)):
            files.push(f"{TMP}/half", random_bytes(1_000_000))
    peer.faults.drop_after_bytes = None
    peer.cut()
    assert not (peer.files / "data/local/tmp/half").exists()


def test_nonsense_ends_the_connection(peer: Peer) -> None:
    with connected(peer) as client:
        stream = client.open("sync:")
        client.send("WRTE", stream.local, stream.remote, b"NOPE" + bytes(4))
        with pytest.raises(EOFError):
            client.drain()
    assert "sync request b'NOPE'" in peer.violations[0]
