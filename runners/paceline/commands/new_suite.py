"""`paceline new`: writes an example suite to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from paceline.display import print_line
from paceline.errors import UserError

SUFFIX = ".example"
HELPER = "paceline_workload.py"
"""The copy of `paceline_contract.workload` beside a workload."""


def new(
    directory: Annotated[
        Path, typer.Argument(help="Where to write it; made if it is missing.")
    ],
) -> None:
    """Write an example suite to begin with: suite.toml, a workload in Python, and the helper it needs."""
    texts = {
        item.name.removesuffix(SUFFIX): item.read_bytes()
        for item in (files("paceline") / "example").iterdir()
        if item.name.endswith(SUFFIX)
    }
    texts[HELPER] = (files("paceline_contract") / "workload.py").read_bytes()
    existing = sorted(name for name in texts if (directory / name).exists())
    if existing:
        raise UserError(
            f"{directory / existing[0]} exists already, so nothing was written.",
            "Give another directory.",
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_bytes(text)
    except OSError as error:
        raise UserError(
            f"{error.filename} cannot be written: {error.strerror}",
            "Give another directory.",
        ) from error
    for name in sorted(texts):
        print_line(f"wrote {directory / name}")
    print_line(f"Measure it: paceline run {directory / 'suite.toml'}")
