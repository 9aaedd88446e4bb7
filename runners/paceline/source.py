"""Builds a revision: checkout, toolchain versions, build steps, artifact cache, artifact hash.

A failed build is the suite's failure (`build_failed`, with the first error of its log), a failed checkout the
agent's. The cache key covers everything that may change the result: manifest, commit, toolchain versions,
environment, and the ABI of a device.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
from paceline_contract.manifest import TargetBuild

from paceline.artifacts import (
    ArtifactCache,
    Built,
    cache_key,
    copy_into,
    files_below,
    hash_files,
)
from paceline.destination import HOST, Destination, build_for
from paceline.errors import UserError
from paceline.executors.draining import STEP_TIMEOUT_S, Log, describe_end, drain
from paceline.executors.process import GuardedProcess, ProcessEnd, inherited_environment
from paceline.first_error import Channel, ErrorFinder
from paceline.git import GitFailedError, Repository, SourceError, run_git
from paceline.manifest import Manifest, parse
from paceline.stop import Stop
from paceline.terminal_text import strip_control

MISSING = "missing: "
"""Begins the fact about a toolchain command that could not be started."""
REFUSED = "failed: "
"""Begins the fact about a toolchain command that exited with an error."""
ANSWER_CHARACTERS = 160
"""Most characters of a failed toolchain command's output in a message."""
COMMAND_CHARACTERS = 160

BUILD_VARIABLES = (
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "MAVEN_ARGS",
    "MAVEN_OPTS",
    "JAVA_TOOL_OPTIONS",
    "GOFLAGS",
    "PYTHONPATH",
    "ANDROID_NDK_HOME",
)
"""Variables of the agent's environment that change what a build produces; part of the cache key."""


class BuildStep(msgspec.Struct, frozen=True):
    """A build step that begins now; `number` counts from 1."""

    workload: str
    number: int
    total: int
    argv: list[str]

    @property
    def words(self) -> str:
        return f"building {self.workload}, step {self.number} of {self.total}: {_shorten_command(self.argv)}"


class Prepared(msgspec.Struct, frozen=True):
    """A built revision. `builds`: how each workload was built and is run, for one ABI if for a device. Whoever
    starts it replaces `{artifacts}` in its `run`."""

    manifest: Manifest
    revision: str
    built: Built
    builds: dict[str, TargetBuild]


def read_manifest(repository: Repository, commit: str, path: str) -> Manifest:
    """Return the manifest as it is at a commit. Raises SourceError."""
    try:
        return parse(repository.show(commit, path), path)
    except SourceError:
        raise
    except UserError as error:
        advice = error.advice or f"Mend {path} at {commit[:12]}."
        raise SourceError("suite_invalid", error.text, advice) from error


def prepare(
    repository: Repository,
    commit: str,
    manifest_path: str,
    *,
    benchmarks: Iterable[str],
    cache: ArtifactCache,
    log: Log,
    stop: Stop,
    destination: Destination = HOST,
    on_step: Callable[[BuildStep], None] = lambda _: None,
) -> Prepared:
    """Build the workloads of `benchmarks` (empty: all) at a commit for `destination`, or take them from the
    cache. `on_step` is called before each build step. Raises SourceError."""
    full = repository.resolve(commit)
    manifest = read_manifest(repository, full, manifest_path)
    requested = set(benchmarks) or set(manifest.benchmarks)
    workloads = {
        item.workload for name, item in manifest.benchmarks.items() if name in requested
    }
    chosen = _select_builds(manifest, workloads, destination)
    keys, facts = {}, {}
    for name, build in chosen.items():
        versions = toolchain_facts(build)
        facts.update(versions)
        environment = {key: os.environ.get(key) for key in BUILD_VARIABLES}
        machine = [platform.system(), platform.machine()]
        parts = [manifest.digest, full, name, versions, build.env, environment, machine]
        if destination.kind == "device":
            parts.append(["device", *build.abis])
        keys[name] = cache_key(parts)
    entries = {name: cache.get(key) for name, key in keys.items()}
    missing = [name for name, entry in entries.items() if entry is None]
    if missing:
        with repository.checkout(full) as tree:
            for name in missing:
                log([f"(agent) building {name} at {full[:12]}"])
                with _name_missing_tools(chosen[name], facts):
                    sources = _build(
                        tree / manifest_path,
                        chosen[name],
                        log,
                        stop,
                        fresh=True,
                        on_step=partial(_tell_step, on_step, name, chosen[name]),
                    )
                entries[name] = cache.put(keys[name], sources)
    else:
        names = ", ".join(entries)
        log([f"(agent) {names} at {full[:12]} found in the artifact cache"])
    built = _collect_built(
        {name: entry for name, entry in entries.items() if entry}, facts
    )
    return Prepared(manifest, full, built, chosen)


def prepare_in_place(
    manifest: Manifest,
    path: Path,
    *,
    revision: str,
    workloads: Iterable[str],
    out: Path,
    log: Log,
    stop: Stop,
    destination: Destination = HOST,
) -> Prepared:
    """Build `workloads` of the suite in the working tree and copy the artifacts to `out`."""
    directories, facts = {}, {}
    chosen = _select_builds(manifest, workloads, destination)
    for name, build in chosen.items():
        facts.update(toolchain_facts(build))
        with _name_missing_tools(build, facts):
            sources = _build(path, build, log, stop, fresh=False)
        directories[name] = out / name
        copy_into(directories[name], sources)
    return Prepared(manifest, revision, _collect_built(directories, facts), chosen)


def toolchain_facts(build: TargetBuild) -> dict[str, str]:
    """Return the output of each toolchain command, by its command line. The fact about a missing or failing command
    says so."""
    facts = {}
    for argv in build.toolchain:
        end, lines = run_briefly(argv, Path.cwd(), build.env)
        printed = strip_control("\n".join(lines)).strip()
        fact = printed
        if end.exit_code != 0:
            first_printed = (
                f": {printed.splitlines()[0][:ANSWER_CHARACTERS]}" if printed else ""
            )
            fact = f"{REFUSED if end.start_error is None else MISSING}{describe_end(end)}{first_printed}"
        facts[" ".join(argv)] = fact[:1000]
    return facts


def run_briefly(
    argv: list[str], directory: Path, env: dict[str, str]
) -> tuple[ProcessEnd, list[str]]:
    """Run a command of at most a minute; return how it ended, and the lines of both outputs."""
    lines: list[str] = []

    def take(_: Channel, more: list[str]) -> None:
        lines.extend(more)

    with GuardedProcess(argv, directory, inherited_environment(env)) as process:
        return drain(process, take, Stop(), 60.0), lines


@contextlib.contextmanager
def _name_missing_tools(build: TargetBuild, facts: Mapping[str, str]) -> Iterator[None]:
    """Prepend to a failed build's error which toolchain commands are missing or fail on this host."""
    try:
        yield
    except SourceError as error:
        own_facts = {line: facts[line] for line in map(" ".join, build.toolchain)}
        missing = _toolchain_sentence(
            own_facts, MISSING, "This host lacks what the suite builds with: "
        )
        failing = _toolchain_sentence(
            own_facts,
            REFUSED,
            "A tool that the suite builds with exits with an error: ",
        )
        if error.cause != "build_failed" or not missing + failing:
            raise
        raise SourceError(
            error.cause, f"{missing}{failing}{error.text}", error.advice
        ) from error


def _toolchain_sentence(facts: Mapping[str, str], kind: str, begin: str) -> str:
    """Return a sentence, with a space after it, about the facts of one kind; empty if there are none."""
    parts = [
        f"`{line}` {fact.removeprefix(kind)}"
        for line, fact in facts.items()
        if fact.startswith(kind)
    ]
    return f"{begin}{'; '.join(parts)}. " if parts else ""


def _select_builds(
    manifest: Manifest, names: Iterable[str], destination: Destination
) -> dict[str, TargetBuild]:
    requested = set(names)
    return {
        item.name: build_for(item, destination)
        for item in manifest.workloads
        if item.name in requested
    }


def _tell_step(
    tell: Callable[[BuildStep], None], workload: str, build: TargetBuild, index: int
) -> None:
    tell(BuildStep(workload, index + 1, len(build.build), build.build[index]))


def _build(
    manifest_path: Path,
    build: TargetBuild,
    log: Log,
    stop: Stop,
    *,
    fresh: bool,
    on_step: Callable[[int], None] = lambda _: None,
) -> list[Path]:
    """Run the steps and return the artifacts. `fresh` removes artifacts of an earlier commit first; `on_step`
    gets the index of each step before it runs."""
    base = manifest_path.parent
    artifacts = [base / name for name in build.artifacts]
    if fresh and build.build:
        _remove_untracked(artifacts)
    cwd = (base / build.cwd).resolve()
    if not cwd.is_dir():
        raise SourceError(
            "suite_invalid", f"cwd {build.cwd!r} is no directory beside the manifest."
        )
    for index, argv in enumerate(build.build):
        on_step(index)
        log(["$ " + " ".join(argv)])
        run_build_step(argv, cwd, build.env, log, stop)
    for name, artifact in zip(build.artifacts, artifacts, strict=True):
        if not artifact.exists():
            text = f"The build left no {name}, which suite.toml lists as an artifact."
            raise SourceError(
                "build_failed", text, "Correct the path, or the step that makes it."
            )
    return artifacts


def run_build_step(
    argv: list[str], cwd: Path, env: dict[str, str], log: Log, stop: Stop
) -> None:
    """Run one step of a build. Raises SourceError with the first error of its output."""
    errors = ErrorFinder()

    def take(channel: Channel, lines: list[str]) -> None:
        errors.feed_lines(channel, lines)
        log(lines)

    with GuardedProcess(argv, cwd, inherited_environment(env)) as process:
        end = drain(process, take, stop, STEP_TIMEOUT_S)
    if stop.reason is not None:
        raise SourceError("cancelled", f"Stopped while building: {stop.reason.value}.")
    if end.exit_code != 0:
        text = f"Build step `{_shorten_command(argv)}` {describe_end(end)}."
        excerpt = errors.excerpt()
        output = excerpt.render() if excerpt else "It printed nothing."
        advice = end.memory or "Run it by hand at the same revision."
        raise SourceError("build_failed", text, f"{output}\n{advice}")


def _shorten_command(argv: list[str]) -> str:
    """Return a command on one short line. An argument may be a long script."""
    line = " ".join(" ".join(argv).split())
    return (
        line
        if len(line) <= COMMAND_CHARACTERS
        else f"{line[: COMMAND_CHARACTERS - 1]}…"
    )


def _remove_untracked(artifacts: Iterable[Path]) -> None:
    """Remove build outputs of another commit, even ignored ones and inside directories; sources in git stay.
    Raises SourceError."""
    clean = ("--literal-pathspecs", "clean", "-ffdxq")
    for artifact in artifacts:
        if not artifact.parent.is_dir():
            continue
        try:
            run_git("-C", str(artifact.parent), *clean, "--", artifact.name or ".")
        except GitFailedError as error:
            text = f"An earlier build's {artifact.name} cannot be removed: {error.text}"
            raise SourceError("checkout_failed", text, "Remove it by hand.") from error


def _collect_built(directories: dict[str, Path], facts: dict[str, str]) -> Built:
    files = {
        f"{name}/{relative}": path
        for name, directory in directories.items()
        for relative, path in files_below(directory).items()
    }
    return Built(directories, hash_files(files), facts)
