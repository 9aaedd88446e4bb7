"""How fast a file reaches a device (target: 8 MB at 30 MB/s or more). Run by hand, on a quiet host:

    python runners/benchmarks/adb.py [--pushes 12] [--mtu 1500] [--json]

Place in the journey: outside of it; measures `DirectConnection.push` and `pull` against the peer, each a
process of its own as agent and phone are two. Method: a push, a pull and a plain copy of the same 8 MiB over
a socket (to a process that reads and writes a file) take turns; ratios are formed within a turn, so that what
else the host does meets all three. MB is 10^6 bytes. With --mtu it runs in a network namespace of its own
whose loopback has that MTU (Linux, unprivileged user namespaces): what a kernel takes at a time, and so every
short write, is then that of a real network. It says nothing of USB or Wi-Fi.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey

SIZE_BYTES = 8 << 20
REMOTE = "/data/local/tmp/benchmark-file"
LOOPBACK_UP = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP | IFF_RUNNING
SIOCSIFFLAGS, SIOCSIFMTU = 0x8914, 0x8922
"""ioctl numbers of Linux, <linux/sockios.h>."""
SINK = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    while True:
        other, _ = listener.accept()
        with other, open(sys.argv[1], "wb") as file:
            left = int.from_bytes(other.recv(8, socket.MSG_WAITALL), "little")
            while left:
                data = other.recv(min(left, 1 << 20))
                if not data:
                    break
                left -= file.write(data)
            other.sendall(b"k")
"""


class Turn(NamedTuple):
    """Seconds each took."""

    push: float
    pull: float
    copy: float


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@contextmanager
def child(*argv: str) -> Iterator[str]:
    """A process that prints one line when it is ready and ends with its input; gives that line."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 -- asked for above
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


def copied(port: int, data: bytes) -> None:
    """The plain copy: length, bytes, and one byte back once they are written."""
    with socket.create_connection(("127.0.0.1", port)) as to:
        to.sendall(len(data).to_bytes(8, "little") + data)
        to.recv(1)


def measure(turns: int, directory: Path) -> list[Turn]:
    """One more turn than asked for goes first and does not count: caches, page cache, clock frequency."""
    data, back = os.urandom(SIZE_BYTES), directory / "back"
    key = AgentKey.load_or_create(directory / "key")
    with ExitStack() as held:
        root = directory / "device"
        root.mkdir()
        peer = held.enter_context(
            child(
                sys.executable, "-m", "paceline.testing.adbd", "--serial", "BENCH", "--port", "0",
                "--root", str(root), "--trust", key.fingerprint,
            )
        )  # fmt: skip
        sink = held.enter_context(child(sys.executable, "-c", SINK, str(directory / "copied")))
        connection = DirectConnection(json.loads(peer)["address"], key)
        held.callback(connection.close)
        connection.connect()
        found = []
        for _ in range(turns + 1):
            push = seconds(lambda: connection.push(data, REMOTE))
            pull = seconds(lambda: connection.pull(REMOTE, back))
            if back.read_bytes() != data:
                raise SystemExit("what came back is not what was sent")
            found.append(Turn(push, pull, seconds(lambda: copied(int(sink), data))))
    return found[1:]


def summary(turns: list[Turn]) -> dict[str, dict[str, float]]:
    """Medians over the turns; `ratio` is to the plain copy of the same turn."""
    return {
        name: {
            "mb_per_s": SIZE_BYTES / 1e6 / statistics.median(getattr(turn, name) for turn in turns),
            "best_mb_per_s": SIZE_BYTES / 1e6 / min(getattr(turn, name) for turn in turns),
            "ratio": statistics.median(getattr(turn, name) / turn.copy for turn in turns),
        }
        for name in Turn._fields
    }


def in_a_network_of(mtu: int) -> None:
    """Starts this program again where the loopback has that MTU; returns there."""
    import fcntl  # noqa: PLC0415 -- Linux only

    if os.environ.get("ADB_BENCHMARK_MTU") != str(mtu):
        environment = {**os.environ, "ADB_BENCHMARK_MTU": str(mtu)}
        command = ["unshare", "--user", "--map-root-user", "--net", sys.executable, *sys.argv]
        os.execvpe(command[0], command, environment)  # noqa: S606 -- ourselves again
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFMTU, struct.pack("16si12x", b"lo", mtu))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, LOOPBACK_UP)


def main() -> None:
    options = argparse.ArgumentParser(description="Measures how fast a file reaches a device.")
    options.add_argument("--pushes", type=int, default=12, help="turns of a push, a pull and a plain copy")
    options.add_argument("--mtu", type=int, help="of the loopback, in a network namespace of its own")
    options.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    chosen = options.parse_args()
    if chosen.mtu:
        in_a_network_of(chosen.mtu)
    with tempfile.TemporaryDirectory() as directory:
        found = summary(measure(chosen.pushes, Path(directory)))
    if chosen.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for name, figures in found.items():
        sys.stdout.write(
            f"{name:<5} {figures['mb_per_s']:8.1f} MB/s median  {figures['best_mb_per_s']:8.1f} best"
            f"  {figures['ratio']:6.1f} times the plain copy's time\n"
        )


if __name__ == "__main__":
    main()
