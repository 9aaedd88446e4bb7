"""Builds a revision: checkout, toolchain versions, build steps, artifact cache, artifact hash.

Commands are argv lists, never shell strings. Build steps end with the agent and with the job. A failed build
is the suite's failure (`build_failed`, with the first error of its log); a failed checkout is ours. The cache
key covers everything that may change the result: manifest, commit, toolchain versions, environment, and the
ABI of a device.
"""

from __future__ import annotations

import contextlib
import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

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
from paceline.executors.process import GuardedProcess, ProcessEnd, inherited_environment
from paceline.exit_descriptions import describe_signal, describe_status
from paceline.first_error import Channel, ErrorFinder
from paceline.git import GitFailedError, Repository, SourceError, run_git
from paceline.manifest import Manifest, parse
from paceline.stop import Stop
from paceline.terminal_text import LineSplitter, strip_control

STEP_TIMEOUT_S = 3600.0
"""Longest time of one build step: a cold release build with its dependencies on a slow host."""
MISSING = "missing: "
"""Begins the fact about a toolchain command that could not be started: it is not here."""
REFUSED = "failed: "
"""Begins the fact about a toolchain command that answered with an error: it is here, and says why."""
ANSWER_CHARACTERS = 160
"""Of what a toolchain command answered with an error that stand in a message."""
COMMAND_CHARACTERS = 160
READ_BYTES = 1 << 16

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


Log = Callable[[list[str]], None]
"""Takes complete lines of build output as they come."""


class Prepared(msgspec.Struct, frozen=True):
    """What `measure.py` needs to run a suite. `builds`: per workload, how it was built and is run, for one
    ABI if for a device; `{artifacts}` in its `run` is for who starts it to fill in."""

    manifest: Manifest
    revision: str
    built: Built
    builds: dict[str, TargetBuild]


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
) -> Prepared:
    """Builds (or finds in the cache) the workloads of `benchmarks` (empty: all) at a commit, here, for
    `destination`. Raises SourceError.
    """
    full = repository.resolve(commit)
    try:
        manifest = parse(repository.show(full, manifest_path), manifest_path)
    except SourceError:
        raise
    except UserError as error:
        raise SourceError("suite_invalid", error.text, error.advice) from error
    wanted = set(benchmarks) or set(manifest.benchmarks)
    workloads = {
        item.workload for name, item in manifest.benchmarks.items() if name in wanted
    }
    chosen = _chosen(manifest, workloads, destination)
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
    found = {name: cache.get(key) for name, key in keys.items()}
    if any(entry is None for entry in found.values()):
        with repository.checkout(full) as tree:
            for name in (name for name, entry in found.items() if entry is None):
                log([f"(agent) building {name} at {full[:12]}"])
                with _naming_what_is_missing(chosen[name], facts):
                    sources = _build(
                        tree / manifest_path, chosen[name], log, stop, fresh=True
                    )
                found[name] = cache.put(keys[name], sources)
    else:
        log([f"(agent) {', '.join(found)} at {full[:12]} found in the artifact cache"])
    built = _built({name: entry for name, entry in found.items() if entry}, facts)
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
    """Builds `workloads` of the suite in the working tree as it stands, artifacts into `out`."""
    directories, facts = {}, {}
    chosen = _chosen(manifest, workloads, destination)
    for name, build in chosen.items():
        facts.update(toolchain_facts(build))
        with _naming_what_is_missing(build, facts):
            sources = _build(path, build, log, stop, fresh=False)
        directories[name] = out / name
        copy_into(directories[name], sources)
    return Prepared(manifest, revision, _built(directories, facts), chosen)


def toolchain_facts(build: TargetBuild) -> dict[str, str]:
    """What each toolchain command printed (both outputs), by its command line; what is missing is said
    so, and what failed with its answer."""
    facts = {}
    for argv in build.toolchain:
        end, lines = _answer(argv, build.env)
        printed = strip_control("\n".join(lines)).strip()
        shown = printed
        if end.exit_code != 0:
            answer = (
                f": {printed.splitlines()[0][:ANSWER_CHARACTERS]}" if printed else ""
            )
            shown = (
                f"{REFUSED if end.start_error is None else MISSING}{_how(end)}{answer}"
            )
        facts[" ".join(argv)] = shown[:1000]
    return facts


def _answer(argv: list[str], env: dict[str, str]) -> tuple[ProcessEnd, list[str]]:
    """How a toolchain command ended, and what it printed on both outputs."""
    lines: list[str] = []

    def take(_: Channel, more: list[str]) -> None:
        lines.extend(more)

    with GuardedProcess(argv, Path.cwd(), inherited_environment(env)) as process:
        return _drain(process, take, Stop(), 60.0), lines


@contextlib.contextmanager
def _naming_what_is_missing(
    build: TargetBuild, facts: Mapping[str, str]
) -> Iterator[None]:
    """A build that failed says first which part of its toolchain this host lacks, or what answered with an
    error when it was asked for its version."""
    try:
        yield
    except SourceError as error:
        said = {line: facts[line] for line in map(" ".join, build.toolchain)}
        lacks = _told(said, MISSING, "This host lacks what the suite builds with: ")
        ails = _told(
            said, REFUSED, "What the suite builds with answered with an error: "
        )
        if error.cause != "build_failed" or not lacks + ails:
            raise
        raise SourceError(
            error.cause, f"{lacks}{ails}{error.text}", error.advice
        ) from error


def _told(said: Mapping[str, str], kind: str, words: str) -> str:
    """The facts of one kind as a sentence with a space after it; empty where there is none."""
    facts = [
        f"`{line}` {fact.removeprefix(kind)}"
        for line, fact in said.items()
        if fact.startswith(kind)
    ]
    return f"{words}{'; '.join(facts)}. " if facts else ""


def _chosen(
    manifest: Manifest, names: Iterable[str], destination: Destination
) -> dict[str, TargetBuild]:
    wanted = set(names)
    return {
        item.name: build_for(item, destination)
        for item in manifest.workloads
        if item.name in wanted
    }


def _build(
    manifest_path: Path, build: TargetBuild, log: Log, stop: Stop, fresh: bool
) -> list[Path]:
    """Runs the steps and returns the artifacts. `fresh` removes artifacts of an earlier commit first."""
    base = manifest_path.parent
    artifacts = [base / name for name in build.artifacts]
    if fresh and build.build:
        _remove_untracked(artifacts)
    cwd = (base / build.cwd).resolve()
    if not cwd.is_dir():
        raise SourceError(
            "suite_invalid", f"cwd {build.cwd!r} is no directory beside the manifest."
        )
    for argv in build.build:
        log(["$ " + " ".join(argv)])
        _step(argv, cwd, build.env, log, stop)
    for name, artifact in zip(build.artifacts, artifacts, strict=True):
        if not artifact.exists():
            text = f"The build left no {name}, which suite.toml lists as an artifact."
            raise SourceError(
                "build_failed", text, "Correct the path, or the step that makes it."
            )
    return artifacts


def _step(
    argv: list[str], cwd: Path, env: dict[str, str], log: Log, stop: Stop
) -> None:
    errors = ErrorFinder()

    def take(channel: Channel, lines: list[str]) -> None:
        errors.feed_lines(channel, lines)
        log(lines)

    with GuardedProcess(argv, cwd, inherited_environment(env)) as process:
        end = _drain(process, take, stop, STEP_TIMEOUT_S)
    if stop.reason is not None:
        raise SourceError("cancelled", f"Stopped while building: {stop.reason.value}.")
    if end.exit_code != 0:
        text = f"Build step `{_shown(argv)}` {_how(end)}."
        excerpt = errors.excerpt()
        found = excerpt.render() if excerpt else "It printed nothing."
        advice = (
            end.memory
            or "Run it by hand in the same revision; its whole output is in the job's log."
        )
        raise SourceError("build_failed", text, f"{found}\n{advice}")


def _drain(
    process: GuardedProcess,
    take: Callable[[Channel, list[str]], None],
    stop: Stop,
    timeout_s: float,
) -> ProcessEnd:
    """Both outputs line by line until the end; kills it when stopped or out of time."""
    lock = threading.Lock()

    def read(channel: Channel, pipe: IO[bytes]) -> None:
        splitter = LineSplitter()
        while data := pipe.read(READ_BYTES):
            with lock:
                take(channel, splitter.feed(data))
        with lock:
            take(channel, splitter.close())

    pipes: tuple[tuple[Channel, IO[bytes] | None], ...]
    pipes = (("stdout", process.stdout), ("stderr", process.stderr))
    threads = [
        threading.Thread(target=read, args=(channel, pipe), daemon=True)
        for channel, pipe in pipes
        if pipe is not None
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout_s
    while (end := process.poll(0.1)) is None:
        if stop.reason is not None or time.monotonic() > deadline:
            process.kill()
    for thread in threads:
        thread.join()
    return end


def _shown(argv: list[str]) -> str:
    """A command in one line of a message: a script given as an argument may be long and of many lines."""
    line = " ".join(" ".join(argv).split())
    return (
        line
        if len(line) <= COMMAND_CHARACTERS
        else f"{line[: COMMAND_CHARACTERS - 1]}…"
    )


def _how(end: ProcessEnd) -> str:
    if end.start_error is not None:
        return f"could not be started: {end.start_error}"
    if end.signal_number is not None:
        return f"was killed by {describe_signal(end.signal_number)}"
    return describe_status(end.exit_code or 0)


def _remove_untracked(artifacts: Iterable[Path]) -> None:
    """Build outputs of another commit must not pass for this one's, ignored ones neither, not even inside a
    directory; sources in git stay. Raises SourceError."""
    clean = ("--literal-pathspecs", "clean", "-ffdxq")
    for artifact in artifacts:
        if not artifact.parent.is_dir():
            continue
        try:
            run_git("-C", str(artifact.parent), *clean, "--", artifact.name or ".")
        except GitFailedError as error:
            text = f"What an earlier build left at {artifact.name} cannot be removed: {error.text}"
            raise SourceError("checkout_failed", text, "Remove it by hand.") from error


def _built(directories: dict[str, Path], facts: dict[str, str]) -> Built:
    files = {
        f"{name}/{relative}": path
        for name, directory in directories.items()
        for relative, path in files_below(directory).items()
    }
    return Built(directories, hash_files(files), facts)
