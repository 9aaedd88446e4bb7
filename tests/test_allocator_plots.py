"""Tests that the allocator's pictures and tables show exactly the numbers of their input.

The script runs as its page documents; digits and lengths are read back from the pictures.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from paceline_contract.testing.waiting import WITHIN_S

ROOM = Path(__file__).resolve().parents[1] / "native" / "allocator"
SVG = "{http://www.w3.org/2000/svg}"
PRELOAD = {"setup": "preload"}


def derived(
    name: str, arm: str, params: dict[str, Any], value: float, spread: float = 0.01
) -> dict[str, Any]:
    benchmark = {
        "left_by_others": "fragmentation",
        "programs_vs_mimalloc343": "programs",
    }
    return {
        "name": name,
        "benchmark": benchmark.get(name, "random_mixed"),
        "arm": arm,
        "params": params,
        "value": value,
        "lower": value - spread,
        "upper": value + spread,
        "note": "",
    }


def gate(
    statistic: str, arm: str, params: dict[str, Any], actual: float | None, verdict: str
) -> dict[str, Any]:
    return {
        "benchmark": "random_mixed",
        "arm": arm,
        "params": params,
        "metric": "time",
        "statistic": statistic,
        "op": "<=" if statistic == "field" else ">=",
        "level": "required",
        "target": 1.0 if statistic == "field" else 1.05,
        "actual": actual,
        "verdict": verdict,
        "reason": "",
    }


def small(slots: int) -> dict[str, Any]:
    return {"working_set": slots, "mode": "compat", **PRELOAD}


REPORT = {
    "derived": [
        derived("vs_mimalloc343", "paceline", small(256), 1.12),
        derived("vs_mimalloc343", "paceline", small(8192), 1.25),
        derived("vs_mimalloc343", "paceline", {**small(8192), "setup": "direct"}, 9.0),
        derived("vs_mimalloc343", "paceline_hardened", small(256), 0.75),
        derived("field", "mimalloc343", small(256), 1 / 1.12),
        derived("field", "snmalloc", small(256), 0.96),
        derived("degradation", "paceline", {"mode": "compat", **PRELOAD}, 1.06),
        derived("degradation", "system", {"mode": "compat", **PRELOAD}, 1.52),
        derived(
            "programs_vs_mimalloc343",
            "paceline",
            {"program": "all", "percent": 25},
            1.0417,
        ),
    ],
    "measurements": [
        {
            "benchmark": "fragmentation",
            "arm": arm,
            "params": {},
            "metric": "rss_idle",
            "median": mib * 2**20,
        }
        for arm, mib in (("paceline", 56.0), ("system", 144.0))
    ],
    "gates": [
        gate("vs_mimalloc343", "paceline", small(256), 1.12, "pass"),
        gate("vs_mimalloc343", "paceline", small(8192), 1.04, "fail"),
        gate("field", "snmalloc", small(256), 0.96, "pass"),
        gate("field", "tcmalloc", small(256), None, "not_applicable"),
    ],
}
COUNTS = "arm      256  256.D1  256.LL\nsystem  89.6   0.750   0.010\npaceline  52.0  0.250  0.000\n"


def plots(folder: Path, *inputs: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOM / "bench" / "plots.py", folder, *inputs]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    (tmp_path / "run.json").write_text(json.dumps(REPORT), encoding="utf-8")
    (tmp_path / "counts.txt").write_text(COUNTS, encoding="utf-8")
    return [tmp_path / "run.json", tmp_path / "counts.txt"]


def parsed(picture: Path) -> ElementTree.Element:
    return ElementTree.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - our own


def titles(picture: Path) -> dict[str, str]:
    """The titles of a picture's shapes: name → digits."""
    titles = [shape.text or "" for shape in parsed(picture).iter(f"{SVG}title")]
    return dict(one.split(": ", 1) for one in titles)


def test_each_kind_of_picture_shows_exactly_the_numbers_of_its_input(
    tmp_path: Path, inputs: list[Path]
) -> None:
    done = plots(tmp_path / "made", *inputs)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        "speed.svg",
        "degradation.svg",
        "left.svg",
        "programs.svg",
        "instructions.svg",
        "misses.svg",
    }
    assert titles(tmp_path / "made" / "speed.svg") == {
        "paceline, compat at 256": "1.120 (1.110 to 1.130)",
        "paceline, compat at 8,192": "1.250 (1.240 to 1.260)",
        "paceline_hardened, compat at 256": "0.750 (0.740 to 0.760)",
        "by the best, compat at 256": f"{1 / 0.96:.3f} ({1 / 0.97:.3f} to {1 / 0.95:.3f})",
    }
    assert titles(tmp_path / "made" / "left.svg") == {
        "paceline": "56.0",
        "system": "144.0",
    }
    assert titles(tmp_path / "made" / "instructions.svg") == {
        "system, 256": "89.6",
        "paceline, 256": "52.0",
    }
    misses = titles(tmp_path / "made" / "misses.svg")
    assert misses == {"paceline, 256": "0.250", "system, 256": "0.750"}
    assert titles(tmp_path / "made" / "programs.svg")["all"].startswith("0.960 (")


def test_bars_are_as_long_as_their_numbers_and_points_as_high(
    tmp_path: Path, inputs: list[Path]
) -> None:
    plots(tmp_path / "made", *inputs)
    tree = parsed(tmp_path / "made" / "degradation.svg")
    bars = [
        shape
        for shape in tree.iter(f"{SVG}rect")
        if shape.find(f"{SVG}title") is not None
    ]
    lengths = [float(bar.attrib["width"]) for bar in bars]
    assert lengths[1] / lengths[0] == pytest.approx(1.52 / 1.06, rel=1e-3)
    dots = parsed(tmp_path / "made" / "speed.svg").iter(f"{SVG}circle")
    height = {
        str(dot.findtext(f"{SVG}title")).split(":")[0]: float(dot.attrib["cy"])
        for dot in dots
    }
    low, high = height["paceline, compat at 256"], height["paceline, compat at 8,192"]
    hardened = height["paceline_hardened, compat at 256"]
    assert (low - high) / (hardened - low) == pytest.approx(
        (1.25 - 1.12) / (1.12 - 0.75), abs=0.01
    )


def test_tables_stand_between_the_marks_with_what_failed(
    tmp_path: Path, inputs: list[Path]
) -> None:
    page = tmp_path / "README.md"
    page.write_text(
        "before\n<!-- figures -->\nold\n<!-- /figures -->\nafter\n", encoding="utf-8"
    )
    for _ in range(2):  # what was put there is replaced, not added to
        done = plots(tmp_path / "made", *inputs, "--page", page)
        assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- figures -->\n![")
    assert text.endswith("<!-- /figures -->\nafter\n")
    assert "old" not in text
    assert (
        "| speed by mimalloc 3.4.3's | >= 1.05 (required) | 1.040 (8192, compat) | 1 of 2 | 1 |"
        in text
    )
    assert (
        "| speed by the best other's, one thread | >= 1 (required) | 1.042 (256, compat, snmalloc) |"
        in text
    )
    assert (
        "| compat | 256 | 1.120 (1.110 to 1.130) | 1.042 (1.031 to 1.053) snmalloc |"
        in text
    )
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert len(pictures) == 6
    assert all((tmp_path / picture).is_file() for picture in pictures)


def test_a_page_without_marks_and_a_run_without_figures_are_said(
    tmp_path: Path, inputs: list[Path]
) -> None:
    page = tmp_path / "README.md"
    page.write_text("nothing to replace\n", encoding="utf-8")
    assert (
        "has no lines <!-- figures -->"
        in plots(tmp_path / "made", *inputs, "--page", page).stderr
    )
    (tmp_path / "empty.json").write_text(
        '{"derived": [], "measurements": [], "gates": []}', encoding="utf-8"
    )
    assert plots(tmp_path / "none", tmp_path / "empty.json").returncode == 1


def test_the_allocators_page_shows_existing_pictures() -> None:
    text = (ROOM / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures, "a decision record with plots"
    for picture in pictures:
        assert parsed(ROOM / picture).tag == f"{SVG}svg"
    assert text.count("<!-- figures -->") == text.count("<!-- /figures -->") == 1


def test_every_level_of_the_suite_has_words_in_the_tables() -> None:
    gates = tomllib.loads((ROOM / "suite.toml").read_text(encoding="utf-8"))["gates"]
    named = {gate.get("derived") or gate["statistic"] for gate in gates}
    words = (ROOM / "bench" / "pages.py").read_text(encoding="utf-8")
    assert {
        name for name in named if f'    "{name}": StatisticLabel(' not in words
    } == set()
    assert len({gate["name"] for gate in gates}) == len(gates)
