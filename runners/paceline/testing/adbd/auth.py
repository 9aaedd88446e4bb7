"""Verifies who may talk to the peer, with Android's RSA keys.

A client signs the peer's token; an unknown key is offered next and trusted once the (simulated) person
agrees. No key counts as known without a valid signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass

MODULUS_BYTES = 256
KEY_LAYOUT = struct.Struct(f"<II{MODULUS_BYTES}s{MODULUS_BYTES}sI")
"""Android's public key: words of the modulus, n0inv, modulus and R² (little endian), exponent."""

SHA1_DIGEST_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
"""DER of DigestInfo{SHA-1} up to the digest; the token takes the place of the digest."""

TOKEN_BYTES = 20


class UnreadableKeyError(ValueError):
    """The offered text is no Android public key."""


@dataclass(frozen=True)
class PublicKey:
    """A key as a client offers it."""

    modulus: int
    exponent: int
    fingerprint: str
    """MD5 of the key in colon-separated hex, as the prompt of a phone shows it."""

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Verify a signature by PKCS #1 v1.5, with the token in place of a SHA-1 digest."""
        if len(signature) != MODULUS_BYTES:
            return False
        padded = pow(int.from_bytes(signature, "big"), self.exponent, self.modulus)
        tail = SHA1_DIGEST_INFO + token
        expected = (
            b"\x00\x01" + b"\xff" * (MODULUS_BYTES - len(tail) - 3) + b"\x00" + tail
        )
        return padded.to_bytes(MODULUS_BYTES, "big") == expected


def parse_key(offered: bytes) -> PublicKey:
    """Read `adbkey.pub` or the payload of AUTH(RSAPUBLICKEY): base64, then perhaps a name, then NUL."""
    text = offered.rstrip(b"\x00").split(b" ")[0].strip()
    try:
        raw = base64.b64decode(text, validate=True)
        words, n0inv, modulus_le, _, exponent = KEY_LAYOUT.unpack(raw)
    except (binascii.Error, struct.error) as error:
        raise UnreadableKeyError(f"no Android public key: {error}") from None
    modulus = int.from_bytes(modulus_le, "little")
    if (
        words * 4 != MODULUS_BYTES
        or modulus % 2 == 0
        or (modulus * n0inv + 1) % 2**32 != 0
    ):
        raise UnreadableKeyError(
            "no Android public key: its numbers do not fit together"
        )
    digest = hashlib.md5(raw, usedforsecurity=False).hexdigest().upper()
    return PublicKey(
        modulus, exponent, ":".join(digest[i : i + 2] for i in range(0, 32, 2))
    )


def fingerprint(public_key: bytes | str) -> str:
    """Return the fingerprint that a phone's prompt shows for the text of an `adbkey.pub`, as `Peer(trust=…)` takes it."""
    return parse_key(
        public_key.encode() if isinstance(public_key, str) else public_key
    ).fingerprint
