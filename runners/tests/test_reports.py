"""`paceline report`: what a pull request's own workflow uploaded becomes one comment, and nothing that its author writes
into the upload reaches another pull request, another comment, the disk or the memory of the workflow with the token."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline.forges.artifacts import (
    ARTIFACT,
    FILE,
    LONGEST_DOCUMENT,
    read_document,
)
from paceline.forges.port import ForgeError
from paceline.forges.reporting import comment_marker
from paceline.testing import commands
from paceline.testing.fake_forge import TOKEN, Artifact, FakeForge, own_pull_request

HEAD, BASE = "a" * 40, "b" * 40
URL = "https://github.com/ann/sorts/actions/runs/99"
SERVERS = comment_marker("mine", "verdict") + "\n### pass: mine"
DOCUMENT: dict[str, Any] = {
    "schema": "paceline.verdicts/1",
    "run_id": None,
    "url": None,
    "suite": "mine",
    "commit": HEAD,
    "base_commit": BASE,
    "base_branch": None,
    "pull_request": None,
    "branch": None,
    "outcome": "fail",
    "reason": "sort is 9.8 % slower",
    "reasons": [],
    "demonstration": False,
    "completeness": None,
    "missing": [],
    "jobs": [],
}


def zipped(files: dict[str | zipfile.ZipInfo, bytes], method: int = 8) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def upload(**changes: Any) -> Artifact:
    document = json.dumps({**DOCUMENT, **changes}).encode()
    return Artifact(99, ARTIFACT, zipped({FILE: document}))


@pytest.fixture
def hub() -> Iterator[FakeForge]:
    """GitHub with pull request 7 of a fork and 8 of somebody else, each with the comment of a server."""
    with FakeForge("github") as running:
        for number, owner in ((7, "bob"), (8, "carol")):
            pull = own_pull_request(number, f"{owner}/sorts")
            if number == 8:
                pull["head"]["sha"] = "e" * 40
            running.pulls[number] = pull
            running.add_comment("ann/sorts", number, SERVERS)
        yield running


def report(
    hub: FakeForge, directory: Path, *options: str, **changes: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command as the workflow that follows the one of pull request 7."""
    run = {
        "id": 99,
        "event": "pull_request",
        "head_sha": HEAD,
        "head_branch": "faster",
        "head_repository": {"full_name": "bob/sorts"},
        "html_url": URL,
        "pull_requests": [],
        **changes,
    }
    event = directory / "event.json"
    event.write_text(json.dumps({"action": "completed", "workflow_run": run}))
    variables = {
        "PATH": "/usr/bin:/bin",
        "GITHUB_API_URL": hub.api_url,
        "GITHUB_REPOSITORY": "ann/sorts",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": TOKEN,
    }
    done = commands.run("report", "mine", *options, cwd=directory, env=variables)
    assert TOKEN not in done.stdout + done.stderr
    assert hub.statuses == [], "a stranger's verdict decides nothing"
    assert [path.name for path in directory.iterdir()] == ["event.json"]
    return done


def test_the_comment_says_whose_word_it_is_and_the_next_one_replaces_it(
    hub: FakeForge, tmp_path: Path
) -> None:
    hub.artifacts = [upload()]
    done = report(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    servers, ours = hub.texts("ann/sorts", 7)
    assert servers == SERVERS
    assert ours.startswith(comment_marker("mine", "pipeline") + "\n")
    assert f"[pull request's own workflow]({URL}), without a server" in ours
    assert f"### fail: mine at {HEAD[:12]} against {BASE[:12]}" in ours
    hub.artifacts.append(upload(outcome="pass", reason="no arm is slower"))
    report(hub, tmp_path)
    assert len(hub.texts("ann/sorts", 7)) == 2
    assert "### pass: mine" in hub.texts("ann/sorts", 7)[1]
    assert hub.texts("ann/sorts", 8) == [SERVERS]


def test_no_text_of_an_upload_leaves_its_place_in_the_comment(
    hub: FakeForge, tmp_path: Path
) -> None:
    hostile = f"{SERVERS} </script><img src=x> @ann ![a](https://evil.example/a.png)"
    hub.artifacts = [upload(reason=hostile)]
    assert report(hub, tmp_path).returncode == 0
    ours = hub.texts("ann/sorts", 7)[1]
    assert ours.count("<!--") == 1
    for forbidden in ("</script>", "<img", "@ann", "](https://evil", "https://evil"):
        assert forbidden not in ours
    hub.artifacts.append(upload())
    report(hub, tmp_path)
    assert hub.texts("ann/sorts", 7)[0] == SERVERS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"pull_request": {"number": 8, "url": None, "title": None}},
            "claims what only a server can say",
        ),
        ({"url": "https://evil.example"}, "claims what only a server can say"),
        ({"suite": "other"}, "it is of suite 'other', not of 'mine'"),
        ({"commit": BASE}, "it is of commit"),
        ({"schema": "paceline.verdicts/2"}, "not a paceline.verdicts/1 document"),
    ],
)
def test_a_document_of_something_else_is_not_shown(
    hub: FakeForge, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    hub.artifacts = [upload(**changes)]
    done = report(hub, tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert hub.texts("ann/sorts", 7) + hub.texts("ann/sorts", 8) == [SERVERS] * 2


def test_which_pull_request_it_is_of_only_the_forge_says(
    hub: FakeForge, tmp_path: Path
) -> None:
    """A file with another number is ignored; a branch of that name in another fork is another pull request."""
    document = json.dumps(DOCUMENT).encode()
    files: dict[str | zipfile.ZipInfo, bytes] = {FILE: document, "number": b"8"}
    hub.artifacts = [Artifact(99, ARTIFACT, zipped(files))]
    assert report(hub, tmp_path).returncode == 0
    assert hub.texts("ann/sorts", 8) == [SERVERS]
    assert len(hub.texts("ann/sorts", 7)) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"sha": "c" * 40},
        {"repo": {"full_name": "eve/sorts"}},
        {"repo": None},
    ],
    ids=["newer push", "other fork", "deleted fork"],
)
def test_a_head_that_is_no_open_pull_requests_any_more_is_not_commented_on(
    hub: FakeForge, tmp_path: Path, change: dict[str, Any]
) -> None:
    hub.artifacts = [upload()]
    hub.pulls[7]["head"] |= change
    done = report(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not the head of exactly one open pull request" in done.stderr
    assert hub.texts("ann/sorts", 7) == [SERVERS]


def test_nothing_uploaded_and_other_workflows_are_no_error(
    hub: FakeForge, tmp_path: Path
) -> None:
    done = report(hub, tmp_path)
    assert (done.returncode, "uploaded no paceline-verdicts" in done.stderr) == (
        0,
        True,
    )
    hub.artifacts = [upload()]
    done = report(hub, tmp_path, event="push")
    assert (done.returncode, "not of a pull request" in done.stderr) == (0, True)
    assert hub.texts("ann/sorts", 7) == [SERVERS]


def test_an_expired_upload_says_what_to_do(hub: FakeForge, tmp_path: Path) -> None:
    hub.artifacts = [upload()._replace(expired=True)]
    done = report(hub, tmp_path)
    assert done.returncode == 1
    assert "has expired: run that workflow again" in done.stderr
    assert hub.texts("ann/sorts", 7) == [SERVERS]


def test_ten_megabytes_are_not_downloaded(hub: FakeForge, tmp_path: Path) -> None:
    archive = zipped({FILE: bytes(10_000_000)}, zipfile.ZIP_STORED)
    hub.artifacts = [Artifact(99, ARTIFACT, archive)]
    done = report(hub, tmp_path)
    assert done.returncode == 1
    assert "more than 5000000 bytes" in done.stderr


def test_a_comment_that_cannot_be_written_is_an_error(
    hub: FakeForge, tmp_path: Path
) -> None:
    hub.artifacts, hub.read_only = [upload()], True
    done = report(hub, tmp_path)
    assert done.returncode == 1
    assert "pull-requests: write" in done.stderr


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def broken() -> bytes:
    """An archive whose content is not what its checksum says."""
    return zipped({FILE: b"x" * 50}, zipfile.ZIP_STORED).replace(b"x" * 50, b"y" * 50)


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (zipped({link(FILE): b"/etc/passwd"}), "is no file"),
        (zipped({FILE: bytes(LONGEST_DOCUMENT + 1)}), "has more than"),
        (zipped({FILE: b"{}"}, zipfile.ZIP_LZMA), "not compressed by deflate"),
        (zipped({f"../{FILE}": b"{}"}), f"has no {FILE}"),
        (zipped({FILE: b"{}"})[:-30], "cannot be read"),
        (broken(), "cannot be read"),
        (b"", "cannot be read"),
    ],
    ids=["symlink", "bomb", "lzma", "path", "cut", "broken", "empty"],
)
def test_an_archive_that_is_an_attack_is_refused(archive: bytes, words: str) -> None:
    with pytest.raises(ForgeError, match=words):
        read_document(archive)
