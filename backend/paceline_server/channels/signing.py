"""Signs webhooks by the Standard Webhooks specification (standardwebhooks.com), symmetric scheme `v1`.

A receiver checks `webhook-signature` with any library for that specification, and uses `webhook-id` as idempotency key.
While a key is being replaced, both the old and the new one sign, so a receiver may switch at any moment.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 - the specification's prefix of every secret
SECRET_BYTES = 32
"""The specification requires 24 to 64 bytes."""


def new_secret() -> str:
    """Return a new secret in the form that receivers' libraries expect."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(
    keys: Sequence[str], message_id: str, at: datetime, body: bytes
) -> dict[str, str]:
    """Return the three headers of a message, with a signature by each of `keys`, the newest first."""
    timestamp = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    signatures = [f"v1,{_signature(key, signed)}" for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def _signature(key: str, signed: bytes) -> str:
    secret = base64.b64decode(key.removeprefix(SECRET_PREFIX))
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
