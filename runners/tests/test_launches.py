"""Tests of two revisions in one job: built, alternated fairly, and delivered with their sides."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from paceline import api, judging, local
from paceline import job as job_module
from paceline.agent import Agent
from paceline.artifacts import Built
from paceline.display import PlainDisplay
from paceline.executors.base import HostLayout, LaunchSpec, Sink
from paceline.executors.host import HostExecutor
from paceline.git import Repository, SourceError
from paceline.launches import (
    Side,
    plan_launches,
    prepare_sides,
    read_sides,
    run_job,
    runs_head_first,
)
from paceline.layout import draw_layout_bytes
from paceline.manifest import load, parse
from paceline.outcome import Outcome
from paceline.selection import Selection, check_selection
from paceline.source import Prepared
from paceline.stop import Stop, StopReason
from paceline.stream import ItemSink
from paceline.testing.suites import MANIFEST, WORKLOAD
from paceline_contract.items import SideName
from paceline_contract.testing.waiting import WITHIN_S
from rich.console import Console

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
        Built({name: Path("built") / artifact[:4] for name in builds}, artifact, {}),
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


def test_each_launch_and_side_has_a_layout_of_its_own_which_a_rerun_has_too() -> None:
    """It follows from the seed that the stream states. Nothing else of a launch depends on it."""
    specs = plan_launches(both_sides(launches=20, seed=3))
    sizes = [spec.layout_bytes for spec in specs]
    assert all(size % 16 == 0 and 0 <= size < 4096 for size in sizes)
    assert len({*sizes}) > 30
    assert plan_launches(both_sides(launches=20, seed=3)) == specs
    for spec in specs:
        seed = int(spec.argv[spec.argv.index("--seed") + 1])
        drawn = draw_layout_bytes(seed, spec.launch, spec.workload, spec.side)
        assert spec.layout_bytes == drawn
        assert "PACELINE_LAYOUT" not in spec.env
    later = plan_launches(both_sides(launches=1, first_launch=19, seed=3))
    assert later == specs[-2:], "whichever batch it is in"
    other = plan_launches(both_sides(launches=20, seed=4))
    assert [spec.layout_bytes for spec in other] != sizes


def test_a_job_of_one_revision_has_no_sides() -> None:
    specs = plan_launches([Side(prepared_sides(), both_sides()[0].selection)])
    assert [spec.side for spec in specs] == [None] * 5


# --- what both can run ---


SEARCH = """
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
"""
MORE = MANIFEST.replace("[knobs.slow", f"{SEARCH}\n[knobs.slow")
RENAMED = MANIFEST.replace("benchmarks.sort", "benchmarks.order").replace(
    '"sort"', '"order"'
)
ALIASED = RENAMED.replace(
    'title = "Sorting a list"', 'title = "Sorting a list"\naliases = ["sort"]'
)


def select_sides(old: str, new: str, wanted: Selection) -> tuple[Selection, Selection]:
    """What base and head run of `wanted`, and that each side is built for just that."""
    built = {"old": prepared_sides(old), "new": prepared_sides(new)}
    asked: dict[str, Sequence[str]] = {}

    def build(name: str, benchmarks: Sequence[str]) -> Prepared:
        asked[name] = benchmarks
        return built[name]

    manifests = read_sides(lambda name: built[name].manifest, "old", "new")
    base, head = prepare_sides(build, manifests, "old", "new", wanted)
    assert (base.name, head.name) == ("base", "head")
    assert asked == {
        "old": base.selection.benchmarks,
        "new": head.selection.benchmarks,
    }
    return base.selection, head.selection


def test_head_runs_what_is_new_in_it_and_base_what_it_has_of_that() -> None:
    wanted = Selection([], params={"key": [1], "n": [100]})
    base, head = select_sides(MANIFEST, MORE, wanted)
    assert (base.benchmarks, head.benchmarks) == (["sort"], ["sort", "search"])
    assert (base.params, head.params) == ({"n": [100]}, wanted.params)
    base, head = select_sides(MORE, MANIFEST, wanted)
    assert base.benchmarks == head.benchmarks == ["sort"], "search was removed"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (MANIFEST, ALIASED, ("sort", "order")),
        (ALIASED, MANIFEST, ("order", "sort")),
    ],
)
def test_base_runs_a_renamed_benchmark_by_its_own_name(
    old: str, new: str, names: tuple[str, str]
) -> None:
    base, head = select_sides(old, new, Selection([], params={"n": [100]}))
    assert (base.benchmarks, head.benchmarks) == ([names[0]], [names[1]])
    assert base.params == head.params == {"n": [100]}


def test_base_runs_the_values_that_it_permits() -> None:
    narrow = MANIFEST.replace("maximum = 1000", "maximum = 300")
    wanted = Selection([], params={"n": [100, 900]})
    base, head = select_sides(narrow, MANIFEST, wanted)
    assert (base.params, head.params) == ({"n": [100]}, {"n": [100, 900]})


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (MANIFEST, MORE, Selection(["search"])),
        (MANIFEST, RENAMED, Selection([])),
        (
            MANIFEST.replace("maximum = 1000", "maximum = 300"),
            MANIFEST,
            Selection([], params={"n": [900]}),
        ),
    ],
)
def test_revisions_with_nothing_in_common_are_refused_with_what_to_do(
    old: str, new: str, wanted: Selection
) -> None:
    with pytest.raises(
        SourceError, match="none of these benchmarks in common"
    ) as caught:
        select_sides(old, new, wanted)
    assert "`aliases`" in caught.value.advice


def test_a_renamed_workload_runs_beside_the_launches_of_its_new_name() -> None:
    renamed = ALIASED.replace('"sorts"', '"orders"')
    texts: list[tuple[str, SideName]] = [(MANIFEST, "base"), (renamed, "head")]
    sides = [
        Side(
            prepared_sides(text),
            check_selection(
                parse(text.encode(), "suite.toml"), Selection([], launches=2)
            ),
            name,
        )
        for text, name in texts
    ]
    planned = [(spec.launch, spec.side) for spec in plan_launches(sides)]
    assert planned == [(0, "head"), (0, "base"), (1, "head"), (1, "base")]


# --- launches while a verdict is undecided ---


def test_asking_takes_a_small_part_of_the_time_of_measuring(tmp_path: Path) -> None:
    answer = tmp_path / "judge"
    answer.write_text("#!/bin/sh\necho '[\"search\"]'\n")
    answer.chmod(0o755)
    now, records = [0.0], []
    judge = judging.JudgeBetweenLaunches(
        str(answer),
        tmp_path,
        planned=5,
        record=lambda: records.append(now[0]),
        clock=lambda: now[0],
    )
    now[0] = 5 * judging.ASK_S - 1
    assert judge.list_undecided(1) is None
    assert judge.list_undecided(5) == ["search"], "after the planned launches, always"
    now[0] += 1
    assert judge.list_undecided(2) == ["search"]
    assert len(records) == 2, "run.json is written whenever the judge reads it"
    answer.write_text("#!/bin/sh\nexit 1\n")
    assert judge.list_undecided(5) is None


class RecordingSession(HostLayout):
    """Starts nothing, and keeps what it was to start."""

    def __init__(self) -> None:
        self.launched: list[str] = []

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:  # noqa: ARG002 - the port's signature
        named = [
            name for option, name in pairwise(spec.argv) if option == "--benchmark"
        ]
        self.launched.append(f"{spec.launch} {spec.side} {','.join(named) or 'all'}")
        return Outcome()


ONE = ["sort"]


@pytest.mark.parametrize(
    ("answers", "stops", "most", "expected"),
    [
        ({}, True, None, ["all", "all", "all"]),
        ({2: ONE}, True, None, ["all", "all", "one"]),
        ({2: []}, True, None, ["all", "all"]),
        ({2: ONE}, False, None, ["all", "all", "all"]),
        ({3: ONE}, False, 7, [*["all"] * 3, *["one"] * 3]),
        ({2: ONE, 3: ONE, 6: ONE}, True, 7, ["all", "all", *["one"] * 5]),
        ({2: None, 3: None}, True, 9, ["all", "all", "all"]),
    ],
)
def test_what_is_certain_is_not_launched_again_and_what_is_undecided_goes_on(
    answers: dict[int, list[str] | None],
    stops: bool,
    most: int | None,
    expected: list[str],
) -> None:
    texts: list[tuple[str, SideName]] = [
        (
            MORE.replace("benchmarks.sort", "benchmarks.order").replace(
                '"sort"', '"order"'
            ),
            "base",
        ),
        (
            MORE.replace(
                'title = "Sorting a list"',
                'title = "Sorting a list"\naliases = ["order"]',
            ),
            "head",
        ),
    ]
    wanted = Selection([], launches=3, stop_when_sure=stops, max_launches=most)
    manifests = [parse(text.encode(), "suite.toml") for text, _ in texts]
    sides = [
        Side(prepared_sides(text), check_selection(manifest, wanted), name)
        for (text, name), manifest in zip(texts, manifests, strict=True)
    ]
    session = RecordingSession()
    outcome = run_job(
        sides,
        session,
        lambda spec: ItemSink(spec.launch, lambda _items: None),
        Stop(),
        answers.get,
    )
    assert outcome.ok
    own_names = {"base": "order", "head": "sort"}
    assert sorted(session.launched) == [
        f"{launch} {side} {'all' if named == 'all' else own_name}"
        for launch, named in enumerate(expected)
        for side, own_name in own_names.items()
    ]


def test_a_job_that_is_stopped_while_it_asks_is_not_done() -> None:
    stop = Stop()
    selection = Selection(["sort"], launches=3, stop_when_sure=True)
    session = RecordingSession()

    def cancel(_launches: int) -> list[str]:
        stop.set(StopReason.CANCELLED)
        return []

    outcome = run_job(
        [Side(prepared_sides(), selection)],
        session,
        lambda spec: ItemSink(spec.launch, lambda _items: None),
        stop,
        cancel,
    )
    assert (len(session.launched), outcome.cause) == (2, "cancelled")


def test_a_benchmark_stops_as_soon_as_the_judge_is_sure(
    suite_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real workload and the real judge: sorted() beats a merge sort in Python by far, and the limit of its gate by
    farther, however busy the host is."""
    monkeypatch.setattr(judging, "ASK_S", 0.0)
    monkeypatch.setenv("PACELINE_PRESSURE_LIMIT_PERCENT", "100")
    monkeypatch.setenv("PACELINE_DRIFT_LIMIT_PERCENT", "100000")
    path = suite_repository / "bench" / "suite.toml"
    workload = path.with_name("sorts.py")
    balanced = "order = order[:: 1 if round_ % 2 else -1]"
    text = WORKLOAD.replace("rng.shuffle(order)", balanced)
    seen = "import os\nprint(len(os.environ['PACELINE_LAYOUT']), file=sys.stderr)\n"
    workload.write_text(
        text.replace('print("a word for people", file=sys.stderr)', seen)
    )
    manifest = load(path)
    # Half of the rounds of a launch that grew faster meanwhile count, which must be enough for an interval.
    wanted = Selection(
        [], params={"n": [100]}, launches=4, rounds=40, stop_when_sure=True
    )
    selection = check_selection(manifest, wanted)
    out = tmp_path / "out"
    outcome = local.run(
        manifest,
        path,
        selection,
        out,
        executor=HostExecutor("here", lock_dir=tmp_path),
        display=PlainDisplay(Console(file=io.StringIO()), verbose=False),
        stop=Stop(),
    )
    assert outcome.ok, outcome
    assert len(list(out.glob("launch-*"))) == 2
    logged = (out / "sorts.stderr.log").read_text().split()
    drawn = [draw_layout_bytes(n, n, "sorts", None) for n in range(2)]
    assert [*map(int, logged)] == drawn, "the program sees the padding of its launch"
    command = judging.find_judge()
    assert command is not None
    table = tmp_path / "table"
    options = ("--format", "table", "--output", str(table))
    assert judging.judge(command, out, options) == 0, table.read_text()
    *_, saved, _, verdict = table.read_text().splitlines()
    assert "stopped when certain, after 2 of 4 launches" in verdict
    assert saved.startswith("Measured 2 of 4 launches (50.0 % of the planned")


def test_the_refusal_of_a_value_names_the_side_that_does_not_permit_it() -> None:
    old = MANIFEST.replace("maximum = 400", "maximum = 50")
    with pytest.raises(SourceError) as caught:
        select_sides(old, MANIFEST, Selection([], knobs={"slow_percent": 100}))
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


@pytest.mark.parametrize(
    ("work", "undecided", "share", "failures", "launches"),
    [
        ({"stop_when_sure": True}, {}, 1e9, 0, 2),
        ({"stop_when_sure": True}, {2: ["sort"]}, 1e9, 0, 3),
        ({"stop_when_sure": True}, {}, 1e-9, 0, 4),
        ({"stop_when_sure": True}, {}, 1e9, 1, 4),
        ({"stop_when_sure": True, "first_launch": 4}, {}, 1e9, 0, 4),
        ({}, {}, 1e9, 0, 4),
    ],
)
def test_an_agent_asks_between_launches_and_spares_what_is_certain(
    world: World,
    running: Agent,
    monkeypatch: pytest.MonkeyPatch,
    *,
    work: dict[str, Any],
    undecided: dict[int, list[str]],
    share: float,
    failures: int,
    launches: int,
) -> None:
    """A later batch, and a job that does not stop when sure, run whole; so does a job of which asking would take a large
    part, and one whose server did not answer once."""
    monkeypatch.setattr(judging, "ASK_SHARE", share)
    # A machine that stands still must not make it go on without what was measured, or without an answer.
    monkeypatch.setattr(job_module, "DELIVERY_S", WITHIN_S)
    monkeypatch.setattr(api.ASK_TIMEOUT, "read", WITHIN_S)
    world.server.undecided = undecided
    world.server.broken["undecided"] = failures
    job = world.add_job(launches=4, **work)
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    assert_complete(job, finish)
    assert len({item["launch"] for item in job.of_kind("samples")}) == launches
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
    assert finish["detail"].endswith("The job's log has the build's whole output.")
    assert running is not None


def test_a_launch_that_fails_names_its_side(world: World, running: Agent) -> None:
    old = git(world.repository, "rev-parse", "HEAD")
    new = commit(world.repository, "Crash", old='say("done")', new="sys.exit(3)")
    job = world.add_job(commit=new, base_commit=old)
    finish = finish_of(world, job)
    assert finish["outcome"] == "failed"
    assert finish["detail"].startswith("head: ")
    assert running is not None


def test_an_arm_that_only_the_base_has_is_delivered_with_the_manifest_that_declares_it(
    world: World, running: Agent
) -> None:
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
    measured = {(item["side"], item["arm"]) for item in job.of_kind("samples")}
    assert measured == {
        *(("base", arm) for arm in ("gone", "merge", "builtin")),
        *(("head", arm) for arm in ("merge", "builtin")),
    }
    declared = job.manifests[0]["base_manifest"]["benchmarks"]["sort"]["arms"]
    assert declared == ["gone", "merge", "builtin"]
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


def test_an_agent_reports_both_manifests_and_measures_what_the_server_plans_by_them(
    world: World, running: Agent
) -> None:
    old = git(world.repository, "rev-parse", "HEAD")
    new = commit(
        world.repository,
        "A benchmark more",
        "bench/suite.toml",
        "[knobs.slow",
        f"{SEARCH}\n[knobs.slow",
    )
    job = world.add_job(commit=new, base_commit=old)
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    (report,) = job.manifests
    assert [*report["manifest"]["benchmarks"]] == ["sort", "search"]
    assert [*report["base_manifest"]["benchmarks"]] == ["sort"]
    assert running is not None
