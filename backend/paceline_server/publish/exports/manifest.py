"""Names the manifest of an export, so that a directory can be told from what `paceline run` wrote.

Apart from what writes and reads exports, because that loads pyarrow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCHEMA: Final = "paceline.export/1"
MANIFEST: Final = "manifest.json"


def is_export(directory: Path) -> bool:
    """Return whether a directory is an export."""
    return (directory / MANIFEST).is_file()
