"""Tests of what is not measured again: only a benchmark of which nothing differs between base and head."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.agent import Agent
from paceline.artifacts import Built
from paceline.destination import HOST, Destination, build_for
from paceline.launches import Side, plan_launches
from paceline.manifest import parse
from paceline.selection import Selection, check_selection
from paceline.source import Prepared
from paceline.testing.suites import MANIFEST
from paceline.unaffected import leave_out_unaffected, measures_anything

from .conftest import World, finish_of, git

SECOND = """
[[workloads]]
name = "finds"
[workloads.host]
build = []
artifacts = ["finds"]
run = ["{artifacts}/finds"]
env = { MODE = "quick" }
[workloads.android]
build = []
artifacts = ["{abi}/finds"]
run = ["{artifacts}/finds"]

[benchmarks.find]
title = "Finding"
workload = "finds"
arms = ["scan", "index"]
reference = "scan"
margin_percent = 3.0
"""
CALLS = '[benchmarks.find.metrics.calls]\nunit = "op/s"\ndirection = "higher"\n'
SIZE = '[benchmarks.find.metrics.size]\nunit = "bytes"\ndirection = "lower"\n'
SECOND += CALLS + SIZE
TWO = MANIFEST.replace("[knobs.slow", f"{SECOND}\n[knobs.slow")
OWN_KNOB = "[knobs.depth]\nkind = 'int'\nminimum = 0\nmaximum = 9\ndefault = 1\ndescription = 'Depth.'\nworkload = 'finds'\n"
GATE = '[[gates]]\nbenchmark = "find"\narm = "index"\nmetric = "size"\nop = "<"\nrequired = 9.0\n'


def side(
    root: Path,
    commit: str,
    manifest: str = TWO,
    *,
    selection: Selection | None = None,
    destination: Destination = HOST,
    finds: str = "finds 1",
    executable: bool = True,
) -> Side:
    read = parse(manifest.encode(), "suite.toml")
    chosen = check_selection(read, selection or Selection([]))
    workloads = [
        item
        for item in read.workloads
        if destination == HOST or item.android is not None
    ]
    builds = {item.name: build_for(item, destination) for item in workloads}
    directories = {name: root / commit / name for name in builds}
    for name, directory in directories.items():
        directory.mkdir(parents=True, exist_ok=True)
        text = finds if name == "finds" else name
        if text:
            (directory / name).write_text(text)
            (directory / name).chmod(0o755 if executable else 0o644)
    built = Built(directories, commit[0] * 64, {})
    prepared = Prepared(read, commit, built, builds)
    return Side(prepared, chosen, "base" if commit == "old" else "head")


def left_out(base: Side, head: Side) -> list[str]:
    sides, unaffected = leave_out_unaffected([base, head])
    for kept, whole in zip(sides, (base, head), strict=True):
        assert kept.selection.benchmarks == [
            name for name in whole.selection.benchmarks if name not in unaffected
        ]
    return list(unaffected)


def test_of_two_workloads_only_the_changed_one_is_launched_on_both_sides(
    tmp_path: Path,
) -> None:
    base, head = side(tmp_path, "old"), side(tmp_path, "new", finds="finds 2")
    sides, unaffected = leave_out_unaffected([base, head])
    assert list(unaffected) == ["sort"]
    launched = {(spec.side, spec.workload) for spec in plan_launches(sides)}
    assert launched == {("base", "finds"), ("head", "finds")}


def test_of_two_sides_that_are_the_same_nothing_is_launched(tmp_path: Path) -> None:
    sides, unaffected = leave_out_unaffected(
        [side(tmp_path, "old"), side(tmp_path, "new")]
    )
    assert list(unaffected) == ["sort", "find"]
    assert (measures_anything(sides), plan_launches(sides)) == (False, [])


@pytest.mark.parametrize(
    "head",
    [
        TWO.replace('MODE = "quick"', 'MODE = "slow"'),
        TWO.replace(
            'run = ["{artifacts}/finds"]', 'run = ["{artifacts}/finds", "-v"]', 1
        ),
        TWO.replace("margin_percent = 3.0", "margin_percent = 4.0"),
        TWO.replace('"op/s"', '"op/s"\ndescription = "Calls."'),
        TWO.replace(CALLS + SIZE, SIZE + CALLS),
        TWO.replace('title = "Finding"', 'title = "Finding"\naliases = ["look_up"]', 1),
        TWO.replace("[[gates]]", f"{GATE}\n[[gates]]", 1),
        TWO.replace(
            "[[rules]]",
            '[[rules]]\nname = "found"\nkind = "arm_slower"\nbenchmark = "find"\narms = ["index"]\ntext = "It should win."\n[[rules]]',
        ),
        TWO.replace("[[derived]]", f"{OWN_KNOB}\n[[derived]]", 1),
        TWO.replace('name = "finds"', 'name = "finds"\nchecks = ["found"]', 1),
    ],
    ids=[
        *("environment", "command", "margin", "metric", "primary-metric"),
        *("alias", "gate", "rule", "knob", "check"),
    ],
)
def test_a_benchmark_is_measured_where_head_declares_anything_else_about_it(
    tmp_path: Path, head: str
) -> None:
    assert left_out(side(tmp_path, "old"), side(tmp_path, "new", head)) == ["sort"]


def test_a_renamed_benchmark_and_other_values_are_measured(tmp_path: Path) -> None:
    renamed = TWO.replace("benchmarks.find", "benchmarks.look_up")
    base = side(tmp_path, "old")
    assert left_out(base, side(tmp_path, "new", renamed)) == ["sort"]
    values = TWO.replace("values = [100, 200]", "values = [100, 300]")
    assert "sort" not in left_out(base, side(tmp_path, "new", values))
    fewer = side(tmp_path, "new", selection=Selection([], params={"n": [100]}))
    assert left_out(base, fewer) == ["find"], "what base measures counts as well"


def test_what_is_not_known_and_what_is_the_same_on_purpose_is_measured(
    tmp_path: Path,
) -> None:
    base = side(tmp_path / "none", "old", finds="")
    assert left_out(base, side(tmp_path / "none", "new", finds="")) == ["sort"]
    base = side(tmp_path, "old")
    assert left_out(base, base) == [], "one commit is an A/A comparison"
    no_program = side(tmp_path, "new", executable=False)
    assert left_out(base, no_program) == []


def test_a_new_benchmark_is_not_left_without_a_base(tmp_path: Path) -> None:
    """The verdict would rest on a base that measured nothing."""
    base = side(tmp_path, "old", selection=Selection(["sort"]))
    assert left_out(base, side(tmp_path, "new")) == []


def test_a_device_goes_by_what_it_runs_itself(tmp_path: Path) -> None:
    phone = Destination("device", ("arm64-v8a",))
    finds = Selection(["find"])

    def of_phone(commit: str, manifest: str, finds_text: str = "arm") -> Side:
        return side(
            tmp_path,
            commit,
            manifest,
            selection=finds,
            destination=phone,
            finds=finds_text,
        )

    base = of_phone("old", TWO)
    of_host = TWO.replace('MODE = "quick"', 'MODE = "slow"')
    assert left_out(base, of_phone("new", of_host)) == ["find"]
    of_android = TWO.replace(
        'artifacts = ["{abi}/finds"]\nrun = ["{artifacts}/finds"]',
        'artifacts = ["{abi}/finds"]\nrun = ["{artifacts}/finds", "{abi}"]',
    )
    assert left_out(base, of_phone("new", of_android)) == []
    assert left_out(base, of_phone("new", TWO, "other arm")) == []


# --- the agent ---


@pytest.mark.parametrize("skips", [True, False])
def test_an_agent_leaves_out_what_is_the_same_only_where_its_server_says_so(
    world: World, running: Agent, skips: bool
) -> None:
    old = git(world.repository, "rev-parse", "HEAD")
    (world.repository / "README").write_text("More words.")
    git(world.repository, "add", ".")
    git(world.repository, "commit", "--quiet", "-m", "Explain")
    job = world.add_job(base_commit=old, skips_unaffected=skips)
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    measuring = next(state for state in job.states if state["state"] == "measuring")
    assert list(measuring.get("unaffected", {})) == (["sort"] if skips else [])
    assert bool(job.of_kind("samples")) is not skips
    logged = [line for item in job.of_kind("log") for line in item["lines"]]
    assert any("not measured again" in line for line in logged) is skips
    assert running is not None
