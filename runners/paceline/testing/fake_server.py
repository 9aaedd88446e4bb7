"""A small HTTP server that implements the agent's side of C2, with switches for faults.

It stands in for the backend in tests, on a loopback socket, and checks the client as the real server does:
items must be within the contract, `(job, attempt, seq)` is the identity of an item, so the same bytes are a
duplicate and other bytes a conflict; a write without the right lease token is 409 `lease_lost`.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from paceline_contract.attempts import FinishReport, ManifestReport, StateReport
from paceline_contract.item_reader import ItemError, read_items
from paceline_contract.testing.waiting import WITHIN_S

Json = dict[str, Any]

REPORTS = {"state": StateReport, "finish": FinishReport, "manifest": ManifestReport}
"""What an agent reports about an attempt, by the end of the path."""


class FakeJob:
    """One job: its work, and everything that the agent wrote for it."""

    def __init__(self, work: Json, target_serial: str) -> None:
        self.work, self.target_serial = work, target_serial
        self.attempt = 0
        self.items: dict[tuple[int, int], Json] = {}
        self.states: list[Json] = []
        self.manifests: list[Json] = []
        self.finish: Json | None = None
        self.duplicates = 0
        self.renewals = 0
        self.cancel = False
        self.fenced = False

    def of_kind(self, kind: str) -> list[Json]:
        return [item for _, item in sorted(self.items.items()) if item["kind"] == kind]


class FakeServer:
    """The server; `url` is its address. Tests may change every public attribute while it runs."""

    def __init__(self) -> None:  # noqa: PLR0915 - one switch per fault
        self.changed = threading.Condition()
        self.codes = {"good-code"}
        self.credential = "plc_secret"
        self.next_credential: str | None = None
        """Set: the agent is asked to replace its credential by this one, which ends the other when it is used."""
        self.jobs: dict[str, FakeJob] = {}
        self.queue: list[str] = []
        self.heartbeats: list[Json] = []
        self.manifests: dict[str, Json] = {}
        """Announced manifests by digest; what is not here is asked for."""
        self.health: dict[str, str] = {}
        """Serial → health in every heartbeat's reply; good by default."""
        self.checks_due: set[str] = set()
        """Serials of devices that are due a check, until one is reported."""
        self.orders: dict[str, list[Json]] = {}
        """Serial → `{id, kind}` in every heartbeat's reply, until it is reported as done."""
        self.driven_by: dict[str, str] = {}
        """Serial → the other agent that drives it."""
        self.checks: list[Json] = []
        self.recovery: list[Json] = []
        """Checks and recovery steps from heartbeats, each once."""
        self.lease_s = 3.0
        self.heartbeat_s = 0.2
        self.broken: dict[str, int] = {}
        """Path ending → number of further requests that are answered 503."""
        self.hang_up: dict[str, int] = {}
        """Path ending → number of further requests that are handled, but whose answer is lost."""
        self.held: set[str] = set()
        """Path endings whose requests wait until `let_go`."""
        self.waiting: list[str] = []
        """Paths of waiting requests."""
        self.refuse_items: str | None = None
        self.refusal_code = "invalid_request"
        self.undecided: dict[int, list[str]] = {}
        """The benchmarks that are undecided after so many delivered launches; none after others."""
        self.refuse_manifest: tuple[int, str, str] | None = None
        self.other_base = ""
        """Why every announced merge base is refused."""
        self.refuse_suites: list[Json] = []
        """`{suite, reason}` in every heartbeat's reply."""
        self.notes: list[str] = []
        """What is wrong with the agent's identity, in every heartbeat's reply."""
        self.refuse_targets: dict[str, str] = {}
        """Serial → why the server does not take this target from the agent."""
        self.taken_hosts: dict[str, str] = {}
        """Serial → why the server enrols no agent for this host."""
        self.forget_items = 0
        """Number of further finishes that lose the items of their attempt, as after a restored backup."""
        self.run: Json | None = None
        self.comparisons: list[Json] = []
        self.requested: list[Json] = []
        """Bodies of requested runs."""
        self.cancelled: list[str] = []
        """Ids of runs that were cancelled."""
        self.markdown, self.junit = "", "<testsuites/>"
        """The verdicts of `run` as Markdown and as JUnit XML."""
        self.run_url: str | None = None
        """The public address of `run` in its verdicts."""
        self.presets: list[Json] = []
        """The presets of every suite."""
        self.refuse_run: dict[str, str] = {}
        """Why the fields of every requested run are refused."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add_job(self, job_id: str, work: Json, target_serial: str) -> FakeJob:
        with self.changed:
            job = self.jobs[job_id] = FakeJob(work, target_serial)
            self.queue.append(job_id)
            self.changed.notify_all()
        return job

    def wait_for(
        self, condition: Callable[[], object], deadline_s: float = WITHIN_S
    ) -> None:
        """Wait until `condition` holds. Raises TimeoutError."""
        end = time.monotonic() + deadline_s
        with self.changed:
            while not condition():
                if (
                    not self.changed.wait(min(0.1, max(end - time.monotonic(), 0.0)))
                    and time.monotonic() > end
                ):
                    raise TimeoutError("the condition did not come true")

    def let_go(self, ending: str) -> None:
        """Answer held requests to paths with this ending from now on."""
        with self.changed:
            self.held.discard(ending)
            self.changed.notify_all()

    # --- endpoints: (status, body) ---

    def answer(
        self, method: str, path: str, headers: dict[str, str], body: Json
    ) -> tuple[int, Json | None]:
        parts = path.removeprefix("/api/v1/").split("/")
        if path.endswith("/agents/enrol"):
            return self._enrol(body)
        if self.next_credential and headers.get("authorization") == (
            f"Bearer {self.next_credential}"
        ):
            self.credential, self.next_credential = self.next_credential, None
        if headers.get("authorization") != f"Bearer {self.credential}":
            return _problem(401, "unauthenticated", "The credential is not known.")
        if parts[:2] == ["agents", "self"]:
            answers = {
                "heartbeat": self._heartbeat,
                "credential": self._renew_credential,
                "lease": self._lease,
            }
            return answers[parts[2]](body)
        if parts[0] in {"runs", "suites"}:
            return self._answer_ci(method, parts, body)
        if parts[0] == "jobs" and len(parts) == 5:
            return self._attempt(
                parts[1], int(parts[3]), parts[4], headers.get("lease-token"), body
            )
        return _problem(404, "not_found", "There is nothing here.")

    def _enrol(self, body: Json) -> tuple[int, Json]:
        if body["code"] not in self.codes:
            return _problem(403, "forbidden", "The code is not valid.")
        if body["host_serial"] in self.taken_hosts:
            return _problem(409, "host_taken", self.taken_hosts[body["host_serial"]])
        self.codes.discard(body["code"])
        return 201, {"agent_id": "agent-1", "credential": self.credential}

    def _heartbeat(self, body: Json) -> tuple[int, Json]:
        self.heartbeats.append(body)
        refused = [
            {
                "kind": target["kind"],
                "serial": target["serial"],
                "why": self.refuse_targets[target["serial"]],
            }
            for target in body["targets"]
            if target["serial"] in self.refuse_targets
        ]
        heard = [
            self._hear(target)
            for target in body["targets"]
            if target["serial"] not in self.refuse_targets
        ]
        for suite in body["suites"]:
            if "manifest" in suite:
                self.manifests[suite["digest"]] = suite["manifest"]
        wanted = [
            suite["digest"]
            for suite in body["suites"]
            if suite["digest"] not in self.manifests
        ]
        return 200, {
            "heartbeat_s": self.heartbeat_s,
            "manifests_wanted": wanted,
            "notes": self.notes,
            "refused": self.refuse_suites,
            "refused_targets": refused,
            "rotate_credential": self.next_credential is not None,
            "targets": heard,
        }

    def _hear(self, target: Json) -> Json:
        serial, check, recovery = (
            target["serial"],
            target.get("check"),
            target.get("recovery", []),
        )
        if check is not None:
            self.checks_due.discard(serial)
            self.checks += (
                [check]
                if check["id"] not in {known["id"] for known in self.checks}
                else []
            )
        known = {step["id"] for step in self.recovery}
        self.recovery += [step for step in recovery if step["id"] not in known]
        done = set(target.get("orders_done", []))
        self.orders[serial] = [
            order for order in self.orders.get(serial, []) if order["id"] not in done
        ]
        return {
            "kind": target["kind"],
            "serial": serial,
            "target_id": f"target-{serial}",
            "health": self.health.get(serial, "good"),
            "check_due": serial in self.checks_due,
            "orders": self.orders[serial],
            "checks_heard": [check["id"]] if check else [],
            "recovery_heard": [step["id"] for step in recovery],
            "driven_by": self.driven_by.get(serial),
        }

    def _renew_credential(self, _: Json) -> tuple[int, Json]:
        return 200, {"credential": self.next_credential}

    def _lease(self, body: Json) -> tuple[int, Json | None]:
        wanted = body.get("target_ids")
        end = time.monotonic() + float(body["wait_s"])
        while True:
            ours = [
                job_id
                for job_id in self.queue
                if wanted is None
                or f"target-{self.jobs[job_id].target_serial}" in wanted
            ]
            if ours:
                break
            if not self.changed.wait(max(end - time.monotonic(), 0.0)):
                return 204, None
        job_id = ours[0]
        self.queue.remove(job_id)
        job = self.jobs[job_id]
        job.attempt += 1
        return 200, {
            "job_id": job_id,
            "run_id": "run-1",
            "attempt": job.attempt,
            "lease_token": f"token-{job.attempt}",
            "lease_s": self.lease_s,
            "target_id": f"target-{job.target_serial}",
            "target_serial": job.target_serial,
            "work": job.work,
        }

    def _attempt(
        self, job_id: str, attempt: int, what: str, token: str | None, body: Json
    ) -> tuple[int, Json | None]:
        job = self.jobs[job_id]
        if job.fenced or token != f"token-{attempt}" or attempt != job.attempt:
            return _problem(409, "lease_lost", "Another attempt holds this job.")
        if what in ("renew", "undecided"):
            return 200, self._renew(job) if what == "renew" else self._undecided(job)
        report = REPORTS.get(what)
        if report is not None:
            try:
                msgspec.convert(body, report)
            except msgspec.ValidationError as error:
                return _problem(422, "invalid_request", str(error))
        if what == "finish":
            return self._finish(job, attempt, body)
        if report is not None:
            hear = self._hear_state if what == "state" else self._hear_manifest
            return hear(job, body)
        return self._items(job, attempt, body["items"])

    def _renew(self, job: FakeJob) -> Json:
        job.renewals += 1
        return {"lease_s": self.lease_s, "cancel": job.cancel}

    def _undecided(self, job: FakeJob) -> Json:
        launches = {item["launch"] for item in job.of_kind("samples")}
        return {"benchmarks": self.undecided.get(len(launches), [])}

    def _hear_state(self, job: FakeJob, body: Json) -> tuple[int, Json | None]:
        if self.other_base and "base_commit" in body:
            return _problem(409, "other_base", self.other_base)
        job.states.append(body)
        return 204, None

    def _hear_manifest(self, job: FakeJob, body: Json) -> tuple[int, Json | None]:
        if self.refuse_manifest is not None:
            return _problem(*self.refuse_manifest)
        job.manifests.append(body)
        return 200, {"benchmarks": job.work["benchmarks"]}

    def _finish(
        self, job: FakeJob, attempt: int, body: Json
    ) -> tuple[int, Json | None]:
        if self.forget_items > 0:
            self.forget_items -= 1
            job.items = {
                key: item for key, item in job.items.items() if key[0] != attempt
            }
        missing = [
            str(seq)
            for seq in range(body["last_seq"] + 1)
            if (attempt, seq) not in job.items
        ]
        if body["outcome"] == "done" and missing:
            status, problem = _problem(
                409, "items_missing", f"Items {', '.join(missing)} have not arrived."
            )
            return status, {**problem, "fields": {"missing": ", ".join(missing)}}
        job.finish = body
        return 204, None

    def _items(self, job: FakeJob, attempt: int, items: list[Json]) -> tuple[int, Json]:
        if self.refuse_items:
            return _problem(422, self.refusal_code, self.refuse_items)
        try:
            read_items(msgspec.json.encode({"items": items}))
        except ItemError as error:
            return _problem(422, "invalid_request", str(error))
        fresh = 0
        for item in items:
            key = (attempt, item["seq"])
            known = job.items.get(key)
            if known is not None and known != item:
                return _problem(
                    409, "item_conflict", f"Item {item['seq']} was different before."
                )
            fresh += known is None
            job.items[key] = item
        job.duplicates += len(items) - fresh
        return 200, {"stored": fresh, "duplicates": len(items) - fresh}

    def _estimate(self) -> tuple[int, Json]:
        if self.refuse_run:
            status, problem = _problem(422, "invalid_request", "It cannot be measured.")
            return status, {**problem, "fields": self.refuse_run}
        return 200, {
            "words": "bench-1: about 40 s, as the last run of the same choice took 40 s."
        }

    def _answer_ci(self, method: str, parts: list[str], body: Json) -> tuple[int, Json]:
        if self.run is None:
            return _problem(
                404, "unknown_suite", "No online agent announces this suite."
            )
        if parts[0] == "suites":
            return 200, {"name": parts[1], "presets": self.presets}
        if parts[-1] == "estimate":
            return self._estimate()
        if parts[-1] == "cancel":
            self.cancelled.append(parts[1])
            self.run |= {"state": "cancelled", "outcome": "cancelled"}
        elif method == "POST":
            self.requested.append(body)
        if parts[-1] == "verdicts":
            return 200, {"schema": "paceline.verdicts/1", "url": self.run_url}
        if parts[-1] == "comparisons":
            return 200, {"items": self.comparisons, "next": None}
        return (201 if parts == ["runs"] and method == "POST" else 200), self.run


def _problem(status: int, code: str, detail: str) -> tuple[int, Json]:
    return status, {
        "type": f"urn:{code}",
        "title": code,
        "status": status,
        "code": code,
        "detail": detail,
    }


def _handler_of(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._serve("POST")

        def do_GET(self) -> None:
            self._serve("GET")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            pass

        def _serve(self, method: str) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, _, query = self.path.partition("?")
            if self.headers.get("Content-Encoding") == "gzip" and path.endswith(
                "/items"
            ):
                data = gzip.decompress(data)
            try:
                request = json.loads(data) if data else {}
            except (
                ValueError
            ):  # also what is compressed: like the real one, only items are inflated
                self._send(*_problem(400, "invalid_request", "The body is not JSON."))
                return
            with server.changed:
                _wait_while_held(server, path)
                if _use_up(server.broken, path):
                    self._send(*_problem(503, "unavailable", "The database restarts."))
                    return
                headers = {key.lower(): value for key, value in self.headers.items()}
                status, body = server.answer(method, path, headers, request)
                lost = _use_up(server.hang_up, path)
                server.changed.notify_all()
            if lost:
                self.close_connection = True
                return
            documents = {
                "format=markdown": ("text/markdown", server.markdown),
                "format=junit": ("application/xml", server.junit),
            }
            if status == 200 and query in documents:
                media_type, text = documents[query]
                self._send_data(200, media_type, text.encode())
                return
            self._send(status, body)

        def _send(self, status: int, body: Json | None) -> None:
            data = b"" if body is None else json.dumps(body).encode()
            kind = "application/problem+json" if status >= 400 else "application/json"
            self._send_data(status, kind, data)

        def _send_data(self, status: int, media_type: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _wait_while_held(server: FakeServer, path: str) -> None:
    server.waiting.append(path)
    server.changed.notify_all()
    server.changed.wait_for(
        lambda: not any(path.endswith(ending) for ending in server.held)
    )
    server.waiting.remove(path)


def _use_up(switches: dict[str, int], path: str) -> bool:
    for ending, left in switches.items():
        if left > 0 and path.endswith(ending):
            switches[ending] = left - 1
            return True
    return False
