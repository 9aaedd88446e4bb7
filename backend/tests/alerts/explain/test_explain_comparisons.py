"""Explanations of what was compared inside one job: arms, and old against new; made again from its blocks."""

from __future__ import annotations

from typing import Any

AlertLab = Any
SLOWER = {1000: 0.126, 2000: -0.6}


def test_an_arm_alert_explains_every_filter_and_is_made_again_bit_for_bit(
    desk: AlertLab,
) -> None:
    alert = desk.open_alert(SLOWER)
    explanation = desk.get(f"/alerts/{alert['id']}/explain", rederive=True)
    assert (explanation["kind"], explanation["cause"], explanation["cause_text"]) == (
        "arm_slower",
        None,
        None,
    )
    assert (
        "took longer than fallback in sort_batch at batch=1000"
        in explanation["sentence"]
    )
    assert explanation["sentence"] == alert["explanation"]
    assert explanation["rule"].startswith("native-slower-than-fallback, version 1: ")
    assert [finding["role"] for finding in explanation["findings"]] == [
        "candidate",
        "confirmation",
    ]
    for finding in explanation["findings"]:
        assert finding["where"] == "native in sort_batch at batch=1000"
        assert finding["rederived"]["identical"], finding["rederived"]["text"]
        assert {"blocks", "launches", "sign_test"} <= {
            check["name"] for check in finding["filters"]
        }
        assert all(check["text"] for check in finding["filters"])
        assert finding["window"]["text"].endswith(
            " rounds of both arms in 5 launches of one job"
        )
