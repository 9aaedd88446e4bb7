"""Slows down guessing: counts failures per key and pauses a key that failed too often.

A failure is counted before the secret is compared, so that concurrent guesses all count; a success takes it back. An
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

AFTER = {
    "address_from_place": 5,
    "address": 50,
    "place": 100,
    "own_password": 5,
    "invitation": 5,
}
"""Failures before pauses begin, per kind of key."""
LONGEST_S = 900
FORGET_AFTER = timedelta(hours=1)


def sign_in_keys(email: str, place: str) -> dict[str, str]:
    """Return the keys that failures of signing in are counted under; hashed, so that the table holds no typed-in
    addresses."""
    address = _hash_email(email)
    return {
        "address_from_place": f"both:{address}:{place}",
        "address": f"address:{address}",
        "place": f"place:{place}",
    }


def _hash_email(email: str) -> str:
    return sha256_hex(email_key(email))[:32]


def count(session: Session, keys: Mapping[str, str]) -> None:
    """Count a failure under each key. Raises 429 `throttled`, without counting, while one is paused."""
    at = clock.now()
    # Always in the same order, which rules out deadlocks between attempts.
    for kind, key in sorted(keys.items()):
        failures = queries.count_failure(
            session, key, at, forget_before=at - FORGET_AFTER
        )
        _refuse_paused(session, key, at)
        beyond = failures - AFTER[kind]
        if beyond >= 0:
            pause = timedelta(seconds=min(LONGEST_S, 2 ** min(beyond, 20)))
            queries.block(session, key, at + pause)


def take_back(session: Session, keys: Mapping[str, str]) -> None:
    """Forget the failures of an address that signed in, and one of its place, which others share."""
    queries.clear_throttles(session, [keys["address_from_place"], keys["address"]])
    queries.give_back_failure(session, keys["place"], unblock_below=AFTER["place"])


def forget_address(session: Session, email: str) -> None:
    """Forget the failures of an address from anywhere: its owner has a new password."""
    queries.clear_throttles(session, [f"address:{_hash_email(email)}"])


def _refuse_paused(session: Session, key: str, at: datetime) -> None:
    """Raise 429 while `key` is paused. Called after counting, which locks the row, so that each of several
    concurrent attempts sees the pause that the one before it set."""
    until = queries.blocked_until(session, key)
    if until is not None and until > at:
        seconds = int((until - at).total_seconds()) + 1
        raise ProblemError(
            429,
            "throttled",
            f"Too many failures; try again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
