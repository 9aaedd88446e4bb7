"""What the server takes as a declared value is what the agent takes."""

from __future__ import annotations

from typing import Any

import pytest
from paceline.manifest_rules import why_not
from paceline_server.jobs.declarations import ParamDeclaration


def _param(**declared: Any) -> ParamDeclaration:
    return ParamDeclaration(
        kind=declared["kind"],
        values=tuple(declared.get("values", ())),
        minimum=declared.get("minimum"),
        maximum=declared.get("maximum"),
        pattern=declared.get("pattern"),
    )


@pytest.mark.parametrize(
    "bounds", [{}, {"minimum": 10}, {"maximum": 100}, {"minimum": 10, "maximum": 100}]
)
@pytest.mark.parametrize("value", [0, 9, 10, 20, 100, 101, 10_000, "20"])
def test_an_int_with_one_bound_is_judged_as_the_agent_judges_it(
    bounds: dict[str, int], value: Any
) -> None:
    declared = {"kind": "int", "values": [20], **bounds}
    refused = _param(**declared).refuses(value)
    assert (refused is None) == (why_not(declared, value, declared_only=True) is None)
    if value == 10_000 and bounds:
        assert (refused is None) == ("maximum" not in bounds)


def test_a_refused_int_names_the_bound_it_missed() -> None:
    assert "at least 10" in str(_param(kind="int", values=[20], minimum=10).refuses(9))
    assert "at most 100" in str(
        _param(kind="int", values=[20], maximum=100).refuses(101)
    )
