"""The error that is shown to people: what happened and what to do next.

The command line prints it without a traceback; any other exception is a bug of ours.
"""

from __future__ import annotations

from typing import ClassVar


class UserError(Exception):
    """`text` says what is wrong, `advice` what to do about it."""

    exit_status: ClassVar[int] = 1

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(f"{text}\n{advice}" if advice else text)
        self.text = text
        self.advice = advice
