"""Cleans away what interrupted runs left on a device: processes, files and settings.

    note (agent's disk, then the device) ─▶ run … ─▶ clean ─▶ verified ─▶ forget

Every change on a device is noted before it is made, and a note is removed only after the device was asked
again and has no process, file or setting of a run. Cleaning can be repeated and interrupted anywhere. So a
kill −9, a lost cable or a lost agent's disk leaves something for a while, never for good: what the device
itself notes, or holds in its work directory, is found without the journal. Must not run beside a job, whose
files it would take for leftovers.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from pathlib import Path

import msgspec

from paceline.adb.port import AdbError, CommandResult, Connection
from paceline.devices import settings
from paceline.devices.attached_device import state_name
from paceline.devices.identity import VerifiedConnection
from paceline.devices.routes import is_address
from paceline.devices.scripts import argv

log = logging.getLogger("paceline.devices")

TIMEOUT_S = 60.0
"""Timeout of one step: removing some hundred megabytes from slow flash, killing what a workload forked."""


class LeftOverError(AdbError):
    """Something of a run could not be cleaned away; its note stays."""


class RunNote(msgspec.Struct, frozen=True):
    """A run that may have left something, and the settings it may have changed."""

    run: str
    settings: list[str] = []


class CleanupResult(msgspec.Struct, frozen=True):
    """What was removed; `directories` are names of runs. `str` of it is for people."""

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
    """The notes of one device below `root`, one file; used by one thread at a time."""

    def __init__(self, root: Path, serial: str) -> None:
        self._path = root / state_name(serial) / "leftovers.json"

    @property
    def notes(self) -> list[RunNote]:
        """Empty when the file cannot be read, because the device knows what is on it, too."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[RunNote])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            log.warning("%s cannot be read: %s", self._path, error)
            return []

    def note(self, note: RunNote) -> None:
        """Adds a note; it is on disk when this returns. Raises OSError."""
        self._write([*(kept for kept in self.notes if kept.run != note.run), note])

    def forget(self) -> None:
        """Removes all notes, because nothing is left of any run."""
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
    """Cleans away all that runs left on the device. Raises AdbError; LeftOverError when something stays."""
    if isinstance(connection, VerifiedConnection) and is_address(connection.route):
        connection.verify()  # its adb server may have taken up another device there, without a word to us
    notes = journal.notes
    entries = _found(connection, workdir)
    runs = {note.run for note in notes} | {
        name for kind, name in entries if kind == "run"
    }
    changed = {name for note in notes for name in note.settings}
    changed |= {name for kind, name in entries if kind == "setting"}
    processes = sum(
        kill_processes(connection, run, f"{workdir}/{run}") for run in sorted(runs)
    )
    restored = settings.restore(connection, changed)
    if entries:
        remove_directory(connection, workdir)
        if late := sum(
            kill_processes(connection, run, f"{workdir}/{run}") for run in sorted(runs)
        ):
            processes += late  # started between the first look and the removal of what it ran from
            remove_directory(connection, workdir)
    try:
        journal.forget()
    except (
        OSError
    ) as error:  # what it names is gone: cleaning once more is all that follows
        log.warning("the note of device runs cannot be removed: %s", error)
    return CleanupResult(
        processes, [name for kind, name in entries if kind == "run"], restored
    )


def kill_processes(
    connection: Connection, run: str, directory: str, launch: str = ""
) -> int:
    """Kills every process of a run; gives how many, without what watches over the launch in directory
    `launch`. Raises LeftOverError when some cannot be killed, and what else AdbError is."""
    done = connection.run(argv("sweep", run, directory, launch), TIMEOUT_S)
    words = done.text.split()
    if done.rc != 0 or not words or "left" in words or not words[-1].isdecimal():
        text = f"Processes of run {run} cannot be killed on {connection.route}."
        raise LeftOverError(
            text,
            "Restart the device: they hang in its kernel, or belong to another user.",
        )
    return int(words[-1])


def _found(connection: Connection, workdir: str) -> list[tuple[str, str]]:
    """What the device itself knows of: (`run` or `setting`, name), and its work directory if it is there."""
    lines = [
        line.partition(" ")
        for line in connection.run(argv("leftovers", workdir)).text.splitlines()
    ]
    return [
        (kind, name) for kind, _, name in lines if kind in ("workdir", "run", "setting")
    ]


def remove_directory(connection: Connection, directory: str) -> None:
    """Removes a directory with its content. Raises LeftOverError when that fails."""
    done = connection.run(argv("remove", directory), TIMEOUT_S)
    if done.rc != 0:
        text = f"{directory} cannot be removed from {connection.route}: {_words(done)}"
        raise LeftOverError(text, "Remove it by hand: adb shell rm -rf " + directory)


def _words(done: CommandResult) -> str:
    return (done.stdout + done.stderr).decode("utf-8", "replace").strip()[:400]
