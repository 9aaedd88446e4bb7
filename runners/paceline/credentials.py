"""Checks addresses of servers and credentials before their first use, because an HTTP library prints what it cannot send.

White space around them is left out: a line break at the end of a CI variable is the commonest. No message repeats a
credential, nor an address that may hold one.
"""

from __future__ import annotations

import re

import httpx

from paceline.errors import UserError

NO_CREDENTIAL_CHARACTER = re.compile(r"[^!-~]")
"""What an HTTP header's token cannot hold (RFC 9110 §11.2, a part of it): white space, control characters, and
anything beyond ASCII, such as a typographic quotation mark."""


def check_credential(text: str, what: str = "The token") -> str:
    """Return `text` without white space around it. Raises UserError, which names the place of a character that no
    credential has, never the text."""
    credential = text.strip()
    if not credential:
        raise UserError(f"{what} is empty.", "Set it, or leave the option out.")
    wrong = NO_CREDENTIAL_CHARACTER.search(credential)
    if wrong is not None:
        raise UserError(
            f"{what} has a character that no token has, at place {wrong.start() + 1} of {len(credential)}.",
            "Copy it once more, without quotation marks, spaces or line breaks in it.",
        )
    return credential


def check_address(text: str, what: str = "The server's address") -> str:
    """Return an address without white space around it and without a slash at its end. Raises UserError."""
    address = text.strip()
    advice = "Give it as http://HOST or https://HOST, with :PORT where it has one."
    if not address.startswith(("http://", "https://")):
        # What does not begin like an address may be a token in the wrong variable.
        raise UserError(f"{what} does not begin with http:// or https://.", advice)
    wrong = NO_CREDENTIAL_CHARACTER.search(address)
    if wrong is not None:
        raise UserError(
            f"{what} has a character that no address has, at place {wrong.start() + 1} of {len(address)}.",
            advice,
        )
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise UserError(f"{what} is not one.", advice) from error
    if url.userinfo:
        raise UserError(
            f"{what} holds a name or a password.",
            f"Give {url.scheme}://{url.netloc.decode('ascii')}, and the token by its own option or variable.",
        )
    if not url.host:
        raise UserError(f"{what} names no host.", advice)
    return address.rstrip("/")
