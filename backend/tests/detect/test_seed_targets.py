"""Tests the targets of five source reports as gates, on the figures of the reports' own tables.

Each figure becomes the median of simulated samples with a spread of 0.2 %, which is too small to change a verdict.
The verdicts follow the tables, not the sentences around them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import JobFacts, JobIdentity
from paceline_server.detect.policies.advice_sentences import explain_holds, headline
from paceline_server.ingest.cases import Case
from paceline_server.stats.samples import CaseSamples

TARGETS = Path(__file__).parent / "targets"
WARMUP = 5
MS, US = 1e6, 1e3
Table = Mapping[tuple[Any, ...], float]
"""(benchmark, metric, arm, param value…) → the table's figure in base units."""


def manifest_of(name: str) -> Manifest:
    return read_manifest(tomllib.loads((TARGETS / f"{name}.toml").read_text("utf-8")))


def samples(
    manifest: Manifest,
    row: tuple[Any, ...],
    figure: float,
    *,
    launches: int = 5,
    rounds: int = 20,
    scatter: float = 0.002,
) -> CaseSamples:
    """Samples whose median is the figure; orders balanced as a harness balances them."""
    benchmark, metric, arm, *values = row
    declared = manifest.benchmarks[benchmark]
    total = WARMUP + rounds
    launch, number = (
        np.repeat(np.arange(launches), total),
        np.tile(np.arange(total), launches),
    )
    rng = np.random.default_rng(crc32(repr(row).encode()))
    shares = np.concatenate(
        [rng.permutation(np.linspace(-1.0, 1.0, total)) for _ in range(launches)]
    )
    place = (declared.arms.index(arm) + number + launch) % len(declared.arms)
    return CaseSamples(
        benchmark,
        arm,
        dict(zip(declared.params, values, strict=True)),
        metric,
        declared.metrics[metric].unit,
        declared.metrics[metric].direction,
        launch,
        number,
        place,
        figure * (1.0 + scatter * shares),
        number < WARMUP,
    )


def analyse_protocol(
    name: str, table: Table, announced: tuple[Case, ...] = (), **spec: Any
) -> Analysis:
    manifest = manifest_of(name)
    cases = [samples(manifest, row, figure, **spec) for row, figure in table.items()]
    return analyse(
        manifest,
        JobFacts(cases, announced=announced),
        JobIdentity(name, "seed", None, "here", None),
    )


def verdicts(analysis: Analysis, name: str, level: str = "required") -> list[str]:
    return [
        gate.verdict
        for gate in analysis.report.gates
        if gate.name == name and gate.level == level
    ]


def derived(analysis: Analysis, name: str) -> dict[str, float]:
    return {
        row.arm: row.value or 0.0 for row in analysis.report.derived if row.name == name
    }


# --- the ledger: "consistently faster", "about 20 % slower", "2,000 with one warm-up round" ---------

LEDGER = {
    "emulator": {
        1000: (211.35, 233.67),
        5000: (624.90, 948.74),
        10_000: (877.67, 1011.73),
    },
    "phone": {1000: (9.79, 7.83), 5000: (31.52, 36.17), 10_000: (36.89, 59.18)},
    "phone_warmed": {
        1000: (13.43, 11.93),
        5000: (37.74, 40.46),
        10_000: (57.05, 66.79),
    },
}


@pytest.fixture(scope="module")
def ledger() -> Analysis:
    return analyse_protocol(
        "ledger",
        {
            ("light_ledger", "time", arm, batch, setup): figure * MS
            for setup, batches in LEDGER.items()
            for batch, pair in batches.items()
            for arm, figure in zip(("native", "fallback"), pair, strict=True)
        },
    )


def test_native_loses_small_batches_on_the_phone_and_nowhere_else(
    ledger: Analysis,
) -> None:
    slower = {
        (comparison.params["setup"], comparison.params["batch"]): comparison.ratio
        for comparison in ledger.report.comparisons
        if comparison.verdict == "fail"
    }
    assert slower == {
        ("phone", 1000): pytest.approx(1.250, abs=0.002),
        ("phone_warmed", 1000): pytest.approx(1.126, abs=0.002),
    }
    assert ledger.verdict == "fail"


def test_the_policy_of_2000_picks_a_loser_on_every_set_up(ledger: Analysis) -> None:
    advised = {assessment.params["setup"]: assessment for assessment in ledger.policies}
    assert {
        setup: assessment.holds for setup, assessment in advised.items()
    } == dict.fromkeys(LEDGER, False)
    assert advised["emulator"].warm.answer == "always"
    assert "wins from the smallest measured, 1,000 fingerprints, or below" in headline(
        advised["emulator"]
    )
    assert advised["phone"].warm.value == pytest.approx(2710, abs=15)
    assert advised["phone_warmed"].warm.value == pytest.approx(2757, abs=25)
    assert advised["phone"].warm.measured_from == 5000
    assert explain_holds(advised["phone"]).startswith(
        "at 2,000 fingerprints the policy picks native, which takes "
    )
    assert "the policy picks fallback, which takes 1" in explain_holds(
        advised["emulator"]
    )


# --- the allocator -----------------------------------------------------------------------------------

RATES = {
    "hakmem": (79.2, 16.5),
    "system": (86.7, 57.1),
    "mimalloc": (114.9, 96.5),
}
ALLOCATOR = {
    ("random_mixed", "throughput", arm, size): rate * 1e6
    for arm, rates in RATES.items()
    for size, rate in zip((256, 8192), rates, strict=True)
}


def test_an_allocator_that_degrades_4_8_times_holds_none_of_its_targets() -> None:
    analysis = analyse_protocol("allocator", ALLOCATOR)
    assert derived(analysis, "degradation") == {
        "hakmem": pytest.approx(4.80, abs=0.01),
        "system": pytest.approx(1.52, abs=0.01),
        "mimalloc": pytest.approx(1.19, abs=0.01),
    }
    assert verdicts(analysis, "scaling") == ["fail", "pass", "pass"]
    assert verdicts(analysis, "scaling", "stretch") == ["fail", "pass", "pass"]
    for name in ("hot", "realistic"):
        assert (verdicts(analysis, name), verdicts(analysis, name, "stretch")) == (
            ["fail"],
            ["fail"],
        )
    ahead = [
        row.value for row in analysis.report.derived if row.name == "ahead_of_ours"
    ]
    assert ahead == [pytest.approx(rate, abs=0.01) for rate in (1.09, 3.46, 1.45, 5.85)]
    assert analysis.verdict == "fail"


def test_the_allocators_target_figures_hold_their_gates() -> None:
    aimed = {**ALLOCATOR, ("random_mixed", "throughput", "hakmem", 256): 91e6}
    analysis = analyse_protocol(
        "allocator", {**aimed, ("random_mixed", "throughput", "hakmem", 8192): 46e6}
    )
    for name in ("hot", "realistic", "scaling"):
        assert set(verdicts(analysis, name) + verdicts(analysis, name, "stretch")) == {
            "pass"
        }


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ((1.0, 1.002, 0.998, 1.001, 0.999), "pass"),
        ((1.0, 1.02, 0.98, 1.015, 0.985), "inconclusive"),
        ((1.0, 1.2, 0.8, 1.15, 0.85), "fail"),
    ],
)
def test_five_runs_cannot_prove_steadiness(
    runs: tuple[float, ...], verdict: str
) -> None:
    manifest = manifest_of("allocator")
    cases = []
    for row, figure in ALLOCATOR.items():
        case = samples(manifest, row, figure)
        levels = np.array(runs)[case.launch] if row[2] == "hakmem" else 1.0
        cases.append(CaseSamples(**{**vars(case), "value": case.value * levels}))
    analysis = analyse(
        manifest, JobFacts(cases), JobIdentity("allocator", "seed", None, "here", None)
    )
    assert set(verdicts(analysis, "steady_runs")) == {verdict}


# --- the checkpoint: "close", "varies", "borderline", "beats the target significantly" -----------------

EDITS = {
    "one_file": (12, 52, 64),
    "five_files": (12, 100, 112),
    "twenty_files": (11, 19, 30),
    "sixty_files": (12, 20, 32),
}
CHECKPOINT: Table = {
    **{
        ("checkpoint", metric, "incremental", edit): figure * MS
        for edit, figures in EDITS.items()
        for metric, figure in zip(("scan", "hash", "time"), figures, strict=True)
    },
    **{
        ("checkpoint", metric, "full", edit): figure * MS
        for edit in EDITS
        for metric, figure in (("scan", 14), ("hash", 1285), ("time", 1299))
    },
    ("snapshot", "time", "copy", 8): 13 * MS,
    ("snapshot", "time", "clone", 8): 12 * MS,
    ("snapshot", "time", "copy", 100): 14 * MS,
    ("snapshot", "time", "clone", 100): 2 * MS,
}


def test_a_checkpoint_holds_its_targets_only_where_its_table_does() -> None:
    analysis = analyse_protocol("checkpoint", CHECKPOINT)
    assert verdicts(analysis, "scan") == ["fail"] * 4, "11 and 12 ms are not below 10"
    assert verdicts(analysis, "hash") == ["fail", "fail", "pass", "pass"]
    assert verdicts(analysis, "total") == ["pass", "fail", "pass", "pass"]
    assert verdicts(analysis, "clone_pays") == ["fail", "pass"], (
        "8 MB: 1.08 times as fast; 100 MB: 7 times"
    )
    full = [
        row.median
        for row in analysis.report.measurements
        if (row.arm, row.metric) == ("full", "hash")
    ]
    assert full == pytest.approx([1285 * MS] * 4, rel=1e-3)
    assert analysis.verdict == "fail"


def test_a_strategy_that_nobody_measured_holds_nothing() -> None:
    analysis = analyse_protocol("checkpoint", CHECKPOINT)
    assert set(verdicts(analysis, "without_hashing")) == {"inconclusive"}
    reasons = {
        gate.reason for gate in analysis.report.gates if gate.name == "without_hashing"
    }
    assert reasons == {"deferred was not measured"}


def test_an_average_of_three_is_too_little_for_any_of_it() -> None:
    analysis = analyse_protocol("checkpoint", CHECKPOINT, launches=3, rounds=1)
    assert set(verdicts(analysis, "total")) == {"inconclusive"}
    reasons = {gate.reason for gate in analysis.report.gates if gate.name == "total"}
    assert reasons == {"insufficient: median needs 7 samples, has 3"}


# --- pieces: "about 40 %", "10 times the speed that is needed" -----------------------------------------


def test_crossing_costs_a_larger_share_than_reported() -> None:
    announced = Case(0, "piece", "bridge", {}, (("time", "ns", "lower"),), 1, 1_000_000)
    table = {
        ("piece", "time", "bridge"): 2.82 * MS,
        ("piece", "digest", "bridge"): 1575 * US,
    }
    analysis = analyse_protocol("piece", table, (announced,), rounds=35)
    assert derived(analysis, "crossing")["bridge"] == pytest.approx(0.4415, abs=0.001)
    assert verdicts(analysis, "crossing_share") == ["fail"]
    assert derived(analysis, "thread_at_35")["bridge"] == pytest.approx(
        0.0987, abs=0.0005
    )
    assert verdicts(analysis, "busy_now") == ["pass"]
    assert verdicts(analysis, "busy_soon") == ["fail"]
    assert verdicts(analysis, "slowest") == ["pass"]
    (tail,) = [gate for gate in analysis.report.gates if gate.name == "tail"]
    assert tail.verdict == "inconclusive"
    assert tail.reason == "insufficient: p99 needs 459 samples, has 175", (
        "the log of five seconds had 175"
    )


# --- finality and signatures: "all performance gates met or exceeded" ----------------------------------

SIGNATURES = {"sign": (72.8, 70.8, 69.9), "verify": (35.3, 35.4, 33.3)}
FINALITY: Table = {
    ("finality", "time", "graph"): 23.97,
    ("finality", "time", "ffi"): 0.843,
    ("lookup", "time", "graph", 10): 22.8,
    ("lookup", "time", "graph", 100): 24.1,
    ("lookup", "time", "graph", 1000): 25.9,
    **{
        ("signature", "throughput", arm, message): rate * 1e3
        for arm, rates in SIGNATURES.items()
        for message, rate in zip((32, 128, 256), rates, strict=True)
    },
    ("precise", "throughput", "sign"): 72.5e3,
    ("precise", "throughput", "attest"): 39.0e3,
    ("precise", "throughput", "stream"): 73.0e3,
}


@pytest.fixture(scope="module")
def finality() -> Analysis:
    return analyse_protocol("finality", FINALITY, rounds=100)


def test_signatures_at_a_third_and_three_quarters_of_the_rate_fail(
    finality: Analysis,
) -> None:
    assert verdicts(finality, "sign_rate") == ["fail"] * 3
    assert verdicts(finality, "verify_rate") == ["fail"] * 3
    for name in ("precise_sign", "precise_attest", "precise_stream"):
        assert verdicts(finality, name) == ["fail"]
    assert finality.verdict == "fail"


def test_a_check_of_843_picoseconds_was_probably_optimised_away(
    finality: Analysis,
) -> None:
    flags = {
        row.arm: row.flags
        for row in finality.report.measurements
        if row.benchmark == "finality"
    }
    assert flags == {"graph": [], "ffi": ["probably optimised away"]}
    (ffi,) = [gate for gate in finality.report.gates if gate.name == "tail_ffi"]
    assert ffi.verdict == "inconclusive"
    assert ffi.reason == "ffi takes 0.843 ns per operation: probably optimised away"
    assert ffi.actual == pytest.approx(0.843, rel=0.01)
    assert verdicts(finality, "tail_graph") == ["pass"]


def test_a_tail_figure_without_samples_does_not_pass() -> None:
    analysis = analyse_protocol("finality", FINALITY, rounds=20)
    assert verdicts(analysis, "tail_graph") == ["inconclusive"]


def test_a_lookup_is_flat_within_its_limit_and_yet_grows(finality: Analysis) -> None:
    assert derived(finality, "growth")["graph"] == pytest.approx(0.0277, abs=0.001)
    assert verdicts(finality, "flat") == ["pass"]
    assert verdicts(finality, "flat", "stretch") == ["fail"], (
        "13.6 % more at a hundred times the size"
    )
    grows = analyse_protocol(
        "finality", {**FINALITY, ("lookup", "time", "graph", 1000): 228.0}
    )
    assert verdicts(grows, "flat") == ["fail"]
    shrinks = analyse_protocol(
        "finality", {**FINALITY, ("lookup", "time", "graph", 1000): 2.28}
    )
    assert verdicts(shrinks, "flat") == ["fail"], (
        "a size is a size: a cost that falls is not flat"
    )
