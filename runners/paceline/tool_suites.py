"""Makes the suite.toml of benchmarks that another tool runs: recognises the tool, lists its cases, and declares them.

The command is started in a copy of what the suite lists as artifacts, as every launch starts it, so that the suite can be
measured at once. `commands/new_suite.py` writes it.
"""

from __future__ import annotations

import json
import math
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec
from paceline_contract.results import MeasuredCase, Result
from paceline_contract.text_names import DIGEST_MARK, make_name
from paceline_contract.tool_starts import count_tool_starts

from paceline.artifacts import copy_into
from paceline.driven import SHELL
from paceline.errors import UserError
from paceline.executors.draining import Log
from paceline.git import GitFailedError, run_git
from paceline.harnesses import HARNESSES, detect_harness, find_harness
from paceline.harnesses.cargo_bench import keep_target_apart
from paceline.harnesses.drive import DriveSpec, measure
from paceline.harnesses.plan import (
    ArmPatterns,
    Plan,
    SuiteDescription,
    list_warnings,
    make_manifest,
)
from paceline.harnesses.port import Harness, HarnessError
from paceline.manifest import Manifest, parse
from paceline.selection import Selection
from paceline.source import run_build_step
from paceline.stop import Stop

MANIFEST = "suite.toml"
SLOWER = 4
"""A launch may take so many times as long as its starts did here."""
LEAST_TIMEOUT_S, MOST_TIMEOUT_S = 600, 86_400
LINE = 100
"""Longer lists have a line for each value."""


class ToolRequest(msgspec.Struct, frozen=True):
    """A command that runs benchmarks. `directory` gets the suite, and has what the command reads."""

    directory: Path
    command: list[str]
    arms: ArmPatterns
    harness: str | None = None
    build: str | None = None

    @property
    def shown(self) -> str:
        """Return the command as messages show it."""
        return shlex.join(self.command)


class ToolSuite(NamedTuple):
    """The text of a suite.toml, and what to tell about it."""

    text: str
    manifest: Manifest
    harness: Harness
    cases: int
    start_s: float
    """How long one start of the tool took."""
    starts: int
    """How often `paceline run` starts it."""
    warnings: list[str]


class _Located(NamedTuple):
    """Artifacts, and the command as it is in the directory of their copies."""

    artifacts: list[str]
    command: list[str]


class _Listed(NamedTuple):
    """What a start of the command in a copy of its artifacts measured."""

    located: _Located
    harness: Harness
    reading: Result
    start_s: float


def make_suite(request: ToolRequest, log: Log, stop: Stop) -> ToolSuite:
    """Build, list the cases and declare them. Raises UserError."""
    if request.harness is not None:
        find_harness(request.harness)
    if request.build is not None:
        run_build_step([*SHELL, request.build], request.directory, {}, log, stop)
    listed = _list_cases(request, log, stop)
    cases = [case for case in listed.reading.cases if case.metrics]
    plan = Plan(cases, request.arms)
    timeout_s = LEAST_TIMEOUT_S
    name = make_name(request.directory.resolve().name).partition(DIGEST_MARK)[0]
    host = {
        "build": [] if request.build is None else [[*SHELL, request.build]],
        "artifacts": listed.located.artifacts or [MANIFEST],
        "harness": listed.harness.name,
        "command": listed.located.command,
        "launch_timeout_s": timeout_s,
    }
    if request.arms.patterns:
        patterns = request.arms.patterns.items()
        host["arms"] = {arm: pattern.pattern for arm, pattern in patterns}
    suite = SuiteDescription(name, request.shown, host)
    raw = make_manifest(plan, cases, request.arms.reference, suite)
    path = str(request.directory / MANIFEST)
    manifest = parse(_render(raw).encode(), path)
    usual = Selection([])
    starts = count_tool_starts(
        manifest,
        manifest.benchmarks,
        usual.rounds,
        usual.warmup_rounds,
        lambda _: listed.harness.can_filter,
    )
    wanted_s = math.ceil(SLOWER * starts * listed.start_s)
    host["launch_timeout_s"] = min(max(wanted_s, LEAST_TIMEOUT_S), MOST_TIMEOUT_S)
    text = _render(raw)
    return ToolSuite(
        text,
        parse(text.encode(), path),
        listed.harness,
        len(plan.cases),
        listed.start_s,
        starts * usual.launches,
        [
            *_list_failures(listed.reading.cases),
            *list_warnings(plan, request.arms, listed.harness),
            *_list_doubts(request, listed),
        ],
    )


def _list_failures(cases: Sequence[MeasuredCase]) -> Iterator[str]:
    """Yield a warning for each case that has no figures."""
    for case in cases:
        if not case.metrics:
            reason = case.failure or case.unavailable or "it has no figures"
            yield f"{case.name} is not declared: {reason}"


def _list_doubts(request: ToolRequest, listed: _Listed) -> Iterator[str]:
    """Yield what only the user can know."""
    *recognised, plain = HARNESSES
    if request.harness is None and listed.harness.name == plain:
        names = ", ".join(recognised)
        yield (
            "no harness was recognised, so that the command is timed as a process; if it runs one, name it with "
            f"--harness: {names}"
        )
    known = _list_known_files(request.directory)
    built = [name for name in listed.located.artifacts if not _is_known(name, known)]
    if built and request.build is None and known is not None:
        yield (
            f"git does not have {', '.join(built)}, and agents and `paceline ab` measure commits: name what makes it with "
            "--build, or as `build` in suite.toml"
        )


def _list_cases(request: ToolRequest, log: Log, stop: Stop) -> _Listed:
    """Start the command in copies of more and more of the directory until it measures something. Raises UserError."""
    failure = HarnessError("measured nothing")
    for located in _choose_artifacts(request.directory, request.command):
        try:
            return _start_in_copy(request, located, log, stop)
        except HarnessError as error:
            failure = error
        if stop.reason is not None:
            break
    excerpt = failure.excerpt
    printed = "" if excerpt is None else f"{excerpt.render()}\n"
    raise UserError(
        f"`{request.shown}` {failure}.",
        f"{printed}It was started in a copy of {request.directory}, as launches are. Give the directory that has all that it "
        "reads, with --build what makes it, and with --harness its harness if that is not recognised.",
    ) from failure


def _start_in_copy(
    request: ToolRequest, located: _Located, log: Log, stop: Stop
) -> _Listed:
    """Start the command once, whole. Raises HarnessError, also where it measures no case."""
    with tempfile.TemporaryDirectory(prefix="paceline-") as scratch:
        directory = Path(scratch, "artifacts")
        sources = [request.directory / name for name in located.artifacts]
        try:
            copy_into(directory, sources)
        except OSError as error:
            raise HarnessError(f"reads what cannot be copied: {error}") from error
        harness = (
            detect_harness(located.command, directory)
            if request.harness is None
            else find_harness(request.harness)
        )
        spec = DriveSpec(
            harness.name,
            located.command,
            suite=MANIFEST,
            min_time_ns=Selection([]).min_time_ns,
            env=keep_target_apart(),
        )
        log([f"listing the cases of {harness.title}"])
        began = time.monotonic()
        reading = measure(spec, directory, log=log, stop=stop)
        start_s = time.monotonic() - began
    for case in reading.cases:
        if case.failure is not None and not any(each.metrics for each in reading.cases):
            raise HarnessError(f"ran {case.name}, which failed: {case.failure}")
    if not any(case.metrics for case in reading.cases):
        raise HarnessError(f"lists no case as {harness.title}")
    return _Listed(located, harness, reading, start_s)


def _choose_artifacts(directory: Path, command: Sequence[str]) -> Iterator[_Located]:
    """Yield what the command may need, less first: the built files that it names, all that git has, and all that is there.

    Sources are not left out: a comparison would call a change of one that is no artifact no change at all."""
    visible = sorted(
        path.name
        for path in (directory.iterdir() if directory.is_dir() else ())
        if not path.name.startswith(".") and path.name != "paceline-runs"
    )
    known = _list_known_files(directory)
    if known is None:
        yield _locate(directory, command, visible)
        return
    built = _locate(directory, command, [])
    if built.artifacts and not any(_is_known(name, known) for name in built.artifacts):
        yield built
    sources = sorted(
        {
            name.partition("/")[0]
            for name in known
            if not name.startswith(".git") and (directory / name).exists()
        }
    )
    yield _locate(directory, command, sources)
    if set(visible) - set(sources):
        yield _locate(directory, command, sorted({*sources, *visible}))


def _list_known_files(directory: Path) -> set[str] | None:
    """Return the files below a directory that git has, or would add; None without git."""
    try:
        listed = run_git(
            "-C",
            str(directory),
            *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        )
    except GitFailedError:
        return None
    return {*filter(None, listed.decode("utf-8", "surrogateescape").split("\0"))}


def _is_known(name: str, known: set[str] | None) -> bool:
    return known is not None and (
        name in known or any(path.startswith(f"{name}/") for path in known)
    )


def _locate(
    directory: Path, command: Sequence[str], artifacts: Sequence[str]
) -> _Located:
    """Return the artifacts with those that the command names besides. A copy of an artifact has its last name."""
    found, argv = [*artifacts], [*command]
    for index, word in enumerate(command):
        path = PurePosixPath(word)
        if (
            (index == 0 and "/" not in word)
            or path.is_absolute()
            or ".." in path.parts
            or not path.parts
            or not (directory / path).exists()
            or path.parts[0] in artifacts
        ):
            continue
        if str(path) not in found:
            found.append(str(path))
        if len(path.parts) > 1:
            argv[index] = f"./{path.name}" if index == 0 else path.name
    return _Located(found, argv)


def _render(raw: Mapping[str, Any]) -> str:
    """Return a manifest as people write it."""
    (workload,) = raw["workloads"]
    host = workload["host"]
    comments = {
        "build": 'argv lists, run beside this file before: [["make", "bench"]]',
        "artifacts": "what the command reads; it runs in a copy",
        "command": "starts the benchmarks, once per round",
        "arms": "patterns of the tool's names; their groups name the benchmark",
    }
    lines = [f"schema = {raw['schema']}", "", "[suite]"]
    lines += [f"{key} = {_render_value(value)}" for key, value in raw["suite"].items()]
    lines += ["", "[[workloads]]", f"name = {_render_value(workload['name'])}"]
    lines.append("[workloads.host]")
    for key, value in host.items():
        line = f"{key} = {_render_value(value)}"
        comment = comments.get(key)
        lines.append(line if comment is None else f"{line:<43} # {comment}")
    for name, benchmark in raw["benchmarks"].items():
        lines += ["", f"[benchmarks.{name}]"]
        for key, value in benchmark.items():
            if isinstance(value, dict):
                lines += [
                    f"{key}.{name} = {_render_value(declared)}"
                    for name, declared in value.items()
                ]
            else:
                lines.append(f"{key} = {_render_value(value)}")
    return "\n".join(lines) + "\n"


def _render_value(value: object) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_render_value(each)}" for key, each in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        texts = [_render_value(each) for each in value]
        line = f"[{', '.join(texts)}]"
        if len(line) <= LINE:
            return line
        return "[\n" + "".join(f"    {text},\n" for text in texts) + "]"
    # A string of JSON is one of TOML, but for the character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
