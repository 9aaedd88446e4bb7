"""Runs one simulated device as a process: `python -m paceline.testing.adbd`.

It prints one JSON line once it listens – {"address", "serial", "workdir", "mode", "boot_id"} – and ends when
its standard input does, or on SIGTERM. Only clients with a key it was given may run commands: they run as the
user who started it, and every user of the computer can reach a loopback port.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from paceline.testing.adbd.peer import Peer
from paceline.testing.adbd.scenarios import SCENARIOS

STEP_S = 0.5
"""How often temperatures and presence follow the scenario."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m paceline.testing.adbd", description="One simulated device."
    )
    made.add_argument("--serial", default="SIM0001")
    made.add_argument("--host", default="127.0.0.1")
    made.add_argument("--port", type=int, default=0, help="0: one that is free")
    made.add_argument(
        "--root",
        type=Path,
        help="the device's files; kept (default: a new folder, removed)",
    )
    made.add_argument("--abi", choices=("x86_64", "arm64-v8a"), default="x86_64")
    made.add_argument("--api", type=int, default=34)
    made.add_argument("--scenario", choices=SCENARIOS, default="healthy")
    made.add_argument(
        "--mode",
        choices=("namespace", "prefix"),
        help="default: namespace where possible",
    )
    made.add_argument(
        "--trust",
        action="append",
        required=True,
        metavar="FINGERPRINT",
        help="a key that may connect (repeat), or 'any': every user of this computer",
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Until standard input ends or SIGTERM comes."""
    asked = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as stack:
        root = asked.root or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-sim-"))
        )
        root.mkdir(parents=True, exist_ok=True)
        peer = stack.enter_context(
            Peer(
                root,
                asked.serial,
                abi=asked.abi,
                api=asked.api,
                scenario=asked.scenario,
                mode=asked.mode,
                trust="any" if "any" in asked.trust else frozenset(asked.trust),
                host=asked.host,
                port=asked.port,
            )
        )
        said = {"address": peer.address, "serial": peer.serial, "workdir": peer.workdir}
        said |= {"mode": peer.device.mode, "boot_id": peer.boot_id}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
        while not ended():
            peer.step()
    return 0


def ended() -> bool:
    """Whether standard input has ended; waits one step for it. What it says is not listened to."""
    ready, _, _ = select.select([sys.stdin], [], [], STEP_S)
    return bool(ready) and os.read(sys.stdin.fileno(), 4096) == b""


if __name__ == "__main__":
    sys.exit(main())
