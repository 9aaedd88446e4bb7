"""Reads and narrows command lines of `cargo bench`, which starts the benchmarks of several harnesses."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from paceline.harnesses.port import program_of

CARGO_VALUE = re.compile(
    "-[pjFZC]|--(package|bench|bin|example|test|exclude|jobs|profile|features|target|target-dir|manifest-path"
    "|lockfile-path|message-format|color|config)"
)
"""Matches the options of cargo that take a value."""


def is_cargo_bench(command: Sequence[str]) -> bool:
    """Return whether a command is `cargo bench`."""
    return program_of(command) == "cargo" and "bench" in command[1:]


def keep_target_apart() -> dict[str, str]:
    """Return the variables with which cargo builds each side below its own directory, where the user's settings name one
    directory for all: there cargo takes the other side's program for its own if the sources are older, and both sides
    would be one program."""
    target = os.environ.get("CARGO_TARGET_DIR") or os.environ.get(
        "CARGO_BUILD_TARGET_DIR"
    )
    build = os.environ.get("CARGO_BUILD_BUILD_DIR")
    apart = {}
    if _is_shared(target, "target-dir"):
        apart["CARGO_TARGET_DIR"] = "target"
    if _is_shared(build, "build-dir"):
        apart["CARGO_BUILD_BUILD_DIR"] = "target"
    return apart


def _is_shared(value: str | None, setting: str) -> bool:
    """Return whether a variable's value, or else the user's setting, names a directory outside of each side's own."""
    return Path(value).is_absolute() if value else _is_configured(setting)


def _is_configured(setting: str) -> bool:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    for name in ("config.toml", "config"):
        try:
            text = (home / name).read_text(encoding="utf-8")
            return setting in tomllib.loads(text).get("build", {})
        except (OSError, ValueError, TypeError, AttributeError):
            continue
    return False


def depends_on(crate: str, directory: Path) -> bool:
    """Return whether the manifest in `directory` names a crate as a dependency."""
    mark = re.compile(rf"^(\[.*\bdependencies\.)?{crate}\b", re.MULTILINE)
    try:
        manifest = (directory / "Cargo.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return mark.search(manifest) is not None


def select_cases(
    command: Sequence[str], with_value: re.Pattern[str], filters: Sequence[str]
) -> list[str]:
    """Return the command with other filters for the harness, whose options that `with_value` matches take a value."""
    at = command.index("bench") + 1
    end = command.index("--") if "--" in command else len(command)
    return [
        *command[:at],
        *_without_positionals(command[at:end], CARGO_VALUE),
        "--",
        *_without_positionals(command[end + 1 :], with_value, "--exact"),
        *filters,
    ]


def _without_positionals(
    arguments: Sequence[str], with_value: re.Pattern[str], *flags: str
) -> list[str]:
    """Return the options without these flags, and the values of those that take one."""
    kept = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument.startswith("-") and argument not in flags:
            kept.append(argument)
            if with_value.fullmatch(argument):
                kept += [value for value in (next(remaining, None),) if value]
    return kept
