"""Tests of `suite.toml`: accepted manifests, and errors with their line and what was expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paceline.errors import UserError
from paceline.manifest import Manifest, ManifestError, load, parse
from paceline.selection import Selection, check_selection, launch_argv
from paceline.testing.suites import MANIFEST

VECTORS: dict[str, Any] = json.loads(
    (
        Path(__file__).parents[2]
        / "native"
        / "protocol"
        / "vectors"
        / "manifests.golden.json"
    ).read_text("utf-8")
)


def line_of(text: str, fragment: str) -> int:
    return next(
        number for number, line in enumerate(text.splitlines(), 1) if fragment in line
    )


def problems(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        parse(text.encode(), "suite.toml")
    return caught.value


def test_a_complete_manifest_is_accepted() -> None:
    manifest = parse(MANIFEST.encode(), "suite.toml")
    assert isinstance(manifest, Manifest)
    assert manifest.suite.name == "mine"
    host = manifest.workloads[0].host
    assert host is not None
    assert host.run == ["python3", "{artifacts}/sorts.py"]
    assert manifest.benchmarks["sort"].params["n"].values == [100, 200]
    assert manifest.raw["expected"]["checks"] == ["sorted"]
    assert len(manifest.digest) == 64


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "native").glob("*/suite.toml")), ids=str
)
def test_every_suite_of_this_repository_is_valid(path: Path) -> None:
    load(path)


@pytest.mark.parametrize(
    "vector", VECTORS["manifests"], ids=lambda vector: vector["says"]
)
def test_the_agent_takes_the_manifests_that_the_server_takes(
    vector: dict[str, Any],
) -> None:
    text = "\n".join(VECTORS["base"]) + "\n"
    for old, new in vector["replace"]:
        assert old in text
        text = text.replace(old, new, 1)
    if vector["ok"]:
        parse(text.encode(), "suite.toml")
    else:
        problems(text)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'reference = "merge"',
            'reference = "quick"',
            "one of the arms (merge, builtin)",
        ),
        ('workload = "sorts"', 'workload = "sort"', "one of the workloads (sorts)"),
        ('unit = "ns"', 'unit = "seconds"', "bytes/s"),
        ('direction = "lower"', 'direction = "down"', "higher, lower"),
        ("values = [100, 200]", "values = [100, 2000]", "1 to 1000"),
        ('kind = "int"\nvalues', 'kind = "integer"\nvalues', "enum, int, regex"),
        ('kind = "ratio_across_param"', 'kind = "ratio"', "ratio_across_param"),
        ("stretch = 1e8", "stretch = 1e10", "stricter than required"),
        ("required = 1e9", "required = nan", "finite"),
        (
            'arms = ["builtin"]',
            'arms = ["merge"]',
            "other than the reference (builtin)",
        ),
        ('name = "builtin-slower-than-merge"', 'name = "Builtin Slower"', "builtin"),
        ("default = 0", "default = 401", "0 to 400"),
        (
            'run = ["python3", "{artifacts}/sorts.py"]',
            'run = "python3 sorts.py"',
            "a list",
        ),
        ('artifacts = ["sorts.py"]', 'artifacts = ["../sorts.py"]', "without '..'"),
        ("launch_timeout_s = 60", 'launch_timeout_s = "60"', "a whole number"),
        ("launch_timeout_s = 60", "timeout = 60", "launch_timeout_s"),
        ("to = 200", "to = 5000", "1 to 1000"),
        ('param = "n"', 'param = "m"', "one of the params (n)"),
        ("schema = 1", "schema = 2", "expected 1"),
        ('name = "sorts"', 'name = "Sorts"', "lower-case"),
        ('name = "sorts"', 'checks = "sorted"\nname = "sorts"', "a list"),
        ('name = "sorts"', 'checks = ["a", "a"]\nname = "sorts"', "no value twice"),
    ],
)
def test_a_problem_names_the_line_and_what_was_expected(
    old: str, new: str, expected: str
) -> None:
    assert old in MANIFEST
    text = MANIFEST.replace(old, new, 1)
    error = problems(text)
    changed = new.splitlines()[0]
    shown = next(c for c in error.problems if c.line == line_of(text, changed))
    assert expected.lower() in shown.text.lower()
    assert f"suite.toml:{shown.line}: " in error.text


DERIVED = """
[[derived]]
name = "more"
benchmark = "sort"
metric = "time"
arm = "builtin"
"""


@pytest.mark.parametrize(
    ("fields", "line", "expected"),
    [
        ('aliases = ["sort_before"]', "", ""),
        ('arm_aliases = { builtin = ["c"] }', "", ""),
        (
            'aliases = ["sort"]',
            "aliases",
            "no other benchmark has or had, found 'sort'",
        ),
        (
            'arm_aliases = { builtin = ["merge"] }',
            "arm_aliases",
            "no other arm has or had, found 'merge'",
        ),
        (
            'arm_aliases = { quick = ["c"] }',
            "arm_aliases",
            "one of the arms (merge, builtin), found 'quick'",
        ),
        ('aliases = ["Old Name"]', "aliases", 'found "Old Name"'),
    ],
)
def test_old_names_lead_to_one_newest_name(
    fields: str, line: str, expected: str
) -> None:
    text = MANIFEST.replace("reference = ", f"{fields}\nreference = ", 1)
    if not expected:
        parse(text.encode(), "suite.toml")
        return
    error = problems(text)
    assert [c.line for c in error.problems] == [line_of(text, line)]
    assert expected in error.text


@pytest.mark.parametrize(
    ("fields", "line", "expected"),
    [
        ('kind = "speedup_between_arms"', "[[derived]]", "'base_arm' is missing"),
        (
            'kind = "speedup_between_arms"\nbase_arm = "quick"',
            'base_arm = "quick"',
            "merge, builtin",
        ),
        (
            'kind = "crossover"\nbase_arm = "merge"\nparam = "m"',
            'param = "m"',
            "one of the params (n)",
        ),
        (
            'kind = "share_between_metrics"\npart = "digest"',
            'part = "digest"',
            "one of the metrics (time)",
        ),
        (
            'kind = "share_at_rate"\nrate_bytes_per_s = 0',
            "rate_bytes_per_s = 0",
            "a whole number from 1, found 0",
        ),
        (
            'kind = "share"',
            'kind = "share"',
            "share_at_rate, share_between_metrics, slope",
        ),
    ],
)
def test_a_derived_metric_is_held_to_its_kind(
    fields: str, line: str, expected: str
) -> None:
    text = MANIFEST + DERIVED + fields + "\n"
    error = problems(text)
    last = max(
        number for number, each in enumerate(text.splitlines(), 1) if line in each
    )
    assert [c.line for c in error.problems] == [last]
    assert expected in error.text


@pytest.mark.parametrize(
    ("fields", "line", "expected"),
    [
        ("", "[[derived]]", "expected arm or arms"),
        (
            'arm = "builtin"\narms = ["merge"]',
            "[[derived]]",
            "expected arm or arms, not both",
        ),
        (
            'arms = ["builtin", "quick"]',
            "arms = [",
            "expected one of the arms (merge, builtin), found 'quick'",
        ),
        ('arms = ["builtin", "builtin"]', "arms = [", "expected no value twice"),
        ("arms = []", "arms = [", "at least 1"),
    ],
)
def test_a_derived_metric_is_of_one_arm_or_of_several(
    fields: str, line: str, expected: str
) -> None:
    head = DERIVED.replace('arm = "builtin"', 'kind = "slope"\nparam = "n"')
    text = f"{MANIFEST}{head}{fields}\n"
    error = problems(text)
    last = max(
        number for number, each in enumerate(text.splitlines(), 1) if line in each
    )
    assert [c.line for c in error.problems] == [last]
    assert expected in error.text


@pytest.mark.parametrize(
    "fields",
    [
        'kind = "ratio_across_param"\nparam = "n"\nfrom = 100\nto = 200',
        'kind = "overhead_between_arms"\nbase_arm = "merge"',
        'kind = "speedup_between_arms"\nbase_arm = "merge"',
        'kind = "slope"\nparam = "n"',
        'kind = "share_between_metrics"\npart = "time"',
        'kind = "share_at_rate"\nrate_bytes_per_s = 1',
        'kind = "crossover"\nbase_arm = "merge"\nparam = "n"',
    ],
)
def test_every_kind_of_derived_metric_may_have_several_arms(fields: str) -> None:
    arms = (
        ["builtin", "quick"] if "base_arm" in fields else ["merge", "builtin", "quick"]
    )
    text = MANIFEST.replace(
        'arms = ["merge", "builtin"]', 'arms = ["merge", "builtin", "quick"]'
    )
    several = DERIVED.replace('arm = "builtin"', f"arms = {json.dumps(arms)}")
    manifest = parse(f"{text}{several}{fields}\n".encode(), "suite.toml")
    assert manifest.raw["derived"][-1]["arms"] == arms


@pytest.mark.parametrize(("name", "arm"), [("growth", "builtin"), ("more", "merge")])
def test_a_gate_picks_an_arm_its_derived_metric_has(name: str, arm: str) -> None:
    several = DERIVED.replace(
        'arm = "builtin"', 'kind = "slope"\nparam = "n"\narms = ["merge"]'
    )
    gate = f'{several}[[gates]]\nderived = "{name}"\nop = "<"\nrequired = 1\n'
    parse(f'{MANIFEST}{gate}arm = "{arm}"\n'.encode(), "suite.toml")
    text = f'{MANIFEST}{gate}arm = "quick"\n'
    error = problems(text)
    assert [c.line for c in error.problems] == [line_of(text, 'arm = "quick"')]
    assert f"expected one of the arms of {name} ({arm}), found 'quick'" in error.text


def test_a_gate_is_on_a_measured_metric_or_on_a_derived_one() -> None:
    gate = '[[gates]]\nderived = "growth"\nop = "<"\nrequired = 1\n'
    text = f'{MANIFEST}{gate}benchmark = "sort"\narm = "builtin"\nmetric = "time"\n'
    error = problems(text)
    last = max(
        number
        for number, each in enumerate(text.splitlines(), 1)
        if each == "[[gates]]"
    )
    assert [c.line for c in error.problems] == [last]
    assert "expected benchmark, arm, metric or derived, not both" in error.text


@pytest.mark.parametrize(
    ("fields", "line", "expected"),
    [
        ('benchmarks = ["sorting"]', "benchmarks = [", "one of the benchmarks (sort)"),
        ("params.m = [1]", "params.m", "one of the params (n)"),
        ("params.n = [100, 1001]", "params.n = [", "1 to 1000"),
        ("rounds = 0", "rounds = 0", "a whole number from 1 to 10000, found 0"),
    ],
)
def test_a_preset_requests_only_declared_names(
    fields: str, line: str, expected: str
) -> None:
    text = MANIFEST + f'[presets.first_look]\ntitle = "First look"\n{fields}\n'
    error = problems(text)
    assert [c.line for c in error.problems] == [line_of(text, line)]
    assert expected in error.text
    fine = (
        MANIFEST + '[presets.first_look]\ntitle = "First look"\nparams.n = [100, 7]\n'
    )
    assert parse(fine.encode(), "suite.toml").raw["presets"]["first_look"][
        "params"
    ] == {"n": [100, 7]}


def test_a_rule_may_name_its_metric() -> None:
    named = MANIFEST.replace(
        'kind = "arm_slower"', 'kind = "arm_slower"\nmetric = "calls"'
    )
    assert "one of the metrics (time)" in problems(named).text
    parse(named.replace('"calls"', '"time"').encode(), "suite.toml")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("params.m = [1]", "one of the params (n)"),
        ("params.n = [100, 1001]", "1 to 1000"),
    ],
)
def test_a_rule_watches_only_declared_points(fields: str, expected: str) -> None:
    text = MANIFEST.replace('kind = "arm_slower"', f'kind = "arm_slower"\n{fields}')
    error = problems(text)
    assert [c.line for c in error.problems] == [line_of(text, fields)]
    assert expected in error.text
    parse(text.replace(fields, "params.n = [100]").encode(), "suite.toml")


@pytest.mark.parametrize("value", ["x|y", "x,y"])
@pytest.mark.parametrize("kind", ['kind = "enum"', 'kind = "regex"\npattern = ".*"'])
def test_a_text_value_that_the_command_line_would_split_is_refused(
    kind: str, value: str
) -> None:
    head = f"[benchmarks.sort.params.mode]\n{kind}\n"
    before = "[benchmarks.sort.params.n]"
    text = MANIFEST.replace(before, f'{head}values = ["fine", "{value}"]\n{before}')
    error = problems(text)
    assert [c.line for c in error.problems] == [line_of(text, '"fine"')]
    assert "without | and ," in error.text
    parse(text.replace(value, "x-y").encode(), "suite.toml")


def test_a_request_for_such_a_text_value_is_refused() -> None:
    head = '[benchmarks.sort.params.mode]\nkind = "regex"\npattern = ".*"\nvalues = ["fine"]\n'
    before = "[benchmarks.sort.params.n]"
    manifest = parse(MANIFEST.replace(before, head + before).encode(), "suite.toml")
    check_selection(manifest, Selection(benchmarks=["sort"], params={"mode": ["x-y"]}))
    with pytest.raises(UserError, match="without"):
        check_selection(
            manifest, Selection(benchmarks=["sort"], params={"mode": ["x|y"]})
        )


def test_a_missing_field_points_at_its_table() -> None:
    error = problems(MANIFEST.replace('reference = "merge"\n', ""))
    assert error.problems[0].line == line_of(MANIFEST, "[benchmarks.sort]")
    assert error.problems[0].text == "'reference' is missing"


def test_all_problems_are_reported_at_once_in_file_order() -> None:
    text = MANIFEST.replace('unit = "ns"', 'unit = "s"').replace(
        "schema = 1", "schema = 9"
    )
    error = problems(text)
    assert [c.where for c in error.problems] == [
        "schema",
        "benchmarks.sort.metrics.time.unit",
    ]


def test_broken_toml_names_its_line() -> None:
    error = problems("schema = 1\n[suite\nname = 3\n")
    assert error.problems[0].line == 2


def test_text_that_is_not_utf8_names_its_line() -> None:
    with pytest.raises(ManifestError) as caught:
        parse(b'schema = 1\ntitle = "\xff"\n', "suite.toml")
    assert caught.value.problems[0].line == 2


def test_lines_are_found_behind_multi_line_values() -> None:
    noise = 'description = """\n[fake]\nname = "no"\n"""\n'
    text = MANIFEST.replace('title = "Mine"\n', 'title = "Mine"\n' + noise)
    text = text.replace(
        'arms = ["merge", "builtin"]', 'arms = [\n  "merge", # ]\n  "builtin",\n]'
    )
    text = text.replace('reference = "merge"', 'reference = "quick"')
    assert problems(text).problems[0].line == line_of(text, 'reference = "quick"')


def test_two_artifacts_of_one_name_are_refused() -> None:
    text = MANIFEST.replace(
        'artifacts = ["sorts.py"]', 'artifacts = ["sorts.py", "old/sorts.py"]'
    )
    assert "twice" in problems(text).text


def test_a_missing_file_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path / "suite.toml")
    assert "suite.toml" in caught.value.advice


def test_a_knob_of_one_workload_is_passed_to_that_one_only(tmp_path: Path) -> None:
    other = '[[workloads]]\nname = "heaps"\n[workloads.host]\nbuild = []\nartifacts = ["h"]\nrun = ["h"]\n\n'
    other += '[benchmarks.heap]\ntitle = "Heaps"\nworkload = "heaps"\narms = ["pop"]\nreference = "pop"\n'
    other += 'metrics.time = { unit = "ns", direction = "lower" }\n\n'
    owned = MANIFEST.replace("[benchmarks.sort]", other + "[benchmarks.sort]").replace(
        "[knobs.slow_percent]", '[knobs.slow_percent]\nworkload = "sorts"'
    )
    manifest = parse(owned.encode(), "suite.toml")
    asked = check_selection(
        manifest, Selection(benchmarks=[], knobs={"slow_percent": 50})
    )
    build = manifest.workloads[0].host
    assert build is not None
    argv = {
        name: launch_argv(
            manifest, asked, name, launch=0, build=build, artifacts=tmp_path
        )
        for name in ("sorts", "heaps")
    }
    assert "slow_percent=50" in argv["sorts"]
    assert "slow_percent=50" not in argv["heaps"]
    error = problems(
        owned.replace('workload = "sorts"\nkind', 'workload = "none"\nkind')
    )
    assert "one of the workloads (sorts, heaps)" in error.text
