"""Built files onto a device, and the device's own word that they are what was built.

Place in the journey: between `source.py` (directories on this host) and launches on the device. Invariants:
a directory lies where its content says, RUN/DIGEST, so that two sides with the same content run the same
files at the same path, and different ones at paths of the same length; nothing is launched before the device
listed every file with its size, its mode (0755) and its sha256, and nothing else; placing again after a loss
sends only what is not there whole. The same content is sent once: the device copies it.
"""

from __future__ import annotations

import hashlib
import logging
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from paceline.adb.port import TransferError
from paceline.artifacts import files_below, hash_files
from paceline.devices.persistent import Persistent
from paceline.devices.scripts import argv
from paceline.executors.base import TargetError

log = logging.getLogger("paceline.devices")

MODE = 0o755
_LISTED = re.compile(r"^(\d+) ([0-7]+) (.+)$", re.MULTILINE)
DIGEST_CHARACTERS = 16
"""Of a directory's content, in its path on the device."""
LISTING_TIMEOUT_S = 120.0
"""For hashing all files on the device: some hundred megabytes at the tens of MB/s of a small core."""
AT_ONCE = 20
"""Directories made by one command: a command must fit into the 4 KiB of an old device's packet."""
ROUNDS = 3
"""Of sending what is missing: a file that arrives wrong three times is no accident."""


class Seen(msgspec.Struct, frozen=True):
    """One file as the device lists it."""

    size: int
    mode: int
    sha256: str


def locations(directories: Iterable[Path], run: PurePosixPath) -> dict[Path, PurePosixPath]:
    """Where each directory will lie below `run`."""
    return {
        directory: run / hash_files(files_below(directory))[:DIGEST_CHARACTERS] for directory in directories
    }


def place(persistent: Persistent, where: Mapping[Path, PurePosixPath]) -> int:
    """Brings every file there and verifies it; gives the bytes sent. Raises TargetError."""
    wanted = {
        str(location / relative): path
        for directory, location in where.items()
        for relative, path in files_below(directory).items()
    }
    roots = sorted({str(location) for location in where.values()})
    expected = {remote: Seen(path.stat().st_size, MODE, _sha256(path)) for remote, path in wanted.items()}
    there: dict[str, Seen] = {}
    missing, sent = sorted(expected), 0
    for _ in range(ROUNDS):
        whole = {seen.sha256: path for path, seen in there.items() if expected[path] == seen}
        sent += _send(persistent, {path: wanted[path] for path in missing}, expected, whole)
        there = {path: seen for root in roots for path, seen in listing(persistent, root).items()}
        if strange := sorted(there.keys() - expected.keys()):
            raise TargetError("device_refused", f"Files nobody sent lie on the device: {', '.join(strange)}.")
        missing = sorted(path for path, seen in expected.items() if there.get(path) != seen)
        if not missing:
            return sent
    text = f"{missing[0]} is not on the device what was sent: {there.get(missing[0], 'not there at all')}."
    raise TargetError("device_refused", text, "Check the device's storage, the cable and its hub.")


def _send(
    persistent: Persistent,
    files: Mapping[str, Path],
    expected: Mapping[str, Seen],
    whole: dict[str, str],
) -> int:
    """Pushes each content once. `whole`: where a content already lies, by its sha256."""
    make_directories(persistent, {posixpath.dirname(remote) for remote in files})
    sent = 0
    for remote, path in files.items():
        sha256 = expected[remote].sha256
        if (same := whole.get(sha256)) is not None:
            _run(persistent, ["cp", "-p", same, remote], remote)
        else:
            sent += persistent.push(path, remote, MODE)
            whole[sha256] = remote
    return sent


def make_directories(persistent: Persistent, directories: Iterable[str]) -> None:
    """With all above them. Raises TargetError."""
    wanted = sorted(directories)
    for first in range(0, len(wanted), AT_ONCE):
        some = wanted[first : first + AT_ONCE]
        _run(persistent, ["mkdir", "-p", *some], some[-1])


def listing(persistent: Persistent, directory: str) -> dict[str, Seen]:
    """Every file below `directory` by its path on the device. Raises TargetError."""
    done = persistent.run(argv("listing", directory), LISTING_TIMEOUT_S)
    sizes, _, digests = done.text.partition("\n\n") if not done.text.startswith("\n") else ("", "", "")
    found: dict[str, str] = {}
    for line in digests.splitlines():
        digest, _, name = line.partition("  ")
        found[name] = digest
    seen = {}
    for size, mode, name in _LISTED.findall(sizes):  # a device without shell v2 mixes its warnings in
        path = posixpath.join(directory, name.removeprefix("./"))
        seen[path] = Seen(int(size), int(mode, 8), found.get(name, ""))
    return seen


def _run(persistent: Persistent, command: Sequence[str], what: str) -> None:
    """Raises TargetError when the device could not do it."""
    done = persistent.run(command, LISTING_TIMEOUT_S)
    if done.rc == 0:
        return
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[:400]
    full = "No space left" in said
    advice = "Free space on the device." if full else ""
    persistent.refused(
        TransferError(f"{what} cannot be written on the device: {said}", advice, no_space=full)
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
