"""`paceline new`: writes a suite to begin with, an example or one of benchmarks that a tool runs already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from paceline_contract.estimates import format_duration

from paceline.commands.options import (
    Arms,
    BuildCommand,
    HarnessName,
    Reference,
    Verbose,
    refuse_given,
)
from paceline.display import display_for, print_line, print_note, terminal
from paceline.errors import UserError
from paceline.harnesses.plan import parse_arms
from paceline.interruption import run_interruptibly
from paceline.stop import Stop, StopReason
from paceline.tool_suites import MANIFEST, ToolRequest, ToolSuite, make_suite

SUFFIX = ".example"
LONG_S = 600.0
"""Whoever would wait longer is told how to measure less."""
HELPER = "paceline_workload.py"
"""The copy of `paceline_contract.workload` beside a workload."""


def new(  # noqa: PLR0917 - one parameter per option is how typer declares them
    directory: Annotated[
        Path, typer.Argument(help="Where to write it; made if it is missing.")
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND]",
            help="What runs your benchmarks, as you start it in DIRECTORY: a benchmark harness, or any program.",
            show_default=False,
        ),
    ] = None,
    harness: HarnessName = None,
    arm: Arms = None,
    reference: Reference = None,
    build: BuildCommand = None,
    verbose: Verbose = False,
) -> None:
    """Write a suite to begin with: an example in Python, or with a command after -- one of the benchmarks that it runs.

    The example is suite.toml, a workload, and the helper it needs. Of a command it is suite.toml alone: it is started once,
    in a copy of DIRECTORY, and the suite declares its harness and the cases and metrics that it lists. For example, where
    ./bench is: paceline new . -- ./bench
    """
    if command is None:
        refuse_given(
            "commands", harness=harness, arm=arm, reference=reference, build=build
        )
        _write_example(directory)
        return
    _refuse_existing(directory, [MANIFEST])
    request = ToolRequest(
        directory, command, parse_arms(arm or [], reference), harness, build
    )
    display = display_for(terminal(stderr=True), verbose)
    stop = Stop()
    try:
        suite = run_interruptibly(
            lambda: make_suite(request, display.log, stop),
            lambda: stop.set(StopReason.CANCELLED),
        )
    except UserError:
        if stop.reason is None:
            raise
        print_note("Interrupted; nothing was written.")
        raise typer.Exit(130) from None
    finally:
        display.close()
    for warning in suite.warnings:
        print_note(f"warning: {warning}.")
    _write(directory, {MANIFEST: suite.text.encode()})
    print_note(_tell_what_was_found(suite))


def _tell_what_was_found(suite: ToolSuite) -> str:
    """Return what the suite declares, and how often a run starts its tool."""
    benchmarks = len(suite.manifest.benchmarks)
    text = (
        f"It declares {suite.cases} case{'s' * (suite.cases != 1)} in {benchmarks} benchmark{'s' * (benchmarks != 1)} of "
        f"{suite.harness.title}. Listing them took {format_duration(suite.start_s)}, and `paceline run` starts the tool "
        f"{suite.starts} times."
    )
    if suite.start_s * suite.starts > LONG_S:
        text += " Where that takes too long, add --launches 30 --rounds 1."
    return text


def _write_example(directory: Path) -> None:
    texts = {
        item.name.removesuffix(SUFFIX): item.read_bytes()
        for item in (files("paceline") / "example").iterdir()
        if item.name.endswith(SUFFIX)
    }
    texts[HELPER] = (files("paceline_contract") / "workload.py").read_bytes()
    _refuse_existing(directory, texts)
    _write(directory, texts)


def _refuse_existing(directory: Path, names: Iterable[str]) -> None:
    existing = sorted(name for name in names if (directory / name).exists())
    if existing:
        raise UserError(
            f"{directory / existing[0]} exists already, so nothing was written.",
            "Give another directory.",
        )


def _write(directory: Path, texts: Mapping[str, bytes]) -> None:
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
    print_line(f"Measure it: paceline run {directory / MANIFEST}")
