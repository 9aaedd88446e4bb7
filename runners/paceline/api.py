"""The HTTP client for the server, used by the agent and by CI.

Every request of this package is made here (C2). Only transport errors, 5xx and 429 are retried, with exponential
backoff and jitter. A request for a lease is never repeated, because a lost response is a lease that expires.
"""

from __future__ import annotations

import gzip
import logging
import random
import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import msgspec
from paceline_contract.attempts import FinishReport, ManifestReport, StateReport
from paceline_contract.events import ParamValue

from paceline import __version__
from paceline.credentials import check_address, check_credential

FIRST_BACKOFF_S = 0.2
LONGEST_BACKOFF_S = 15.0
GZIP_FROM_BYTES = 1024
ANSWER_S = 20.0
CONNECT_S = 5.0
TIMEOUT = httpx.Timeout(ANSWER_S, connect=CONNECT_S)
ASK_TIMEOUT = httpx.Timeout(5.0)
"""What a job between two launches does not wait longer for."""
NO_SUCH_ROUTE = ((404, "Not Found"), (405, "Method Not Allowed"))
"""Answers of a server that lacks the route. If it lacks only the job, its answer names the job."""
log = logging.getLogger("paceline.api")


class ApiError(Exception):
    """The server refused a request. `code` is for programs; `fields` holds messages by field or id."""

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
    """The lease is lost, so another attempt may be running: the job must stop (I6)."""


class UnreachableError(Exception):
    """The server gave no usable answer after all tries."""


class LeasedWork(msgspec.Struct, frozen=True):
    suite: str
    repository: str
    manifest_path: str
    commit: str
    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    first_launch: int
    launches: int
    rounds: int
    min_time_ns: int
    seed: int
    launch_timeout_s: float
    base_commit: str | None = None
    """In an A/B job: the revision to compare with."""
    base_branch: str | None = None
    """Without a base_commit: the merge base of `commit` and this branch is to be found and compared with."""
    skips_unaffected: bool = False
    """In an A/B job: a benchmark with one digest on both sides is not measured again."""
    stop_when_sure: bool = False
    """Whether the server is asked between launches what is undecided."""

    @property
    def compares_revisions(self) -> bool:
        return self.base_commit is not None or self.base_branch is not None


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


class PlanReply(msgspec.Struct, frozen=True):
    """The server's plan by the manifest at the commit."""

    benchmarks: list[str]


class EnrolmentReply(msgspec.Struct, frozen=True):
    agent_id: str
    credential: str


class RefusedSuite(msgspec.Struct, frozen=True):
    suite: str
    reason: str


class RefusedTarget(msgspec.Struct, frozen=True):
    kind: str
    serial: str
    why: str


class DeviceOrder(msgspec.Struct, frozen=True):
    """A person's order for a device."""

    id: str
    kind: str
    """check or reboot; a kind this agent does not know is left to expire."""


class TargetReply(msgspec.Struct, frozen=True):
    """The server's reply about one announced target. `health` None: the server keeps no health of it."""

    kind: str
    serial: str
    target_id: str
    health: str | None = None
    check_due: bool = False
    orders: list[DeviceOrder] = []
    checks_heard: list[str] = []
    """Ids of health checks that the server has stored and that need not be sent again."""
    recovery_heard: list[str] = []
    """The same for steps of the recovery ladder."""
    driven_by: str | None = None
    """The name of the agent that drives the target now, if it is another one."""


class HeartbeatReply(msgspec.Struct, frozen=True):
    heartbeat_s: float
    refused: list[RefusedSuite] = []
    refused_targets: list[RefusedTarget] = []
    targets: list[TargetReply] = []
    manifests_wanted: list[str] = []
    """Digests of announced manifests that the server lacks."""
    rotate_credential: bool = False
    """The credential must be replaced: call `ApiClient.renew_credential` until it returns None."""
    notes: list[str] = []
    """What is wrong with this agent's identity, and what to do."""


class ApiClient:
    """A client of one server with one credential. Safe to use from several threads. Raises UserError for an address
    or a credential that cannot be one."""

    def __init__(self, server: str, credential: str | None = None) -> None:
        base = check_address(server) + "/api/v1"
        headers = {"User-Agent": f"paceline/{__version__}"}
        if credential is not None:
            headers["Authorization"] = f"Bearer {check_credential(credential)}"
        self._client = httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT)
        self._pause = threading.Event()
        self._lacking: set[str] = set()
        """Descriptions of what the server is too old for that were logged already."""

    def close(self) -> None:
        self._client.close()

    def enrol(self, code: str, name: str, host_serial: str) -> EnrolmentReply:
        body = {
            "code": code,
            "name": name,
            "version": __version__,
            "host_serial": host_serial,
        }
        return msgspec.convert(
            self.call("POST", "/agents/enrol", body, tries=3), EnrolmentReply
        )

    def renew_credential(self) -> str | None:
        """Return a new credential for this agent; None once the present one is the newest, which ends the others."""
        answer = self.call("POST", "/agents/self/credential", tries=3)
        credential: str | None = answer["credential"]
        return credential

    def use(self, credential: str) -> None:
        """Send this credential from now on."""
        self._client.headers["Authorization"] = f"Bearer {check_credential(credential)}"

    def heartbeat(
        self, targets: list[dict[str, Any]], suites: list[dict[str, Any]]
    ) -> HeartbeatReply:
        body = {"version": __version__, "targets": targets, "suites": suites}
        return msgspec.convert(
            self.call("POST", "/agents/self/heartbeat", body), HeartbeatReply
        )

    def lease(self, wait_s: float, target_ids: list[str] | None = None) -> Lease | None:
        """Request a lease by a long poll; None when there was no work for `wait_s`. Without `target_ids`, for
        any target of this agent."""
        timeout = httpx.Timeout(wait_s + ANSWER_S, connect=CONNECT_S)
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

    def state(self, lease: Lease, report: StateReport, tries: int = 6) -> None:
        data = msgspec.json.encode(report)
        self._attempt(
            (lease.job_id, lease.attempt, lease.lease_token), "state", data, tries
        )

    def manifest(self, lease: Lease, report: ManifestReport) -> PlanReply | None:
        """Report what the measured commits declare, in one try; return what is to be measured of it, or None from a
        server that is too old to take such reports."""
        try:
            answer = self._attempt(
                (lease.job_id, lease.attempt, lease.lease_token),
                "manifest",
                msgspec.json.encode(report),
                tries=1,
            )
        except ApiError as error:
            self._note_missing_route("takes no reports of manifests", error)
            return None
        return msgspec.convert(answer, PlanReply)

    def undecided(self, lease: Lease) -> list[str] | None:
        """Return the benchmarks that more launches may decide, in one try of a few seconds; None from a server that is too
        old to be asked. Raises ApiError, UnreachableError."""
        try:
            answer = self._attempt(
                (lease.job_id, lease.attempt, lease.lease_token),
                "undecided",
                b"{}",
                tries=1,
                timeout=ASK_TIMEOUT,
            )
        except ApiError as error:
            self._note_missing_route("does not say what is undecided", error)
            return None
        return msgspec.convert(answer, PlanReply).benchmarks

    def finish(
        self,
        job_id: str,
        attempt: int,
        token: str,
        report: FinishReport,
        tries: int = 1,
    ) -> None:
        self._attempt(
            (job_id, attempt, token), "finish", msgspec.json.encode(report), tries
        )

    def items(self, job_id: str, attempt: int, token: str, items: list[bytes]) -> None:
        """Send items, which are JSON texts already, in one try: delivery repeats them from its spool.

        Only this body may be compressed, because the server decompresses no other.
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
        once: bool = False,
    ) -> Any:
        """Send a request and return the decoded response, None for 204. `once`: the server carries it out once,
        however often it is sent. Raises ApiError, UnreachableError."""
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Idempotency-Key": str(uuid4())} if once else {}
        return self._retry(
            tries,
            lambda: self._send(
                method, path, data, headers, timeout=timeout, params=params
            ),
        )

    def store(self, path: str, body: object, tries: int) -> tuple[Any, bool]:
        """Send what the server stores once, however often it is sent; return (its response, whether it was new). Raises
        ApiError, UnreachableError."""
        data = msgspec.json.encode(body)

        def send() -> tuple[Any, bool]:
            answer = self._request("POST", path, data, {}, params=None)
            return self._decode(answer), answer.status_code == 201

        stored: tuple[Any, bool] = self._retry(tries, send)
        return stored

    def document(
        self, path: str, media_type: str, params: dict[str, str], tries: int
    ) -> str:
        """Return an answer that is text of `media_type`. Raises ApiError, UnreachableError."""

        def fetch() -> str:
            answer = self._request("GET", path, None, {}, params=params)
            if not answer.headers.get("Content-Type", "").startswith(media_type):
                raise self._unusable_answer_error(media_type)
            return answer.text

        text: str = self._retry(tries, fetch)
        return text

    def _note_missing_route(self, lacking: str, error: ApiError) -> None:
        """Log once that the server is too old for the request; raise `error` if it is of another kind."""
        if (error.status, error.detail) not in NO_SUCH_ROUTE:
            raise error
        if lacking not in self._lacking:
            self._lacking.add(lacking)
            log.warning(
                "the server is older than this agent (%s) and %s: update the server before its agents",
                __version__,
                lacking,
            )

    def _attempt(
        self,
        attempt_key: tuple[str, int, str],
        action: str,
        data: bytes,
        tries: int,
        *,
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout = TIMEOUT,
    ) -> Any:
        job_id, attempt, token = attempt_key
        path = f"/jobs/{job_id}/attempts/{attempt}/{action}"
        return self._retry(
            tries,
            lambda: self._send(
                "POST",
                path,
                data,
                {"Lease-Token": token, **(headers or {})},
                timeout=timeout,
            ),
        )

    def _retry(self, tries: int, send: Callable[[], Any]) -> Any:
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
        answer = self._request(
            method, path, data, headers, timeout=timeout, params=params
        )
        return None if answer.status_code == 204 else self._decode(answer)

    def _decode(self, answer: httpx.Response) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            raise self._unusable_answer_error("JSON") from error

    def _has_other_credential(self, request: httpx.Request) -> bool:
        """Return whether the credential was replaced while `request` was on its way, which ends the one it has."""
        name = "Authorization"
        return bool(request.headers.get(name) != self._client.headers.get(name))

    def _address(self) -> str:
        """Return host and port: a wrong port is a common mistake."""
        return self._client.base_url.netloc.decode("ascii")

    def _unusable_answer_error(self, expected: str) -> UnreachableError:
        return UnreachableError(
            f"{self._address()}: the answer is not {expected}: is this the address of a Paceline server?"
        )

    def _request(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: dict[str, str],
        *,
        timeout: httpx.Timeout = TIMEOUT,
        params: dict[str, str] | None,
    ) -> httpx.Response:
        """Return a successful answer. Raises ApiError, UnreachableError."""
        headers = {**headers}
        if data is not None:
            headers["Content-Type"] = "application/json"

        def send() -> httpx.Response:
            return self._client.request(
                method,
                path,
                content=data,
                headers=headers,
                timeout=timeout,
                params=params,
            )

        try:
            answer = send()
            if answer.status_code == 401 and self._has_other_credential(answer.request):
                answer = send()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(
                f"{self._address()}: {_network_text(error)}"
            ) from error
        if not answer.is_success:
            raise _refusal_error(answer)
        return answer


def _network_text(error: Exception) -> str:
    """Return the error's text for people; only its type if it is no error of the network, because a library may quote
    what it was to send."""
    printable_errors = (httpx.NetworkError, httpx.TimeoutException)
    return (
        str(error)
        if isinstance(error, printable_errors) and str(error)
        else type(error).__name__
    )


def _refusal_error(answer: httpx.Response) -> Exception:
    try:
        body = answer.json()
    except ValueError:
        body = {}
    problem = body if isinstance(body, dict) else {}
    code = str(problem.get("code") or f"http_{answer.status_code}")
    text = str(problem.get("detail") or problem.get("title") or answer.reason_phrase)
    if answer.status_code >= 500 or answer.status_code == 429:
        return UnreachableError(
            f"the server answered {answer.status_code} {code}: {text}"
        )
    if code == "lease_lost":
        return LeaseLostError(answer.status_code, code, text)
    fields = problem.get("fields")
    return ApiError(
        answer.status_code, code, text, fields if isinstance(fields, dict) else None
    )
