"""Renders verdicts as JUnit XML, which GitLab, Jenkins and most CI systems show as test results.

There is one testsuite per target and benchmark, with a testcase per comparison and gate. A comparison without a rule
never fails its testcase. An inconclusive or waived one is `skipped` with its reason, so that no viewer takes it for a
pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from paceline_contract.params import params_text

from paceline_server.kernel.escaping import xml_text
from paceline_server.publish.schemas import JobVerdictsOut, VerdictsOut
from paceline_server.publish.verdicts import (
    RankedVerdict,
    ranked,
    result_words,
    subject_words,
)

JOB = "job"
"""The name of the testsuite about a target's job itself: whether it measured, and which checks failed."""


def render_junit(verdicts: VerdictsOut) -> str:
    """Return the document, with its XML declaration."""
    root = Element("testsuites", name=xml_text(verdicts.suite))
    for job in verdicts.jobs:
        _add_job(root, verdicts, job)
    _add_missing(root, verdicts)
    by_suite = sorted(ranked(verdicts), key=_suite_of)
    for (target, benchmark), rows in groupby(by_suite, key=_suite_of):
        _add_rows(root, f"{verdicts.suite}.{benchmark}", target, list(rows))
    for counter in ("tests", "failures", "errors"):
        total = sum(int(suite.get(counter, "0")) for suite in root)
        root.set(counter, str(total))
    indent(root)
    body = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _suite_of(row: RankedVerdict) -> tuple[str, str]:
    return row.target, row.item.benchmark


def _add_job(root: Element, verdicts: VerdictsOut, job: JobVerdictsOut) -> None:
    """Add a testsuite about a job: a failed job is an error, one that could not judge anything is skipped."""
    suite = _suite(root, f"{verdicts.suite}.{JOB}", job.target)
    case = _case(suite, "measured")
    if job.failure is not None:
        excerpt = "\n".join(line.text for line in job.failure.excerpt)
        body = "\n".join(
            part for part in (job.failure.sentence, excerpt, job.failure.advice) if part
        )
        _add(case, "error", job.failure.title, body, job.outcome)
    elif job.outcome not in ("pass", "fail", "inconclusive"):
        _add(case, "error", job.reason or job.outcome, "", job.outcome)
    elif job.blockers:
        _add(case, "skipped", "; ".join(job.blockers), "", None)
    if job.unaffected is not None:
        for name in job.unaffected.digests:
            _add(_case(suite, name), "skipped", job.unaffected.words, "", None)
    for check in job.checks:
        if not check.ok:
            failed = _case(suite, f"check {check.name}")
            _add(failed, "failure", f"{check.name} failed", check.detail, "check")
    for row in job.witnesses:
        named = (row.benchmark, row.arm, params_text(row.params, " "))
        witnessed = _case(suite, f"witness {' '.join(filter(None, named))}")
        if row.verdict == "pass":
            SubElement(witnessed, "system-out").text = xml_text(row.words)
        elif row.verdict == "fail" and not job.blockers:
            _add(witnessed, "failure", row.words, "", "witness")
        else:
            _add(witnessed, "skipped", row.words, "", None)
    _count(suite)


def _add_missing(root: Element, verdicts: VerdictsOut) -> None:
    """Add the requested cases that did not arrive, as errors."""
    if not verdicts.missing:
        return
    suite = _suite(root, f"{verdicts.suite}.missing", verdicts.suite)
    for group in verdicts.missing:
        _add(_case(suite, group.words), "error", group.text, "", group.reason)
    _count(suite)


def _add_rows(
    root: Element, name: str, target: str, rows: Sequence[RankedVerdict]
) -> None:
    suite = _suite(root, name, target)
    for row in rows:
        item = row.item
        params = params_text(item.params, " ")
        label = " ".join(
            part for part in (item.arm, params, subject_words(item)) if part
        )
        case = _case(suite, label)
        words = result_words(item)
        if item.waived is not None:
            _add(case, "skipped", words, "", None)
        elif row.decides and item.verdict == "fail":
            kind = "slower" if item.witness != "fail" else "witness"
            _add(case, "failure", words, item.reason, kind)
        elif item.verdict in ("inconclusive", "not_applicable"):
            _add(case, "skipped", words, "", None)
        else:
            SubElement(case, "system-out").text = xml_text(words)
    _count(suite)


def _suite(root: Element, name: str, target: str) -> Element:
    return SubElement(
        root, "testsuite", name=xml_text(name), hostname=xml_text(target), time="0"
    )


def _case(suite: Element, name: str) -> Element:
    classname = f"{suite.get('name')}.{suite.get('hostname')}"
    return SubElement(
        suite, "testcase", name=xml_text(name), classname=classname, time="0"
    )


def _add(case: Element, kind: str, message: str, body: str, type_: str | None) -> None:
    entry = SubElement(case, kind, message=xml_text(message))
    if type_ is not None:
        entry.set("type", type_)
    if body:
        entry.text = xml_text(body)


def _count(suite: Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for counter, kind in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(counter, str(sum(case.find(kind) is not None for case in cases)))
