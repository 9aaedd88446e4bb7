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
"""Interval at which temperatures and presence follow the scenario."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    arguments_parser = argparse.ArgumentParser(
        prog="python -m paceline.testing.adbd", description="One simulated device."
    )
    arguments_parser.add_argument("--serial", default="SIM0001")
    arguments_parser.add_argument("--host", default="127.0.0.1")
    arguments_parser.add_argument(
        "--port", type=int, default=0, help="0: one that is free"
    )
    arguments_parser.add_argument(
        "--root",
        type=Path,
        help="the device's files; kept (default: a new folder, removed)",
    )
    arguments_parser.add_argument(
        "--abi", choices=("x86_64", "arm64-v8a"), default="x86_64"
    )
    arguments_parser.add_argument("--api", type=int, default=34)
    arguments_parser.add_argument("--scenario", choices=SCENARIOS, default="healthy")
    arguments_parser.add_argument(
        "--mode",
        choices=("namespace", "prefix"),
        help="default: namespace where possible",
    )
    arguments_parser.add_argument(
        "--trust",
        action="append",
        required=True,
        metavar="FINGERPRINT",
        help="a key that may connect (repeat), or 'any': every user of this computer",
    )
    return arguments_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until standard input ends or SIGTERM arrives."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as stack:
        root = options.root or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-sim-"))
        )
        root.mkdir(parents=True, exist_ok=True)
        peer = stack.enter_context(
            Peer(
                root,
                options.serial,
                abi=options.abi,
                api=options.api,
                scenario=options.scenario,
                mode=options.mode,
                trust="any" if "any" in options.trust else frozenset(options.trust),
                host=options.host,
                port=options.port,
            )
        )
        ready = {
            "address": peer.address,
            "serial": peer.serial,
            "workdir": peer.workdir,
        }
        ready |= {"mode": peer.device.mode, "boot_id": peer.boot_id}
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        while not wait_step():
            peer.step()
    return 0


def wait_step() -> bool:
    """Wait one step; True when standard input has ended. Its content is ignored."""
    ready, _, _ = select.select([sys.stdin], [], [], STEP_S)
    return bool(ready) and os.read(sys.stdin.fileno(), 4096) == b""


if __name__ == "__main__":
    sys.exit(main())
