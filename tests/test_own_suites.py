"""Runs the examples of docs/bring-your-own-suite.md and docs/other-languages.md, taken from the pages.

All three languages must keep the contract's order of arms in every round. No timing is judged.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paceline_contract import workload
from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "docs" / name for name in ("bring-your-own-suite.md", "other-languages.md")
]
PACELINE = Path(sys.executable).with_name("paceline")
SEED = 7
HELPER = Path(workload.__file__)


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
    shutil.copy(HELPER, directory / "bench" / "paceline_workload.py")
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


@pytest.mark.parametrize(
    "folder", ["bench", "bench-cpp", "bench-rust", "bench-harness"]
)
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


def test_new_writes_the_example_of_the_page_and_overwrites_nothing(
    project: Path, tmp_path: Path
) -> None:
    written = tmp_path / "mine"
    assert paceline("new", "mine", cwd=tmp_path).returncode == 0
    names = {path.name for path in written.iterdir()}
    assert names == {"suite.toml", "top_ten.py", "paceline_workload.py"}
    for name in names:
        page = project / "bench" / name
        assert (written / name).read_bytes() == page.read_bytes(), name
    (written / "top_ten.py").unlink()
    (written / "suite.toml").write_text("# mine", encoding="utf-8")
    again = paceline("new", "mine", cwd=tmp_path)
    assert again.returncode == 1
    assert "nothing was written" in again.stderr
    assert (written / "suite.toml").read_text("utf-8") == "# mine"
    assert not (written / "top_ten.py").exists()


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
