"""Judges the directory that `paceline run` wrote, and writes the verdicts in the requested formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from paceline_contract.manifest_reader import ManifestError
from paceline_contract.outputs import (
    ERROR,
    FailOn,
    Output,
    OutputError,
    pair_outputs,
    write_whole,
)

from paceline_server.detect import judge as detect_judge
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.table import report_lines
from paceline_server.kernel.settings import SettingsError
from paceline_server.publish.service import render
from paceline_server.publish.verdicts import verdicts_of_analysis
from paceline_server.stats.voids import VoidLimits


def judge(
    directory: Path,
    out: TextIO,
    formats: Sequence[str],
    paths: Sequence[Path],
    *,
    fail_on: FailOn,
    manifest_path: Path | None,
    json_path: Path | None,
    revision: str | None,
    limits: VoidLimits,
) -> int:
    """Judge a directory and write each output; returns the exit status. Raises SettingsError for contradictory
    options."""
    try:
        outputs = pair_outputs(formats, paths)
    except OutputError as error:
        raise SettingsError(str(error)) from None
    return detect_judge.judge(
        directory,
        out,
        manifest_path=manifest_path,
        json_path=json_path,
        revision=revision,
        limits=limits,
        fail_on=fail_on,
        present=lambda analysis, failure: _write(outputs, out, analysis, failure),
    )


def print_undecided(directory: Path, limits: VoidLimits, out: TextIO) -> int:
    """Print the benchmarks of a measurement under way that more launches may decide; returns the exit status. `paceline
    run` and `paceline ab` ask between launches."""
    try:
        names = detect_judge.list_undecided_in(directory, limits)
    except (detect_judge.JudgeError, ManifestError, OSError) as error:
        out.write(f"error: {error}\n")
        return ERROR
    out.write(f"{json.dumps(names)}\n")
    return 0


def _write(
    outputs: Sequence[Output], out: TextIO, analysis: Analysis, failure: str | None
) -> None:
    verdicts = verdicts_of_analysis(analysis, failure)
    for output in outputs:
        if output.format == "table":
            lines = (line.rstrip() for line in report_lines(analysis, failure))
            text = "\n".join(lines) + "\n"
        else:
            text = render(verdicts, output.format)
        if output.path is None:
            out.write(text)
        else:
            write_whole(output.path, text)
