"""States what every backend promises about files: which paths are valid, and what a refusal means.

A pulled file appears whole under its name or not at all. Callers verify content by a digest that the device
computes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paceline.adb.port import AdbError, TransferError

LONGEST_PATH = 1024
"""Most bytes of a path that the device accepts."""
REGULAR_FILE = 0o100000
NO_SPACE = ("no space left", "disk quota exceeded")


def encode_path(remote: str) -> bytes:
    """Return the path as the sync service takes it. Raises AdbError for an invalid path."""
    path = remote.encode("utf-8", "surrogateescape")
    if not path or b"\0" in path or len(path) > LONGEST_PATH:
        raise AdbError(
            f"{remote!r} is not a path of a device",
            f"A path has 1 to {LONGEST_PATH} bytes and no NUL.",
        )
    return path


def refusal_error(remote: str, reason: str) -> TransferError:
    """Return the error for a FAIL with `reason`."""
    if any(text in reason.lower() for text in NO_SPACE):
        return TransferError(
            f"{remote}: the device's storage is full ({reason})",
            "Remove files that are not needed; `adb shell du -sh /data/local/tmp/*` lists the largest.",
            no_space=True,
        )
    return TransferError(f"{remote}: the device refused the file: {reason}")


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a new file beside `target` that replaces it when the block ends well, and is removed otherwise."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(descriptor)
    try:
        yield Path(name)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
