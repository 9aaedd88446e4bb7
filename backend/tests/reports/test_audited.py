"""Tests that every action in the audit log has a sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import paceline_server
import pytest
from paceline_server.alerts.schemas import Action
from paceline_server.reports.report_sentences import audit_sentence

ROOT = Path(paceline_server.__file__).parent
COMPUTED = {
    "accounts/administration.py": [
        "disable",
        "enable",
        "promote",
        "demote",
        "reset_link",
        "break_glass",
    ],
    "alerts/triage.py": [*get_args(Action), "assign", "due", "issue"],
    "fleet/agent_audit.py": [
        "enrol",
        "rotate",
        "rotated",
        "regrant",
        "limit_silence",
        "revoke",
        "claim.move",
        "claim.dismiss",
    ],
    "fleet/target_actions.py": [
        "target.maintenance_on",
        "target.maintenance_off",
        "target.quarantine",
        "target.release",
        "target.recheck",
        "target.reboot",
    ],
    "projects/service.py": ["set", "remove", "grant", "withdraw"],
}
"""Actions of the modules that do not write them out where they record them."""


def recorded_actions() -> Iterator[tuple[str, str | None]]:
    """(module, action) of every entry that is written anywhere; None: it is computed."""
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text("utf-8")
        if (
            "audit.record" not in text
        ):  # parsing all modules takes a second of each worker
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.record":
                action = node.args[2]
                name = str(action.value) if isinstance(action, ast.Constant) else None
                yield path.relative_to(ROOT).as_posix(), name


def test_the_modules_that_compute_an_action_are_known() -> None:
    assert {module for module, action in recorded_actions() if action is None} == set(
        COMPUTED
    )


@pytest.mark.parametrize(
    "action",
    sorted(
        {action for _, action in recorded_actions() if action is not None}
        | {action for of in COMPUTED.values() for action in of}
    ),
)
def test_every_recorded_action_has_words(action: str) -> None:
    sentence = audit_sentence("Ada", action, "thing", "Ledger")
    assert sentence.startswith("Ada ")
    assert "thing Ledger" in sentence
    assert not sentence.startswith(f"Ada {action} "), (
        "add it to the words of the audit log"
    )
