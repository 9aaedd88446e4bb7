"""The formats of verdicts and the exit status of commands that judge: `paceline submit`, `ab` and `paceline-server judge`.

Pipelines rely on both, so the commands share them. Rendering is the server's (`paceline_server.publish`).
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Format = Literal["table", "json", "junit", "markdown"]
FailOn = Literal["fail", "inconclusive", "never"]
MEDIA_TYPES: dict[Format, str] = {
    "table": "text/plain",
    "json": "application/json",
    "junit": "application/xml",
    "markdown": "text/markdown",
}

PASSED, ERROR, FAILED, INCONCLUSIVE = 0, 1, 2, 3
BRACKETS = "Verdicts in brackets do not affect the run's verdict."
"""The note in every format for people that has such a verdict: one that no rule watches."""
FORMAT_HELP = "table, json, junit or markdown; repeatable, each with its --output."
OUTPUT_HELP = "File for the --format in the same place; without one it is printed."
FAIL_ON_HELP = "fail, inconclusive or never: which verdicts end with a failure."


def print_any_text() -> None:
    """Let both output streams replace the characters that their encoding lacks.

    A build server with `PYTHONIOENCODING=ascii` or a Windows code page has few of them, and a command must not end
    in the middle of its work because a name cannot be printed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def json_text(value: object) -> str:
    """Return a JSON value for standard output: with escapes where the stream could not hold its characters."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return json.dumps(value, indent=1, ensure_ascii=not is_unicode)


class Output(NamedTuple):
    """A format and its file; None: standard output."""

    format: Format
    path: Path | None


class OutputError(ValueError):
    """The options for formats and files contradict each other; the text says what to do."""


def pair_outputs(formats: Sequence[str], paths: Sequence[Path]) -> list[Output]:
    """Pair the n-th format with the n-th file; print the table if nothing else is printed. Raises OutputError."""
    for name in formats:
        if name not in get_args(Format):
            raise OutputError(
                f"--format {name!r} is unknown: use {', '.join(get_args(Format))}."
            )
    if len(paths) > len(formats):
        raise OutputError(
            f"--output {paths[len(formats)]} has no --format: give one for each file."
        )
    if len(formats) > len(paths) + 1:
        raise OutputError(
            "Only one format can be printed: give the others an --output."
        )
    repeated = {path for path in paths if paths.count(path) > 1}
    if repeated:
        raise OutputError(f"--output {sorted(repeated)[0]} is given twice.")
    outputs = [
        Output(name, path)  # type: ignore[arg-type] # checked above
        for name, path in zip(formats, [*paths, None], strict=False)
    ]
    if all(output.path is not None for output in outputs):
        outputs.append(Output("table", None))
    return outputs


def exit_status(outcome: str | None, fail_on: FailOn = "inconclusive") -> int:
    """Return the exit status of a command. An outcome without a verdict (failed, lost, none) is always an error."""
    match outcome:
        case "pass":
            return PASSED
        case "fail":
            return PASSED if fail_on == "never" else FAILED
        case "inconclusive":
            return INCONCLUSIVE if fail_on == "inconclusive" else PASSED
        case _:
            return ERROR


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is whole or not there. Raises OSError."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
