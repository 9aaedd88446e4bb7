"""Tests the helper for workloads in Python against the contract's reader, its orders and its command line."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.stream import StreamReader
from paceline_contract.workload import Params, Workload, orders

VECTORS = Path(__file__).resolve().parents[2] / "native" / "protocol" / "vectors"
QUICK = ["--rounds", "2", "--warmup-rounds", "1", "--min-time-ns", "0"]


def make_workload() -> Workload:
    work = Workload("demo", "sorting", knobs={"depth": 2, "mode": "plain"})
    sort = work.benchmark(
        "sort", items=lambda n, form: n if form else 0, n=[10, 20], form=["a", "b"]
    )

    @sort.prepare
    def _(source: random.Random, n: int, form: str) -> list[float]:
        print(f"preparing {n} {form}")  # noqa: T201 - what a user's code does
        return [source.random() for _ in range(n)]

    @sort.arm
    def builtin(data: list[float]) -> list[float]:
        return sorted(data)

    @sort.arm(name="wrong")
    def _(data: list[float]) -> list[float]:
        return data if work.knobs["depth"] == 3 else sorted(data)

    @sort.arm(name="simd", unavailable="this CPU has no AVX2")
    def _(data: list[float]) -> None:
        raise AssertionError(data)

    plain = work.benchmark("plain")
    calls = Counter[str]()

    def take() -> dict[str, int]:
        taken = dict(calls)
        calls.clear()
        return taken

    plain.arm(name="only", work=take)(lambda _: calls.update(only_calls=1))
    return work


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str, work: Workload | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Run the workload; its exit status and events."""
    status = (work or make_workload()).run([*QUICK, *arguments])
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return status, events


def test_the_orders_are_the_contracts() -> None:
    golden = json.loads((VECTORS / "interleaving.golden.json").read_text("utf-8"))
    for group in golden:
        count = len(group["orders"])
        drawn = orders(group["seed"], group["key"], group["arms"], count)
        assert list(islice(drawn, count)) == group["orders"], group["key"]


def test_a_stream_is_accepted_by_the_contracts_reader(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert make_workload().run([*QUICK, "--launch", "3", "--seed", "7"]) == 0
    printed = capsys.readouterr()
    reader = StreamReader()
    read = [*reader.feed(printed.out.encode()), *reader.close()]
    assert len(read) == len(printed.out.splitlines())
    assert printed.err.count("preparing") == 4, "a print of the user's is no event"
    events = [json.loads(line) for line in printed.out.splitlines()]
    cases = {e["case"]: e for e in events if e["type"] == "case"}
    assert len(cases) == 4 * 3 + 1
    assert [e["params"] for e in cases.values()][:6:3] == [
        {"form": "a", "n": 10},
        {"form": "a", "n": 20},
    ]
    assert cases[2]["unavailable"] == "this CPU has no AVX2"
    assert cases[3]["items_per_iteration"] == 20
    samples = [e for e in events if e["type"] == "samples"]
    assert len(samples) == (4 * 2 + 1) * 3
    assert {e["case"] for e in samples} == cases.keys() - {2, 5, 8, 11}
    assert {e["launch"] for e in samples} == {3}
    for sample in samples:
        counted = {"only_calls": sample["iterations"]}
        assert sample.get("work") == (counted if sample["case"] == 12 else None)
    assert all(
        len({e["iterations"] for e in samples if e["case"] == n}) <= 1 for n in cases
    )


def test_inputs_are_the_same_for_one_seed_and_others_for_another() -> None:
    sort = make_workload()._benchmarks[0]
    params: Params = {"n": 5, "form": "a"}
    assert sort.input(1, params) == sort.input(1, params) != sort.input(2, params)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ([], 13),
        (["--benchmark", "plain"], 1),
        (["--params", "n=10"], 7),
        (["--params", "n=10|30", "--params", "form=b"], 7),
        (["--case", "sort/simd/n=20"], 2),
        (["--case", "sort/builtin", "--case", "plain/only"], 5),
    ],
)
def test_filters_narrow_the_list_without_preparing_anything(
    capsys: pytest.CaptureFixture[str], filters: list[str], count: int
) -> None:
    assert make_workload().run(["--list", *filters]) == 0
    printed = capsys.readouterr()
    listing = json.loads(printed.out)
    assert (listing["suite"], listing["workload"]) == ("demo", "sorting")
    assert len(listing["cases"]) == count
    assert "preparing" not in printed.err


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["--benchmark", "sor"], "usage", "known are sort, plain"),
        (["--case", "sort/quick"], "usage", "builtin, wrong, simd"),
        (["--params", "m=1"], "usage", "'m'"),
        (["--params", "n=many"], "usage", "'many'"),
        (["--params", "form=c"], "usage", "known are a, b"),
        (["--knob", "width=1"], "usage", "known are depth, mode"),
        (["--knob", "depth=x"], "usage", "knob depth is a number"),
        (["--rounds", "0"], "usage", "rounds"),
        (["--seed", str(2**63)], "usage", "seed"),
        (["--bogus"], "usage", "--bogus"),
        (["--list", "--bench", "sort"], "usage", "--bench"),
        (["--benchmark", "plain", "--case", "sort/wrong"], "no_case", "filters"),
    ],
)
def test_a_wrong_command_line_is_an_error_event_after_start(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, named: str
) -> None:
    status, events = run(capsys, *arguments)
    assert status == 1
    assert [event["type"] for event in events] == ["start", "error"]
    assert events[1]["code"] == code
    assert named in events[1]["text"]


def test_arms_that_disagree_fail_the_check_and_knobs_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, events = run(capsys, "--knob", "depth=3", "--params", "n=10")
    assert status == 0
    assert events[0]["build"]["depth"] == "3"
    assert "mode" not in events[0]["build"]
    checks = [event["ok"] for event in events if event["type"] == "check"]
    assert checks == [False, False, True]


def test_an_exception_of_the_users_ends_the_stream_with_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = Workload("demo")
    broken = work.benchmark("broken")

    @broken.arm
    def first(_: object) -> None:
        raise RuntimeError("the disk is on fire")

    assert work.run(QUICK) == 1
    printed = capsys.readouterr()
    last = json.loads(printed.out.splitlines()[-1])
    assert (last["type"], last["code"]) == ("error", "internal")
    assert "the disk is on fire" in last["text"]
    assert "Traceback" in printed.err
    with pytest.raises(ValueError, match="two arms called first"):
        broken.arm(first)
