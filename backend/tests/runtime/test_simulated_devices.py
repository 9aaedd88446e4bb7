"""Tests how `up` starts, watches and stops the process of the simulated devices."""

from __future__ import annotations

import queue
import sys
from pathlib import Path

import psutil
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.kernel.settings import SettingsError
from paceline_server.runtime.agent_config import GENERATED_MARK, write_config
from paceline_server.runtime.simulated_devices import (
    SimulatedDevice,
    SimulatedFleet,
    describe_devices,
)

DEVICE = SimulatedDevice("127.0.0.1:4711", "SIM0001", "overheats")
STARTED = 'print(\'{"devices": [{"address": "a:1", "serial": "s", "scenario": "healthy"}]}\', flush=True)'
UNTIL_TOLD = "import sys; sys.stdin.read()"


def fleet(
    tmp_path: Path, code: str, within_s: float = WITHIN_S
) -> tuple[SimulatedFleet, queue.Queue[str]]:
    said: queue.Queue[str] = queue.Queue()
    argv = [sys.executable, "-c", code]
    return SimulatedFleet(argv, tmp_path / "simulated.log", said.put, within_s), said


@pytest.mark.parametrize(
    ("code", "within_s"),
    [
        (UNTIL_TOLD, 0.2),
        ("raise SystemExit(3)", WITHIN_S),
        (f"print('no JSON', flush=True); {UNTIL_TOLD}", WITHIN_S),
        (f"print('{{}}', flush=True); {UNTIL_TOLD}", WITHIN_S),
        (
            f'print(r\'{{"devices": [{{"port": 1}}]}}\', flush=True); {UNTIL_TOLD}',
            WITHIN_S,
        ),
    ],
    ids=["hangs", "dies", "no JSON", "no devices", "other devices"],
)
def test_a_fleet_that_does_not_report_its_devices_is_an_error_and_is_stopped(
    tmp_path: Path, code: str, within_s: float
) -> None:
    starting, output = fleet(tmp_path, code, within_s)
    with (
        pytest.raises(SettingsError, match=r"did not start; see .*simulated\.log"),
        starting,
    ):
        pass
    assert not psutil.pid_exists(starting.process.pid)
    assert output.empty()


def test_a_fleet_that_ends_by_itself_is_mentioned(tmp_path: Path) -> None:
    dying, output = fleet(tmp_path, f"{STARTED}; raise SystemExit(3)")
    with dying:
        assert output.get(timeout=WITHIN_S).startswith(
            "The simulated devices ended by themselves (status 3)"
        )


def test_a_fleet_that_ends_before_its_devices_were_read_is_mentioned_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying, output = fleet(tmp_path, f"{STARTED}; raise SystemExit(3)")
    read = dying._read_devices

    def late() -> list[SimulatedDevice]:
        dying.process.wait(WITHIN_S)
        with pytest.raises(queue.Empty):
            output.get(
                timeout=0.3
            )  # whoever follows it has seen its end by now, and may say nothing yet
        return read()

    monkeypatch.setattr(dying, "_read_devices", late)
    with dying:
        assert output.get(timeout=WITHIN_S).startswith(
            "The simulated devices ended by themselves (status 3)"
        )


def test_a_fleet_stopped_on_request_is_not_mentioned(tmp_path: Path) -> None:
    living, output = fleet(tmp_path, f"{STARTED}; {UNTIL_TOLD}")
    with living:
        assert [device.serial for device in living.devices] == ["s"]
    assert not psutil.pid_exists(living.process.pid)
    assert output.empty()


def test_simulated_devices_are_added_only_to_a_configuration_we_wrote(
    tmp_path: Path,
) -> None:
    config = tmp_path / "agent.toml"
    assert write_config(config, None, [DEVICE.address]) == {}
    assert 'simulated = ["127.0.0.1:4711"]' in config.read_text(encoding="utf-8")
    assert describe_devices([DEVICE], config, configured=True) == [
        "  Simulated device:   SIM0001 (overheats within two minutes and cools again)"
    ]
    own = (
        config.read_text(encoding="utf-8")
        .removeprefix(GENERATED_MARK)
        .replace("4711", "1")
    )
    config.write_text(own, encoding="utf-8")
    configured = write_config(config, None, [DEVICE.address]) is not None
    assert not configured
    assert config.read_text(encoding="utf-8") == own
    words = "\n".join(describe_devices([DEVICE], config, configured=configured))
    assert f"{config} is your own" in words
    assert 'simulated = ["127.0.0.1:4711"]' in words
    assert "Simulated device:" not in words
    assert describe_devices([], config, configured=False) == []
