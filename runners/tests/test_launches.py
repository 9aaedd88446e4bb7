"""Tests of two revisions in one job: built, alternated fairly, and delivered with their sides."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from paceline.agent import Agent
from paceline.artifacts import Built
from paceline.git import Repository, SourceError
from paceline.launches import Side, plan_launches, prepare_sides, runs_head_first
from paceline.manifest import parse
from paceline.selection import Selection, check_selection
from paceline.source import Prepared
from paceline.testing.suites import MANIFEST

from .conftest import World, assert_complete, finish_of, git, hang_from_now_on


def commit(
    root: Path, message: str, path: str = "bench/sorts.py", old: str = "", new: str = ""
) -> str:
    """Changes one file and commits the change; returns the commit."""
    file = root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new) if old else text + new)
    git(root, "commit", "--quiet", "-a", "-m", message)
    return git(root, "rev-parse", "HEAD")


def prepared_sides(manifest: str = MANIFEST, artifact: str = "a" * 64) -> Prepared:
    read = parse(manifest.encode(), "suite.toml")
    builds = {
        workload.name: workload.host
        for workload in read.workloads
        if workload.host is not None
    }
    return Prepared(
        read,
        "c" * 40,
        Built({"sorts": Path("built") / artifact[:4]}, artifact, {}),
        builds,
    )


def both_sides(**changes: object) -> list[Side]:
    wanted = msgspec.structs.replace(Selection([]), **changes)
    selection = check_selection(parse(MANIFEST.encode(), "suite.toml"), wanted)
    return [
        Side(prepared_sides(artifact="b" * 64), selection, "base"),
        Side(prepared_sides(artifact="h" * 64), selection, "head"),
    ]


# --- order ---


@pytest.mark.parametrize("seed", range(8))
def test_launches_come_in_pairs_with_the_same_arguments_and_neither_side_first_more_often(
    seed: int,
) -> None:
    specs = plan_launches(both_sides(launches=6, seed=seed))
    assert [spec.launch for spec in specs] == [
        launch for launch in range(6) for _ in range(2)
    ]
    for first, second in zip(specs[::2], specs[1::2], strict=True):
        assert {first.side, second.side} == {"base", "head"}
        assert first.argv[2:] == second.argv[2:], (
            "the same seed and rounds, another directory"
        )
        assert first.argv[1] != second.argv[1]
    leads = [spec.side for spec in specs[::2]]
    assert leads.count("head") == leads.count("base") == 3


def test_the_first_side_is_drawn_from_the_seed_across_batches() -> None:
    drawn = {
        tuple(runs_head_first(seed, launch, "w") for launch in range(8))
        for seed in range(40)
    }
    assert len(drawn) > 8
    whole = [spec.side for spec in plan_launches(both_sides(launches=10, seed=3))]
    batches = [both_sides(launches=5, first_launch=first, seed=3) for first in (0, 5)]
    assert [spec.side for batch in batches for spec in plan_launches(batch)] == whole


def test_a_job_of_one_revision_has_no_sides() -> None:
    specs = plan_launches([Side(prepared_sides(), both_sides()[0].selection)])
    assert [spec.side for spec in specs] == [None] * 5


# --- what both can run ---


def test_only_what_both_revisions_declare_is_run() -> None:
    more = MANIFEST.replace(
        "[knobs.slow",
        """
[benchmarks.search]
title = "Searching"
workload = "sorts"
arms = ["merge"]
reference = "merge"
[benchmarks.search.params.key]
kind = "int"
values = [1]
[benchmarks.search.metrics.time]
unit = "ns"
direction = "lower"

[knobs.slow""",
    )
    built = {"old": prepared_sides(), "new": prepared_sides(more)}
    base, head = prepare_sides(
        built.__getitem__, "old", "new", Selection([], params={"key": [1], "n": [100]})
    )
    assert (base.name, head.name) == ("base", "head")
    assert base.selection.benchmarks == head.selection.benchmarks == ["sort"]
    assert base.selection.params == head.selection.params == {"n": [100]}
    base, head = prepare_sides(
        built.__getitem__, "old", "new", Selection([]), whole_head=True
    )
    assert base.selection.benchmarks == ["sort"]
    assert head.selection.benchmarks == ["sort", "search"], "its gates are judged, too"
    with pytest.raises(SourceError) as caught:
        prepare_sides(built.__getitem__, "old", "new", Selection(["search"]))
    assert "none of these benchmarks in common: search" in caught.value.text


def test_the_refusal_of_a_value_names_the_side_that_does_not_permit_it() -> None:
    built = {
        "old": prepared_sides(MANIFEST.replace("maximum = 400", "maximum = 50")),
        "new": prepared_sides(),
    }
    with pytest.raises(SourceError) as caught:
        prepare_sides(
            built.__getitem__, "old", "new", Selection([], knobs={"slow_percent": 100})
        )
    assert caught.value.text.startswith("base: Knob slow_percent:")


# --- commits ---


def test_the_commits_between_two_revisions_are_named_oldest_first(
    suite_repository: Path, tmp_path: Path
) -> None:
    first = git(suite_repository, "rev-parse", "HEAD")
    second = commit(suite_repository, "Größer", new="# a\n")
    third = commit(suite_repository, "Third", new="# b\n")
    repository = Repository("theirs", str(suite_repository), tmp_path / "data")
    result = repository.commits(first, third)
    assert [(item.commit, item.subject) for item in result] == [
        (second, "Größer"),
        (third, "Third"),
    ]
    assert result[0].author == "t <t@example.org>"
    assert result[0].at.startswith("20")
    assert [item.commit for item in repository.commits(None, third)] == [third]
    assert [item.commit for item in repository.commits(third, third)] == [third]
    assert [item.commit for item in repository.commits(third, first)] == [first], (
        "nothing lies after it"
    )


def test_a_merge_stands_for_the_commits_it_brings_so_that_each_holds_all_before_it(
    suite_repository: Path, tmp_path: Path
) -> None:
    base, main = (
        git(suite_repository, "rev-parse", "HEAD"),
        git(suite_repository, "branch", "--show-current"),
    )
    git(suite_repository, "checkout", "-q", "-b", "side")
    aside = commit(suite_repository, "Aside", path="bench/suite.toml", new="# a\n")
    git(suite_repository, "checkout", "-q", main)
    straight = commit(suite_repository, "Straight", new="# s\n")
    git(suite_repository, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    merged = git(suite_repository, "rev-parse", "HEAD")
    last = commit(suite_repository, "Last", new="# l\n")
    repository = Repository("theirs", str(suite_repository), tmp_path / "data")
    named = [item.commit for item in repository.commits(base, last)]
    assert named == [straight, merged, last]
    assert aside not in named
    for older, newer in pairwise(named):
        git(suite_repository, "merge-base", "--is-ancestor", older, newer)


def test_a_range_that_is_too_long_counts_the_commits_it_leaves_out(
    suite_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.git.MAX_COMMITS", 2)
    base = git(suite_repository, "rev-parse", "HEAD")
    commits = [
        commit(suite_repository, f"Change {number}", new=f"# {number}\n")
        for number in range(5)
    ]
    repository = Repository("theirs", str(suite_repository), tmp_path / "data")
    result = repository.commits(base, commits[-1])
    assert [(item.commit, item.left_out) for item in result] == [
        (commits[3], 3),
        (commits[4], 0),
    ]
    assert [item.left_out for item in repository.commits(commits[2], commits[-1])] == [
        0,
        0,
    ]


def test_a_commit_on_no_branch_is_found_by_its_name(
    suite_repository: Path, tmp_path: Path
) -> None:
    git(suite_repository, "checkout", "--quiet", "-b", "gone")
    lost = commit(suite_repository, "On no branch", new="# x\n")
    git(suite_repository, "checkout", "--quiet", "main")
    git(suite_repository, "update-ref", "refs/pull/1/head", lost)
    git(suite_repository, "branch", "--quiet", "-D", "gone")
    repository = Repository("theirs", str(suite_repository), tmp_path / "data")
    assert repository.resolve(lost) == lost


def test_a_merge_base_is_that_with_the_branch_as_it_is_now(
    suite_repository: Path, tmp_path: Path
) -> None:
    forked = git(suite_repository, "rev-parse", "HEAD")
    git(suite_repository, "checkout", "-q", "-b", "feature")
    head = commit(suite_repository, "Feature", new="# f\n")
    repository = Repository("theirs", str(suite_repository), tmp_path / "data")
    git(suite_repository, "checkout", "-q", "main")
    moved = commit(
        suite_repository, "Main goes on", path="bench/suite.toml", new="# m\n"
    )
    assert repository.merge_base(head, "main") == forked
    git(suite_repository, "checkout", "-q", "feature")
    git(suite_repository, "merge", "-q", "--no-edit", "main")
    merged = git(suite_repository, "rev-parse", "HEAD")
    assert repository.merge_base(merged, "main") == moved, "fetched again"
    git(suite_repository, "checkout", "-q", "--orphan", "stranger")
    stranger = commit(suite_repository, "Nothing in common", new="# s\n")
    for commit_name, branch, message in (
        (head, "gone", "Branch gone is not in repository theirs"),
        (stranger, "main", "have no commit in common"),
    ):
        with pytest.raises(SourceError, match=message):
            repository.merge_base(commit_name, branch)


# --- the agent ---


def test_an_agent_finds_the_merge_base_announces_it_first_and_measures_it(
    world: World, running: Agent
) -> None:
    forked = git(world.repository, "rev-parse", "HEAD")
    git(world.repository, "checkout", "-q", "-b", "feature")
    head = commit(world.repository, "Feature", new="# f\n")
    job = world.add_job(commit=head, base_branch="main", judges_head=True)
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    announced = next(state for state in job.states if "base_commit" in state)
    assert (announced["state"], announced["base_commit"]) == ("preparing", forked)
    assert {item["side"] for item in job.of_kind("samples")} == {"base", "head"}
    assert running is not None


def test_an_agent_that_finds_another_merge_base_than_its_run_has_measures_nothing(
    world: World, running: Agent
) -> None:
    world.server.other_base = "Another agent of this run found the merge base 1234."
    job = world.add_job(base_branch="main", judges_head=True)
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "checkout_failed")
    assert "found the merge base 1234" in finish["detail"]
    assert job.of_kind("samples") == []
    assert running is not None


def test_an_agent_measures_both_revisions_and_says_which_is_which(
    world: World, running: Agent
) -> None:
    old = git(world.repository, "rev-parse", "HEAD")
    new = commit(world.repository, "Two", new="# changed\n")
    job = world.add_job(commit=new, base_commit=old)
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    assert_complete(job, finish)
    sides = {item["side"] for item in [*job.of_kind("samples"), *job.of_kind("event")]}
    assert sides == {"base", "head"}
    for side in sides:
        own = [item for item in job.of_kind("samples") if item["side"] == side]
        assert sum(len(item["values"]) for item in own) == 2 * 2 * (5 + 3)
        seeds = [
            item["event"]["seed"]
            for item in job.of_kind("event")
            if item["side"] == side and item["event"]["type"] == "start"
        ]
        assert seeds == [7, 8]
    measuring = next(state for state in job.states if state["state"] == "measuring")
    assert measuring["artifact_hash"] != measuring["base_artifact_hash"]
    assert [item["subject"] for item in measuring["commits"]] == ["Two"]
    assert running is not None


def test_an_a_a_job_runs_the_same_artifact_on_both_sides(
    world: World, running: Agent
) -> None:
    head = git(world.repository, "rev-parse", "HEAD")
    job = world.add_job(base_commit=head)
    assert finish_of(world, job)["outcome"] == "done"
    measuring = next(state for state in job.states if state["state"] == "measuring")
    assert measuring["artifact_hash"] == measuring["base_artifact_hash"]
    assert running is not None


def test_a_job_of_one_revision_names_its_commit_and_no_sides(
    world: World, running: Agent
) -> None:
    job = world.add_job()
    finish_of(world, job)
    assert not any(
        "side" in item for item in [*job.of_kind("samples"), *job.of_kind("event")]
    )
    measuring = next(state for state in job.states if state["state"] == "measuring")
    assert [item["subject"] for item in measuring["commits"]] == ["Measure sorting"]
    assert "base_artifact_hash" not in measuring
    assert running is not None


def test_a_build_that_fails_names_the_side_and_its_commit(
    world: World, running: Agent
) -> None:
    broken = commit(
        world.repository,
        "Break",
        "bench/suite.toml",
        "build = []",
        'build = [["false"]]',
    )
    mended = commit(
        world.repository,
        "Mend",
        "bench/suite.toml",
        'build = [["false"]]',
        "build = []",
    )
    job = world.add_job(commit=mended, base_commit=broken)
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "build_failed")
    assert finish["detail"].startswith(
        f"base ({broken[:12]}): Build step `false` exited with status 1"
    )
    assert running is not None


def test_a_launch_that_fails_names_its_side(world: World, running: Agent) -> None:
    old = git(world.repository, "rev-parse", "HEAD")
    new = commit(world.repository, "Crash", old='say("done")', new="sys.exit(3)")
    job = world.add_job(commit=new, base_commit=old)
    finish = finish_of(world, job)
    assert finish["outcome"] == "failed"
    assert finish["detail"].startswith("head: ")
    assert running is not None


def test_an_arm_that_only_the_base_has_is_not_delivered(
    world: World, running: Agent
) -> None:
    """The server knows the head's manifest and refuses what that does not declare."""
    text = (world.repository / "bench/sorts.py").read_text()
    more = text.replace(
        'ARMS = {"merge": merge,', 'ARMS = {"gone": merge, "merge": merge,'
    )
    (world.repository / "bench/sorts.py").write_text(more)
    manifest = (world.repository / "bench/suite.toml").read_text()
    (world.repository / "bench/suite.toml").write_text(
        manifest.replace(
            'arms = ["merge", "builtin"]', 'arms = ["gone", "merge", "builtin"]'
        )
    )
    git(world.repository, "commit", "--quiet", "-a", "-m", "Three arms")
    old = git(world.repository, "rev-parse", "HEAD")
    (world.repository / "bench/sorts.py").write_text(text)
    (world.repository / "bench/suite.toml").write_text(manifest)
    git(world.repository, "commit", "--quiet", "-a", "-m", "Two arms")
    job = world.add_job(
        commit=git(world.repository, "rev-parse", "HEAD"), base_commit=old
    )
    assert finish_of(world, job)["outcome"] == "done"
    assert {item["arm"] for item in job.of_kind("samples")} == {"merge", "builtin"}
    announced = [
        item["event"]
        for item in job.of_kind("event")
        if item["event"]["type"] == "case"
    ]
    assert {event["arm"] for event in announced} == {"merge", "builtin"}
    assert running is not None


def test_a_cancelled_ab_job_stops_whichever_side_runs(
    world: World, running: Agent
) -> None:
    world.server.lease_s = 0.6
    old = git(world.repository, "rev-parse", "HEAD")
    hang_from_now_on(world)
    job = world.add_job(
        commit=git(world.repository, "rev-parse", "HEAD"), base_commit=old
    )
    world.server.wait_for(
        lambda: any(item["side"] == "head" for item in job.of_kind("samples"))
    )
    job.cancel = True
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("cancelled", "cancelled")
    assert json.dumps(finish)
    assert running is not None
