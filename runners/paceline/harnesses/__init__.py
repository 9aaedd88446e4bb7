"""Lists the harnesses that Paceline drives: one file each, named nowhere else.

`port.py` says what a harness is, `paceline_contract.readers` has their readers, `plan.py` turns its cases into a
manifest, `declared.py` names them by one, and `drive.py` is the workload that starts it and prints the bench stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from paceline.errors import UserError
from paceline.harnesses.catch2 import Catch2
from paceline.harnesses.criterion import Criterion
from paceline.harnesses.go_testing import GoTesting
from paceline.harnesses.google_benchmark import GoogleBenchmark
from paceline.harnesses.hyperfine import Hyperfine
from paceline.harnesses.jmh import Jmh
from paceline.harnesses.plain import PlainCommand
from paceline.harnesses.port import Harness
from paceline.harnesses.pytest_benchmark import PytestBenchmark
from paceline.harnesses.vitest import Vitest

HARNESSES: Final[tuple[Harness, ...]] = (
    GoTesting(),
    PytestBenchmark(),
    Criterion(),
    Jmh(),
    Hyperfine(),
    Vitest(),
    GoogleBenchmark(),
    Catch2(),
    PlainCommand(),
)
"""They are asked in this order; the last takes any command."""


def find_harness(name: str) -> Harness:
    """Find the harness of this name. Raises UserError."""
    for harness in HARNESSES:
        if harness.name == name:
            return harness
    names = ", ".join(harness.name for harness in HARNESSES)
    raise UserError(f"There is no harness {name!r}.", f"Use one of: {names}.")


def detect_harness(command: Sequence[str], directory: Path) -> Harness:
    """Detect the harness that `command`, started in `directory`, runs; a plain command if it is none."""
    return next(harness for harness in HARNESSES if harness.detect(command, directory))
