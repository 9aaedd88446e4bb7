"""Names a repository by where it is: a URL or an absolute path, in one form however it was written.

A suite belongs to the location of its repository and an agent's grant names locations, because a nickname in
`agent.toml` is anybody's choice. `https://`, `ssh://` and `user@host:` addresses of one repository are one location.
Only text is read here; git finds out whether there is a repository.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

EVERYTHING: Final = "**"
"""The pattern that every location matches."""
MAX_LOCATION: Final = 1_000
"""Characters of a location or a pattern."""

_HOST = r"(?P<host>[A-Za-z0-9*][A-Za-z0-9.*-]*|\[[0-9A-Fa-f:.]+\])"
_URL = re.compile(
    rf"(?P<scheme>https?|ssh|git|git\+ssh)://(?:[^/@]*@)?{_HOST}(?::(?P<port>\d{{1,5}}))?/(?P<path>.*)"
)
_SCP = re.compile(rf"[^/@:\s]+@{_HOST}:(?P<path>.*)")
_BARE = re.compile(rf"{_HOST}(?P<port>:\d{{1,5}})?/(?P<path>.*)")
"""A location in the form that `canonical_location` gives it."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORTS = {"http": "80", "https": "443", "ssh": "22", "git+ssh": "22", "git": "9418"}
_EXPECTED = "expected an absolute path without `..`, or a URL such as https://git.example.org/team/mine.git"


class LocationError(ValueError):
    """The text names no location; the message says what was expected."""


def canonical_location(text: str) -> str:
    """Return where a repository is, in one form: `git.example.org/team/mine` or `/src/mine`. Raises LocationError."""
    if "*" in text:
        raise _invalid(text)
    return _canonical(text)


def canonical_pattern(text: str) -> str:
    """Return a pattern of locations in the same form. `*` stands for any part of one name, `**` for anything; `*` alone
    is `**`. Raises LocationError."""
    if text in {"*", EVERYTHING}:
        return EVERYTHING
    return _canonical(text)


def matches(location: str, patterns: list[str]) -> bool:
    """Return whether a canonical location matches one of these canonical patterns."""
    return any(
        _expression(pattern).fullmatch(location) is not None for pattern in patterns
    )


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern: `*` stays within a `/`, `**` does not."""
    parts = re.split(r"(\*+)", pattern)
    written = [
        ("[^/]*" if part == "*" else ".*") if part.startswith("*") else re.escape(part)
        for part in parts
    ]
    return re.compile("".join(written), re.DOTALL)


def check_manifest_path(path: str) -> None:
    """Refuse a path that does not lead to a file inside a repository. Raises LocationError."""
    names = path.split("/")
    if (
        "\\" in path
        or _CONTROL.search(path)
        or _DRIVE.match(path)
        or any(name in {"", ".", ".."} for name in names)
    ):
        raise LocationError(
            f"{path!r} is no file of a repository: expected a path from its root without `..`, "
            "such as bench/suite.toml"
        )


def _canonical(text: str) -> str:
    if not text or len(text) > MAX_LOCATION or _CONTROL.search(text):
        raise _invalid(text)
    if text.startswith("file://"):
        text = unquote(text.removeprefix("file://"))
    if text.startswith("/") or _DRIVE.match(text):
        return _path(text)
    url = _URL.fullmatch(text)
    if url is not None:
        port = url["port"]
        suffix = "" if port in {None, _PORTS[url["scheme"]]} else f":{port}"
        return f"{url['host'].lower()}{suffix}/{_names(unquote(url['path']), text)}"
    scp = _SCP.fullmatch(text)
    if scp is not None:
        return f"{scp['host'].lower()}/{_names(scp['path'], text)}"
    bare = _BARE.fullmatch(text)
    if bare is None:
        raise _invalid(text)
    return f"{bare['host'].lower()}{bare['port'] or ''}/{_names(bare['path'], text)}"


def _path(text: str) -> str:
    drive = _DRIVE.match(text)
    if drive is None:
        return "/" + _names(text[1:], text)
    return f"{text[0].upper()}:/{_names(text[3:].replace(chr(92), '/'), text)}"


def _names(path: str, text: str) -> str:
    """Return the names of a path. A percent-encoded `..` is one, too: the server of a URL decodes it."""
    path = path.strip("/").removesuffix(".git")
    if _CONTROL.search(path) or any(
        name in {"", ".", ".."} for name in path.split("/")
    ):
        raise _invalid(text)
    return path


def _invalid(text: str) -> LocationError:
    return LocationError(f"{text[:200]!r} is no location of a repository: {_EXPECTED}")
