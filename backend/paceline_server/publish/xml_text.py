"""Makes text that XML 1.0 can hold: names and messages come from strangers' programs."""

from __future__ import annotations

import re

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped (production 2, Char)."""


def xml_text(text: str) -> str:
    """The text with a mark for each character that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
