"""A policy stated outside the suite is judged like the suite's own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from paceline_server.detect.policies.schemas import PolicyAdviceOut
from paceline_server.detect.policies.service import judge_on_target
from paceline_server.store.tables.fleet import Target

AT = datetime(2026, 1, 1, tzinfo=UTC)


def crossover(ratios: dict[int, float]) -> dict[str, Any]:
    points = [
        {
            "at": at,
            "ratio": ratio,
            "lower": ratio - 0.01,
            "upper": ratio + 0.01,
            "fitted": ratio,
            "winner": "arm" if ratio < 1.0 else "reference",
            "blocks": 100,
            "launches": 5,
        }
        for at, ratio in ratios.items()
    ]
    wins = [at for at, ratio in ratios.items() if ratio < 1.0]
    return {
        "benchmark": "ledger_batch",
        "answer": "always" if len(wins) == len(ratios) else "from",
        "value": min(wins),
        "lower": None,
        "upper": min(wins),
        "confidence": 0.95,
        "measured_from": min(wins),
        "smallest": min(ratios),
        "largest": max(ratios),
        "monotone": True,
        "reason": "",
        "words": "native wins",
        "points": points,
    }


def advice(cold: dict[int, float] | None, needed: int) -> PolicyAdviceOut:
    """Warm, native wins at both values; `needed`: warm-up rounds the samples ask for."""
    warmup = {
        "rounds": needed,
        "lower": needed,
        "upper": needed,
        "confidence": 0.95,
        "margin_percent": 2.0,
        "calls_per_round": 1,
        "reason": "",
        "words": "so it was measured",
        "penalties": [],
    }
    return PolicyAdviceOut.model_validate(
        {
            "id": "adv_1",
            "suite": "s",
            "policy": "p",
            "params": {"message": 150},
            "target_id": "tgt_1",
            "target_name": "phone",
            "in_force": {"minimum": 2000, "warmup_rounds": 1},
            "holds": True,
            "run_id": "run_1",
            "job_id": "job_1",
            "commit": "c",
            "measured_at": AT,
            "description": None,
            "benchmark": "ledger_batch",
            "arm": "native",
            "reference": "fallback",
            "metric": "time",
            "param": "batch",
            "unit": "fingerprints",
            "margin_percent": 2.0,
            "warm": crossover({1000: 0.8, 2000: 0.7}),
            "cold": None if cold is None else crossover(cold),
            "warmup": warmup,
            "why": "",
            "words": "",
        }
    )


LOSES_COLD = {1000: 1.3, 2000: 0.9}


@pytest.mark.parametrize(
    ("cold", "minimum", "rounds", "holds"),
    [
        (LOSES_COLD, 1000, 0, False),
        ({1000: 0.95, 2000: 0.9}, 1000, 0, True),
        (LOSES_COLD, 1000, 1, True),
        (LOSES_COLD, 1000, None, True),
        (None, 1000, 0, True),
    ],
    ids=[
        "cold loses",
        "cold wins",
        "warmed up",
        "no word of warm-up",
        "never measured cold",
    ],
)
def test_without_warm_up_rounds_the_cold_arm_is_judged_too(
    cold: dict[int, float] | None, minimum: int, rounds: int | None, holds: bool
) -> None:
    on_target = judge_on_target(
        advice(cold, needed=0), Target(name="phone", simulated=False), minimum, rounds
    )
    assert on_target.holds is holds
    assert ("in a fresh process" in on_target.why) is (cold is not None and rounds == 0)
    assert ("it picks native, which takes 30.0 % longer" in on_target.why) is not holds


@pytest.mark.parametrize(
    ("rounds", "holds"), [(0, False), (1, False), (2, True), (None, True)]
)
def test_too_few_warm_up_rounds_make_it_wrong(rounds: int | None, holds: bool) -> None:
    on_target = judge_on_target(
        advice(None, needed=2), Target(name="phone", simulated=False), 1000, rounds
    )
    assert on_target.holds is holds


def test_its_sentence_names_target_params_and_simulation() -> None:
    on_target = judge_on_target(
        advice(None, needed=0), Target(name="phone", simulated=True), 2000, None
    )
    assert (on_target.simulated, on_target.words) == (
        True,
        "On phone (simulated) at message=150 native wins",
    )
