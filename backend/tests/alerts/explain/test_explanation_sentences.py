"""Filters in words: every number is called what it is."""

from __future__ import annotations

from paceline_server.alerts.explanation import filter_text


def test_the_p_value_of_a_round_is_called_p_and_held_against_its_limit() -> None:
    stored = {
        "name": "false_discovery",
        "value": 0.0005,
        "limit": 0.05 / 1000,
        "passed": False,
    }
    assert (
        filter_text(stored)
        == "among the series of its round: p = 0.0005, at most 5e-05 allowed"
    )
