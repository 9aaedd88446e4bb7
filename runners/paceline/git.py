"""Mirrors the allow-listed repositories and checks commits out into one stable worktree each.

Only this module calls git, without a shell. The user's repository is only read; commits reach the worktree
through the agent's mirror. The worktree keeps its path and its ignored files between commits, so that builds are
incremental and paths inside artifacts stay the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock
from paceline_contract.attempts import MAX_COMMITS, AgentCause

from paceline.errors import UserError

FIELD = "\x1f"
"""The unit separator between the fields of a commit; no name or subject holds it."""

SHA256_DIGITS = 64
FULL = (40, SHA256_DIGITS)
"""Hex digits of a full commit name (SHA-1, SHA-256); only those can be fetched by name."""

GIT_TIMEOUT_S = 900.0
"""Longest time for one git command: a first clone over a slow line."""


class SourceError(UserError):
    """A revision cannot be prepared; `cause` is reported to the server."""

    def __init__(self, cause: AgentCause, text: str, advice: str = "") -> None:
        super().__init__(text, advice)
        self.cause: AgentCause = cause


class FileMissingError(SourceError):
    """A commit does not have the file."""

    def __init__(
        self,
        path: str,
        commit: str,
        repository: str,
        advice: str = "Commit it, or correct the path in agent.toml.",
    ) -> None:
        super().__init__(
            "suite_invalid",
            f"{path} does not exist at commit {commit[:12]} of {repository}.",
            advice,
        )
        self.path = path


class Head(NamedTuple):
    commit: str
    branch: str | None


class Commit(NamedTuple):
    """One commit. `author`: name and address; `at`: when it was written, ISO 8601 with its zone; `left_out`:
    older commits of the range that are not listed."""

    commit: str
    author: str
    at: str
    subject: str
    left_out: int = 0


OWN_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    # Lets a partial clone (`--filter=blob:none`, which CI systems make) fetch what it lacks when we read it. Git's
    # server side refuses that by default, because a stranger's configuration could name any program; what is read
    # here is the user's own, or allow-listed.
    "GIT_NO_LAZY_FETCH": "0",
}
COMMIT_TEXT = 500
"""Most characters kept of an author or a subject."""


class Repository:
    """One allow-listed repository at `location` (a path or a URL); its files live below `data_dir`."""

    def __init__(
        self, name: str, location: str, data_dir: Path, tree: str | None = None
    ) -> None:
        """Take `tree` as the name of its worktree; two repositories that share a mirror have one each."""
        self.name = name
        self._location = location
        self.shown = re.sub(r"//[^/@]*@", "//…@", location)
        """The location without a user's secret, for messages."""
        self._mirror = data_dir / "repositories" / f"{name}.git"
        self._fetching = data_dir / "repositories" / f"{name}.lock"
        self._tree = data_dir / "trees" / (tree or name)
        self._lock = data_dir / "trees" / f"{tree or name}.lock"

    def head(self) -> Head:
        """Return the repository's current HEAD. Raises SourceError."""
        text = self._git("ls-remote", "--symref", "--", self._location, "HEAD")
        commit = re.search(r"^([0-9a-f]{40,64})\tHEAD$", text, re.MULTILINE)
        if commit is None:
            raise self._error("has no commit yet", "Commit something first.")
        branch = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", text, re.MULTILINE)
        return Head(commit[1], branch[1] if branch else None)

    def show(self, commit: str, path: str) -> bytes:
        """Return the bytes of `path` at `commit`. Raises SourceError."""
        full = self.resolve(commit)
        try:
            return self._run(
                "--git-dir", str(self._mirror), "cat-file", "blob", f"{full}:{path}"
            )
        except SourceError as error:
            raise FileMissingError(path, full, self.name) from error

    def resolve(self, commit: str) -> str:
        """Return the full name of `commit`, which is fetched if the mirror lacks it. Raises SourceError."""
        if not re.fullmatch(r"[0-9a-f]{7,64}", commit):
            raise SourceError(
                "checkout_failed",
                f"{commit!r} is no commit name.",
                "Give 7 to 64 hex digits.",
            )
        full = self._find_in_mirror(commit) or self._fetch_commit(commit)
        if full is None:
            raise SourceError(
                "checkout_failed",
                f"Commit {commit} is not in repository {self.name} ({self.shown}).",
                "Push it there (or commit it), or ask for another one.",
            )
        return full

    def merge_base(self, commit: str, branch: str) -> str:
        """Return the newest commit that `commit` and `branch`, as the repository has it now, have in common. Raises
        SourceError."""
        full = self.resolve(commit)
        with FileLock(self._fetching):
            self._fetch()
        tip = self._resolve_in_mirror(f"refs/heads/{branch}")
        if tip is None:
            raise SourceError(
                "checkout_failed",
                f"Branch {branch} is not in repository {self.name} ({self.shown}).",
                "Name the branch that the pull request goes to.",
            )
        try:
            return self._in_mirror("merge-base", full, tip).strip()
        except SourceError as error:
            raise SourceError(
                "checkout_failed",
                f"Commit {full[:12]} and branch {branch} of {self.name} have no commit in common.",
                "Rebase the pull request, or name its base; a shallow clone may lack the commit.",
            ) from error

    def commits(self, base: str | None, head: str) -> list[Commit]:
        """Return the commits after `base` up to `head`, oldest first.

        Those of `git rev-list --reverse --first-parent base..head`. Each contains all commits before it, so
        they can be bisected. Only the newest MAX_COMMITS are returned, with the number of others in the oldest.
        Without a base, or with nothing in between, `head` alone. Raises SourceError.
        """
        full = self.resolve(head)
        if base is None:
            return self._log("--max-count=1", full)
        between = f"{self.resolve(base)}..{full}"
        commits = self._log(f"--max-count={MAX_COMMITS}", between)
        if len(commits) == MAX_COMMITS:
            total = int(
                self._in_mirror("rev-list", "--first-parent", "--count", between, "--")
            )
            commits[0] = commits[0]._replace(left_out=total - MAX_COMMITS)
        return commits or self._log("--max-count=1", full)

    def _log(self, *what: str) -> list[Commit]:
        form = f"--format={FIELD.join(('%H', '%an <%ae>', '%aI', '%s'))}"
        options = (
            "log",
            "--reverse",
            "--first-parent",
            "--no-color",
            "--encoding=UTF-8",
            form,
        )
        rows = (
            line.split(FIELD, 3)
            for line in self._in_mirror(*options, *what, "--").split("\n")
            if line
        )
        return [
            Commit(commit, author[:COMMIT_TEXT], at, subject[:COMMIT_TEXT])
            for commit, author, at, subject in rows
        ]

    def tree_of(self, commit: str) -> str:
        """Return git's name of the tree of `commit`, which is equal for commits with the same files. Raises
        SourceError."""
        return self._in_mirror("rev-parse", f"{self.resolve(commit)}^{{tree}}").strip()

    @contextmanager
    def checkout(self, commit: str, *, fresh: bool = False) -> Iterator[Path]:
        """Yield the worktree at `commit`, exclusively. `fresh` removes what was built at another commit, ignored
        files too. Raises SourceError."""
        full = self.resolve(commit)
        self._tree.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock):
            if not (self._tree / ".git").exists():
                shutil.rmtree(self._tree, ignore_errors=True)
                self._in_mirror("worktree", "prune")
                self._in_mirror(
                    "worktree", "add", "--force", "--detach", str(self._tree), full
                )
            is_other = self._in_tree("rev-parse", "HEAD").strip() != full
            self._in_tree("checkout", "--quiet", "--force", "--detach", full)
            self._in_tree("clean", "-ffdxq" if fresh and is_other else "-ffdq")
            if (self._tree / ".gitmodules").exists():
                self._in_tree(
                    "submodule", "update", "--init", "--recursive", "--force", "--quiet"
                )
            yield self._tree

    def _find_in_mirror(self, commit: str) -> str | None:
        return self._resolve_in_mirror(commit) if self._mirror.exists() else None

    def _resolve_in_mirror(self, name: str) -> str | None:
        """Return the full name of the commit that `name` leads to in the mirror."""
        try:
            out = self._in_mirror(
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                f"{name}^{{commit}}",
            )
        except SourceError:
            return None
        return out.strip() or None

    def _fetch_commit(self, commit: str) -> str | None:
        """Fetch one commit at a time: lanes and heartbeats share the mirror, where two fetches would
        collide."""
        self._fetching.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._fetching):
            full = self._find_in_mirror(commit)
            if full is None:
                self._fetch()
                full = self._find_in_mirror(commit)
            if full is None and len(commit) in FULL:
                full = self._fetch_one(commit)
            return full

    def _fetch(self) -> None:
        """Update the mirror, including HEAD, which may be detached."""
        if not self._mirror.exists():
            self._git(
                "init",
                "--quiet",
                "--bare",
                f"--object-format={self._object_format()}",
                str(self._mirror),
            )
        refs = (
            "+HEAD:refs/paceline/head",
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
        )
        options = (
            "--quiet",
            "--prune",
            "--update-shallow",
            "--no-tags",
            "--no-write-fetch-head",
        )
        self._in_mirror("fetch", *options, "--", self._location, *refs)

    def _object_format(self) -> str:
        """Return the hash by which the repository names its objects, by the length of a name; sha1 if it has none yet."""
        names = re.findall(
            r"^([0-9a-f]+)\t",
            self._git("ls-remote", "--", self._location),
            re.MULTILINE,
        )
        return "sha256" if names and len(names[0]) == SHA256_DIGITS else "sha1"

    def _fetch_one(self, commit: str) -> str | None:
        """Fetch a commit that no branch or tag contains, such as a pull request's."""
        try:
            self._in_mirror(
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--",
                self._location,
                commit,
            )
        except SourceError:
            return None
        return self._find_in_mirror(commit)

    def _in_mirror(self, *arguments: str) -> str:
        return self._git("--git-dir", str(self._mirror), *arguments)

    def _in_tree(self, *arguments: str) -> str:
        return self._git("-C", str(self._tree), *arguments)

    def _git(self, *arguments: str) -> str:
        return self._run(*arguments).decode("utf-8", "replace")

    def _run(self, *arguments: str) -> bytes:
        try:
            return run_git(*arguments)
        except GitFailedError as error:
            raise self._explain(error.text) from error

    def _explain(self, text: str) -> SourceError:
        refused = ownership_error(text)
        if refused is not None:
            return SourceError("checkout_failed", refused.text, refused.advice)
        if "promisor remote" in text or "lazy fetching" in text:
            return self._error(
                "is a partial clone, and the files that it lacks cannot be fetched from where it was cloned",
                "Make it whole while that can be reached (git fetch --refetch --no-filter), or clone it without "
                "--filter.",
            )
        if (
            "not a git repository" in text
            or "does not appear to be a git repository" in text
        ):
            advice = "Paceline measures commits: run `git init` and commit there, or use `paceline run`."
            return self._error("is not a git repository", advice)
        if "No such file" in text or "does not exist" in text:
            return self._error("does not exist", "Correct its path in agent.toml.")
        output = text[-600:].replace(self._location, self.shown)
        return self._error(
            f"cannot be read: {output}", "Check the location and the access to it."
        )

    def _error(self, problem: str, advice: str) -> SourceError:
        text = f"Repository {self.name} ({self.shown}) {problem}."
        return SourceError("checkout_failed", text, advice)


class GitFailedError(Exception):
    """git failed; `text` is its error message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def run_git(*arguments: str) -> bytes:
    """Run one git command and return its standard output. Raises GitFailedError, and SourceError if git is
    not installed."""
    inherited = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_DIR", "GIT_WORK", "GIT_IND"))
    }
    environment = {**inherited, **OWN_ENVIRONMENT}
    try:
        completed = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise SourceError(
            "checkout_failed", "git is not installed.", "Install git on this host."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise GitFailedError(f"no answer within {GIT_TIMEOUT_S:.0f} s") from error
    if completed.returncode != 0:
        raise GitFailedError(completed.stderr.decode("utf-8", "replace").strip())
    return completed.stdout


def ownership_error(text: str) -> UserError | None:
    """Return the error if git states in `text` that it refuses a directory of another user, else None. The advice is
    git's own remedy."""
    refused = re.search(r"dubious ownership in repository at '(.+)'", text)
    if refused is None:
        return None
    remedy = re.search(r"git config --global --add safe\.directory .+", text)
    return UserError(
        f"{refused[1]} belongs to another user, and git refuses to read it.",
        f"Run as the user who measures: {remedy[0]}"
        if remedy
        else "Let that user own it.",
    )


def current_branch(directory: Path) -> str | None:
    """Return the branch that is checked out in `directory`; None without one."""
    try:
        name = run_git(
            "-C", str(directory), "symbolic-ref", "--quiet", "--short", "HEAD"
        )
    except (SourceError, GitFailedError):
        return None
    return name.decode("utf-8", "replace").strip() or None


UNVERSIONED = "unversioned"
DIRTY = "+dirty"


def working_revision(directory: Path) -> str:
    """Return the revision of the files in `directory`: a commit, with `+dirty` if files differ from it, or
    `unversioned`. Raises UserError where git refuses to tell, because the directory is another user's."""
    try:
        commit = (
            run_git("-C", str(directory), "rev-parse", "--verify", "HEAD")
            .decode()
            .strip()
        )
        changed = run_git("-C", str(directory), "status", "--porcelain")
    except SourceError:
        return UNVERSIONED
    except GitFailedError as error:
        refused = ownership_error(error.text)
        if refused is not None:
            raise refused from error
        return UNVERSIONED
    return commit + DIRTY if changed.strip() else commit


def working_revision_in_words(revision: str) -> str:
    """Describe a `working_revision` for people."""
    if revision == UNVERSIONED:
        return "files without a commit"
    commit = revision.removesuffix(DIRTY)[:12]
    return f"{commit} with uncommitted changes" if revision.endswith(DIRTY) else commit
