"""The shell scripts that Paceline runs on a device, as argv.

`sh/*.sh` are written for the mksh and toybox of every Android version and tested with POSIX shells. Values are
passed as arguments and never become shell code. Comments are removed, so that a script fits into one packet of
an old device; `# Needs:` names the programs it starts.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal, get_args

Name = Literal[
    "start",
    "launch",
    "follow",
    "order",
    "sweep",
    "listing",
    "leftovers",
    "remove",
    "tools",
]

DIRECTORY = Path(__file__).with_name("sh")
STARTED_WITHOUT_SCRIPT = ("cat", "cp", "env", "getprop", "mkdir", "rm", "sh")
"""Required programs of the device that the agent also starts without a script."""
_NEEDS = re.compile(r"^# Needs: (.+)$", re.MULTILINE)


def argv(name: Name, *arguments: str) -> list[str]:
    """Return the command that runs a script with `arguments`."""
    return ["sh", "-c", text(name), name, *arguments]


@cache
def tools() -> tuple[str, ...]:
    """Return the programs that a device must have."""
    needed = set(STARTED_WITHOUT_SCRIPT)
    for name in get_args(Name):
        for programs in _NEEDS.findall(_source(name)):
            needed.update(programs.split())
    return tuple(sorted(needed))


@cache
def text(name: Name) -> str:
    """Return the script without its comments and empty lines."""
    lines = _source(name).splitlines()
    return "".join(
        f"{line}\n"
        for line in lines
        if line.strip() and not line.lstrip().startswith("#")
    )


def _source(name: Name) -> str:
    return (DIRECTORY / f"{name}.sh").read_text(encoding="utf-8")
