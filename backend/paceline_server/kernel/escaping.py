"""Escapes text for Markdown, as GitHub, GitLab, Mattermost, Teams and Discord read it, and for XML 1.0.

Names and messages come from strangers' repositories. Escaped text cannot end a table, open a tag, hide a link or
mention a person.
"""

from __future__ import annotations

import re

NAME_CHARACTERS = 200

_SPECIAL = re.compile(r"([\\`*_{}\[\]#!|~])")
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Control characters, and characters that hide or reverse the text around them."""


def escape(text: str, longest: int = NAME_CHARACTERS) -> str:
    """Return `text` on one line, cut to `longest` characters, so that it is shown as it is, without markup or
    mentions."""
    plain = _INVISIBLE.sub(" ", text).strip()
    if len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain).replace("@", "&#64;").replace("://", ":&#47;/")


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (production 2, Char)."""


def xml_text(text: str) -> str:
    """Return the text with U+FFFD in place of each character that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
