"""The process of the simulated devices as `up` keeps it; what they are like is the runners' to prove."""

from __future__ import annotations

import queue
import sys
from pathlib import Path

import psutil
import pytest
from paceline_server.kernel.settings import SettingsError
from paceline_server.runtime.agent_child import MADE_BY_US, write_config
from paceline_server.runtime.simulated_devices import (
    SimulatedDevice,
    SimulatedFleet,
    announced,
)

DEVICE = SimulatedDevice("127.0.0.1:4711", "SIM0001", "overheats")
STARTED = 'print(\'{"devices": [{"address": "a:1", "serial": "s", "scenario": "healthy"}]}\', flush=True)'
UNTIL_TOLD = "import sys; sys.stdin.read()"
WITHIN_S = 150.0


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
def test_a_fleet_that_does_not_say_its_devices_is_an_error_and_never_left_running(
    tmp_path: Path, code: str, within_s: float
) -> None:
    starting, said = fleet(tmp_path, code, within_s)
    with (
        pytest.raises(SettingsError, match=r"did not start; see .*simulated\.log"),
        starting,
    ):
        pass
    assert not psutil.pid_exists(starting.process.pid)
    assert said.empty()


def test_a_fleet_that_ends_by_itself_is_mentioned(tmp_path: Path) -> None:
    dying, said = fleet(tmp_path, f"{STARTED}; raise SystemExit(3)")
    with dying:
        assert said.get(timeout=WITHIN_S).startswith(
            "The simulated devices ended by themselves (status 3)"
        )


def test_a_fleet_that_ends_before_its_devices_were_read_is_mentioned_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying, said = fleet(tmp_path, f"{STARTED}; raise SystemExit(3)")
    read = dying._said

    def late() -> list[SimulatedDevice]:
        dying.process.wait(WITHIN_S)
        with pytest.raises(queue.Empty):
            said.get(
                timeout=0.3
            )  # whoever follows it has seen its end by now, and may say nothing yet
        return read()

    monkeypatch.setattr(dying, "_said", late)
    with dying:
        assert said.get(timeout=WITHIN_S).startswith(
            "The simulated devices ended by themselves (status 3)"
        )


def test_a_fleet_that_is_told_to_end_is_not_mentioned(tmp_path: Path) -> None:
    living, said = fleet(tmp_path, f"{STARTED}; {UNTIL_TOLD}")
    with living:
        assert [device.serial for device in living.devices] == ["s"]
    assert not psutil.pid_exists(living.process.pid)
    assert said.empty()


def test_the_agent_is_told_of_them_unless_its_configuration_is_a_persons_and_then_the_terminal_says_so(
    tmp_path: Path,
) -> None:
    config = tmp_path / "agent.toml"
    assert write_config(config, None, [DEVICE.address])
    assert 'simulated = ["127.0.0.1:4711"]' in config.read_text(encoding="utf-8")
    assert announced([DEVICE], config, told=True) == [
        "  Simulated device:   SIM0001 (overheats within two minutes and cools again)"
    ]
    own = (
        config.read_text(encoding="utf-8").removeprefix(MADE_BY_US).replace("4711", "1")
    )
    config.write_text(own, encoding="utf-8")
    told = write_config(config, None, [DEVICE.address])
    assert not told
    assert config.read_text(encoding="utf-8") == own
    words = "\n".join(announced([DEVICE], config, told=told))
    assert f"{config} is your own" in words
    assert 'simulated = ["127.0.0.1:4711"]' in words
    assert "Simulated device:" not in words
    assert announced([], config, told=False) == []
