"""Keeps the server's last remarks on this agent's identity, so that `paceline doctor` can show them without the server."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from paceline.preflight import Code, Finding

log = logging.getLogger("paceline.announce")

MAX_TEXT = 500


def keep(data_dir: Path, remarks: Sequence[str]) -> None:
    """Replace the stored remarks; without remarks, remove the file."""
    path = _path(data_dir)
    try:
        if not remarks:
            path.unlink(missing_ok=True)
            return
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(msgspec.json.encode(list(remarks)))
        new.replace(path)
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error.strerror)


def findings(data_dir: Path) -> list[Finding]:
    """Return a finding for each remark that is kept."""
    try:
        remarks = msgspec.json.decode(_path(data_dir).read_bytes(), type=list[str])
    except (OSError, msgspec.DecodeError):
        return []
    return [
        Finding(
            Code.IDENTITY,
            "warning",
            f"The server said last: {remark}"[:MAX_TEXT],
            "Start the agent again after a change here; it is asked anew then.",
        )
        for remark in remarks
    ]


def _path(data_dir: Path) -> Path:
    return data_dir / "server-remarks.json"
