"""An arm that declares a witness fails where its fallback ran, and passes nothing where nobody says what ran."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest_reader import read_manifest, read_toml
from paceline_server.alerts.explanation import side_of
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.compare import evidence_of
from paceline_server.detect.facts import JobFacts, JobIdentity, LaunchBuild
from paceline_server.detect.groups import Group
from paceline_server.detect.pull_requests import analyse_pull_request
from paceline_server.detect.reasons import WITNESS_NOT_SENT, reasons_of
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.schemas import JobReportOut
from paceline_server.detect.table import write_table
from paceline_server.detect.witnesses import Witnesses
from paceline_server.ingest.cases import Conditions
from paceline_server.publish.junit import render_junit
from paceline_server.publish.markdown import render_markdown
from paceline_server.publish.verdicts import verdicts_of_analysis
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples
from paceline_server.store.tables.decisions import Comparison
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    revision_bench_cases,
    suite_manifest,
)

pytestmark = pytest.mark.shapes("embedded")

SUITES = sorted((Path(__file__).parents[3] / "native").glob("*/suite.toml"))
WHO = JobIdentity("sorting", "a" * 40, "1" * 64, "lab-1", None)
FASTER = {1000: -0.5, 2000: -0.6}
COUNTER = {"counter": "native_calls"}
ENGINE = {"build": "engine", "values": ["avx512", "avx2"]}
NEVER = "native was built, and never called"


def _manifest(witness: dict[str, Any] | None, arm: str = "native") -> dict[str, Any]:
    manifest = suite_manifest()
    if witness is not None:
        manifest["benchmarks"][BENCHMARK]["witnesses"] = {arm: witness}
    return manifest


def _counting(
    cases: list[CaseSamples],
    count: int,
    *,
    arm: str = "native",
    but: dict[int, int] | None = None,
) -> list[CaseSamples]:
    """The cases, of which those of an arm count calls; `but`: in these launches so many."""

    def counted(case: CaseSamples) -> CaseSamples:
        counts = np.full(case.value.size, count, dtype=np.int64)
        for launch, other in (but or {}).items():
            counts[case.launch == launch] = other
        return replace(case, work={**case.work, "native_calls": counts})

    return [counted(case) if case.arm == arm else case for case in cases]


def _engines(*engines: str | None) -> list[LaunchBuild]:
    return [
        LaunchBuild(launch, "sorter", {} if engine is None else {"engine": engine})
        for launch, engine in enumerate(engines)
    ]


def _analysed(
    cases: list[CaseSamples],
    witness: dict[str, Any] | None,
    arm: str = "native",
    **facts: Any,
) -> Analysis:
    facts.setdefault("checks", passed_checks(range(5)))
    return analyse(
        read_manifest(_manifest(witness, arm)), JobFacts(cases, **facts), WHO
    )


CASES = bench_cases(1, FASTER)
WRONG_WORKLOAD = [
    LaunchBuild(launch, "other", {"engine": "avx2"}) for launch in range(5)
]


@pytest.mark.parametrize(
    ("witness", "cases", "builds", "verdict", "words"),
    [
        (
            COUNTER,
            _counting(CASES, 7),
            [],
            "pass",
            "native ran: its counter native_calls is above 0",
        ),
        (
            COUNTER,
            _counting(CASES, 0),
            [],
            "fail",
            f"{NEVER}: its counter native_calls is 0",
        ),
        (
            COUNTER,
            _counting(CASES, 7, but={3: 0}),
            [],
            "fail",
            f"{NEVER} in 1 of 5 launches (launch 3): its counter native_calls is 0",
        ),
        (
            COUNTER,
            CASES,
            [],
            "inconclusive",
            "nothing shows that native ran: its witness, the counter native_calls, was not sent in any launch",
        ),
        (
            COUNTER,
            _counting(CASES, 7, but={3: NOT_COUNTED}),
            [],
            "inconclusive",
            "nothing shows that native ran: its witness, the counter native_calls, was not sent "
            "in 1 of 5 launches (launch 3)",
        ),
        (
            COUNTER,
            _counting(CASES, 7, but={3: 0, 4: NOT_COUNTED}),
            [],
            "fail",
            f"{NEVER} in 1 of 5 launches (launch 3): its counter native_calls is 0",
        ),
        (
            ENGINE,
            CASES,
            _engines("avx2", "avx512", "avx2", "avx2", "avx2"),
            "pass",
            "native ran: engine of start.build is avx2 or avx512",
        ),
        (
            ENGINE,
            CASES,
            _engines("avx2", "avx2", "scalar", "avx2", "scalar"),
            "fail",
            f"{NEVER} in 2 of 5 launches (launches 2, 4): engine of start.build is scalar, expected avx512 or avx2",
        ),
        (
            ENGINE,
            CASES,
            WRONG_WORKLOAD,
            "inconclusive",
            "nothing shows that native ran: its witness, engine of start.build, was not sent in any launch",
        ),
    ],
)
def test_an_arm_ran_where_every_launch_shows_it(
    witness: dict[str, Any],
    cases: list[CaseSamples],
    builds: list[LaunchBuild],
    verdict: str,
    words: str,
) -> None:
    analysis = _analysed(cases, witness, builds=builds)
    report = analysis.report
    assert analysis.verdict == verdict, analysis.reason
    assert [
        (row.arm, row.params, row.verdict, row.words) for row in report.witnesses
    ] == [("native", {}, verdict, words)]
    for row in report.comparisons:
        assert (row.verdict, row.witness) == (verdict, verdict)
        assert verdict == "pass" or row.reason == words
    reasons = reasons_of(report)
    if verdict == "pass":
        assert reasons == []
    else:
        (reason,) = reasons
        assert (reason.kind, reason.verdict) == ("witness", verdict)
        assert reason.text == f"{BENCHMARK}: {words}"
        assert reason.next_step == (
            WITNESS_NOT_SENT if verdict == "inconclusive" else None
        )
    assert not analysis.extendable, "no number of launches changes what ran"
    assert report.audits == [], "a witness counts no work"


def test_a_suite_without_a_witness_is_judged_as_before() -> None:
    plain = _analysed(CASES, None)
    counting = _analysed(_counting(CASES, 0), None)
    assert plain.report == counting.report
    assert plain.report.witnesses == []
    stored = plain.report.model_dump(mode="json", exclude={"witnesses"})
    for row in stored["comparisons"]:
        del row["witness"]
    assert JobReportOut.model_validate(stored) == plain.report, "a report of before"


@pytest.mark.parametrize(
    ("features", "verdict"),
    [(["sha_ni"], "fail"), (["avx2"], "pass"), (None, "inconclusive")],
)
def test_a_witness_applies_to_cpus_with_the_features_that_it_requires(
    features: list[str] | None, verdict: str
) -> None:
    known: dict[str, object] = {}
    if features is not None:
        known["cpu_features"] = features
    analysis = _analysed(
        _counting(CASES, 0),
        {**COUNTER, "requires": ["sha_ni"]},
        conditions=[Conditions("before", 0, known)],
    )
    assert analysis.verdict == verdict, analysis.reason
    assert len(analysis.report.witnesses) == (verdict != "pass")


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.parent.name)
def test_our_own_suites_declare_what_their_fallbacks_do_not_send(suite: Path) -> None:
    manifest, _ = read_toml(suite.read_bytes())
    declared = [
        (name, benchmark, arm, witness)
        for name, benchmark in manifest.benchmarks.items()
        for arm, witness in benchmark.witnesses.items()
    ]
    assert declared
    for name, benchmark, arm, witness in declared:
        fallen_back = replace(
            CASES[0],
            benchmark=name,
            arm=arm,
            params={},
            work={witness.counter or "": np.zeros(CASES[0].value.size, np.int64)},
        )
        facts = JobFacts(
            [fallen_back],
            builds=[
                LaunchBuild(
                    launch, benchmark.workload, {witness.build or "": "portable"}
                )
                for launch in range(5)
            ],
            conditions=[Conditions("before", 0, {"cpu_features": witness.requires})],
        )
        witnesses = Witnesses.of(manifest, [Group(name, {})], facts)
        reason = witnesses.why_not(Group(name, {}), arm)
        assert reason is not None
        assert "built, and never called: " in reason


def test_a_fallback_at_one_point_fails_that_point_and_no_other_arm() -> None:
    """Gates and derived metrics of the arm fail or say so, those of the other arm hold."""
    manifest = _manifest(COUNTER)
    gate = {"benchmark": BENCHMARK, "metric": "time", "op": "<", "required": 1e12}
    speedup = {
        "name": "gain",
        "kind": "speedup_between_arms",
        "benchmark": BENCHMARK,
        "metric": "time",
        "arm": "fallback",
        "base_arm": "native",
    }
    manifest |= {
        "gates": [
            gate | {"arm": "native"},
            gate | {"arm": "fallback"},
            {"derived": "gain", "op": ">", "required": 0.0},
        ],
        "derived": [speedup],
    }
    cases = [
        case if case.params["batch"] == 1000 else fallen
        for case, fallen in zip(_counting(CASES, 7), _counting(CASES, 0), strict=True)
    ]
    report = analyse(
        read_manifest(manifest), JobFacts(cases, checks=passed_checks(range(5))), WHO
    ).report
    assert [(row.params, row.verdict) for row in report.witnesses] == [
        ({"batch": 1000}, "pass"),
        ({"batch": 2000}, "fail"),
    ]
    assert [row.verdict for row in report.comparisons] == ["pass", "fail"]
    assert [
        (row.arm, row.derived, row.params["batch"], row.verdict, row.witness)
        for row in report.gates
    ] == [
        ("native", None, 1000, "pass", "pass"),
        ("native", None, 2000, "fail", "fail"),
        ("fallback", None, 1000, "pass", None),
        ("fallback", None, 2000, "pass", None),
        ("fallback", "gain", 1000, "pass", None),
        ("fallback", "gain", 2000, "inconclusive", "inconclusive"),
    ]
    assert [row.note.startswith(NEVER) for row in report.derived] == [False, True]
    assert [(reason.kind, reason.verdict) for reason in reasons_of(report)] == [
        ("witness", "fail")
    ]


def test_a_reference_that_never_ran_fails_the_job_and_decides_about_no_other_arm() -> (
    None
):
    analysis = _analysed(_counting(CASES, 0, arm="fallback"), COUNTER, "fallback")
    assert analysis.verdict == "fail"
    assert {row.verdict for row in analysis.report.comparisons} == {"inconclusive"}
    assert analysis.reason.startswith(f"{BENCHMARK}: fallback was built")


def test_a_failed_check_is_said_instead() -> None:
    analysis = _analysed(_counting(CASES, 0), COUNTER, checks=[])
    assert analysis.verdict == "inconclusive"
    assert [reason.kind for reason in reasons_of(analysis.report)] == ["blocker"]
    (witness,) = analysis.report.witnesses
    assert witness.verdict == "fail"


def _revisions(
    base_count: int | None,
    head_count: int | None,
    *,
    at_base: bool,
    at_head: bool,
    of_head: dict[str, Any] = COUNTER,
) -> list[Analysis]:
    """A/B job and pull request of equal revisions; without a count nothing is sent."""
    sides = [
        side if count is None else _counting(side, count)
        for side, count in zip(
            revision_bench_cases(1, {1000: 0.0, 2000: 0.0}),
            (base_count, head_count),
            strict=True,
        )
    ]
    old, new = (
        Revision(
            name * 40,
            name * 64,
            JobFacts(side, checks=passed_checks(range(5))),
            read_manifest(_manifest(witness)),
        )
        for name, side, witness in zip(
            "fa",
            sides,
            (COUNTER if at_base else None, of_head if at_head else None),
            strict=True,
        )
    )
    assert new.manifest is not None
    return [
        analyse_revisions(new.manifest, old, new, WHO),
        analyse_pull_request(new.manifest, old, new, WHO),
    ]


def _of_native(analysis: Analysis) -> set[str]:
    rows = analysis.report.comparisons
    return {
        row.verdict for row in rows if row.arm == "native" and row.sides == "revisions"
    }


def test_of_two_revisions_the_heads_witness_counts_alone() -> None:
    for analysis in _revisions(None, 7, at_base=False, at_head=True):
        assert _of_native(analysis) == {"pass"}, analysis.reason
        assert len(analysis.report.witnesses) == 1
    for analysis in _revisions(0, 7, at_base=True, at_head=True):
        assert _of_native(analysis) == {"pass"}, analysis.reason
    for analysis in _revisions(7, 0, at_base=True, at_head=True):
        assert (analysis.verdict, _of_native(analysis)) == ("fail", {"fail"})
        assert analysis.reason.startswith(f"{BENCHMARK}: {NEVER}")
        fallback = [row for row in analysis.report.comparisons if row.arm != "native"]
        assert {row.verdict for row in fallback} == {"pass"}


@pytest.mark.parametrize("worse", [True, False])
def test_an_arm_that_never_ran_confirms_no_suspicion(worse: bool) -> None:
    """However its fallback's times moved: an alert would open, and a bisection begin."""
    for analysis in _revisions(7, 0, at_base=True, at_head=True):
        pairs = [judged.pair for judged in analysis.ruled]
        for pair in (pair for pair in pairs if pair.arm == "native"):
            assert pair.outcome.verdict == "fail"
            stored = Comparison(
                verdict=pair.outcome.verdict,
                lower=pair.outcome.lower,
                evidence=evidence_of(pair) | {"faster": True},
            )
            assert side_of(stored, worse=worse) == "unknown"


def test_a_pull_request_cannot_drop_a_witness() -> None:
    compared, pull_request = _revisions(7, 0, at_base=True, at_head=False)
    assert _of_native(compared) == {"pass"}
    assert (pull_request.verdict, _of_native(pull_request)) == ("fail", {"fail"})


def test_a_pull_request_cannot_change_a_witness_and_is_told_so() -> None:
    compared, pull_request = _revisions(
        7, 0, at_base=True, at_head=True, of_head={"counter": "other_calls"}
    )
    assert _of_native(compared) == {"inconclusive"}, "it does not send its own"
    assert (pull_request.verdict, _of_native(pull_request)) == ("fail", {"fail"})
    assert "native_calls is 0; head declares another witness" in pull_request.reason
    (witness,) = pull_request.report.witnesses
    assert witness.words.endswith("and base's counts")


@pytest.mark.parametrize(
    ("count", "table", "heading", "case"),
    [
        (
            7,
            "ok",
            "as their witnesses show, these arms ran: native of sort",
            "<system-out>",
        ),
        (0, "FAILED", "sort\\_batch: native was built, and never called", "<failure"),
        (None, "unknown", "Next: Let the workload send it", "<skipped"),
    ],
)
def test_every_output_says_whether_an_arm_ran(
    count: int | None, table: str, heading: str, case: str
) -> None:
    cases = CASES if count is None else _counting(CASES, count)
    analysis = _analysed(cases, COUNTER)
    (row,) = analysis.report.witnesses
    written = io.StringIO()
    write_table(analysis, written)
    assert f"witness    {table} - {BENCHMARK}: {row.words}\n" in written.getvalue()
    verdicts = verdicts_of_analysis(analysis, None)
    assert heading in render_markdown(verdicts)
    assert verdicts.jobs[0].witnesses == [row]
    junit = render_junit(verdicts)
    witnessed = junit.partition(f'name="witness {BENCHMARK} native"')[2]
    assert case in witnessed.partition("</testcase>")[0]
    assert junit.count('type="slower"') == 0
