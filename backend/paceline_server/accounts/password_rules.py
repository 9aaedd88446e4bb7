"""Decides which passwords are accepted: long ones that are not guessed from known passwords or the owner's name.

NIST SP 800-63B §3.1.1.2 asks for length and a comparison with known passwords instead of rules about characters.
Hashing is in `passwords.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from zxcvbn import zxcvbn

from paceline_server.kernel.errors import ProblemError

MIN_LENGTH = 12
"""Characters; NIST SP 800-63B asks for at least 8 where a second factor follows, and for 15 where none does and
nothing else is checked."""
MAX_LENGTH = 1024
"""Characters; argon2id takes any length, but a request has a limit."""
LEAST_GUESSES_LOG10 = 8
"""An attacker must be expected to need 10^8 guesses: zxcvbn calls that `safely unguessable`, even offline against a
slow hash such as argon2id (Wheeler, USENIX Security 2016)."""
MAX_ESTIMATED_LENGTH = 72
"""Only the first 72 characters are estimated, because zxcvbn's time grows with the square of the length."""
OWN_WORDS = ("paceline",)


def check_password(password: str, about: Sequence[str]) -> None:
    """Raise 400 `weak_password` for a password that is too short, too long or easily guessed. `about`: its owner's
    name and address, which an attacker would try."""
    if len(password) < MIN_LENGTH:
        raise _weak(f"A password needs at least {MIN_LENGTH} characters.")
    if len(password) > MAX_LENGTH:
        raise _weak(f"A password has at most {MAX_LENGTH} characters.")
    known = [
        word
        for text in about
        for word in (text, *text.replace("@", " ").replace(".", " ").split())
    ]
    estimate = zxcvbn(password[:MAX_ESTIMATED_LENGTH], user_inputs=[*OWN_WORDS, *known])
    if estimate["guesses_log10"] < LEAST_GUESSES_LOG10:
        raise _weak(
            "This password is easily guessed: it is on a list of known ones, or made of a few common words, "
            "repetitions or your name. Take several unrelated words, or let a password manager make one."
        )


def _weak(detail: str) -> ProblemError:
    return ProblemError(400, "weak_password", detail, fields={"password": detail})
