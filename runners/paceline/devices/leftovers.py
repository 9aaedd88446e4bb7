"""Removes what interrupted runs left on a device: processes, files and settings.

    note (agent's disk, then the device) ─▶ run … ─▶ clean ─▶ verified ─▶ forget

Every change on a device is noted before it is made; a note is removed only when nothing of the run is left.
Cleaning can be interrupted and repeated, and even without the journal it discovers leftovers on the device. It
must not run beside a job, whose files it would remove.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from paceline.adb.port import AdbError, CommandResult, Connection
from paceline.devices.attached_device import state_name
from paceline.devices.identity import VerifiedConnection
from paceline.devices.routes import is_address
from paceline.devices.scripts import argv

log = logging.getLogger("paceline.devices")

TIMEOUT_S = 60.0
"""Timeout of one step: removing some hundred megabytes from slow flash, killing a workload's children."""


class LeftOverError(AdbError):
    """Something of a run could not be removed; its note stays."""


class RunNote(msgspec.Struct, frozen=True):
    """A run that may have left something on the device, and the settings it may have changed."""

    run: str
    settings: list[str] = []


class CleanupResult(msgspec.Struct, frozen=True):
    """The result of a clean-up. `directories` holds names of runs; `str()` describes it for people."""

    processes: int = 0
    directories: list[str] = []
    settings: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.processes or self.directories or self.settings)

    def __str__(self) -> str:
        parts = [f"{self.processes} processes"] if self.processes else []
        parts += [f"run {name}" for name in self.directories] + [
            f"setting {name}" for name in self.settings
        ]
        return ", ".join(parts) or "nothing"


class RunJournal:
    """The notes of one device in a file below `root`. Used by one thread at a time."""

    def __init__(self, root: Path, serial: str) -> None:
        self._path = root / state_name(serial) / "leftovers.json"

    @property
    def notes(self) -> list[RunNote]:
        """Return the stored notes; none if the file cannot be read, because cleaning works without it."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[RunNote])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            log.warning("%s cannot be read: %s", self._path, error)
            return []

    def note(self, note: RunNote) -> None:
        """Add a note; it is on disk when this returns. Raises OSError."""
        self._write([*(kept for kept in self.notes if kept.run != note.run), note])

    def forget(self) -> None:
        """Remove all notes, because nothing is left of any run."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def _write(self, notes: list[RunNote]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(self._path.name + ".new")
        with new.open("wb") as file:
            file.write(json.dumps(msgspec.to_builtins(notes)).encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)


def clean(connection: Connection, journal: RunJournal, workdir: str) -> CleanupResult:
    """Remove everything that runs left on the device. Raises AdbError, and LeftOverError when something
    stays."""
    if isinstance(connection, VerifiedConnection) and is_address(connection.route):
        connection.verify()  # its adb server may have connected to another device there
    notes = journal.notes
    entries = _list_leftovers(connection, workdir)
    runs = {note.run for note in notes} | {
        name for kind, name in entries if kind == "run"
    }
    changed = {name for note in notes for name in note.settings}
    changed |= {name for kind, name in entries if kind == "setting"}
    processes = sum(
        kill_processes(connection, run, f"{workdir}/{run}") for run in sorted(runs)
    )
    restored = restore_settings(connection, changed)
    if entries:
        remove_directory(connection, workdir)
        if late := sum(
            kill_processes(connection, run, f"{workdir}/{run}") for run in sorted(runs)
        ):
            processes += late  # started before the directory was removed
            remove_directory(connection, workdir)
    try:
        journal.forget()
    except OSError as error:  # it only causes another cleaning
        log.warning("the note of device runs cannot be removed: %s", error)
    return CleanupResult(
        processes, [name for kind, name in entries if kind == "run"], restored
    )


def kill_processes(
    connection: Connection, run: str, directory: str, launch: str = ""
) -> int:
    """Kill every process of a run and return their number, without the watcher of the launch in directory
    `launch`. Raises AdbError, and LeftOverError when some cannot be killed."""
    done = connection.run(argv("sweep", run, directory, launch), TIMEOUT_S)
    words = done.text.split()
    if done.rc != 0 or not words or "left" in words or not words[-1].isdecimal():
        text = f"Processes of run {run} cannot be killed on {connection.route}."
        raise LeftOverError(
            text,
            "Restart the device: they hang in its kernel or belong to another user.",
        )
    return int(words[-1])


def _list_leftovers(connection: Connection, workdir: str) -> list[tuple[str, str]]:
    """List leftovers on the device: (`run` or `setting`, name), and `workdir` if it exists. Raises LeftOverError for a
    list that is not whole, as while a device restarts."""
    done = connection.run(argv("leftovers", workdir), TIMEOUT_S)
    if done.rc != 0:
        text = f"What runs left on {connection.route} cannot be listed: {_decode_output(done) or done.rc}"
        raise LeftOverError(text, "It is cleaned when it is seen again.")
    lines = [line.partition(" ") for line in done.text.splitlines()]
    return [
        (kind, name) for kind, _, name in lines if kind in ("workdir", "run", "setting")
    ]


def remove_directory(connection: Connection, directory: str) -> None:
    """Remove a directory with its content. Raises LeftOverError when that fails."""
    done = connection.run(argv("remove", directory), TIMEOUT_S)
    if done.rc != 0:
        text = f"{directory} cannot be removed from {connection.route}: {_decode_output(done)}"
        raise LeftOverError(text, "Remove it by hand: adb shell rm -rf " + directory)


def _decode_output(done: CommandResult) -> str:
    return (done.stdout + done.stderr).decode("utf-8", "replace").strip()[:400]


class Setting(msgspec.Struct, frozen=True):
    """A setting with the commands that switch it on and off. Off is the default; a device without the setting
    refuses both commands."""

    name: str
    on: tuple[str, ...]
    off: tuple[str, ...]


_POWER = ("cmd", "power", "set-fixed-performance-mode-enabled")
FIXED_PERFORMANCE = Setting(
    "fixed_performance_mode", (*_POWER, "true"), (*_POWER, "false")
)
"""Clocks that a phone can hold without throttling (Android 11 and later, if its maker supports it). The mode
cannot be read, and only benchmarks use it, so it is switched off afterwards."""

KNOWN_SETTINGS = {setting.name: setting for setting in (FIXED_PERFORMANCE,)}


def restore_settings(connection: Connection, names: Iterable[str]) -> list[str]:
    """Switch off the settings `names` and return those that the device accepted. A device that refuses does
    not have the setting. Raises AdbError."""
    done = []
    for name in sorted(set(names)):
        setting = KNOWN_SETTINGS.get(name)
        if setting is None:
            log.warning("unknown setting, not restored: %s", name)
        elif connection.run(setting.off).rc == 0:
            done.append(name)
    return done
