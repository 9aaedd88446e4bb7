"""Passwords: argon2id, and the same work for an address nobody has, so that timing tells nothing.

Parameters: RFC 9106 §4, second recommendation (t=3, 64 MiB, p=4), the defaults of argon2-cffi. At most two
hashes are computed at a time, which bounds memory under a flood of sign-ins.
"""

from __future__ import annotations

import threading
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST = 12
"""Characters; NIST SP 800-63B asks for at least 8 and for length over composition rules."""

_hasher = PasswordHasher()
_at_once = threading.BoundedSemaphore(2)


def hashed(password: str) -> str:
    """The argon2id hash, with salt and parameters in it."""
    with _at_once:
        return _hasher.hash(password)


@cache
def _nobodys() -> str:
    return hashed("a password nobody has: compared against so that unknown addresses take as long")


def matches(password: str, password_hash: str | None) -> bool:
    """Whether the password is right; as slow for None (no account, or one without a password)."""
    against = password_hash or _nobodys()
    try:
        with _at_once:
            _hasher.verify(against, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None
