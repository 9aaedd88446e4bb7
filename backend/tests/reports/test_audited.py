"""Whatever is recorded in the audit log is said in words, not in the name of an action."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import paceline_server
import pytest
from paceline_server.alerts.schemas import Action
from paceline_server.reports.report_sentences import audited

ROOT = Path(paceline_server.__file__).parent
COMPUTED = {
    "alerts/decisions.py": [*get_args(Action), "assign", "due", "issue"],
    "alerts/rules/service.py": ["save"],
    "fleet/target_actions.py": [
        "target.maintenance_on",
        "target.maintenance_off",
        "target.quarantine",
        "target.release",
        "target.recheck",
        "target.reboot",
    ],
}
"""Actions of the modules that do not write them out where they record them."""


def recorded() -> Iterator[tuple[str, str | None]]:
    """(module, action) of every entry that is written anywhere; None: it is computed."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.record":
                action = node.args[2]
                said = str(action.value) if isinstance(action, ast.Constant) else None
                yield path.relative_to(ROOT).as_posix(), said


def test_the_modules_that_compute_an_action_are_known() -> None:
    assert {module for module, action in recorded() if action is None} == set(COMPUTED)


@pytest.mark.parametrize(
    "action",
    sorted(
        {one for _, one in recorded() if one is not None}
        | {one for of in COMPUTED.values() for one in of}
    ),
)
def test_every_recorded_action_has_words(action: str) -> None:
    said = audited("Ada", action, "thing", "Ledger")
    assert said.startswith("Ada ")
    assert "thing Ledger" in said
    assert not said.startswith(f"Ada {action} "), "add it to the words of the audit log"
