"""`getprop`, parsed.

Place in the journey: behind `Connection.props`. Invariant: pure; a value may span lines.
"""

from __future__ import annotations

import re

PROPERTY = re.compile(r"^\[([^\]\n]+)\]: \[(.*?)\]$", re.MULTILINE | re.DOTALL)


def parse_properties(text: str) -> dict[str, str]:
    """`[name]: [value]`, one after the other; what is neither is left out."""
    return dict(PROPERTY.findall(text.replace("\r\n", "\n")))
