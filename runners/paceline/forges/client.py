"""Sends HTTP requests to a forge, with bounded retries, rate limits, and errors that never show a token.

A request is repeated if it cannot have been handled (there was no connection, or a rate limit was reached), or if
handling it twice does no harm. Redirects are not followed, so that no other host gets the token.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from paceline import __version__
from paceline.forges.port import Comment, ForgeError
from paceline.terminal_text import readable_line

TIMEOUT = httpx.Timeout(20.0, connect=5.0)
TRIES = 4
FIRST_BACKOFF_S = 0.5
LONGEST_WAIT_S = 60.0
"""A forge that asks for a longer pause is not waited for: a pipeline's minutes are worth more than a comment."""
WAITING_BUDGET_S = 120.0
"""Limit for all pauses of one command together."""
UNSPECIFIED_LIMIT_S = 60.0
"""GitHub's documentation asks for at least a minute where a rate-limit response names no time."""
COMMENTS_PER_PAGE = 100
MAX_PAGES = 100
LONGEST_MESSAGE = 300


class ForgeClient:
    """A client of one API. `secret` is the token, which is removed from every message."""

    def __init__(
        self, api_url: str, headers: dict[str, str], secret: str | None
    ) -> None:
        self._secret = secret
        self._pause = threading.Event()
        self._budget_s = WAITING_BUDGET_S
        try:
            self._client = httpx.Client(
                base_url=api_url.rstrip("/") + "/",
                headers={"User-Agent": f"paceline/{__version__}", **headers},
                timeout=TIMEOUT,
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ForgeError(self._safe(f"{api_url!r} is no address")) from error

    def close(self) -> None:
        """Close the connections to the forge."""
        self._client.close()

    def send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        params: dict[str, str] | None = None,
        repeatable: bool = True,
    ) -> Any:
        """Send a request; returns the decoded response, None if that is empty. A `repeatable` request may be handled
        twice without harm. Raises ForgeError."""
        backoff = FIRST_BACKOFF_S
        for remaining in range(TRIES - 1, -1, -1):
            try:
                response = self._client.request(method, path, json=body, params=params)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure, wait_s = self._network_error(error), backoff
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                failure, wait_s = self._network_error(error), backoff
                if not repeatable:
                    raise failure from error
            else:
                if response.is_success:
                    return self._decode(response)
                failure = self._refusal(response)
                limit_s = _rate_limit_s(response)
                if limit_s is not None:
                    failure = ForgeError(
                        f"its rate limit is reached, wait {limit_s:.0f} s ({failure})",
                        response.status_code,
                    )
                    wait_s = limit_s
                elif response.status_code >= 500 and repeatable:
                    wait_s = backoff
                else:
                    raise failure
            if (
                remaining == 0
                or wait_s > LONGEST_WAIT_S
                or not self._spend_budget(wait_s)
            ):
                raise failure
            backoff = min(backoff * 2, LONGEST_WAIT_S)
        raise AssertionError("the last try returns or raises")

    def download(self, path: str, limit: int) -> bytes:
        """Return the file that the API redirects to. Its host gets no token. Raises ForgeError, also if the file has
        more than `limit` bytes."""
        try:
            response = self._client.get(path)
            if response.next_request is None:
                raise self._refusal(response)
            headers_without_token = {
                "User-Agent": f"paceline/{__version__}",
                "Accept-Encoding": "identity",
            }
            address = response.next_request.url
            with httpx.stream(
                "GET", address, headers=headers_without_token, timeout=TIMEOUT
            ) as file:
                if not file.is_success:
                    raise ForgeError(f"the file's host answered {file.status_code}")
                return _read_at_most(file, limit)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._network_error(error) from error

    def list_comments(self, path: str, order: dict[str, str]) -> list[Comment]:
        """Return the comments of all pages, by id. Stops at the first page without a new comment, because the number of
        comments in a page differs between forges, and some return everything as every page. Raises ForgeError."""
        comments_by_id: dict[int, Comment] = {}
        for page in range(1, MAX_PAGES + 1):
            params = {**order, "page": str(page), "per_page": str(COMMENTS_PER_PAGE)}
            items = self.send("GET", path, params=params)
            comments = self._read_comments(items)
            if all(comment.id in comments_by_id for comment in comments):
                break
            comments_by_id |= {comment.id: comment for comment in comments}
        return sorted(comments_by_id.values(), key=lambda comment: comment.id)

    def _read_comments(self, items: Any) -> list[Comment]:
        try:
            return [Comment(int(item["id"]), str(item["body"])) for item in items]
        except (TypeError, KeyError, ValueError) as error:
            raise ForgeError("the answer is no list of comments") from error

    def _spend_budget(self, seconds: float) -> bool:
        if seconds > self._budget_s:
            return False
        self._budget_s -= seconds
        # Jitter only adds: a rate limit's pause is a minimum.
        self._pause.wait(seconds * random.uniform(1.0, 1.2))  # noqa: S311 - jitter
        return True

    def _decode(self, response: httpx.Response) -> Any:
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            raise ForgeError(
                f"{self._client.base_url.host}: the answer is not JSON: is this the address of its API?"
            ) from error

    def _refusal(self, response: httpx.Response) -> ForgeError:
        try:
            body = response.json()
        except ValueError:
            body = {}
        message = body.get("message") if isinstance(body, dict) else None
        text = self._safe(str(message or response.reason_phrase))
        return ForgeError(f"{response.status_code} {text}", response.status_code)

    def _network_error(self, error: Exception) -> ForgeError:
        return ForgeError(
            self._safe(
                f"{self._client.base_url.host}: {str(error) or type(error).__name__}"
            )
        )

    def _safe(self, text: str) -> str:
        """Return a text as one short line without the token, because a forge or a library may have put it in."""
        if self._secret:
            text = text.replace(self._secret, "***")
        return readable_line(text)[:LONGEST_MESSAGE]


def _read_at_most(response: httpx.Response, limit: int) -> bytes:
    data = bytearray()
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > limit:
            raise ForgeError(f"the file has more than {limit} bytes")
    return bytes(data)


def _rate_limit_s(response: httpx.Response) -> float | None:
    """Return how long to wait before the next request; None if the response is about no rate limit. A 403 must say that
    it is, because GitHub uses it for missing permissions, too."""
    headers = response.headers
    remaining = headers.get("X-RateLimit-Remaining", headers.get("RateLimit-Remaining"))
    limited = response.status_code == 429 or (
        response.status_code == 403
        and ("Retry-After" in headers or remaining == "0" or _says_limit(response))
    )
    if not limited:
        return None
    readers: tuple[Callable[[], float], ...] = (
        lambda: float(headers["Retry-After"]),
        lambda: parsedate_to_datetime(headers["Retry-After"]).timestamp() - time.time(),
        lambda: float(headers["X-RateLimit-Reset"]) - time.time(),
        lambda: float(headers["RateLimit-Reset"]) - time.time(),
    )
    for read in readers:
        try:
            return max(read(), 0.0)
        except (KeyError, ValueError, OverflowError):
            continue
    return UNSPECIFIED_LIMIT_S


def _says_limit(response: httpx.Response) -> bool:
    return "secondary rate limit" in response.text
