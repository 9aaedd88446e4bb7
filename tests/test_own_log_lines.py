"""Tests that the suite `hashing` declares the log lines of its own counters.

The formats are taken from the sources in `native/hashing`, so that neither side can change a line alone.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from paceline import manifest
from paceline.formats import logcat
from paceline.formats.declared import quantity_of
from paceline.formats.raw_lines import lines_of

HASHING = Path(__file__).resolve().parents[1] / "native" / "hashing"
LINES = manifest.load(HASHING / "suite.toml").log_lines()


def printed_by(name: str, begins: str) -> str:
    """The one string literal of the one file that begins so. Git finds the file, because builds beside the tests make and
    remove directories in the suite's own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", f"*/{name}"],
        cwd=HASHING,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    texts = [(HASHING / path).read_text(encoding="utf-8") for path in listed if path]
    joined = "\n".join(text.replace("` +\n          `", "") for text in texts)
    (found,) = re.findall(rf'["`]({re.escape(begins)}[^"`\n]*)["`]', joined)
    return str(found)


KOTLIN = printed_by("DigestMeters.kt", "JSTorrent-Hash: ")
JAVASCRIPT = printed_by("instrumentation.js", "JSTorrent-JS: ")


@given(
    calls=st.integers(1, 10**6),
    each_ms=st.integers(1, 1000),
    longest_ms=st.integers(0, 10**4),
)
def test_lines_printed_by_our_counters_are_imported_with_every_field(
    calls: int, each_ms: int, longest_ms: int
) -> None:
    total_s = calls * each_ms / 1000
    kotlin = KOTLIN % (calls, calls, each_ms * 1000, longest_ms * 1000, calls / total_s)
    values = iter(
        (
            f"{calls}",
            f"{calls:.1f}",
            f"{each_ms:.2f}",
            f"{longest_ms}",
            f"{calls / total_s:.1f}",
        )
    )
    javascript = re.sub(
        r"\$\{(?:[^{}]|\{[^{}]*\})*\}", lambda _: next(values), JAVASCRIPT
    )
    log = logcat.read(lines_of([f"{kotlin}\n{javascript}\n".encode()]), LINES)
    assert not log.problems
    assert [record.pattern for record in log.records] == [
        "hashing.piece_kotlin",
        "hashing.piece_js",
    ]
    for record in log.records:
        assert record.fields["count"] == calls
        assert quantity_of(record.fields, "bytes").value == calls * 2**20
        assert quantity_of(record.fields, "avg").value == each_ms * 10**6
        assert quantity_of(record.fields, "max").value == longest_ms * 10**6
