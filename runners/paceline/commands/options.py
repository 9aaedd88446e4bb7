"""Command-line options that several commands share, and how their values are read."""

from __future__ import annotations

import itertools
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from paceline.errors import UserError

Server = Annotated[
    str, typer.Option(envvar="PACELINE_SERVER", help="The server's address.")
]
Token = Annotated[str, typer.Option(envvar="PACELINE_TOKEN", help="An API token.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print the server's response as JSON.")
]
Note = Annotated[str | None, typer.Option(help="A note for the alert's history.")]

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="PACELINE_AGENT_DATA",
        help="Directory for the spool, mirrors and builds.",
    ),
]
OutDir = Annotated[
    Path | None,
    typer.Option("--out", help="Directory to write to; must be new or empty."),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show the build's output.")]
Benchmarks = Annotated[
    list[str] | None, typer.Option(help="Only this benchmark; repeatable.")
]
Params = Annotated[
    list[str] | None, typer.Option(help="NAME=V1|V2: only these values; repeatable.")
]
Knobs = Annotated[
    list[str] | None, typer.Option(help="NAME=VALUE: set a suite's knob; repeatable.")
]
Preset = Annotated[
    str | None,
    typer.Option(help="A preset of the suite; options given here take precedence."),
]
WarmupRounds = Annotated[
    int | None, typer.Option(min=0, help="Warm-up rounds per launch.")
]
MinTimeNs = Annotated[int, typer.Option(min=1000, help="Shortest sample, in ns.")]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Determines the order of arms; default: random."),
]

NOBODY = "none"


def parse_time(text: str) -> str | None:
    """An ISO instant of `2026-12-01` (its last second, UTC), an ISO instant, `+3d` or `+12h`; None for
    `none`. Raises UserError."""
    if text == NOBODY:
        return None
    try:
        if text.startswith("+") and text[-1] in "dh":
            hours = float(text[1:-1]) * (24 if text[-1] == "d" else 1)
            return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise UserError(
            f"{text!r} is not a date.", "Use 2026-12-01, +3d, +12h or none."
        ) from None
    if len(text) == len("2026-12-01"):
        time = time.replace(hour=23, minute=59, second=59)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()


def parse_share(text: str) -> float:
    """`0.03` of "3%", "3 %" or "0.03". Raises UserError."""
    number = text.removesuffix("%").strip()
    try:
        value = float(number) / 100 if text.endswith("%") else float(number)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 10.0:
        raise UserError(f"{text!r} is not an effect size.", "Use 3% or 0.03.")
    return value


def check_choice(value: str | None, what: str, choices: tuple[str, ...]) -> None:
    """Raises UserError unless `value` is None or one of `choices`."""
    if value is not None and value not in choices:
        raise UserError(f"Unknown {what} {value!r}.", f"Use {', '.join(choices)}.")


def output_directory(wanted: Path | None, suite: str) -> Path:
    """`wanted`, not created yet, or a new directory below paceline-runs that is. Raises UserError for a
    directory that is not empty, because streams are never mixed."""
    if wanted is None:
        return _new_directory(Path("paceline-runs"), suite)
    if wanted.is_dir() and any(wanted.iterdir()):
        raise UserError(
            f"{wanted} is not empty.",
            "Give a new directory with --out; streams are never mixed.",
        )
    if wanted.exists() and not wanted.is_dir():
        raise UserError(f"{wanted} is a file.", "Give a directory with --out.")
    return wanted


def _new_directory(below: Path, suite: str) -> Path:
    """Created here, so that runs which begin in the same second never share one: the second's ends in `-2`."""
    below.mkdir(parents=True, exist_ok=True)
    first = below / f"{suite}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    directory = first
    for number in itertools.count(2):
        with suppress(FileExistsError):
            directory.mkdir()
            break
        directory = first.with_name(f"{first.name}-{number}")
    return directory
