"""Files that people upload: what is recognised is what `paceline import` sends, and bad bytes are refused and leave nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline import result_files
from paceline_contract.readers.registry import READERS, StatedOrigin
from paceline_server.imports import uploads
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.sorting_suite import SUITE

API = "/api/v1/imports"
CAPTURED = Path(__file__).parents[3] / "contract/tests/captured"
HYPERFINE = json.dumps(
    {"results": [{"command": "sort big", "times": [0.5, 0.25]}]}
).encode()
BOMB = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>
<Catch2TestRun><TestCase name="&b;"/></Catch2TestRun>"""


class Browser:
    """Sends files as the page does."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self._client, self._headers = client, headers

    def send(self, path: str, data: bytes, status: int, **query: str) -> Any:
        answer = self._client.post(
            f"{API}/{path}",
            content=data,
            params=query,
            headers={**self._headers, "Content-Type": "application/octet-stream"},
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def store_document(self, body: dict[str, Any]) -> Any:
        answer = self._client.post(API, json=body, headers=self._headers)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def get(self, path: str = "") -> Any:
        answer = self._client.get(f"{API}{path}", headers=self._headers)
        assert answer.status_code == 200, answer.text
        return answer

    def suite_of(self, stored: Any) -> str:
        """Return the suite of the only run of an import."""
        (run,) = stored["runs"]
        address = f"/api/v1/runs/{run['run_id']}"
        answer = self._client.get(address, headers=self._headers)
        return str(answer.json()["suite"])


@pytest.fixture
def browser(client: TestClient, token: Callable[..., dict[str, str]]) -> Browser:
    return Browser(client, token("ingest", "read"))


def captured_files() -> list[Path]:
    names = [tool.replace("-", "_") for tool in READERS]
    return [path for name in names for path in sorted(CAPTURED.glob(f"{name}-*"))]


def test_a_preview_shows_what_the_command_line_would_store(browser: Browser) -> None:
    """The page and the command line make one import of a file, whichever is first."""
    for path in captured_files():
        data = path.read_bytes()
        preview = browser.send("preview", data, 200, file=path.name)
        file = result_files.read(str(path), None, StatedOrigin())
        stored = browser.store_document(
            result_files.import_body(file, None, None, None)
        )
        series = [series for run in stored["runs"] for series in run["series"]]
        assert preview["series"] == series, path.name
        assert preview["series_count"] == len(series)
        assert preview["left_out"] == stored["left_out"], path.name
        named = " ".join(filter(None, (preview["tool"], preview["version"])))
        assert (named, preview["facts"]) == (stored["tool"], stored["facts"])
        (at,) = {run["at"] for run in stored["runs"]}
        (commit,) = {run["commit"] for run in stored["runs"]}
        assert (preview["at"], preview["commit"]) == (at, commit), path.name
        again = browser.send("files", data, 200, file=path.name)
        assert again == stored, path.name


def test_a_preview_stores_nothing_and_a_person_adds_what_a_file_lacks(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = browser.send("preview", HYPERFINE, 200, file="runs.json")
    origin = (preview["commit"], preview["branch"], preview["at"])
    assert (origin, preview["units"]) == ((None, None, None), ["ns"])
    assert browser.get().json()["items"] == []
    said = {
        "on": "ci-7",
        "commit": "1f3c9ab",
        "branch": "trunk",
        "at": "2021-03-04T05:06:07Z",
    }
    stored = browser.send("files", HYPERFINE, 201, file="läuft.json", **said)
    (run,) = stored["runs"]
    assert said == {
        "on": stored["devices"][0],
        "commit": run["commit"],
        "branch": run["baseline"],
        "at": run["at"],
    }
    assert stored["source"] == "läuft.json"
    assert browser.get(f"/{stored['id']}/original").content == HYPERFINE
    monkeypatch.setattr(uploads, "MAX_PREVIEWED", 1)
    catch2 = (CAPTURED / "catch2-3.7.1.xml").read_bytes()
    long = browser.send("preview", catch2, 200, file="c.xml")
    assert (len(long["series"]), long["series_count"] > 1) == (1, True)


def test_a_person_chooses_the_suite_and_whether_its_history_is_judged(
    lab: Lab,  # announces the suite
    browser: Browser,
) -> None:
    """As the body of `POST /imports` says it; without a choice, the suite is called like the tool and is not judged."""
    file = {"file": "runs.json", "at": "2021-03-04T05:06:07Z"}
    plain = browser.send("files", HYPERFINE, 201, **file)
    assert (plain["judged"], plain["notifies"]) == (False, False)
    judged = browser.send("files", HYPERFINE, 201, **file, suite=SUITE, judge="true")
    assert (judged["judged"], judged["notifies"]) == (True, False)
    assert [browser.suite_of(plain), browser.suite_of(judged)] == ["hyperfine", SUITE]
    refused = browser.send("files", HYPERFINE, 404, **file, suite="nobody")
    assert "There is no suite 'nobody'" in refused["detail"]


@pytest.mark.parametrize(
    ("data", "said", "query", "status"),
    [
        (b"", "no reader can read it", {}, 400),
        (b"hello", "paceline import", {}, 400),
        (HYPERFINE[:-3], "no reader can read it", {}, 400),
        (b"PK\x03\x04" + bytes(99), "zip archive: unpack it", {}, 400),
        (BOMB, "have a DTD", {}, 400),
        (b'{"results":' + b"[" * 100_000, "not JSON", {}, 400),
        (b'{"a":' * 100_000, "not JSON", {}, 400),
        (b"[" * 900 + b"]" * 900, "unexpected form", {}, 400),
        (b"\xff\xfe\x00\xd8" * 99, "not JSON", {}, 400),
        (b'{"results": [{"command": "\xed\xa0\x80", "times": [1]}]}', "JSON", {}, 400),
        (HYPERFINE.replace(b"0.5", b"NaN"), "a run of sort big", {}, 400),
        (HYPERFINE.replace(b"0.5", b'"\\u0000"'), "a run of sort big", {}, 400),
        (HYPERFINE.replace(b"0.5", b"9" * 5000), "not JSON", {}, 400),
        (
            HYPERFINE.replace(b"sort big", b"a" * 201),
            "201 characters: expected at most 200",
            {},
            400,
        ),
        (
            b'{"results": [{"command": "a", "times": [1], "exit_codes": [1]}]}',
            "exited with status 1",
            {},
            400,
        ),
        (HYPERFINE, "in the future", {"at": "2121-01-01T00:00:00Z"}, 400),
        (HYPERFINE, "query.at", {"at": "yesterday"}, 422),
        (HYPERFINE, "query.commit", {"commit": "HEAD"}, 422),
        (HYPERFINE, "query.branch", {"branch": "a\0b"}, 422),
        (HYPERFINE, "query.on", {"on": "x" * 101}, 422),
        (HYPERFINE, "query.suite", {"suite": "No suite"}, 422),
        (HYPERFINE, "query.file", {"file": ""}, 422),
        (b" " * (8 * 1024 * 1024 + 1), "larger than 8388608 bytes", {}, 413),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused_with_its_place_and_leaves_nothing(
    browser: Browser, data: bytes, said: str, query: dict[str, str], status: int
) -> None:
    for path in ("preview", "files"):
        refused = browser.send(path, data, status, **{"file": "x.json", **query})
        assert said in json.dumps(refused, ensure_ascii=False)
        assert len(json.dumps(refused)) < 20_000
    assert browser.get().json()["items"] == []
