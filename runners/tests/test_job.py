"""Tests of jobs that end by a failure of the device or the agent, not the suite."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paceline.adb.port import AdbError, LostError, TransferError
from paceline.api import ApiClient
from paceline.artifacts import ArtifactCache
from paceline.executors.claim import SOMEBODY, Claimant
from paceline.executors.fake import FakeExecutor, LaunchScript
from paceline.job import Job, JobResources
from paceline.spool import Attempt, Spool
from paceline.stop import Stop
from paceline_contract.attempts import AgentCause

from .conftest import World, finish_of


class Away(FakeExecutor):
    """A device that fails where nothing waits for that."""

    def __init__(self, error: AdbError) -> None:
        super().__init__(lambda _: LaunchScript(b""))
        self._error = error

    @contextmanager
    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> Iterator[bool]:
        with super().claim(stop, timeout_s, by) as claimed:
            if claimed:
                raise self._error
            yield claimed


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (lambda: LostError("The cable was pulled."), "device_lost"),
        (lambda: TransferError("It is full.", no_space=True), "device_storage_full"),
    ],
)
def test_an_unexpected_device_error_is_not_blamed_on_the_suite(
    world: World, tmp_path: Path, error: Callable[[], AdbError], cause: AgentCause
) -> None:
    job = world.add_job()
    data = tmp_path / "agent"
    with contextlib.closing(ApiClient(world.server.url)) as enrolling:
        credential = enrolling.enrol("good-code", "here", world.serial).credential
    api = ApiClient(world.server.url, credential)
    api.heartbeat([{"serial": world.serial, "kind": "host"}], [])
    lease = api.lease(5.0)
    assert lease is not None
    spool = Spool(data / "spool").create(
        Attempt(lease.job_id, lease.attempt, lease.lease_token)
    )
    cache = ArtifactCache(data / "cache", 1 << 20)
    resources = JobResources(api, {})
    running = Job(
        resources, lease, executor=Away(error()), cache=cache, spool=spool, stop=Stop()
    )
    running.run(threading.Event())
    assert finish_of(world, job)["cause"] == cause
    api.close()
