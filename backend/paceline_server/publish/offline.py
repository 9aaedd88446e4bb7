"""Judges the directory that `paceline run` wrote, and writes the verdicts in the requested formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from paceline_contract.outputs import (
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
