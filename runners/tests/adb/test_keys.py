"""Tests of the agent's key: Android's public form, checked with Google's adb where installed, and the file's protection."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from paceline.adb.keys import FILE_NAME, AgentKey
from paceline.errors import UserError
from paceline_contract.testing.waiting import WITHIN_S

POSIX = pytest.mark.skipif(
    os.name != "posix", reason="modes of files need a POSIX system, not Windows"
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a key in it: making one costs a tenth of a second."""
    result = tmp_path_factory.mktemp("keys")
    AgentKey.load_or_create(result)
    return result


def test_a_key_is_made_once_and_found_again(directory: Path) -> None:
    before = (directory / FILE_NAME).read_bytes()
    first, second = (
        AgentKey.load_or_create(directory),
        AgentKey.load_or_create(directory),
    )
    assert first.public_text == second.public_text
    assert (directory / FILE_NAME).read_bytes() == before
    assert [path.name for path in directory.iterdir()] == [FILE_NAME]


@POSIX
def test_only_its_owner_can_read_a_new_key(directory: Path) -> None:
    assert stat.S_IMODE((directory / FILE_NAME).stat().st_mode) == 0o600


@POSIX
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused_with_the_command_that_helps(
    directory: Path, tmp_path: Path, mode: int
) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes((directory / FILE_NAME).read_bytes())
    path.chmod(mode)
    with pytest.raises(UserError, match="readable by others") as caught:
        AgentKey.load_or_create(tmp_path)
    assert f"chmod 600 {path}" in caught.value.advice


def test_two_agents_that_start_at_once_end_with_one_key(tmp_path: Path) -> None:
    both = threading.Barrier(2)
    result: list[bytes] = []

    def start() -> None:
        both.wait(WITHIN_S)
        result.append(AgentKey.load_or_create(tmp_path).public_text)

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WITHIN_S)
    assert len(result) == 2
    assert len(set(result)) == 1


@pytest.mark.parametrize(
    "text",
    [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"],
)
def test_a_damaged_key_is_refused_and_not_replaced(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / FILE_NAME
    path.touch(0o600)
    path.write_bytes(text)
    with pytest.raises(UserError, match="not an RSA key"):
        AgentKey.load_or_create(tmp_path)
    assert path.read_bytes() == text


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.touch(0o600)
    path.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    with pytest.raises(UserError, match="2048"):
        AgentKey.load_or_create(tmp_path)


def private_key(directory: Path) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key((directory / FILE_NAME).read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def test_a_signature_is_what_a_device_verifies(directory: Path) -> None:
    token = bytes(range(20))
    signature = AgentKey.load_or_create(directory).signer.Sign(token)
    private_key(directory).public_key().verify(
        signature,
        token,
        padding.PKCS1v15(),
        utils.Prehashed(hashes.SHA1()),  # noqa: S303 -- the protocol's choice
    )


def test_the_public_form_holds_the_numbers_android_computes_with(
    directory: Path,
) -> None:
    raw = base64.b64decode(AgentKey.load_or_create(directory).public_text.split()[0])
    assert len(raw) == 4 + 4 + 256 + 256 + 4
    n = int.from_bytes(raw[8:264], "little")
    assert int.from_bytes(raw[:4], "little") == 64
    assert (int.from_bytes(raw[4:8], "little") * n) % 2**32 == 2**32 - 1
    assert int.from_bytes(raw[264:520], "little") == 2**4096 % n
    assert n == private_key(directory).public_key().public_numbers().n
    assert int.from_bytes(raw[520:], "little") == 65537


def test_the_fingerprint_is_the_one_the_prompt_shows(directory: Path) -> None:
    key = AgentKey.load_or_create(directory)
    digest = hashlib.md5(
        base64.b64decode(key.public_text.split()[0]), usedforsecurity=False
    ).hexdigest()
    assert key.fingerprint.replace(":", "").lower() == digest
    assert len(key.fingerprint.split(":")) == 16


@pytest.mark.skipif(
    shutil.which("adb") is None, reason="Android's own adb is not installed here"
)
def test_googles_adb_prints_the_same_public_key_for_our_file(
    directory: Path, tmp_path: Path
) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        ["adb", "pubkey", str(directory / FILE_NAME)],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert (
        done.stdout.split()[0]
        == AgentKey.load_or_create(directory).public_text.split()[0]
    )


@pytest.mark.skipif(
    shutil.which("adb") is None, reason="Android's own adb is not installed here"
)
def test_a_key_made_by_googles_adb_is_read(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(
        ["adb", "keygen", str(tmp_path / FILE_NAME)], env=environment, check=True
    )
    made = (tmp_path / f"{FILE_NAME}.pub").read_bytes().split()[0]
    assert AgentKey.load_or_create(tmp_path).public_text.split()[0] == made


def test_a_file_system_without_hard_links_has_a_key_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    made = AgentKey.load_or_create(tmp_path)
    assert AgentKey.load_or_create(tmp_path).fingerprint == made.fingerprint
    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
