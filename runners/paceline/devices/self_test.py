"""Finds the self-test program for devices of a given ABI on this host.

Nothing is built for it, because a check must not cost a minute of the host: any job with hashing's engines
leaves the program in the artifact cache.
"""

from __future__ import annotations

from pathlib import Path

PROGRAM = "paceline-hashing-engines"
"""The program whose `--self-test` prints digests of known texts by every engine
(native/hashing/engines/src/self_test.rs).
"""

MACHINES = {"arm64-v8a": 183, "armeabi-v7a": 40, "x86_64": 62, "x86": 3}
"""ELF's e_machine by ABI (System V ABI, figure 4-3 and its supplements)."""


def find_self_test(named: str | None, artifacts: Path, abi: str) -> Path | None:
    """Return the program that agent.toml names (with `{abi}`), otherwise the newest of that ABI in `artifacts`."""
    if named is not None:
        return Path(named.replace("{abi}", abi))
    built = sorted(artifacts.glob(f"*/{PROGRAM}"), key=_modified_s, reverse=True)
    return next(
        (
            path
            for path in built
            if abi in MACHINES and _elf_machine(path) == MACHINES[abi]
        ),
        None,
    )


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # evicted from the cache
        return 0.0


def _elf_machine(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return None
    return (
        int.from_bytes(head[18:20], "little")
        if head[:4] == b"\x7fELF" and head[5:6] == b"\x01"
        else None
    )
