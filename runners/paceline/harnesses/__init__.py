"""Lists the harnesses that Paceline drives: one file each, named nowhere else.

`port.py` says what a harness is, `paceline_contract.readers` has their readers, `plan.py` turns its cases into a
manifest, `declared.py` names them by one, and `drive.py` is the workload that starts it and prints the bench stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from paceline.errors import UserError
from paceline.harnesses.port import Harness

HARNESSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "go": "go_testing.GoTesting",
        "pytest-benchmark": "pytest_benchmark.PytestBenchmark",
        "pyperf": "pyperf.Pyperf",
        "divan": "divan.Divan",
        "criterion": "criterion.Criterion",
        "jmh": "jmh.Jmh",
        "hyperfine": "hyperfine.Hyperfine",
        "vitest": "vitest.Vitest",
        "google-benchmark": "google_benchmark.GoogleBenchmark",
        "catch2": "catch2.Catch2",
        "command": "plain.PlainCommand",
    }
)
"""The module and class of each. They are asked in this order; the last takes any command.

Each start of the workload imports its own one alone.
"""


def find_harness(name: str) -> Harness:
    """Find the harness of this name. Raises UserError."""
    if name not in HARNESSES:
        raise UserError(
            f"There is no harness {name!r}.", f"Use one of: {', '.join(HARNESSES)}."
        )
    module, _, harness = HARNESSES[name].partition(".")
    made: Harness = getattr(import_module(f"{__name__}.{module}"), harness)()
    return made


def list_harnesses() -> Iterator[Harness]:
    """Yield all harnesses in their order."""
    return map(find_harness, HARNESSES)


def detect_harness(command: Sequence[str], directory: Path) -> Harness:
    """Detect the harness that `command`, started in `directory`, runs; a plain command if it is none."""
    return next(
        harness for harness in list_harnesses() if harness.detect(command, directory)
    )
