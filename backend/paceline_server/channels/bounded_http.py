"""Posts a body to an unknown server, with limits on time, size and the addresses it reaches.

The whole exchange ends at one deadline, however slowly the receiver reads or answers, because a client's own timeouts
apply to each read alone. A name is resolved once, and its address is checked where the connection is made, so a name
that changes its address in between (rebinding) gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import httpcore
import httpx

from paceline_server.channels.addresses import Address, AddressPolicy

ANSWER_BYTES = 2_000
"""So much of a receiver's answer is stored for people."""
RECEIVED_BYTES = 256 * 1024
"""So much is read at most, including headers and TLS."""

Resolve = Callable[[str, int], list[Address]]


class RefusedAddressError(Exception):
    """A name has no address that channels may reach."""


@dataclass(frozen=True)
class HttpAnswer:
    """The answer of a receiver. `status`: None if there is none; `error`: why there is none. `retry_after_s`: the pause
    that the receiver requests."""

    status: int | None
    text: str
    error: str | None
    latency_ms: float
    retry_after_s: float | None = None


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a name, in the order of the system."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    names = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in entries)
    return [ipaddress.ip_address(name) for name in names]


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    policy: AddressPolicy,
    within_s: float,
    resolver: Resolve = resolve,
) -> HttpAnswer:
    """Post `body` and return the answer. It raises nothing for what the receiver does."""
    began = time.monotonic()
    bounds = _Bounds(began + within_s, RECEIVED_BYTES)
    transport = _BoundedTransport(_GuardedBackend(policy, bounds, resolver))
    with httpx.Client(transport=transport, timeout=within_s, trust_env=False) as client:
        try:
            with client.stream(
                "POST", url, content=body, headers=dict(headers)
            ) as response:
                latency_ms = (time.monotonic() - began) * 1000
                return HttpAnswer(
                    response.status_code,
                    _read_beginning(response.iter_raw()),
                    None,
                    latency_ms,
                    _retry_after_s(response.headers.get("Retry-After")),
                )
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            UnicodeError,
            OSError,
            RefusedAddressError,
        ) as error:
            latency_ms = (time.monotonic() - began) * 1000
            return HttpAnswer(None, "", _error_text(error, within_s), latency_ms)


def _read_beginning(chunks: Iterable[bytes]) -> str:
    """Return the beginning of an answer's body. Errors are ignored, because the status has decided already."""
    kept = b""
    try:
        for chunk in chunks:
            kept += chunk
            if len(kept) >= ANSWER_BYTES:
                break
    except (httpx.HTTPError, OSError):
        pass
    text = kept[:ANSWER_BYTES].decode("utf-8", "replace")
    return text.replace("\x00", "\ufffd")  # PostgreSQL stores no NUL.


def _retry_after_s(header: str | None) -> float | None:
    """Return `Retry-After` in seconds; its other form, a date, is ignored."""
    return float(header) if header is not None and header.isdecimal() else None


def _error_text(error: Exception, within_s: float) -> str:
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {within_s:g} s"
    if isinstance(error, httpx.InvalidURL | UnicodeError):
        # The library's text has the address, which is a secret: anybody who knows it can post to a hook.
        return "its address is none that can be posted to: enter it once more"
    text = " ".join(str(error).split())[:500]
    return text or type(error).__name__


class _Bounds:
    """The time and bytes that are left for an exchange."""

    def __init__(self, ends_at: float, received: int) -> None:
        self._ends_at = ends_at
        self._bytes = received

    def left_s(self, timeout: float | None) -> float:
        """Return the timeout for the next operation. Raises ReadTimeout if the time is over."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if timeout is None else min(timeout, left)

    def count(self, received: bytes) -> bytes:
        self._bytes -= len(received)
        if self._bytes < 0:
            raise httpcore.ReadError("the answer is too long")
        return received


class _BoundedStream(httpcore.NetworkStream):
    """A connection whose operations share one deadline and one limit of received bytes."""

    def __init__(self, inner: httpcore.NetworkStream, bounds: _Bounds) -> None:
        self._inner = inner
        self._bounds = bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._bounds.count(
            self._inner.read(max_bytes, self._bounds.left_s(timeout))
        )

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._bounds.left_s(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left_s = self._bounds.left_s(timeout)
        inner = self._inner.start_tls(ssl_context, server_hostname, left_s)
        return _BoundedStream(inner, self._bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


_HOST: Final = re.compile(r"[0-9A-Za-z._:-]+")
"""The form of a host: a name, an international name in ASCII, or an address."""


class _GuardedBackend(httpcore.NetworkBackend):
    """Connects only to permitted addresses."""

    def __init__(
        self, policy: AddressPolicy, bounds: _Bounds, resolver: Resolve
    ) -> None:
        self._policy = policy
        self._bounds = bounds
        self._resolver = resolver
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        if not _HOST.fullmatch(host):
            raise httpx.InvalidURL("its host is neither a name nor an address")
        try:
            addresses = self._resolver(host, port)
        except OSError as error:
            raise httpcore.ConnectError(
                f"the name {host} cannot be resolved: {error.strerror or error}"
            ) from error
        address = self._policy.first_permitted(addresses)
        if address is None:
            raise RefusedAddressError(
                f"{host} leads to no public address; the installation's admin allows others with "
                "PACELINE_CHANNEL_NETWORKS"
            )
        left_s = self._bounds.left_s(timeout)
        inner = self._inner.connect_tcp(
            str(address), port, left_s, local_address, socket_options
        )
        return _BoundedStream(inner, self._bounds)


class _AnswerStream(httpx.SyncByteStream):
    """The body of an answer, with errors converted to httpx's."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the TLS context. It is made once, because reading the root certificates takes 20 ms."""
    return httpx.create_ssl_context()


class _BoundedTransport(httpx.BaseTransport):
    """Lets httpx use connections of our backend, for which `httpx.HTTPTransport` has no parameter."""

    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls_context(),
            network_backend=backend,
            max_connections=1,
            max_keepalive_connections=0,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx_errors():
            response = self._pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_AnswerStream(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.ReadTimeout(str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise httpx.TransportError(str(error)) from error
