"""Command-line options that several commands share, and how their values are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from paceline_contract import outputs
from paceline_contract.outputs import Output

from paceline.credentials import check_address, check_credential
from paceline.errors import UserError
from paceline.harnesses import HARNESSES


def refuse_without_server() -> str:
    """Raise the UserError for a command without a server."""
    raise UserError(
        "No server is named: --server or PACELINE_SERVER is missing.",
        "Give the address that the dashboard has in a browser, such as http://127.0.0.1:8321.",
    )


def refuse_without_token() -> str:
    """Raise the UserError for a command without a token."""
    raise UserError(
        "No token is given: --token or PACELINE_TOKEN is missing.",
        "Make one on the dashboard's page Tokens, or on the server: paceline-server token create NAME",
    )


def refuse_given(of: str, **options: object) -> None:
    """Raise UserError for an option that belongs to suites or to commands only."""
    for name, value in options.items():
        if value is not None:
            option = name.replace("_", "-")
            raise UserError(f"--{option} is an option of {of} only.", "Leave it out.")


def _server_option(default: Callable[[], str] | None) -> Any:
    return typer.Option(
        envvar="PACELINE_SERVER",
        help="The server's address. Required.",
        parser=check_address,
        metavar="URL",
        default_factory=default,
        show_default=False,
    )


def _token_option(default: Callable[[], str] | None) -> Any:
    return typer.Option(
        envvar="PACELINE_TOKEN",
        help="An API token. Required.",
        parser=check_credential,
        metavar="TOKEN",
        default_factory=default,
        show_default=False,
    )


Server = Annotated[str, _server_option(refuse_without_server)]
Token = Annotated[str, _token_option(refuse_without_token)]
SubmitServer = Annotated[str | None, _server_option(None)]
"""Required only where something is measured: a fork's pipeline has neither secrets nor variables."""
SubmitToken = Annotated[str | None, _token_option(None)]
KeepingServer = Annotated[
    str | None,
    typer.Option(
        "--server",
        help="Keep the measurement on this server, too; verdict and exit status stay those found here.",
        parser=check_address,
        metavar="URL",
    ),
]
KeepingToken = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="PACELINE_TOKEN",
        help="An API token of that server.",
        parser=check_credential,
        metavar="TOKEN",
    ),
]
KeepingTarget = Annotated[
    str | None,
    typer.Option(
        "--on", help="With --server: the name of this target; default: this host's."
    ),
]
KeepingBranch = Annotated[
    str | None,
    typer.Option(
        help="With --server: the branch of the history; default: the one that is checked out."
    ),
]
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
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Of a directory: it was empty before the run, so that all of it is of the last run.",
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
    int | None,
    typer.Option(
        min=0,
        help="Warm-up rounds per launch, which are not counted; of a command: starts before the counted one.",
    ),
]
MinTimeNs = Annotated[
    int | None,
    typer.Option(
        min=1000,
        help="Shortest sample, in ns; default: 1 ms. Of a harness's case: how long it runs; default: 100 ms.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Determines the order of arms; default: random."),
]
AllLaunches = Annotated[
    bool,
    typer.Option(
        "--all-launches",
        help="Also launch benchmarks whose verdict is certain, as figures for a document need it.",
    ),
]
MaxLaunches = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=300,
        help="Go on up to so many launches while a verdict is undecided; at most three times --launches, which is the default.",
    ),
]

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SUITE_TOML | -- COMMAND",
        help="A suite.toml, or a command after --: a benchmark harness, or any program.",
        show_default=False,
    ),
]
ComparedCommand = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- COMMAND",
        help="Compare what this command measures, without a suite.toml: a benchmark harness, or any program.",
        show_default=False,
    ),
]
HarnessName = Annotated[
    str | None,
    typer.Option(
        "--harness",
        help="Of a command: the harness that it runs, where that is not recognised: "
        + ", ".join(HARNESSES),
    ),
]
Arms = Annotated[
    list[str] | None,
    typer.Option(
        "--arm",
        metavar="NAME=PATTERN",
        help="Of a command: compare the cases whose names match (a regular expression) with those of other arms; its groups "
        "name the benchmark. Repeatable: native='BM_native_(.*)'.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(help="Of a command: the arm that the others must not be slower than."),
]
BuildCommand = Annotated[
    str | None,
    typer.Option(
        "--build",
        help="Of a command: the line that builds it, for a shell; runs before anything is started.",
    ),
]
SetupCommand = Annotated[
    str | None,
    typer.Option("--setup", help="Of a command: runs in a shell before all launches."),
]
PrepareCommand = Annotated[
    str | None,
    typer.Option(
        "--prepare", help="Of a command: runs in a shell before each start, untimed."
    ),
]
CleanupCommand = Annotated[
    str | None,
    typer.Option("--cleanup", help="Of a command: runs in a shell after all launches."),
]
Shell = Annotated[
    str | None,
    typer.Option(
        help="The command is one text for this shell, such as sh; the shell's own time is subtracted."
    ),
]
TimeoutS = Annotated[
    int,
    typer.Option(
        "--timeout-s", min=1, max=86_400, help="Of a command: longest time of a start."
    ),
]

Formats = Annotated[
    list[str] | None,
    typer.Option("--format", help=outputs.FORMAT_HELP, metavar="FORMAT"),
]
OutputFiles = Annotated[
    list[Path] | None, typer.Option("--output", help=outputs.OUTPUT_HELP)
]
FailOnOption = Annotated[
    outputs.FailOn, typer.Option("--fail-on", help=outputs.FAIL_ON_HELP)
]
OptionalFailOn = Annotated[
    outputs.FailOn | None,
    typer.Option("--fail-on", help=f"Judge a suite, too. {outputs.FAIL_ON_HELP}"),
]

GitHubFlag = Annotated[
    bool,
    typer.Option(
        "--github",
        help="In GitHub Actions: set the commit's status and write the verdict into one comment of the pull request.",
    ),
]
GitLabFlag = Annotated[
    bool, typer.Option("--gitlab", help="The same in GitLab CI, with GITLAB_TOKEN.")
]
ForgejoFlag = Annotated[
    bool, typer.Option("--forgejo", help="The same in Forgejo or Gitea Actions.")
]
PullRequestNumber = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of the pull or merge request. Default: the pipeline's."
    ),
]
Repository = Annotated[
    str | None,
    typer.Option(
        help="OWNER/NAME, or GitLab's project, in the forge. Default: the pipeline's."
    ),
]
ForgeUrl = Annotated[
    str | None,
    typer.Option(help="Address of the forge's API. Default: the pipeline's."),
]
AllowForks = Annotated[
    bool,
    typer.Option(
        "--allow-forks",
        help="Measure pull requests of forks without a maintainer's comment: strangers' code runs on the agent.",
    ),
]
ForgeToken = Annotated[
    str | None,
    typer.Option(
        envvar="PACELINE_FORGE_TOKEN",
        help="Token of the forge. Default: GITHUB_TOKEN, GITLAB_TOKEN or FORGEJO_TOKEN.",
    ),
]
Purpose = Annotated[
    str,
    typer.Option(
        help="Name of this check where one suite has several: each has its own status and comment."
    ),
]

MuteReason = Annotated[str, typer.Option("--reason", help="The reason for muting.")]
MuteFor = Annotated[
    str, typer.Option("--for", help="How long: 7d or 12h.", metavar="TIME")
]

NOBODY = "none"


def parse_outputs(formats: Sequence[str], paths: Sequence[Path]) -> list[Output]:
    """Pair each format with the file it is written to, or none for stdout. Raises UserError."""
    try:
        return outputs.pair_outputs(formats, paths)
    except outputs.OutputError as error:
        raise UserError(str(error)) from None


def judge_arguments(wanted: Sequence[Output], fail_on: outputs.FailOn) -> list[str]:
    """Return the arguments with which `paceline-server judge` writes the same outputs."""
    files = [output for output in wanted if output.path is not None]
    printed = [output for output in wanted if output.path is None]
    arguments = ["--fail-on", fail_on]
    for output in (*files, *printed):
        arguments += ["--format", output.format]
    for output in files:
        arguments += ["--output", str(output.path)]
    return arguments


def parse_time(text: str) -> str | None:
    """Convert `2026-12-01` (which means the end of that day, UTC), an ISO time, `+3d` or `+12h` to an ISO time; None
    for `none`. Raises UserError."""
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


def parse_hours(text: str) -> float:
    """Convert `7d` or `12h` to hours. Raises UserError."""
    try:
        hours = float(text[:-1]) * {"d": 24.0, "h": 1.0}[text[-1:]]
    except (KeyError, ValueError):
        hours = 0.0
    if not 0.0 < hours < float("inf"):
        raise UserError(f"{text!r} is not a length of time.", "Use 7d or 12h.")
    return hours


def parse_share(text: str) -> float:
    """Convert "3%", "3 %" or "0.03" to 0.03. Raises UserError."""
    number = text.removesuffix("%").strip()
    try:
        value = float(number) / 100 if text.endswith("%") else float(number)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 10.0:
        raise UserError(f"{text!r} is not an effect size.", "Use 3% or 0.03.")
    return value


def check_choice(value: str | None, what: str, choices: tuple[str, ...]) -> None:
    """Raise UserError unless `value` is None or one of `choices`."""
    if value is not None and value not in choices:
        raise UserError(f"Unknown {what} {value!r}.", f"Use {', '.join(choices)}.")


def output_directory(wanted: Path | None, suite: str) -> Path:
    """Return `wanted`, which need not exist yet, or create a new directory below paceline-runs. Raises
    UserError for a directory that is not empty, because streams are never mixed."""
    if wanted is None:
        return _new_directory(Path("paceline-runs"), suite)
    if wanted.is_dir() and any(wanted.iterdir()):
        raise UserError(
            f"{wanted} is not empty.",
            "Give a new directory with --out, because streams are never mixed.",
        )
    if wanted.exists() and not wanted.is_dir():
        raise UserError(f"{wanted} is a file.", "Give a directory with --out.")
    return wanted


def _new_directory(below: Path, suite: str) -> Path:
    """Create the directory at once, so that two runs in the same second get different ones: `…-2`. Git ignores all of
    `below`, which would else make the checkout that is measured a changed one."""
    if not below.exists():
        below.mkdir(parents=True, exist_ok=True)
        (below / ".gitignore").write_text("# Created by paceline.\n*\n", "utf-8")
    first = below / f"{suite}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    directory = first
    for number in itertools.count(2):
        with suppress(FileExistsError):
            directory.mkdir()
            break
        directory = first.with_name(f"{first.name}-{number}")
    return directory
