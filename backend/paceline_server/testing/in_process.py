"""Calls the application without a client, sockets or threads, for tests that call it thousands of times.

A request through Starlette's TestClient changes threads a dozen times, which costs as much as most answers. Here one
event loop calls the application, and what FastAPI would run in a thread runs in the loop, in a copy of its context as
there. Requests never overlap.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, urlencode

import anyio.to_thread
from fastapi import FastAPI

HOST = "127.0.0.1:8321"
"""As the fixture `client` is addressed."""


@dataclass(frozen=True)
class Answer:
    """An answer, named as httpx names it."""

    status_code: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    def json(self) -> Any:
        return json.loads(self.content)


class InProcessClient:
    """`request` answers as an httpx client's would; made by `in_process`."""

    def __init__(self, app: FastAPI, loop: asyncio.AbstractEventLoop) -> None:
        self._app, self._loop = app, loop

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        params: Mapping[str, Any] | None = None,
        json: object = None,
    ) -> Answer:
        return self._loop.run_until_complete(
            self._answer(method.upper(), path, headers, params or {}, json)
        )

    async def _answer(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        params: Mapping[str, Any],
        content: object,
    ) -> Answer:
        body = b"" if content is None else json.dumps(content).encode()
        sent = {"host": HOST, **{name.lower(): text for name, text in headers.items()}}
        if content is not None:
            sent |= {
                "content-type": "application/json",
                "content-length": str(len(body)),
            }
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "query_string": urlencode(params).encode(),
            "headers": [(name.encode(), text.encode()) for name, text in sent.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8321),
            "state": {},
        }
        status, parts, is_sent = 0, list[bytes](), False

        async def receive() -> dict[str, Any]:
            nonlocal is_sent
            if is_sent:
                return {"type": "http.disconnect"}
            is_sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))

        await self._app(scope, receive, send)  # type: ignore[arg-type] # plain dictionaries
        return Answer(status, b"".join(parts))


async def _run_here(
    function: Callable[..., Any], *arguments: object, **_: object
) -> Any:
    """`anyio.to_thread.run_sync` without the thread."""
    return contextvars.copy_context().run(function, *arguments)


@contextmanager
def in_process(app: FastAPI) -> Iterator[InProcessClient]:
    """Yield a client of `app` in this thread."""
    with (
        asyncio.Runner() as runner,
        patch.object(anyio.to_thread, "run_sync", _run_here),
    ):
        yield InProcessClient(app, runner.get_loop())
