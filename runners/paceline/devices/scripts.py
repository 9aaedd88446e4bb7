"""The few lines of shell that Paceline runs on a device, as argv.

Place in the journey: between `sh/*.sh`, written for every Android's mksh and toybox (and held to POSIX shells
in tests), and `Connection.run`. Invariants: a script is a constant; whatever varies is an argument of its own
and never becomes shell; comments stay here, so that every script fits into one packet of an old device.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

Name = Literal["start", "launch", "follow", "order", "sweep", "listing", "leftovers", "remove"]

DIRECTORY = Path(__file__).with_name("sh")


def argv(name: Name, *arguments: str) -> list[str]:
    """The command that runs a script with `arguments`; the same to the byte for the same arguments."""
    return ["sh", "-c", text(name), name, *arguments]


@cache
def text(name: Name) -> str:
    """The script without its comments and empty lines."""
    lines = (DIRECTORY / f"{name}.sh").read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if line.strip() and not line.lstrip().startswith("#"))
