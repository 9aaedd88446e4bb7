"""Builds and measures two commits of a checkout side by side (`paceline ab`) and writes the result as files.

    OUT/launch-NNN.SIDE.WORKLOAD.jsonl   the bench streams; SIDE is base or head
    OUT/run.json                         as `paceline run` writes it, plus the base and the commits between

This is an A/B job without a server; `paceline-server judge OUT` decides as the server would. The checkout is only
read, and uncommitted changes are not measured. Both commits are built in the same worktree, so that equal
sources give equal artifacts (I15).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from paceline_contract.items import SideName

from paceline.artifacts import ArtifactCache
from paceline.config import AgentSettings
from paceline.errors import UserError
from paceline.executors.base import Executor
from paceline.git import (
    FileMissingError,
    GitFailedError,
    Repository,
    SourceError,
    current_branch,
    ownership_error,
    run_git,
)
from paceline.launches import BASE, HEAD, SideManifests, prepare_sides, read_sides
from paceline.local import Display, RunRecord, measure_and_record, shown_claimant
from paceline.manifest import Manifest
from paceline.outcome import Outcome
from paceline.selection import Selection
from paceline.source import Prepared, prepare, read_manifest
from paceline.stop import Stop
from paceline.unaffected import leave_out_unaffected


class Comparison(msgspec.Struct, frozen=True):
    """The two commits. `manifest_path` is relative to `checkout`, the top of the user's working tree; for a command
    without a suite.toml it is the directory to run it in."""

    checkout: Path
    manifest_path: str
    base: str
    head: str
    notes: list[str]
    branch: str | None = None
    """The branch that is checked out, if the head is its newest commit."""


def comparison(
    base: str, head: str, suite: Path | None, *, of_command: bool = False
) -> Comparison:
    """Resolve the two commits and the suite's path. `of_command`: this directory is meant instead of a suite. Raises
    UserError for an unknown revision, outside of a repository, or if no suite.toml can be chosen."""
    near = Path.cwd() if suite is None else suite.resolve().parent
    checkout = _top(near)
    pair = Comparison(
        checkout,
        near.resolve().relative_to(checkout.resolve()).as_posix()
        if of_command
        else _manifest_path(checkout, suite),
        _commit(checkout, BASE, base),
        _commit(checkout, HEAD, head),
        [],
    )
    if pair.head == _commit(checkout, HEAD, "HEAD"):
        pair = msgspec.structs.replace(pair, branch=current_branch(checkout))
    if pair.base == pair.head:
        pair.notes.append(describe_same_commit(pair.head))
    if run_git(
        "-C", str(checkout), "status", "--porcelain", "--untracked-files=no"
    ).strip():
        pair.notes.append(
            "The working tree has changes that are not committed; they are not measured. Commit them to "
            "compare them."
        )
    return pair


def describe_same_commit(commit: str) -> str:
    """Return a sentence that both sides are one commit, and what that measures."""
    return f"Both sides are commit {commit[:12]}: an A/A comparison, which shows what this target can tell apart."


def _top(directory: Path) -> Path:
    try:
        return Path(
            run_git("-C", str(directory), "rev-parse", "--show-toplevel")
            .decode()
            .strip()
        )
    except GitFailedError as error:
        refused = ownership_error(error.text)
        if refused is not None:
            raise refused from error
        raise UserError(
            f"{directory} is in no git working tree.",
            "Run this in a checkout, or give --suite PATH inside one.",
        ) from error


def _commit(checkout: Path, side: str, revision: str) -> str:
    options = (
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{revision}^{{commit}}",
    )
    try:
        return run_git("-C", str(checkout), *options).decode().strip()
    except GitFailedError as error:
        advice = "Give a commit, branch or tag that `git log` knows; a shallow clone may need more of them."
        raise UserError(
            f"--{side} {revision!r} is no commit of {checkout}.", advice
        ) from error


def _manifest_path(checkout: Path, suite: Path | None) -> str:
    """Find the suite's path below the checkout: the given one, the one in this directory, or the only one."""
    if suite is not None or Path("suite.toml").is_file():
        here = Path("suite.toml") if suite is None else suite
        here = here / "suite.toml" if here.is_dir() else here
        return here.resolve().relative_to(checkout.resolve()).as_posix()
    listed = run_git(
        "-C", str(checkout), "ls-files", "-z", "--", "suite.toml", "**/suite.toml"
    )
    paths = [name for name in listed.decode("utf-8", "replace").split("\0") if name]
    if len(paths) == 1:
        return paths[0]
    if not paths:
        raise UserError(f"{checkout} has no suite.toml.", "Give its path with --suite.")
    raise UserError(
        "Which suite is meant?",
        f"Give --suite with one of: {', '.join(sorted(paths))}.",
    )


class ComparisonWorkspace:
    """A mirror, a worktree and a cache below the data directory, to build the commits of one checkout."""

    def __init__(self, comparison: Comparison, data_dir: Path) -> None:
        root = data_dir / "ab"
        name = f"checkout-{hashlib.sha256(str(comparison.checkout).encode()).hexdigest()[:12]}"
        self.wanted = comparison
        self._root = root
        self.repository = Repository(name, str(comparison.checkout), root)
        self.cache = ArtifactCache(
            root / "artifacts", AgentSettings().artifact_cache_bytes
        )

    def tree(self, side: SideName) -> Repository:
        """Return the repository with a worktree for one side, whose path is as long as the other's."""
        name = self.repository.name
        return Repository(name, str(self.wanted.checkout), self._root, f"{name}-{side}")

    def manifests(self) -> SideManifests:
        """Return what both sides declare. Raises SourceError, which names the side."""

        def read(commit: str) -> Manifest:
            try:
                return read_manifest(self.repository, commit, self.wanted.manifest_path)
            except FileMissingError as error:
                raise FileMissingError(
                    error.path,
                    commit,
                    str(self.wanted.checkout),
                    "Commit it, or correct --suite.",
                ) from error

        return read_sides(read, self.wanted.base, self.wanted.head)


def run(
    bench: ComparisonWorkspace,
    manifests: SideManifests,
    selection: Selection,
    out: Path,
    *,
    measures_identical: bool = False,
    executor: Executor,
    display: Display,
    stop: Stop,
) -> Outcome:
    """Build and measure both sides, and write the files above. A benchmark that is the same on both is not measured
    unless `measures_identical`. Raises SourceError, which names the side that cannot be built."""
    out.mkdir(parents=True, exist_ok=True)
    comparison = bench.wanted
    recorded = selection
    if selection.benchmarks == list(manifests.head.benchmarks):
        # None named is all of either side, so that the verdict names what head removed.
        recorded = msgspec.structs.replace(selection, benchmarks=[])
    record = RunRecord(manifests.head, comparison.head, recorded, out)
    record.branch = comparison.branch
    record.base, record.base_manifest = comparison.base, manifests.base
    record.commits = [
        commit._asdict()
        for commit in bench.repository.commits(comparison.base, comparison.head)
    ]

    def build(commit: str, benchmarks: Sequence[str]) -> Prepared:
        return prepare(
            bench.repository,
            commit,
            comparison.manifest_path,
            benchmarks=benchmarks,
            cache=bench.cache,
            log=display.log,
            stop=stop,
        )

    with ExitStack() as claims:
        by = shown_claimant(f"paceline ab of {manifests.head.suite.name}", display)
        if not claims.enter_context(executor.claim(stop, by=by)):
            return Outcome("cancelled", "Stopped while another run held the target.")
        display.phase("building both revisions")
        try:
            sides = prepare_sides(
                build, manifests, comparison.base, comparison.head, selection
            )
        except SourceError as error:
            record.write([], Outcome(error.cause, str(error)))
            raise
        if not measures_identical:
            sides, record.unaffected = leave_out_unaffected(sides)
        return measure_and_record(record, sides, executor, display, stop)
