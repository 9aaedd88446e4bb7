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


def samples_items(
    cases: Sequence[CaseSamples], first_seq: int = 0
) -> list[dict[str, Any]]:
    """Samples items, one per case, launch and phase."""
    items: list[dict[str, Any]] = []
    for case in cases:
        for launch in np.unique(case.launch):
            for phase, warm in (("warmup", True), ("measure", False)):
                at = np.nonzero((case.launch == launch) & (case.warmup == warm))[0]
                if not at.size:
                    continue
                iterations = (
                    np.ones(at.size, np.int64)
                    if case.iterations is None
                    else case.iterations[at]
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
                        "rounds": case.round[at].tolist(),
                        "positions": case.position[at].tolist(),
                        "iterations": iterations.tolist(),
                        "t_ns": [int(x) + 1 for x in at],
                        "values": case.value[at].tolist(),
                        "work": {
                            name: counts[at].tolist()
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
    """Of someone who may request runs."""

    def request(self, **spec: Any) -> dict[str, Any]:
        """Request a run on this target."""
        body = {"suite": SUITE, "targets": [self.target_id], **spec}
        answer = self.client.post(
            f"{PREFIX}/runs", json=body, headers=dict(self.headers)
        )
        if answer.status_code != 201:
            raise AssertionError(f"{answer.status_code} {answer.text}")
        return dict(answer.json())

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
        """Lease the next job, measure what it asks for with these true effects, and finish it.

        `effects` by batch; only the batches the job asks for are measured. `conditions` are readings during
        the job, unless they name another `phase`; `alter` changes what was measured; `announced` are `case`
        events. Analysis is left to the outbox.
        """
        leased = self.agent.lease()
        work = leased.lease["work"]
        wanted = work["params"].get("batch") or list(effects)
        cases = bench_cases(
            seed,
            {batch: effects[batch] for batch in wanted},
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
        check = {
            "type": "check",
            "name": CHECK,
            "ok": checks_ok,
            "detail": "" if checks_ok else "3 before 2",
        }
        items.append(event_item(len(items), check, launch=work["first_launch"]))
        for reading in conditions:
            seq, values = len(items), dict(reading)
            phase = values.pop("phase", "during")
            items.append(
                {
                    "kind": "conditions",
                    "seq": seq,
                    "phase": phase,
                    "at_ms": seq,
                    "values": values,
                }
            )
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
        **options: Any,
    ) -> LeasedJob:
        """Lease the next job, which is an A/B one, and deliver both sides of it: base, then head.

        `effects` by batch: how much slower native truly is at head. `artifacts` default to two hashes, or to
        one in an A/A run. Analysis is left to the outbox.
        """
        leased = self.agent.lease()
        work = leased.lease["work"]
        wanted = work["params"].get("batch") or list(effects)
        sides = revision_bench_cases(
            seed,
            {batch: effects[batch] for batch in wanted},
            launches=work["launches"],
            rounds=work["rounds"],
            first_launch=work["first_launch"],
            **options,
        )
        same = work["base_commit"] == work["commit"]
        base_artifact, artifact = artifacts or (
            ARTIFACT if same else "b" * 64,
            ARTIFACT,
        )
        facts = {
            "artifact_hash": artifact,
            "base_artifact_hash": base_artifact,
            "commits": list(commits),
        }
        _expect(204, leased.report("preparing"))
        _expect(204, leased.report("measuring", **facts))
        items: list[dict[str, Any]] = []
        for side, cases, ok in zip(("base", "head"), sides, checks_ok, strict=True):
            own = samples_items(cases, len(items))
            check = {
                "type": "check",
                "name": CHECK,
                "ok": ok,
                "detail": "" if ok else "3 before 2",
            }
            own.append(
                event_item(len(items) + len(own), check, launch=work["first_launch"])
            )
            items += [{**item, "side": side} for item in own]
        for reading in conditions:
            values = dict(reading)
            seq, phase = len(items), values.pop("phase", "during")
            items.append(
                {
                    "kind": "conditions",
                    "seq": seq,
                    "phase": phase,
                    "at_ms": seq,
                    "values": values,
                }
            )
        _expect(200, leased.send(*items))
        _expect(204, leased.finish(len(items) - 1))
        return leased

    def measure(
        self, effects: Mapping[int, float], *, seed: int = 1, **spec: Any
    ) -> LeasedJob:
        """Request a run, deliver its first batch, and carry out what follows at once."""
        self.request(**spec)
        leased = self.deliver(effects, seed=seed)
        outbox.drain()
        return leased


def _expect(status: int, answer: Any) -> None:
    if answer.status_code != status:
        raise AssertionError(f"expected {status}: {answer.status_code} {answer.text}")


def open_lab(
    client: Any,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    *,
    name: str = "lab-1",
    manifest: Mapping[str, Any] | None = None,
) -> Lab:
    """A lab with an enrolled agent; `enrolled` and `token` are the fixtures."""
    handlers.load()
    who = enrolled(name)
    announce(who.agent_id, manifest or suite_manifest())
    return Lab(
        client,
        ScriptedAgent(client, who.headers),
        who.target_id,
        token("ingest", "read"),
    )
