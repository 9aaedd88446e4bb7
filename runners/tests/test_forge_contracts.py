"""What is sent to a forge, and what the fake one answers, is what GitHub's and Gitea's own descriptions say.

For GitLab, whose description no registry has, the fake follows the documents of its API.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from paceline.forges.artifacts import (
    ARTIFACT,
    FILE,
    WorkflowRun,
    download_document,
    find_pull_request,
)
from paceline.forges.client import ForgeClient
from paceline.forges.github import GitHubForge
from paceline.forges.port import Pipeline, PullRequest, State
from paceline.forges.reporting import KINDS, ForgeName
from paceline.testing.fake_forge import TOKEN, Artifact, FakeForge, own_pull_request
from paceline.testing.forge_contracts import find_route, load_contract

REPOSITORY = "ann/sorts"
HEAD = "a" * 40
STATES: tuple[State, ...] = ("pending", "success", "failure", "error", "cancelled")
TYPES = {"string": str, "integer": int, "boolean": bool}


@pytest.mark.parametrize("kind", ["github", "forgejo"])
def test_requests_and_the_fakes_answers_are_as_the_forge_describes_them(
    kind: ForgeName,
) -> None:
    contract = load_contract(kind)
    with FakeForge(kind) as fake:
        use_every_route(fake, kind)
    used = set()
    for method, path, query, body, answer in fake.exchanges:
        if path.startswith("/files/"):
            continue  # of the host that GitHub redirects to
        rules = find_route(contract, method, path)
        assert rules is not None, f"{method} {path}"
        used.add(str(rules))
        # Gitea ignores the pages that it does not have.
        assert set(query) - {"page", "per_page"} <= set(rules["query"])
        known = rules["body"] or {"required": [], "properties": {}}
        assert set(known["required"]) <= set(body) <= set(known["properties"])
        for name, value in body.items():
            assert value in known["properties"][name].get("enum", [value])
        check_shape(answer.body, rules["answers"][str(answer.status)])
    assert len(used) == len({str(rules) for rules in contract["routes"].values()})


def use_every_route(fake: FakeForge, kind: ForgeName) -> None:
    """Do what reporters, comments of forks and `paceline report` do."""
    number, forge_kind = 7, KINDS[kind]
    request = PullRequest(number, REPOSITORY)
    pipeline = Pipeline(fake.api_url, REPOSITORY, HEAD, None, request, TOKEN)
    client = ForgeClient(fake.api_url, forge_kind.connect.headers(TOKEN), TOKEN)
    forge = forge_kind.connect(client, pipeline)
    assert isinstance(forge, GitHubForge)
    for state in STATES:
        forge.set_status(state, "paceline/sorts", "Sort faster", "https://example.org")
    forge.create_comment("### pass")
    (comment,) = forge.list_comments()
    forge.edit_comment(comment.id, "### fail")
    forge.delete_comment(comment.id)
    assert forge.read_pull_request().head == HEAD
    assert not forge.may_write("eve")
    if kind == "github":
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr(FILE, "{}")
        fake.pulls[number] = own_pull_request(number, REPOSITORY)
        fake.artifacts.append(Artifact(1, ARTIFACT, data.getvalue()))
        run = WorkflowRun(1, HEAD, REPOSITORY, "faster", "https://example.org")
        assert find_pull_request(client, REPOSITORY, run) == number
        assert download_document(client, REPOSITORY, run) == b"{}"
    client.close()


def check_shape(value: Any, described: Any) -> None:
    """Check that an answer has no field that the description lacks, and that each has its type."""
    if isinstance(described, list):
        for item in value:
            check_shape(item, described[0])
    elif isinstance(described, dict):
        for name, item in value.items():
            assert name in described, name
            check_shape(item, described[name])
    else:
        assert value is None or isinstance(value, TYPES[described])
