"""A small HTTP server that speaks as much of GitHub's, GitLab's or Forgejo's API as a reporter uses.

It refuses what the documentation of the real one refuses, so that tests hold the client to those contracts: requests
without its kind of authentication, states it does not know, descriptions and comments that are too long.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from paceline_contract.testing.waiting import WITHIN_S

from paceline.testing.forge_contracts import load_contract

Json = dict[str, Any]
TOKEN = "forge-secret-token"  # noqa: S105 - of a fake


@dataclass(frozen=True)
class Contract:
    """The differences between the forges' APIs."""

    prefix: str
    """Prefix of every path."""
    header: str
    scheme: str
    """Word before the token in that header."""
    states: frozenset[str]
    longest_description: int
    longest_comment: int
    page: int
    """Comments in one answer unless the client requests more; at most 100."""
    context: str
    """The field that names a status."""
    status_path: re.Pattern[str]
    list_path: re.Pattern[str]
    comment_path: re.Pattern[str]
    pull_path: re.Pattern[str]
    edit_method: str


_ACTIONS_STATUS = re.compile(r"/repos/([^/]+/[^/]+)/statuses/([0-9a-f]{40})")
_ACTIONS_LIST = re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)/comments")
_ACTIONS_COMMENT = re.compile(r"/repos/([^/]+/[^/]+)/issues/comments/(\d+)")
_ACTIONS_PULL = re.compile(r"/repos/([^/]+/[^/]+)/pulls/(\d+)")
_PULLS = re.compile(r"/repos/([^/]+/[^/]+)/pulls")
_PERMISSION = re.compile(r"/repos/([^/]+/[^/]+)/collaborators/([^/]+)/permission")
_ARTIFACTS = re.compile(r"/repos/([^/]+/[^/]+)/actions/runs/(\d+)/artifacts")
_ARCHIVE = re.compile(r"/repos/([^/]+/[^/]+)/actions/artifacts/(\d+)/zip")
_FILE = re.compile(r"/files/(\d+)")


def _described_states(kind: str) -> frozenset[str]:
    rules = load_contract(kind)["routes"]["POST /repos/{}/{}/statuses/{}"]
    return frozenset(rules["body"]["properties"]["state"]["enum"])


CONTRACTS = {
    # Its lengths are those that GitHub's own errors name; the description has none.
    "github": Contract(
        prefix="",
        header="authorization",
        scheme="Bearer ",
        states=_described_states("github"),
        longest_description=140,
        longest_comment=65_536,
        page=30,
        context="context",
        status_path=_ACTIONS_STATUS,
        list_path=_ACTIONS_LIST,
        comment_path=_ACTIONS_COMMENT,
        pull_path=_ACTIONS_PULL,
        edit_method="PATCH",
    ),
    # docs.gitlab.com/api: commits (set commit pipeline status), notes (merge requests)
    "gitlab": Contract(
        prefix="/api/v4",
        header="private-token",
        scheme="",
        states=frozenset(
            {"pending", "running", "success", "failed", "canceled", "skipped"}
        ),
        longest_description=255,
        longest_comment=1_000_000,
        page=20,
        context="name",
        status_path=re.compile(r"/projects/([^/]+)/statuses/([0-9a-f]{40})"),
        list_path=re.compile(r"/projects/([^/]+)/merge_requests/(\d+)/notes"),
        comment_path=re.compile(r"/projects/([^/]+)/merge_requests/\d+/notes/(\d+)"),
        pull_path=re.compile(r"/projects/([^/]+)/merge_requests/(\d+)"),
        edit_method="PUT",
    ),
    "forgejo": Contract(
        prefix="/api/v1",
        header="authorization",
        scheme="token ",
        states=_described_states("forgejo"),
        longest_description=1_000_000,
        longest_comment=1_000_000,
        page=1_000_000,
        context="context",
        status_path=_ACTIONS_STATUS,
        list_path=_ACTIONS_LIST,
        comment_path=_ACTIONS_COMMENT,
        pull_path=_ACTIONS_PULL,
        edit_method="PATCH",
    ),
}


class Status(NamedTuple):
    """A commit status as it was set."""

    repository: str
    commit: str
    context: str
    state: str
    description: str
    url: str | None


class Artifact(NamedTuple):
    """What a workflow uploaded."""

    run_id: int
    name: str
    data: bytes
    expired: bool = False


class Answer(NamedTuple):
    """A response; `body` None sends none, and bytes are sent as they are."""

    status: int
    body: Any
    headers: Mapping[str, str] = MappingProxyType({})


def own_pull_request(number: int, repository: str) -> Json:
    """Return a pull request of a branch in the repository, as GitHub answers it."""
    return {
        "number": number,
        "state": "open",
        "title": "Sort faster",
        "html_url": f"https://forge.example.org/pull/{number}",
        "head": {
            "ref": "faster",
            "sha": "a" * 40,
            "repo": {"full_name": repository, "pushed_at": "2026-11-28T10:00:00Z"},
        },
        "base": {"ref": "main"},
    }


OWN_MERGE_REQUEST: Json = {
    "sha": "a" * 40,
    "source_project_id": 42,
    "target_project_id": 42,
}
"""As GitLab answers it."""


class Exchange(NamedTuple):
    """A request as it was handled."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Json
    answer: Answer


class FakeForge:
    """The forge; `api_url` is its address. Tests may change every public attribute while it runs."""

    def __init__(self, kind: str) -> None:
        self.contract = CONTRACTS[kind]
        self.changed = threading.Condition()
        self.statuses: list[Status] = []
        self.comments: dict[tuple[str, int], dict[int, str]] = {}
        """Text by id, of a repository's pull request."""
        self.foreign: set[int] = set()
        """Ids of comments that the token may not change."""
        self.read_only = False
        """The token may only read, as in a fork's workflow."""
        self.pulls: dict[int, Json] = {}
        """Pull or merge requests as the API answers them; others are the repository's own."""
        self.permissions: dict[str, str] = {}
        """Of people; others may read."""
        self.artifacts: list[Artifact] = []
        self.next_answers: list[Answer] = []
        """Given instead of handling the next requests."""
        self.hang_up_after_creating = 0
        """How many comments are made whose answer is lost."""
        self.creations_meet: threading.Barrier | None = None
        """Requests that make a comment wait for each other there, before the first is handled."""
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[Json] = []
        self.exchanges: list[Exchange] = []
        self._next_id = 1
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def api_url(self) -> str:
        return (
            f"http://127.0.0.1:{self._server.server_address[1]}{self.contract.prefix}"
        )

    def __enter__(self) -> FakeForge:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add_comment(self, repository: str, number: int, body: str) -> int:
        """Add a comment by somebody else."""
        comment_id, self._next_id = self._next_id, self._next_id + 1
        self.comments.setdefault((repository, number), {})[comment_id] = body
        return comment_id

    def texts(self, repository: str, number: int) -> list[str]:
        """Return the comments of a pull request."""
        return list(self.comments.get((repository, number), {}).values())

    def answer(
        self,
        method: str,
        path: str,
        query: dict[str, list[str]],
        token: str,
        body: Json,
    ) -> Answer:
        if self.next_answers:
            return self.next_answers.pop(0)
        if method == "GET" and (found := _FILE.fullmatch(path)):
            # The host of GitHub's artifacts refuses a second way to sign in.
            if token:
                return Answer(400, {"message": "Only one auth mechanism allowed"})
            return Answer(200, self.artifacts[int(found[1])].data)
        if token != f"{self.contract.scheme}{TOKEN}":
            return Answer(401, {"message": "Bad credentials"})
        if self.read_only and method != "GET":
            return Answer(403, {"message": "Resource not accessible by integration"})
        return self._route(method, path, query, body)

    def _route(
        self, method: str, path: str, query: dict[str, list[str]], body: Json
    ) -> Answer:
        contract = self.contract
        if method == "POST" and (found := contract.status_path.fullmatch(path)):
            return self._set_status(unquote(found[1]), found[2], body)
        if found := contract.list_path.fullmatch(path):
            where = (unquote(found[1]), int(found[2]))
            return (
                self._list(where, query)
                if method == "GET"
                else self._write(where, None, body)
            )
        if found := contract.comment_path.fullmatch(path):
            return self._change(method, unquote(found[1]), int(found[2]), body)
        if method == "GET":
            return self._read(path, query)
        return Answer(404, {"message": "Not Found"})

    def _read(self, path: str, query: dict[str, list[str]]) -> Answer:
        """Answer what only GET asks for: pull requests, permissions and artifacts."""
        if found := self.contract.pull_path.fullmatch(path):
            number = int(found[2])
            own = self._own_pull_request(number, unquote(found[1]))
            return Answer(200, self.pulls.get(number, own))
        if _PULLS.fullmatch(path):
            return self._list_pulls(*query["head"][0].split(":", 1))
        if found := _PERMISSION.fullmatch(path):
            permission = self.permissions.get(unquote(found[2]), "read")
            return Answer(200, {"permission": permission})
        return self._read_artifact(path, query)

    def _own_pull_request(self, number: int, repository: str) -> Json:
        if self.contract.prefix == "/api/v4":
            return OWN_MERGE_REQUEST
        own = own_pull_request(number, repository)
        if self.contract.prefix == "/api/v1":  # it does not say that
            del own["head"]["repo"]["pushed_at"]
        return own

    def _list_pulls(self, owner: str, branch: str) -> Answer:
        """Answer with the open pull requests of a branch of somebody's repository."""
        found = []
        for item in self.pulls.values():
            source = (item["head"]["repo"] or {"full_name": ""})["full_name"]
            if (source.split("/")[0], item["head"]["ref"]) == (owner, branch):
                found.append(item)
        return Answer(200, found)

    def _read_artifact(self, path: str, query: dict[str, list[str]]) -> Answer:
        if found := _ARTIFACTS.fullmatch(path):
            listed = [
                {"id": number, "name": artifact.name, "expired": artifact.expired}
                for number, artifact in enumerate(self.artifacts)
                if artifact.run_id == int(found[2])
                and artifact.name == query["name"][0]
            ]
            return Answer(200, {"total_count": len(listed), "artifacts": listed})
        if found := _ARCHIVE.fullmatch(path):
            if self.artifacts[int(found[2])].expired:
                return Answer(410, {"message": "Artifact has expired"})
            return Answer(302, None, {"Location": f"/files/{found[2]}"})
        return Answer(404, {"message": "Not Found"})

    def _set_status(self, repository: str, commit: str, body: Json) -> Answer:
        state, description = body.get("state"), body.get("description", "")
        if state not in self.contract.states:
            return Answer(
                400 if self.contract.prefix == "/api/v4" else 422,
                {"message": f"state does not have a valid value: {state}"},
            )
        if len(description) > self.contract.longest_description:
            return Answer(422, {"message": "description is too long"})
        status = Status(
            repository,
            commit,
            body[self.contract.context],
            state,
            description,
            body.get("target_url"),
        )
        same = [known.state for known in self.statuses if known[:3] == status[:3]]
        # GitLab up to 18 (gitlab-foss issue 25807).
        if self.contract.prefix == "/api/v4" and same[-1:] == [state]:
            return Answer(
                400, {"message": f"Cannot transition status via :run from :{state}"}
            )
        self.statuses.append(status)
        answered = "status" if self.contract.prefix == "/api/v1" else "state"
        return Answer(201, {"id": len(self.statuses), answered: state})

    def _list(self, where: tuple[str, int], query: dict[str, list[str]]) -> Answer:
        page_size = int(query.get("per_page", ["0"])[0])
        size = min(page_size, 100) if page_size else self.contract.page
        if self.contract.page > 100:  # Gitea lists an issue's comments in one piece
            size, first = self.contract.page, 0
        else:
            first = (int(query.get("page", ["1"])[0]) - 1) * size
        items = sorted(self.comments.get(where, {}).items())[first : first + size]
        return Answer(200, [{"id": number, "body": text} for number, text in items])

    def _write(
        self, where: tuple[str, int], comment_id: int | None, body: Json
    ) -> Answer:
        text = body.get("body")
        if not isinstance(text, str) or not text.strip():
            return Answer(422, {"message": "body is missing"})
        if len(text) > self.contract.longest_comment:
            longest = self.contract.longest_comment
            return Answer(
                422, {"message": f"Body is too long (maximum is {longest} characters)"}
            )
        if comment_id is None:
            comment_id = self.add_comment(*where, text)
            return Answer(201, {"id": comment_id, "body": text})
        self.comments[where][comment_id] = text
        return Answer(200, {"id": comment_id, "body": text})

    def _change(
        self, method: str, repository: str, comment_id: int, body: Json
    ) -> Answer:
        places = [
            where
            for where, texts in self.comments.items()
            if where[0] == repository and comment_id in texts
        ]
        if not places:
            return Answer(404, {"message": "Not Found"})
        if comment_id in self.foreign:
            return Answer(403, {"message": "Forbidden"})
        if method == self.contract.edit_method:
            return self._write(places[0], comment_id, body)
        if method == "DELETE":
            del self.comments[places[0]][comment_id]
            return Answer(204, None)
        return Answer(405, {"message": "Method Not Allowed"})


def _handler_of(forge: FakeForge) -> type[BaseHTTPRequestHandler]:
    class ForgeHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def do_PUT(self) -> None:
            self._serve("PUT")

        def do_PATCH(self) -> None:
            self._serve("PATCH")

        def do_DELETE(self) -> None:
            self._serve("DELETE")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            pass

        def _serve(self, method: str) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data) if data else {}
            url = urlsplit(self.path)
            path = url.path.removeprefix(forge.contract.prefix)
            creates = method == "POST" and bool(
                forge.contract.list_path.fullmatch(path)
            )
            if creates and forge.creations_meet is not None:
                forge.creations_meet.wait(WITHIN_S)
            with forge.changed:
                forge.requests.append((method, path))
                forge.bodies.append(body)
                token = self.headers.get(forge.contract.header, "")
                query = parse_qs(url.query)
                answer = forge.answer(method, path, query, token, body)
                forge.exchanges.append(Exchange(method, path, query, body, answer))
                lost = creates and forge.hang_up_after_creating > 0
                forge.hang_up_after_creating -= lost
                forge.changed.notify_all()
            if lost:
                self.close_connection = True
                return
            if isinstance(answer.body, bytes):
                sent = answer.body
            else:
                sent = b"" if answer.body is None else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    return ForgeHandler
