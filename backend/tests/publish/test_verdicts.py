"""The same verdicts in every format, from the API and offline, with the numbers that the API gives (I21)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from paceline.commands import submitting
from paceline.errors import UserError
from paceline_contract.outputs import Output
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.publish import offline
from paceline_server.stats.voids import VoidLimits
from paceline_server.store import outbox
from paceline_server.testing.delivered_jobs import MERGE_BASE, Lab, open_lab
from paceline_server.testing.running_server import running
from paceline_server.testing.sorting_suite import SUITE, bench_cases, write_directory

ROOT = Path(__file__).parents[3]
PREFIX = "/api/v1"
FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token)


def _text(lab: Lab, run_id: str, wanted: str) -> tuple[str, str]:
    """The media type and the document."""
    answer = lab.client.get(
        f"{PREFIX}/runs/{run_id}/verdicts",
        params={"format": wanted},
        headers=dict(lab.headers),
    )
    assert answer.status_code == 200, answer.text
    return answer.headers["content-type"].split(";")[0], answer.text


def test_every_format_gives_the_same_verdict_and_the_numbers_of_the_report(
    lab: Lab,
) -> None:
    leased = lab.measure(SLOWER)
    report = lab.client.get(
        f"{PREFIX}/jobs/{leased.job_id}/report", headers=dict(lab.headers)
    ).json()
    kind, text = _text(lab, leased.run_id, "json")
    document = json.loads(text)
    assert (kind, document["schema"]) == ("application/json", "paceline.verdicts/1")
    assert (document["outcome"], document["run_id"]) == ("fail", leased.run_id)
    assert document["jobs"][0]["comparisons"] == report["comparisons"]
    worst = next(row for row in report["comparisons"] if row["verdict"] == "fail")
    assert worst["decides"] is True
    for wanted, media_type in (
        ("junit", "application/xml"),
        ("markdown", "text/markdown"),
    ):
        kind, text = _text(lab, leased.run_id, wanted)
        assert kind == media_type
        ratio = re.escape(worst["words"].split(" (")[0])
        assert re.search(ratio, text), wanted


@pytest.mark.shapes("embedded", "scaled")
def test_a_pull_request_is_judged_in_one_run_that_belongs_to_no_history_and_alerts_nobody(
    lab: Lab,
) -> None:
    request = {"number": 7, "url": "https://forge.example/7", "title": "Sort <faster>"}
    lab.request(head="c" * 40, base_branch="main", pull_request=request)
    leased = lab.deliver_ab(SLOWER)
    outbox.drain()
    document = json.loads(_text(lab, leased.run_id, "json")[1])
    assert (document["outcome"], document["base_commit"]) == ("fail", MERGE_BASE)
    assert document["pull_request"] == request
    kinds = [(reason["verdict"], reason["kind"]) for reason in document["reasons"]]
    assert kinds == [("fail", "regression"), ("fail", "arm")]
    assert document["completeness"] == "all 4 cases arrived"
    text = _text(lab, leased.run_id, "markdown")[1]
    assert "Pull request 7: Sort &lt;faster&gt;" in text
    assert "- **Slower than base:** sort\\_batch batch=1000: native at head is " in text

    def listed(path: str, name: str) -> Any:
        answer = lab.client.get(f"{PREFIX}{path}", headers=dict(lab.headers))
        assert answer.status_code == 200, answer.text
        return answer.json()[name]

    assert listed("/alerts", "items") == []
    assert listed("/series", "items") == []
    arms = f"/arms?suite={SUITE}&benchmark=sort_batch"
    assert listed(arms, "comparisons") == [], "they are not what the team runs"


def test_an_unknown_run_is_not_found_and_an_unknown_format_is_refused(
    lab: Lab,
) -> None:
    path = f"{PREFIX}/runs/run_nowhere/verdicts"
    assert lab.client.get(path, headers=dict(lab.headers)).status_code == 404
    refused = lab.client.get(f"{path}?format=yaml", headers=dict(lab.headers))
    assert refused.status_code == 422
    assert lab.client.get(path).status_code == 401


def test_a_run_that_has_not_been_measured_says_so_and_passes_nothing(lab: Lab) -> None:
    run = lab.client.post(
        f"{PREFIX}/runs", json={"suite": SUITE}, headers=dict(lab.headers)
    ).json()
    _, text = _text(lab, run["id"], "json")
    assert json.loads(text)["outcome"] == "queued"
    _, xml = _text(lab, run["id"], "junit")
    assert 'errors="1"' in xml


def test_the_schema_in_the_repository_describes_a_served_and_an_offline_document(
    lab: Lab, tmp_path: Path
) -> None:
    schema = json.loads((ROOT / "native/protocol/verdicts.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    served = json.loads(_text(lab, lab.measure(SLOWER).run_id, "json")[1])
    write_directory(tmp_path, bench_cases(1, SLOWER))
    path = tmp_path / "verdicts.json"
    _judge(tmp_path, ["json"], [path])
    offline_document = json.loads(path.read_bytes())
    for document in (served, offline_document):
        assert document["jobs"][0]["comparisons"]
        validator.validate(document)
        assert not validator.is_valid({**document, "schema": "paceline.verdicts/2"})
        del document["jobs"][0]["comparisons"][0]["verdict"]
        assert not validator.is_valid(document)


def _judge(
    directory: Path,
    formats: list[str],
    paths: list[Path],
    fail_on: Any = "inconclusive",
) -> tuple[int, str]:
    out = io.StringIO()
    status = offline.judge(
        directory,
        out,
        formats,
        paths,
        fail_on=fail_on,
        manifest_path=None,
        json_path=None,
        revision=None,
        limits=VoidLimits(),
    )
    return status, out.getvalue()


def test_judging_offline_writes_several_formats_at_once(tmp_path: Path) -> None:
    write_directory(tmp_path, bench_cases(1, SLOWER))
    xml, page = tmp_path / "a.xml", tmp_path / "b.md"
    status, printed = _judge(tmp_path, ["junit", "markdown"], [xml, page])
    assert status == 2
    assert "verdict: FAIL" in printed
    assert "<failure " in xml.read_text()
    assert page.read_text().startswith("### fail: ")


def test_judging_offline_forgives_what_it_is_told_to(tmp_path: Path) -> None:
    write_directory(tmp_path, bench_cases(1, SLOWER))
    assert _judge(tmp_path, [], [], "never")[0] == 0
    undecided = tmp_path / "undecided"
    undecided.mkdir()
    write_directory(undecided, bench_cases(1, FASTER, launches=2))
    assert [
        _judge(undecided, [], [], name)[0] for name in ("inconclusive", "fail")
    ] == [
        3,
        0,
    ]


def test_an_output_that_cannot_be_written_is_an_error_and_not_a_verdict(
    tmp_path: Path,
) -> None:
    write_directory(tmp_path, bench_cases(1, FASTER))
    status, printed = _judge(tmp_path, ["junit"], [tmp_path / "nowhere" / "a.xml"])
    assert (status, printed.startswith("error: ")) == (1, True)


def test_options_that_contradict_each_other_are_refused_before_anything_is_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError, match="has no --format"):
        _judge(tmp_path / "nowhere", [], [Path("a.xml")])


@pytest.mark.shapes("embedded")
def test_submit_writes_what_the_server_renders(
    lab: Lab, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leased = lab.measure(SLOWER)
    done = submitting.FinishedRun({"id": leased.run_id, "outcome": "fail"}, [])
    xml, secret = tmp_path / "a.xml", lab.headers["Authorization"].split()[1]
    outputs = [Output("junit", xml), Output("json", None)]
    nowhere = [Output("markdown", tmp_path / "nowhere" / "b.md")]
    with running(settings) as server:
        submitting.write_outputs(server.url, secret, done, outputs)
        printed = json.loads(capsys.readouterr().out)
        with pytest.raises(UserError, match="cannot be written"):
            submitting.write_outputs(server.url, secret, done, nowhere)
    assert "<failure " in xml.read_text()
    assert printed["outcome"] == "fail"
    assert printed["url"] == f"{server.url}/runs/{leased.run_id}"
