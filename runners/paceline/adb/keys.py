"""The agent's RSA key, by which devices recognise it.

It is created once with mode 0600, whole or not at all, even by two agents at once; a key that others can read
is refused. An adb server has its own key in ~/.android.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
import struct
import tempfile
from pathlib import Path

from adb_shell.auth.sign_cryptography import CryptographySigner
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from paceline.errors import UserError

FILE_NAME = "adbkey"
KEY_BITS = 2048
"""The only size devices read: ANDROID_PUBKEY_MODULUS_SIZE in AOSP libcrypto_utils/android_pubkey.cpp."""
WORD_BITS = 32
COMMENT = b" paceline"
"""Shown by the device in its list of trusted hosts; names no person and no host."""


def key_directory(data_dir: Path) -> Path:
    """Return where the agent with this data directory keeps its key."""
    return data_dir / "adb"


def encode_public_key(key: rsa.RSAPublicKey) -> bytes:
    """Encode a key as Android's `RSAPublicKey`, little-endian: words, -1/n mod 2^32, n, R² mod n, e (android_pubkey.cpp)."""
    numbers = key.public_numbers()
    size = KEY_BITS // 8
    n0inv = -pow(numbers.n, -1, 1 << WORD_BITS) % (1 << WORD_BITS)
    rr = pow(1 << KEY_BITS, 2, numbers.n)
    return b"".join(
        [
            struct.pack("<2I", KEY_BITS // WORD_BITS, n0inv),
            numbers.n.to_bytes(size, "little"),
            rr.to_bytes(size, "little"),
            struct.pack("<I", numbers.e),
        ]
    )


class AgentKey:
    """A private key, and its public form."""

    def __init__(self, private: rsa.RSAPrivateKey) -> None:
        self._private = private
        self._public = encode_public_key(private.public_key())

    @classmethod
    def of_agent(cls, data_dir: Path) -> AgentKey:
        """Return the key of the agent with this data directory. Raises UserError like `load_or_create`."""
        return cls.load_or_create(key_directory(data_dir))

    @classmethod
    def load_or_create(cls, directory: Path) -> AgentKey:
        """Return the key in `directory`, created when there is none. Raises UserError when it is damaged or others
        can read it."""
        path = directory / FILE_NAME
        if not path.exists():
            _create(path)
        _refuse_shared(path)
        try:
            private = serialization.load_pem_private_key(
                path.read_bytes(), password=None
            )
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise UserError(
                f"{path} is not an RSA key: {error}", _REMAKE_ADVICE
            ) from error
        if not isinstance(private, rsa.RSAPrivateKey) or private.key_size != KEY_BITS:
            raise UserError(
                f"{path} is not an RSA key of {KEY_BITS} bits", _REMAKE_ADVICE
            )
        return cls(private)

    @property
    def fingerprint(self) -> str:
        """Return the MD5 of the public form in hex pairs with colons, as the device's prompt shows it."""
        digest = hashlib.md5(self._public, usedforsecurity=False).hexdigest().upper()
        return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))

    @property
    def public_text(self) -> bytes:
        """Return the key as a line of an `adb_keys` file, as `adb pubkey` prints it."""
        return base64.b64encode(self._public) + COMMENT

    @property
    def signer(self) -> AgentSigner:
        """Return the key in the form that adb-shell takes."""
        return AgentSigner(self._private, self.public_text)


class AgentSigner(CryptographySigner):  # type: ignore[misc]  # adb-shell has no types
    """adb-shell's signer, which would read the key from a file and its public form from another."""

    def __init__(self, private: rsa.RSAPrivateKey, public_text: bytes) -> None:
        self.rsa_key, self.public_key = private, public_text


_REMAKE_ADVICE = "Remove the file: a new key is created, and each device asks again whether to trust it."


def _create(path: Path) -> None:
    """Write a new key beside `path` and link it there. Of two agents the second uses the first one's key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pem = rsa.generate_private_key(
        public_exponent=65537, key_size=KEY_BITS
    ).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    # mkstemp creates the file with mode 0600.
    descriptor, name = tempfile.mkstemp(prefix=FILE_NAME, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, path)  # unlike a rename, never replaces
        except FileExistsError:
            pass
        except OSError:  # no hard links here: the last agent's key wins
            Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _refuse_shared(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise UserError(
            f"{path} is readable by others (mode {mode:o})",
            f"Whoever has it controls every device that trusts it. If nobody has read it: chmod 600 {path}."
            f" Otherwise: {_REMAKE_ADVICE[0].lower()}{_REMAKE_ADVICE[1:]}",
        )
