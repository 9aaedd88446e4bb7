"""Reads what a pull request's own workflow uploaded at GitHub, for the `workflow_run` workflow that comments on it.

The upload is the text of whoever made the pull request. Its size is bounded before anything is read, nothing of it is
written to a disk, and which pull request it belongs to is the forge's word alone. What it says is checked by
`paceline-server render`.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from typing import Any, NamedTuple
from urllib.parse import quote

from paceline.errors import UserError
from paceline.forges.client import ForgeClient
from paceline.forges.github import at, is_same, read_event
from paceline.forges.port import ForgeError, Variables

ARTIFACT, FILE = "paceline-verdicts", "verdicts.json"
LONGEST_ARCHIVE = 5_000_000
LONGEST_DOCUMENT = 20_000_000
"""Bytes; a document of 5,000 comparisons has about 5 MB, and compresses to a twentieth."""


class WorkflowRun(NamedTuple):
    """A finished workflow of a pull request, as the event of GitHub describes it."""

    id: int
    commit: str
    head_repository: str
    head_branch: str
    url: str


def find_workflow_run(variables: Variables) -> WorkflowRun | None:
    """Return the workflow that ended; None if it was not of a pull request. Raises UserError outside of a
    `workflow_run` workflow."""
    run = at(read_event(variables.get("GITHUB_EVENT_PATH")), "workflow_run")
    number = at(run, "id")
    texts = [
        at(run, *names)
        for names in (("head_sha",), ("head_branch",), ("html_url",), ("event",))
    ]
    if not isinstance(number, int) or not all(isinstance(text, str) for text in texts):
        raise UserError(
            "The pipeline does not say which workflow ended: GITHUB_EVENT_PATH names no workflow_run event.",
            "Run this in the workflow ci/github/report.yml.",
        )
    commit, branch, url, event = texts
    if event != "pull_request":
        return None
    # Null if the fork was deleted meanwhile.
    source = at(run, "head_repository", "full_name")
    return WorkflowRun(number, commit, source or "", branch, url)


def find_pull_request(
    client: ForgeClient, repository: str, run: WorkflowRun
) -> int | None:
    """Return the number of the one open pull request with that head; None if there is none, such as after a newer
    push. The event names none for forks. Raises ForgeError."""
    owner = run.head_repository.split("/", 1)[0]
    listed = client.send(
        "GET",
        f"repos/{quote(repository, safe='/')}/pulls",
        params={"state": "open", "head": f"{owner}:{run.head_branch}"},
    )
    numbers = [
        at(item, "number")
        for item in (listed if isinstance(listed, list) else [])
        if at(item, "head", "sha") == run.commit
        and is_same(at(item, "head", "repo", "full_name"), run.head_repository)
    ]
    # Two pull requests of one branch are measured by workflows that nothing tells apart.
    return numbers[0] if len(numbers) == 1 and isinstance(numbers[0], int) else None


def download_document(
    client: ForgeClient, repository: str, run: WorkflowRun
) -> bytes | None:
    """Return the document that the workflow uploaded; None if it uploaded none. Raises ForgeError, also for an upload
    that is no such document or has expired."""
    where = f"repos/{quote(repository, safe='/')}/actions"
    listed = client.send(
        "GET", f"{where}/runs/{run.id}/artifacts", params={"name": ARTIFACT}
    )
    artifacts: list[Any] = [
        item for item in at(listed, "artifacts") or [] if at(item, "name") == ARTIFACT
    ]
    if not artifacts:
        return None
    # A workflow that was started again has one for each attempt.
    newest = max(artifacts, key=lambda item: int(at(item, "id") or 0))
    if at(newest, "expired"):
        raise ForgeError(
            f"{ARTIFACT} of {run.url} has expired: run that workflow again"
        )
    archive = client.download(
        f"{where}/artifacts/{at(newest, 'id')}/zip", LONGEST_ARCHIVE
    )
    return read_document(archive)


def read_document(archive: bytes) -> bytes:
    """Return the document in an archive; everything else in it is ignored. Raises ForgeError."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            entry = file.getinfo(FILE)
            if stat.S_ISLNK(entry.external_attr >> 16) or entry.is_dir():
                raise ForgeError(f"{FILE} in {ARTIFACT} is no file")
            # Other methods take as much memory as the archive asks for.
            if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise ForgeError(f"{FILE} in {ARTIFACT} is not compressed by deflate")
            with file.open(entry) as opened:
                # What the archive says about the size is its author's word.
                document = opened.read(LONGEST_DOCUMENT + 1)
    except KeyError as error:
        raise ForgeError(f"{ARTIFACT} has no {FILE}") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        RuntimeError,
        ValueError,
    ) as error:
        raise ForgeError(f"{ARTIFACT} cannot be read: {error}") from error
    if len(document) > LONGEST_DOCUMENT:
        raise ForgeError(f"{FILE} has more than {LONGEST_DOCUMENT} bytes")
    return document
