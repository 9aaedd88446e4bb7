"""Runs a real Gitea for a test: people, repositories, pull requests and webhooks, on SQLite and loopback.

`make test-forge` builds it and says in `PACELINE_GITEA` where it is. It has a directory of its own and ends with its
test.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S, wait_until

from .stack import running

OWNER = "ann"
PASSWORD = "a-password-of-a-test"
SETTINGS = """
WORK_PATH = {directory}
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = {is_root}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = {url}/
STATIC_ROOT_PATH = {built}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {directory}/gitea.db
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = loopback
[log]
MODE = console
LEVEL = warn
"""


class Event(NamedTuple):
    """An event as Gitea sends it to a webhook; its runner writes the same into the event's file."""

    kind: str
    arrived_at: float
    payload: dict[str, Any]

    def at(self, path: Sequence[str]) -> Any:
        """Return what lies at this place of the payload."""
        value: Any = self.payload
        for name in path:
            value = value[name]
        return value


@dataclass
class Gitea:
    """The forge as its people use it; `OWNER` administers it."""

    url: str
    command: list[str]
    receiver: str
    """Where its webhooks are received."""
    events: list[Event] = field(default_factory=list)

    def add_person(self, name: str, *options: str) -> None:
        """Add somebody who signs in with `PASSWORD`."""
        credentials = ("--username", name, "--password", PASSWORD)
        address = ("--email", f"{name}@example.org", "--must-change-password=false")
        self._run("user", "create", *credentials, *address, *options)

    def make_token(self, person: str, scopes: str) -> str:
        """Return a new token of a person's."""
        options = ("--username", person, "--token-name", "ci", "--scopes", scopes)
        made = self._run("user", "generate-access-token", "--raw", *options)
        return made.split()[-1]

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, "admin", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def call(self, method: str, path: str, *, by: str = OWNER, **body: Any) -> Any:
        """Return the decoded answer of its API to a person."""
        answer = httpx.request(
            method,
            f"{self.url}/api/v1{path}",
            json=body or None,
            auth=(by, PASSWORD),
            timeout=WITHIN_S,
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def clone_address(self, repository: str, person: str) -> str:
        """Return the address from which a person fetches, and to which they push."""
        return f"{self.url.replace('://', f'://{person}:{PASSWORD}@')}/{repository}.git"

    def add_repository(self, name: str) -> str:
        """Add a public repository of the owner's, whose events are received; returns its full name."""
        self.call("POST", "/user/repos", name=name, default_branch="main")
        repository = f"{OWNER}/{name}"
        self.call(
            "POST",
            f"/repos/{repository}/hooks",
            type="gitea",
            active=True,
            events=["pull_request", "pull_request_sync", "pull_request_comment"],
            config={"url": self.receiver, "content_type": "json"},
        )
        return repository

    def wait_for_event(self, kind: str, *path: str, value: str) -> Event:
        """Return the newest event of that kind that has this value there."""

        def find() -> Event | None:
            of_kind = (event for event in reversed(self.events) if event.kind == kind)
            return next((event for event in of_kind if event.at(path) == value), None)

        return wait_until(f"the event {kind} with {value}", find)


@contextmanager
def running_gitea(directory: Path, logs: Path) -> Iterator[Gitea]:
    """A Gitea until the block ends."""
    directory.mkdir()
    built = Path(os.environ["PACELINE_GITEA"])
    settings = directory / "app.ini"
    command = [str(built / "gitea"), "--config", str(settings)]
    events: list[Event] = []
    with reserved_port() as port, _receiving_events(events) as receiver:
        url = f"http://127.0.0.1:{port}"
        is_root = os.geteuid() == 0
        settings.write_text(
            SETTINGS.format(
                directory=directory, port=port, url=url, built=built, is_root=is_root
            )
        )
        subprocess.run([*command, "migrate"], check=True, capture_output=True)
        forge = Gitea(url, command, receiver, events)
        forge.add_person(OWNER, "--admin")
        with running("gitea", [*command, "web"], dict(os.environ), logs) as process:

            def answers() -> bool:
                assert process.popen.poll() is None, process.tail()
                try:
                    return httpx.get(f"{url}/api/healthz", timeout=WITHIN_S).is_success
                except httpx.HTTPError:
                    return False

            wait_until("Gitea", answers)
            yield forge


@contextmanager
def _receiving_events(events: list[Event]) -> Iterator[str]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            kind = self.headers["X-Gitea-Event"]
            events.append(Event(kind, time.time(), json.loads(data)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
