"""Writes the agent.toml of the agent that `up` starts: this clone's suites, other repositories, simulated devices.

The file is rewritten at every start, until a person removes its first line. Repositories that were named with
`--repository` stay in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from paceline_server.kernel.settings import SettingsError

REPOSITORY = "paceline"
"""The name of this clone in agent.toml."""
GENERATED_MARK = "# Written by `paceline-server up` at every start; remove this line to keep your own changes.\n"
GIT_ANSWERS_WITHIN_S = 20.0
MANIFEST = "suite.toml"
SELF_TEST_OF = "native/hashing"
SELF_TEST = f"{SELF_TEST_OF}/build/{{abi}}/paceline-hashing-engines"
"""The program that the health check runs on devices if it was built (native/hashing/README.md)."""
NAME_CHARACTERS = 64
"""At most this many characters of a repository's name in agent.toml."""


class OwnRepository(msgspec.Struct, frozen=True):
    """A repository that was named with `--repository`. `manifests`: paths in it, at least one."""

    path: str
    manifests: list[str]


def find_clone() -> Path | None:
    """Return the git repository this code runs from, if it has suites."""
    root = find_sources()
    return root if root is not None and (root / ".git").exists() else None


def find_sources() -> Path | None:
    """Return the directory with suites that this code is in; None if it is installed elsewhere."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "native").is_dir() else None


def describe_unmeasured(root: Path) -> str | None:
    """Return a sentence about files in `root` that runs do not measure, because they are not committed; None if there
    are none."""
    if not (root / ".git").exists():
        return (
            f"{root} is no git repository, and runs measure commits, so its suites are not announced. "
            "Clone the repository instead, or commit these files: "
            "git init && git add --all && git commit -m Start. "
            "Without a commit, `make bench SUITE=hashing` measures the files as they are."
        )
    try:
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except SettingsError:
        return None
    if not changed.strip():
        return None
    return (
        "This clone has uncommitted changes, which runs do not measure: they measure commits. "
        "`make bench` measures the files as they are."
    )


def find_repository(text: str) -> OwnRepository:
    """Find the repository and the manifests that `PATH[:MANIFEST]` names; without a MANIFEST, every committed
    suite.toml. Raises SettingsError."""
    place, manifest = Path(text).expanduser(), ""
    if not place.is_dir() and ":" in text:
        before, manifest = text.rsplit(":", 1)
        place = Path(before).expanduser()
    if not place.is_dir():
        raise SettingsError(
            f"--repository {text}: there is no directory {place.absolute()}"
        )
    if not _git(place, "rev-parse", "--is-inside-work-tree").startswith("true"):
        raise SettingsError(
            f"--repository {text}: {place.absolute()} has no files of its own (a bare repository or .git): "
            "name the directory with the files"
        )
    root = Path(_git(place, "rev-parse", "--show-toplevel").rstrip("\n"))
    try:
        committed = _git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    except SettingsError as error:
        raise SettingsError(
            f"--repository {text}: {root} has no commit yet, and runs measure commits: commit its files"
        ) from error
    if manifest:
        manifests = [PurePosixPath(manifest).as_posix()]
    else:
        manifests = [name for name in committed if PurePosixPath(name).name == MANIFEST]
    missing = [name for name in manifests if name not in committed]
    if missing or not manifests:
        raise SettingsError(
            f"--repository {text}: {root} has no committed {missing[0] if missing else MANIFEST}; "
            "commit it, or name another one: --repository PATH:MANIFEST "
            "(docs/bring-your-own-suite.md says how to write one)"
        )
    return OwnRepository(str(root), sorted(manifests))


def is_generated(path: Path) -> bool:
    """Return whether agent.toml is missing or was written by this module, so that no person's changes are lost."""
    return not path.exists() or path.read_text("utf-8").startswith(GENERATED_MARK)


def write_config(
    path: Path,
    root: Path | None,
    simulated: Sequence[str] = (),
    repositories: Sequence[OwnRepository] = (),
) -> dict[str, OwnRepository] | None:
    """Write agent.toml: this clone's suites, `repositories` and those named at earlier starts, and the addresses of
    simulated devices. Returns the repositories besides this clone, by name; None, without a change, if the file is a
    person's."""
    if not is_generated(path):
        return None
    own = _merge(_read_own(path), repositories)
    text = GENERATED_MARK
    if root is not None:
        manifests = sorted(
            manifest.relative_to(root).as_posix()
            for manifest in root.glob(f"native/*/{MANIFEST}")
        )
        if manifests:
            text += _section(REPOSITORY, OwnRepository(str(root), manifests))
    text += "".join(_section(name, repository) for name, repository in own.items())
    devices = [f"simulated = {_toml(list(simulated))}"] if simulated else []
    if root is not None and (root / SELF_TEST_OF).is_dir():
        devices.append(f"self_test = {_toml(str(root / SELF_TEST))}")
    if devices:
        text += "\n".join(["[devices]", *devices, ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return own


def render_sections(repositories: Sequence[OwnRepository]) -> str:
    """Return the lines of agent.toml that name `repositories`, for a person to add."""
    return "".join(
        _section(name, repository)
        for name, repository in _merge({}, repositories).items()
    )


def _read_own(path: Path) -> dict[str, OwnRepository]:
    """Return the repositories besides this clone that an earlier start wrote, by name; none if the file cannot be
    read."""
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        listed = msgspec.convert(raw.get("repositories", {}), dict[str, OwnRepository])
    except (OSError, ValueError, msgspec.ValidationError):
        return {}
    return {name: own for name, own in listed.items() if name != REPOSITORY}


def _merge(
    known: dict[str, OwnRepository], added: Sequence[OwnRepository]
) -> dict[str, OwnRepository]:
    """Return the known repositories with `added`. Manifests of a path that was named several times are put together,
    and replace those of earlier starts."""
    manifests: dict[str, list[str]] = {}
    for repository in added:
        manifests.setdefault(repository.path, []).extend(repository.manifests)
    merged = dict(known)
    names = {repository.path: name for name, repository in known.items()}
    for path, listed in manifests.items():
        name = names.get(path) or _new_name(path, merged)
        merged[name] = OwnRepository(path, sorted(set(listed)))
    return merged


def _new_name(path: str, taken: dict[str, OwnRepository]) -> str:
    """Return the directory's name in characters that agent.toml accepts, with a number if the name is taken."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(path).name).lstrip("_.-")
    plain = plain[: NAME_CHARACTERS - 4] or "own"
    name, number = plain, 2
    while name == REPOSITORY or name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def _section(name: str, repository: OwnRepository) -> str:
    return (
        f"[repositories.{_toml(name)}]\n"
        f"path = {_toml(repository.path)}\n"
        f"manifests = {_toml(repository.manifests)}\n"
    )


def _toml(value: str | list[str]) -> str:
    """Return a value in TOML, whose strings and lists are those of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _git(place: Path, *arguments: str) -> str:
    """Run git at `place` and return what it prints. Raises SettingsError with git's reason."""
    try:
        done = subprocess.run(
            ["git", "-C", str(place), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SettingsError(f"git does not answer at {place}: {error}") from error
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise SettingsError(f"git does not read {place}: {reason}")
    return done.stdout.decode("utf-8", "surrogateescape")
