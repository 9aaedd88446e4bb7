"""JUnit XML is valid, says what failed and what was not decided, and a real consumer renders it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from paceline_server.detect.schemas import WaivedOut
from paceline_server.publish.junit import render_junit
from paceline_server.publish.schemas import VerdictsOut

from .conftest import comparison, gate, job, verdicts

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
HOSTILE = "</testcase>]]>&<\x00\x1b\ufffe\n\"'| \u202e\U0001f600"


def parsed(of: VerdictsOut) -> ElementTree.Element:
    """The document, after the schema has accepted it."""
    text = render_junit(of)
    SCHEMA.validate(text)
    return ElementTree.fromstring(text)  # noqa: S314 - our own document


def cases(root: ElementTree.Element, kind: str) -> list[str]:
    return [
        case.attrib["name"]
        for case in root.iter("testcase")
        if case.find(kind) is not None
    ]


def test_only_what_decides_the_run_fails_a_testcase(mixed: VerdictsOut) -> None:
    root = parsed(mixed)
    assert cases(root, "failure") == [
        "slowest size=1000 time against kotlin",
        "native size=1000 time against kotlin",
        "native gate tail",
    ]
    assert "unwatched size=1000 time against kotlin" in cases(root, "system-out")
    failure = root.find(".//testcase/failure")
    assert failure is not None
    assert failure.attrib["message"] == "1.5 times slowest"


def test_the_undecided_and_the_inapplicable_are_skipped_with_their_reason(
    mixed: VerdictsOut,
) -> None:
    root = parsed(mixed)
    assert cases(root, "skipped") == [
        "unsure size=1000 time against kotlin",
        "native gate elsewhere",
    ]
    reasons = [skipped.attrib["message"] for skipped in root.iter("skipped")]
    assert reasons == [
        "1.01 times unsure: because of unsure",
        "needs avx512bw (required)",
    ]


def test_a_job_that_failed_and_missing_cases_are_errors(mixed: VerdictsOut) -> None:
    root = parsed(mixed)
    assert cases(root, "error") == ["measured", "24 cases: build failed"]
    error = root.find(".//testcase/error")
    assert error is not None
    assert error.attrib == {"message": "The build failed", "type": "failed"}
    assert "cannot find `hash`" in (error.text or "")


def test_the_counts_are_those_of_the_testcases(mixed: VerdictsOut) -> None:
    root = parsed(mixed)
    assert root.attrib["tests"] == str(len(list(root.iter("testcase"))))
    assert (root.attrib["failures"], root.attrib["errors"]) == ("3", "2")


def test_void_conditions_are_skipped_and_never_a_pass() -> None:
    root = parsed(
        verdicts(
            job(outcome="inconclusive", blockers=["the clock stepped"]), missing=[]
        )
    )
    assert cases(root, "skipped") == ["measured"]


def test_what_was_waived_is_skipped_with_who_waived_it() -> None:
    waived = WaivedOut(
        waiver_id="wvr_1",
        alert_id=None,
        by="Ada",
        reason="later",
        until=None,
        words="waived by Ada: later",
    )
    failing = gate("tail", "fail", waived=waived)
    root = parsed(verdicts(job(outcome="pass", gates=[failing]), missing=[]))
    assert cases(root, "failure") == []
    (skipped,) = root.iter("skipped")
    assert str(skipped.get("message")).endswith("; waived by Ada: later")


@pytest.mark.parametrize("text", [HOSTILE, "", "é" * 5000])
def test_any_name_is_valid_xml(text: str) -> None:
    root = parsed(
        verdicts(
            job(
                text, comparisons=[comparison(text, "fail", benchmark=text, words=text)]
            ),
            suite=text,
        )
    )
    name = cases(root, "failure")[0]
    assert "\x00" not in name


def test_a_real_consumer_renders_every_testcase(
    mixed: VerdictsOut, tmp_path: Path
) -> None:
    """junit2html is one of the viewers people use; it refuses what it cannot read."""
    source, page = tmp_path / "verdicts.xml", tmp_path / "verdicts.html"
    source.write_text(render_junit(mixed), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "junit2htmlreport", str(source), str(page)],
        check=True,
        capture_output=True,
    )
    shown = page.read_text(encoding="utf-8")
    root = ElementTree.fromstring(source.read_text())  # noqa: S314 - our own document
    assert all(case.attrib["name"] in shown for case in root.iter("testcase"))
