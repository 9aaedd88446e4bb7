"""Finds the program on this host with which a device of a given ABI tests itself.

Nothing is built here, because a check must not cost a minute of the host: any job of such a workload leaves
the program among the agent's artifacts. The ABI is verified by the file's ELF header.
"""

from __future__ import annotations

from pathlib import Path

PROGRAM = "paceline-hashing-engines"
"""Knows `--self-test`: digests of known texts by every engine (native/hashing/engines/src/self_test.rs)."""

MACHINES = {"arm64-v8a": 183, "armeabi-v7a": 40, "x86_64": 62, "x86": 3}
"""ELF's e_machine by ABI (System V ABI, figure 4-3 and its supplements)."""


def find_self_test(named: str | None, artifacts: Path, abi: str) -> Path | None:
    """What agent.toml names (`{abi}` stands in it), else the newest of that ABI among the `artifacts`."""
    if named is not None:
        return Path(named.replace("{abi}", abi))
    built = sorted(artifacts.glob(f"*/{PROGRAM}"), key=_age, reverse=True)
    return next(
        (path for path in built if abi in MACHINES and _machine(path) == MACHINES[abi]),
        None,
    )


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # the cache made room
        return 0.0


def _machine(path: Path) -> int | None:
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
