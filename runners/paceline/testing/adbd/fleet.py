"""Runs several simulated devices in one process, for one agent: `python -m paceline.testing.adbd.fleet`.

`paceline-server up --devices N` starts it. It prints one JSON line once all listen – {"devices": [{"address",
"serial", "scenario"}]} – and ends when its standard input does, or on SIGTERM. Only the agent whose data
directory it was given may connect, because commands run as its user. Scenarios take turns: healthy,
overheats, drops. Serials derive from the agent, so that two fleets at one server are different devices.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from paceline.adb.keys import AgentKey
from paceline.testing.adbd.__main__ import wait_step
from paceline.testing.adbd.peer import Peer
from paceline.testing.adbd.scenarios import SCENARIOS

MOST = 16
"""Devices of one process: each follows its scenario twice a second."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    arguments_parser = argparse.ArgumentParser(
        prog="python -m paceline.testing.adbd.fleet",
        description="Simulated devices for one agent.",
    )
    arguments_parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="the agent's data directory: it has the key",
    )
    arguments_parser.add_argument(
        "--devices",
        type=int,
        choices=range(1, MOST + 1),
        default=len(SCENARIOS),
        metavar="N",
    )
    return arguments_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until standard input ends or SIGTERM arrives. Raises UserError if the agent's key cannot be used."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    options.data.mkdir(parents=True, exist_ok=True)
    key = AgentKey.of_agent(options.data).fingerprint
    family = "SIM" + key.replace(":", "")[:4].upper()
    with ExitStack() as stack:
        peers, devices = [], []
        for number in range(options.devices):
            scenario = SCENARIOS[number % len(SCENARIOS)]
            serial = f"{family}{number + 1:02d}"
            root = options.data / "simulated" / serial
            root.mkdir(parents=True, exist_ok=True)
            peer = stack.enter_context(
                Peer(root, serial, scenario=scenario, trust=frozenset({key}))
            )
            peers.append(peer)
            devices.append(
                {"address": peer.address, "serial": serial, "scenario": scenario}
            )
        sys.stdout.write(json.dumps({"devices": devices}) + "\n")
        sys.stdout.flush()
        while not wait_step():
            for peer in peers:
                peer.step()
    return 0


if __name__ == "__main__":
    sys.exit(main())
