"""Changes one constant at a time and runs the tests of decisions; scripts/mutations calls it.

A forked child sets the constant in its module before anything uses it, and runs pytest until the first failure. The
sources are never touched.
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
    "contract/tests/test_manifest.py",
    "backend/tests/stats",
    "backend/tests/detect/test_analyse.py",
    "backend/tests/detect/test_policies.py",
    "backend/tests/detect/test_noise.py",
    "backend/tests/detect/changes/test_evaluation_and_planning.py",
    "backend/tests/detect/changes/test_changes_of_series.py::"
    "test_series_without_points_for_a_hundred_runs_are_not_counted_for_the_target",
    "backend/tests/alerts/changes/test_life_of_changes.py",
    "backend/tests/detect/test_devices.py",
    "backend/tests/jobs/test_devices.py",
]
SLOW = ("test_history_bounds", "test_history_unseen", "test_simulation")
"""These judge many series, so they run only if no other test fails."""
FACTORS = (2.0, 0.5)


CONSTANTS = "paceline_server.stats.constants"
MARGINS = "paceline_contract.manifest"
"""The margins of benchmarks that declare none."""


def _modules_by_constant() -> dict[str, str]:
    """Return the module of each constant."""
    constants, margins = map(importlib.import_module, (CONSTANTS, MARGINS))
    return {name: CONSTANTS for name in vars(constants) if name.isupper()} | {
        name: MARGINS for name in vars(margins) if name.endswith("_MARGIN_PERCENT")
    }


def main() -> int:
    constants = {
        name: getattr(importlib.import_module(module), name)
        for name, module in _modules_by_constant().items()
    }
    chosen = sys.argv[1:] or list(constants)
    if unknown := sorted(set(chosen) - set(constants)):
        sys.stderr.write(f"No such constant: {', '.join(unknown)}.\n")
        return 1
    if broken := _first_broken(chosen[0], constants[chosen[0]], slow=False):
        sys.stderr.write(f"The tests fail with the constants as they are: {broken}.\n")
        return 1
    survivors = 0
    for name in chosen:
        for factor in FACTORS:
            value = _perturb(constants[name], factor)
            broken = _first_broken(name, value, slow=False) or _first_broken(
                name, value, slow=True
            )
            survivors += broken is None
            line = f"{name:34} {constants[name]!s:>24} → {value!s:<24} {broken or 'NO TEST MINDS'}\n"
            sys.stdout.write(line)
            sys.stdout.flush()
    sys.stdout.write(f"{survivors} perturbation(s) survived\n")
    return 1 if survivors else 0


def _perturb(value: Any, factor: float) -> Any:
    """Return the value times the factor; whole numbers stay whole, and of a probability near 1 the complement changes."""
    if isinstance(value, tuple):
        return tuple(_perturb(item, factor) for item in value)
    if isinstance(value, float) and 0.5 < value < 1.0:
        return 1.0 - (1.0 - value) * factor
    return int(value * factor) if isinstance(value, int) else value * factor


def _first_broken(name: str, value: Any, *, slow: bool) -> str | None:
    """Return the first test that fails with the constant set so, or None; runs in a forked child."""
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
    setattr(importlib.import_module(_modules_by_constant()[name]), name, value)
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
