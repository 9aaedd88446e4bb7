"""A run's verdict in a forge: the status and the one comment, by each forge's contract over real sockets, and every
fault of a forge, none of which changes the exit status of `paceline submit`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline.errors import UserError
from paceline.forges import forgejo, github, gitlab
from paceline.forges.port import LONGEST_DESCRIPTION, ForgeOptions, Variables
from paceline.forges.reporting import comment_marker, shorten
from paceline.testing import commands
from paceline.testing.fake_forge import TOKEN, Answer, FakeForge
from paceline.testing.fake_server import FakeServer
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S

HEAD = "a" * 40
MERGE = "b" * 40
TITLE = "Sort <faster> | with \U0001f600"
RUN: dict[str, Any] = {
    "id": "run_1",
    "suite": "mine",
    "commit": HEAD,
    "state": "done",
    "outcome": "fail",
    "reason": "sort is 9.8 % slower",
    "jobs": [],
}
PUBLIC_URL = "https://bench.example.org/runs/run_1"
KINDS = ("github", "gitlab", "forgejo")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.run, running.markdown = dict(RUN), "### fail: mine\n"
        running.run_url = PUBLIC_URL
        yield running


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture
def forge(kind: str) -> Iterator[FakeForge]:
    with FakeForge(kind) as running:
        yield running


@pytest.fixture
def hub() -> Iterator[FakeForge]:
    with FakeForge("github") as running:
        yield running


def event_file(
    directory: Path, *, number: int = 7, head_repository: str = "ann/sorts"
) -> Path:
    path = directory / "event.json"
    url = f"https://forge.example.org/ann/sorts/pull/{number}"
    head = {"sha": HEAD, "repo": {"full_name": head_repository}}
    pull = {
        "number": number,
        "html_url": url,
        "head": head,
        "base": {"ref": "main"},
        "title": TITLE,
    }
    path.write_text(json.dumps({"pull_request": pull}))
    return path


def pipeline_variables(
    kind: str, api_url: str, directory: Path, **event: Any
) -> dict[str, str]:
    """What the CI system sets for a pull request; of GitHub and Forgejo the SHA is a merge commit."""
    if kind == "gitlab":
        return {
            "CI_API_V4_URL": api_url,
            "CI_PROJECT_ID": "42",
            "CI_COMMIT_SHA": HEAD,
            "CI_PIPELINE_ID": "9",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_TITLE": TITLE,
            "CI_MERGE_REQUEST_PROJECT_URL": "https://forge.example.org/ann/sorts",
            "GITLAB_TOKEN": TOKEN,
        }
    prefix = "FORGEJO" if kind == "forgejo" else "GITHUB"
    return {
        f"{prefix}_API_URL": api_url,
        f"{prefix}_REPOSITORY": "ann/sorts",
        f"{prefix}_SHA": MERGE,
        f"{prefix}_REF": "refs/pull/7/merge",
        f"{prefix}_EVENT_PATH": str(event_file(directory, **event)),
        f"{prefix}_TOKEN": TOKEN,
    }


def repository_of(kind: str) -> str:
    return "42" if kind == "gitlab" else "ann/sorts"


def submit(
    server: FakeServer, kind: str, variables: dict[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    """With nothing in the environment but what is given."""
    env = {
        "PATH": "/usr/bin:/bin",
        "PACELINE_SERVER": server.url,
        "PACELINE_TOKEN": server.credential,
        **variables,
    }
    done = commands.run("submit", "mine", f"--{kind}", *options, env=env)
    for secret in (TOKEN, server.credential):
        assert secret not in done.stdout + done.stderr
    return done


def ours(forge: FakeForge, kind: str) -> list[str]:
    marker = comment_marker("mine", "verdict")
    return [
        text for text in forge.texts(repository_of(kind), 7) if text.startswith(marker)
    ]


def test_a_pull_request_gets_a_pending_status_with_a_link_then_the_verdict_and_one_comment(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    done = submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert done.returncode == 2, done.stderr
    states = ["running", "failed"] if kind == "gitlab" else ["pending", "failure"]
    assert [status.state for status in forge.statuses] == states
    assert {status.commit for status in forge.statuses} == {HEAD}
    assert {status.repository for status in forge.statuses} == {repository_of(kind)}
    assert {status.context for status in forge.statuses} == {"paceline/mine"}
    assert {status.url for status in forge.statuses} == {PUBLIC_URL}
    assert forge.statuses[-1].description == "fail: sort is 9.8 % slower"
    asked = server.requested[0]
    assert (asked["head"], asked["base_branch"]) == (HEAD, "main")
    assert not asked.keys() & {"commit", "branch", "base_commit"}
    request = asked["pull_request"]
    assert (request["number"], request["title"]) == (7, TITLE)
    assert request["url"].startswith("https://forge.example.org/ann/sorts/")
    assert ours(forge, kind)[0].endswith("\n### fail: mine")


def test_pushes_of_one_pull_request_share_a_key_and_those_of_a_branch_have_none(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables(kind, forge.api_url, tmp_path)
    submit(server, kind, variables)
    submit(server, kind, variables, "--commit", MERGE)
    submit(server, kind, variables, "--purpose", "nightly")
    submit(server, kind, variables, "--pull-request", "8", "--base-branch", "main")
    keys = [asked["concurrency_key"] for asked in server.requested]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    of_branch = {
        name: value
        for name, value in variables.items()
        if not name.startswith("CI_MERGE_REQUEST")
        and not name.endswith(("_REF", "_EVENT_PATH"))
    }
    submit(server, kind, of_branch)
    assert "concurrency_key" not in server.requested[-1]


def test_a_run_that_a_newer_push_superseded_leaves_the_comment_to_it(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    assert server.run is not None
    server.run |= {"superseded_by": "run_2"}
    done = submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert done.returncode == 2
    assert ours(forge, kind) == []
    assert "The comment was left to the newer run run_2." in done.stderr
    assert forge.statuses[-1].description == "fail: sort is 9.8 % slower"
    server.run |= {"outcome": "cancelled", "state": "cancelled", "reason": None}
    submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert forge.statuses[-1].description == "cancelled: superseded by run run_2"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_pipeline_that_is_stopped_cancels_its_run_and_says_so_in_the_status(
    server: FakeServer,
    kind: str,
    forge: FakeForge,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    assert server.run is not None
    server.run |= {"state": "active", "outcome": "running"}
    env = {
        "PATH": "/usr/bin:/bin",
        "PACELINE_SERVER": server.url,
        "PACELINE_TOKEN": server.credential,
        **pipeline_variables(kind, forge.api_url, tmp_path),
    }
    argv = [sys.executable, "-m", "paceline", "submit", "mine", f"--{kind}"]
    with ChildProcess[str](argv, env=env, stderr=subprocess.PIPE, text=True) as waiting:
        server.wait_for(lambda: forge.statuses)
        waiting.send_signal(number)
        _, said = waiting.communicate(timeout=WITHIN_S)
    assert waiting.returncode == 130, said
    assert server.cancelled == ["run_1"]
    expected = "canceled" if kind == "gitlab" else "error"
    assert forge.statuses[-1].state == expected
    assert "Cancelled" in forge.statuses[-1].description


def test_a_run_is_waited_for_again_without_requesting_another(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables, "--resume", "run_1")
    assert done.returncode == 2, done.stderr
    assert server.requested == []
    assert hub.statuses[-1].state == "failure"
    other = commands.run(
        *("submit", "other", "--resume", "run_1", "--server", server.url),
        *("--token", server.credential),
    )
    assert other.returncode == 1
    assert "Run run_1 is of suite mine, not of other." in other.stderr


def test_a_second_push_edits_the_comment_among_hundreds_and_leaves_strangers_alone(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables(kind, forge.api_url, tmp_path)
    where = (repository_of(kind), 7)
    for number in range(130):
        forge.add_comment(*where, f"remark {number}")
    submit(server, kind, variables)
    for number in range(130):
        forge.add_comment(*where, f"later remark {number}")
    server.run, server.markdown = {**RUN, "outcome": "pass"}, "### pass: mine\n"
    done = submit(server, kind, variables)
    assert done.returncode == 0, done.stderr
    assert [text.split("\n", 1)[1] for text in ours(forge, kind)] == ["### pass: mine"]
    assert len(forge.comments[where]) == 261
    assert forge.statuses[-1].state == "success"


def test_a_comment_that_a_person_deleted_is_made_again(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables(kind, forge.api_url, tmp_path)
    submit(server, kind, variables)
    forge.comments.clear()
    submit(server, kind, variables)
    assert len(ours(forge, kind)) == 1


def test_two_runs_that_finish_at_once_leave_one_comment(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    forge.creations_meet = threading.Barrier(2)
    variables = pipeline_variables(kind, forge.api_url, tmp_path)
    ended: list[int] = []
    runs = [
        threading.Thread(
            target=lambda: ended.append(submit(server, kind, variables).returncode)
        )
        for _ in range(2)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(WITHIN_S)
    assert ended == [2, 2]
    assert len(ours(forge, kind)) == 1
    assert sum(method == "POST" for method, _ in forge.requests) >= 6


def test_suites_and_purposes_have_comments_and_statuses_of_their_own(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    submit(server, "github", variables)
    submit(server, "github", variables, "--purpose", "phones")
    submit(server, "github", variables, "--purpose", "phones")
    assert len(hub.texts("ann/sorts", 7)) == 2
    contexts = {status.context for status in hub.statuses}
    assert contexts == {"paceline/mine", "paceline/mine/phones"}


def test_a_name_cannot_end_the_hidden_marker() -> None:
    marker = comment_marker("--> <b>mine</b>\n", "a--b")
    assert marker.count("-->") == 1
    assert "<b>" not in marker
    assert "\n" not in marker
    assert comment_marker("a b", "c") != comment_marker("a", "b c")


def test_a_lost_answer_does_not_repeat_the_comment(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    forge.hang_up_after_creating = 1
    done = submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert done.returncode == 2, done.stderr
    assert len(ours(forge, kind)) == 1
    assert "not written" not in done.stderr


def test_a_strangers_comment_with_our_marker_does_not_stop_ours(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    forged = comment_marker("mine", "verdict") + "\nall is well"
    hub.foreign.add(hub.add_comment("ann/sorts", 7, forged))
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    submit(server, "github", variables)
    submit(server, "github", variables)
    assert [text.split("\n", 1)[1] for text in ours(hub, "github")] == [
        "all is well",
        "### fail: mine",
    ]


def test_a_fork_without_a_token_is_told_what_is_missing_and_keeps_the_verdicts_exit(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    variables = pipeline_variables(
        kind, forge.api_url, tmp_path, head_repository="bob/sorts"
    )
    if kind == "gitlab":
        variables |= {"CI_PROJECT_ID": "43", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43"}
    variables = {
        name: value for name, value in variables.items() if not name.endswith("_TOKEN")
    }
    done = submit(server, kind, variables, "--allow-forks")
    assert done.returncode == 2, done.stderr
    wanted = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}
    assert f"Set {wanted.get(kind, 'FORGEJO_TOKEN')}" in done.stderr.replace(
        "the masked CI/CD variable ", ""
    )
    assert "comes from a fork" in done.stderr
    assert forge.requests == []


def test_a_token_without_permission_is_named_once_and_keeps_the_verdicts_exit(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    forge.read_only = True
    done = submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert done.returncode == 2, done.stderr
    assert "The commit status was not set: 403" in done.stderr
    assert "The comment was not written: 403" in done.stderr
    module = {"github": github, "gitlab": gitlab, "forgejo": forgejo}[kind]
    assert done.stderr.count(module.PERMISSION_ADVICE) == 1


@pytest.mark.parametrize("token", ["wrong", "two words", "sigñed", "line\nbreak"])
def test_a_wrong_token_is_refused_without_being_printed(
    server: FakeServer, hub: FakeForge, tmp_path: Path, token: str
) -> None:
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables | {"GITHUB_TOKEN": token})
    assert done.returncode == 2, done.stderr
    assert "GITHUB_TOKEN" in done.stderr
    assert token not in done.stderr.replace("two words", "") or token == "wrong"
    assert hub.statuses == []


@pytest.mark.parametrize("around", ["{}\n", "\r\n{}", " {}\t"])
def test_white_space_around_a_forges_token_is_left_out(
    server: FakeServer, hub: FakeForge, tmp_path: Path, around: str
) -> None:
    """The pipeline's own variables were stripped; the option, and its own variable, were not."""
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    variables |= {"GITHUB_TOKEN": "wrong", "PACELINE_FORGE_TOKEN": around.format(TOKEN)}
    done = submit(server, "github", variables)
    assert [status.state for status in hub.statuses] == ["pending", "failure"]
    assert "was not" not in done.stderr


@pytest.mark.parametrize(
    ("token", "place"),
    [("“plt-forge-4711”", 1), ("plt-forge 4711", 10), ("plt-forge\n4711", 10)],
)
def test_a_forges_token_that_cannot_be_one_is_refused_by_the_place_of_its_character(
    server: FakeServer, hub: FakeForge, tmp_path: Path, token: str, place: int
) -> None:
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables, "--forge-token", token)
    assert done.returncode == 2, done.stderr
    assert f"at place {place} of {len(token)}" in done.stderr
    assert "4711" not in done.stdout + done.stderr
    assert hub.statuses == []


def test_a_forge_that_repeats_the_token_in_its_error_does_not_get_it_printed(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    hub.next_answers = [Answer(401, {"message": f"\x1b[31m{TOKEN} is bad"})] * 3
    done = submit(server, "github", pipeline_variables("github", hub.api_url, tmp_path))
    assert "*** is bad" in done.stderr
    assert "\x1b" not in done.stderr


def test_an_unreachable_forge_keeps_the_verdicts_exit(
    server: FakeServer, kind: str, tmp_path: Path
) -> None:
    server.run = {**RUN, "outcome": "pass"}
    with reserved_port() as port:
        address = f"http://127.0.0.1:{port}"
        done = submit(server, kind, pipeline_variables(kind, address, tmp_path))
    assert done.returncode == 0, done.stderr
    assert "The commit status was not set" in done.stderr
    assert "The comment was not written" in done.stderr


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "this is no list"),
        Answer(302, None, {"Location": "http://127.0.0.1:9/"}),
        Answer(500, {"message": "try again"}),
        Answer(404, ["odd"]),
    ],
)
def test_odd_answers_keep_the_verdicts_exit(
    server: FakeServer, hub: FakeForge, tmp_path: Path, answer: Answer
) -> None:
    hub.next_answers = [answer] * 100
    done = submit(server, "github", pipeline_variables("github", hub.api_url, tmp_path))
    assert done.returncode == 2, done.stderr
    assert "The comment was not written" in done.stderr


@pytest.mark.parametrize(
    "limit",
    [
        Answer(429, {"message": "slow down"}, {"Retry-After": "1"}),
        Answer(403, {"message": "secondary rate limit"}, {"Retry-After": "1"}),
    ],
)
def test_a_rate_limit_is_waited_for_as_long_as_it_says(
    server: FakeServer, hub: FakeForge, tmp_path: Path, limit: Answer
) -> None:
    hub.next_answers = [limit]
    began = time.monotonic()
    done = submit(server, "github", pipeline_variables("github", hub.api_url, tmp_path))
    assert time.monotonic() - began >= 1.0
    assert [status.state for status in hub.statuses] == ["pending", "failure"]
    assert "rate limit" not in done.stderr


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "3600"},
        {"Retry-After": "Fri, 31 Dec 2199 23:59:59 GMT"},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7258118399"},
    ],
)
def test_a_rate_limit_of_an_hour_is_said_and_not_waited_for(
    server: FakeServer, hub: FakeForge, tmp_path: Path, headers: dict[str, str]
) -> None:
    hub.next_answers = [Answer(403, {"message": "API rate limit exceeded"}, headers)]
    done = submit(server, "github", pipeline_variables("github", hub.api_url, tmp_path))
    assert done.returncode == 2
    assert "its rate limit is reached" in done.stderr
    assert [status.state for status in hub.statuses] == ["failure"]


def test_a_server_error_is_tried_again(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    hub.next_answers = [Answer(502, None)] * 2
    submit(server, "github", pipeline_variables("github", hub.api_url, tmp_path))
    assert [status.state for status in hub.statuses] == ["pending", "failure"]


@pytest.mark.parametrize(
    ("outcome", "options", "state", "status"),
    [
        ("pass", [], "success", 0),
        ("fail", [], "failure", 2),
        ("inconclusive", [], "error", 3),
        ("inconclusive", ["--fail-on", "fail"], "success", 0),
        ("fail", ["--fail-on", "never"], "success", 0),
        ("failed", [], "error", 1),
    ],
)
def test_the_status_agrees_with_the_exit_status(  # noqa: PLR0917 - fixtures
    server: FakeServer,
    hub: FakeForge,
    tmp_path: Path,
    outcome: str,
    options: list[str],
    state: str,
    status: int,
) -> None:
    server.run = {**RUN, "outcome": outcome}
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables, *options)
    assert done.returncode == status
    assert hub.statuses[-1].state == state
    assert hub.statuses[-1].description.startswith(outcome)


def test_a_request_that_the_server_refuses_ends_in_an_error_status(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    server.run = None
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables)
    assert done.returncode == 1
    assert [status.state for status in hub.statuses] == ["error"]
    assert "unknown_suite" in hub.statuses[0].description


def test_a_run_that_outlasts_the_timeout_ends_in_an_error_status(
    server: FakeServer, hub: FakeForge, tmp_path: Path
) -> None:
    server.run = {**RUN, "state": "running", "outcome": None}
    variables = pipeline_variables("github", hub.api_url, tmp_path)
    done = submit(server, "github", variables, "--timeout-s", "0")
    assert done.returncode == 1
    assert [status.state for status in hub.statuses] == ["pending", "error"]
    assert hub.statuses[-1].url == PUBLIC_URL


def test_any_reason_and_any_document_fit(
    server: FakeServer, kind: str, forge: FakeForge, tmp_path: Path
) -> None:
    reason = "</script>|`x`\n\u202e\U0001f600" * 50
    server.run = {**RUN, "reason": reason}
    server.markdown = "\U0001f600" * 70_000
    done = submit(server, kind, pipeline_variables(kind, forge.api_url, tmp_path))
    assert done.returncode == 2
    assert len(forge.statuses[-1].description) <= LONGEST_DESCRIPTION
    assert "\n" not in forge.statuses[-1].description
    assert ours(forge, kind)[0].endswith("… (cut for length)")


def test_a_sentence_is_one_line_with_a_mark_where_it_is_cut() -> None:
    assert shorten("a\nb\x1b[31m  c", 140) == "a b c"
    assert shorten("x" * 141, 140) == "x" * 139 + "…"
    assert shorten("x" * 140, 140) == "x" * 140


# --- what a pipeline says ---


def found(module: Any, variables: dict[str, str], **options: Any) -> Any:
    return module.find_pipeline(Variables(variables), ForgeOptions(**options))


def test_a_push_has_a_branch_and_no_pull_request(tmp_path: Path) -> None:
    pushed = found(
        github,
        {
            "GITHUB_REPOSITORY": "ann/sorts",
            "GITHUB_SHA": HEAD,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_REF_TYPE": "branch",
            "GITHUB_REF_NAME": "main",
        },
    )
    assert (pushed.commit, pushed.branch, pushed.pull_request) == (HEAD, "main", None)
    assert pushed.api_url == "https://api.github.com"
    tag = found(
        gitlab,
        {
            "CI_API_V4_URL": "https://g.example.org/api/v4",
            "CI_PROJECT_ID": "1",
            "CI_COMMIT_SHA": HEAD,
            "CI_COMMIT_TAG": "v1",
        },
    )
    assert (tag.branch, tag.pull_request) == (None, None)


def test_the_head_of_a_pull_request_is_taken_not_its_merge_commit(
    tmp_path: Path,
) -> None:
    variables = pipeline_variables("github", "https://a.example.org", tmp_path)
    pull = found(github, variables)
    assert (pull.commit, pull.pull_request.number) == (HEAD, 7)
    assert pull.pull_request.url == "https://forge.example.org/ann/sorts/pull/7"
    Path(variables["GITHUB_EVENT_PATH"]).write_text("not json")
    with pytest.raises(UserError, match="GITHUB_EVENT_PATH"):
        found(github, variables)
    assert found(github, variables, commit=HEAD).pull_request.number == 7


def test_a_merged_results_pipeline_of_a_fork_is_read_as_gitlab_documents_it() -> None:
    pull = found(
        gitlab,
        {
            "CI_API_V4_URL": "https://g.example.org/api/v4",
            "CI_PROJECT_ID": "43",
            "CI_COMMIT_SHA": MERGE,
            "CI_PIPELINE_ID": "9",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD,
        },
    )
    assert (pull.commit, pull.repository, pull.pipeline_id) == (HEAD, "43", None)
    assert (pull.pull_request.repository, pull.pull_request.from_fork) == ("42", True)


def test_forgejos_own_variables_win_and_giteas_are_understood(tmp_path: Path) -> None:
    variables = pipeline_variables("github", "https://github.invalid", tmp_path)
    gitea = found(
        forgejo,
        {name: value for name, value in variables.items() if name != "GITHUB_API_URL"}
        | {"GITHUB_SERVER_URL": "https://git.example.org/"},
    )
    assert gitea.api_url == "https://git.example.org/api/v1"
    assert gitea.token == TOKEN
    own = {"FORGEJO_API_URL": "https://f.example.org/api/v1", "FORGEJO_TOKEN": "own"}
    both = found(forgejo, variables | own)
    assert (both.api_url, both.token) == ("https://f.example.org/api/v1", "own")


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        (github, "GITHUB_REPOSITORY"),
        (gitlab, "CI_API_V4_URL"),
        (forgejo, "FORGEJO_API_URL"),
    ],
)
def test_outside_a_pipeline_the_variable_to_set_is_named(
    module: Any, missing: str
) -> None:
    with pytest.raises(UserError) as refused:
        found(module, {})
    assert f"Set {missing}, or give --" in refused.value.advice


def test_options_win_over_variables(tmp_path: Path) -> None:
    variables = pipeline_variables("github", "https://a.example.org", tmp_path)
    given = found(
        github,
        variables,
        api_url="https://b.example.org",
        repository="eve/other",
        commit=MERGE,
        branch="next",
        pull_request=8,
        token="given",
    )
    assert (given.api_url, given.repository) == ("https://b.example.org", "eve/other")
    assert (given.commit, given.branch, given.token) == (MERGE, "next", "given")
    assert given.pull_request.number == 8


def test_only_one_forge_is_reported_to(server: FakeServer) -> None:
    done = submit(server, "github", {}, "--gitlab")
    assert done.returncode == 1
    assert "only one of" in done.stderr
    assert server.requested == []
