"""The HTTP client for the server, used by the agent and by CI.

Every request of this package is made here (C2). A problem+json response becomes an `ApiError` with its code.
Transport errors, 5xx and 429 are retried with exponential backoff and jitter; nothing else is. A request for
a lease is never repeated, because a lost response is a lease that expires. Messages never hold credentials.
"""

from __future__ import annotations

import gzip
import random
import threading
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from paceline import __version__
from paceline.errors import UserError

FIRST_BACKOFF_S = 0.2
LONGEST_BACKOFF_S = 15.0
GZIP_FROM_BYTES = 1024
TIMEOUT = httpx.Timeout(20.0, connect=5.0)


class ApiError(Exception):
    """The server answered and said no. `code` is the literal a program switches on; `fields` says what is
    wrong where, by field or by id."""

    def __init__(
        self, status: int, code: str, detail: str, fields: dict[str, str] | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status, self.code, self.detail, self.fields = (
            status,
            code,
            detail,
            fields or {},
        )


class LeaseLostError(ApiError):
    """Another attempt may be running: stop (I6)."""


class UnreachableError(Exception):
    """No usable answer from the server, after all tries."""


class LeasedWork(msgspec.Struct, frozen=True):
    suite: str
    repository: str
    manifest_path: str
    commit: str
    benchmarks: list[str]
    params: dict[str, list[int | str]]
    knobs: dict[str, int | str]
    first_launch: int
    launches: int
    rounds: int
    min_time_ns: int
    seed: int
    launch_timeout_s: float
    base_commit: str | None = None
    """Set: an A/B job; every launch is made of both revisions."""


class Lease(msgspec.Struct, frozen=True):
    job_id: str
    run_id: str
    attempt: int
    lease_token: str
    lease_s: float
    target_id: str
    target_serial: str
    work: LeasedWork


class RenewalReply(msgspec.Struct, frozen=True):
    lease_s: float
    cancel: bool


class EnrolmentReply(msgspec.Struct, frozen=True):
    agent_id: str
    credential: str


class RefusedSuite(msgspec.Struct, frozen=True):
    suite: str
    reason: str


class DeviceOrder(msgspec.Struct, frozen=True):
    """What a person asked of a device."""

    id: str
    kind: str
    """check or reboot; a kind this agent does not know is left to expire."""


class TargetReply(msgspec.Struct, frozen=True):
    """What the server says of one target it was told about. `health` None: it keeps none of this one."""

    kind: str
    serial: str
    target_id: str
    health: str | None = None
    check_due: bool = False
    orders: list[DeviceOrder] = []
    checks_heard: list[str] = []
    """Ids of health checks it has on record; they need not be sent again."""
    recovery_heard: list[str] = []
    """The same of steps of the recovery ladder."""
    driven_by: str | None = None
    """The name of the agent that drives it now, when that is another."""


class HeartbeatReply(msgspec.Struct, frozen=True):
    heartbeat_s: float
    refused: list[RefusedSuite] = []
    targets: list[TargetReply] = []


def check_address(server: str) -> None:
    """Raises UserError unless `server` looks like one."""
    if not server.startswith(("http://", "https://")):
        raise UserError(
            f"{server!r} is no address.", "Give the server as http://… or https://…"
        )


class ApiClient:
    """One server, one credential. Safe for several threads."""

    def __init__(self, server: str, credential: str | None = None) -> None:
        check_address(server)
        headers = {"User-Agent": f"paceline/{__version__}"}
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        base = server.rstrip("/") + "/api/v1"
        self._client = httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT)
        self._pause = threading.Event()

    def close(self) -> None:
        self._client.close()

    def enrol(self, code: str, name: str) -> EnrolmentReply:
        body = {"code": code, "name": name, "version": __version__}
        return msgspec.convert(
            self.call("POST", "/agents/enrol", body, tries=3), EnrolmentReply
        )

    def heartbeat(
        self, targets: list[dict[str, Any]], suites: list[dict[str, Any]]
    ) -> HeartbeatReply:
        body = {"version": __version__, "targets": targets, "suites": suites}
        return msgspec.convert(
            self.call("POST", "/agents/self/heartbeat", body), HeartbeatReply
        )

    def lease(self, wait_s: float, target_ids: list[str] | None = None) -> Lease | None:
        """Long poll; None when there was no work for `wait_s`. Without `target_ids`: for any target of this
        agent."""
        timeout = httpx.Timeout(wait_s + 10.0, connect=5.0)
        body: dict[str, object] = {"wait_s": wait_s}
        if target_ids is not None:
            body["target_ids"] = target_ids
        answer = self.call("POST", "/agents/self/lease", body, timeout=timeout)
        return None if answer is None else msgspec.convert(answer, Lease)

    def renew(self, lease: Lease) -> RenewalReply:
        answer = self._attempt(
            (lease.job_id, lease.attempt, lease.lease_token), "renew", b"{}", tries=1
        )
        return msgspec.convert(answer, RenewalReply)

    def state(self, lease: Lease, body: dict[str, Any], tries: int = 6) -> None:
        data = msgspec.json.encode(body)
        self._attempt(
            (lease.job_id, lease.attempt, lease.lease_token), "state", data, tries
        )

    def finish(
        self,
        job_id: str,
        attempt: int,
        token: str,
        body: dict[str, Any],
        tries: int = 1,
    ) -> None:
        self._attempt(
            (job_id, attempt, token), "finish", msgspec.json.encode(body), tries
        )

    def items(self, job_id: str, attempt: int, token: str, items: list[bytes]) -> None:
        """`items` are JSON texts already. One try: delivery goes on from its spool.

        The only body that may be compressed: the server inflates nothing else.
        """
        data, headers = b'{"items":[' + b",".join(items) + b"]}", {}
        if len(data) >= GZIP_FROM_BYTES:
            data, headers = (
                gzip.compress(data, compresslevel=1),
                {"Content-Encoding": "gzip"},
            )
        self._attempt((job_id, attempt, token), "items", data, tries=1, headers=headers)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        tries: int = 1,
        timeout: httpx.Timeout = TIMEOUT,
        params: dict[str, str] | None = None,
    ) -> Any:
        """The decoded answer, None for 204. Raises ApiError, UnreachableError."""
        data = None if body is None else msgspec.json.encode(body)
        return self._retried(
            tries,
            lambda: self._send(method, path, data, {}, timeout=timeout, params=params),
        )

    def _attempt(
        self,
        attempt_key: tuple[str, int, str],
        action: str,
        data: bytes,
        tries: int,
        headers: dict[str, str] | None = None,
    ) -> Any:
        job_id, attempt, token = attempt_key
        path = f"/jobs/{job_id}/attempts/{attempt}/{action}"
        return self._retried(
            tries,
            lambda: self._send(
                "POST", path, data, {"Lease-Token": token, **(headers or {})}
            ),
        )

    def _retried(self, tries: int, send: Callable[[], Any]) -> Any:
        backoff = FIRST_BACKOFF_S
        for remaining in range(tries - 1, -1, -1):
            try:
                return send()
            except UnreachableError:
                if remaining == 0:
                    raise
            self._pause.wait(backoff * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
            backoff = min(backoff * 2, LONGEST_BACKOFF_S)
        return None

    def _send(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: dict[str, str],
        *,
        timeout: httpx.Timeout = TIMEOUT,
        params: dict[str, str] | None = None,
    ) -> Any:
        headers = {**headers}
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = self._client.request(
                method,
                path,
                content=data,
                headers=headers,
                timeout=timeout,
                params=params,
            )
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"{self._client.base_url.host}: {str(error) or type(error).__name__}"
            ) from error
        if answer.status_code == 204:
            return None
        if answer.is_success:
            try:
                return answer.json()
            except ValueError as error:
                text = (
                    "the answer is not JSON: is this the address of a Paceline server?"
                )
                raise UnreachableError(
                    f"{self._client.base_url.host}: {text}"
                ) from error
        raise _problem(answer)


def _problem(answer: httpx.Response) -> Exception:
    try:
        body = answer.json()
    except ValueError:
        body = {}
    known = body if isinstance(body, dict) else {}
    code = str(known.get("code") or f"http_{answer.status_code}")
    text = str(known.get("detail") or known.get("title") or answer.reason_phrase)
    if answer.status_code >= 500 or answer.status_code == 429:
        return UnreachableError(
            f"the server answered {answer.status_code} {code}: {text}"
        )
    if code == "lease_lost":
        return LeaseLostError(answer.status_code, code, text)
    fields = known.get("fields")
    return ApiError(
        answer.status_code, code, text, fields if isinstance(fields, dict) else None
    )
