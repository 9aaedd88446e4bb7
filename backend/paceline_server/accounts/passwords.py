"""Passwords: argon2id, and the same work for an address nobody has, so that timing tells nothing.

Parameters: RFC 9106 §4, second recommendation (t=3, 64 MiB, p=4), the defaults of argon2-cffi. Sign-ins are
compared in threads of their own, so that a flood of them takes neither memory nor the threads in which all
other requests are answered.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from paceline_server.kernel.errors import ProblemError

SHORTEST = 12
"""Characters; NIST SP 800-63B asks for at least 8 and for length over composition rules."""

_hasher = PasswordHasher()
AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
"""Comparisons at a time: each takes 64 MiB and, with four lanes, every core it gets."""
WAITING = 32
"""Sign-ins that may wait for their turn, a few seconds in all; more are asked to come back."""
_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="argon2")
_places = threading.BoundedSemaphore(AT_ONCE + WAITING)


def hashed(password: str) -> str:
    """The argon2id hash, with salt and parameters in it."""
    return _hasher.hash(password)


@cache
def _nobodys() -> str:
    return hashed(
        "a password nobody has: compared against so that unknown addresses take as long"
    )


def matches(password: str, password_hash: str | None) -> bool:
    """Whether the password is right; as slow for None (no account, or one without a password)."""
    against = password_hash or _nobodys()
    try:
        _hasher.verify(against, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


@contextmanager
def place() -> Iterator[None]:
    """One of the places of those who wait to be compared. Raises 503 `busy` when all are taken."""
    if not _places.acquire(blocking=False):
        raise ProblemError(
            503,
            "busy",
            "Many people sign in just now; try again.",
            headers={"Retry-After": "1"},
        )
    try:
        yield
    finally:
        _places.release()


async def compared(password: str, password_hash: str | None) -> bool:
    """`matches`, in a thread of the few that compare. Take a `place` first."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, matches, password, password_hash
    )
