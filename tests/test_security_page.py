"""The table of docs/security.md: every requirement has a line, and every test it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(
    r"^\| ([678](?:\.\d+){1,2}) \| ([12]) \| (.+) \| (.+) \|$", re.MULTILINE
)
REQUIRED = {
    *(f"6.1.{n}" for n in range(1, 4)),
    *(f"6.2.{n}" for n in range(1, 12)),
    *(f"6.3.{n}" for n in range(1, 5)),
    *(f"6.4.{n}" for n in range(1, 5)),
    *("6.5", "6.6", "6.8"),
    *(f"7.1.{n}" for n in range(1, 4)),
    *(f"7.2.{n}" for n in range(1, 5)),
    *(f"7.3.{n}" for n in range(1, 3)),
    *(f"7.4.{n}" for n in range(1, 6)),
    *(f"7.5.{n}" for n in range(1, 3)),
    *(f"7.6.{n}" for n in range(1, 3)),
    *("8.1.1", "8.1.2", "8.2.1", "8.2.2", "8.2.3", "8.3.1", "8.4.1"),
}
"""Levels 1 and 2 of V6, V7 and V8 of ASVS 5.0.0. Sections about factors that are not offered have one line each."""


def rows() -> list[tuple[str, ...]]:
    return ROW.findall((ROOT / "docs/security.md").read_text("utf-8"))


@cache
def names_in(file: str) -> frozenset[str]:
    path = ROOT / "backend/tests" / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)
    )


def test_every_requirement_has_one_line() -> None:
    numbers = [number for number, *_ in rows()]
    assert sorted(numbers) == sorted(REQUIRED)


def test_every_line_names_tests_that_exist_or_a_reason() -> None:
    wrong = []
    for number, _, _, proof in rows():
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", proof)
        if not named and not proof.startswith("reason: "):
            wrong.append(f"{number}: neither a test nor a reason")
        wrong += [
            f"{number}: there is no {name} in {file}"
            for file, name in named
            if name not in names_in(file)
        ]
    assert not wrong, "\n".join(wrong)
