"""Tests of the sync service: files in and out of the scratch root, and never beyond it."""

from __future__ import annotations

import stat
import struct
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
    assert files.stat(f"{TMP}/new/folder/file") == (0o100777, len(data), 1_700_000_000)
    assert (peer.files / "data/local/tmp/new/folder/file").read_bytes() == data


@pytest.mark.parametrize(
    ("asked", "set_mode"),
    [(0o755, 0o777), (0o644, 0o666), (0o640, 0o666), (0o500, 0o555), (0o075, 0o077)],
)
def test_a_pushed_file_has_the_bits_that_adbd_gives_it(
    files: Files, asked: int, set_mode: int
) -> None:
    """Values worked out by hand from `do_send` of daemon/file_sync_service.cpp."""
    assert files.push(f"{TMP}/file", b"x", 0o100000 | asked) == ""
    assert files.stat(f"{TMP}/file")[0] == 0o100000 | set_mode


def test_an_empty_file_is_a_file(files: Files) -> None:
    assert files.push(f"{TMP}/empty", b"") == ""
    assert files.pull(f"{TMP}/empty") == b""


def test_a_pushed_program_runs(client: Client) -> None:
    assert Files(client).push(f"{TMP}/say", b"#!/bin/sh\necho $0 ran\n", 0o100755) == ""
    peer_path = client.plain("cd /data/local/tmp 2>/dev/null || cd $TMPDIR; ./say")
    assert peer_path == b"./say ran\n"


def test_a_folder_is_listed_and_a_missing_one_is_empty(files: Files) -> None:
    files.push(f"{TMP}/folder/a", b"1")
    files.push(f"{TMP}/folder/b", b"2")
    assert sorted(files.names(f"{TMP}/folder")) == [".", "..", "a", "b"]
    assert files.names(f"{TMP}/nowhere") == []
    assert files.stat(f"{TMP}/nowhere") == (0, 0, 0)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nowhere", "open failed: No such file or directory"),
        ("", "read failed: Is a directory"),
    ],
)
def test_a_refused_pull_says_why_and_ends_the_service(
    files: Files, path: str, reason: str
) -> None:
    """`do_recv` opens a directory and fails to read it; after a FAIL `file_sync_service` is over."""
    assert files.pull(f"{TMP}/{path}") == reason
    assert files.stream.rest() == b""


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("folder", "couldn't create file: Is a directory"),
        ("file/below", "couldn't create file: Not a directory"),
        ("file/far/below", "couldn't create file: Not a directory"),
    ],
)
def test_a_refused_push_is_read_to_its_end_and_ends_the_service(
    client: Client, path: str, reason: str
) -> None:
    assert Files(client).push(f"{TMP}/file", b"x") == ""
    assert Files(client).push(f"{TMP}/folder/file", b"x") == ""
    files = Files(client)
    assert files.push(f"{TMP}/{path}", random_bytes(200_000)) == reason
    assert files.stream.rest() == b""
    assert Files(client).pull(f"{TMP}/file") == b"x"


def test_a_push_onto_a_link_replaces_the_link(peer: Peer, client: Client) -> None:
    """`do_send` unlinks a link before it writes a regular file."""
    assert Files(client).push(f"{TMP}/target", b"old") == ""
    assert (
        Files(client).push(
            f"{TMP}/link", f"{TMP}/target".encode(), stat.S_IFLNK | 0o777
        )
        == ""
    )
    assert Files(client).push(f"{TMP}/link", b"new") == ""
    assert Files(client).pull(f"{TMP}/target") == b"old"
    assert not (peer.files / "data/local/tmp/link").is_symlink()


def test_a_file_is_pulled_in_the_pieces_that_adbd_reads(client: Client) -> None:
    """64 KiB less the header of a DATA (`do_recv`)."""
    assert Files(client).push(f"{TMP}/file", random_bytes(100_000)) == ""
    files = Files(client)
    files.ask(b"RECV", f"{TMP}/file")
    name, length = struct.unpack("<4sI", files.stream.read(8))
    assert (name, length) == (b"DATA", 65_536 - 8)


def test_a_link_is_made_and_stays_within_the_device(
    peer: Peer, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("of the host")
    files = Files(client)
    assert (
        files.push(f"{TMP}/link", f"{tmp_path}/secret".encode(), stat.S_IFLNK | 0o777)
        == ""
    )
    assert files.stat(f"{TMP}/link")[0] & 0o170000 == stat.S_IFLNK
    assert files.pull(f"{TMP}/link") == "open failed: No such file or directory"
    files = Files(client)
    files.push(f"{TMP}/up", b"../../..", stat.S_IFLNK | 0o777)
    assert (
        files.pull(f"{TMP}/up/../../../../..{tmp_path}/secret")
        == "open failed: No such file or directory"
    )
    files = Files(client)
    files.push(f"{TMP}/good", b"/data/local/tmp/target", stat.S_IFLNK | 0o777)
    files.push(f"{TMP}/target", b"through")
    assert files.pull(f"{TMP}/good") == b"through"
    assert (peer.files / "data/local/tmp/target").read_bytes() == b"through"


def test_a_path_through_a_link_to_itself_is_refused(files: Files) -> None:
    files.push(f"{TMP}/loop", b"loop", stat.S_IFLNK | 0o777)
    assert (
        files.push(f"{TMP}/loop/x", b"x")
        == "couldn't create file: Too many symbolic links encountered"
    )


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


def message(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (message(b"NOPE", b""), "unknown command 45504f4e"),
        (b"STAT" + struct.pack("<I", 1025), "path too long"),
        (message(b"SEND", b"/data/local/tmp/file"), "missing , in ID_SEND"),
        (
            message(b"SEND", b"/data/local/tmp/file,33188") + message(b"NOPE", b""),
            "invalid data message",
        ),
        (
            message(b"SEND", b"/data/local/tmp/file,33188")
            + b"DATA"
            + struct.pack("<I", 65_537),
            "oversize data message",
        ),
    ],
)
def test_nonsense_is_refused_in_the_words_of_adbd_and_noted(
    peer: Peer, sent: bytes, reason: str
) -> None:
    with connected(peer) as client:
        files = Files(client)
        files.stream.write(sent)
        assert files.answer(b"OKAY") == reason
        assert files.stream.rest() == b""
        assert client.plain("echo on") == b"on\n", "the connection goes on"
    assert not (peer.files / "data/local/tmp/file").exists()
    assert peer.violations == [f"sync: {reason}"]
