"""Sentences of a document against its own averages: every one of them, each about the devices it names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paceline_server.imports.logcat import claim_agrees, devices_named, imported_rows
from paceline_server.imports.schemas import ClaimIn, LogcatIn, QuantityIn

from .test_imports import document

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (
        Path(__file__).parents[3]
        / "native"
        / "protocol"
        / "vectors"
        / "claims.golden.json"
    ).read_text("utf-8")
)


def claim(**fields: Any) -> dict[str, Any]:
    return {
        "line": 90,
        "batch": 1000,
        "percent": 0.0,
        "about": False,
        "printed": "0",
        "text": "",
        **fields,
    }


def printed_number(low: int, high: int) -> QuantityIn:
    return QuantityIn(printed="x", value=low, low=low, high=high, unit="ns")


@pytest.mark.parametrize("vector", VECTORS["named"], ids=lambda vector: vector["text"])
def test_a_sentence_is_about_the_devices_the_importer_takes_it_to_be_about(
    vector: dict[str, Any],
) -> None:
    assert devices_named(vector["text"], vector["devices"]) == set(vector["named"])


@pytest.mark.parametrize("vector", VECTORS["holds"], ids=str)
def test_a_sentence_holds_where_the_importer_says_so(vector: dict[str, Any]) -> None:
    statement = claim(
        **{name: vector[name] for name in ("percent", "printed", "about")}
    )
    averages = printed_number(*vector["arm"]), printed_number(*vector["fallback"])
    assert claim_agrees(ClaimIn.model_validate(statement), *averages) is vector["holds"]


def test_every_sentence_about_a_row_is_compared_with_it() -> None:
    """The first is right about the row without warm-up, the second wrong about both, the third of another
    device; 25.0 % and 12.6 % are what was printed."""
    device = "On the Xiaomi 13T Pro native is slower."
    claims = [
        claim(line=90, percent=25.0, printed="25", text=device),
        claim(line=91, percent=3.0, printed="3", text=device),
        claim(
            line=92,
            percent=-9.6,
            printed_number="9.6",
            text="On the Pixel 5 Emulator it is 9.6 % faster.",
        ),
    ]
    rows = {
        row.id: row
        for row in imported_rows(LogcatIn.model_validate(document(claims=claims)))
    }
    assert {
        name: [(statement.line, statement.agrees) for statement in row.stated]
        for name, row in rows.items()
    } == {
        **{name: [] for name in rows},
        "1.1": [(92, True)],
        "2.1": [(90, True), (91, False)],
        "3.1": [(90, False), (91, False)],
    }
    assert [len(rows[name].notes) for name in ("1.1", "2.1", "3.1")] == [0, 1, 2]
    assert (
        rows["2.1"]
        .notes[0]
        .startswith("The document says 3 % slower (line 91); its own averages say")
    )
