"""The `paceline` command; the groups of commands about a server are in `commands/`.

Results go to standard output, everything else to standard error. A mistake of the user is answered with what
is wrong and what to do, never with a traceback.
Exit status: 0 success · 1 error · 2 a failed verdict of `submit` or `ab` · 3 inconclusive · 130 interrupted.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.table import Table
from rich.text import Text

from paceline import (
    __version__,
    ab,
    config,
    environment,
    local,
    manifest,
    past_runs,
    submitting,
)
from paceline.api import ApiClient
from paceline.commands import alerts, imports, rules, schedules, targets, this_host
from paceline.display import display_for, terminal
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.executors.host import HostExecutor
from paceline.local import Display
from paceline.outcome import Outcome
from paceline.output import fresh_directory
from paceline.selection import (
    Selection,
    check_selection,
    parse_knobs,
    parse_params,
    preset_selection,
)
from paceline.stop import Stop, StopReason

app = typer.Typer(
    help="Measures suites on this host and carries the samples to a Paceline server.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(alerts.app, name="alerts")
app.add_typer(rules.app, name="rules")
app.add_typer(schedules.app, name="schedules")
app.add_typer(targets.app, name="targets")
app.command("import")(imports.import_)
app.command()(this_host.doctor)
app.command()(this_host.devices)
Result = TypeVar("Result")

notes = terminal(stderr=True)
out = terminal()

SuitePath = Annotated[
    Path, typer.Argument(help="The suite.toml to use.", metavar="SUITE_TOML")
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="PACELINE_AGENT_DATA",
        help="Where spool, mirrors and builds are kept.",
    ),
]


def _usage_errors_exit_1() -> None:
    """A command used wrongly exits 1 (error), not click's 2: that says a gate or arm rule failed."""
    usage_error = next(
        cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError"
    )
    usage_error.exit_code = 1  # type: ignore[attr-defined] # on typer's own copy of click


def main() -> None:
    """Entry point of the console script."""
    _usage_errors_exit_1()
    try:
        app()
    except UserError as error:
        notes.print(Text.assemble(("error: ", "bold red"), error.text), soft_wrap=True)
        if error.advice:
            notes.print(error.advice, markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


@app.command()
def validate(suite: SuitePath) -> None:
    """Checks a suite.toml; every complaint names file, line and what was expected."""
    valid = manifest.load(suite)
    table = Table(
        "benchmark",
        "arms",
        "params",
        "workload",
        title=f"{valid.suite.title} ({valid.suite.name})",
    )
    for name, item in valid.benchmarks.items():
        marks = {
            item.device_reference: "reference on devices",
            item.reference: "reference",
        }
        arms = ", ".join(
            f"{arm} ({marks[arm]})" if arm in marks else arm for arm in item.arms
        )
        params = "; ".join(
            f"{key}: {', '.join(map(str, param.values))}"
            for key, param in item.params.items()
        )
        table.add_row(name, arms, params or "none", item.workload)
    out.print(table)
    out.print(f"{suite} is valid.", markup=False, highlight=False, soft_wrap=True)


@app.command()
def run(  # noqa: PLR0917 - one parameter per option is how typer declares them
    suite: SuitePath,
    launches: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Process starts per workload; default: 5."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Measured rounds per launch; default: 20."
        ),
    ] = None,
    warmup_rounds: Annotated[
        int | None, typer.Option(min=0, help="Rounds before them.")
    ] = None,
    min_time_ns: Annotated[
        int, typer.Option(min=1000, help="Shortest sample.")
    ] = 1_000_000,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Decides the order of arms; default: drawn."),
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated.")
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option(help="NAME=V1|V2: only these values.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="The suite's preset: what of a run it says, where nothing is said here."
        ),
    ] = None,
    knob: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: an option of the suite.")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--out", help="Where to write; must be new or empty.")
    ] = None,
    past: Annotated[
        Path | None,
        typer.Option(
            help="Remembers how long runs of this suite took, to say how long this one will take."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the build's output.")
    ] = False,
) -> None:
    """Measures the working tree here, without a server, and writes streams and run.json into a directory.

    This is one batch. A server extends an inconclusive job by up to two more batches before it concludes;
    here, ask for more with --launches when the verdict is inconclusive.
    """
    valid = manifest.load(suite)
    preferred = preset_selection(valid, preset)
    selection = check_selection(
        valid,
        Selection(
            benchmarks=benchmark or preferred.benchmarks,
            params=preferred.params | parse_params(valid, params or []),
            knobs=parse_knobs(valid, knob or []),
            launches=launches or preferred.launches,
            rounds=rounds or preferred.rounds,
            warmup_rounds=warmup_rounds,
            min_time_ns=min_time_ns,
            seed=config.drawn_seed() if seed is None else seed,
        ),
    )
    target = fresh_directory(
        directory, valid.suite.name
    ).absolute()  # workloads run in another directory
    how_long = past_runs.estimate(valid, selection, past)
    notes.print(f"How long: {how_long}.", markup=False, highlight=False, soft_wrap=True)
    began = time.monotonic()
    _measure_here(
        lambda executor, display, stop: local.run(
            valid,
            suite,
            selection,
            target,
            executor=executor,
            display=display,
            stop=stop,
        ),
        target,
        config.data_dir(None),
        verbose=verbose,
    )
    if past is not None:
        past_runs.remember(valid, selection, past, time.monotonic() - began)
    out.print(str(target), markup=False, highlight=False, soft_wrap=True)


@app.command("ab")
def ab_(  # noqa: PLR0917 - one parameter per option is how typer declares them
    base: Annotated[
        str, typer.Option(help="The revision to compare with: a commit, branch or tag.")
    ],
    head: Annotated[str, typer.Option(help="The revision to judge.")] = "HEAD",
    suite: Annotated[
        Path | None, typer.Option(help="The suite.toml; default: the only one.")
    ] = None,
    launches: Annotated[
        int, typer.Option(min=1, max=100, help="Process starts per workload and side.")
    ] = 5,
    rounds: Annotated[
        int, typer.Option(min=1, max=10_000, help="Measured rounds per launch.")
    ] = 20,
    warmup_rounds: Annotated[
        int | None, typer.Option(min=0, help="Rounds before them.")
    ] = None,
    min_time_ns: Annotated[
        int, typer.Option(min=1000, help="Shortest sample.")
    ] = 1_000_000,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Decides all orders; default: drawn.")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated.")
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option(help="NAME=V1|V2: only these values.")
    ] = None,
    knob: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: an option of the suite.")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--out", help="Where to write; must be new or empty.")
    ] = None,
    data: DataDir = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the build's output.")
    ] = False,
) -> None:
    """Builds two commits of this checkout, measures them side by side and judges head against base.

    Exit: 0 not slower, 2 slower, 3 undecided, 1 error. The checkout itself is only read.
    """
    wanted = ab.comparison(base, head, suite)
    for note in wanted.notes:
        notes.print(note, markup=False, highlight=False, soft_wrap=True)
    bench = ab.ComparisonWorkspace(wanted, config.data_dir(data))
    valid = bench.manifest()
    selection = check_selection(
        valid,
        Selection(
            benchmarks=benchmark or [],
            params=parse_params(valid, params or []),
            knobs=parse_knobs(valid, knob or []),
            launches=launches,
            rounds=rounds,
            warmup_rounds=warmup_rounds,
            min_time_ns=min_time_ns,
            seed=config.drawn_seed() if seed is None else seed,
        ),
    )
    target = fresh_directory(directory, f"{valid.suite.name}-ab").absolute()
    _measure_here(
        lambda executor, display, stop: ab.run(
            bench,
            valid,
            selection,
            target,
            executor=executor,
            display=display,
            stop=stop,
        ),
        target,
        config.data_dir(data),
        verbose=verbose,
    )
    out.print(str(target), markup=False, highlight=False, soft_wrap=True)
    status = ab.judge(target)
    if status is None:
        notes.print(
            "The judge is not installed here. Where paceline-server is, run:",
            soft_wrap=True,
        )
        notes.print(
            f"  paceline-server judge {target}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    raise typer.Exit(status or 0)


def _measure_here(
    work: Callable[[Executor, Display, Stop], Outcome],
    target: Path,
    data: Path,
    *,
    verbose: bool,
) -> None:
    """Measures on this host, shown and interruptible. Raises UserError when what was measured does not
    count, exits 130 when interrupted."""
    display = display_for(notes, verbose)
    executor = HostExecutor(environment.serial(data))
    stop = Stop()
    try:
        outcome = interruptible(
            lambda: work(executor, display, stop),
            lambda: stop.set(StopReason.CANCELLED),
        )
    finally:
        display.close()
    if stop.reason is not None:
        notes.print(f"Interrupted; what was measured is in {target}.", soft_wrap=True)
        raise typer.Exit(130)
    if not outcome.ok:
        raise UserError(
            f"{outcome.cause}: {outcome.detail}",
            f"Streams and run.json are in {target}.",
        )


def interruptible(work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
    """Runs `work` in a thread while this one waits for signals: SIGINT and SIGTERM call `interrupt`.

    A handler that runs in the middle of the work could wait for a lock the work holds; here it cannot.
    """
    before = {
        number: signal.signal(number, lambda *_: interrupt())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            while not wait([future], timeout=0.5).done:
                pass
            return future.result()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def agent(
    server: Annotated[
        str, typer.Option(envvar="PACELINE_SERVER", help="The server's address.")
    ],
    data: DataDir = None,
    enrol: Annotated[
        str | None,
        typer.Option(
            envvar="PACELINE_ENROL",
            help="One-time code; only used when not enrolled yet.",
        ),
    ] = None,
    config_path: Annotated[
        Path | None,
        typer.Option(
            "--config",
            envvar="PACELINE_AGENT_CONFIG",
            help="agent.toml: repositories, devices.",
        ),
    ] = None,
) -> None:
    """Leases jobs from a server and runs them here. SIGTERM or Ctrl-C: leave after the job; twice: cancel
    it.
    """
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)-7s %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    from paceline.agent import Agent  # noqa: PLC0415 - a third of every start

    running = Agent(server, config.data_dir(data), config.load(config_path))
    interruptible(lambda: running.run(enrol), running.leave)


@app.command()
def submit(  # noqa: PLR0917 - one parameter per option is how typer declares them
    suite: Annotated[str, typer.Argument(help="Name of an announced suite.")],
    server: Annotated[
        str, typer.Option(envvar="PACELINE_SERVER", help="The server's address.")
    ],
    token: Annotated[
        str, typer.Option(envvar="PACELINE_TOKEN", help="An API token of scope ingest.")
    ],
    commit: Annotated[
        str | None, typer.Option(help="Default: head of the announced branch.")
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            help="Whose history it belongs to. Default: the announced, for its head."
        ),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Judge the commit against this one (A/B).")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Only this target id; may be repeated.")
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option(help="NAME=V1|V2: only these values.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="The suite's preset: what of a run it says, where nothing is said here."
        ),
    ] = None,
    knob: Annotated[list[str] | None, typer.Option(help="NAME=VALUE.")] = None,
    launches: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Default: 5 on a host, 10 on a device."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Default: 20.")
    ] = None,
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            help="A configuration error, such as emulator, that voids nothing; may be repeated."
        ),
    ] = None,
    timeout_s: Annotated[
        float, typer.Option(help="Give up waiting after this long (the run goes on).")
    ] = 3600.0,
) -> None:
    """Requests a run, waits for it and prints its verdicts.

    Exit: 0 pass, 2 fail, 3 inconclusive (it measured and could not decide), 1 anything else: the run failed,
    was lost, expired or was cancelled, or the request was refused. A verdict `fail` on one target is 2 even
    if another target's job failed.
    """
    request = submitting.RunRequest(
        suite=suite,
        commit=commit,
        branch=branch,
        base_commit=base,
        benchmarks=benchmark or None,
        targets=target or None,
        params=submitting.parse_params(params or []),
        knobs=submitting.parse_knobs(knob or []),
        launches=launches,
        rounds=rounds,
        suppress=suppress or [],
    )
    done = submitting.submit(
        ApiClient(server, token),
        request,
        timeout_s,
        lambda text: notes.print(text, markup=False),
        preset,
    )
    if done.comparisons:
        out.print(submitting.comparison_table(done), soft_wrap=True)
    out.print(submitting.summary(done), markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(submitting.exit_status(done))


def _version(value: bool) -> None:
    if value:
        out.print(f"paceline {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    _version_wanted: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options before the command."""
