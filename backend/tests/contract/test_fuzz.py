"""A short, seeded fuzz of requests that the contract does not describe: odd paths, headers, methods and broken bodies.

Every answer must be intended: never a 5xx, and every refusal a problem. Each fault that these tests were written for
(nested bodies, long names, broken origins and hosts) is found in the code that had it. `scripts/fuzz-api` fuzzes what
the contract describes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline_server.testing.committed_contract import read_contract

pytestmark = pytest.mark.shapes("embedded")

Headers = dict[str, str]
CONTRACT = read_contract()["paths"]
ROUTES = [
    (method.upper(), path)
    for path, each in CONTRACT.items()
    for method in each
    if path != "/api/v1/stream"
]
METHODS = (
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "get",
    "X",
)
NAMES = (
    "origin",
    "host",
    "sec-fetch-site",
    "authorization",
    "cookie",
    "content-type",
    "content-length",
    "content-encoding",
    "last-event-id",
    "lease-token",
    "x-forwarded-for",
    "x-request-id",
    "accept",
    "range",
    "if-none-match",
    "transfer-encoding",
)
VALUES = (
    "",
    "[",
    "http://[",
    "http://[::1",
    "null",
    "-1",
    "0",
    "1e9",
    "99999999999999999999",
    "a" * 300,
    "é",
    "\x7f",
    "bytes=0-",
    "Bearer",
    "Bearer plt_" + "x" * 43,
    "paceline=x",
    "gzip",
    "br",
    "chunked",
    "application/json",
    "application/json; charset=utf-16",
    "text/plain",
    "multipart/form-data",
    "*/*;q=x",
    "%",
    "/",
    "..",
    ";=",
    ",",
    "same-origin",
    "127.0.0.1:8321",
)
PIECES = (
    "a",
    "..",
    ".",
    "%00",
    "%2e%2e",
    "%2F",
    "%FF",
    "%C3%A9",
    "a" * 255,
    "a" * 256,
    "b" * 300 + ".js",
    "",
    "assets",
    "index.html",
    "api",
    "v1",
    "runs",
    "jobs",
    "\\",
    "~",
    "%25",
    "://x:y@",
    "[",
    "job_x",
    "-1",
    "1.0",
    "9" * 40,
    "None",
    " ",
    "'",
    "?",
    "#",
    "\U0001f600",
)


class Fuzz:
    """Draws requests from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a seeded draw of test inputs

    def path(self) -> str:
        return "/" + "/".join(
            self.random.choices(PIECES, k=self.random.randint(1, 6))
        ).replace("?", "%3F")

    def headers(self) -> list[tuple[bytes, bytes]]:
        names = self.random.sample(NAMES, self.random.randint(0, 3))
        return [(name.encode(), self.random.choice(VALUES).encode()) for name in names]

    def query(self, names: list[str]) -> str:
        chosen = [*names, "limit", "cursor", "x"]
        return "&".join(
            f"{self.random.choice(chosen)}={self.random.choice(PIECES + VALUES)}".replace(
                "#", "%23"
            )
            for _ in range(self.random.randint(0, 3))
        )

    def body(self, fields: list[str]) -> bytes:
        kind = self.random.randint(0, 5)
        if kind == 0:
            return self.random.randbytes(self.random.randint(0, 200))
        if kind == 1:
            depth = self.random.choice((10, 129, 500, 600, 700, 900, 1500))
            return b'{"%s":' % self._name(fields) + b"[" * depth + b"]" * depth + b"}"
        document = json.dumps(self.value(fields, 4)).encode()
        if kind == 2:
            cut = self.random.randint(0, len(document))
            return document[:cut] + self.random.randbytes(2) + document[cut:]
        return (
            document[: self.random.randint(0, len(document))] if kind == 3 else document
        )

    def value(self, fields: list[str], depth: int) -> Any:
        if depth and self.random.random() < 0.6:
            if self.random.random() < 0.3:
                return [
                    self.value(fields, depth - 1)
                    for _ in range(self.random.randint(0, 3))
                ]
            chosen = self.random.sample(fields, min(len(fields), 4))
            return {name: self.value(fields, depth - 1) for name in [*chosen, "x"]}
        scalars = (
            None,
            True,
            0,
            -1,
            1.5,
            2**63,
            1e308,
            "",
            "\x00",
            "\ud800",
            "a" * 2000,
            "2026-13-01T00:00:00Z",
        )
        return self.random.choice((*scalars, *VALUES))

    def _name(self, fields: list[str]) -> bytes:
        return self.random.choice([*fields, "x"]).encode()


def names_of(path: str, method: str) -> tuple[list[str], list[str]]:
    """The names of an operation's query values and of all fields that bodies know."""
    parameters = CONTRACT[path][method.lower()].get("parameters", [])
    return [each["name"] for each in parameters if each["in"] == "query"], FIELDS


FIELDS = sorted(
    {
        name
        for title, schema in read_contract()["components"]["schemas"].items()
        if title.endswith(("In", "Patch"))
        for name in schema.get("properties", {})
    }
)


def assert_intended_answer(answer: httpx2.Response) -> bool:
    if answer.status_code < 400:
        return True
    is_problem = answer.headers["content-type"] == "application/problem+json"
    return answer.status_code < 500 and (is_problem or answer.request.method == "HEAD")


@pytest.mark.parametrize("seed", range(4))
def test_odd_requests_get_documented_answers(
    app: FastAPI, token: Callable[..., Headers], seed: int
) -> None:
    fuzz = Fuzz(seed)
    credentials: list[Headers] = [{}, {}, token("admin"), token("agent"), token("read")]
    base = "http://127.0.0.1:8321"
    options = {"base_url": base, "raise_server_exceptions": False}
    with TestClient(app, **options) as client:  # type: ignore[arg-type]
        for _ in range(150):
            method, path = fuzz.random.choice(ROUTES)
            queries, fields = names_of(path, method)
            if fuzz.random.random() < 0.3:
                path = fuzz.path()
            if fuzz.random.random() < 0.1:
                method = fuzz.random.choice(METHODS)
            who = fuzz.random.choice(credentials)
            headers = [
                (name.encode(), value.encode()) for name, value in who.items()
            ] + fuzz.headers()
            body = fuzz.body(fields) if method not in ("GET", "HEAD") else b""
            if body and fuzz.random.random() < 0.9:
                headers = [each for each in headers if each[0] != b"content-type"]
                headers.append((b"content-type", b"application/json"))
            address = quote(
                f"{path}?{fuzz.query(queries)}".replace("{", "").replace("}", ""),
                safe="/?&=%:@'",
            )
            # Absolute, since a relative address may not begin with two slashes.
            answer = client.request(
                method, base + address, headers=headers, content=body
            )
            assert assert_intended_answer(answer), (
                seed,
                method,
                address,
                headers,
                body[:500],
                answer.text[:500],
            )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_nested_bodies_of_every_route_are_refused(
    client: TestClient, token: Callable[..., Headers], method: str
) -> None:
    headers = {**token("admin"), "Content-Type": "application/json"}
    deep = b"[" * 700 + b"]" * 700
    for verb, path in ROUTES:
        schema = CONTRACT[path][verb.lower()].get("requestBody")
        if verb == method and schema is not None:
            body = (
                b"{"
                + b",".join(b'"%s":' % name.encode() + deep for name in FIELDS[:20])
                + b"}"
            )
            answer = client.request(
                verb, path.replace("{attempt}", "1"), content=body, headers=headers
            )
            assert assert_intended_answer(answer), (verb, path, answer.text[:300])
