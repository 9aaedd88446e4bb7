"""Identifies a manifest by its content, so that an agent announces it without sending it.

A heartbeat names each suite's digest; the server asks for manifests that it lacks. Both sides compute the digest from
the manifest as JSON, so equal content has an equal digest whatever the file looks like.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def manifest_digest(raw: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the manifest's canonical JSON: names sorted, no spaces, UTF-8. Equal exactly for equal content."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
