"""Measures the working tree here, without a server, and writes what `paceline-server judge` reads.

    OUT/launch-NNN.WORKLOAD.jsonl   the bench streams as they came
    OUT/WORKLOAD.stderr.log         the workload's standard error
    OUT/run.json                    revision, target, environment, options and conditions; always written, last

With two revisions (`paceline ab`) there is one stream per side, launch-NNN.SIDE.WORKLOAD.jsonl, and run.json
names the base. A run that failed says so in run.json. Verdicts are the server's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from paceline_contract.events import AnyEvent, CaseEvent, ProgressEvent, WarningEvent
from paceline_contract.items import Conditions

from paceline import environment
from paceline.executors.base import Executor, LaunchSpec
from paceline.executors.claim import Claimant
from paceline.git import (
    SourceError,
    current_branch,
    working_revision,
    working_revision_in_words,
)
from paceline.judging import JudgeBetweenLaunches, find_judge
from paceline.launches import Side, run_job, session_work
from paceline.manifest import Manifest
from paceline.outcome import Outcome
from paceline.selection import Selection, selected_workloads
from paceline.source import prepare_in_place
from paceline.stop import Stop
from paceline.unaffected import measures_anything

INTERRUPTED = Outcome("agent_error", "Interrupted before its end.")
"""The outcome of a run until another one is known."""


class Display(Protocol):
    """Shows progress: a bar on a terminal, plain lines in a pipe."""

    def phase(self, text: str) -> None: ...

    def log(self, lines: list[str]) -> None: ...

    def launch(self, number: int, total: int, workload: str) -> None: ...

    def progress(self, done: int, total: int) -> None: ...


def run(
    manifest: Manifest,
    path: Path,
    selection: Selection,
    out: Path,
    *,
    executor: Executor,
    display: Display,
    stop: Stop,
) -> Outcome:
    """Build and measure, and write the files above. Raises SourceError when the build fails."""
    out.mkdir(parents=True, exist_ok=True)
    record = RunRecord(
        manifest, working_revision(path.resolve().parent), selection, out
    )
    record.branch = current_branch(path.resolve().parent)
    with ExitStack() as claims:
        by = shown_claimant(f"paceline run of {manifest.suite.name}", display)
        if not claims.enter_context(executor.claim(stop, by=by)):
            return Outcome("cancelled", "Stopped while another run held the target.")
        display.phase(f"building {working_revision_in_words(record.revision)}")
        try:
            prepared = prepare_in_place(
                manifest,
                path,
                revision=record.revision,
                workloads=selected_workloads(manifest, selection),
                out=out / "artifacts",
                log=display.log,
                stop=stop,
            )
        except SourceError as error:
            record.write([], Outcome(error.cause, str(error)))
            raise
        return measure_and_record(
            record, [Side(prepared, selection)], executor, display, stop
        )


def shown_claimant(purpose: str, display: Display) -> Claimant:
    """Return a claimant that shows who it waits for."""
    return Claimant(
        purpose, lambda holder: display.phase(f"waiting for the target: {holder}")
    )


def measure_and_record(
    record: RunRecord,
    sides: Sequence[Side],
    executor: Executor,
    display: Display,
    stop: Stop,
) -> Outcome:
    """Run prepared revisions and write the streams and, whatever happens, run.json."""
    if not measures_anything(sides):
        record.write(sides, Outcome())
        return Outcome()
    display.phase("measuring")
    outcome = INTERRUPTED
    judge = _judge_between_launches(record, sides)
    try:
        with executor.session(
            session_work("by-hand", sides), record.conditions.append, stop
        ) as session:
            outcome = run_job(
                sides,
                session,
                lambda spec: LaunchFiles(spec, record, display),
                stop,
                None if judge is None else judge.list_undecided,
            )
    finally:
        record.write(sides, outcome)
    return outcome


def _judge_between_launches(
    record: RunRecord, sides: Sequence[Side]
) -> JudgeBetweenLaunches | None:
    """Return the judge that is asked between launches what is undecided; None if that is not needed, or nothing judges
    here."""
    command, selection = find_judge(), record.selection
    if command is None or not (
        selection.stop_when_sure or selection.most_launches > selection.launches
    ):
        return None
    return JudgeBetweenLaunches(
        command,
        record.out,
        selection.launches,
        record=lambda: record.write(sides, INTERRUPTED),
    )


def read_record(out: Path) -> dict[str, Any]:
    """Read the content of the run.json of a run that has ended."""
    record: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return record


class RunRecord:
    """The content of run.json. `base` is the commit that an A/B run compares with."""

    def __init__(
        self, manifest: Manifest, revision: str, selection: Selection, out: Path
    ) -> None:
        self.out = out
        self.selection = selection
        self.conditions: list[Conditions] = []
        self.warnings: list[dict[str, str]] = []
        self.revision = revision
        self.branch: str | None = None
        self.base: str | None = None
        self.base_manifest: Manifest | None = None
        self.commits: list[dict[str, str]] = []
        self.unaffected: dict[str, str] = {}
        """The benchmarks that are not measured again, with the digest that base and head have in common."""
        self._manifest = manifest
        self._started_at = datetime.now(UTC)

    def write(self, sides: Sequence[Side], outcome: Outcome) -> None:
        """Write run.json. `sides` is empty when the build failed."""
        observed = environment.observe()
        built = sides[-1].prepared.built if sides else None
        content: dict[str, Any] = {
            "suite": self._manifest.suite.name,
            "manifest": self._manifest.raw,
            "revision": self.revision,
            "branch": self.branch,
            "artifact_hash": built.artifact_hash if built else None,
            **self._about_base(sides),
            "target": environment.display_name(),
            "started_at": self._started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            "build": built.facts if built else {},
            "environment": msgspec.to_builtins(observed),
            "conditions": msgspec.to_builtins(self.conditions),
            "options": msgspec.to_builtins(self.selection),
            "warnings": self.warnings,
            **({"unaffected": self.unaffected} if self.unaffected else {}),
            "failure": None
            if outcome.ok
            else {"cause": outcome.cause, "detail": outcome.detail},
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
        (self.out / "run.json").write_text(text + "\n", encoding="utf-8")

    def _about_base(self, sides: Sequence[Side]) -> dict[str, Any]:
        if self.base is None:
            return {}
        built = sides[0].prepared.built if sides else None
        about = {
            "revision": self.base,
            "artifact_hash": built.artifact_hash if built else None,
            "manifest": None if self.base_manifest is None else self.base_manifest.raw,
        }
        return {
            "base": {**about, "build": built.facts if built else {}},
            "commits": self.commits,
        }


class LaunchFiles:
    """The sink of one launch: its files and the display."""

    def __init__(self, spec: LaunchSpec, record: RunRecord, display: Display) -> None:
        side = "" if spec.side is None else f".{spec.side}"
        name = f"launch-{spec.launch:03d}{side}.{spec.workload}"
        self._stream = (record.out / f"{name}.jsonl").open("wb")
        self._log = (record.out / f"{spec.workload}.stderr.log").open(
            "a", encoding="utf-8"
        )
        self._record, self._display = record, display
        chosen = record.selection
        title = spec.workload if spec.side is None else f"{spec.workload} ({spec.side})"
        number = spec.launch - chosen.first_launch
        batches = number // chosen.launches + 1
        display.launch(number, batches * chosen.launches, title)

    def raw(self, data: bytes) -> None:
        self._stream.write(data)

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:  # noqa: ARG002 - the port's signature
        if isinstance(event, ProgressEvent):
            self._display.progress(event.done, event.total)
        elif isinstance(event, WarningEvent):
            warning = {"code": event.code, "text": event.text}
            if warning not in self._record.warnings:
                self._record.warnings.append(warning)
                self._display.log([f"warning: {event.code}: {event.text}"])

    def stderr(self, lines: list[str]) -> None:
        self._log.writelines(f"{line}\n" for line in lines)

    def tick(self) -> None:
        pass

    def close(self) -> None:
        self._stream.close()
        self._log.close()
