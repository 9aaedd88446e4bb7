"""Checks rules that need Python's syntax tree: docstrings, waits, skips, commits, imports.

Every rule is a pure function `(path, tree) -> complaints`, with an example that it catches. import-linter checks the
layers (`backend/pyproject.toml`), ruff the style.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = "backend/paceline_server/"
FEATURES = (
    "accounts",
    "alerts",
    "catalog",
    "channels",
    "detect",
    "fleet",
    "imports",
    "ingest",
    "jobs",
    "live",
    "reports",
    "series",
)

Rule = Callable[[str, ast.Module], list[str]]


@cache
def trees() -> dict[str, ast.Module]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted(
        name for name in filter(None, listed.split("\0")) if (ROOT / name).is_file()
    )
    assert len(names) > 20, "the list of modules is not believable"
    return {
        name: ast.parse((ROOT / name).read_text(encoding="utf-8"), name)
        for name in names
    }


def is_test(path: str) -> bool:
    """Tests, but not the workloads they have measured: those may hang on purpose."""
    return "/tests/" in f"/{path}" and "/workload/" not in path


def called(node: ast.AST) -> str:
    """The dotted name a call is made by, as far as it is names: `time.sleep`, `session.commit`."""
    parts: list[str] = []
    at = node.func if isinstance(node, ast.Call) else node
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    parts.append(at.id if isinstance(at, ast.Name) else "?")
    return ".".join(reversed(parts))


def imports(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """(line, module, name) of every import, also those inside functions; `name` is empty for `import x`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)


def no_docstring(path: str, tree: ast.Module) -> list[str]:
    return (
        [] if ast.get_docstring(tree) else [f"{path}: does not open with a docstring"]
    )


def sleeping_tests(path: str, tree: ast.Module) -> list[str]:
    if not is_test(path):
        return []
    slept = {
        name
        for _, module, name in imports(tree)
        if module == "time" and name == "sleep"
    }
    return [
        f"{path}:{node.lineno}: sleeps; wait for a condition with a deadline"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) in {"time.sleep", *slept}
    ]


REQUESTING = re.compile(
    r"^httpx2?\.(get|options|head|post|put|patch|delete|request|stream|Client|AsyncClient)$"
)


def hurried_requests(path: str, tree: ast.Module) -> list[str]:
    """A request of httpx fails after five seconds unless it says otherwise, which a loaded machine may need."""
    if not is_test(path):
        return []
    return [
        f"{path}:{node.lineno}: fails after 5 s; give it `timeout=WITHIN_S`"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and REQUESTING.match(called(node))
        and not any(keyword.arg in ("timeout", None) for keyword in node.keywords)
    ]


SKIPPING = re.compile(r"(^|\.)(skip|skipif|xfail|skipTest)$")
MACHINE_FEATURE = re.compile(
    r"linux|macos|windows|posix|root|kernel|cpu|core|governor|/proc|/sys|psi|cgroup|thermal|battery|android|gpu"
    r"|docker|compose|jdk|(go|rust) toolchain|c\+\+ library|terminal|ipv6|file ?system|disk|sqlite|postgresql",
    re.IGNORECASE,
)


def unexplained_skips(path: str, tree: ast.Module) -> list[str]:
    """A skip is allowed only for a feature this machine or database lacks, and its text names it."""
    found = []
    with_arguments = {
        id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not SKIPPING.search(called(node)):
            continue
        if not called(node).startswith(("pytest.", "self.", "unittest.")):
            continue
        call = with_arguments.get(id(node))
        values = (
            [*call.args, *(keyword.value for keyword in call.keywords)] if call else []
        )
        texts = [
            leaf.value
            for value in values
            for leaf in ast.walk(value)
            if isinstance(leaf, ast.Constant)
        ]
        if not any(
            isinstance(text, str) and MACHINE_FEATURE.search(text) for text in texts
        ):
            found.append(
                f"{path}:{node.lineno}: skipped without naming the machine feature it needs"
            )
    return found


def commits_elsewhere(path: str, tree: ast.Module) -> list[str]:
    """Only `store/session.py` commits, so that a transaction ends in one place."""
    if (
        not path.startswith(SERVER)
        or is_test(path)
        or path == f"{SERVER}store/session.py"
    ):
        return []
    return [
        f"{path}:{node.lineno}: commits; only store/session.py does"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node).endswith(".commit")
    ]


def sql_in_routes(path: str, tree: ast.Module) -> list[str]:
    """Routes name `Session` in their signatures and nothing else of SQLAlchemy."""
    if not re.fullmatch(rf"{SERVER}\w+/routes\.py", path):
        return []
    return [
        f"{path}:{line}: imports {module}.{name}; SQL belongs to queries.py"
        for line, module, name in imports(tree)
        if module.startswith("sqlalchemy")
        and (module, name) != ("sqlalchemy.orm", "Session")
    ]


def http_in_queries(path: str, tree: ast.Module) -> list[str]:
    if not re.fullmatch(rf"{SERVER}\w+/queries\.py", path):
        return []
    return [
        f"{path}:{line}: imports {module}.{name}; queries raise no HTTP errors"
        for line, module, name in imports(tree)
        if module.startswith(
            ("fastapi", "starlette", "paceline_server.kernel.problems")
        )
        or (module, name) == ("paceline_server.kernel", "problems")
    ]


@cache
def shared_vocabulary() -> frozenset[str]:
    """Modules that features may use of each other besides `service` and `schemas`."""
    config = tomllib.loads((ROOT / "backend/pyproject.toml").read_text("utf-8"))
    return frozenset(config["tool"]["paceline"]["shared_vocabulary"])


def past_the_service(path: str, tree: ast.Module) -> list[str]:
    """A feature uses another only through its `service`, the wire shapes that service speaks, and the shared
    vocabulary."""
    own = re.match(rf"{SERVER}(\w+)/", path)
    if own is None or own[1] not in FEATURES or is_test(path):
        return []
    found = []
    for line, module, name in imports(tree):
        room = re.fullmatch(r"paceline_server\.(\w+)((?:\.\w+)*)", module)
        if room is None or room[1] not in FEATURES or room[1] == own[1]:
            continue
        used = module.removeprefix("paceline_server.")
        if not (ROOT / SERVER / f"{used.replace('.', '/')}.py").is_file():
            used = f"{used}.{name}"
        if (
            used.rpartition(".")[2] not in {"service", "schemas"}
            and used not in shared_vocabulary()
        ):
            found.append(
                f"{path}:{line}: uses {used} past its service; declare shared vocabulary in backend/pyproject.toml"
            )
    return found


TABLES = "paceline_server.store.tables."


@cache
def rooms_of_tables() -> dict[str, frozenset[str]]:
    """The rooms that may import the tables of each file: their owner, and the readers that are declared."""
    config = tomllib.loads((ROOT / "backend/pyproject.toml").read_text("utf-8"))
    return {
        name: frozenset([table["owner"], *table["readers"]])
        for name, table in config["tool"]["paceline"]["tables"].items()
    }


def tables_past_their_owner(path: str, tree: ast.Module) -> list[str]:
    """A room imports its own tables, and those of others that it is declared to read."""
    room = re.match(rf"{SERVER}(\w+)/", path)
    if room is None or room[1] in ("store", "testing") or is_test(path):
        return []
    return [
        f"{path}:{line}: reads another room's {name} of {module}; use the owner's service, or declare it in "
        "backend/pyproject.toml"
        for line, module, name in imports(tree)
        if module.startswith(TABLES)
        and room[1] not in rooms_of_tables()[module.removeprefix(TABLES)]
    ]


def test_every_table_has_an_owner_and_every_reader_is_one() -> None:
    """A reader that stopped reading leaves the list, so that it only grows by decision."""
    homes = {
        Path(path).stem
        for path in trees()
        if path.startswith(f"{SERVER}store/tables/") and "__init__" not in path
    }
    assert set(rooms_of_tables()) == homes
    read = {
        (module.removeprefix(TABLES), room[1])
        for path, tree in trees().items()
        if (room := re.match(rf"{SERVER}(\w+)/", path))
        for _, module, _ in imports(tree)
        if module.startswith(TABLES)
    }
    declared = {
        (name, room) for name, rooms in rooms_of_tables().items() for room in rooms
    }
    owned_by_store = {(name, "store") for name in homes}
    assert declared - read - owned_by_store == set()


def kinds_asked_for_by_name(path: str, tree: ast.Module) -> list[str]:
    """What differs between kinds of alerts is in their classes, behind the protocol of `alerts/kind.py`."""
    if not path.startswith(f"{SERVER}alerts/") or path.startswith(
        f"{SERVER}alerts/kinds/"
    ):
        return []
    return [
        f"{path}:{node.lineno}: compares the kind of an alert; ask its class (`kind_of`)"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and re.search(r"\b(?:alert|other|living)\.kind\b", ast.unparse(node))
    ]


METAPHORS = frozenset(
    [
        "Ask",
        "Asked",
        "Beat",
        "Beside",
        "Chronicle",
        "Climb",
        "Desk",
        "Does",
        "Duty",
        "Elsewhere",
        "Ended",
        "Found",
        "Given",
        "Heard",
        "Here",
        "Kept",
        "Lives",
        "Looked",
        "Means",
        "Owed",
        "Past",
        "Said",
        "Seen",
        "Stranger",
        "Told",
        "Ways",
        "Wish",
    ]
)
"""Class names that are verbs, participles, adverbs or metaphors; LANGUAGE: nouns of the domain and their role."""


def classes_without_role(path: str, tree: ast.Module) -> list[str]:
    return [
        f"{path}:{node.lineno}: class {node.name}; name it by its role, as a noun"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.lstrip("_") in METAPHORS
    ]


WIRE_SUFFIXES = {"Request": "In", "Response": "Out"}


def wire_shapes_without_suffix(path: str, tree: ast.Module) -> list[str]:
    """Bodies of requests end in `In`, those of responses in `Out`; `kernel/wire.py` has the two general ones."""
    if not path.startswith(SERVER) or path == f"{SERVER}kernel/wire.py":
        return []
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for base in node.bases:
            suffix = WIRE_SUFFIXES.get(called(base).removeprefix("wire."))
            if suffix is not None and not node.name.endswith(suffix):
                found.append(
                    f"{path}:{node.lineno}: class {node.name} ends in {suffix}"
                )
    return found


def repeated_classes(modules: dict[str, ast.Module]) -> list[str]:
    """Class names that one package of production code has more than once."""
    places: dict[tuple[str, str], list[str]] = {}
    for path, tree in modules.items():
        if not path.startswith(("backend/", "runners/", "contract/")) or is_test(path):
            continue
        package = "/".join(path.split("/")[:3])
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                name = node.name.lstrip("_")
                places.setdefault((package, name), []).append(path)
    return [
        f"{package}: class {name} is in {' and '.join(paths)}"
        for (package, name), paths in places.items()
        if len(paths) > 1
    ]


def test_a_package_has_each_class_name_once() -> None:
    assert repeated_classes(trees()) == []


def test_a_repeated_class_name_is_noticed() -> None:
    module = ast.parse("class Filter: ...")
    modules = {f"{SERVER}jobs/a.py": module, f"{SERVER}jobs/b/c.py": module}
    assert len(repeated_classes(modules)) == 1
    assert not repeated_classes(dict(list(modules.items())[:1]))


RULES: dict[Rule, list[tuple[str, str]]] = {
    classes_without_role: [("a.py", "class Asked: ..."), ("a.py", "class _Told: ...")],
    wire_shapes_without_suffix: [
        (f"{SERVER}jobs/schemas.py", "class Run(Request): ..."),
        (f"{SERVER}api.py", "class Version(wire.Response): ..."),
    ],
    no_docstring: [("a.py", "x = 1\n"), ("p/__init__.py", "")],
    sleeping_tests: [
        ("a/tests/test_b.py", "import time\ntime.sleep(1)"),
        ("tests/b.py", "from time import sleep\nsleep(1)"),
    ],
    hurried_requests: [
        ("tests/b.py", "import httpx\nhttpx.get('http://127.0.0.1')"),
        ("a/tests/b.py", "import httpx\nwith httpx.Client(base_url='x') as c: ..."),
    ],
    unexplained_skips: [
        ("a/tests/b.py", "import pytest\npytest.skip('later')"),
        ("a/tests/b.py", "import pytest\n@pytest.mark.skip\ndef test_x(): ..."),
        (
            "a/tests/b.py",
            "import pytest\n@pytest.mark.xfail(reason='flaky')\ndef test_x(): ...",
        ),
    ],
    commits_elsewhere: [
        (f"{SERVER}jobs/service.py", "def f(session):\n    session.commit()")
    ],
    sql_in_routes: [
        (f"{SERVER}jobs/routes.py", "from sqlalchemy import select"),
        (
            f"{SERVER}jobs/routes.py",
            "def f():\n    from sqlalchemy.orm import selectinload",
        ),
    ],
    http_in_queries: [
        (f"{SERVER}jobs/queries.py", "from fastapi import HTTPException"),
        (f"{SERVER}jobs/queries.py", "from paceline_server.kernel import problems"),
    ],
    tables_past_their_owner: [
        (
            f"{SERVER}channels/queries.py",
            "from paceline_server.store.tables.jobs import Job",
        ),
    ],
    kinds_asked_for_by_name: [
        (f"{SERVER}alerts/triage.py", "x = alert.kind == 'environment'"),
    ],
    past_the_service: [
        (
            f"{SERVER}alerts/service.py",
            "from paceline_server.jobs.queries import job_by_id",
        ),
        (f"{SERVER}alerts/service.py", "from paceline_server.jobs import queries"),
        (
            f"{SERVER}alerts/service.py",
            "from paceline_server.detect.changes import planning",
        ),
    ],
}
CLEAN = [
    (
        f"{SERVER}jobs/routes.py",
        '"""x."""\nfrom sqlalchemy.orm import Session\nfrom . import queries',
    ),
    (
        f"{SERVER}alerts/service.py",
        '"""x."""\nfrom paceline_server.jobs import service',
    ),
    (f"{SERVER}store/session.py", '"""x."""\ndef f(s):\n    s.commit()'),
    (
        "tests/b.py",
        '"""x."""\nimport pytest\npytest.skip("no docker compose here")\nevent.wait(1)',
    ),
    ("tests/b.py", '"""x."""\nimport httpx\nhttpx.Client(timeout=60)'),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps(rule: Rule) -> None:
    found = [
        complaint for path, tree in trees().items() for complaint in rule(path, tree)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [(rule, *example) for rule, examples in RULES.items() for example in examples],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_rule_catches_a_violation(rule: Rule, path: str, source: str) -> None:
    assert len(rule(path, ast.parse(source))) == 1


@pytest.mark.parametrize(("path", "source"), CLEAN)
def test_rules_accept_clean_modules(path: str, source: str) -> None:
    tree = ast.parse(source)
    assert [complaint for rule in RULES for complaint in rule(path, tree)] == []


def unused_constants(constants: ast.Module, users: dict[str, ast.Module]) -> list[str]:
    """Upper-case names the module defines and nobody reads."""
    defined = {
        target.id
        for node in constants.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id.isupper()
    }
    read = {
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else node.name
        for tree in users.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute | ast.alias)
        and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }
    return sorted(defined - read)


def test_every_statistical_constant_is_used() -> None:
    home = f"{SERVER}stats/constants.py"
    assert (
        unused_constants(
            trees()[home], {p: t for p, t in trees().items() if not is_test(p)}
        )
        == []
    )


def test_an_unused_constant_is_noticed() -> None:
    constants = ast.parse("ALPHA: float = 0.001\nBETA = 2\nGAMMA = 3\n")
    users = {
        "a.py": ast.parse("from x import ALPHA\n"),
        "b.py": ast.parse("import x\nprint(x.GAMMA)\n"),
    }
    assert unused_constants(constants, users) == ["BETA"]
