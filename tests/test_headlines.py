"""The picture that opens a suite's README shows the numbers of its table, on a logarithmic axis.

`scripts/headlines.py` runs here as a process, as `scripts/generate` runs it.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]
SVG = "{http://www.w3.org/2000/svg}"
TABLE = """\
# suite

| each in one run | Here | There |
| --- | --- | --- |
| ours over `theirs` | 10 (1 to 100) | |
| points | 1,000 times | 1 to 10 |

Text.
"""


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "headlines.py", tmp_path / "scripts")
    suite = tmp_path / "native" / "mine"
    suite.mkdir(parents=True)
    (suite / "suite.toml").touch()
    (suite / "README.md").write_text(TABLE, encoding="utf-8")
    return suite / "README.md"


def headlines(readme: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = readme.parents[2] / "scripts" / "headlines.py"
    return subprocess.run(
        [sys.executable, script, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_dots_intervals_and_ranges_lie_where_their_logarithms_do(readme: Path) -> None:
    assert headlines(readme).stderr == ""
    picture = (readme.parent / "docs" / "headline.svg").read_text(encoding="utf-8")
    tree = ElementTree.fromstring(picture)  # noqa: S314 - our own
    ten, thousand = [float(dot.attrib["cx"]) for dot in tree.iter(f"{SVG}circle")]
    decade = (thousand - ten) / math.log10(1000 / 10)
    ends = [
        (float(line.attrib["x1"]), float(line.attrib["x2"]))
        for line in tree.iter(f"{SVG}line")
        if line.attrib["class"].startswith("cpu")
    ]
    assert ends == [
        pytest.approx((ten - decade, ten + decade), abs=0.2),
        pytest.approx((ten - decade, ten), abs=0.2),
    ]
    words = [text.text for text in tree.iter(f"{SVG}text")]
    assert {"ours over theirs", "10 (1 to 100)", "1,000", "1 to 10"} <= {*words}


def test_a_picture_of_another_table_is_stale_and_a_cell_without_a_ratio_is_named(
    readme: Path,
) -> None:
    headlines(readme)
    assert headlines(readme, "--check").returncode == 0
    readme.write_text(TABLE.replace("1,000", "900"), encoding="utf-8")
    stale = headlines(readme, "--check")
    assert (stale.returncode, stale.stderr) == (
        1,
        "stale: native/mine/docs/headline.svg; run: make openapi\n",
    )
    for cell in ("fast", "3 %", "0"):
        readme.write_text(TABLE.replace("1,000 times", cell), encoding="utf-8")
        refused = headlines(readme)
        assert refused.returncode == 1
        assert f"{cell!r}: " in refused.stderr
