"""Delivers simulated jobs over HTTP as an agent would: announce, request, lease, upload, finish.

Used by the tests of detection, alerts and reports, so that they start from what ingest stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline_server.runtime import handlers
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.testing.scripted_agent import (
    PREFIX,
    LeasedJob,
    ScriptedAgent,
    announce,
    event_item,
)
from paceline_server.testing.sorting_suite import (
    CHECK,
    SUITE,
    bench_cases,
    revision_bench_cases,
    suite_manifest,
)

ARTIFACT = "a" * 64
MERGE_BASE = "e" * 40


def samples_items(
    cases: Sequence[CaseSamples], first_seq: int = 0
) -> list[dict[str, Any]]:
    """Return cases as items of kind `samples`, one per case, launch and phase."""
    items: list[dict[str, Any]] = []
    for case in cases:
        for launch in np.unique(case.launch):
            for phase, warm in (("warmup", True), ("measure", False)):
                rows = np.nonzero((case.launch == launch) & (case.warmup == warm))[0]
                if not rows.size:
                    continue
                iterations = (
                    np.ones(rows.size, np.int64)
                    if case.iterations is None
                    else case.iterations[rows]
                )
                items.append(
                    {
                        "kind": "samples",
                        "seq": first_seq + len(items),
                        "launch": int(launch),
                        "benchmark": case.benchmark,
                        "arm": case.arm,
                        "params": dict(case.params),
                        "metric": case.metric,
                        "unit": case.unit,
                        "direction": case.direction,
                        "phase": phase,
                        "rounds": case.round[rows].tolist(),
                        "positions": case.position[rows].tolist(),
                        "iterations": iterations.tolist(),
                        "t_ns": [int(row) + 1 for row in rows],
                        "values": case.value[rows].tolist(),
                        "work": {
                            name: counts[rows].tolist()
                            for name, counts in case.work.items()
                        },
                    }
                )
    return items


@dataclass
class Lab:
    """One agent with one target that can run the `sorting` suite."""

    client: Any
    agent: ScriptedAgent
    target_id: str
    headers: Mapping[str, str]
    """They authenticate with a token that may request runs."""

    def request(self, **spec: Any) -> dict[str, Any]:
        """Request a run on this target."""
        body = {"suite": SUITE, "targets": [self.target_id], **spec}
        response = self.client.post(
            f"{PREFIX}/runs", json=body, headers=dict(self.headers)
        )
        if response.status_code != 201:
            raise AssertionError(f"{response.status_code} {response.text}")
        return dict(response.json())

    def deliver(
        self,
        effects: Mapping[int, float],
        *,
        seed: int = 1,
        checks_ok: bool = True,
        conditions: Sequence[Mapping[str, Any]] = (),
        sigma: float = 0.004,
        alter: Callable[[list[CaseSamples]], list[CaseSamples]] = list,
        announced: Sequence[Mapping[str, Any]] = (),
    ) -> LeasedJob:
        """Lease the next job, deliver simulated samples with these true effects, and finish it.

        `effects` are given by batch; batches that the job does not measure are ignored. `alter` changes the samples.
        `announced` are `case` events that are sent with them. The job is analysed when the outbox is carried out.
        """
        leased = self.agent.lease()
        work = leased.lease["work"]
        batches = work["params"].get("batch") or list(effects)
        cases = bench_cases(
            seed,
            {batch: effects[batch] for batch in batches},
            launches=work["launches"],
            rounds=work["rounds"],
            first_launch=work["first_launch"],
            sigma=sigma,
        )
        for state in ("preparing", "measuring"):
            facts = (
                {"artifact_hash": ARTIFACT, "build": {"profile": "test"}}
                if state == "measuring"
                else {}
            )
            _expect(204, leased.report(state, **facts))
        items = samples_items(alter(cases))
        for event in announced:
            items.append(event_item(len(items), event, launch=work["first_launch"]))
        items.append(_check_item(len(items), work["first_launch"], ok=checks_ok))
        items += _conditions_items(conditions, len(items))
        _expect(200, leased.send(*items))
        _expect(204, leased.report("uploading"))
        _expect(204, leased.finish(len(items) - 1))
        return leased

    def deliver_ab(
        self,
        effects: Mapping[int, float],
        *,
        seed: int = 1,
        checks_ok: tuple[bool, bool] = (True, True),
        artifacts: tuple[str, str] | None = None,
        commits: Sequence[Mapping[str, Any]] = (),
        conditions: Sequence[Mapping[str, Any]] = (),
        merge_base: str = MERGE_BASE,
        unaffected: Mapping[str, str] | None = None,
        **options: Any,
    ) -> LeasedJob:
        """Lease the next job, of an A/B run, and deliver its sides: base, then head.

        `effects` say for each batch how much slower native truly is at head. `artifacts` are the hashes of base and
        head; by default they differ, except in an A/A run. `merge_base` is the commit that the agent reports as base
        if the run only names a branch, `unaffected` are the benchmarks that it leaves out, with their digests. The job is
        analysed when the outbox is carried out.
        """
        leased = self.agent.lease()
        work = leased.lease["work"]
        batches = work["params"].get("batch") or list(effects)
        sides = revision_bench_cases(
            seed,
            {batch: effects[batch] for batch in batches},
            launches=work["launches"],
            rounds=work["rounds"],
            first_launch=work["first_launch"],
            **options,
        )
        base_commit = work["base_commit"] or merge_base
        same = base_commit == work["commit"]
        base_artifact, artifact = artifacts or (
            ARTIFACT if same else "b" * 64,
            ARTIFACT,
        )
        facts = {
            "artifact_hash": artifact,
            "base_artifact_hash": base_artifact,
            "commits": list(commits),
            **({"unaffected": dict(unaffected)} if unaffected else {}),
        }
        base_facts = {"base_commit": base_commit} if work["base_branch"] else {}
        _expect(204, leased.report("preparing", **base_facts))
        _expect(204, leased.report("measuring", **facts))
        items: list[dict[str, Any]] = []
        for side, cases, ok in zip(("base", "head"), sides, checks_ok, strict=True):
            side_items = samples_items(cases, len(items))
            seq = len(items) + len(side_items)
            side_items.append(_check_item(seq, work["first_launch"], ok=ok))
            items += [{**item, "side": side} for item in side_items]
        items += _conditions_items(conditions, len(items))
        _expect(200, leased.send(*items))
        _expect(204, leased.finish(len(items) - 1))
        return leased

    def measure(
        self, effects: Mapping[int, float], *, seed: int = 1, **spec: Any
    ) -> LeasedJob:
        """Request a run, deliver its job and carry out the outbox, which analyses it."""
        self.request(**spec)
        leased = self.deliver(effects, seed=seed)
        outbox.drain()
        return leased


def _check_item(seq: int, launch: int, *, ok: bool) -> dict[str, Any]:
    detail = "" if ok else "3 before 2"
    check = {"type": "check", "name": CHECK, "ok": ok, "detail": detail}
    return event_item(seq, check, launch=launch)


def _conditions_items(
    conditions: Sequence[Mapping[str, Any]], first_seq: int
) -> list[dict[str, Any]]:
    """Return readings of the conditions as items. A reading belongs to the phase `during` unless it names another."""
    return [
        {
            "kind": "conditions",
            "seq": seq,
            "phase": reading.get("phase", "during"),
            "at_ms": seq,
            "values": {
                name: value for name, value in reading.items() if name != "phase"
            },
        }
        for seq, reading in enumerate(conditions, first_seq)
    ]


def _expect(status: int, response: Any) -> None:
    if response.status_code != status:
        raise AssertionError(
            f"expected {status}: {response.status_code} {response.text}"
        )


def open_lab(
    client: Any,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    *,
    name: str = "lab-1",
    manifest: Mapping[str, Any] | None = None,
) -> Lab:
    """Return a lab with an enrolled agent; `enrolled` and `token` are the pytest fixtures of those names."""
    handlers.load()
    agent = enrolled(name)
    announce(agent.agent_id, manifest or suite_manifest())
    return Lab(
        client,
        ScriptedAgent(client, agent.headers),
        agent.target_id,
        token("ingest", "read"),
    )
