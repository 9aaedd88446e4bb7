"""Runs the examples of docs/bring-your-own-suite.md and docs/other-languages.md, taken from the pages.

All three languages must keep the contract's order of arms in every round. No timing is judged.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "docs" / name for name in ("bring-your-own-suite.md", "other-languages.md")
]
PACELINE = Path(sys.executable).with_name("paceline")
SEED = 7


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with every file of the page, each language with a whole manifest."""
    directory = tmp_path_factory.mktemp("project")
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(
        r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE
    )
    for name, body in blocks:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    manifest = (directory / "bench" / "suite.toml").read_text(encoding="utf-8")
    before, rest = manifest.split("[[workloads]]", 1)
    after = rest[rest.index("[benchmarks.") :]
    for language in ("bench-cpp", "bench-rust"):
        workload = (directory / language / "workload.toml").read_text(encoding="utf-8")
        (directory / language / "suite.toml").write_text(
            f"{before}{workload}\n{after}", encoding="utf-8"
        )
    cargo = directory / "bench-rust" / "Cargo.toml"
    assert "../paceline/native/harness" in cargo.read_text(encoding="utf-8")
    cargo.write_text(
        cargo.read_text(encoding="utf-8").replace(
            "../paceline/native", str(ROOT / "native")
        ),
        encoding="utf-8",
    )
    return directory


def paceline(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [PACELINE, *arguments]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, check=False
    )


def events(stream: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in stream.read_text(encoding="utf-8").splitlines()
    ]


def orders(stream: Path) -> dict[tuple[int, int], list[str]]:
    """(values, round) → arms by position."""
    cases: dict[int, dict[str, Any]] = {}
    found: dict[tuple[int, int], dict[int, str]] = {}
    for event in events(stream):
        if event["type"] == "case":
            cases[event["case"]] = event
        elif event["type"] == "samples":
            case = cases[event["case"]]
            block = found.setdefault((case["params"]["values"], event["round"]), {})
            block[event["position"]] = case["arm"]
    return {
        key: [block[position] for position in sorted(block)]
        for key, block in found.items()
    }


def measured(project: Path, folder: str) -> Path:
    out = project / f"out-{folder}"
    if not out.exists():
        options = [
            "--launches",
            "2",
            "--rounds",
            "6",
            "--min-time-ns",
            "200000",
            "--seed",
            str(SEED),
        ]
        done = paceline(
            "run", f"{folder}/suite.toml", "--out", out.name, *options, cwd=project
        )
        assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("folder", ["bench", "bench-cpp", "bench-rust"])
def test_example_is_a_valid_suite(project: Path, folder: str) -> None:
    done = paceline("validate", f"{folder}/suite.toml", cwd=project)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", ["bench", "bench-cpp", "bench-rust"])
def test_example_is_built_measured_and_checked(project: Path, folder: str) -> None:
    out = measured(project, folder)
    for launch in (0, 1):
        stream = events(out / f"launch-{launch:03}.top_ten.jsonl")
        assert stream[-1]["type"] == "done"
        checks = [event for event in stream if event["type"] == "check"]
        assert checks
        assert all(check["ok"] for check in checks)
        rounds = [
            e for e in stream if e["type"] == "samples" and e["phase"] == "measure"
        ]
        assert len(rounds) == 2 * 2 * 6, "two arms, two values, six rounds"


@pytest.mark.parametrize("folder", ["bench-cpp", "bench-rust"])
def test_every_language_draws_the_same_order_from_the_same_seed(
    project: Path, folder: str
) -> None:
    name = "launch-001.top_ten.jsonl"
    assert orders(measured(project, folder) / name) == orders(
        measured(project, "bench") / name
    )


def golden_groups() -> Iterator[dict[str, Any]]:
    path = ROOT / "native" / "protocol" / "vectors" / "interleaving.golden.json"
    yield from json.loads(path.read_text(encoding="utf-8"))


def test_the_python_example_draws_the_contracts_orders(project: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        "top_ten_example", project / "bench" / "top_ten.py"
    )
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for group in golden_groups():
        phase, _, rest = group["key"].partition("/")
        drawn = example.orders(
            group["seed"], phase, rest, group["arms"], len(group["orders"])
        )
        assert list(islice(drawn, len(group["orders"]))) == group["orders"], group[
            "key"
        ]


def test_the_examples_verdicts_are_judged_offline(project: Path) -> None:
    """Too few rounds for a verdict: inconclusive (exit 3), and the page says why."""
    out = measured(project, "bench")
    judge: list[str | Path] = [
        Path(sys.executable).with_name("paceline-server"),
        "judge",
        out,
    ]
    done = subprocess.run(
        [
            *judge,
            "--manifest",
            project / "bench" / "suite.toml",
            "--json",
            project / "verdicts.json",
        ],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    verdicts = json.loads((project / "verdicts.json").read_text(encoding="utf-8"))
    assert {comparison["verdict"] for comparison in verdicts["comparisons"]} == {
        "inconclusive"
    }
    assert all(check["ok"] for check in verdicts["checks"])
