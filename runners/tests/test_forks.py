"""Pull requests of forks: nothing of them runs on an agent unless a maintainer asked for that very commit, by a
comment whose author and time the forge vouches for, or the pipeline's owner allows all forks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline.forges.forks import NotMeasuredError, read_command
from paceline.forges.port import TriggerComment
from paceline.testing import commands
from paceline.testing.fake_forge import TOKEN, Answer, FakeForge, own_pull_request
from paceline.testing.fake_server import FakeServer

HEAD, NEWER, MAIN = "a" * 40, "c" * 40, "d" * 40
COMMENTED_AT = "2026-11-28T12:00:00Z"
BEFORE, AFTER = "2026-11-28T11:59:59Z", "2026-11-28T12:00:01Z"
NOTHING = "Nothing was measured: "


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.run = {
            "id": "run_1",
            "suite": "mine",
            "commit": HEAD,
            "state": "done",
            "outcome": "pass",
            "reason": None,
            "jobs": [],
        }
        yield running


@pytest.fixture(params=["github", "forgejo"])
def kind(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture
def forge(kind: str) -> Iterator[FakeForge]:
    with FakeForge(kind) as running:
        running.permissions["ann"] = "write"
        running.pulls[7] = fork_pull(kind)
        yield running


def fork_pull(
    kind: str, head: str = HEAD, pushed_at: str | None = BEFORE
) -> dict[str, Any]:
    """Pull request 7 as its forge answers it; Gitea and Forgejo do not say when a repository was pushed to."""
    pull = own_pull_request(7, "bob/sorts")
    when = "pushed_at" if kind == "github" else "updated_at"
    pull["head"] = {
        "ref": "main",
        "sha": head,
        "repo": {"full_name": "bob/sorts", when: pushed_at},
    }
    return pull


def submit(
    server: FakeServer,
    forge: FakeForge,
    kind: str,
    directory: Path,
    event: dict[str, Any],
    *options: str,
    **env: str,
) -> subprocess.CompletedProcess[str]:
    """Run `paceline submit` as the workflow of an event; `env` replaces what the pipeline sets."""
    path = directory / "event.json"
    path.write_text(json.dumps(event))
    prefix = "FORGEJO" if kind == "forgejo" else "GITHUB"
    variables = {
        "PATH": "/usr/bin:/bin",
        "PACELINE_SERVER": server.url,
        "PACELINE_TOKEN": server.credential,
        f"{prefix}_API_URL": forge.api_url,
        f"{prefix}_REPOSITORY": "ann/sorts",
        f"{prefix}_SHA": MAIN,
        f"{prefix}_REF": "refs/heads/main",
        f"{prefix}_REF_TYPE": "branch",
        f"{prefix}_REF_NAME": "main",
        f"{prefix}_EVENT_PATH": str(path),
        f"{prefix}_TOKEN": TOKEN,
        **env,
    }
    return commands.run("submit", "mine", f"--{kind}", *options, env=variables)


def comment_event(
    body: str = "/paceline bench", author: str = "ann", **changes: Any
) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 7, "pull_request": {"url": "https://forge.example.org/7"}},
        "comment": {
            "body": body,
            "user": {"login": author},
            "created_at": COMMENTED_AT,
        },
        **changes,
    }


def pull_event(repository: str | None = "bob/sorts") -> dict[str, Any]:
    source = None if repository is None else {"full_name": repository}
    head = {"sha": HEAD, "repo": source}
    return {"pull_request": {"number": 7, "head": head, "base": {"ref": "main"}}}


def refuses(
    done: subprocess.CompletedProcess[str], server: FakeServer, forge: FakeForge
) -> str:
    """The pipeline is neutral, nothing ran, and the forge shows nothing."""
    assert done.returncode == 0, done.stderr
    assert NOTHING in done.stderr
    assert (server.requested, forge.statuses, forge.comments) == ([], [], {})
    return done.stderr


def test_a_fork_is_not_measured_without_approval_and_needs_no_secret_to_say_so(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    """A fork's pipeline has neither the server's token nor its address."""
    secrets = {"PACELINE_SERVER": "", "PACELINE_TOKEN": ""}
    done = submit(server, forge, kind, tmp_path, pull_event(), **secrets)
    said = refuses(done, server, forge)
    assert "pull request 7 comes from a fork" in said
    assert f"/paceline bench {HEAD}" in said
    assert "--allow-forks" in said


def test_a_fork_that_was_deleted_is_still_one(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    done = submit(server, forge, kind, tmp_path, pull_event(None))
    refuses(done, server, forge)


def test_forks_are_measured_where_the_pipeline_allows_them(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    done = submit(server, forge, kind, tmp_path, pull_event(), "--allow-forks")
    assert done.returncode == 0, done.stderr
    assert server.requested[0]["head"] == HEAD


def test_a_pull_request_that_only_an_option_names_is_looked_up(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    options = ("--pull-request", "7", "--commit", HEAD, "--base-branch", "main")
    done = submit(server, forge, kind, tmp_path, {}, *options)
    assert "comes from a fork" in refuses(done, server, forge)
    forge.pulls.clear()
    done = submit(server, forge, kind, tmp_path, {}, *options)
    assert done.returncode == 0, done.stderr
    assert server.requested[0]["head"] == HEAD
    prefix = "FORGEJO" if kind == "forgejo" else "GITHUB"
    blind = {f"{prefix}_TOKEN": ""}
    done = submit(server, forge, kind, tmp_path, {}, *options, **blind)
    assert done.returncode == 1, "an unknown pull request is neither run nor passed"
    assert "could not be asked: there is no token" in done.stderr
    assert len(server.requested) == 1


def test_a_maintainers_comment_has_the_head_measured_with_status_and_comment(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    """Where the forge does not say when the fork was pushed to, the comment must name the commit."""
    unnamed = submit(server, forge, kind, tmp_path, comment_event())
    if kind == "forgejo":
        assert f"then comment: /paceline bench {HEAD}" in refuses(
            unnamed, server, forge
        )
        named = comment_event(f"/paceline bench {HEAD}")
        done = submit(server, forge, kind, tmp_path, named)
    else:
        done = unnamed
    assert done.returncode == 0, done.stderr
    asked = server.requested[0]
    assert (asked["head"], asked["base_branch"]) == (HEAD, "main")
    assert asked["pull_request"]["number"] == 7
    assert "branch" not in asked
    assert {status.commit for status in forge.statuses} == {HEAD}
    assert len(forge.texts("ann/sorts", 7)) == 1


@pytest.mark.parametrize("permission", ["read", "none", "triage", ""])
def test_a_strangers_comment_starts_nothing_even_where_forks_are_allowed(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path, permission: str
) -> None:
    """Otherwise everybody could have everything measured again, and cancel what runs."""
    forge.permissions["eve"] = permission
    event = comment_event(author="eve")
    done = submit(server, forge, kind, tmp_path, event, "--allow-forks")
    assert "eve may not write to ann/sorts" in refuses(done, server, forge)
    own = own_pull_request(7, "ann/sorts")
    forge.pulls[7] = own
    refuses(submit(server, forge, kind, tmp_path, event), server, forge)


def test_a_permission_that_cannot_be_read_is_an_error_and_starts_nothing(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    forge.next_answers = [Answer(403, {"message": "Only admins can query"})]
    done = submit(server, forge, kind, tmp_path, comment_event())
    assert done.returncode == 1
    assert "could not be asked: 403 Only admins can query" in done.stderr
    assert ("administrator of the repository" in done.stderr) == (kind == "forgejo")
    assert server.requested == []
    forge.next_answers = [Answer(404, {"message": "no collaborator"})]
    refuses(submit(server, forge, kind, tmp_path, comment_event()), server, forge)


@pytest.mark.parametrize("pushed_at", [AFTER, COMMENTED_AT, None, "yesterday"])
def test_an_approval_of_one_commit_does_not_cover_what_was_pushed_after_it(
    server: FakeServer,
    forge: FakeForge,
    kind: str,
    tmp_path: Path,
    pushed_at: str | None,
) -> None:
    """Where the forge does not say that nothing was pushed since, the comment must name the commit."""
    forge.pulls[7] = fork_pull(kind, NEWER, pushed_at)
    done = submit(server, forge, kind, tmp_path, comment_event())
    said = refuses(done, server, forge)
    assert f"Read commit {NEWER}, then comment: /paceline bench {NEWER}" in said


def test_a_comment_that_names_its_commit_covers_that_one_only(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    event = comment_event(f"/paceline bench {HEAD}")
    forge.pulls[7] = fork_pull(kind, NEWER, BEFORE)
    said = refuses(submit(server, forge, kind, tmp_path, event), server, forge)
    assert "which is not the pull request's head" in said
    forge.pulls[7] = fork_pull(kind, HEAD, AFTER)
    done = submit(server, forge, kind, tmp_path, event)
    assert done.returncode == 0, done.stderr
    assert server.requested[0]["head"] == HEAD


def test_a_comment_on_an_issue_and_options_that_name_another_commit_are_refused(
    server: FakeServer, forge: FakeForge, kind: str, tmp_path: Path
) -> None:
    event = comment_event(issue={"number": 7})
    refuses(submit(server, forge, kind, tmp_path, event), server, forge)
    for option in (("--commit", NEWER), ("--pull-request", "8")):
        done = submit(server, forge, kind, tmp_path, comment_event(), *option)
        assert done.returncode == 1
        assert "Leave out --commit and --pull-request." in done.stderr
    assert server.requested == []


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("/paceline bench", None),
        ("/paceline bench \r\nthanks!\r\n> /paceline bench", None),
        (f"/paceline bench {HEAD}", HEAD),
        (f"/paceline bench {'b' * 64}\n", "b" * 64),
    ],
)
def test_the_first_line_of_a_comment_is_the_command(
    body: str, named: str | None
) -> None:
    assert read_command(TriggerComment("ann", body, None, is_new=True)) == named


@pytest.mark.parametrize(
    "body",
    [
        "> /paceline bench",
        "On Monday eve wrote:\n> /paceline bench",
        "```\n/paceline bench\n```",
        "    /paceline bench",
        "\t/paceline bench",
        "`/paceline bench`",
        "Should I say\n/paceline bench\nhere?",
        "<!--\n/paceline bench\n-->",
        "/paceline bench please",
        f"/paceline bench {HEAD[:12]}",
        f"/paceline bench {HEAD.upper()}",
        "/paceline benchmark",
        "\n/paceline bench",
        "",
    ],
)
def test_quotes_code_blocks_and_everything_else_are_no_command(body: str) -> None:
    with pytest.raises(NotMeasuredError, match="whole first line"):
        read_command(TriggerComment("ann", body, None, is_new=True))


def test_an_edited_comment_is_no_command() -> None:
    """Who edited it is not who wrote it."""
    with pytest.raises(NotMeasuredError):
        read_command(TriggerComment("ann", "/paceline bench", None, is_new=False))


@pytest.mark.parametrize(
    ("project", "is_measured"), [("42", True), ("43", False)], ids=["member", "fork"]
)
def test_at_gitlab_a_fork_is_measured_where_a_member_started_its_pipeline(
    server: FakeServer, project: str, is_measured: bool
) -> None:
    """GitLab runs a fork's pipeline in the project itself only for its members."""
    with FakeForge("gitlab") as forge:
        variables = {
            "PATH": "/usr/bin:/bin",
            "PACELINE_SERVER": server.url,
            "PACELINE_TOKEN": server.credential,
            "CI_API_V4_URL": forge.api_url,
            "CI_PROJECT_ID": project,
            "CI_COMMIT_SHA": HEAD,
            "CI_PIPELINE_ID": "9",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "GITLAB_TOKEN": TOKEN,
        }
        done = commands.run("submit", "mine", "--gitlab", env=variables)
        assert done.returncode == 0, done.stderr
        assert bool(server.requested) == is_measured
        if not is_measured:
            assert "starts the merge request's pipeline" in done.stderr
