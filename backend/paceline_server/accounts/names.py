"""Normalizes names and e-mail addresses of accounts, and refuses those that look like somebody else's.

A reader of the audit log or of an invitation must not take one person for another. So names and addresses that differ
only in case or spaces are the same, and invisible characters and letters of several scripts are refused.
"""

from __future__ import annotations

import re
import unicodedata

from paceline_server.kernel.errors import invalid_request

RESERVED_NAMES = frozenset({"system", "agent", "anonymous", "imports", "up", "shell"})
"""Names that the system has in logs. No account may have them, nor a name that begins with `schedule `."""
MAX_NAME_LENGTH = 100
MAX_EMAIL_LENGTH = 254
"""RFC 5321 §4.5.3.1.3, without the angle brackets."""
ALIKE_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look alike. A name may have letters of only one of them."""
EMAIL = re.compile(r"[^\s@<>()\[\]\\,;:\"]+@[^\s@<>()\[\]\\,;:\"]+")


def normalize_name(name: str) -> str:
    """Return the name in its one spelling. Raises 400 for a name that is empty, too long, reserved, mixes scripts or
    has control characters."""
    name = " ".join(unicodedata.normalize("NFKC", name).split())
    key = name_key(name)
    if key in RESERVED_NAMES or key.startswith("schedule "):
        raise invalid_request(f"{name!r} is a name of the system: choose another one.")
    if not name or any(unicodedata.category(char)[0] == "C" for char in name):
        raise invalid_request(
            "A name has at least one visible character and no control characters."
        )
    if len(name) > MAX_NAME_LENGTH:
        raise invalid_request(f"A name has at most {MAX_NAME_LENGTH} characters.")
    scripts = _alike_scripts(name)
    if len(scripts) > 1:
        raise invalid_request(
            f"The name {name!r} has letters of {' and '.join(sorted(scripts)).title()}, which look alike: "
            "write it in one script."
        )
    return name


def name_key(name: str) -> str:
    """Return the form of a name that is unique among accounts: case folded, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _alike_scripts(name: str) -> set[str]:
    scripts = {
        unicodedata.name(char, "").partition(" ")[0] for char in name if char.isalpha()
    }
    return scripts & ALIKE_SCRIPTS


def normalize_email(email: str) -> str:
    """Return the address in its one spelling. Raises 400 for text that is no address."""
    spelled = email_key(email)
    is_address = EMAIL.fullmatch(spelled) is not None
    if (
        not is_address
        or len(spelled) > MAX_EMAIL_LENGTH
        or any(unicodedata.category(char)[0] == "C" for char in spelled)
        or len(_alike_scripts(spelled)) > 1
    ):
        raise invalid_request(
            f"{email[:MAX_EMAIL_LENGTH]!r} is no e-mail address: expected one as in ada@example.org."
        )
    return spelled


def email_key(email: str) -> str:
    """Return an address as it is stored and looked up. It is only case-folded, which keeps `ı` apart from `i`."""
    return unicodedata.normalize("NFKC", email).strip().casefold()
