"""Hashes directories of built files and keeps them in a bounded cache.

The artifact hash depends on names and contents only; equal hashes mean equal code (I15). A cache entry appears
whole or not at all. The least recently used entry is evicted first, but never one in use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

import msgspec


class Built(msgspec.Struct, frozen=True):
    """The result of a build: each workload's directory of artifacts, their common hash, and build facts."""

    directories: dict[str, Path]
    artifact_hash: str
    facts: dict[str, str]


def hash_files(files: Mapping[str, Path]) -> str:
    """Return the sha256 (hex) over the sorted (relative name, sha256 of the content)."""
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(json.dumps([name, _file_sha256(files[name])]).encode())
    return total.hexdigest()


def files_below(directory: Path) -> dict[str, Path]:
    """Return every file below `directory` by its relative POSIX name."""
    return {
        path.relative_to(directory).as_posix(): path
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def copy_into(directory: Path, sources: Iterable[Path]) -> None:
    """Copy files and whole directories into `directory` under their last names."""
    directory.mkdir(parents=True)
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, directory / source.name)
        else:
            shutil.copy2(source, directory / source.name)


def cache_key(parts: object) -> str:
    """Return a cache key from plain JSON values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class EntriesInUse:
    """Entries that the caches of one process use, so that no lane evicts an entry that another runs from."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.entries: Counter[Path] = Counter()
        self.staging: set[Path] = set()


class ArtifactCache:
    """Entries are directories below `root`, named by their key, with at most `limit_bytes` in total.

    Entries from `get` and `put` are in use until `close`, so that the second side of an A/B job does not evict
    the first. The caches of one process share `in_use`.
    """

    def __init__(
        self, root: Path, limit_bytes: int, in_use: EntriesInUse | None = None
    ) -> None:
        self._root = root
        self._limit_bytes = limit_bytes
        self._shared = in_use or EntriesInUse()
        self._own: set[Path] = set()
        root.mkdir(parents=True, exist_ok=True)
        with self._shared.lock:
            for leftover in set(root.glob("*.new")) - self._shared.staging:
                shutil.rmtree(leftover, ignore_errors=True)

    def get(self, key: str) -> Path | None:
        """Return the entry's directory, marked as used now, or None."""
        entry = self._root / key
        with self._shared.lock:
            if not entry.is_dir():
                return None
            return self._mark_used(entry)

    def put(self, key: str, sources: Iterable[Path]) -> Path:
        """Copy `sources` into a new entry and evict others if necessary. An entry in use is not replaced."""
        staging, entry = self._root / f"{uuid.uuid4().hex}.new", self._root / key
        self._shared.staging.add(staging)
        try:
            copy_into(staging, sources)
            with self._shared.lock:
                if not (entry.is_dir() and entry in self._shared.entries):
                    if entry.exists():
                        shutil.rmtree(entry)
                    staging.rename(entry)
                self._mark_used(entry)
                self._evict()
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            self._shared.staging.discard(staging)
        return entry

    def close(self) -> None:
        """Release all entries of this cache. Safe to call twice."""
        with self._shared.lock:
            self._shared.entries -= Counter(
                self._own
            )  # entries without a user drop out
            self._own.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _mark_used(self, entry: Path) -> Path:
        os.utime(entry)
        if entry not in self._own:
            self._own.add(entry)
            self._shared.entries[entry] += 1
        return entry

    def _evict(self) -> None:
        entries = [
            path
            for path in self._root.iterdir()
            if path.is_dir() and path.suffix != ".new"
        ]
        sizes = {path: _size(path) for path in entries}
        total = sum(sizes.values())
        for path in sorted(entries, key=lambda item: item.stat().st_mtime):
            if total <= self._limit_bytes:
                return
            if path not in self._shared.entries:
                shutil.rmtree(path, ignore_errors=True)
                total -= sizes[path]


def _size(directory: Path) -> int:
    """Return the bytes of the files below `directory`. What runs there may remove some meanwhile; they do not count."""
    size = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(parent, name).stat().st_size
    return size


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
