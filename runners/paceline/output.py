"""Where results are written: a directory that is new or empty, because streams are never mixed.

Place in the journey: the last question before anything is measured or read. Invariant: nothing is created
here; whoever writes does that.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from paceline.errors import UserError


def fresh_directory(wanted: Path | None, suite: str) -> Path:
    """`wanted`, or one of its own under paceline-runs. Raises UserError when something is there already."""
    if wanted is None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        return Path("paceline-runs") / f"{suite}-{stamp}"
    if wanted.is_dir() and any(wanted.iterdir()):
        raise UserError(
            f"{wanted} is not empty.",
            "Give a new directory with --out; streams are never mixed.",
        )
    if wanted.exists() and not wanted.is_dir():
        raise UserError(f"{wanted} is a file.", "Give a directory with --out.")
    return wanted
