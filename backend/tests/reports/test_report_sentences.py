"""Sentences beside charts, where hosts and devices are judged differently."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import analyse
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest
from paceline_server.reports.report_sentences import arms_summary, rule_text
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    suite_manifest,
)

NO_MARGIN = {"margin_percent"}


def manifest_of(without: set[str], **more: Any) -> dict[str, Any]:
    manifest = suite_manifest()
    about = {
        key: value
        for key, value in manifest["benchmarks"][BENCHMARK].items()
        if key not in without
    }
    manifest["benchmarks"][BENCHMARK] = about | more
    return manifest


@pytest.mark.parametrize(
    ("without", "more", "text"),
    [
        (
            set(),
            {},
            "slower than fallback when so many of its paired blocks are more than 2 % slower that",
        ),
        (
            NO_MARGIN,
            {},
            "fallback when so many of its paired blocks are more than 2 % (on devices 3 %) slower",
        ),
        (set(), {"device_reference": "fallback"}, "slower than fallback when so many"),
        (
            set(),
            {"device_reference": "native"},
            "slower than fallback (on devices native) when so many",
        ),
    ],
)
def test_the_rule_says_what_is_different_on_devices(
    without: set[str], more: dict[str, Any], text: str
) -> None:
    benchmark = read_manifest(manifest_of(without, **more)).benchmarks[BENCHMARK]
    assert text in rule_text([], benchmark)


def test_a_summary_names_the_reference_each_row_was_judged_against() -> None:
    manifest = read_manifest(manifest_of(set(), device_reference="native"))
    facts = JobFacts(bench_cases(1, {1000: -0.5, 2000: -0.5}), passed_checks(range(5)))
    rows = [
        row.model_copy(update={"target_name": name})
        for name, request in (
            ("host-1", JobRequest()),
            ("phone", JobRequest(target_kind="device")),
        )
        for row in analyse(
            manifest, facts, JobIdentity("s", "c", None, name, None), request
        ).report.comparisons
    ]
    sentence = arms_summary(rows, "ns")
    assert sentence.startswith(
        "On host-1 native is faster than fallback at both points"
    )
    assert "on phone fallback is slower than native at both points" in sentence
    sentence = arms_summary(rows, "bytes")
    assert sentence.startswith(
        "On host-1 native is better than fallback at both points"
    )
    assert "on phone fallback is worse than native at both points" in sentence
    assert "slower" not in sentence
    assert "faster" not in sentence
