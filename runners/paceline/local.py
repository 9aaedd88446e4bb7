"""`paceline run`: measures the working tree here and writes what `paceline-server judge` reads. No server
involved.

    OUT/launch-NNN.WORKLOAD.jsonl   the bench streams as they came
    OUT/WORKLOAD.stderr.log         what the workloads said to people
    OUT/run.json                    who, what, where, when and under which conditions; written last, always

Place in the journey: the shortest one: from a suite to files. Invariant: a run that failed says so in
run.json. Does not judge: verdicts have one home, the server's statistics.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec

from paceline import environment
from paceline.conditions import Conditions, Sampler
from paceline.events import Case, Event, Progress, Warn
from paceline.executors.base import Executor, LaunchSpec
from paceline.git import SourceError, working_revision
from paceline.manifest import Manifest
from paceline.measure import measure
from paceline.outcome import Outcome
from paceline.selection import Selection, workloads_of
from paceline.source import Prepared, prepare_in_place
from paceline.stop import Stop


class Display(Protocol):
    """Where progress is shown: a bar on a terminal, plain lines in a pipe."""

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
    """Builds and measures; files as in the module's docstring. Raises SourceError when nothing can be
    built.
    """
    out.mkdir(parents=True, exist_ok=True)
    record = _Record(manifest, path, selection, out)
    with ExitStack() as claims:
        display.phase("waiting for the target's lock")
        if not claims.enter_context(executor.claim(stop)):
            return Outcome("cancelled", "Stopped while another run held the target.")
        display.phase("building")
        try:
            prepared = prepare_in_place(
                manifest,
                path,
                revision=record.revision,
                workloads=workloads_of(manifest, selection),
                out=out / "artifacts",
                log=display.log,
                stop=stop,
            )
        except SourceError as error:
            record.write(None, Outcome(error.cause, str(error)))
            raise
        display.phase("measuring")
        outcome = Outcome("agent_error", "Interrupted before its end.")
        try:
            with Sampler(record.conditions.append):
                outcome = measure(
                    prepared, selection, executor, lambda spec: _Files(spec, record, display), stop
                )
        finally:
            record.write(prepared, outcome)
    return outcome


class _Record:
    """What becomes run.json."""

    def __init__(self, manifest: Manifest, path: Path, selection: Selection, out: Path) -> None:
        self.out = out
        self.selection = selection
        self.conditions: list[Conditions] = []
        self.warnings: list[dict[str, str]] = []
        self.revision = working_revision(path.resolve().parent)
        self._manifest = manifest
        self._started_at = datetime.now(UTC)

    def write(self, prepared: Prepared | None, outcome: Outcome) -> None:
        seen = environment.observe()
        content: dict[str, Any] = {
            "suite": self._manifest.suite.name,
            "manifest": self._manifest.raw,
            "revision": self.revision,
            "artifact_hash": prepared.built.artifact_hash if prepared else None,
            "target": environment.display_name(),
            "started_at": self._started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            "build": prepared.built.facts if prepared else {},
            "environment": msgspec.to_builtins(seen),
            "conditions": msgspec.to_builtins(self.conditions),
            "options": msgspec.to_builtins(self.selection),
            "warnings": self.warnings,
            "failure": None if outcome.ok else {"cause": outcome.cause, "detail": outcome.detail},
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
        (self.out / "run.json").write_text(text + "\n", encoding="utf-8")


class _Files:
    """The sink of one launch: its files and the display."""

    def __init__(self, spec: LaunchSpec, record: _Record, display: Display) -> None:
        name = f"launch-{spec.launch:03d}.{spec.workload}"
        self._stream = (record.out / f"{name}.jsonl").open("wb")
        self._log = (record.out / f"{spec.workload}.stderr.log").open("a", encoding="utf-8")
        self._record, self._display = record, display
        chosen = record.selection
        display.launch(spec.launch - chosen.first_launch, chosen.launches, spec.workload)

    def raw(self, data: bytes) -> None:
        self._stream.write(data)

    def event(self, event: Event, case: Case | None) -> None:  # noqa: ARG002 - the port's signature
        if isinstance(event, Progress):
            self._display.progress(event.done, event.total)
        elif isinstance(event, Warn):
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
