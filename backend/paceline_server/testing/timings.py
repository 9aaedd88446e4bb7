"""A pytest plugin that records the wall and CPU time of every test, for the table at the end of `make test`.

CPU time includes processes that a test started and waited for. Shared fixtures have entries of their own, so their
time is never counted in the test that happened to start or end them. `--timings DIRECTORY` turns it on; each worker
process writes one file there, which `scripts/slowest.py` reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

STARTED = "start and collection"


@dataclass
class Timing:
    """The time of a test, or of a fixture that tests share, so far."""

    name: str
    kind: str
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def add(self, wall_s: float, cpu_s: float) -> None:
        self.wall_s += wall_s
        self.cpu_s += cpu_s


def _now() -> tuple[float, float]:
    """Wall and CPU seconds so far, including ended children."""
    times = os.times()
    return (
        times.elapsed,
        times.user + times.system + times.children_user + times.children_system,
    )


class Stopwatch:
    """Counts time for the test or fixture that began last and has not ended."""

    def __init__(self) -> None:
        self.timings: dict[tuple[str, str], Timing] = {}
        self._owners: list[tuple[str, str]] = []
        self._since = _now()

    def begin(self, name: str, kind: str) -> None:
        self._account()
        self.timings.setdefault((kind, name), Timing(name, kind))
        self._owners.append((kind, name))

    def end(self) -> None:
        self._account()
        self._owners.pop()

    def _account(self) -> None:
        wall, cpu = _now()
        if self._owners:
            self.timings[self._owners[-1]].add(
                wall - self._since[0], cpu - self._since[1]
            )
        self._since = wall, cpu


class TimingPlugin:
    """pytest's hooks that begin and end a timing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stopwatch = Stopwatch()
        self._begun = 0.0, 0.0
        self._ending: set[pytest.FixtureDef[Any]] = set()

    @pytest.hookimpl
    def pytest_collection_finish(self) -> None:
        wall, cpu = _now()
        started = Timing(STARTED, "process", cpu_s=cpu, wall_s=wall - self._begun[0])
        self._stopwatch.timings["process", STARTED] = started

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self._begun = _now()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item
    ) -> Generator[None, object, object]:
        self._stopwatch.begin(item.nodeid, "test")
        try:
            return (yield)
        finally:
            self._stopwatch.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        name = f"{fixturedef.baseid}::{fixturedef.argname}".removeprefix("::")

        def begin_teardown() -> None:
            self._ending.add(fixturedef)
            self._stopwatch.begin(name, "shared fixture")

        self._stopwatch.begin(name, "shared fixture")
        try:
            result = yield
        finally:
            self._stopwatch.end()
        fixturedef.addfinalizer(
            begin_teardown
        )  # last in, first out: before the fixture's own
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        if fixturedef in self._ending:
            self._ending.remove(fixturedef)
            self._stopwatch.end()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        if not any(kind == "test" for kind, _ in self._stopwatch.timings):
            return  # the process that distributes tests to workers runs none
        self._directory.mkdir(parents=True, exist_ok=True)
        rows = [asdict(timing) for timing in self._stopwatch.timings.values()]
        (self._directory / f"{worker}.json").write_text(json.dumps(rows))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--timings",
        metavar="DIRECTORY",
        default=None,
        help="write the wall and CPU time of every test to DIRECTORY",
    )


def pytest_configure(config: pytest.Config) -> None:
    directory = config.getoption("--timings")
    if directory is not None:
        config.pluginmanager.register(TimingPlugin(Path(directory)), "paceline-timings")
