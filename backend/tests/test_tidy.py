"""Checks rules for every language: names, headers, words, and no trace of a machine.

Every rule is a pure function `(path, text) -> complaints`, with a test that it catches a violation. Rules that need
Python's syntax tree are in `test_tidy_python.py`; formatters decide about layout.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Rule = Callable[[str, str], list[str]]

GENERATED = re.compile(
    r"(^|/)(openapi\.json|schema\.gen\.ts|package-lock\.json|Cargo\.lock|requirements\.lock)$"
    r"|^scripts/pins/|^docker/[a-z]+\.lock$|/vectors/|/captured/|\.(svg|png|ico|woff2)$"
)
BRACES = {
    ".rs",
    ".kt",
    ".kts",
    ".java",
    ".ts",
    ".tsx",
    ".mjs",
    ".js",
    ".c",
    ".h",
    ".cpp",
    ".hpp",
    ".css",
}


@cache
def tracked() -> dict[str, str]:
    """Text of every file git tracks or would track, by path from the root; generated ones are left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    texts = {}
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and not GENERATED.search(name):
            texts[name] = path.read_text(encoding="utf-8")
    assert len(texts) > 20, "the list of files is not believable"
    return texts


def complaints(rule: Rule) -> list[str]:
    return [
        complaint for path, text in tracked().items() for complaint in rule(path, text)
    ]


# --- names, openings, waiting, skipping ---

FAMILY = {
    ".kts": ".kt",
    ".tsx": ".ts",
    ".mjs": ".ts",
    ".js": ".ts",
    ".h": ".c",
    ".cpp": ".c",
    ".hpp": ".c",
    ".sh": "",
}
FORBIDDEN_NAMES = re.compile(
    r"(^|[-_./])(utils?|helpers?|common|managers?)($|[-_./])"
    r"|(^|/)(words|ways|desk|here|lives|pasts|announced|beginnings)\.\w+$",
    re.IGNORECASE,
)
"""Names that hold anything, and names that do not say what they hold."""


def forbidden_names(path: str, _text: str) -> list[str]:
    return (
        [f"{path}: says nothing; name what it holds"]
        if FORBIDDEN_NAMES.search(path)
        else []
    )


OPENINGS = {
    ".rs": ("//!", "/*!"),
    ".kt": ("/*", "//"),
    ".java": ("/*", "//"),
    ".ts": ("/*", "//"),
    ".c": ("/*", "//"),
    ".sh": ("#",),
    "": ("#",),
}


PLAIN_TEXT = {"LICENSE", "VERSION"}


def no_opening(path: str, text: str) -> list[str]:
    """Source that does not begin by saying what it is for; browser tests say it in their names."""
    suffix = Path(path).suffix
    expected = OPENINGS.get(FAMILY.get(suffix, suffix) if suffix != ".sh" else ".sh")
    if expected is None or path in PLAIN_TEXT:
        return []
    if Path(path).name.startswith(".") or path.endswith((".test.ts", ".test.tsx")):
        return []
    lines = [
        line.strip()
        for line in text.split("\n")
        if line.strip() and not line.startswith("#!/")
    ]
    return (
        []
        if lines and lines[0].startswith(expected)
        else [f"{path}: does not open with what it is for"]
    )


SLEEPS = re.compile(r"\bwaitForTimeout\s*\(|\bthread::sleep\s*\(|\bThread\.sleep\s*\(")


def is_test(path: str) -> bool:
    return bool(
        re.search(
            r"(^|/)(tests?|e2e)/|\.test\.tsx?$|\.spec\.ts$|(^|/)test_\w+\.py$|Test\.kt$",
            path,
        )
    )


def sleeping_tests(path: str, text: str) -> list[str]:
    """Tests of compiled and browser languages that wait for time instead of a condition."""
    if not is_test(path) or path.endswith(".py"):
        return []
    return [
        f"{path}:{number}: waits for time; wait for a condition with a deadline"
        for number, line in enumerate(text.split("\n"), 1)
        if SLEEPS.search(line)
    ]


SKIPS = re.compile(
    r"#\[ignore\]|\b(?:it|test|describe)\.(?:skip|only|fixme|todo)\b|@Disabled(?!\(\")"
)


def skipped_tests(path: str, text: str) -> list[str]:
    if Path(path).suffix not in BRACES:
        return []
    return [
        f"{path}:{number}: a test is skipped or alone"
        for number, line in enumerate(text.split("\n"), 1)
        if SKIPS.search(line)
    ]


# --- no trace of a machine, glossary ---

# Written in two halves so that this file does not complain about itself.
MACHINE = re.compile(
    "|".join(
        [
            r"/wo" r"rk/(?:main|shared)",
            r"/ro" r"ot/\.",
            r"/ho" r"me/[a-z]",
            r"/Us" r"ers/[a-z]",
            r"/opt/wh" r"eels",
            r"\.pye" r"nv",
            r"arti" r"factory",
            r"\bne" r"xus\.",
            r"jfr" r"og",
            r"--index" r"-url\s+http",
            r"\"resol" r"ved\":\s*\"http",
            r"/var/fol" r"ders/",
        ]
    )
)


def machine_traces(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: names a place of one machine: {match[0]}"
        for number, line in enumerate(text.split("\n"), 1)
        if (match := MACHINE.search(line))
    ]


WORDS = re.compile(
    r"\b(metric values?|(?<!virtual )machines?|workers?|benchmark tests?|build numbers?)\b",
    re.IGNORECASE,
)
SHOWN = re.compile(
    r">([^<>{}=;]*[a-z][^<>{}=;]*)<|[\"'`]([^\"'`\n]*[a-z] [^\"'`\n]*)[\"'`]"
)


def words_not_used(path: str, text: str) -> list[str]:
    """Text of the screens that uses a word the glossary replaced."""
    if not path.startswith("frontend/src/") or is_test(path):
        return []
    without_comments = re.sub(r"^\s*(//|/?\*).*$", "", text, flags=re.MULTILINE)
    return [
        f"{path}: {word[0]!r} in {shown[0].strip()!r}; see the glossary"
        for shown in SHOWN.finditer(without_comments)
        if (word := WORDS.search(shown[0]))
    ]


RULES: dict[Rule, list[tuple[str, str]]] = {
    forbidden_names: [
        ("a/utils.py", ""),
        ("a/string_helpers.rs", ""),
        ("common/a.ts", ""),
        ("a/job-manager.ts", ""),
    ],
    no_opening: [
        ("a.rs", "use std::io;\n"),
        ("a.ts", "import x\n"),
        ("a.kt", "package x\n"),
        ("b.sh", "x=1\n"),
    ],
    sleeping_tests: [
        ("a/tests/b.rs", "std::thread::sleep(d);"),
        ("e2e/a.spec.ts", "await page.waitForTimeout(5)"),
    ],
    skipped_tests: [
        ("a.rs", "#[ignore]"),
        ("a.test.ts", "test.skip('x')"),
        ("a.spec.ts", "test.only('x')"),
    ],
    machine_traces: [
        ("a.md", "cd /wo" + "rk/main"),  # in two pieces: this file is looked at too
        ("a.json", '"resol' + 'ved": "https://x"'),
        ("a", "/ho" + "me/u"),
    ],
    words_not_used: [
        ("frontend/src/a.tsx", "<p>This machine is busy</p>"),
        ("frontend/src/a.tsx", 'label="Pick a worker"'),
    ],
}
CLEAN = {
    "a.rs": '//! Opens well.\n\npub fn f() {\n    g("{");\n}\n',
    "a.tsx": "/** Opens well. */\nexport function F() {\n  return <p>One target is busy</p>;\n}\n",
    "a.c": "/* Opens well. */\nstatic int f(int a) {\n    return a;\n}\n",
    "scripts/a": "#!/bin/sh\n# Opens well.\nf() {\n  x\n}\n",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps(rule: Rule) -> None:
    found = complaints(rule)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [(rule, *example) for rule, examples in RULES.items() for example in examples],
    ids=lambda value: (
        value.__name__ if callable(value) else "" if len(value) > 40 else value
    ),
)
def test_rule_catches_a_violation(rule: Rule, path: str, text: str) -> None:
    assert len(rule(path, text)) == 1


@pytest.mark.parametrize("path", CLEAN)
def test_rules_accept_clean_source(path: str) -> None:
    assert [complaint for rule in RULES for complaint in rule(path, CLEAN[path])] == []


def test_migrations_folder_never_becomes_a_package() -> None:
    """`alembic/__init__.py` would shadow the library of that name."""
    assert [
        name for name in tracked() if re.match(r"alembic/(.*/)?__init__\.py$", name)
    ] == []
