"""Copies built files to a device and verifies there that they are what was built.

A directory is placed at RUN/DIGEST, so that equal content of two sides has the same path, and different content
paths of equal length. No launch starts before the device has listed exactly these files, with their sizes and
sha256 and executable by their owner. After a lost connection only missing files are sent again.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from paceline.adb.port import TransferError
from paceline.artifacts import files_below, hash_files
from paceline.devices.reconnecting import ReconnectingDevice
from paceline.devices.scripts import argv
from paceline.executors.base import TargetError

MODE = 0o755
_LISTED = re.compile(r"^(\d+) ([0-7]+) (.+)$", re.MULTILINE)
DIGEST_CHARACTERS = 16
"""Characters of a content's digest in its path on the device."""
LISTING_TIMEOUT_S = 120.0
"""Timeout of hashing all files on the device: some hundred megabytes at tens of MB/s on a small core."""
AT_ONCE = 20
"""Most directories created by one command, which must fit into an old device's packet of 4 KiB."""
ROUNDS = 3
"""Most times a missing or damaged file is sent."""
OWNER_MAY_EXECUTE = 0o100
"""The only bit of a mode that is compared: adbd copies the owner's bits to group and others (`do_send` in
daemon/file_sync_service.cpp), so a file sent as 0755 is 0777 on every real device."""


class BuiltFile(msgspec.Struct, frozen=True):
    """One file on this host, with what its copy on the device must match."""

    path: Path
    size: int
    sha256: str


class ListedFile(msgspec.Struct, frozen=True):
    """One file as the device lists it. `sha256` is empty where the device could not compute it."""

    size: int
    mode: int
    sha256: str


def locations(
    directories: Iterable[Path], run: PurePosixPath
) -> dict[Path, PurePosixPath]:
    """Return the path of each directory below `run`."""
    return {
        directory: run / hash_files(files_below(directory))[:DIGEST_CHARACTERS]
        for directory in directories
    }


def place_files(
    persistent: ReconnectingDevice, locations_of: Mapping[Path, PurePosixPath]
) -> int:
    """Copy every file to the device and verify it; return the number of bytes sent. Raises
    TargetError."""
    built = {
        str(location / relative): BuiltFile(path, path.stat().st_size, _sha256(path))
        for directory, location in locations_of.items()
        for relative, path in files_below(directory).items()
    }
    roots = sorted({str(location) for location in locations_of.values()})
    listed: dict[str, ListedFile] = {}
    missing, sent = sorted(built), 0
    for _ in range(ROUNDS):
        whole = {built[path].sha256: path for path in listed if path not in missing}
        sent += _send(persistent, {path: built[path] for path in missing}, whole)
        listed = {
            path: file
            for root in roots
            for path, file in list_files(persistent, root).items()
        }
        if unexpected := sorted(listed.keys() - built.keys()):
            text = f"The run's directory on the device holds files that were not sent: {', '.join(unexpected)}."
            raise TargetError("placing_failed", text)
        missing = sorted(
            path for path, file in built.items() if differences(file, listed.get(path))
        )
        if not missing:
            return sent
    first = missing[0]
    what = "; ".join(differences(built[first], listed.get(first)))
    raise TargetError(
        "placing_failed",
        f"{first} was sent {ROUNDS} times and still differs from what was built: {what}.",
    )


def differences(built: BuiltFile, listed: ListedFile | None) -> list[str]:
    """Return the differences that make the device's copy unusable, each with the expected and the actual value."""
    if listed is None:
        return ["expected the file, found none of this name"]
    differing = []
    if listed.size != built.size:
        differing.append(f"expected a size of {built.size} bytes, found {listed.size}")
    if not listed.mode & OWNER_MAY_EXECUTE:
        differing.append(
            f"expected a mode that lets its owner execute it, found {listed.mode:04o}"
        )
    if listed.sha256 != built.sha256:
        digest = listed.sha256 or "none, because the device could not compute it"
        differing.append(f"expected the sha256 {built.sha256}, found {digest}")
    return differing


def _send(
    persistent: ReconnectingDevice,
    files: Mapping[str, BuiltFile],
    whole: dict[str, str],
) -> int:
    """Push each content once. `whole`: the path of content that is on the device already, by sha256."""
    make_directories(persistent, {posixpath.dirname(remote) for remote in files})
    sent = 0
    for remote, file in files.items():
        if (same := whole.get(file.sha256)) is not None:
            _run(persistent, ["cp", "-p", same, remote], remote)
        else:
            sent += persistent.push(file.path, remote, MODE)
            whole[file.sha256] = remote
    return sent


def make_directories(
    persistent: ReconnectingDevice, directories: Iterable[str]
) -> None:
    """Create directories with their parents. Raises TargetError."""
    paths = sorted(directories)
    for first in range(0, len(paths), AT_ONCE):
        batch = paths[first : first + AT_ONCE]
        _run(persistent, ["mkdir", "-p", *batch], batch[-1])


def list_files(persistent: ReconnectingDevice, directory: str) -> dict[str, ListedFile]:
    """List every file below `directory` by its path on the device. Raises TargetError."""
    done = persistent.run(argv("listing", directory), LISTING_TIMEOUT_S)
    sizes, _, digests = (
        done.text.partition("\n\n") if not done.text.startswith("\n") else ("", "", "")
    )
    sha256s: dict[str, str] = {}
    for line in digests.splitlines():
        digest, _, name = line.partition("  ")
        sha256s[name] = digest
    listed = {}
    # A device without shell v2 mixes its warnings into the output.
    for size, mode, name in _LISTED.findall(sizes):
        path = posixpath.join(directory, name.removeprefix("./"))
        listed[path] = ListedFile(int(size), int(mode, 8), sha256s.get(name, ""))
    return listed


def _run(persistent: ReconnectingDevice, command: Sequence[str], path: str) -> None:
    """Run a command about `path`. Raises TargetError when it fails."""
    done = persistent.run(command, LISTING_TIMEOUT_S)
    if done.rc == 0:
        return
    output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[:400]
    full = "No space left" in output
    advice = "Free space on the device." if full else ""
    persistent.raise_refusal(
        TransferError(
            f"{path} cannot be written on the device: {output}", advice, no_space=full
        )
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
