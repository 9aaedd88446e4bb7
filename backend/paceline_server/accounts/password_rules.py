"""Decides which passwords are accepted: long ones that neither lists of known passwords nor their owner's name give away.

NIST SP 800-63B §3.1.1.2 asks for length and a comparison with known passwords instead of rules about characters.
Hashing is in `passwords.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from zxcvbn import zxcvbn

from paceline_server.kernel.errors import ProblemError

SHORTEST = 12
"""Characters; NIST SP 800-63B asks for at least 8 where a second factor follows, and for 15 where none does and
nothing else is checked."""
LONGEST = 1024
"""Characters; argon2id takes any length, a request does not."""
LEAST_GUESSES_LOG10 = 8
"""Guesses that the estimator expects an attacker to need: what zxcvbn calls `safely unguessable`, even offline against
a slow hash such as argon2id (Wheeler, USENIX Security 2016)."""
ESTIMATED = 72
"""Characters that are estimated, because its time grows with their square; a longer password is judged by them."""
OWN_WORDS = ("paceline",)


def check_password(password: str, about: Sequence[str]) -> None:
    """Raise 400 `weak_password` for a password that is too short or easily guessed. `about`: words an attacker
    knows of its owner, such as name and address."""
    if len(password) < SHORTEST:
        raise _weak(f"A password needs at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise _weak(f"A password has at most {LONGEST} characters.")
    known = [
        word
        for text in about
        for word in (text, *text.replace("@", " ").replace(".", " ").split())
    ]
    judged = zxcvbn(password[:ESTIMATED], user_inputs=[*OWN_WORDS, *known])
    if judged["guesses_log10"] < LEAST_GUESSES_LOG10:
        raise _weak(
            "This password is easily guessed: it is on a list of known ones, or made of a few common words, "
            "repetitions or your name. Take several unrelated words, or let a password manager make one."
        )


def _weak(detail: str) -> ProblemError:
    return ProblemError(400, "weak_password", detail, fields={"password": detail})
