"""Tests that reports about an attempt survive encoding and decoding, and that every wrong field is named."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from paceline_contract.attempts import CommitReport, FinishReport, StateReport
from paceline_contract.table_problems import table_problems

COMMIT = CommitReport(
    commit="0123456789abcdef",
    author="Ada <ada@example.org>",
    at=datetime(2026, 11, 23, 14, 0, tzinfo=timezone(timedelta(hours=1))),
    subject="Sort in place",
)
STATE = StateReport(
    "measuring", artifact_hash="a" * 64, commits=[COMMIT], build={"rustc": "1.80"}
)


@pytest.mark.parametrize(
    "report",
    [
        STATE,
        StateReport("preparing", "waiting for the target"),
        FinishReport("done", 7),
        FinishReport("failed", -1, "build_failed", "cargo ended with 101."),
    ],
)
def test_a_report_is_read_back_as_it_was_built(
    report: StateReport | FinishReport,
) -> None:
    data = msgspec.json.encode(report)
    assert msgspec.json.decode(data, type=type(report)) == report


WRONG: list[tuple[type, dict[str, Any], tuple[str | int, ...]]] = [
    (StateReport, {"state": "sleeping"}, ("state",)),
    (StateReport, {"artifact_hash": "A" * 64}, ("artifact_hash",)),
    (StateReport, {"detail": "x" * 501}, ("detail",)),
    (StateReport, {"build": {"rustc": 1}}, ("build", "rustc")),
    (StateReport, {"commits": [{"at": "2026-11-23"}]}, ("commits", 0, "at")),
    (StateReport, {"commits": [{"at": "2026-11-23T14:00:00"}]}, ("commits", 0, "at")),
    (StateReport, {"commits": [{"commit": "g" * 40}]}, ("commits", 0, "commit")),
    (StateReport, {"commits": [{"left_out": -1}]}, ("commits", 0, "left_out")),
    (StateReport, {"extra": 1}, ("extra",)),
    (FinishReport, {"outcome": "won"}, ("outcome",)),
    (FinishReport, {"cause": "bad_luck"}, ("cause",)),
    (FinishReport, {"detail": "x" * 4001}, ("detail",)),
    (FinishReport, {"last_seq": -2}, ("last_seq",)),
]


@pytest.mark.parametrize(("kind", "change", "place"), WRONG)
def test_a_wrong_field_is_refused_and_is_the_only_one_named(
    kind: type, change: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    good: dict[str, Any] = msgspec.to_builtins(
        STATE if kind is StateReport else FinishReport("done", 0)
    )
    wrong = {**good, **change}
    if "commits" in change:
        wrong["commits"] = [good["commits"][0] | change["commits"][0]]
    assert list(table_problems(good, kind)) == []
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, kind)
    assert [path for path, _ in table_problems(wrong, kind)] == [place]
