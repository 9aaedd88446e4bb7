"""Tests of the peer with Google's own client."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from paceline.testing.adbd import Peer, fingerprint

from .client import random_bytes
from .conftest import Adb, StartPeer, until

EIGHT_MB = 8 * 1024 * 1024


@pytest.fixture
def online(start: StartPeer, adb: Adb) -> Peer:
    peer = start(trust="any")
    adb.connect(peer)
    return peer


def test_google_connects_and_sees_features_and_product(online: Peer, adb: Adb) -> None:
    assert adb.state(online) == "device"
    assert adb("features", device=online).stdout.split() == ["cmd", "shell_v2"]
    listed = next(
        line
        for line in adb("devices", "-l").stdout.splitlines()
        if online.address in line
    )
    assert "product:sim8 model:Simulated_8 device:sim8" in listed
    assert adb("get-serialno", device=online).stdout.strip() == online.address
    assert (
        adb("shell", "getprop ro.serialno", device=online).stdout
        == f"{online.serial}\n"
    )
    assert online.violations == []


@pytest.mark.parametrize("code", [0, 1, 7, 127, 255])
def test_google_hears_the_exit_code(online: Peer, adb: Adb, code: int) -> None:
    assert adb("shell", f"exit {code}", device=online).returncode == code


def test_google_hears_a_signal_as_128_and_its_number(online: Peer, adb: Adb) -> None:
    assert adb("shell", "kill -9 $$", device=online).returncode == 137


def test_google_gets_both_outputs_apart(online: Peer, adb: Adb) -> None:
    done = adb("shell", "echo out; echo err >&2", device=online)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_google_pushes_and_pulls_eight_megabytes_with_equal_hashes(
    online: Peer, adb: Adb, tmp_path: Path
) -> None:
    data = random_bytes(EIGHT_MB)
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(data)
    remote = f"{online.workdir}/deep/er/file"
    assert adb("push", there, remote, device=online).returncode == 0
    assert (online.files / "data/local/tmp/paceline/deep/er/file").read_bytes() == data
    output = adb("shell", f"sha256sum {remote}", device=online).stdout.split()[0]
    assert output == hashlib.sha256(data).hexdigest()
    assert adb("pull", remote, back, device=online).returncode == 0
    assert back.read_bytes() == data
    assert online.violations == []


def test_google_pushes_a_folder_and_lists_it(
    online: Peer, adb: Adb, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "inner/b").write_text("b")
    assert adb("push", folder, "/data/local/tmp/", device=online).returncode == 0
    assert (online.files / "data/local/tmp/folder/inner/b").read_text() == "b"
    listed = adb("ls", "/data/local/tmp/folder", device=online).stdout
    assert {line.split()[-1] for line in listed.splitlines()} >= {"a", "inner"}


def test_google_hears_why_a_push_was_refused(
    online: Peer, adb: Adb, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(bytes(300_000))
    online.faults.no_space_after = 100_000
    done = adb("push", tmp_path / "file", "/data/local/tmp/file", device=online)
    assert done.returncode != 0
    assert "No space left on device" in done.stdout + done.stderr
    assert not (online.files / "data/local/tmp/file").exists()


def test_google_reboots_the_device(online: Peer, adb: Adb) -> None:
    before = online.boot_id
    assert adb("reboot", device=online).returncode == 0
    until(lambda: online.boot_id != before)
    adb("disconnect", online.address)
    adb.connect(online)
    if online.device.mode == "namespace":
        output = adb(
            "shell", "cat /proc/sys/kernel/random/boot_id", device=online
        ).stdout
        assert output.strip() == online.boot_id


def test_google_takes_the_device_up_again_by_itself_after_a_cut(
    online: Peer, adb: Adb
) -> None:
    """`ReconnectHandler::TrackTransport`: 250 ms later, with a greeting whose sum is 0."""
    online.cut()
    until(lambda: online.connections == 1)
    until(lambda: adb.state(online) == "device")
    assert adb("shell", "echo back", device=online).stdout == "back\n"
    assert online.violations == []


def test_google_sees_unauthorized_until_the_person_agrees(
    start: StartPeer, adb: Adb
) -> None:
    peer = start(trust=set())
    adb("connect", peer.address)
    until(lambda: adb.state(peer) == "unauthorized")
    assert adb("shell", "true", device=peer).returncode != 0
    until(lambda: peer.prompts)
    public = (adb.home / ".android/adbkey.pub").read_bytes()
    assert peer.prompts == [fingerprint(public)]
    peer.answer_prompt(allow=True)
    adb("wait-for-device", device=peer)
    assert adb("shell", "echo in", device=peer).stdout == "in\n"
    assert peer.violations == []


def test_google_is_known_by_its_signature_the_second_time(
    online: Peer, adb: Adb
) -> None:
    online.faults.deny_prompt = (
        True  # a key that has to be offered again would be refused now
    )
    adb("disconnect", online.address)
    adb.connect(online)
    assert adb("shell", "echo known", device=online).stdout == "known\n"


def test_google_stays_unauthorized_when_the_person_refuses(
    start: StartPeer, adb: Adb
) -> None:
    peer = start(trust=set())
    peer.faults.deny_prompt = True
    adb("connect", peer.address)
    until(lambda: adb.state(peer) == "unauthorized")


def test_google_gets_no_root_on_a_production_build(online: Peer, adb: Adb) -> None:
    assert (
        "cannot run as root in production builds" in adb("root", device=online).stdout
    )


def test_google_reads_the_log(online: Peer, adb: Adb) -> None:
    online.log("Paceline", "one\ntwo")
    lines = adb(
        "logcat", "-d", "-v", "threadtime", "Paceline:I", "*:S", device=online
    ).stdout.splitlines()
    assert lines[0] == "--------- beginning of main"
    assert [line.split(": ", 1)[1] for line in lines[1:]] == ["one", "two"]


def test_google_talks_to_an_old_device(
    start: StartPeer, adb: Adb, tmp_path: Path
) -> None:
    peer = start(trust=None)
    peer.faults.legacy = True
    adb.connect(peer)
    assert adb("features", device=peer).stdout.split() == []
    assert adb("shell", "echo old; exit 3", device=peer).stdout in ("old\n", "old\r\n")
    data = random_bytes(1_000_000)
    (tmp_path / "there").write_bytes(data)
    assert (
        adb("push", tmp_path / "there", "/data/local/tmp/file", device=peer).returncode
        == 0
    )
    assert (peer.files / "data/local/tmp/file").read_bytes() == data
    assert peer.violations == []
