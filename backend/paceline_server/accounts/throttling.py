"""Slows down guessing: counts failures per key and pauses a key that failed too often.

A failure is counted before the secret is compared, so that concurrent guesses all count; a success withdraws it. An
address alone has a high limit, so that a stranger cannot lock its owner out cheaply (OWASP Authentication Cheat Sheet).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.accounts import queries
from paceline_server.accounts.names import email_key
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.ids import sha256_hex

FREE_FAILURES = {
    "address_from_place": 5,
    "address": 50,
    "place": 100,
    "own_password": 5,
    "invitation": 5,
}
"""Failures per kind of key before pauses begin."""
MAX_PAUSE_S = 900
FORGET_AFTER = timedelta(hours=1)


def sign_in_keys(email: str, place: str) -> dict[str, str]:
    """Return the keys under which failures of signing in are counted. They are hashed, so that the table holds no
    address that somebody typed."""
    address = _hash_email(email)
    return {
        "address_from_place": f"both:{address}:{place}",
        "address": f"address:{address}",
        "place": f"place:{place}",
    }


def _hash_email(email: str) -> str:
    return sha256_hex(email_key(email))[:32]


def count_failures(session: Session, keys: Mapping[str, str]) -> None:
    """Count a failure under each key. Raises 429 `throttled` while one is paused; the failure then does not count."""
    at = clock.now()
    # Keys are locked in the same order by every attempt, which rules out deadlocks.
    for kind, key in sorted(keys.items()):
        failures = queries.count_failure(
            session, key, at, forget_before=at - FORGET_AFTER
        )
        _refuse_paused(session, key, at)
        beyond = failures - FREE_FAILURES[kind]
        if beyond >= 0:
            pause = timedelta(seconds=min(MAX_PAUSE_S, 2 ** min(beyond, 20)))
            queries.block(session, key, at + pause)


def withdraw_failures(session: Session, keys: Mapping[str, str]) -> None:
    """Delete the failures of an address that signed in, and subtract one from its place, which others share."""
    queries.clear_throttles(session, [keys["address_from_place"], keys["address"]])
    queries.subtract_failure(
        session, keys["place"], unblock_below=FREE_FAILURES["place"]
    )


def forget_address(session: Session, email: str) -> None:
    """Delete the failures of an address from anywhere, because its owner has a new password."""
    queries.clear_throttles(session, [f"address:{_hash_email(email)}"])


def _refuse_paused(session: Session, key: str, at: datetime) -> None:
    """Raise 429 while `key` is paused.

    It is called after counting, which locks the row, so that each of several concurrent attempts sees the pause that
    the one before it set.
    """
    until = queries.blocked_until(session, key)
    if until is not None and until > at:
        seconds = int((until - at).total_seconds()) + 1
        raise ProblemError(
            429,
            "throttled",
            f"Too many failures; try again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
