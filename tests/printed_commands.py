"""The fenced blocks of the documents, and how tests run the commands in them.

The line before a fence is `<!-- run: NAME -->` where a test runs the block exactly as printed, or
`<!-- not run: REASON -->`. Readers see neither.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
FENCED = re.compile(
    r"(?:^<!-- (run|not run): ([^\n]+) -->\n)?^```\w*\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block. `mark`: "run" or "not run" with its text, None without a mark."""

    text: str
    mark: tuple[str, str] | None


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page, which is named by its path in the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(body, (kind, words) if kind else None)
        for kind, words, body in FENCED.findall(text)
    ]


def block(page: str, name: str) -> str:
    """Return the text of the block of `page` that is marked `run: NAME`."""
    (text,) = (block.text for block in blocks_of(page) if block.mark == ("run", name))
    return text


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in place of what a page prints for the reader to replace, such as `ALERT` or an example's name."""
    for placeholder, value in values.items():
        assert placeholder in text, f"{placeholder} is not in {text}"
        text = text.replace(placeholder, value)
    return text


def run_in_shell(text: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a block as a CI system would: bash, stopping at the first error, with the commands on the PATH, and without
    settings of a surrounding Paceline."""
    outer = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PACELINE_")
    }
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", text],
        cwd=cwd,
        env={**outer, "PATH": f"{BIN}{os.pathsep}{outer['PATH']}", **env},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
