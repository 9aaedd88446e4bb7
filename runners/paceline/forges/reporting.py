"""Reports a run to a forge: a commit status while it runs and at its end, and one comment that is edited.

A failure is printed on standard error and changes nothing else: a verdict does not depend on a forge.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Literal, NamedTuple
from urllib.parse import quote

from paceline.credentials import check_address, check_credential
from paceline.display import print_note
from paceline.errors import UserError
from paceline.forges import forgejo, github, gitlab
from paceline.forges.client import ForgeClient
from paceline.forges.forks import NotMeasuredError, admit
from paceline.forges.port import (
    LONGEST_COMMENT,
    LONGEST_DESCRIPTION,
    Comment,
    Forge,
    ForgeError,
    ForgeOptions,
    Pipeline,
    State,
    Variables,
)
from paceline.terminal_text import readable_line

ForgeName = Literal["github", "gitlab", "forgejo"]
DEFAULT_PURPOSE = "verdict"
LONGEST_KEY = 255
"""Characters of a run's concurrency key."""
COMMENT_TRIES = 3
"""How often the one comment is looked for again, when somebody else changed it at the same time."""


class ForgeKind(NamedTuple):
    """One forge: how its pipelines are read, and how it is spoken to."""

    rules: ModuleType
    connect: type[github.GitHubForge | gitlab.GitLabForge]


KINDS: dict[ForgeName, ForgeKind] = {
    "github": ForgeKind(github, github.GitHubForge),
    "gitlab": ForgeKind(gitlab, gitlab.GitLabForge),
    "forgejo": ForgeKind(forgejo, forgejo.ForgejoForge),
}


class ForgeReporter:
    """Reports one run to one forge."""

    def __init__(
        self, name: ForgeName, options: ForgeOptions, suite: str, purpose: str
    ) -> None:
        """Read the environment. Raises UserError for what the pipeline must say and does not; a missing token is
        only noted, since pipelines of forks have none."""
        self._kind = KINDS[name]
        self._rules = self._kind.rules
        self._forge: Forge | None = None
        self._client: ForgeClient | None = None
        self._advised = False
        self.run_url: str | None = None
        """Where every status links to, once there is a run."""
        options = replace(options, token=(options.token or "").strip() or None)
        self.pipeline: Pipeline = self._rules.find_pipeline(
            Variables(os.environ), options
        )
        check_address(self.pipeline.api_url, "The address of the forge's API")
        suffix = "" if purpose == DEFAULT_PURPOSE else f"/{purpose}"
        self._context = readable_line(f"paceline/{suite}{suffix}")
        self._marker = comment_marker(suite, purpose)
        with self._note_errors("Nothing is reported"):
            self._connect()

    def admit(self, *, allows_forks: bool) -> str | None:
        """Return why nothing is measured, with what would change that; None if the pipeline's commit may be measured.
        Of a comment's pipeline the commit is the pull request's head from then on. Raises UserError where the forge
        must be asked and does not answer."""
        try:
            advice = self._rules.FORK_ADVICE.format(commit=self.pipeline.commit)
            self.pipeline = admit(
                self.pipeline, self._forge, advice, allows_forks=allows_forks
            )
        except NotMeasuredError as refusal:
            return str(refusal)
        except ForgeError as error:
            raise UserError(
                f"{self._rules.NAME}: Whether this pull request may be measured could not be asked: {error}.",
                f"{self._rules.PERMISSION_ADVICE} `--allow-forks` does without asking, except for comments.",
            ) from error
        if self._client is not None:
            self._forge = self._kind.connect(self._client, self.pipeline)
        return None

    @property
    def concurrency_key(self) -> str | None:
        """Return a key that all pushes of a pull request share, so that a newer one cancels the older one's run; None for
        a commit of a branch, which is measured whatever follows."""
        request = self.pipeline.pull_request
        if request is None:
            return None
        where = f"{self.pipeline.api_url} {request.repository} {request.number}"
        text = f"{where} {self._context}"
        if len(text) <= LONGEST_KEY:
            return text
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def close(self) -> None:
        """Close its connections."""
        if self._client is not None:
            self._client.close()

    def set_status(self, state: State, sentence: str, url: str | None) -> None:
        """Set the commit's status with one sentence and a link."""
        if self._forge is not None:
            with self._note_errors("The commit status was not set"):
                description = shorten(sentence, LONGEST_DESCRIPTION)
                self._forge.set_status(state, self._context, description, url)

    def write_comment(self, markdown: str) -> None:
        """Write the pull request's only comment: edit it if there is one, else create it. Does nothing outside pull
        requests."""
        if self._forge is not None and self.pipeline.pull_request is not None:
            body = f"{self._marker}\n{markdown.strip()}"
            if len(body) > LONGEST_COMMENT:
                body = body[: LONGEST_COMMENT - 30] + "\n… (cut for length)"
            with self._note_errors("The comment was not written"):
                keep_one_comment(self._forge, self._marker, body)

    def _connect(self) -> None:
        token = self.pipeline.token
        if token is None:
            raise ForgeError("there is no token", 401)
        try:
            token = check_credential(token)
        except UserError as error:
            raise ForgeError(error.text.rstrip("."), 401) from error
        self._client = ForgeClient(
            self.pipeline.api_url, self._kind.connect.headers(token), token
        )
        self._forge = self._kind.connect(self._client, self.pipeline)

    @contextmanager
    def _note_errors(self, consequence: str) -> Iterator[None]:
        try:
            yield
        except ForgeError as error:
            print_note(f"{self._rules.NAME}: {consequence}: {error}.")
            if error.status in {401, 403, 404} and not self._advised:
                self._advised = True
                print_note(self._advice(error.status))

    def _advice(self, status: int) -> str:
        text: str = self._rules.PERMISSION_ADVICE
        if status == 404:
            text = f"The repository or commit is not there, or the token may not see it. {text}"
        request = self.pipeline.pull_request
        if request is not None and request.from_fork:
            text += " This pull request comes from a fork, whose pipelines get no token that may write."
        return text


def keep_one_comment(forge: Forge, marker: str, body: str) -> None:
    """Leave exactly one comment of ours that begins with `marker`, with `body`. Two runs may do this at once: each
    looks again after it made one, and all but the oldest go. Raises ForgeError."""
    failure = ForgeError("another run kept changing it")
    for _ in range(COMMENT_TRIES):
        try:
            marked = _find_marked(forge, marker)
            kept_id = _edit_first(forge, marked, body)
            if kept_id is None:
                forge.create_comment(body)
                # Only a second look shows whether another run made one meanwhile.
                marked = _find_marked(forge, marker)
                kept_id = _edit_first(forge, marked, body)
        except ForgeError as error:
            if error.status in {400, 401, 403, 422, 429}:
                raise
            # Deleted since it was listed, or an answer was lost: look again.
            failure = error
            continue
        if kept_id is not None:
            for comment in marked:
                if comment.id != kept_id:
                    _delete(forge, comment.id)
            return
    raise failure


def _find_marked(forge: Forge, marker: str) -> list[Comment]:
    return [
        comment for comment in forge.list_comments() if comment.body.startswith(marker)
    ]


def _edit_first(forge: Forge, comments: Sequence[Comment], body: str) -> int | None:
    """Make the first comment that may be edited have `body`, and return its id. A stranger's comment with a copied
    marker may not be edited, and is skipped."""
    for comment in comments:
        if comment.body == body:
            return comment.id
        try:
            forge.edit_comment(comment.id, body)
        except ForgeError as error:
            if error.status == 403:
                continue
            raise
        return comment.id
    return None


def _delete(forge: Forge, comment_id: int) -> None:
    """Delete a comment unless another run already did, or it is a stranger's."""
    try:
        forge.delete_comment(comment_id)
    except ForgeError as error:
        if error.status not in {403, 404}:
            raise


def comment_marker(suite: str, purpose: str) -> str:
    """Return a line that no forge shows and that no name can end early."""
    return f"<!-- paceline suite={_plain(suite)} purpose={_plain(purpose)} -->"


def _plain(name: str) -> str:
    return quote(name, safe="").replace("--", "%2D%2D")


def shorten(text: str, longest: int) -> str:
    """Return one line of at most `longest` characters."""
    line = " ".join(readable_line(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def verdict_state(outcome: str | None, exits_with: int) -> State:
    """Return success if the pipeline goes on, failure for a fail, and error if there is no verdict or an inconclusive one."""
    if exits_with == 0:
        return "success"
    return "failure" if outcome == "fail" else "error"


def chosen_forge(chosen: Mapping[ForgeName, bool]) -> ForgeName | None:
    """Return the requested forge. Raises UserError for several."""
    names: list[ForgeName] = [name for name, wanted in chosen.items() if wanted]
    if len(names) > 1:
        raise UserError("Give only one of --github, --gitlab and --forgejo.")
    return names[0] if names else None
