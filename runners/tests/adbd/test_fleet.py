"""The simulated fleet as the process that `make run DEVICES=N` starts: N devices that answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import AdbError
from paceline.devices.identity import identify
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S


def fleet(data: Path, devices: int) -> ChildProcess[str]:
    command = [sys.executable, "-m", "paceline.testing.adbd.fleet", "--data", str(data)]
    return ChildProcess[str](
        [*command, "--devices", str(devices)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def parent_ends(process: subprocess.Popen[str]) -> None:
    """A parent that ended or was killed closes the fleet's standard input."""
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.parametrize("end", [parent_ends, subprocess.Popen.terminate])
def test_a_fleets_addresses_answer_with_their_serials_and_end_with_its_parent(
    tmp_path: Path, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    with fleet(tmp_path, 3) as process:
        try:
            assert process.stdout is not None
            devices = json.loads(process.stdout.readline())["devices"]
            assert [item["scenario"] for item in devices] == [
                "healthy",
                "overheats",
                "drops",
            ]
            assert len({item["serial"] for item in devices}) == 3
            key = AgentKey.of_agent(tmp_path)
            for item in devices:
                connection = DirectConnection(item["address"], key)
                assert identify(connection).serial == item["serial"]
                connection.close()
            stranger = DirectConnection(
                devices[0]["address"], AgentKey.load_or_create(tmp_path / "other")
            )
            with pytest.raises(AdbError):
                stranger.connect(timeout_s=0.5)
            stranger.close()
            end(process)
            assert process.wait(WITHIN_S) == 0
        finally:
            process.kill()
    for item in devices:
        host, _, port = item["address"].rpartition(":")
        with (
            pytest.raises(ConnectionRefusedError),
            socket.create_connection((host, int(port)), 5),
        ):
            pass
