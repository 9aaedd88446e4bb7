"""Generates identifiers and secrets.

Ids begin with the kind of object (`run_…`, `job_…`) and sort by creation within a process. They are not secret. Secrets
have 256 random bits and are stored only as SHA-256.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case, without i, l, o and u: digits sort as their values do."""
TIME_BITS = 48
"""Milliseconds since 1970 fit until the year 10889."""
RANDOM_BITS = 72
"""Eight fewer than in a ULID: 120 bits in all make 24 characters without padding."""

_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return a sortable id such as `job_06f3k…` (24 base-32 characters); monotonic within the process."""
    global _last  # noqa: PLW0603 - the previous value makes ids monotonic
    value = (int(time.time() * 1000) << RANDOM_BITS) | secrets.randbits(RANDOM_BITS - 1)
    with _lock:
        value = max(value, _last + 1)
        _last = value
    digits = []
    for _ in range((TIME_BITS + RANDOM_BITS) // 5):
        value, digit = divmod(value, 32)
        digits.append(ALPHABET[digit])
    return f"{prefix}_{''.join(reversed(digits))}"


def new_secret(prefix: str) -> str:
    """Return `prefix_` and 256 random bits, URL-safe. Callers show it once and store its `sha256_hex`."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def sha256_hex(secret: str) -> str:
    """Return the hash under which a secret is stored. It needs no salt, because a secret has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same_secret(left: str, right: str) -> bool:
    """Return whether two secrets are equal, in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())
