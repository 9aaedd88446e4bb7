"""Makes names that manifests allow from the texts by which other tools call their benchmarks.

A name keeps its whole text: it depends on nothing else, and two texts never share one. Imports and the commands that
`paceline run` and `paceline ab` drive make all of their names here.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

DIGEST_MARK: Final = "__"
"""Precedes the digest in a name whose plain form loses some of its text; no plain form has it."""
MAX_NAME, DIGITS = 64, 16
"""Most characters of a name, and those of its digest."""


def make_name(text: str) -> str:
    """Return the name that manifests allow for a text: the text where that is one, else its plain form with a digest.

    Two texts never share a name, whatever else was named: a text is its own name only without `__`, which precedes
    every digest. `sign` → `sign`, `n<=8` → `n_8__` and 16 digits."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    plain = plain if plain[:1].isalpha() else f"b_{plain}".rstrip("_")
    if plain == text and len(text) <= MAX_NAME:
        return text
    return append_digest(plain, text)


def stands_for(name: str, text: str) -> bool:
    """Return whether a name has a digest and was made of `text`."""
    return DIGEST_MARK in name and make_name(text) == name


def append_digest(plain: str, text: str) -> str:
    """Return `plain`, cut where it is long, with the digest of the text that it stands for."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    return f"{plain[: MAX_NAME - DIGITS - len(DIGEST_MARK)].rstrip('_')}{DIGEST_MARK}{digest}"
