"""Hashes and compares passwords with argon2id, in threads of their own.

An unknown address takes the same work as a known one, so that timing reveals nothing. Parameters: RFC 9106 §4, second
recommendation (t=3, 64 MiB, p=4), the defaults of argon2-cffi. Separate threads keep a flood of sign-ins from taking
the memory and the threads of other requests.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from paceline_server.accounts.password_rules import check_password
from paceline_server.kernel.errors import ProblemError

_hasher = PasswordHasher()
AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
"""Comparisons at a time; each takes 64 MiB and up to four cores."""
WAITING = 32
"""Sign-ins and new passwords that may wait, a few seconds in all; others get a 503."""
_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="argon2")
_places = threading.BoundedSemaphore(AT_ONCE + WAITING)


def hash_password(password: str) -> str:
    """Return the argon2id hash, with salt and parameters in it."""
    return _hasher.hash(password)


def make_hash(password: str, about: Sequence[str]) -> str:
    """Return the hash of a new password. Raises 400 `weak_password`; `about`: what an attacker knows of its owner."""
    check_password(password, about)
    return hash_password(password)


@cache
def _unmatchable_hash() -> str:
    return hash_password(
        "a password nobody has: compared against so that unknown addresses take as long"
    )


def matches(password: str, password_hash: str | None) -> bool:
    """Return whether the password is right; as slow for None (no account, or one without a password)."""
    against = password_hash or _unmatchable_hash()
    try:
        _hasher.verify(against, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


@contextmanager
def reserve_slot() -> Iterator[None]:
    """Reserve one of the slots for comparing and waiting. Raises 503 `busy` if all are taken."""
    if not _places.acquire(blocking=False):
        raise ProblemError(
            503,
            "busy",
            "Too many sign-ins at once; try again in a second.",
            headers={"Retry-After": "1"},
        )
    try:
        yield
    finally:
        _places.release()


async def matches_in_thread(password: str, password_hash: str | None) -> bool:
    """Run `matches` in one of the comparing threads; call `reserve_slot` first."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, matches, password, password_hash
    )


async def make_hash_in_thread(password: str, about: Sequence[str]) -> str:
    """Run `make_hash` in one of the comparing threads; call `reserve_slot` first."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, make_hash, password, about
    )
