"""`paceline report`: shows what a pull request's own workflow measured in one comment, at GitHub.

That workflow has no token that may write; this command runs in a second one that has. It sets no commit status: a
verdict that the author of the pull request could have written decides nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import closing

from paceline import judging
from paceline.credentials import check_address, check_credential
from paceline.display import print_note
from paceline.errors import UserError
from paceline.forges import artifacts, github
from paceline.forges.artifacts import WorkflowRun
from paceline.forges.client import ForgeClient
from paceline.forges.port import (
    ForgeError,
    ForgeOptions,
    Pipeline,
    PullRequest,
    Variables,
)
from paceline.forges.reporting import comment_marker, keep_one_comment
from paceline.terminal_text import readable_line

PURPOSE = "pipeline"
"""The comment's purpose, so that it never replaces the comment with a server's verdict."""
RENDER_S = 120
REPOSITORY_NAME = re.compile(r"[^/\s]+/[^/\s]+")
PERMISSION_ADVICE = (
    "The job needs GITHUB_TOKEN in the step's env and `permissions: {actions: read, contents: read, "
    "pull-requests: write}`, as ci/github/report.yml has them."
)


def report(suite: str, options: ForgeOptions) -> None:
    """Write the comment, or print why there is none to write. Raises UserError for an invalid upload, and if the forge
    fails."""
    server = judging.find_judge()
    if server is None:
        raise UserError(
            "paceline-server, which checks and renders verdicts, is not installed here.",
            "Install it beside paceline: pip install ./contract ./backend in a clone of Paceline.",
        )
    variables = Variables(os.environ)
    api_url = options.api_url or variables.get("GITHUB_API_URL") or github.API_URL
    check_address(api_url, "The address of the forge's API")
    if options.repository and not REPOSITORY_NAME.fullmatch(options.repository):
        raise UserError(
            f"--repository {options.repository!r} names no repository.",
            "Give it as OWNER/NAME.",
        )
    run = artifacts.find_workflow_run(variables)
    if run is None:
        print_note(
            "Nothing to report: the workflow that ended was not of a pull request."
        )
        return
    repository = variables.need(
        options.repository, "the repository", "--repository", "GITHUB_REPOSITORY"
    )
    token = check_credential(
        variables.need(
            options.token, "a token", "--forge-token", *github.TOKEN_VARIABLES
        )
    )
    try:
        with closing(
            ForgeClient(api_url, github.GitHubForge.headers(token), token)
        ) as client:
            _report(
                client,
                Pipeline(api_url, repository, run.commit, None, None, token),
                run,
                server,
                suite,
            )
    except ForgeError as error:
        raise UserError(f"GitHub: {error}.", PERMISSION_ADVICE) from error


def _report(
    client: ForgeClient, pipeline: Pipeline, run: WorkflowRun, server: str, suite: str
) -> None:
    document = artifacts.download_document(client, pipeline.repository, run)
    if document is None:
        print_note(
            f"Nothing to report: {run.url} uploaded no {artifacts.ARTIFACT}, so it measured nothing."
        )
        return
    markdown = _render(server, suite, run.commit, document)
    # Looked up last, so that a push meanwhile is noticed.
    number = artifacts.find_pull_request(client, pipeline.repository, run)
    if number is None:
        print_note(
            f"Nothing to report: {run.commit[:12]} is not the head of exactly one open pull request."
        )
        return
    forge = github.GitHubForge(
        client,
        Pipeline(
            pipeline.api_url,
            pipeline.repository,
            run.commit,
            None,
            PullRequest(number, pipeline.repository),
            pipeline.token,
        ),
    )
    marker = comment_marker(suite, PURPOSE)
    origin = (
        f"Measured by the [pull request's own workflow]({run.url}), without a server: its author could change what it "
        "says."
    )
    keep_one_comment(forge, marker, f"{marker}\n{origin}\n\n{markdown.strip()}")
    print_note(f"The comment of pull request {number} has the verdict.")


def _render(server: str, suite: str, commit: str, document: bytes) -> str:
    """Return the document as Markdown. Raises UserError if it is not one of this suite and commit."""
    argv = [server, "render", "--suite", suite, "--commit", commit]
    try:
        done = subprocess.run(
            argv, input=document, capture_output=True, timeout=RENDER_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"The uploaded document was not rendered within {RENDER_S} s."
        ) from error
    if done.returncode != 0:
        error_text = readable_line(done.stderr.decode(errors="replace"))[:500]
        raise UserError(f"The uploaded document was not rendered: {error_text}")
    return done.stdout.decode()
