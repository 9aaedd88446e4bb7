"""The audit names the original's five defects, finds none in honest protocols, and ignores row order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paceline_server.stats.audit import AuditFinding, AuditPolicy, audit, mean_ratio
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples

GOLDEN = (
    Path(__file__).parents[3]
    / "native"
    / "protocol"
    / "vectors"
    / "interleaving.golden.json"
)
MASK = (1 << 64) - 1
Order = Callable[[int, int], Sequence[int]]
"""(launch, measured round) → arms by position."""


def splitmix(state: int) -> Callable[[], int]:
    def draw() -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        return z ^ z >> 31

    return draw


def fnv1a64(text: str) -> int:
    hashed = 0xCBF29CE484222325
    for byte in text.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) & MASK
    return hashed


def contract_orders(seed: int, key: str, arms: int, rounds: int) -> list[list[int]]:
    """The orders of a group and phase as `native/protocol/README.md` draws them."""
    draw = splitmix(seed ^ fnv1a64(key))

    def below(n: int) -> int:
        while (x := draw()) >= (1 << 64) - (1 << 64) % n:
            pass
        return x % n

    def shuffled() -> list[int]:
        a = list(range(arms))
        for i in range(arms - 1, 0, -1):
            j = below(i + 1)
            a[i], a[j] = a[j], a[i]
        return a

    orders: list[list[int]] = []
    while len(orders) < rounds:
        columns, shifts = shuffled(), shuffled()
        orders += [
            [columns[(p + shift) % arms] for p in range(arms)] for shift in shifts
        ]
    return orders[:rounds]


def measured(
    arms: Sequence[str],
    order: Order,
    *,
    launches: int = 5,
    rounds: int = 20,
    warmup: int = 5,
    iterations: int = 8,
    work: Mapping[str, Mapping[str, int]] | None = None,
    times: Mapping[str, float] | None = None,
) -> list[CaseSamples]:
    """Steady samples of one group; `work`: per arm, counters per iteration."""
    cases = []
    for index, arm in enumerate(arms):
        at = [
            (launch, number)
            for launch in range(launches)
            for number in range(warmup + rounds)
        ]
        position = [
            list(order(launch, number - warmup)).index(index) for launch, number in at
        ]
        rng = np.random.default_rng(index)
        level = (times or {}).get(arm, 1000.0)
        cases.append(
            CaseSamples(
                "b",
                arm,
                {"batch": 1000},
                "time",
                "ns",
                "lower",
                np.array([launch for launch, _ in at]),
                np.array([number for _, number in at]),
                np.array(position),
                level * np.exp(0.003 * rng.standard_normal(len(at))),
                np.array([number < warmup for _, number in at]),
                np.full(len(at), iterations),
                {
                    name: np.full(len(at), count * iterations)
                    for name, count in (work or {}).get(arm, {}).items()
                },
            )
        )
    return cases


def honest_protocol(launches: int, rounds: int, arms: int, seed: int = 7) -> Order:
    drawn = [
        contract_orders(seed + launch, "measure/b/batch=1000", arms, rounds)
        for launch in range(launches)
    ]
    return lambda launch, number: drawn[launch][max(number, 0)]


def names(findings: Sequence[AuditFinding]) -> set[str]:
    return {finding.name for finding in findings}


def seed_protocol() -> tuple[list[CaseSamples], dict[str, int]]:
    """000_…: native first, three iterations, warm-up rounds and building of inputs inside the timer, and a
    native path that drops its digests where the other keeps them."""
    cases = measured(
        ["native", "fallback"],
        lambda _launch, _round: [0, 1],
        launches=1,
        rounds=3,
        warmup=0,
        iterations=1,
        times={"native": 7_000.0, "fallback": 13_300.0},
        work={
            "native": {"items": 6000, "prepared": 6000, "kept": 0},
            "fallback": {"items": 1000, "prepared": 1000, "kept": 1000},
        },
    )
    return cases, {"native": 1000, "fallback": 1000}


FIVE = {
    "order_unbalanced",
    "too_few",
    "warmup_in_timer",
    "preparation_in_timer",
    "unequal_work",
}


def test_the_balanced_orders_are_those_of_the_golden_file() -> None:
    for group in json.loads(GOLDEN.read_text()):
        drawn = contract_orders(
            group["seed"], group["key"], group["arms"], len(group["orders"])
        )
        assert drawn == group["orders"]


def test_the_seeds_protocol_gets_exactly_its_five_defects() -> None:
    cases, meant = seed_protocol()
    assert names(audit(cases, "fallback", meant)) == FIVE


def test_means_alone_call_the_seeds_native_path_faster() -> None:
    cases, _ = seed_protocol()
    ratio = mean_ratio(cases[0], cases[1])
    assert ratio is not None
    assert 1.85 < 1 / ratio < 1.95


def test_an_honest_protocol_has_no_defect() -> None:
    work = {
        arm: {"items": 1000, "prepared": 0, "kept": 1000}
        for arm in ("native", "fallback")
    }
    cases = measured(["native", "fallback"], honest_protocol(5, 20, 2), work=work)
    assert audit(cases, "fallback", {"native": 1000, "fallback": 1000}) == []


@pytest.mark.parametrize("arms", range(1, 11))
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 7, 19, 20, 21])
def test_orders_of_our_own_harness_are_never_called_unbalanced(
    arms: int, rounds: int
) -> None:
    for seed in range(8):
        group = [f"arm{index}" for index in range(arms)]
        cases = measured(
            group, honest_protocol(2, rounds, arms, seed), launches=2, rounds=rounds
        )
        assert "order_unbalanced" not in names(audit(cases, "arm0"))


@pytest.mark.parametrize("arms", [2, 3, 5])
def test_an_order_that_favours_one_arm_in_one_launch_is_named_with_its_place(
    arms: int,
) -> None:
    fair = honest_protocol(5, 20, arms)
    group = [f"arm{index}" for index in range(arms)]
    cases = measured(
        group,
        lambda launch, number: (
            list(range(arms)) if launch == 3 else fair(launch, number)
        ),
    )
    (unbalanced,) = [
        finding
        for finding in audit(cases, "arm0")
        if finding.name == "order_unbalanced"
    ]
    assert unbalanced.arms == tuple(group)
    assert "20 of 20 rounds of launch 3" in unbalanced.text
    assert f"balanced are {20 / arms:g}" in unbalanced.text


def test_one_reversed_round_is_named_and_an_unfinished_square_is_not() -> None:
    """Positions of two arms: 11 and 9 of 20 rounds; 11 and 10 of 21, which no order could balance."""

    def with_counts(rounds: int, turned: int) -> set[str]:
        firsts = [0, 1] * 11
        order = [[first, 1 - first] for first in firsts[:rounds]]
        order[1:2] = [[0, 1]] * turned or order[1:2]
        cases = measured(
            ["a", "b"], lambda _launch, number: order[max(number, 0)], rounds=rounds
        )
        return names(audit(cases, "a"))

    assert "order_unbalanced" in with_counts(20, turned=1)
    assert "order_unbalanced" not in with_counts(21, turned=0)


def test_the_order_of_rows_changes_nothing() -> None:
    cases, meant = seed_protocol()
    wobbly = measured(
        ["native", "fallback", "policy"],
        honest_protocol(5, 20, 3),
        work={"native": {"items": 2}},
    )
    for group, items in ((cases, meant), (wobbly, {"native": 1})):
        expected = audit(group, "fallback", items)
        for seed in range(10):
            rng = np.random.default_rng(seed)
            shuffled = [
                _permuted(case, rng.permutation(case.value.size)) for case in group
            ]
            rng.shuffle(shuffled)
            assert audit(shuffled, "fallback", items) == expected


def _permuted(case: CaseSamples, order: np.ndarray) -> CaseSamples:
    assert case.iterations is not None
    return replace(
        case,
        launch=case.launch[order],
        round=case.round[order],
        position=case.position[order],
        value=case.value[order],
        warmup=case.warmup[order],
        iterations=case.iterations[order],
        work={name: counts[order] for name, counts in case.work.items()},
    )


def test_each_defect_alone_is_named() -> None:
    two = ["native", "fallback"]
    fair = honest_protocol(5, 20, 2)
    equal = {arm: {"items": 1000} for arm in two}
    meant = dict.fromkeys(two, 1000)
    assert names(audit(measured(two, fair, launches=2), "fallback")) == {"too_few"}
    assert names(
        audit(measured(two, fair, warmup=0, work=equal), "fallback", meant)
    ) == {"warmup_in_timer"}
    repeated = {arm: {"items": 2000} for arm in two}
    assert names(audit(measured(two, fair, work=repeated), "fallback", meant)) == {
        "warmup_in_timer"
    }
    built = {arm: {"items": 1000, "prepared": 1} for arm in two}
    assert names(audit(measured(two, fair, work=built), "fallback", meant)) == {
        "preparation_in_timer"
    }
    dropped = {"native": {"kept": 0}, "fallback": {"kept": 1000}}
    assert names(audit(measured(two, fair, work=dropped), "fallback", meant)) == {
        "unequal_work"
    }


def test_work_is_compared_per_iteration_and_only_where_both_counted() -> None:
    two = ["native", "fallback"]
    cases = measured(
        two, honest_protocol(5, 20, 2), work={arm: {"items": 10} for arm in two}
    )
    twice = np.where(cases[0].round % 2 == 0, 8, 16)
    assert cases[0].iterations is not None
    scaled = replace(cases[0], iterations=twice, work={"items": twice * 10})
    assert audit([scaled, cases[1]], "fallback") == []
    uncounted = replace(
        cases[0], work={"items": np.full(twice.size, NOT_COUNTED), "copies": twice}
    )
    assert audit([uncounted, cases[1]], "fallback") == []


@pytest.mark.parametrize(("more", "differs"), [(8, set()), (12, {"unequal_work"})])
def test_counts_differ_beyond_a_thousand_millionth(
    more: int, differs: set[str]
) -> None:
    two = ["native", "fallback"]
    work = {
        "native": {"items": 10_000_000_000 + more},
        "fallback": {"items": 10_000_000_000},
    }
    assert (
        names(audit(measured(two, honest_protocol(5, 20, 2), work=work), "fallback"))
        == differs
    )


def test_unequal_work_concerns_the_pair_and_not_the_other_arms() -> None:
    arms = ["fallback", "native", "policy"]
    work = {"fallback": {"kept": 1}, "native": {"kept": 0}, "policy": {"kept": 1}}
    (finding,) = audit(measured(arms, honest_protocol(5, 20, 3), work=work), "fallback")
    assert finding.concerns("native", "fallback")
    assert not finding.concerns("policy", "fallback")
    assert not finding.concerns("native")


def test_a_metric_read_once_per_launch_needs_no_warm_up() -> None:
    cases = measured(
        ["native", "fallback"], lambda *_: [0, 1], launches=40, rounds=1, warmup=0
    )
    assert audit(cases, "fallback") == []


def test_an_arm_that_never_settles_is_unsteady_which_decides_nothing() -> None:
    cases = measured(["native", "fallback"], honest_protocol(5, 20, 2))
    drifting = replace(cases[0], value=cases[0].value * 1.02 ** cases[0].round)
    (finding,) = audit([drifting, cases[1]], "fallback")
    assert (finding.name, finding.arms, finding.decisive) == (
        "unsteady",
        ("native",),
        False,
    )
    assert "5 of 5 launches" in finding.text


def test_the_parameters_of_an_audit_are_its_constants() -> None:
    """Each constant perturbed changes a verdict of the audit (I16: stored with it)."""
    cases, meant = seed_protocol()
    policy = AuditPolicy(
        min_blocks=3, min_launches=1, position_excess=3, work_tolerance=10.0
    )
    assert names(audit(cases, "fallback", meant, policy)) == {
        "warmup_in_timer",
        "preparation_in_timer",
    }
    assert (
        AuditPolicy.from_dict({**policy.__dict__, "warm": policy.warm.__dict__})
        == policy
    )
