"""The `paceline` command; the groups of commands about a server are in `commands/`.

Results go to standard output, everything else to standard error. A mistake of the user is answered with what
is wrong and what to do, never with a traceback.
Exit status: 0 success · 1 error · 2 a failed verdict of `submit`, `push` or `ab` · 3 inconclusive · 130 interrupted.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer
from paceline_contract.outputs import (
    ERROR,
    FailOn,
    Output,
    exit_status,
    print_any_text,
)
from rich.table import Table
from rich.text import Text

from paceline import (
    __version__,
    ab,
    config,
    driven,
    environment,
    judging,
    local,
    manifest,
    past_runs,
)
from paceline.commands import (
    alerts,
    imports,
    keeping,
    moving,
    new_suite,
    pushing,
    reporting,
    rules,
    schedules,
    submitting,
    targets,
    this_host,
    waivers,
)
from paceline.commands.options import (
    AllLaunches,
    AllowForks,
    Arms,
    Benchmarks,
    BuildCommand,
    CleanupCommand,
    Command,
    ComparedCommand,
    DataDir,
    FailOnOption,
    ForgejoFlag,
    ForgeToken,
    ForgeUrl,
    Formats,
    GitHubFlag,
    GitLabFlag,
    HarnessName,
    KeepingBranch,
    KeepingServer,
    KeepingTarget,
    KeepingToken,
    Knobs,
    MaxLaunches,
    MinTimeNs,
    OptionalFailOn,
    OutDir,
    OutputFiles,
    Params,
    PrepareCommand,
    Preset,
    PullRequestNumber,
    Purpose,
    Reference,
    Repository,
    Seed,
    Server,
    SetupCommand,
    Shell,
    SubmitServer,
    SubmitToken,
    TimeoutS,
    Verbose,
    WarmupRounds,
    judge_arguments,
    output_directory,
    parse_outputs,
    refuse_given,
    refuse_without_server,
    refuse_without_token,
)
from paceline.display import (
    display_for,
    print_json,
    print_line,
    print_note,
    terminal,
)
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.executors.host import HostExecutor
from paceline.forges.port import ForgeOptions
from paceline.forges.reporting import DEFAULT_PURPOSE, ForgeReporter, chosen_forge
from paceline.git import SourceError
from paceline.harnesses.plan import parse_arms
from paceline.interruption import run_interruptibly
from paceline.listing import compare_with_workloads
from paceline.local import Display
from paceline.outcome import Outcome, stopped_outcome
from paceline.selection import (
    Selection,
    check_selection,
    parse_knobs,
    parse_params,
    preset_selection,
)
from paceline.stop import Stop, StopReason

app = typer.Typer(
    help="Measure suites on this host and send the samples to a Paceline server.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(alerts.app, name="alerts")
app.add_typer(rules.app, name="rules")
app.add_typer(schedules.app, name="schedules")
app.add_typer(targets.app, name="targets")
app.add_typer(waivers.app, name="waivers")
app.command("import")(imports.import_)
app.command()(pushing.push)
app.command()(moving.migrate)
app.command()(new_suite.new)
app.command()(this_host.doctor)
app.command()(this_host.devices)
Result = TypeVar("Result")

SuitePath = Annotated[
    Path, typer.Argument(help="The suite.toml to use.", metavar="SUITE_TOML")
]


def main() -> None:
    """Run the command line; the entry point of the console script."""
    print_any_text()
    _usage_errors_exit_1()
    try:
        app()
    except UserError as error:
        print_note(Text.assemble(("error: ", "bold red"), error.text))
        if error.advice:
            print_note(error.advice)
        sys.exit(error.exit_status)


def _usage_errors_exit_1() -> None:
    """Make usage errors exit with 1 instead of click's 2, which means that a gate or arm rule failed."""
    usage_error = next(
        cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError"
    )
    usage_error.exit_code = 1  # type: ignore[attr-defined] # on typer's own copy of click


@app.command()
def validate(suite: SuitePath) -> None:
    """Check a suite.toml, and compare it with what its built workloads list.

    Every error names file, line and what was expected.
    """
    valid = manifest.load(suite)
    title = f"{valid.suite.title} ({valid.suite.name})"
    table = Table("benchmark", "arms", "params", "workload", title=title)
    for name, benchmark in valid.benchmarks.items():
        marks = {
            benchmark.device_reference: "reference on devices",
            benchmark.reference: "reference",
        }
        arms = ", ".join(
            f"{arm} ({marks[arm]})" if arm in marks else arm for arm in benchmark.arms
        )
        params = "; ".join(
            f"{key}: {', '.join(map(str, param.values))}"
            for key, param in benchmark.params.items()
        )
        table.add_row(name, arms, params or "none", benchmark.workload)
    terminal().print(table)
    compared = compare_with_workloads(valid, suite)
    for text in compared.not_looked_at:
        print_note(f"Not looked at: {text}.")
    if compared.differences:
        raise UserError(
            "\n".join(f"{text}." for text in compared.differences),
            "Correct suite.toml or the workload: nothing would be measured for these.",
        )
    print_line(f"{suite} is valid.")


@app.command()
def run(  # noqa: PLR0917 - one parameter per option is how typer declares them
    what: Command = None,
    launches: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Starts of each workload, or of the command; default: 5, of a command 30.",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Measured rounds per launch; default: 20. If a suite names a harness, a round is a start of its tool. "
            "After --: repetitions in a start; default: as few as the harness takes.",
        ),
    ] = None,
    warmup_rounds: WarmupRounds = None,
    min_time_ns: MinTimeNs = None,
    seed: Seed = None,
    all_launches: AllLaunches = False,
    max_launches: MaxLaunches = None,
    benchmark: Benchmarks = None,
    params: Params = None,
    preset: Preset = None,
    knob: Knobs = None,
    directory: OutDir = None,
    past: Annotated[
        Path | None,
        typer.Option(help="File with past durations, to estimate this run's."),
    ] = None,
    harness: HarnessName = None,
    arm: Arms = None,
    reference: Reference = None,
    build: BuildCommand = None,
    setup: SetupCommand = None,
    prepare: PrepareCommand = None,
    cleanup: CleanupCommand = None,
    shell: Shell = None,
    timeout_s: TimeoutS = 600,
    format_: Formats = None,
    output: OutputFiles = None,
    fail_on: OptionalFailOn = None,
    server: KeepingServer = None,
    token: KeepingToken = None,
    on: KeepingTarget = None,
    branch: KeepingBranch = None,
    verbose: Verbose = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print run.json, with its `directory`, instead of the path."
        ),
    ] = False,
) -> None:
    """Measure the working tree on this host: a suite, or a command after --.

    A suite: paceline run suite.toml. Benchmarks that a command runs, or the command itself: paceline run -- ./bench

    Writes the measurements and run.json to a directory. Without paceline-server nothing can judge: what needs a verdict
    exits with 1 before anything is measured, and --fail-on never without --format only records.

    A suite is judged with --format, --output or --fail-on. Exit: 0 pass, 2 fail, 3 inconclusive, 1 error. A launch is one
    start of a workload; a benchmark whose verdict is certain is not launched again. An undecided one is launched again up to
    --max-launches times, as a server does in up to three batches.

    Of a command a table is printed (with --json to standard error). With --arm its cases are compared. Exit: 0 no arm is
    slower, 2 one is, 3 inconclusive, 1 error. On a shared host set the limits that `paceline ab --help` names.

    With --server the measurement is kept on a server, too. One that cannot be reached changes no exit: `paceline push
    DIRECTORY` sends it later.
    """
    outputs = parse_outputs(format_ or [], output or [])
    place = keeping.choose_place(server, token, on, branch)
    is_judged = bool(format_ or fail_on)
    needs_judge = fail_on != "never" or outputs != [("table", None)]
    if as_json and format_:
        raise UserError(
            "--json prints run.json, and --format prints verdicts.",
            "Leave one of them out.",
        )
    chosen_seed = config.drawn_seed() if seed is None else seed
    if what is None:
        raise UserError(
            "Nothing is named to measure.",
            "Give a suite.toml, or a command after --: paceline run -- ./bench",
        )
    if len(what) == 1 and Path(what[0], "suite.toml").is_file():
        raise UserError(
            f"{what[0]} is a directory.",
            f"Give its suite: paceline run {Path(what[0], 'suite.toml')}",
        )
    if len(what) > 1 and what[0].endswith(".toml"):
        raise UserError(
            f"{what[0]} is a suite, and `{shlex.join(what[1:])}` a command.",
            "Give either a suite.toml or, after --, a command.",
        )
    if not what[0].endswith(".toml"):
        refuse_given("suites", params=params, preset=preset, knob=knob, past=past)
        request = _command_request(
            what,
            arm=arm,
            reference=reference,
            harness=harness,
            launches=launches,
            rounds=rounds,
            min_time_ns=min_time_ns,
            warmup_rounds=warmup_rounds,
            seed=chosen_seed,
            max_launches=max_launches,
            timeout_s=timeout_s,
            build=build,
            setup=setup,
            prepare=prepare,
            cleanup=cleanup,
            shell=shell,
            benchmark=benchmark,
        )
        judge = _find_judge(
            is_needed=bool(max_launches) or (needs_judge and bool(arm or format_))
        )
        target = _measure_here(
            lambda out, executor, display, stop: driven.run(
                request, out, executor=executor, display=display, stop=stop
            ),
            directory,
            request.name,
            config.data_dir(None),
            verbose=verbose,
        )
        status = _judge(judge, target, outputs, fail_on, as_json=as_json)
        keeping.keep(target, place)
        # Without arms there is nothing to compare, so that only an error counts.
        raise typer.Exit(status if arm or status == ERROR else 0)
    refuse_given(
        "commands",
        harness=harness,
        arm=arm,
        reference=reference,
        build=build,
        setup=setup,
        prepare=prepare,
        cleanup=cleanup,
        shell=shell,
    )
    judge = (
        _find_judge(is_needed=needs_judge or bool(max_launches))
        if is_judged or max_launches
        else None
    )
    suite = Path(what[0])
    valid = manifest.load(suite)
    defaults = preset_selection(valid, preset)
    selection = check_selection(
        valid,
        Selection(
            benchmarks=benchmark or defaults.benchmarks,
            params=defaults.params | parse_params(valid, params or []),
            knobs=parse_knobs(valid, knob or []),
            launches=launches or defaults.launches,
            rounds=rounds or defaults.rounds,
            warmup_rounds=warmup_rounds,
            min_time_ns=min_time_ns or defaults.min_time_ns,
            seed=chosen_seed,
            stop_when_sure=not all_launches and judging.find_judge() is not None,
            max_launches=max_launches,
        ),
    )
    estimate = past_runs.estimate(valid, selection, past)
    print_note(f"Estimated duration: {estimate}.")
    began = time.monotonic()
    target = _measure_here(
        lambda out, executor, display, stop: local.run(
            valid,
            suite,
            selection,
            out,
            executor=executor,
            display=display,
            stop=stop,
        ),
        directory,
        valid.suite.name,
        config.data_dir(None),
        verbose=verbose,
    )
    if past is not None:
        past_runs.remember(valid, selection, past, time.monotonic() - began)
    if is_judged:
        status = _judge(judge, target, outputs, fail_on, as_json=as_json)
        keeping.keep(target, place)
        raise typer.Exit(status)
    print_note(f"Judge it: paceline-server judge {target} --manifest {suite}")
    _print_result(target, as_json=as_json)
    keeping.keep(target, place)


def _print_result(target: Path, *, as_json: bool) -> None:
    """Print the directory of a run or, for programs, its run.json with the directory."""
    if as_json:
        print_json({"directory": str(target), **local.read_record(target)})
    else:
        print_line(str(target))


@app.command("ab")
def compare_commits(  # noqa: PLR0917 - one parameter per option is how typer declares them
    base: Annotated[
        str, typer.Option(help="The revision to compare with: a commit, branch or tag.")
    ],
    command: ComparedCommand = None,
    head: Annotated[str, typer.Option(help="The revision to judge.")] = "HEAD",
    suite: Annotated[
        Path | None,
        typer.Option(help="The suite.toml; default: the checkout's only one."),
    ] = None,
    launches: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Starts of each workload, or of the command, per commit; default: 5, of a command 30.",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Measured rounds per launch; default: 20. If a suite names a harness, a round is a start of its tool. "
            "After --: repetitions in a start; default: as few as the harness takes.",
        ),
    ] = None,
    warmup_rounds: WarmupRounds = None,
    min_time_ns: MinTimeNs = None,
    seed: Seed = None,
    all_launches: AllLaunches = False,
    max_launches: MaxLaunches = None,
    benchmark: Benchmarks = None,
    params: Params = None,
    knob: Knobs = None,
    directory: OutDir = None,
    data: DataDir = None,
    harness: HarnessName = None,
    arm: Arms = None,
    reference: Reference = None,
    build: BuildCommand = None,
    setup: SetupCommand = None,
    prepare: PrepareCommand = None,
    cleanup: CleanupCommand = None,
    shell: Shell = None,
    timeout_s: TimeoutS = 600,
    measure_identical: Annotated[
        bool,
        typer.Option(
            "--measure-identical",
            help="Measure what is the same at both commits, too.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdicts as JSON: --format json.")
    ] = False,
    format_: Formats = None,
    output: OutputFiles = None,
    fail_on: FailOnOption = "inconclusive",
    server: KeepingServer = None,
    token: KeepingToken = None,
    on: KeepingTarget = None,
    branch: KeepingBranch = None,
    verbose: Verbose = False,
) -> None:
    """Measure two commits side by side, and judge whether the newer one (head) is slower than the other (base).

    The suite of this checkout: paceline ab --base main. What a command measures in this directory, without a suite:
    paceline ab --base main -- ./bench

    Builds both commits elsewhere: nothing of this checkout changes but paceline-runs/, which git ignores, and what is not
    committed is not measured. Exit: 0 not slower, 2 slower, 3 inconclusive, 1 error. With --fail-on fail, inconclusive exits
    0; with --fail-on never, slower does too. Without paceline-server nothing can judge: exit 1 before anything is measured;
    --fail-on never without --format only records.

    A benchmark that was built to the same files and is declared the same is not measured again; if all are, exit 0. One
    commit given twice is measured: it shows which differences this host can tell from noise.

    On shared hosts, PACELINE_PRESSURE_LIMIT_PERCENT and PACELINE_DRIFT_LIMIT_PERCENT raise the limits above which a ratio
    must clear an extra margin.

    With --server the comparison is kept on a server, too. One that cannot be reached changes no exit: `paceline push
    DIRECTORY` sends it later.
    """
    outputs = parse_outputs(
        [*(format_ or []), *(["json"] if as_json else [])], output or []
    )
    place = keeping.choose_place(server, token, on, branch)
    judge = _find_judge(
        is_needed=fail_on != "never"
        or outputs != [("table", None)]
        or bool(max_launches)
    )
    chosen_seed = config.drawn_seed() if seed is None else seed
    if command is not None and command[0].endswith(".toml"):
        raise UserError(
            f"{command[0]} is a suite, and no command.",
            f"Name it with --suite: paceline ab --base {base} --suite {command[0]}",
        )
    comparison = ab.comparison(base, head, suite, of_command=command is not None)
    for note in comparison.notes:
        print_note(note)
    workspace = ab.ComparisonWorkspace(comparison, config.data_dir(data))
    if command is not None:
        refuse_given("suites", params=params, knob=knob, suite=suite)
        request = _command_request(
            command,
            arm=arm,
            reference=reference,
            harness=harness,
            launches=launches,
            rounds=rounds,
            min_time_ns=min_time_ns,
            warmup_rounds=warmup_rounds,
            seed=chosen_seed,
            max_launches=max_launches,
            timeout_s=timeout_s,
            build=build,
            setup=setup,
            prepare=prepare,
            cleanup=cleanup,
            shell=shell,
            benchmark=benchmark,
        )
        name = request.name

        def measure(
            out: Path, executor: Executor, display: Display, stop: Stop
        ) -> Outcome:
            return driven.compare(
                workspace,
                request,
                out,
                measures_identical=measure_identical,
                executor=executor,
                display=display,
                stop=stop,
            )
    else:
        refuse_given(
            "commands",
            harness=harness,
            arm=arm,
            reference=reference,
            build=build,
            setup=setup,
            prepare=prepare,
            cleanup=cleanup,
            shell=shell,
        )
        manifests = workspace.manifests()
        valid = manifests.head
        selection = check_selection(
            valid,
            Selection(
                benchmarks=benchmark or [],
                params=parse_params(valid, params or []),
                knobs=parse_knobs(valid, knob or []),
                launches=launches or Selection([]).launches,
                rounds=rounds or Selection([]).rounds,
                warmup_rounds=warmup_rounds,
                min_time_ns=min_time_ns or Selection([]).min_time_ns,
                seed=chosen_seed,
                # An A/A comparison is to show how far launches differ.
                stop_when_sure=judge is not None
                and not all_launches
                and comparison.base != comparison.head,
                max_launches=max_launches,
            ),
        )
        name = valid.suite.name

        def measure(
            out: Path, executor: Executor, display: Display, stop: Stop
        ) -> Outcome:
            return ab.run(
                workspace,
                manifests,
                selection,
                out,
                measures_identical=measure_identical,
                executor=executor,
                display=display,
                stop=stop,
            )

    target = _measure_here(
        measure, directory, f"{name}-ab", config.data_dir(data), verbose=verbose
    )
    status = _judge(judge, target, outputs, fail_on)
    keeping.keep(target, place)
    raise typer.Exit(status)


def _command_request(
    command: list[str],
    *,
    arm: list[str] | None,
    reference: str | None,
    harness: str | None,
    launches: int | None,
    rounds: int | None,
    min_time_ns: int | None,
    warmup_rounds: int | None,
    seed: int,
    max_launches: int | None,
    timeout_s: int,
    build: str | None,
    setup: str | None,
    prepare: str | None,
    cleanup: str | None,
    shell: str | None,
    benchmark: list[str] | None,
) -> driven.CommandRequest:
    """Return a user's request about a command, with the defaults of commands."""
    return driven.CommandRequest(
        command=command,
        arms=parse_arms(arm or [], reference),
        harness=harness,
        launches=launches or driven.DEFAULT_LAUNCHES,
        repetitions=rounds or 1,
        min_time_ns=min_time_ns or driven.DEFAULT_MIN_TIME_NS,
        warmups=warmup_rounds or 0,
        seed=seed,
        max_launches=max_launches,
        timeout_s=timeout_s,
        build=build,
        setup=setup,
        prepare=prepare,
        cleanup=cleanup,
        shell=shell,
        benchmarks=benchmark or [],
    )


def _find_judge(*, is_needed: bool) -> str | None:
    """Return the program that judges, or None where it is not installed. Raises UserError if it is needed, so that
    nothing is measured for a verdict that never comes."""
    judge = judging.find_judge()
    if judge is None and is_needed:
        raise UserError(
            "Nothing was measured: paceline-server, which judges, is not installed here.",
            "Install it beside paceline: pip install ./contract ./backend in a clone of Paceline. Or only record, with "
            "--fail-on never and no --format, and judge later, where it is installed: paceline-server judge DIRECTORY",
        )
    return judge


def _judge(
    judge: str | None,
    target: Path,
    outputs: list[Output],
    fail_on: FailOn | None,
    *,
    as_json: bool = False,
) -> int:
    """Print where the measurement is, or its run.json; judge it and return the exit status. Without a judge, say what
    to run and return 0."""
    # Standard output holds one document where it is for a program.
    if as_json or ("table", None) in outputs:
        _print_result(target, as_json=as_json)
    else:
        print_note(str(target))
    if judge is None:
        print_note(
            "Not judged: paceline-server is not installed here. Where it is, run:"
        )
        print_note(f"  paceline-server judge {target}")
        return 0
    arguments = judge_arguments(outputs, fail_on or "inconclusive")
    return judging.judge(judge, target, arguments, to_stderr=as_json)


def _measure_here(
    measure: Callable[[Path, Executor, Display, Stop], Outcome],
    directory: Path | None,
    name: str,
    data: Path,
    *,
    verbose: bool,
) -> Path:
    """Measure on this host with progress shown; return the directory with what was written, which is removed if
    nothing was. Raises UserError when the result does not count; exits 130 when interrupted."""
    is_new = directory is None or not directory.exists()
    # Absolute, because workloads run in another directory.
    target = output_directory(directory, name).absolute()
    display = display_for(terminal(stderr=True), verbose)
    executor = HostExecutor(environment.serial(data))
    stop = Stop()
    try:
        outcome = run_interruptibly(
            lambda: measure(target, executor, display, stop),
            lambda: stop.set(StopReason.CANCELLED),
        )
    except UserError as error:
        if stop.reason is None:
            is_of_build = (
                isinstance(error, SourceError) and error.cause == "build_failed"
            )
            if is_of_build and not verbose:
                error.advice += " --verbose shows the build's whole output."
            raise
        outcome = stopped_outcome(stop.reason)
    finally:
        display.close()
        if is_new:
            # It is kept if it holds anything.
            with contextlib.suppress(OSError):
                target.rmdir()
    if stop.reason is not None:
        is_measured = any(target.glob("launch-*"))
        print_note(
            f"Interrupted; what was measured is in {target}."
            if is_measured
            else "Interrupted; nothing was measured."
        )
        raise typer.Exit(130)
    if not outcome.ok:
        raise UserError(
            f"{outcome.cause}: {outcome.detail}",
            f"Streams and run.json are in {target}.",
        )
    return target


@app.command()
def agent(
    server: Server,
    data: DataDir = None,
    enrol: Annotated[
        str | None,
        typer.Option(
            envvar="PACELINE_ENROL",
            help="One-time code, used only when not enrolled yet.",
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
    """Lease jobs from a server and run them here.

    SIGTERM or Ctrl-C once: leave after the current jobs; twice: cancel them.
    """
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)-7s %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    from paceline.agent import Agent  # noqa: PLC0415 - a third of every command's start

    running = Agent(server, config.data_dir(data), config.ConfigFile(config_path))
    run_interruptibly(lambda: running.run(enrol), running.leave)


@app.command()
def submit(  # noqa: PLR0917 - one parameter per option is how typer declares them
    suite: Annotated[str, typer.Argument(help="Name of an announced suite.")],
    server: SubmitServer = None,
    token: SubmitToken = None,
    commit: Annotated[
        str | None, typer.Option(help="Default: head of the announced branch.")
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            help="The branch of the history to add to. Default: the announced one, for its head."
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="Judge the commit against this one (A/B); of a pull request, also gates and arms."
        ),
    ] = None,
    base_branch: Annotated[
        str | None,
        typer.Option(
            help="The branch a pull request goes to; its merge base with the commit is the base. "
            "Default: the pipeline's."
        ),
    ] = None,
    benchmark: Benchmarks = None,
    target: Annotated[
        list[str] | None,
        typer.Option(help="Only this target, by name, serial or id; repeatable."),
    ] = None,
    params: Params = None,
    preset: Preset = None,
    knob: Knobs = None,
    launches: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Default: 5 on a host, 10 on a device."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Default: 20.")
    ] = None,
    all_launches: AllLaunches = False,
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            help="A configuration error to ignore, such as emulator; repeatable."
        ),
    ] = None,
    timeout_s: Annotated[
        float, typer.Option(help="Stop waiting after this long; the run continues.")
    ] = 3600.0,
    format_: Formats = None,
    output: OutputFiles = None,
    fail_on: FailOnOption = "inconclusive",
    github: GitHubFlag = False,
    gitlab: GitLabFlag = False,
    forgejo: ForgejoFlag = False,
    pull_request: PullRequestNumber = None,
    repository: Repository = None,
    forge_url: ForgeUrl = None,
    forge_token: ForgeToken = None,
    allow_forks: AllowForks = False,
    purpose: Purpose = DEFAULT_PURPOSE,
    concurrency_key: Annotated[
        str | None,
        typer.Option(
            help="Cancel older runs that were requested with this key. Default: the pull request's."
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Wait for this run instead of requesting one."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --format json.")
    ] = False,
) -> None:
    """Request a run, wait for it and print its verdicts.

    Exit: 0 pass, 2 fail, 3 inconclusive, 1 no verdict (the run failed, was lost, expired or cancelled, or
    the request was refused). A verdict `fail` on one target gives 2 even if another target's job failed.
    With --fail-on fail, inconclusive exits 0; with --fail-on never, fail does too. SIGTERM or Ctrl-C cancels the
    run and exits 130.

    With --github, --gitlab or --forgejo, commit, branch and pull request are the pipeline's unless given here,
    and the verdict is shown in the forge. A pull request fails if its head is slower than the merge base with the
    branch it goes to, if a required gate does not hold, or if an arm loses to its reference. Trouble with the forge is printed and never changes the exit.

    A pull request of a fork is measured only in a pipeline that a maintainer's comment `/paceline bench` started
    (GitHub, Forgejo, Gitea) or that a member started in the project (GitLab), or with --allow-forks. Otherwise nothing
    runs: exit 0, with what to do.
    """
    formats = [*(format_ or []), *(["json"] if as_json else [])]
    outputs = parse_outputs(formats, output or [])
    forge = chosen_forge({"github": github, "gitlab": gitlab, "forgejo": forgejo})
    reporter = None
    if forge is not None:
        forge_options = ForgeOptions(
            forge_url,
            repository,
            commit,
            branch,
            pull_request,
            base_branch,
            forge_token,
        )
        reporter = ForgeReporter(forge, forge_options, suite, purpose)
        refusal = reporter.admit(allows_forks=allow_forks)
        if refusal is not None:
            print_note(refusal)
            raise typer.Exit(0)
        commit, branch = reporter.pipeline.commit, reporter.pipeline.branch
    address = server or refuse_without_server()
    credential = token or refuse_without_token()
    request = submitting.RunRequest(
        suite=suite,
        benchmarks=benchmark or None,
        targets=target or None,
        params=submitting.parse_params(params or []),
        knobs=submitting.parse_knobs(knob or []),
        launches=launches,
        rounds=rounds,
        suppress=suppress or [],
        stop_when_sure=False if all_launches else None,
    )
    request = submitting.choose_revisions(
        request,
        submitting.Revisions(commit, branch, base, base_branch),
        None if reporter is None else reporter.pipeline.pull_request,
    )
    if concurrency_key is None and reporter is not None:
        concurrency_key = reporter.concurrency_key
    request = msgspec.structs.replace(request, concurrency_key=concurrency_key)
    stop = threading.Event()
    waiting = submitting.Waiting(timeout_s, stop, resume)
    try:
        finished = run_interruptibly(
            lambda: submitting.submit(
                address, credential, request, waiting, preset, reporter=reporter
            ),
            stop.set,
        )
    except submitting.RunCancelledError:
        raise typer.Exit(130) from None
    status = exit_status(finished.run.get("outcome"), fail_on)
    if reporter is not None:
        submitting.report(reporter, address, credential, finished, status)
        reporter.close()
    submitting.write_outputs(address, credential, finished, outputs)
    raise typer.Exit(status)


@app.command()
def report(
    suite: Annotated[str, typer.Argument(help="Name of the suite that was measured.")],
    repository: Repository = None,
    forge_url: ForgeUrl = None,
    forge_token: ForgeToken = None,
) -> None:
    """In a workflow_run workflow of GitHub: comment on the pull request whose own workflow measured it with `ab`.

    The uploaded document is checked and rendered here by paceline-server; which pull request it is of, GitHub says.
    Exit: 0 the comment is written, or there is nothing to report; 1 error.
    """
    reporting.report(
        suite,
        ForgeOptions(api_url=forge_url, repository=repository, token=forge_token),
    )


def _print_version(value: bool) -> None:
    if value:
        print_line(f"paceline {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Options before the command."""
