"""Tests of the whole agent with devices that run real commands: discovered, checked, driven and lost."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_providers import DeviceProvider, kinds
from paceline import api, config
from paceline.agent import Agent
from paceline.devices.driver import DriverIntervals
from paceline.testing.adbd import Peer
from paceline.testing.fake_server import FakeServer
from paceline_contract.testing.waiting import WITHIN_S

from .conftest import World, hang_from_now_on

QUICK = DriverIntervals(
    discover_s=0.2,
    connect_s=1.0,
    look_s=0.2,
    retry_s=0.2,
    readings_s=30.0,
    rung_s=0.05,
    boot_look_s=0.05,
    claim_s=5.0,
)
SERIAL = f"SIM{uuid.uuid4().hex[:8]}"
"""Of this process: a device is claimed host-wide, and other tests run beside these."""


@pytest.fixture
def peer(tmp_path: Path, provider: DeviceProvider) -> Iterator[Peer]:
    with provider.running(tmp_path / "peer", SERIAL) as running:
        yield running


class Fleet:
    """An agent in a thread, with a host and the peers."""

    def __init__(self, world: World, provider: DeviceProvider, *peers: Peer) -> None:
        self.server, self.host = world.server, world.serial
        text = world.config_path.read_text().replace(
            "enabled = false", provider.configured(*peers)
        )
        world.config_path.write_text(text)
        self.agent = Agent(
            world.server.url,
            world.data,
            config.ConfigFile(world.config_path),
            poll_s=0.2,
            pace=QUICK,
        )
        self._thread = threading.Thread(target=self.agent.run, args=("good-code",))

    def said(self, serial: str = SERIAL) -> dict[str, Any]:
        """The last heartbeat's word about a device; empty before it was found."""
        beats = self.server.heartbeats
        targets = beats[-1]["targets"] if beats else []
        return next((target for target in targets if target["serial"] == serial), {})

    def unknown_routes(self) -> list[dict[str, Any]]:
        """What the host says of routes that lead to no device yet."""
        return [
            item
            for item in self.said(self.host).get("preflight", [])
            if item["code"] == "device_route"
        ]

    def connection(self, state: str, serial: str = SERIAL) -> None:
        self.server.wait_for(
            lambda: self.said(serial).get("connection", {}).get("state") == state
        )

    def __enter__(self) -> Fleet:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.agent.leave()
        self.agent.leave()
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive()


def test_a_device_appears_by_itself_is_checked_and_passes(
    world: World, peer: Peer, provider: DeviceProvider
) -> None:
    left = peer.files / "data/local/tmp/paceline/a-run-of-an-earlier-life"
    left.mkdir(parents=True)
    (left / "out").write_text("half a launch")
    world.server.checks_due = {SERIAL}
    with Fleet(world, provider, peer) as fleet:
        world.server.wait_for(lambda: world.server.checks)
        (check,) = world.server.checks
        assert check["ok"], check["steps"]
        assert {"sha256sum", "dumpsys", "df"} <= {
            raw["command"].split()[0] for raw in check["raw"]
        }
        fleet.connection("online")
        output = fleet.said()
    assert output["simulated"] == (provider.server is None)
    assert output["boot_id"] == peer.boot_id
    assert output["gates"]["battery_c"] is not None
    assert ("simulated" in output["configuration"]) == (provider.server is None)
    assert not peer.violations
    stale = next(step for step in check["steps"] if step["name"] == "stale_runs")
    assert left.name in stale["text"]
    assert list((peer.files / "data/local/tmp/paceline").iterdir()) == []


def test_a_device_is_leased_for_while_the_host_is_busy(
    world: World, peer: Peer, provider: DeviceProvider
) -> None:
    hang_from_now_on(world)
    hosts = world.add_job("on-the-host")
    with Fleet(world, provider, peer) as fleet:
        world.server.wait_for(
            lambda: any(state["state"] == "measuring" for state in hosts.states)
        )
        fleet.connection("online")
        devices = world.server.add_job(
            "on-the-device", world.work(repository="stranger"), SERIAL
        )
        world.server.wait_for(lambda: devices.attempt)
        assert hosts.finish is None
        hosts.cancel = True
        world.server.wait_for(lambda: devices.finish and hosts.finish)
    assert devices.finish is not None
    assert devices.finish["cause"] == "checkout_failed"


def test_a_device_that_leaves_and_returns_and_is_restarted_is_followed(
    world: World, peer: Peer, provider: DeviceProvider
) -> None:
    with Fleet(world, provider, peer) as fleet:
        fleet.connection("online")
        peer.leave()
        fleet.connection("absent")
        assert fleet.said()["connection"]["advice"]
        peer.come_back()
        fleet.connection("online")
        before = peer.boot_id
        world.server.orders[SERIAL] = [{"id": "ord-1", "kind": "reboot"}]
        world.server.wait_for(lambda: world.server.checks)
        assert peer.boot_id != before
        world.server.wait_for(lambda: fleet.said()["boot_id"] == peer.boot_id)
        assert world.server.orders[SERIAL] == []
    rungs = [(step["step"], step["ok"]) for step in world.server.recovery]
    assert rungs[-1] == ("reboot", True)
    assert provider.server is not None or len(rungs) == 1, (
        "only a server can be told to reconnect"
    )


@pytest.mark.parametrize(
    "provider", kinds(("simulated", "direct"), ("adbd", "direct")), indirect=True
)
def test_one_thread_beats_for_any_number_of_devices_and_only_after_its_last_answer(
    world: World,
    provider: DeviceProvider,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level("INFO", "paceline.devices")
    monkeypatch.setattr(
        api.TIMEOUT, "read", 300.0
    )  # the held beat must not be given up on a slow machine
    serials = {f"{SERIAL}-{number}" for number in range(3)}

    def logged(state: str) -> set[str]:
        """Devices that went over to it; each wants to be announced at once."""
        return {
            serial
            for serial in serials
            if any(f"{serial}: {state}" in message for message in caplog.messages)
        }

    with contextlib.ExitStack() as held:
        peers = [
            held.enter_context(provider.running(tmp_path / serial, serial))
            for serial in sorted(serials)
        ]
        fleet = held.enter_context(Fleet(world, provider, *peers))
        held.callback(
            world.server.let_go, "/heartbeat"
        )  # whatever goes wrong: the agent leaves after it
        for serial in serials:
            fleet.connection("online", serial)
        assert [thread.name for thread in threading.enumerate()].count("heartbeat") == 1
        world.server.held.add("/heartbeat")
        world.server.wait_for(lambda: world.server.waiting)
        caplog.clear()
        for peer in peers:
            peer.leave()
        world.server.wait_for(lambda: logged("absent") == serials)
        for peer in peers:
            peer.come_back()
        world.server.wait_for(lambda: logged("online") == serials)
        beats = [path for path in world.server.waiting if path.endswith("/heartbeat")]
        assert len(beats) == 1, "one asks, and asks nothing more before it was answered"
        before = len(world.server.heartbeats)
        world.server.let_go("/heartbeat")
        world.server.wait_for(lambda: len(world.server.heartbeats) > before + 1)
        reported = {
            target["serial"] for target in world.server.heartbeats[-1]["targets"]
        }
        assert reported == {*serials, world.serial}, "one beat speaks for all"


def test_a_phone_that_waits_for_a_person_is_let_in_when_the_prompt_is_accepted(
    world: World, provider: DeviceProvider, tmp_path: Path
) -> None:
    with (
        provider.running(tmp_path / "peer", SERIAL, trust=set()) as peer,
        Fleet(world, provider, peer) as fleet,
    ):
        world.server.wait_for(lambda: peer.prompts)
        assert fleet.said(SERIAL) == {}

        def asks_person() -> bool:
            """Whether the host says so of a route. One that answers late is first said to be silent."""
            return any(
                "prompt" in told["text"] + told["advice"]
                for told in fleet.unknown_routes()
            )

        world.server.wait_for(asks_person)
        (told,) = fleet.unknown_routes()
        assert peer.address in told["text"]

        def accepted() -> bool:
            peer.answer_prompt(True)
            return bool(fleet.said().get("connection", {}).get("state") == "online")

        world.server.wait_for(accepted)
        world.server.wait_for(lambda: fleet.unknown_routes() == [])


def test_the_agent_says_nothing_of_devices_where_they_are_switched_off(
    server: FakeServer, world: World
) -> None:
    agent = world.agent()
    thread = threading.Thread(target=agent.run, args=("good-code",))
    thread.start()
    server.wait_for(lambda: len(server.heartbeats) > 2)
    agent.leave()
    thread.join(WITHIN_S)
    assert all(len(beat["targets"]) == 1 for beat in server.heartbeats)


def test_an_error_of_the_agents_own_that_repeats_ends_all_of_it_and_is_told_before(
    world: World, peer: Peer, provider: DeviceProvider
) -> None:
    fleet = Fleet(world, provider, peer)
    world.data.mkdir(exist_ok=True)
    (world.data / "artifacts").write_text("where the cache of builds should be")
    ended: list[BaseException] = []

    def run() -> None:
        try:
            fleet.agent.run("good-code")
        except OSError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    before = set(threading.enumerate())
    thread.start()
    fleet.connection("online")
    jobs = [
        world.server.add_job(f"job-{number}", world.work(), world.serial)
        for number in range(3)
    ]

    def told() -> bool:
        host = world.server.heartbeats[-1]["targets"][0]
        return any(
            item["code"] == "agent_error" and "artifacts" in item["text"]
            for item in host["preflight"]
        )

    world.server.wait_for(told)
    thread.join(WITHIN_S)
    assert not thread.is_alive()
    assert len(ended) == 1
    assert {job.finish["cause"] for job in jobs if job.finish} == {"agent_error"}
    assert all(job.finish for job in jobs)
    ours = ("device-", "discover", "heartbeat")
    assert [
        item
        for item in set(threading.enumerate()) - before
        if item.name.startswith(ours)
    ] == []


def test_a_bad_turn_of_the_host_is_survived(world: World) -> None:
    world.data.mkdir(exist_ok=True)
    (world.data / "artifacts").write_text("where the cache of builds should be")
    agent = world.agent()
    thread = threading.Thread(target=agent.run, args=("good-code",))
    thread.start()
    first = world.add_job("job-1")
    world.server.wait_for(lambda: first.finish)
    (world.data / "artifacts").unlink()
    second = world.add_job("job-2")
    world.server.wait_for(lambda: second.finish)
    world.server.wait_for(lambda: "agent_error" not in codes(world))
    agent.leave()
    thread.join(WITHIN_S)
    assert first.finish is not None
    assert first.finish["cause"] == "agent_error"
    assert second.finish is not None
    assert second.finish["outcome"] == "done"


def codes(world: World) -> set[str]:
    """Of the last heartbeat's findings about the host."""
    return {
        item["code"] for item in world.server.heartbeats[-1]["targets"][0]["preflight"]
    }
