"""An agent controlled by a test over HTTP: lease, report, upload, finish. It measures nothing.

`MANIFEST` is a small suite `demo` with two arms; `announce` makes an enrolled agent able to run it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paceline_server.catalog import service as catalog
from paceline_server.catalog.schemas import SuiteAnnounceIn
from paceline_server.store.session import session_scope

PREFIX = "/api/v1"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MANIFEST: dict[str, Any] = {
    "schema": 1,
    "suite": {"name": "demo", "title": "Demo"},
    "workloads": [
        {
            "name": "w",
            "host": {
                "build": [],
                "artifacts": ["w"],
                "run": ["{artifacts}/w"],
                "launch_timeout_s": 90,
            },
        }
    ],
    "benchmarks": {
        "sorting": {
            "title": "Sorting",
            "workload": "w",
            "arms": ["old", "new"],
            "reference": "old",
            "params": {
                "n": {
                    "kind": "int",
                    "values": [1000, 2000],
                    "minimum": 1,
                    "maximum": 100_000,
                },
                "order": {"kind": "enum", "values": ["random", "sorted"]},
            },
            "metrics": {
                "time": {"unit": "ns", "direction": "lower"},
                "throughput": {"unit": "op/s", "direction": "higher"},
            },
        },
        "hashing": {
            "title": "Hashing",
            "workload": "w",
            "arms": ["old", "new"],
            "reference": "old",
            "params": {
                "key": {"kind": "regex", "values": ["k1"], "pattern": "k[0-9]+"}
            },
            "metrics": {"time": {"unit": "ns", "direction": "lower"}},
        },
    },
    "knobs": {
        "slowdown_percent": {
            "kind": "int",
            "minimum": 0,
            "maximum": 400,
            "default": 0,
            "demonstration": True,
            "description": "d",
        },
        "engine": {
            "kind": "enum",
            "values": ["a", "b"],
            "default": "a",
            "description": "d",
        },
    },
    "expected": {"checks": ["sorted"]},
}


def announce(agent_id: str, manifest: Mapping[str, Any] = MANIFEST) -> None:
    """Let an enrolled agent run a suite."""
    suite = SuiteAnnounceIn(
        repository="demo",
        manifest_path="suite.toml",
        manifest=dict(manifest),
        commit=COMMIT,
        branch="main",
    )
    announcement = catalog.read_announcement([suite])
    with session_scope() as session:
        catalog.store_announcement(session, agent_id, announcement, ["**"])


def samples_item(
    seq: int, values: Sequence[float] = (100.0,), **changes: Any
) -> dict[str, Any]:
    """Return a samples item of `sorting`; `changes` replaces fields."""
    n = len(values)
    item = {
        "kind": "samples",
        "seq": seq,
        "launch": 0,
        "benchmark": "sorting",
        "arm": "old",
        "params": {"n": 1000, "order": "random"},
        "metric": "time",
        "unit": "ns",
        "direction": "lower",
        "phase": "measure",
        "rounds": list(range(n)),
        "positions": [0] * n,
        "iterations": [8] * n,
        "t_ns": [1_000_000 * (index + 1) for index in range(n)],
        "values": list(values),
    }
    return item | changes


def event_item(seq: int, event: Mapping[str, Any], launch: int = 0) -> dict[str, Any]:
    """Return a bench-stream event as an item."""
    return {"kind": "event", "seq": seq, "launch": launch, "event": dict(event)}


def conditions_item(seq: int, **values: Any) -> dict[str, Any]:
    """Return an observation of the target."""
    return {
        "kind": "conditions",
        "seq": seq,
        "phase": "during",
        "at_ms": 1000 * seq,
        "values": values,
    }


def log_item(seq: int, *lines: str) -> dict[str, Any]:
    """Lines of a workload's standard error."""
    return {"kind": "log", "seq": seq, "stream": "workload", "lines": list(lines)}


def reported_item(seq: int, **changes: Any) -> dict[str, Any]:
    """Return a line of a device's log that its suite declares."""
    average = {
        "printed": "2.5ms",
        "value": 2_500_000,
        "low": 2_450_000,
        "high": 2_550_000,
        "unit": "ns",
    }
    item = {
        "kind": "reported",
        "seq": seq,
        "launch": 0,
        "side": None,
        "pattern": "demo.batch",
        "at": "11-21 10:00:01.500",
        "fields": {"batch": 100, "arm": "native", "avg": average},
        "text": "11-21 10:00:01.500  1234  5678 I Demo: Batch 100: native avg=2.5ms",
        "note": None,
    }
    return item | changes


@dataclass
class LeasedJob:
    """A lease and its writes, over a TestClient or httpx client. Methods return the response."""

    client: Any
    headers: Mapping[str, str]
    lease: dict[str, Any]
    path: str = field(init=False)

    def __post_init__(self) -> None:
        self.path = f"{PREFIX}/jobs/{self.job_id}/attempts/{self.lease['attempt']}"

    @property
    def job_id(self) -> str:
        return str(self.lease["job_id"])

    @property
    def run_id(self) -> str:
        return str(self.lease["run_id"])

    def post(self, action: str, **options: Any) -> Any:
        """Send a write of this attempt; `headers` in options are added."""
        headers = {
            **self.headers,
            "Lease-Token": str(self.lease["lease_token"]),
            **options.pop("headers", {}),
        }
        return self.client.post(f"{self.path}/{action}", headers=headers, **options)

    def renew(self) -> Any:
        return self.post("renew")

    def report(self, state: str, **facts: Any) -> Any:
        return self.post("state", json={"state": state, **facts})

    def report_manifest(
        self, manifest: Mapping[str, Any], base: Mapping[str, Any] | None = None
    ) -> Any:
        """Report what the job's commits declare."""
        sides = {"manifest": dict(manifest)}
        if base is not None:
            sides["base_manifest"] = dict(base)
        return self.post("manifest", json=sides)

    def send(self, *items: Mapping[str, Any]) -> Any:
        return self.post("items", json={"items": list(items)})

    def finish(self, last_seq: int, outcome: str = "done", **facts: Any) -> Any:
        return self.post(
            "finish", json={"outcome": outcome, "last_seq": last_seq, **facts}
        )


@dataclass
class ScriptedAgent:
    """An enrolled agent's credential on a client."""

    client: Any
    headers: Mapping[str, str]

    def ask(self, wait_s: float = 0, target_ids: Sequence[str] | None = None) -> Any:
        """Request a lease; returns the response."""
        targets = None if target_ids is None else list(target_ids)
        body = {"wait_s": wait_s, "target_ids": targets}
        return self.client.post(
            f"{PREFIX}/agents/self/lease", json=body, headers=dict(self.headers)
        )

    def lease(self, wait_s: float = 0) -> LeasedJob:
        """Lease a job. Raises AssertionError if there is none."""
        answer = self.ask(wait_s)
        if answer.status_code != 200:
            raise AssertionError(f"no lease: {answer.status_code} {answer.text}")
        return LeasedJob(self.client, self.headers, answer.json())

    def measuring(
        self,
        manifest: Mapping[str, Any] | None = None,
        base: Mapping[str, Any] | None = None,
    ) -> LeasedJob:
        """Lease a job, report these manifests if any, and begin to measure. Raises AssertionError if there is none."""
        leased = self.lease()
        if manifest is not None:
            answer = leased.report_manifest(manifest, base)
            if answer.status_code != 200:
                raise AssertionError(f"{answer.status_code} {answer.text}")
        for state, facts in (
            ("preparing", {}),
            ("measuring", {"artifact_hash": "a" * 64, "build": {"cc": "x"}}),
        ):
            answer = leased.report(state, **facts)
            if answer.status_code != 204:
                raise AssertionError(f"{state}: {answer.status_code} {answer.text}")
        return leased
