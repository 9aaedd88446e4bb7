"""The interface of a channel, and what is sent through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Notice:
    """What is said of one confirmed alert."""

    alert_id: str
    title: str
    words: str
    explanation: str
    url: str
    demonstration: bool


class ChannelError(Exception):
    """The channel could not deliver; the outbox tries again later."""


class Channel(Protocol):
    """One way to tell people."""

    name: str

    def send(self, notice: Notice) -> None:
        """Deliver; a repeat must do no harm. Raises ChannelError when it should be tried again."""
        ...
