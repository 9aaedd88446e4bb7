"""Fuzzes the HTTP API of a real server process with schemathesis: as anonymous, as reader and as admin.

    scripts/fuzz-api [SECONDS] [--seed N]

The roles share SECONDS (default 600). It fails on any server error and on any answer that the contract
(`backend/openapi.json`) does not describe: status, content type, headers, body, or a method. It prints each failure
with a command that repeats it. `backend/tests/contract/test_fuzz.py` fuzzes what no contract describes (paths,
headers, broken bodies).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import httpx

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method,allow_header_conformance,ignored_auth"
)
ENDLESS = "/api/v1/stream"
"""Server-sent events never end; `backend/tests/live` tests their refusals."""
STARTS_WITHIN_S = 120
TOOLS = Path(sys.executable).parent


class Server:
    """A fresh `paceline-server up` without an agent, for use in a `with`."""

    def __init__(self, data_dir: str) -> None:
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PACELINE_")
        }
        argv = [
            str(TOOLS / "paceline-server"),
            "up",
            "--data",
            data_dir,
            "--no-agent",
            "--port",
            "0",
        ]
        self.data_dir = data_dir
        self.log_text = ""
        """The server's log; read it after the end."""
        self._log = Path(data_dir, "server.log").open("w", encoding="utf-8")  # noqa: SIM115 - closed at the end
        self._process = subprocess.Popen(
            argv, env=environment, stdout=subprocess.PIPE, stderr=self._log, text=True
        )

    def __enter__(self) -> Server:
        watchdog = threading.Timer(STARTS_WITHIN_S, self._process.kill)
        watchdog.start()
        answer = ""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            answer += line
            if (link := re.search(r"#token=(\S+)", answer)) and (
                ready := re.search(r"ready:\s+(\S+)", answer)
            ):
                self.url, self._link = ready[1], link[1]
                break
        else:
            raise SystemExit(f"fuzz-api: the server did not start:\n{answer}")
        watchdog.cancel()
        threading.Thread(target=self._process.stdout.read, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)
        self._log.close()
        self.log_text = Path(self._log.name).read_text(encoding="utf-8")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def tokens(self) -> dict[str, str]:
        """Return a token per role."""
        with httpx.Client(
            base_url=f"{self.url}/api/v1", timeout=STARTS_WITHIN_S
        ) as client:
            client.get(
                "/openapi.json"
            ).raise_for_status()  # built once; schemathesis waits 10 s for it
            client.post("/session/link", json={"token": self._link}).raise_for_status()
            tokens = {}
            session = client.get("/session").raise_for_status().json()
            permissions_of = {
                "reader": ["project.read"],
                "admin": session["permissions"],
            }
            for role, permissions in permissions_of.items():
                body = {"name": role, "permissions": permissions}
                answer = client.post("/tokens", json=body, headers={"Origin": self.url})
                tokens[role] = str(answer.raise_for_status().json()["secret"])
            return tokens


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fuzz(server: Server, role: str, token: str | None, seconds: int, seed: int) -> bool:
    """Fuzz as one role. Returns whether every answer was right."""
    say(f"\n== as {role}, {seconds} s, seed {seed}")
    credential = ["-H", f"Authorization: Bearer {token}"] if token else []
    argv = [
        str(TOOLS / "schemathesis"),
        "run",
        f"{server.url}/api/v1/openapi.json",
        "--url",
        server.url,
        "--checks",
        CHECKS,
        "--exclude-path",
        ENDLESS,
        "--max-time",
        str(seconds),
        "--seed",
        str(seed),
        "--request-timeout",
        "30",
        "--continue-on-failure",
        "--warnings",
        "off",
        *credential,
    ]
    failed = subprocess.run(argv, check=False, cwd=server.data_dir).returncode
    return failed == 0


def main() -> int:
    """Fuzz and return the exit status: 0 if every answer was right."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("seconds", nargs="?", type=int, default=600)
    options.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)))
    options.add_argument(
        "--role", choices=["anonymous", "reader", "admin"], action="append"
    )
    arguments = options.parse_args()
    roles = arguments.role or ["anonymous", "reader", "admin"]
    failures = []
    with tempfile.TemporaryDirectory(prefix="fuzz-api-") as directory:
        with Server(directory) as server:
            tokens: dict[str, str | None] = {"anonymous": None, **server.tokens()}
            each = max(1, arguments.seconds // len(roles))
            for number, role in enumerate(roles):
                if not fuzz(server, role, tokens[role], each, arguments.seed + number):
                    failures.append(role)
            if not server.alive:
                failures.append("the server ended")
        unexpected = [
            line for line in server.log_text.splitlines() if '"unexpected"' in line
        ]
    for line in unexpected[:20]:
        say(line[:2000])
    if unexpected:
        failures.append(f"{len(unexpected)} unexpected exceptions in the server's log")
    say(
        f"\nfuzz-api: {'; '.join(failures) if failures else 'nothing found'} (seed {arguments.seed})"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
