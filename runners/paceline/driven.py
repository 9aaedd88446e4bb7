"""Measures what a command runs, without a suite.toml: a harness that it starts, or the command itself.

    OUT/drive[.SIDE].json   what each launch starts; the other files are those of `paceline run` and `paceline ab`

A command becomes a suite: one run of it, which is not counted, lists its cases, from which a manifest is made. From
there on everything is as in a suite, so that `paceline-server judge OUT` decides by the same rules.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from paceline_contract.items import SideName
from paceline_contract.results import MeasuredCase, Result
from paceline_contract.text_names import make_name

from paceline import manifest
from paceline.ab import ComparisonWorkspace
from paceline.artifacts import Built
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.git import (
    SourceError,
    current_branch,
    working_revision,
    working_revision_in_words,
)
from paceline.harnesses import detect_harness, find_harness
from paceline.harnesses.cargo_bench import keep_target_apart
from paceline.harnesses.drive import (
    DRIVE,
    DriveSpec,
    measure,
    measure_shell,
    run_quietly,
)
from paceline.harnesses.plan import (
    ArmPatterns,
    Plan,
    SuiteDescription,
    list_warnings,
    make_manifest,
)
from paceline.harnesses.port import (
    Harness,
    HarnessError,
    Overhead,
)
from paceline.launches import BASE, HEAD, Side, SideManifests, prepare_sides
from paceline.local import Display, RunRecord, measure_and_record, shown_claimant
from paceline.outcome import Outcome
from paceline.selection import Selection, check_selection
from paceline.source import Prepared, run_build_step
from paceline.stop import Stop
from paceline.unaffected import leave_out

SHELL = ["/bin/sh", "-c"]
"""Runs --build, --setup, --prepare and --cleanup."""
DEFAULT_LAUNCHES = 30
"""The number of blocks that a verdict needs; each launch is one."""
START_S = 60
"""The longest time of a launch besides the starts of its command, each of which has its own limit."""
DEFAULT_MIN_TIME_NS = 100_000_000
"""How long a harness measures a case in one launch; more launches are worth more than longer ones."""


class CommandRequest(msgspec.Struct, frozen=True):
    """A command that a user wants measured. With `shell` it is one text for this shell, whose own time is
    subtracted."""

    command: list[str]
    arms: ArmPatterns
    harness: str | None = None
    launches: int = DEFAULT_LAUNCHES
    repetitions: int = 1
    min_time_ns: int = DEFAULT_MIN_TIME_NS
    warmups: int = 0
    seed: int = 0
    max_launches: int | None = None
    timeout_s: int = 600
    build: str | None = None
    setup: str | None = None
    prepare: str | None = None
    cleanup: str | None = None
    shell: str | None = None
    benchmarks: list[str] = []

    @property
    def name(self) -> str:
        """Return the name of the suite that it becomes."""
        words = self.command[0].split() or ["command"]
        return make_name(Path(words[0]).name)

    @property
    def shown(self) -> str:
        """Return the command as messages show it."""
        return self.command[0] if self.shell else shlex.join(self.command)


class _Tree(msgspec.Struct, frozen=True):
    """Where a side is built and run. `sources` identifies what it is built from."""

    side: SideName | None
    commit: str
    sources: str
    directory: Path
    env: dict[str, str] = {}
    """Added to the environment of its steps and starts."""


class _ProbedSide(msgspec.Struct, frozen=True):
    """A side after its first run, which lists its cases."""

    tree: _Tree
    harness: Harness
    spec: DriveSpec
    reading: Result


def run(
    request: CommandRequest,
    out: Path,
    *,
    executor: Executor,
    display: Display,
    stop: Stop,
) -> Outcome:
    """Measure the command in this directory. Raises UserError."""
    directory = Path.cwd()
    _check_program(request, directory)
    revision = working_revision(directory)
    with ExitStack() as resources:
        by = shown_claimant(f"paceline run of {request.name}", display)
        if not resources.enter_context(executor.claim(stop, by=by)):
            return Outcome("cancelled", "Stopped while another run held the target.")
        display.phase(f"preparing {working_revision_in_words(revision)}")
        tree = _Tree(None, revision, revision, directory)
        probed = resources.enter_context(_prepare_side(request, tree, display, stop))
        plan = _make_plan([probed], request, display)
        side_manifest = _write_side(plan, probed, request, out)
        selection = check_selection(side_manifest, _make_selection(request, plan))
        side = Side(_make_prepared(probed, side_manifest), selection)
        record = RunRecord(side_manifest, revision, selection, out)
        record.branch = current_branch(directory)
        return measure_and_record(record, [side], executor, display, stop)


def compare(
    workspace: ComparisonWorkspace,
    request: CommandRequest,
    out: Path,
    *,
    measures_identical: bool,
    executor: Executor,
    display: Display,
    stop: Stop,
) -> Outcome:
    """Measure the command at both commits, each in a tree of its own. Raises UserError, which names the side."""
    _check_program(request, None)
    pair = workspace.wanted
    trees = {
        commit: workspace.repository.tree_of(commit)
        for commit in (pair.base, pair.head)
    }
    same = trees[pair.base] == trees[pair.head]
    with ExitStack() as resources:
        by = shown_claimant(f"paceline ab of {request.name}", display)
        if not resources.enter_context(executor.claim(stop, by=by)):
            return Outcome("cancelled", "Stopped while another run held the target.")
        sides: list[_ProbedSide] = []
        names: tuple[tuple[SideName, str], ...] = (
            (HEAD, pair.head),
            (BASE, pair.base),
        )
        for name, commit in names:
            if sides and same:
                # One tree, so that an A/A comparison is of one build.
                tree = msgspec.structs.replace(sides[0].tree, side=name, commit=commit)
                sides.append(msgspec.structs.replace(sides[0], tree=tree))
                continue
            display.phase(f"preparing {name} ({commit[:12]})")
            top = resources.enter_context(
                workspace.tree(name).checkout(commit, fresh=True)
            )
            directory = top / pair.manifest_path
            tree = _Tree(name, commit, trees[commit], directory, keep_target_apart())
            if not tree.directory.is_dir():
                raise SourceError(
                    "suite_invalid",
                    f"{name} ({commit[:12]}) has no directory {pair.manifest_path}.",
                    "Run this in a directory that both commits have.",
                )
            sides.append(
                resources.enter_context(_prepare_side(request, tree, display, stop))
            )
        head, base = sides
        plan = _make_plan(sides, request, display)
        manifests = SideManifests(
            _write_side(plan, base, request, out), _write_side(plan, head, request, out)
        )
        recorded = _make_selection(request, plan)
        record = RunRecord(manifests.head, pair.head, recorded, out)
        record.branch = pair.branch
        record.base, record.base_manifest = pair.base, manifests.base
        record.commits = [
            commit._asdict()
            for commit in workspace.repository.commits(pair.base, pair.head)
        ]
        probed_sides = iter((head, base))

        def prepare(_commit: str, _benchmarks: Sequence[str]) -> Prepared:
            probed = next(probed_sides)
            return _make_prepared(
                probed, manifests.head if probed.tree.side == HEAD else manifests.base
            )

        selection = check_selection(manifests.head, recorded)
        prepared = prepare_sides(prepare, manifests, pair.base, pair.head, selection)
        if same and pair.base != pair.head and not measures_identical:
            digest = prepared[-1].prepared.built.artifact_hash
            record.unaffected = dict.fromkeys(prepared[-1].selection.benchmarks, digest)
            prepared = leave_out(prepared, record.unaffected)
        return measure_and_record(record, prepared, executor, display, stop)


def _check_program(request: CommandRequest, directory: Path | None) -> None:
    """Raise UserError if the program is certainly missing, so that nobody waits for the target to learn that. Nothing is
    known of a program that a step may make first, nor, without a directory, of a relative path."""
    if request.shell or request.build or request.setup or request.prepare:
        return
    program = request.command[0]
    if Path(program).name == program:
        problem = "there is no such program on the PATH"
    else:
        is_known = directory is not None or Path(program).is_absolute()
        if not is_known or ((directory or Path()) / program).exists():
            return
        problem = "there is no such file"
    if shutil.which(program) is None:
        raise UserError(
            f"`{request.shown}` could not be started: {problem}.",
            "Correct the command. A line for a shell needs --shell sh, and what must be made first needs --build.",
        )


@contextmanager
def _prepare_side(
    request: CommandRequest, tree: _Tree, display: Display, stop: Stop
) -> Iterator[_ProbedSide]:
    """Build, set up and list a side; on leaving, run `--cleanup`. Raises UserError, which names the side."""
    directory = tree.directory
    where = "" if tree.side is None else f"{tree.side} ({tree.commit[:12]}): "
    try:
        if request.build is not None:
            display.log([f"$ {request.build}"])
            build = [*SHELL, request.build]
            run_build_step(build, directory, tree.env, display.log, stop)
        if request.setup is not None:
            setup = [*SHELL, request.setup]
            run_quietly("--setup", setup, directory, display.log, stop, env=tree.env)
        probed = _probe(request, tree, display, stop)
    except SourceError as error:
        raise SourceError(error.cause, f"{where}{error.text}", error.advice) from error
    except HarnessError as error:
        raise _make_user_error(f"{where}`{request.shown}` {error}.", error) from error
    try:
        yield probed
    finally:
        if request.cleanup is not None:
            cleanup = [*SHELL, request.cleanup]
            try:
                run_quietly(
                    "--cleanup", cleanup, directory, display.log, Stop(), env=tree.env
                )
            except HarnessError as error:
                display.log([f"warning: {where}{error}"])


def _make_user_error(text: str, error: HarnessError) -> UserError:
    """Return the error that shows what the tool printed and says how to see more."""
    printed = "" if error.excerpt is None else f"{error.excerpt.render()}\n"
    return UserError(
        text,
        f"{printed}Run it by hand in the same directory; --verbose shows all that it prints.",
    )


def _probe(
    request: CommandRequest, tree: _Tree, display: Display, stop: Stop
) -> _ProbedSide:
    """Run the command once to list its cases. What it measures is not counted: this run warms caches, too."""
    directory = tree.directory
    harness = (
        detect_harness(request.command, directory)
        if request.harness is None and request.shell is None
        else find_harness(request.harness or "command")
    )
    shell = None if request.shell is None else [*shlex.split(request.shell), "-c"]
    spec = DriveSpec(
        harness.name,
        request.command if shell is None else [*shell, *request.command],
        request.name,
        repetitions=request.repetitions,
        min_time_ns=request.min_time_ns,
        warmups=request.warmups,
        prepare=[] if request.prepare is None else [*SHELL, request.prepare],
        overhead=Overhead() if shell is None else measure_shell(shell, directory),
        timeout_s=request.timeout_s,
        env=tree.env,
    )
    display.phase(f"listing the cases of {harness.title}")
    reading = measure(spec, directory, log=display.log, stop=stop)
    for case in reading.cases:
        if case.failure is not None:
            raise HarnessError(
                f"ran {case.name}, which failed: {case.failure}; leave it out by the command's own filter, or mend it"
            )
    return _ProbedSide(tree, harness, spec, reading)


def _make_plan(
    sides: Sequence[_ProbedSide], request: CommandRequest, display: Display
) -> Plan:
    """Name the cases of all sides, and warn of cases without an arm and of arms that share a process."""
    cases: list[MeasuredCase] = [case for side in sides for case in side.reading.cases]
    plan = Plan(cases, request.arms)
    display.log(
        [
            f"warning: {warning}"
            for warning in list_warnings(plan, request.arms, sides[0].harness)
        ]
    )
    return plan


def _write_side(
    plan: Plan, probed: _ProbedSide, request: CommandRequest, out: Path
) -> manifest.Manifest:
    """Make the manifest of one side, and write what its launches start."""
    side = "" if probed.tree.side is None else f".{probed.tree.side}"
    path = out / f"drive{side}.json"
    run_argv = [*DRIVE, str(path)]
    starts = (request.warmups + 1) * max(1, len(request.arms.patterns))
    limit_s = min(starts * request.timeout_s + START_S, 86_400)
    host = {
        "build": [],
        "artifacts": ["."],
        "run": run_argv,
        "launch_timeout_s": limit_s,
    }
    suite = SuiteDescription(request.name, request.shown, host)
    cases = probed.reading.cases
    side_manifest = manifest.of_raw(
        make_manifest(plan, cases, request.arms.reference, suite)
    )
    spec = msgspec.structs.replace(
        probed.spec, cases=plan.select(cases), benchmarks=side_manifest.benchmarks
    )
    out.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(spec), indent=1))
    return side_manifest


def _make_selection(request: CommandRequest, plan: Plan) -> Selection:
    return Selection(
        plan.names_of(request.benchmarks),
        launches=request.launches,
        rounds=1,
        warmup_rounds=0,
        min_time_ns=request.min_time_ns,
        seed=request.seed,
        max_launches=request.max_launches,
    )


def _make_prepared(probed: _ProbedSide, side_manifest: manifest.Manifest) -> Prepared:
    """Return a side in the form in which suites are launched."""
    facts = {
        "command": shlex.join(probed.spec.command),
        "harness": probed.harness.name,
        **probed.reading.facts,
    }
    identity = json.dumps(
        [probed.tree.sources, probed.spec.command, probed.spec.harness]
    )
    built = Built(
        {side_manifest.suite.name: probed.tree.directory},
        hashlib.sha256(identity.encode()).hexdigest(),
        facts,
    )
    builds = {
        workload.name: workload.host
        for workload in side_manifest.workloads
        if workload.host
    }
    return Prepared(side_manifest, probed.tree.commit, built, builds)
