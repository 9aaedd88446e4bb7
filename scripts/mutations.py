"""The work of scripts/mutations: perturbs one constant at a time in a child and runs the tests of decisions.

A child is forked before anything of `stats` is imported, sets the constant in the module and runs pytest
until the first failure. Invariant: only the constant differs; the sources are never touched.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401 - imported once, before the forks
import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    "backend/tests/stats",
    "backend/tests/detect/test_analyse.py",
    "backend/tests/detect/test_policies.py",
    "backend/tests/detect/test_noise.py",
    "backend/tests/detect/changes/test_evaluation_and_planning.py",
    "backend/tests/detect/changes/test_changes_of_series.py::"
    "test_series_given_up_a_hundred_runs_ago_are_no_longer_of_the_target",
    "backend/tests/alerts/changes/test_life_of_changes.py",
    "backend/tests/detect/test_devices.py",
    "backend/tests/jobs/test_devices.py",
]
SLOW = ("test_history_bounds", "test_history_unseen", "test_simulation")
"""Run only for constants that nothing else minds: they judge many series."""
FACTORS = (2.0, 0.5)


def main() -> int:
    constants = importlib.import_module("paceline_server.stats.constants")
    known = {name: value for name, value in vars(constants).items() if name.isupper()}
    wanted = sys.argv[1:] or list(known)
    if unknown := sorted(set(wanted) - set(known)):
        sys.stderr.write(f"No such constant: {', '.join(unknown)}.\n")
        return 1
    if broken := _first_broken(wanted[0], known[wanted[0]], slow=False):
        sys.stderr.write(f"The tests fail with the constants as they are: {broken}.\n")
        return 1
    survivors = 0
    for name in wanted:
        for factor in FACTORS:
            value = _perturbed(known[name], factor)
            broken = _first_broken(name, value, slow=False) or _first_broken(
                name, value, slow=True
            )
            survivors += broken is None
            told = f"{name:34} {known[name]!s:>24} → {value!s:<24} {broken or 'NO TEST MINDS'}\n"
            sys.stdout.write(told)
            sys.stdout.flush()
    sys.stdout.write(f"{survivors} perturbation(s) survived\n")
    return 1 if survivors else 0


def _perturbed(value: Any, factor: float) -> Any:
    """Twice or half; whole numbers stay whole; of a probability near 1 it is the complement."""
    if isinstance(value, tuple):
        return tuple(_perturbed(one, factor) for one in value)
    if isinstance(value, float) and 0.5 < value < 1.0:
        return 1.0 - (1.0 - value) * factor
    return int(value * factor) if isinstance(value, int) else value * factor


def _first_broken(name: str, value: Any, *, slow: bool) -> str | None:
    """The test that fails first with the constant set so, or None; runs in a child of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as answer, _silence():
            json.dump(_run(name, value, slow=slow), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "the tests could not be run"


def _run(name: str, value: Any, *, slow: bool) -> str | None:
    constants = importlib.import_module("paceline_server.stats.constants")
    setattr(constants, name, value)
    watch = _FirstFailure()
    picked = " or ".join(SLOW) if slow else f"not ({' or '.join(SLOW)})"
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", picked]
    status = pytest.main([*options, *TESTS], plugins=[watch])
    return (watch.node or f"pytest ended with {status}") if status else None


class _FirstFailure:
    """Remembers the node that failed first."""

    node: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.node is None:
            self.node = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.node is None:
            self.node = f"{report.nodeid} (cannot be imported)"


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield


if __name__ == "__main__":
    os.chdir(ROOT)
    raise SystemExit(main())
