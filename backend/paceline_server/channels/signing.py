"""Signs webhooks by the Standard Webhooks specification (standardwebhooks.com), symmetric scheme `v1`.

A receiver checks `webhook-signature` with any library of that specification, and takes `webhook-id` as its idempotency
key. While a key is replaced, both sign, so a receiver may change it at any moment in between.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 - what the specification puts before every secret
SECRET_BYTES = 32
"""The specification wants 24 to 64."""


def new_secret() -> str:
    """Return a secret as receivers' libraries take it."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(
    keys: Sequence[str], message_id: str, at: datetime, body: bytes
) -> dict[str, str]:
    """Return the three headers of a message, signed by each of `keys`, the newest first."""
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
