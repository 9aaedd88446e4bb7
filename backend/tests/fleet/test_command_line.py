"""`paceline targets` as people run it: processes, a real server.

The server's clock stands still, because the commands of a loaded machine take longer than an agent may be silent.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from paceline.testing import commands
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.running_server import RunningServer
from paceline_server.testing.scripted_agent import announce
from paceline_server.testing.scripted_device import ScriptedDevice


@pytest.fixture
def _standing_clock() -> Iterator[None]:
    """Agents are not heard of again while a command runs, and stay online."""
    with clock_module.using(FrozenClock(datetime.now(UTC))):
        yield


@pytest.mark.usefixtures("_standing_clock")
@pytest.mark.shapes("embedded")
def test_a_device_is_looked_at_held_back_and_given_free(
    server: RunningServer,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    secret = token("admin")["Authorization"].removeprefix("Bearer ")
    own = {"PACELINE_SERVER": server.url, "PACELINE_TOKEN": secret, "COLUMNS": "300"}

    def say(*arguments: str) -> subprocess.CompletedProcess[str]:
        return commands.run("targets", *arguments, env={**os.environ, **own})

    with httpx.Client(base_url=server.url, timeout=WITHIN_S) as client:
        phone = ScriptedDevice(client, enrolled("lab-1").headers, simulated=True)
        target_id, name = phone.healthy(), f"phone {phone.serial}"
        check = phone.check()
        check["steps"].append({"name": "self_test", "ok": None, "text": "no corpus"})
        phone.heartbeat(check=check)
    assert [
        target["id"]
        for target in json.loads(say("list", "--kind", "device", "--json").stdout)
    ] == [target_id]
    listed = say("list", "--health", "good").stdout
    for word in ("takes jobs", phone.serial, "device (simulated)"):
        assert word in listed
    words = say("show", phone.serial).stdout
    assert words == say("show", name).stdout
    for word in (
        f"{name} ({target_id}), serial {phone.serial}, device (simulated), online",
        "connection: online by usb 1-2",
        "health: good",
        "charge 80 %",
        "free storage 64 GiB",
        "round_trip",
        "was reached",
    ):
        assert word in words
    (skipped,) = [line for line in words.splitlines() if "self_test" in line]
    assert "not looked at" in skipped
    assert "FAILED" not in words
    assert "swollen" in say("quarantine", name, "--reason", "swollen").stdout
    assert (
        "its health is not known yet"
        in say("release", name, "--reason", "new battery").stdout
    )
    held = json.loads(
        say("maintenance", name, "--on", "--until", "+3d", "--json").stdout
    )
    assert held["maintenance"]["until"] is not None
    assert "maintenance" not in say("maintenance", name, "--off").stdout
    assert "being checked" in say("recheck", name).stdout
    assert (
        json.loads(say("reboot", name, "--json").stdout)["orders"][-1]["kind"]
        == "reboot"
    )
    refused = say("reboot", "lab-1")
    assert (refused.returncode, "not_a_device" in refused.stderr) == (1, True)


@pytest.mark.usefixtures("_standing_clock")
@pytest.mark.shapes("embedded")
def test_submit_finds_targets_by_name_and_serial_and_names_those_there_are(
    server: RunningServer,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    headers = token("read", "ingest")
    secret = headers["Authorization"].removeprefix("Bearer ")
    own = {"PACELINE_SERVER": server.url, "PACELINE_TOKEN": secret}
    ids = set()
    for name in ("lab-1", "lab-2"):
        lab = enrolled(name)
        announce(lab.agent_id)
        ids.add(lab.target_id)

    def submit(*targets: str) -> subprocess.CompletedProcess[str]:
        options = [part for target in targets for part in ("--target", target)]
        command = ("submit", "demo", *options, "--timeout-s", "0")
        return commands.run(*command, env={**os.environ, **own})

    submitted = submit("lab-1", "serial-lab-2")
    assert "is not finished after 0 s" in submitted.stderr
    listed = httpx.get(f"{server.url}/api/v1/runs", headers=headers, timeout=WITHIN_S)
    (run,) = listed.json()["items"]
    assert {job["target_id"] for job in run["jobs"]} == ids
    refused = submit("lab-3")
    assert refused.returncode == 1
    assert "There is no target 'lab-3'" in refused.stderr
    assert "Use one of: lab-1, lab-2." in refused.stderr
