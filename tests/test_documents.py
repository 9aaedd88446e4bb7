"""Tests that targets, commands, files, anchors and endpoints named in the documents exist."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from paceline.forges.github import COMMAND
from paceline.testing import commands
from paceline_server.testing import commands as server_commands
from printed_commands import blocks_of

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WANTED = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code_of(page: Path) -> str:
    """Everything set in code: blocks and spans."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text_of(page), re.DOTALL))


GROUPS = (
    "account",
    "alerts",
    "project",
    "rules",
    "schedules",
    "targets",
    "token",
    "waivers",
)
"""Commands that hold commands."""


def anchor(heading: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


RUN = {"paceline": commands.run, "paceline-server": server_commands.run}


@pytest.fixture(scope="module", autouse=True)
def _commands() -> Iterator[None]:
    """Ends what forks commands."""
    yield
    commands.close()
    server_commands.close()


@cache
def help_of(program: str, *command: str) -> str:
    env = {**os.environ, "COLUMNS": "200"}
    done = RUN[program](*command, "-h", env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_document_is_there() -> None:
    assert {page.name for page in PAGES} >= set(WANTED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(
        r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    ):
        if target.startswith(("http://", "https://")):
            continue
        path, _, fragment = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name}: {target}"
        if fragment:
            assert fragment in {
                anchor(heading)
                for heading in re.findall(r"^#+ (.+)$", text_of(linked), re.MULTILINE)
            }, target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    targets = set(
        re.findall(r"^([a-z0-9-]+):", text_of(ROOT / "Makefile"), re.MULTILINE)
    )
    assert set(re.findall(r"\bmake ([a-z][a-z0-9-]*)", code_of(page))) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_exist(page: Path) -> None:
    code = code_of(page).replace("\\\n", " ").replace(COMMAND, "")
    for program, command, rest in re.findall(
        r"\b(paceline(?:-server)?) ([a-z][a-z-]*)\b([^`\n|]*)", code
    ):
        assert re.search(rf"^[│ ]+{command}  +\S", help_of(program), re.MULTILINE), (
            f"{program} {command}"
        )
        sub = re.match(r" ([a-z]+(?:-[a-z]+)*)\b", rest) if command in GROUPS else None
        if command == "judge":
            continue  # its options are held by test_own_suites.py, which calls it
        shown = help_of(program, command, *([sub[1]] if sub else []))
        for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", rest):
            assert option in shown, f"{program} {command} {option}"


PRINTING = [
    "README.md",
    *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")),
]
"""The pages whose commands people copy."""
COPIED = re.compile(r"^(?:paceline|paceline-server|make|curl) ", re.MULTILINE)


@pytest.mark.parametrize("page", PRINTING)
def test_every_block_of_commands_is_run_by_a_test_or_says_why_not(page: str) -> None:
    runners = [
        *(ROOT / "tests").glob("test_*.py"),
        ROOT / "backend" / "tests" / "journey" / "test_first_day.py",
    ]
    tests = "".join(map(text_of, runners))
    for block in blocks_of(page):
        if not COPIED.search(block.text):
            continue
        assert block.mark is not None, f"no mark before {block.text}"
        kind, words = block.mark
        if kind == "run":
            assert f'block("{page}", "{words}")' in tests, f"no test runs {words}"
        for path in re.findall(
            r"\b(?:backend|contract|runners|tests|scripts)/[\w/.-]+", words
        ):
            assert (ROOT / path).exists(), f"{page}: {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    """Paths in code that begin with a folder of this repository."""
    roots = "native|runners|backend|frontend|alembic|scripts|docker|tests|docs|ci|.ci"
    for path in re.findall(rf"`((?:{roots})/[\w./-]*)`", text_of(page)):
        if "NAME" not in path and not path.startswith("frontend/dist"):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


DEFINED_AS = {
    ".py": r"^ *def {}\(",
    ".rs": r"^ *(?:pub )?fn {}[(<]",
    ".tsx": r"^export function {}\(",
}


def test_every_stop_of_the_tour_exists() -> None:
    """A reader sets breakpoints at `file: function`."""
    text = text_of(ROOT / "ARCHITECTURE.md")
    tour = text.partition("## Follow one run\n")[2].partition("\n## ")[0]
    stops = re.findall(r"([\w./-]+\.(?:py|rs|tsx)): (\w+)", tour)
    assert 20 <= len(stops) <= 40
    for place, function in stops:
        path = ROOT / re.sub(
            r"^[SA]/",
            lambda short: {
                "S/": "backend/paceline_server/",
                "A/": "runners/paceline/",
            }[short[0]],
            place,
        )
        defined = DEFINED_AS[path.suffix].format(function)
        assert re.search(defined, text_of(path), re.MULTILINE), f"{place}: {function}"


def test_endpoints_of_the_ci_page_are_in_the_contract() -> None:
    paths = json.loads(text_of(ROOT / "backend" / "openapi.json"))["paths"]
    named = re.findall(
        r"\$PACELINE_SERVER(/api/v1/[a-z/]+)", text_of(ROOT / "docs" / "ci.md")
    )
    assert named
    for name in named:
        assert name.rstrip("/") in paths or f"{name}{{run_id}}" in paths, name


def test_every_room_of_the_server_is_on_the_map() -> None:
    rooms = {
        path.parent.name
        for path in (ROOT / "backend" / "paceline_server").glob("*/__init__.py")
    }
    assert [
        room
        for room in sorted(rooms)
        if f"/{room}/`" not in text_of(ROOT / "ARCHITECTURE.md")
    ] == []
