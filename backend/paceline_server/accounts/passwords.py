"""Hashes and compares passwords with argon2id, in separate threads.

An unknown address takes as much time as a known one, so that timing reveals nothing. Parameters: RFC 9106 §4, second
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
MAX_CONCURRENT = max(1, (os.cpu_count() or 1) // 2)
"""Hashes computed at a time; each takes 64 MiB and up to four cores."""
MAX_WAITING = 32
"""Sign-ins and new passwords that may wait, a few seconds in all; others get a 503."""
_threads = ThreadPoolExecutor(MAX_CONCURRENT, thread_name_prefix="argon2")
_slots = threading.BoundedSemaphore(MAX_CONCURRENT + MAX_WAITING)


def hash_password(password: str) -> str:
    """Return the argon2id hash, which contains salt and parameters."""
    return _hasher.hash(password)


def make_hash(password: str, about: Sequence[str]) -> str:
    """Return the hash of a new password. Raises 400 `weak_password`; `about`: name and address of its owner."""
    check_password(password, about)
    return hash_password(password)


@cache
def _unmatchable_hash() -> str:
    return hash_password(
        "a password nobody has: compared against so that unknown addresses take as long"
    )


def matches(password: str, password_hash: str | None) -> bool:
    """Return whether the password is right. It takes as long for None: no account, or one without a password."""
    try:
        _hasher.verify(password_hash or _unmatchable_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


@contextmanager
def reserve_slot() -> Iterator[None]:
    """Reserve one of the slots for hashing or waiting to hash. Raises 503 `busy` if all are taken."""
    if not _slots.acquire(blocking=False):
        raise ProblemError(
            503,
            "busy",
            "Too many sign-ins at once; try again in a second.",
            headers={"Retry-After": "1"},
        )
    try:
        yield
    finally:
        _slots.release()


async def matches_in_thread(password: str, password_hash: str | None) -> bool:
    """Run `matches` in one of the hashing threads; callers hold a `reserve_slot`."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, matches, password, password_hash
    )


async def make_hash_in_thread(password: str, about: Sequence[str]) -> str:
    """Run `make_hash` in one of the hashing threads; callers hold a `reserve_slot`."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, make_hash, password, about
    )
