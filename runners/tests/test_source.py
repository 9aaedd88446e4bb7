"""Tests of building a suite of another repository, at a commit and in place."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paceline.artifacts import (
    ArtifactCache,
    EntriesInUse,
    copy_into,
    files_below,
    hash_files,
)
from paceline.errors import UserError
from paceline.git import (
    Repository,
    SourceError,
    working_revision,
    working_revision_in_words,
)
from paceline.source import Prepared, prepare
from paceline.stop import Stop, StopReason
from paceline.testing.suites import MANIFEST
from paceline_contract.testing.waiting import WITHIN_S

from .conftest import git

MANIFEST_PATH = "bench/suite.toml"


class Shop:
    """The directory of one agent."""

    def __init__(self, root: Path, location: Path, limit_bytes: int = 1 << 30) -> None:
        self.repository = Repository("theirs", str(location), root)
        self.cache = ArtifactCache(root / "artifacts", limit_bytes)
        self.log: list[str] = []

    def prepare(self, commit: str, stop: Stop | None = None) -> Prepared:
        return prepare(
            self.repository,
            commit,
            MANIFEST_PATH,
            benchmarks=[],
            cache=self.cache,
            log=self.log.extend,
            stop=stop or Stop(),
        )


@pytest.fixture
def shop(tmp_path: Path, suite_repository: Path) -> Shop:
    return Shop(tmp_path / "data", suite_repository)


def commit_manifest(root: Path, text: str) -> str:
    (root / MANIFEST_PATH).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Change")
    return git(root, "rev-parse", "HEAD")


def with_build(step: str) -> str:
    return MANIFEST.replace("build = []", f'build = [["python3", "-c", """{step}"""]]')


def test_the_head_of_a_repository_is_its_commit_and_branch(
    shop: Shop, suite_repository: Path
) -> None:
    head = shop.repository.head()
    assert head == (git(suite_repository, "rev-parse", "HEAD"), "main")
    git(suite_repository, "checkout", "--quiet", "--detach")
    assert shop.repository.head().branch is None


def test_a_commit_is_built_once_and_then_found_in_the_cache(shop: Shop) -> None:
    commit = shop.repository.head().commit
    first = shop.prepare(commit)
    assert (first.built.directories["sorts"] / "sorts.py").is_file()
    assert first.revision == commit
    assert first.built.facts["python3 --version"].startswith("Python 3")
    second = shop.prepare(commit[:10])
    assert second.built == first.built
    assert "found in the artifact cache" in shop.log[-1]


def test_the_artifact_hash_follows_content_and_not_the_commit(
    shop: Shop, suite_repository: Path
) -> None:
    first = shop.prepare(shop.repository.head().commit)
    (suite_repository / "README").write_text("words")
    git(suite_repository, "add", ".")
    git(suite_repository, "commit", "--quiet", "-m", "Words")
    second = shop.prepare(shop.repository.head().commit)
    assert second.revision != first.revision
    assert second.built.artifact_hash == first.built.artifact_hash
    (suite_repository / "bench" / "sorts.py").write_text("print()\n")
    git(suite_repository, "commit", "--quiet", "-a", "-m", "Code")
    assert (
        shop.prepare(shop.repository.head().commit).built.artifact_hash
        != first.built.artifact_hash
    )


def test_the_users_repository_and_its_uncommitted_work_are_untouched(
    shop: Shop, suite_repository: Path
) -> None:
    (suite_repository / "bench" / "sorts.py").write_text("work in progress\n")
    shop.prepare(shop.repository.head().commit)
    assert (suite_repository / "bench" / "sorts.py").read_text() == "work in progress\n"
    assert git(suite_repository, "worktree", "list").count("\n") == 0


def test_a_detached_commit_no_branch_holds_can_be_prepared(
    shop: Shop, suite_repository: Path
) -> None:
    git(suite_repository, "checkout", "--quiet", "--detach")
    commit = commit_manifest(suite_repository, MANIFEST + "\n# changed\n")
    assert shop.prepare(commit).revision == commit


BROKEN = r"""
import sys
for number in range(50): print('compiling', number)
print('main.c:1:25: ' + chr(27) + '[31merror:' + chr(27) + '[0m missing undeclared', file=sys.stderr)
print('    1 |' + chr(9) + 'return missing;', file=sys.stderr, flush=True)
for number in range(50): print('cleaning', number)
print('make: *** [all] Error 1', file=sys.stderr)
sys.exit(2)
"""


def test_a_failed_build_shows_its_first_error_and_not_its_last_lines(
    shop: Shop, suite_repository: Path
) -> None:
    commit = commit_manifest(suite_repository, with_build(BROKEN))
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert caught.value.advice.splitlines()[:2] == [
        "  > main.c:1:25: error: missing undeclared",
        "  |     1 | return missing;",
    ]
    assert "cleaning 49" not in str(caught.value)
    assert "\n" not in caught.value.text
    assert len(caught.value.text) < 300
    assert shop.log.count("cleaning 49") == 1, "the log holds all of it"


def test_a_build_killed_by_a_signal_says_so_in_words(
    shop: Shop, suite_repository: Path
) -> None:
    step = "import os; os.kill(os.getpid(), 11)"
    commit = commit_manifest(suite_repository, with_build(step))
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert caught.value.text.endswith(
        "was killed by SIGSEGV (it accessed memory that is not its own)."
    )
    assert "It printed nothing." in caught.value.advice


def test_a_failed_build_without_a_known_error_shows_its_last_lines(
    shop: Shop, suite_repository: Path
) -> None:
    commit = commit_manifest(
        suite_repository, with_build("import sys; print('no compiler'); sys.exit(7)")
    )
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert caught.value.cause == "build_failed"
    assert "status 7" in caught.value.text
    assert "no compiler" in caught.value.advice
    assert "no compiler" in shop.log


def test_build_output_of_an_earlier_commit_does_not_pass_for_this_one(
    shop: Shop, suite_repository: Path
) -> None:
    (suite_repository / ".gitignore").write_text("bench/built.bin\n")
    makes = with_build("open('built.bin','w').write('1')").replace(
        'artifacts = ["sorts.py"]', 'artifacts = ["sorts.py", "built.bin"]'
    )
    shop.prepare(commit_manifest(suite_repository, makes))
    forgets = makes.replace("open('built.bin','w').write('1')", "pass")
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit_manifest(suite_repository, forgets))
    assert "built.bin" in caught.value.text


def test_a_directory_of_artifacts_of_an_earlier_commit_is_emptied_but_for_what_git_has(
    shop: Shop, suite_repository: Path
) -> None:
    (suite_repository / ".gitignore").write_text("bench/lib/*.bin\n")
    (suite_repository / "bench/lib").mkdir()
    (suite_repository / "bench/lib/kept.py").write_text("KEPT = 1\n")
    build = "import pathlib; [pathlib.Path('lib', n).write_bytes(b'1') for n in ('a.bin', 'b.bin')]"
    makes = with_build(build).replace(
        'artifacts = ["sorts.py"]', 'artifacts = ["sorts.py", "lib"]'
    )

    def below_lib(manifest: str) -> list[str]:
        built = shop.prepare(commit_manifest(suite_repository, manifest)).built
        return sorted(
            path
            for path in files_below(built.directories["sorts"])
            if path.startswith("lib")
        )

    assert below_lib(makes) == ["lib/a.bin", "lib/b.bin", "lib/kept.py"]
    assert below_lib(makes.replace("'b.bin'", "'a.bin'")) == [
        "lib/a.bin",
        "lib/kept.py",
    ]


def test_a_build_stops_when_the_job_stops(shop: Shop, suite_repository: Path) -> None:
    commit = commit_manifest(
        suite_repository, with_build("import time; time.sleep(600)")
    )
    stop = Stop()
    stop.set(StopReason.CANCELLED)
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit, stop)
    assert caught.value.cause == "cancelled"


def test_a_missing_tool_is_named(shop: Shop, suite_repository: Path) -> None:
    commit = commit_manifest(
        suite_repository, MANIFEST.replace("build = []", 'build = [["no-such-tool"]]')
    )
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert "no-such-tool" in caught.value.text


def test_a_build_that_fails_where_a_part_of_its_toolchain_is_missing_names_that_first(
    shop: Shop, suite_repository: Path
) -> None:
    fails = with_build("import sys; print('install it with x'); sys.exit(1)")
    tools = '[["no-such-compiler", "--version"], ["git", "--version"]]'
    manifest = fails.replace('[["python3", "--version"]]', tools)
    commit = commit_manifest(suite_repository, manifest)
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    first, _, then = caught.value.text.partition(". ")
    assert first.startswith(
        "This host lacks what the suite builds with: `no-such-compiler --version` could not"
    )
    assert "git" not in first
    assert then.startswith("Build step `")
    assert "install it with x" in caught.value.advice


def test_a_version_command_that_answers_with_an_error_is_not_called_missing(
    shop: Shop, suite_repository: Path
) -> None:
    """`cargo --version` of rustup does this where no toolchain was chosen, although it is installed."""
    fails = with_build("import sys; sys.exit(1)")
    asked = "import sys; print('no toolchain is chosen'); print('more'); sys.exit(3)"
    tools = f'[["no-such-compiler"], ["python3", "-c", "{asked}"]]'
    manifest = fails.replace('[["python3", "--version"]]', tools)
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit_manifest(suite_repository, manifest))
    lacks, ails, then = caught.value.text.split(". ", 2)
    assert lacks.startswith(
        "This host lacks what the suite builds with: `no-such-compiler` could not"
    )
    assert ails == (
        "A tool that the suite builds with exits with an error: "
        f"`python3 -c {asked}` exited with status 3: no toolchain is chosen"
    )
    assert then.startswith("Build step `")


@pytest.mark.parametrize(
    "commit", ["0" * 40, "abcdef1", "--help", "main", "HEAD; rm -rf /"]
)
def test_an_unknown_commit_is_refused_with_advice(shop: Shop, commit: str) -> None:
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert caught.value.cause == "checkout_failed"
    assert caught.value.advice


def test_a_directory_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for where in (tmp_path / "plain", tmp_path / "missing"):
        with pytest.raises(SourceError) as caught:
            Shop(tmp_path / "data", where).repository.head()
        assert (
            "git repository" in caught.value.text
            or "does not exist" in caught.value.text
        )
        assert caught.value.advice


def test_an_invalid_manifest_at_a_commit_is_the_suites_failure(
    shop: Shop, suite_repository: Path
) -> None:
    commit = commit_manifest(
        suite_repository, MANIFEST.replace("schema = 1", "schema = 2")
    )
    with pytest.raises(SourceError) as caught:
        shop.prepare(commit)
    assert caught.value.cause == "suite_invalid"
    assert f"{MANIFEST_PATH}:1:" in caught.value.text


def test_the_working_revision_shows_uncommitted_changes(
    suite_repository: Path, tmp_path: Path
) -> None:
    commit = git(suite_repository, "rev-parse", "HEAD")
    assert working_revision(suite_repository / "bench") == commit
    (suite_repository / "bench" / "sorts.py").write_text("x")
    assert working_revision(suite_repository / "bench") == commit + "+dirty"
    assert (
        working_revision_in_words(commit + "+dirty")
        == f"{commit[:12]} with uncommitted changes"
    )
    (tmp_path / "plain").mkdir()
    assert working_revision(tmp_path / "plain") == "unversioned"
    assert working_revision_in_words("unversioned") == "files without a commit"


def test_the_cache_drops_the_least_recently_used(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"x" * 1000)
    cache = ArtifactCache(tmp_path / "cache", 2500)
    entries = {key: cache.put(key, [source]) for key in ("a", "b")}

    for age, key in enumerate(("b", "a")):
        os.utime(entries[key], (1000 + age, 1000 + age))
    later = ArtifactCache(tmp_path / "cache", 2500)
    later.put("c", [source])
    assert [key for key in ("a", "b", "c") if later.get(key)] == ["a", "c"]


def test_artifacts_of_a_job_stay_cached_while_it_builds_more(tmp_path: Path) -> None:
    """The base of an A/B job must not push out its head."""
    source = tmp_path / "file"
    source.write_bytes(b"x" * 1000)
    cache = ArtifactCache(tmp_path / "cache", 500)
    head = cache.put("head", [source])
    os.utime(head, (1000, 1000))
    base = cache.put("base", [source])
    assert head.is_dir()
    assert base.is_dir()


def test_artifacts_that_another_lane_uses_stay_cached(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"x" * 1000)
    shared = EntriesInUse()
    host = ArtifactCache(tmp_path / "cache", 500, shared)
    with ArtifactCache(tmp_path / "cache", 500, shared) as device:
        running = device.put("device", [source])
        os.utime(running, (1000, 1000))
        host.put("host", [source])
        assert running.is_dir()
        (running / "mark").touch()
        assert host.put("device", [source]) == running
        assert (running / "mark").exists()
        host.close()
    os.utime(running, (1000, 1000))
    ArtifactCache(tmp_path / "cache", 500, shared).put("next", [source])
    assert not running.is_dir()


def test_what_runs_from_the_cache_may_remove_its_files_while_others_are_evicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, stat = tmp_path / "file", Path.stat
    source.write_bytes(b"x" * 1000)
    cache = ArtifactCache(tmp_path / "cache", 500)
    running = cache.put("running", [source])
    (running / "gone").touch()

    def look(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        """Remove the file right after the first look at it."""
        status = stat(path, follow_symlinks=follow_symlinks)
        if path.name == "gone":
            path.unlink()
        return status

    monkeypatch.setattr(Path, "stat", look)
    cache.put("other", [source])
    assert not (running / "gone").exists()


def test_a_lane_that_begins_leaves_what_another_is_building(tmp_path: Path) -> None:
    shared = EntriesInUse()

    def sources() -> Iterator[Path]:
        yield tmp_path / "file"
        ArtifactCache(tmp_path / "cache", 500, shared)

    (tmp_path / "file").touch()
    entry = ArtifactCache(tmp_path / "cache", 500, shared).put("a", sources())
    assert (entry / "file").exists()


def test_a_partial_cache_entry_is_not_used(tmp_path: Path) -> None:
    cache = ArtifactCache(tmp_path / "cache", 10_000)
    with pytest.raises(OSError, match="missing"):
        cache.put("a", [tmp_path / "missing"])
    assert cache.get("a") is None
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_artifact_hash_knows_names_and_contents(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("same")
    assert hash_files(files_below(tmp_path / "one")) == hash_files(
        files_below(tmp_path / "two")
    )
    (tmp_path / "two" / "x").rename(tmp_path / "two" / "y")
    assert hash_files(files_below(tmp_path / "one")) != hash_files(
        files_below(tmp_path / "two")
    )
    copy_into(tmp_path / "three", [tmp_path / "one", tmp_path / "two" / "y"])
    assert set(files_below(tmp_path / "three")) == {"one/x", "y"}
    shutil.rmtree(tmp_path / "three")


def test_a_secret_in_a_url_is_not_repeated(tmp_path: Path) -> None:
    repository = Repository(
        "theirs", "https://user:hunter2@127.0.0.1:9/x.git", tmp_path
    )
    with pytest.raises(SourceError) as caught:
        repository.head()
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_source_errors_are_for_people() -> None:
    assert isinstance(SourceError("build_failed", "x"), UserError)


def test_lanes_that_want_a_new_commit_at_once_all_get_it(
    suite_repository: Path, tmp_path: Path
) -> None:
    repository = Repository("theirs", str(suite_repository), tmp_path)
    for _ in range(3):
        git(suite_repository, "commit", "--quiet", "--allow-empty", "-m", "Next")
        head = git(suite_repository, "rev-parse", "HEAD")
        together = threading.Barrier(6)

        def resolve(wanted: str = head, together: threading.Barrier = together) -> str:
            together.wait(WITHIN_S)
            return repository.resolve(wanted)

        with ThreadPoolExecutor(6) as lanes:
            assert {
                item.result() for item in [lanes.submit(resolve) for _ in range(6)]
            } == {head}
