"""Names the manifest of an export, by which its directory differs from one that `paceline run` wrote.

It is a module of its own, because the modules that write and read exports load pyarrow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCHEMA: Final = "paceline.export/1"
MANIFEST: Final = "manifest.json"


def is_export(directory: Path) -> bool:
    """Return whether a directory is an export."""
    return (directory / MANIFEST).is_file()
