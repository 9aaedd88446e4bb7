"""Brings names and e-mail addresses of accounts into one spelling, and refuses those that look like another's.

Whoever reads the audit log, or is asked to accept an invitation, must not take one person for another: case, spaces,
invisible characters and letters of a second script make no new name and no new address.
"""

from __future__ import annotations

import re
import unicodedata

from paceline_server.kernel.errors import invalid_request

RESERVED_NAMES = frozenset({"system", "agent", "anonymous", "imports", "up", "shell"})
"""Names of the system in logs: no account is called so, nor `schedule …`."""
LONGEST_NAME = 100
LONGEST_EMAIL = 254
"""RFC 5321 §4.5.3.1.3, without the angle brackets."""
ALIKE_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look like those of another: a name has letters of one of them."""
EMAIL = re.compile(r"[^\s@<>()\[\]\\,;:\"]+@[^\s@<>()\[\]\\,;:\"]+")


def checked_name(name: str) -> str:
    """Return the name in its one spelling. Raises 400 for one that is empty, hides something or is the system's."""
    name = " ".join(unicodedata.normalize("NFKC", name).split())
    key = name_key(name)
    if key in RESERVED_NAMES or key.startswith("schedule "):
        raise invalid_request(f"{name!r} is a name of the system: choose another one.")
    if not name or any(unicodedata.category(char)[0] == "C" for char in name):
        raise invalid_request(
            "A name has at least one visible character and no control characters."
        )
    if len(name) > LONGEST_NAME:
        raise invalid_request(f"A name has at most {LONGEST_NAME} characters.")
    scripts = _alike_scripts(name)
    if len(scripts) > 1:
        raise invalid_request(
            f"The name {name!r} has letters of {' and '.join(sorted(scripts)).title()}, which look alike: "
            "write it in one script."
        )
    return name


def name_key(name: str) -> str:
    """Return what two accounts may not share: the name without case, in single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _alike_scripts(name: str) -> set[str]:
    scripts = {
        unicodedata.name(char, "").partition(" ")[0] for char in name if char.isalpha()
    }
    return scripts & ALIKE_SCRIPTS


def checked_email(email: str) -> str:
    """Return the address in its one spelling. Raises 400 for what is no address."""
    spelled = email_key(email)
    is_address = EMAIL.fullmatch(spelled) is not None
    if (
        not is_address
        or len(spelled) > LONGEST_EMAIL
        or any(unicodedata.category(char)[0] == "C" for char in spelled)
        or len(_alike_scripts(spelled)) > 1
    ):
        raise invalid_request(
            f"{email[:LONGEST_EMAIL]!r} is no e-mail address: expected one as in ada@example.org."
        )
    return spelled


def email_key(email: str) -> str:
    """Return an address as it is stored and looked up. Folding case (and no more) keeps `ı` apart from `i`."""
    return unicodedata.normalize("NFKC", email).strip().casefold()
