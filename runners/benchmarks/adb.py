"""Measures how fast a file reaches a device (target: 8 MB at 30 MB/s or more). Run by hand, on a quiet host:

    python runners/benchmarks/adb.py [--backend direct|server] [--pushes 12] [--mtu 1500] [--json]
    python runners/benchmarks/adb.py --against-google [--pushes 12] [--device HOST:PORT] [--json]

The first form pushes and pulls 8 MiB through one backend to the simulated device, in turns with a plain copy of the
same bytes over a socket. Agent and device are processes of their own; for the backend `server`, Google's adb server
is started between them on a port of its own (`adb` must be installed). With --mtu everything runs in a network
namespace whose loopback has that MTU (Linux, unprivileged user namespaces), so that writes are as short as on a real
network. USB and Wi-Fi are not measured.

The second form compares the backend `direct` with Google's `adb` client: a push, a pull and the output of a command,
in turns, on the simulated device or on the given one, which must trust the key in the directory --key. A push or pull
within ten times Google's is enough (decision 54).

Ratios are formed within a turn, so that other load on the host affects both sides. MB is 10^6 bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from paceline.adb.direct import DirectConnection
from paceline.adb.keys import FILE_NAME, AgentKey
from paceline.adb.port import AdbError, Connection
from paceline.adb.server import AdbServer

SIZE_BYTES = 8 << 20
REMOTE = "/data/local/tmp/benchmark-file"
BACKENDS = ("direct", "server")
SERVER_WITHIN_S = 20.0
"""Time for an adb server to listen and to have the device: under 1 s on an idle host."""
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
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 -- asked for above
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@contextmanager
def own_peer(directory: Path, key: AgentKey) -> Iterator[str]:
    """Yields the address of a simulated device in a process of its own."""
    root = directory / "device"
    root.mkdir()
    argv = (
        sys.executable,
        "-m",
        "paceline.testing.adbd",
        "--serial",
        "BENCH",
        "--port",
        "0",
    )
    with child(*argv, "--root", str(root), "--trust", key.fingerprint) as output:
        yield json.loads(output)["address"]


def copied(port: int, data: bytes) -> None:
    """The plain copy: length, bytes, and one byte back once they are written."""
    with socket.create_connection(("127.0.0.1", port)) as to:
        to.sendall(len(data).to_bytes(8, "little") + data)
        to.recv(1)


@contextmanager
def google_server(home: Path, key: Path) -> Iterator[AdbServer]:
    """Google's, in the foreground, with the agent's key for its own; it ends here. It takes connections of a
    socket that listens already: between a port that is chosen and one that is bound, another may take it."""
    (home / ".android").mkdir(parents=True)
    shutil.copy(key, home / ".android" / FILE_NAME)
    own = {"HOME": str(home), "TMPDIR": str(home), "ADB_MDNS": "0"}
    with ExitStack() as held:
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        log = held.enter_context((home / "log").open("wb"))
        command = ["adb", "-L", f"acceptfd:{listener.fileno()}", "server", "nodaemon"]
        process = held.enter_context(
            subprocess.Popen(
                command,
                env=os.environ | own,
                cwd=home,
                stdout=log,
                stderr=log,
                pass_fds=[listener.fileno()],
            )
        )
        try:
            server = AdbServer(f"127.0.0.1:{listener.getsockname()[1]}")
            within("the adb server to listen", lambda: server.version(1.0) > 0)
            yield server
        finally:
            process.terminate()


def within(what: str, holds: Callable[[], bool]) -> None:
    """Asks until it holds; an error is a no."""
    deadline = time.monotonic() + SERVER_WITHIN_S
    while True:
        with suppress(AdbError):
            if holds():
                return
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {SERVER_WITHIN_S:g} s for {what}")
        time.sleep(0.05)


def through(server: AdbServer, address: str) -> Connection:
    """A connection to the device at `address`, which the server connects to first."""
    server.connect_to(address)
    within(
        "the adb server to have the device",
        lambda: server.devices()[0].state == "device",
    )
    return server.connection(address)


def measure(turns: int, directory: Path, backend: str) -> list[Turn]:
    """Measures the requested turns after one that does not count, which fills caches and raises the clock
    frequency.
    """
    data, back = os.urandom(SIZE_BYTES), directory / "back"
    key = AgentKey.load_or_create(directory / "key")
    with ExitStack() as held:
        address = held.enter_context(own_peer(directory, key))
        sink = held.enter_context(
            child(sys.executable, "-c", SINK, str(directory / "copied"))
        )
        connection: Connection
        if backend == "server":
            server = held.enter_context(
                google_server(directory / "home", directory / "key" / FILE_NAME)
            )
            connection = through(server, address)
        else:
            connection = DirectConnection(address, key)
        held.callback(connection.close)
        connection.connect()
        result = []
        for _ in range(turns + 1):
            push = seconds(lambda: connection.push(data, REMOTE))
            pull = seconds(lambda: connection.pull(REMOTE, back))
            if back.read_bytes() != data:
                raise SystemExit("what came back is not what was sent")
            result.append(Turn(push, pull, seconds(lambda: copied(int(sink), data))))
    return result[1:]


FLOOD = ("head", "-c", str(SIZE_BYTES), "/dev/zero")


class Race(NamedTuple):
    """(our seconds, Google's) of one turn."""

    push: tuple[float, float]
    pull: tuple[float, float]
    flood: tuple[float, float]


def race(
    turns: int, directory: Path, device: str | None, key_directory: Path | None
) -> list[Race]:
    """Measures the requested turns after one that does not count."""
    there, back = directory / "there", directory / "back"
    there.write_bytes(os.urandom(SIZE_BYTES))
    key_directory = key_directory or directory / "key"
    key = AgentKey.load_or_create(key_directory)
    with ExitStack() as held:
        address = device or held.enter_context(own_peer(directory, key))
        server = held.enter_context(
            google_server(directory / "home", key_directory / FILE_NAME)
        )
        through(server, address)
        connection = DirectConnection(address, key)
        held.callback(connection.close)
        connection.connect()
        remote = (
            connection.run(["sh", "-c", "echo ${TMPDIR:-/data/local/tmp}"]).text.strip()
            + "/race"
        )
        adb = (
            "adb",
            "-H",
            "127.0.0.1",
            "-P",
            server.address.rpartition(":")[2],
            "-s",
            address,
        )
        google = (
            ["push", str(there), remote],
            ["pull", remote, str(back)],
            ["shell", *FLOOD],
        )
        ours = (
            lambda: connection.push(there, remote),
            lambda: connection.pull(remote, back),
            lambda: flooded(connection),
        )
        result = []
        for _ in range(turns + 1):
            times = []
            for argv, work in zip(google, ours, strict=True):
                theirs = seconds(partial(asked, (*adb, *argv)))
                if argv[0] == "pull":
                    back.unlink()  # replacing a file waits for the disk
                times.append((seconds(work), theirs))
            if back.read_bytes() != there.read_bytes():
                raise SystemExit("what came back is not what was sent")
            back.unlink()
            result.append(Race(*times))
    return result[1:]


def flooded(connection: Connection) -> None:
    if len(connection.run(FLOOD).stdout) != SIZE_BYTES:
        raise SystemExit("the command printed more than came")


def asked(argv: tuple[str, ...]) -> None:
    done = subprocess.run(
        argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(argv)}: {done.stdout[-500:].decode(errors='replace')}"
        )


def spread(turns: list[Race]) -> dict[str, dict[str, float]]:
    """Ratios of the turns: median, smallest and largest. `best`: our best time over Google's best, which what
    else the host does moves least."""
    by_name = {}
    for name in Race._fields:
        times: list[tuple[float, float]] = [getattr(turn, name) for turn in turns]
        ratios = [ours / theirs for ours, theirs in times]
        best = min(ours for ours, _ in times) / min(theirs for _, theirs in times)
        by_name[name] = {
            "ratio": statistics.median(ratios),
            "least": min(ratios),
            "most": max(ratios),
            "best": best,
        }
    return by_name


def summary(turns: list[Turn]) -> dict[str, dict[str, float]]:
    """Medians over the turns; `ratio` is to the plain copy of the same turn."""
    return {
        name: {
            "mb_per_s": SIZE_BYTES
            / 1e6
            / statistics.median(getattr(turn, name) for turn in turns),
            "best_mb_per_s": SIZE_BYTES
            / 1e6
            / min(getattr(turn, name) for turn in turns),
            "ratio": statistics.median(
                getattr(turn, name) / turn.copy for turn in turns
            ),
        }
        for name in Turn._fields
    }


def in_a_network_of(mtu: int) -> None:
    """Starts this program again where the loopback has that MTU; returns there."""
    import fcntl  # noqa: PLC0415 -- Linux only

    if os.environ.get("ADB_BENCHMARK_MTU") != str(mtu):
        environment = {**os.environ, "ADB_BENCHMARK_MTU": str(mtu)}
        command = [
            "unshare",
            "--user",
            "--map-root-user",
            "--net",
            sys.executable,
            *sys.argv,
        ]
        os.execvpe(command[0], command, environment)  # noqa: S606 -- ourselves again
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFMTU, struct.pack("16si12x", b"lo", mtu))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, LOOPBACK_UP)


def main() -> None:
    options = argparse.ArgumentParser(
        description="Measures how fast a file reaches a device."
    )
    options.add_argument("--backend", choices=BACKENDS, default="direct")
    options.add_argument(
        "--pushes",
        type=int,
        default=12,
        help="turns of a push, a pull and a plain copy",
    )
    options.add_argument(
        "--mtu", type=int, help="of the loopback, in a network namespace of its own"
    )
    options.add_argument(
        "--against-google", action="store_true", help="ratios to Google's client"
    )
    options.add_argument(
        "--device",
        metavar="HOST:PORT",
        help="with --against-google: instead of the peer",
    )
    options.add_argument(
        "--key", type=Path, help="directory of the key that --device trusts"
    )
    options.add_argument(
        "--json", action="store_true", help="one JSON object instead of lines"
    )
    chosen = options.parse_args()
    if chosen.mtu:
        in_a_network_of(chosen.mtu)
    if chosen.against_google:
        with tempfile.TemporaryDirectory() as directory:
            ratios = spread(
                race(chosen.pushes, Path(directory), chosen.device, chosen.key)
            )
        if chosen.json:
            sys.stdout.write(json.dumps(ratios) + "\n")
            return
        for name, figures in ratios.items():
            sys.stdout.write(
                f"{name:<5} {figures['ratio']:5.2f} times Google's time"
                f" ({figures['least']:.2f} to {figures['most']:.2f}); best over best {figures['best']:.2f}\n"
            )
        return
    with tempfile.TemporaryDirectory() as directory:
        result = summary(measure(chosen.pushes, Path(directory), chosen.backend))
    if chosen.json:
        sys.stdout.write(json.dumps(result) + "\n")
        return
    for name, figures in result.items():
        sys.stdout.write(
            f"{name:<5} {figures['mb_per_s']:8.1f} MB/s median  {figures['best_mb_per_s']:8.1f} best"
            f"  {figures['ratio']:6.1f} times the plain copy's time\n"
        )


if __name__ == "__main__":
    main()
